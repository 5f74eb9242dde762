"""The section about machine code beside that of CUDA C by hand; words and tables from benchmarks/results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Table = Callable[[tuple[str, ...], Sequence[tuple[str, ...]]], str]

TEXT = """\
The kernels of `fast.py` and the same in CUDA C by hand, compiled by the same NVRTC with the same options and taken
apart by nvdisasm; needs no GPU. What counts is the loop over global memory that moves the most bytes with an access,
then in a trip, which is where large launches on arrays without gaps are: its instructions for every 16 bytes, since
compilers unroll one loop more than another, with what it calls and loops over inside counted once. A kernel without
such a loop counts as a whole. Loads are those of that part, by their bits, and *wide* are multiplications with a result
of 64 bits. The whole of a kernel is larger where it has a version for arrays with gaps and one for arrays without.

Where kbuild has more: a launch may begin before the one before it has ended and may be a piece of a larger one (an
instruction each), `tid()` is divided up for images of any size, strides of arrays are loaded, and an index of two
dimensions is two products, since an array may have more than 2³¹ bytes."""


def body(values: dict[str, Any], table: Table) -> str:
    """A table a target."""
    head = ("", "kbuild", "by hand", "of by hand", "loads", "by hand", "wide", "by hand", "whole", "by hand")
    parts = []
    for target, found in values["targets"].items():
        rows = [_row(one) for one in found["kernels"]]
        parts.append(f"{target}, NVRTC {found['toolchain']}:\n\n{table(head, rows)}")
    return "\n".join(parts)


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    ways = [one["kbuild"], one["by hand"]]
    hot = [effort(way) for way in ways]
    part = [way["loop"] or way["whole"] for way in ways]
    cells = [
        *(f"{number:.1f}" for number in hot),
        f"{hot[0] / hot[1]:.2f}",
        *(_loads(way) for way in part),
        *(str(way["wide"]) for way in part),
        *(str(way["whole"]["instructions"]) for way in ways),
    ]
    return (f"{one['case']}: `{one['kernel'].rpartition(':')[2]}`", *cells)


def _loads(counts: dict[str, Any]) -> str:
    """`4 × 128`."""
    return ", ".join(f"{count} × {bits}" for bits, count in counts["loads"].items())


def effort(counts: dict[str, Any]) -> float:
    """Instructions for 16 bytes in the loop, or of the whole."""
    loop = counts["loop"]
    return 16 * loop["instructions"] / loop["bytes"] if loop else float(counts["whole"]["instructions"])
