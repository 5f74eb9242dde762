"""Writes docs/benchmarks.md and docs/accuracy.md from benchmarks/results/*.json.

`report.py FOLDER` first takes newer results from there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support import (
    accuracy_page,
    agreement_page,
    audit_corpora_page,
    audit_page,
    fast_page,
    fast_plot,
    gradients_page,
    host_page,
    instructions_page,
    replay_page,
    simulator_page,
)
from support.results import BENCHMARKS, ROOT

RESULTS = BENCHMARKS / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
ACCURACY = ROOT / "docs" / "accuracy.md"
PLOT = ROOT / "docs" / "kernels.svg"
NAMES = (
    "start",
    "launch",
    "step",
    "fast",
    "instructions",
    "memory",
    "primitives",
    "gradients",
    "simulator",
    "agreement",
    "adjoints",
    "codesize",
    "build",
    "cuda_files",
    "aot",
    "corpus",
    "replay",
    "warp_tests",
    "audit",
    "audit_corpora",
)

HEAD = """\
# Benchmarks

Written by `python benchmarks/report.py` from `benchmarks/results`; change the numbers by running the programs. Ratios
travel from machine to machine, times do not. `benchmarks/prepare.py` builds what a GPU machine needs, and
`benchmarks/on_gpu.sh` measures there; `codesize.py`, `instructions.py`, `build.py`, `aot.py` and `simulator.py` run
anywhere. How accurate the functions are is in [accuracy.md](accuracy.md).
"""


def main() -> None:
    """Takes results, writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="results of a run on another machine")
    folder = parser.parse_args().folder
    if folder is not None:
        take(folder)
    sections = [SECTIONS[name](document) for name in NAMES if (document := read(name)) is not None]
    PAGE.write_text("\n".join([HEAD, *sections]), encoding="utf-8")
    ulps = read("ulps")
    if ulps is not None:
        ACCURACY.write_text(accuracy_page.page(ulps), encoding="utf-8")
    kernels = read("fast")
    if kernels is not None:
        PLOT.write_text(fast_plot.svg(kernels["values"]), encoding="utf-8")
    print(f"written: {PAGE}, {ACCURACY}, {PLOT}")


def take(folder: Path) -> None:
    """Copies the results that a folder holds."""
    for name in (*NAMES, "cuda_gpu", "audit_gpu"):
        path = folder / f"{name}.json"
        if path.is_file():
            shutil.copyfile(path, RESULTS / path.name)


def read(name: str) -> dict[str, Any] | None:
    """A benchmark's last result; None before its first run."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def start(document: dict[str, Any]) -> str:
    """Start of a program."""
    values, goals = document["values"], document["values"]["goals"]
    rows = [(f"process: {name}", value) for name, value in values["wall"].items()]
    rows += [
        ("kbuild: first line of Python to first result", values["first_result"]),
        ("… of that inside calls of the driver", values["driver"]),
        (f"… of that kbuild's and Python's own (goal ≤ {milliseconds(goals['own'])} ms)", values["own"]),
        (f"`import kbuild` (goal ≤ {milliseconds(goals['import'])} ms)", values["import"]),
        ("ctypes: first line of Python to first result", values["ctypes_first_result"]),
    ]
    cells = [(title, milliseconds(v["median"]), spread(v, milliseconds)) for title, v in rows]
    return section(
        "Start",
        "Fresh processes in turns; each loads the same machine code, moves 1000 particles and reads them back.",
        table(("", "median [ms]", "quartiles"), cells)
        + f"\nWall time: {values['ratio_to_ctypes']:.3f} of a hand-written ctypes program's "
        f"(goal ≤ {goals['ratio_to_ctypes']}), {values['ratio_to_c']:.3f} of a plain C program's.\n"
        + host_page.start_peers(values, table),
        document,
    )


def launch(document: dict[str, Any]) -> str:
    """CPU time of a launch."""
    return section("Launch", *host_page.launch(document["values"], table), document)


def step(document: dict[str, Any]) -> str:
    """Time of a step of a simulation."""
    return section("Steps", *host_page.step(document["values"], table), document)


def fast(document: dict[str, Any]) -> str:
    """Kernels beside CUDA C by hand, and Warp's."""
    values = document["values"]
    picture = f"\n![Time of the kernels as parts of that by hand]({PLOT.name})\n"
    body = fast_page.body(values, table) + picture + host_page.without(values) + host_page.versions(values)
    return section("Kernels", fast_page.text(values), body, document)


