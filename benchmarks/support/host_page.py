"""The sections about the host side: start, launches, steps, memory; words and tables from benchmarks/results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Table = Callable[[tuple[str, ...], Sequence[tuple[str, ...]]], str]

LAUNCH_TEXT = """\
CPU time of a launch, all checks on, in bursts of {burst} that take turns in one process, the GPU idle before each; ns,
and how many times plain C's. One argument is an array; four are an array, a vector and two numbers; sixteen are eight
arrays, a struct, a vector, a matrix, two integers and three floats. C calls `cuLaunchKernel` with ready-made pointers.
Goals: `kb.launch` ≤ {launch} of C, `kb.bind` ≤ {bind}; ✗ misses its goal. C, cuda.bindings and CuPy launch hand-written
kernels with the same arguments; cuda.core takes numbers and pointers only, so members are arguments of their own there
(6 and 31); Triton gets vectors and structs as tuples. Each way has shown before that one launch does what it must."""

STEP_TEXT = """\
{count:,} particles under gravity (robosim's `integrate`), {burst} steps in a row until the last is done, in turns; a
graph holds {in_graph} launches unless it says otherwise. Goals: `kb.launch` ≤ {python:g} µs, kbuild's graph ≤
{graph:g}; ✗ misses its goal."""

START_TEXT = """\
The same beside other packages, in every fifth round: in the Python that they are installed in, caches warm, each with a
hand-written kernel or its own; PyTorch with its operations on tensors. First result: from the first line of Python on.
Memory of the process at its end and at its peak, and what is in use on the GPU then, the context included; on the disk
are the files of the package and all it cannot do without (CUDA's own libraries only where it requires them), without
compiled Python."""

MEMORY_TEXT = """\
CPU time of making an array and giving it back, in bursts of {burst} that take turns; C takes from a pool that keeps
everything (`cuMemAllocFromPoolAsync`) and fills by `cuMemsetD8Async`. PyTorch, CuPy and others keep lists of free
memory of their own. Then copies of 64 MB (32 MB with gaps, 16 MB transposed), each waited for. µs; in brackets kbuild's
time as a share of theirs."""


def launch(values: dict[str, Any], table: Table) -> tuple[str, str]:
    """Text and tables."""
    goals, cases = values["goals"], values["cases"]
    titles = list(dict.fromkeys(title for found in cases.values() for title in found["nanoseconds"]))
    rows = [
        (title, *[cell for found in cases.values() for cell in _launch_cells(title, found, goals)]) for title in titles
    ]
    head = ("", *[cell for name in cases for cell in (f"{name.removeprefix('args')} [ns]", "of C")])
    text = LAUNCH_TEXT.format(burst=values["burst"], launch=goals["kb.launch"], bind=goals["kb.bind"])
    return text, table(head, rows) + without(values) + versions(values)


def _launch_cells(title: str, found: dict[str, Any], goals: dict[str, float]) -> tuple[str, str]:
    if title not in found["nanoseconds"]:
        return "", ""
    ratio = found["ratios_to_c"][title]
    missed = " ✗" if ratio > goals.get(title, ratio) else ""
    return f"{found['nanoseconds'][title]['median']:.0f}", f"{ratio:.2f}{missed}"


def step(values: dict[str, Any], table: Table) -> tuple[str, str]:
    """Text and tables."""
    goals = {"kb.launch": values["goals"]["python"], "kbuild, graph": values["goals"]["graph"]}
    rows = []
    for title, value in values["steps"].items():
        missed = " ✗" if value["median"] > goals.get(title, value["median"]) else ""
        rows.append((title, f"{1e6 * value['median']:.2f}{missed}", microseconds_spread(value)))
    large = values["large"]
    shares = [
        (
            title,
            f"{1e6 * large['seconds'][title]['median']:.1f}",
            microseconds_spread(large["seconds"][title]),
            f"{share:.3f}",
        )
        for title, share in large["of_copy"].items()
    ]
    text = STEP_TEXT.format(**values | {key: 1e6 * goal for key, goal in values["goals"].items()})
    words = (
        f"\n{values['large_count']:,} particles: each step moves {large['bytes'] / 1e6:.0f} MB, beside a copy on the "
        f"GPU (`cuMemcpyDtoD`) that moves as many, {large['copy_bandwidth'] / 1e12:.2f} TB/s.\n\n"
    )
    body = table(("", "µs a step", "quartiles"), rows) + words
    return text, body + table(("", "µs", "quartiles", "of the copy's bandwidth"), shares) + without(values) + versions(
        values
    )


def microseconds_spread(value: dict[str, float]) -> str:
    """The quartiles of seconds."""
    return f"{1e6 * value['lower_quartile']:.2f} … {1e6 * value['upper_quartile']:.2f}"


def start_peers(values: dict[str, Any], table: Table) -> str:
    """What stands below the table of kbuild's start; nothing before peers were measured."""
    if "peers" not in values:
        return ""
    head = ("", "process [ms]", "first result [ms]", "memory [MB]", "peak [MB]", "GPU [MB]", "on disk [MB]")
    rows = []
    for title, row in {**values["held"], **values["peers"]}.items():
        wall = row.get("wall", values["wall"].get(title))
        inside = row.get("first_result", values["first_result"] if title == "kbuild" else None)
        inside = values["ctypes_first_result"] if title == "ctypes" else inside
        times = [f"{1e3 * value['median']:.0f}" if value else "" for value in (wall, inside)]
        bytes = [f"{row[key] / 1e6:.0f}" if key in row else "" for key in ("resident", "peak", "gpu")]
        disk = values["installed"].get(title)
        rows.append((title, *times, *bytes, f"{disk['bytes'] / 1e6:.1f}" if disk else ""))
    return f"\n{START_TEXT}\n\n" + table(head, rows) + without(values) + versions(values)


def memory(values: dict[str, Any], table: Table) -> tuple[str, str]:
    """Text and tables."""
    parts = []
    for key, scale in (("arrays", 1e-3), ("copies", 1e6)):
        titles = list(dict.fromkeys(title for found in values[key].values() for title in found))
        rows = [(what, *[_memory_cell(title, found, scale) for title in titles]) for what, found in values[key].items()]
        parts.append(table(("", *titles), rows))
    return MEMORY_TEXT.format(burst=values["burst"]), "\n".join(parts) + without(values) + versions(values)


def _memory_cell(title: str, found: dict[str, Any], scale: float) -> str:
    if title not in found:
        return ""
    median = found[title]["median"]
    ratio = "" if title == "kbuild" or "kbuild" not in found else f" ({found['kbuild']['median'] / median:.2f})"
    return f"{scale * median:.3g}{ratio}"


def without(values: dict[str, Any]) -> str:
    """Who was not measured, and why."""
    return "".join(f"\nNot measured: {title} ({reason}).\n" for title, reason in values.get("without", {}).items())


def versions(values: dict[str, Any]) -> str:
    """Of the packages."""
    found = values.get("versions")
    return f"\n{', '.join(f'{name} {version}' for name, version in found.items())}.\n" if found else ""
