"""Size and compile time of kbuild's kernels beside hand-written CUDA C of the same kernels. Needs no GPU.

Both go through the same NVRTC with the same options. Each compilation is timed as CPU time in one process that has
compiled before, the two in turn; the median of the runs counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.results import BENCHMARKS, ROOT, progress, record

sys.path.insert(0, str(ROOT))

from kbuild import config, pipeline, targets
from kbuild.nvrtc import Toolchain, choose, discover
from kbuild.nvrtc.adapters import compile_program, open_nvrtc
from kbuild.nvrtc.toolchain import PROGRAM_NAME, command_line

PROJECTS = (ROOT / "sample_project", BENCHMARKS / "project")
TARGETS = ("sm_87@11.8", "sm_90", "sm_110")
GOALS = {"size": 1.05, "time": 1.15}


def main() -> None:
    """Measures every target in a process of its own, since cuda.bindings opens one NVRTC a process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="compilations of each unit (default 15)")
    parser.add_argument("--target", help="measure this one, and print it as JSON (used by the program itself)")
    arguments = parser.parse_args()
    if arguments.target:
        print(json.dumps(measure(arguments.target, arguments.runs)))
        return
    results = {target: _in_child(target, arguments.runs) for target in TARGETS}
    for target, rows in results.items():
        show(target, rows)
    record("codesize", {"targets": results, "goals": GOALS})


def _in_child(target: str, runs: int) -> list[dict[str, Any]]:
    progress(f"compiling for {target} …")
    command = [sys.executable, __file__, "--target", target, "--runs", str(runs)]
    rows: list[dict[str, Any]] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return rows


def units() -> Iterator[tuple[str, str, str]]:
    """(unit, kbuild's text, hand-written text) of those that have been written by hand."""
    for project in PROJECTS:
        for name, text in pipeline.emit(config.require(project), "cuda"):
            assert isinstance(text, str)
            written = BENCHMARKS / "handwritten" / name
            if written.is_file():
                yield name.removesuffix(".cu"), text, written.read_text(encoding="utf-8")


def measure(name: str, runs: int) -> list[dict[str, Any]]:
    """A row a unit, and one for their sum."""
    target = targets.parse(name)
    toolchain = choose(target, discover())
    compiler = Compiler(toolchain, target.arch)
    rows = [compare(compiler, unit, generated, written, runs) for unit, generated, written in units()]
    total = {key: sum(row[key] for row in rows) for key in rows[0] if key not in ("unit", "toolchain")}
    return [*rows, {"unit": "sum", "toolchain": toolchain.build, **total}]


def compare(compiler: Compiler, unit: str, generated: str, written: str, runs: int) -> dict[str, Any]:
    """Bytes and seconds of one unit, both ways."""
    times: dict[str, list[float]] = {"generated": [], "written": []}
    sizes = {}
    for run in range(runs + 1):
        for which, text in (("generated", generated), ("written", written)):
            seconds, sizes[which] = compiler(text)
            if run:  # the first one fills caches
                times[which].append(seconds)
    return {
        "unit": unit,
        "toolchain": compiler.toolchain.build,
        "size": sizes["generated"],
        "written_size": sizes["written"],
        "seconds": statistics.median(times["generated"]),
        "written_seconds": statistics.median(times["written"]),
    }


class Compiler:
    """Compiles texts for one architecture and times it."""

    def __init__(self, toolchain: Toolchain, arch: str) -> None:
        self.toolchain = toolchain
        self.nvrtc = open_nvrtc(Path(toolchain.library), toolchain.builtins)
        self.options = [option.encode() for option in command_line(toolchain, arch)]

    def __call__(self, text: str) -> tuple[float, int]:
        """CPU seconds and bytes of the cubin."""
        start = time.process_time()
        data = self.cubin(text)
        return time.process_time() - start, len(data)

    def cubin(self, text: str) -> bytes:
        """The machine code. Ends the program where there is none."""
        answer = compile_program(self.nvrtc, text.encode(), PROGRAM_NAME.encode(), self.options, "cubin")
        if not answer.data:
            sys.exit(f"{answer.status_text}\n{answer.log}")
        return answer.data


def show(target: str, rows: list[dict[str, Any]]) -> None:
    """A table of one target."""
    print(f"\n{target}, NVRTC {rows[0]['toolchain']}")
    print(f"{'unit':<24} {'bytes':>7} {'by hand':>8} {'ratio':>6}   {'ms':>6} {'by hand':>8} {'ratio':>6}")
    for row in rows:
        size, seconds = row["size"] / row["written_size"], row["seconds"] / row["written_seconds"]
        marks = [" over" for value, goal in ((size, GOALS["size"]), (seconds, GOALS["time"])) if value > goal]
        numbers = f"{row['size']:>7} {row['written_size']:>8} {size:>6.3f}   "
        numbers += f"{1e3 * row['seconds']:>6.1f} {1e3 * row['written_seconds']:>8.1f} {seconds:>6.3f}"
        print(f"{row['unit']:<24} {numbers}{'!' if marks else ''}")


if __name__ == "__main__":
    main()