def instructions(document: dict[str, Any]) -> str:
    """Machine code beside that of CUDA C by hand."""
    body = instructions_page.body(document["values"], table)
    return section("Instructions", instructions_page.TEXT, body, document)


def memory(document: dict[str, Any]) -> str:
    """Arrays and copies."""
    return section("Arrays and copies", *host_page.memory(document["values"], table), document)


def primitives(document: dict[str, Any]) -> str:
    """Functions over whole arrays beside other libraries'."""
    values = document["values"]
    cells = []
    for name, row in values["seconds"].items():
        times = {way: value["median"] for way, value in row.items() if way != "bytes"}
        peers = [seconds for way, seconds in times.items() if way != "kbuild"]
        shown = [f"{1e6 * times[way]:.0f}" if way in times else "" for way in ("kbuild", *values["peers"])]
        rate = f"{row['bytes'] / times['kbuild'] / 1e9:.0f}"
        cells.append((name, *shown, rate, f"{times['kbuild'] / min(peers):.2f}" if peers else ""))
    text = (
        "A call of each function, in microseconds, from Python; GB/s count each element read and written once. Last, "
        f"kbuild's time over that of the fastest of the others; goal ≤ {values['goal']:g}."
    )
    peers = [f"{name} {version}" for name, version in values["peers"].items()]
    head = ("", "kbuild", *peers, "kbuild, GB/s", "of the fastest")
    return section("Functions over whole arrays", text, table(head, cells), document)


def simulator(document: dict[str, Any]) -> str:
    """The device `sim` beside other ways to run kernels without a GPU."""
    values = document["values"]
    return section("Simulator", simulator_page.text(values), simulator_page.body(values, table), document)


def agreement(document: dict[str, Any]) -> str:
    """The device `sim` beside a GPU, launch by launch."""
    values = document["values"]
    body = agreement_page.body(values, table)
    return section("Simulator and GPU", agreement_page.text(values), body, document)


def adjoints(document: dict[str, Any]) -> str:
    """The adjoints of the GPU tests' kernels on the device `sim` beside a GPU."""
    body = agreement_page.body(document["values"], table)
    return section("Adjoints in the simulator and on a GPU", agreement_page.text_of_adjoints(), body, document)


def gradients(document: dict[str, Any]) -> str:
    """Both directions, beside other libraries."""
    values = document["values"]
    return section("Gradients", gradients_page.text(values), gradients_page.body(values, table), document)


def codesize(document: dict[str, Any]) -> str:
    """Size and compile time beside hand-written CUDA C."""
    goals = document["values"]["goals"]
    cells = []
    for target, rows in document["values"]["targets"].items():
        for row in rows:
            size, seconds = row["size"] / row["written_size"], row["seconds"] / row["written_seconds"]
            name = f"**{row['unit']}**" if row["unit"] == "sum" else row["unit"]
            cells.append((target, row["toolchain"], name, str(row["size"]), f"{size:.3f}", f"{seconds:.2f}"))
    text = (
        "The same kernels as CUDA C by hand (`benchmarks/handwritten`: raw pointers, sizes and pitches, the same "
        "rounding), by the same NVRTC with the same options; time is CPU time. Goals for the sum: size ≤ "
        f"{goals['size']}, compile time ≤ {goals['time']}. What is over in `benchkernels.linear` is `matrix_product`: "
        "an array's strides are known when it runs."
    )
    head = ("target", "NVRTC", "unit", "bytes", "size / by hand", "time / by hand")
    return section("Size and compile time of cubins", text, table(head, cells), document)


