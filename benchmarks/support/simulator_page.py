"""The section about the simulator; words and table from benchmarks/results/simulator.json."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Table = Callable[[tuple[str, ...], Sequence[tuple[str, ...]]], str]

TEXT = """\
Launches on the device `sim`, without checks for races, unassigned shared memory and divisions by zero, and with all of
them (the default); the same kernels written for Numba's CUDA simulator, as plain Python functions called once for each
thread, for kbuild's own interpreter (the oracle of the tests, which checks everything), and by hand in NumPy.
Milliseconds of processor time, the least of several rounds. What runs thread by thread ran {few} threads, and its time
is multiplied. The columns after that say how many times longer Numba's simulator takes than `sim` (goals: {off:,}
without checks, {on} with; ✗ misses its goal), and how many times longer `sim` without checks takes than NumPy.

`a * b + c` is one rounding in kernels and two in NumPy's version. It is the processor's instruction where that has one
(x86-64, as here); computed by NumPy's functions, exactly, it takes ten times as long, and the Mandelbrot set, whose
loop is a routine of such instructions, six times. The springs of Numba's launch have ends of their own; in the others'
four springs share a mass.

{threads} threads: {small_off:.2f} ms a launch without checks, {small_on:.2f} ms with."""

CASES = {
    "saxpy": "`y[i] = a * x[i] + y[i]`",
    "particles": "step of particles (`vec3`)",
    "springs": "springs, 6 atomics each",
    "reduction": "sums of blocks of 256",
    "mandelbrot": "Mandelbrot set, 256 trips",
}


def text(values: dict[str, Any]) -> str:
    """What was measured."""
    few, small = values["few"], values["small"]
    return TEXT.format(
        few=f"{min(few.values()):,} to {max(few.values()):,}",
        threads=small["threads"],
        small_off=1e3 * small["off"],
        small_on=1e3 * small["on"],
        **values["goals"],
    )


def body(values: dict[str, Any], table: Table) -> str:
    """The table."""
    goals = values["goals"]
    rows = []
    for name, row in values["cases"].items():
        ways = ("off", "on", "numpy", "python", "interpreter", "numba")
        ratios = [row["numba"] / row[mode] for mode in ("off", "on")]
        judged = [
            f"{ratio:,.0f}" + ("" if ratio >= goals[mode] else " ✗")
            for ratio, mode in zip(ratios, ("off", "on"), strict=True)
        ]
        times = [_milliseconds(row[way]) for way in ways]
        rows.append((CASES[name], f"{values['sizes'][name]:,}", *times, *judged, f"{row['off'] / row['numpy']:.1f}"))
    versions = values["versions"]
    numba = versions["Numba"]
    head = (
        "",
        "threads",
        "sim",
        "with checks",
        f"NumPy {versions['NumPy']}",
        "plain Python",
        "interpreter",
        f"Numba {numba['numba']}, numba-cuda {numba['numba-cuda']}",
        "Numba / sim",
        "with checks",
        "sim / NumPy",
    )
    return table(head, rows)


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.1f}" if seconds < 0.1 else f"{1e3 * seconds:,.0f}"
