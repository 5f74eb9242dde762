"""The section about twelve kernels beside CUDA C by hand and Warp; words and tables from benchmarks/results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Table = Callable[[tuple[str, ...], Sequence[tuple[str, ...]]], str]
KBUILD, BY_HAND, WARP = "kbuild", "by hand", "Warp"

TEXT = """\
Time of a kernel (of all launches that it takes), in graphs of many that take turns in one process, on the same arrays;
µs. The results are the same, to the last bit where no sums are made in another order. By hand is CUDA C
(`benchmarks/handwritten`), compiled by the same NVRTC with the same options: the same algorithms, with wide loads in
the sum, the scan and the histogram. Warp has a thread an element, tiles for the transpose and the product of matrices,
and its own functions for sum and scan. GB/s count what must be read and written at least, where memory is the limit,
beside a copy on the GPU (`cuMemcpyDtoD`), which moves {bandwidth:.0f}."""


def text(values: dict[str, Any]) -> str:
    """What was done."""
    return TEXT.format(bandwidth=values["copy_bandwidth"] / 1e9)


def body(values: dict[str, Any], table: Table) -> str:
    """A row a kernel."""
    head = ("", "kbuild", "by hand", "Warp", "of by hand", "of Warp", "kbuild, GB/s", "of a copy")
    rows = [_row(title, case, values["copy_bandwidth"]) for title, case in values["cases"].items()]
    return table(head, rows)


def _row(title: str, case: dict[str, Any], bandwidth: float) -> tuple[str, ...]:
    times = {way: value["median"] for way, value in case["ways"].items()}
    shown = [f"{1e6 * times[way]:.1f}" if way in times else "" for way in (KBUILD, BY_HAND, WARP)]
    mine = times.get(KBUILD)
    ratios = [f"{mine / times[way]:.2f}" if mine is not None and way in times else "" for way in (BY_HAND, WARP)]
    rate = None if mine is None or case["bytes"] is None else case["bytes"] / mine
    rates = ["", ""] if rate is None else [f"{rate / 1e9:.0f}", f"{rate / bandwidth:.2f}"]
    return (title, *shown, *ratios, *rates)