def build(document: dict[str, Any]) -> str:
    """Builds of the sample."""
    values = document["values"]
    first = values["first_result"]
    cells = [
        (f"first build ({first['compiled']} units × targets)", f"{values['first']:.2f}"),
        (
            f"nothing changed, beyond Python's start (goal < {values['goals']['unchanged']})",
            f"{values['unchanged']:.3f}",
        ),
    ]
    return section("Build of sample_project", "", table(("", "seconds"), cells), document)


def cuda_files(document: dict[str, Any]) -> str:
    """A project in CUDA C++ beside nvcc."""
    values = document["values"]
    seconds, sizes = values["seconds"], values["size"]
    rows = [
        ("CPU time of a build from nothing [s]", f"{seconds['kbuild']:.2f}", f"{seconds['fatbin']:.2f}"),
        ("… nvcc called once for each architecture", "", f"{seconds['cubins']:.2f}"),
        ("what is shipped: bundle, fat binaries [KB]", f"{sizes['bundle'] / 1e3:.0f}", f"{sizes['fatbins'] / 1e3:.0f}"),
    ]
    for arch, found in values["cubins"].items():
        rows.append((f"cubins for sm_{arch} [KB]", f"{found['kbuild'] / 1e3:.1f}", f"{found['nvcc'] / 1e3:.1f}"))
    text = (
        f"benchmarks/cuda_project: {values['kernels']} kernels, {values['files']} files and their headers, "
        f"{values['lines']} lines, for {', '.join(values['targets'])}; kbuild with NVRTC "
        f"{', '.join(values['toolchains']['kbuild'])}, nvcc {values['toolchains']['nvcc']}, one process at a time; "
        "a bundle is compressed, and fat binaries are as `-fatbin` leaves them."
    )
    return section("A project in CUDA C++", text, table(("", "kbuild", "nvcc"), rows) + _on_gpu(), document)


def _on_gpu() -> str:
    """What both compute, where that has been looked at."""
    document = read("cuda_gpu")
    if document is None:
        return ""
    found = document["values"]["kernels"].values()
    numbers, same = sum(row["numbers"] for row in found), sum(row["same"] for row in found)
    worst = max(row["worst"] for row in found)
    said = f"{same} of {numbers} numbers have the same bits, the others differ by {worst:.1g} at most."
    return f"\nOn {document['machine']['gpu']}, with the same inputs: {said}\n"


def aot(document: dict[str, Any]) -> str:
    """Compile time and size beside Warp."""
    rows, goals = document["values"]["rows"], document["values"]["goals"]
    return section(
        "Ahead of time, beside Warp",
        _aot_text(rows, goals),
        table(AOT_HEAD, [cells for row in rows for cells in _aot_cells(row, goals)])
        + "\n"
        + table(PROCESS_HEAD, [_process_cells(row) for row in rows]),
        document,
    )


AOT_HEAD = ("target", "kernels", "Warp makes", "kbuild [ms]", "of that NVRTC", "Warp [ms]", "time", "bytes", "size")
PROCESS_HEAD = (
    "target",
    "kernels",
    "kbuild build [ms]",
    "the machine's first [ms]",
    "Warp forward [ms]",
    "Warp both ways [ms]",
    "Warp forward / kbuild build",
)


AOT_TEXT = """\
The same kernels (`benchmarks/aot_kernels`), each alone and all ten in a module, compiled to a cubin by kbuild and by
Warp's `compile_aot_module`, in fresh processes that take turns, without anything made before. kbuild makes no adjoints
here (`backward = false`), as Warp with `enable_backward=False` (forward); Warp's default makes the backward kernels too
(both). First table: processor time from the import of the kernel module to the cubin, in a process that has
loaded its compiler. The ratios say how many times longer Warp takes (goals: {one:g} for one kernel, {ten:g} for ten),
and how many times larger its cubin is (goal: {size:g}); ✗ misses its goal. Second table: wall time of the whole
process, start and imports included: `python -m kbuild build` with an empty cache on a machine whose compilers it knows,
the same where they have to be hashed first, and a script that imports Warp and compiles. Medians of {runs}. Compilers:
{compilers}.

Where goals are missed: `sm_87` alone means JetPack 5 on, so kbuild takes NVRTC 11.8, which spends 95 ms of the
processor on an empty kernel (12.9: 22 ms); `sm_87@12.9` would not load on JetPack 6. Of ten kernels' 300 ms in NVRTC
12.9 its optimiser takes 100, its code generator 60, the text itself 25; the most of the rest is ptxas. Four fifths of
all are NVRTC's. What is barely half of Warp's size has quaternions and inverses in it, whose instructions are as many
as Warp's (`bodies` for sm_90: 8960 bytes beside 8704); 70 % of a module of ten are instructions."""


