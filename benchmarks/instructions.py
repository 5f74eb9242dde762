"""Instructions of the kernels of benchmarks/fast.py, and of the same in CUDA C by hand. Needs no GPU, but nvdisasm.

Both are compiled by the same NVRTC with the same options. What counts is the loop over global memory, by its
instructions for every 16 bytes that it moves, since compilers unroll one loop more than another; where there is none,
the whole kernel.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from codesize import PROJECTS, Compiler
from support import fast_cases, sass
from support.instructions_page import effort
from support.results import BENCHMARKS, progress, record

from kbuild import config, pipeline, targets
from kbuild.nvrtc import choose, discover

TARGETS = ("sm_87@11.8", "sm_90", "sm_120")
_ENTRY = re.compile(r'^// (\S+)\nextern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(', re.MULTILINE)


def main() -> None:
    """Counts for every target in a process of its own, since cuda.bindings opens one NVRTC a process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", help="count for this one, and print it as JSON (used by the program itself)")
    arguments = parser.parse_args()
    if arguments.target:
        print(json.dumps(counted(arguments.target)))
        return
    try:
        sass.find_nvdisasm()
    except sass.Missing as error:
        sys.exit(str(error))
    results = {target: _in_child(target) for target in TARGETS}
    for target, found in results.items():
        show(target, found)
    record("instructions", {"targets": results})


def _in_child(target: str) -> dict[str, Any]:
    progress(f"compiling for {target} …")
    command = [sys.executable, __file__, "--target", target]
    found: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found


def pairs() -> list[tuple[str, str, str, str]]:
    """(case, kernel, unit by hand, entry by hand), each kernel once."""
    found: dict[str, tuple[str, str, str, str]] = {}
    for title in fast_cases.SIZES:
        case = fast_cases.make(title, fast_cases.SMALL)
        for mine, written in zip(case.launches, case.by_hand, strict=True):
            found.setdefault(mine.kernel, (title, mine.kernel, written.unit, written.entry))
    return list(found.values())


def counted(name: str) -> dict[str, Any]:
    """The toolchain, and a row a kernel: both ways, the whole and the loop."""
    target = targets.parse(name)
    toolchain = choose(target, discover())
    compiler = Compiler(toolchain, target.arch)
    asked = pairs()
    with tempfile.TemporaryDirectory() as folder:
        mine = _generated(compiler, Path(folder), {kernel for _, kernel, _, _ in asked})
        written = {unit: _by_hand(compiler, Path(folder), unit) for _, _, unit, _ in asked}
    rows = [
        {"case": title, "kernel": kernel, "kbuild": row(mine[kernel]), "by hand": row(written[unit][entry])}
        for title, kernel, unit, entry in asked
    ]
    return {"toolchain": toolchain.build, "kernels": rows}


def _generated(compiler: Compiler, folder: Path, wanted: set[str]) -> dict[str, list[sass.Instruction]]:
    """Machine code by a kernel's name."""
    found: dict[str, list[sass.Instruction]] = {}
    for project in PROJECTS:
        for _, text in pipeline.emit(config.require(project), "cuda"):
            assert isinstance(text, str)
            entries = {entry: kernel for kernel, entry in _ENTRY.findall(text) if kernel in wanted}
            if entries:
                code = _machine_code(compiler, folder, text)
                found.update((kernel, code[entry]) for entry, kernel in entries.items())
    return found


def _by_hand(compiler: Compiler, folder: Path, unit: str) -> dict[str, list[sass.Instruction]]:
    """Machine code by the entry of a hand-written unit."""
    return _machine_code(compiler, folder, (BENCHMARKS / "handwritten" / f"{unit}.cu").read_text(encoding="utf-8"))


def _machine_code(compiler: Compiler, folder: Path, text: str) -> dict[str, list[sass.Instruction]]:
    path = folder / "unit.cubin"
    path.write_bytes(compiler.cubin(text))
    return sass.kernels(sass.find_nvdisasm(), path)


def row(code: list[sass.Instruction]) -> dict[str, Any]:
    """Numbers of one kernel."""
    loop = sass.hottest(code)
    return {"whole": sass.counts(code), "loop": {**sass.counts(loop), "bytes": sass.moved(loop)} if loop else None}


def show(target: str, found: dict[str, Any]) -> None:
    """A table of one target."""
    print(f"\n{target}, NVRTC {found['toolchain']}")
    print(f"{'kernel':<40} {'whole':>5} {'hand':>5}   {'hot':>7} {'hand':>7} {'ratio':>6}  loads of the hot part")
    for one in found["kernels"]:
        mine, theirs = one["kbuild"], one["by hand"]
        hot = effort(mine), effort(theirs)
        whole = [way["whole"]["instructions"] for way in (mine, theirs)]
        loads = [(way["loop"] or way["whole"])["loads"] for way in (mine, theirs)]
        numbers = f"{whole[0]:>5} {whole[1]:>5}   {hot[0]:>7.1f} {hot[1]:>7.1f} {hot[0] / hot[1]:>6.2f}"
        print(f"{one['kernel']:<40} {numbers}  {loads[0]} | {loads[1]}")


if __name__ == "__main__":
    main()