def _aot_text(rows: list[dict[str, Any]], goals: dict[str, float]) -> str:
    compilers = sorted({way["compiler"] for row in rows for way in row["ways"].values() if "compiler" in way})
    return AOT_TEXT.format(**goals, runs=rows[0]["runs"], compilers="; ".join(compilers))


def _aot_cells(row: dict[str, Any], goals: dict[str, float]) -> list[tuple[str, ...]]:
    ours, cells = row["ways"]["kbuild"], []
    for name, makes in (("Warp forward", "forward"), ("Warp default", "both")):
        theirs = row["ways"][name]
        goal = goals["ten" if row["case"] == "ten kernels" else "one"]
        nvrtc = ours["nvrtc_cpu"] / ours["cpu"]
        cells.append(
            (
                row["target"],
                row["case"],
                makes,
                milliseconds(ours["cpu"]),
                f"{100 * nvrtc:.0f} %",
                milliseconds(theirs["cpu"]),
                judged(theirs["cpu"] / ours["cpu"], goal),
                str(ours["size"]),
                judged(theirs["size"] / ours["size"], goals["size"]),
            )
        )
    return cells


def _process_cells(row: dict[str, Any]) -> tuple[str, ...]:
    names = ("kbuild build, toolchains known", "kbuild build, nothing known", "Warp forward", "Warp default")
    known, unknown, forward, both = (row["ways"][name]["process"] for name in names)
    times = map(milliseconds, (known, unknown, forward, both))
    return (row["target"], row["case"], *times, f"{forward / known:.1f}")


def judged(ratio: float, goal: float) -> str:
    """A ratio, marked where it is below its goal."""
    return f"{ratio:.1f}" + ("" if ratio >= goal else " ✗")


def corpus(document: dict[str, Any]) -> str:
    """Kernels of projects written for Warp."""
    values = document["values"]
    cells = [
        (
            f"{row['package']} {row['version']}",
            str(row["definitions"]),
            str(row["definitions"] - row["remaining"]),
            f"{row['complete']} of {row['remaining']}",
            f"{row['percent']:.2f}",
            str(row["instances"]),
            f"{', '.join(row['targets'])}: {row['warnings']}" if row["targets"] else "not compiled",
        )
        for row in values["packages"]
    ]
    head = ("package", "definitions", "out of the count", "complete", "%", "instances", "compiled for, warnings")
    text = (
        "Every `@wp.kernel` in the source text. Out of the count are those that reach tiles, meshes, bounding volume "
        "hierarchies, hash grids, volumes, textures or native snippets. Complete: at least one instance was made, and "
        "all that were made are lowered, and compile where the last column says so. "
        f"Goal: {values['goal']:.0f} %."
    )
    body = table(head, cells) + "\n" + "\n".join(_refused(row) for row in values["packages"]) + "\n"
    return section("Projects written for Warp", text, body, document)


def _refused(row: dict[str, Any]) -> str:
    """Each refusal with its reason, the same reasons together."""
    by_reason: dict[str, list[str]] = {}
    for one in row["refused"]:
        by_reason.setdefault(one["reasons"][0], []).append(f"`{one['name'].rpartition('.')[2]}`")
    lines = [f"Not complete in {row['package']}:" if by_reason else f"Nothing is missing in {row['package']}.", ""]
    lines += [f"- {reason}: {', '.join(names)}" for reason, names in sorted(by_reason.items())]
    return "\n".join([*lines, ""])


def replay(document: dict[str, Any]) -> str:
    """Results beside Warp's."""
    values = document["values"]
    return section("Results beside Warp's", replay_page.text(values), replay_page.body(values, table), document)


def warp_tests(document: dict[str, Any]) -> str:
    """Warp's own tests, file by file: the score of the language, and that of gradients."""
    values = document["values"]
    keys = ("ids", "passed", "failed", "apart", "more", "right", "skipped")
    body = ""
    for score, of_score in values["scores"].items():
        rows = [(file, *(str(row[key]) for key in keys)) for file, row in of_score["files"].items()]
        rows.append(("**all**", *(str(of_score["total"][key]) for key in keys)))
        body += table((score, *keys), rows) + "\n"
    asked = len({row["id"] for row in values["other_words"]})
    language, gradients = values["scores"]["language"], values["scores"]["gradients"]
    text = (
        f"The tests that warp-lang {values['version']} brings along, on kbuild's simulator (`warp_tests.py`; nothing "
        f"of theirs is here). Of the ids of the language that count {language['percent']} % pass, of those of "
        f"gradients {gradients['percent']} % (goal: {values['goal']} %). Of *gradients* are the files about them, and "
        "in the others the ids that record a tape or ask for a gradient without one. "
        f"{asked} ids pass because kbuild refuses what Warp refuses, in other words.\n\n"
        f"Not counted: what is set *apart* ({language['percent_apart']} and {gradients['percent_apart']} %: Warp's "
        "private parts, the wording of its generated C++); *more*, where a test asks for a refusal and kbuild takes "
        "the program on purpose; *right*, where it asks for a value that Warp documents as wrong, or that is no "
        "derivative, and kbuild's own tests assert the right one; what Warp itself skips without a GPU. Each has its "
        "reason in `benchmarks/warp_apart.toml`. Which ids fail, and with what, is in "
        "`benchmarks/results/warp_tests.json`."
    )
    return section("Warp's own tests", text, body.removesuffix("\n"), document)


def audit(document: dict[str, Any]) -> str:
    """How well the audit does on its cases."""
    values = document["values"]
    return section("The audit", audit_page.text(values), audit_page.body(values, read("audit_gpu"), table), document)


def audit_corpora(document: dict[str, Any]) -> str:
    """What it says of real kernels."""
    values = document["values"]
    text = audit_corpora_page.text(values)
    return section("The audit on real kernels", text, audit_corpora_page.body(values, table), document)


SECTIONS = {
    "start": start,
    "launch": launch,
    "step": step,
    "fast": fast,
    "instructions": instructions,
    "memory": memory,
    "primitives": primitives,
    "gradients": gradients,
    "simulator": simulator,
    "agreement": agreement,
    "adjoints": adjoints,
    "codesize": codesize,
    "build": build,
    "cuda_files": cuda_files,
    "aot": aot,
    "corpus": corpus,
    "replay": replay,
    "warp_tests": warp_tests,
    "audit": audit,
    "audit_corpora": audit_corpora,
}


def section(title: str, text: str, body: str, document: dict[str, Any]) -> str:
    """A section with the machine that its numbers come from."""
    machine = document["machine"]
    parts = [machine["gpu"], f"{machine['cores']} cores of {machine['cpu']}", f"Python {machine['python']}"]
    place = ", ".join(part for part in (*parts, machine["date"]) if part)
    paragraphs = [textwrap.fill(one, 120, break_on_hyphens=False) + "\n\n" for one in text.split("\n\n") if one]
    intro = "".join(paragraphs)
    return f"## {title}\n\n{intro}{body}\n{place}; commit {machine['commit']}.\n"


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of Markdown; numbers to the right."""
    lines = [head, ("---", *("---:",) * (len(head) - 1)), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}" if seconds < 0.1 else f"{1e3 * seconds:.0f}"


def spread(value: dict[str, float], shown: Any) -> str:
    return f"{shown(value['lower_quartile'])} … {shown(value['upper_quartile'])}"


if __name__ == "__main__":
    main()
