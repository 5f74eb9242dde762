"""Compile time and cubin size beside Warp's `compile_aot_module`: one kernel, and a module of ten. Needs no GPU.

Wants an interpreter with Warp: `aot.py --warp /path/to/python`. Both make cubins of the same kernels (aot_kernels)
for the same architecture, in fresh processes that take turns, and nothing made before is used again. kbuild makes no
adjoints here (backward = false): its forward code stands beside Warp's forward code (enable_backward=False), and beside
what Warp makes when nothing is said (True).

    compile   from the import of the kernel module to the cubin, in a process that has loaded its compiler
    process   all of it: `python -m kbuild build` beside a script that imports Warp and calls compile_aot_module
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from support.results import BENCHMARKS, ROOT, progress, record

SOURCE = BENCHMARKS / "aot_kernels" / "ten.py"
ALONE = ("integrate", "springs", "bodies")
TARGETS = ("sm_87", "sm_90")
GOALS = {"one": 7.0, "ten": 2.5, "size": 2.0}
IMPORT = "import kbuild as wp"
PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "measured"
version = "0"

[tool.kbuild]
modules = ["measured.kernels"]
targets = ["{target}"]
backward = false
"""

Sample = dict[str, Any]


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warp", type=Path, required=True, metavar="PYTHON", help="an interpreter that has Warp")
    parser.add_argument("--runs", type=int, default=7, help="processes of each kind (default 7)")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for target in TARGETS:
            for title, text in cases():
                progress(f"{target}: {title}")
                rows.append(measure(Case(Path(folder), title, text, target, arguments.warp), arguments.runs))
                show(rows[-1])
    record("aot", {"rows": rows, "goals": GOALS})


def cases() -> list[tuple[str, str]]:
    """(title, text of a kernel module)."""
    text = SOURCE.read_text(encoding="utf-8")
    return [*((name, excerpt(text, name)) for name in ALONE), ("ten kernels", text)]


def excerpt(text: str, name: str) -> str:
    """The module with this kernel alone; those that stand alone call no function of the module."""
    tree = ast.parse(text)
    kept = [node for node in tree.body if not isinstance(node, ast.FunctionDef) or node.name == name]
    return "\n\n\n".join(_source(text, node) for node in kept) + "\n"


def _source(text: str, node: ast.stmt) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])


class Case:
    """A kernel module for one target, as a project of kbuild's and as a module of Warp's."""

    def __init__(self, folder: Path, title: str, text: str, target: str, warp: Path) -> None:
        self.title, self.target, self.warp = title, target, warp
        self.folder = folder / f"{title} {target}".replace(" ", "_")
        package = self.folder / "project" / "measured"
        package.mkdir(parents=True)
        (package.parent / "pyproject.toml").write_text(PROJECT.format(target=target), encoding="utf-8")
        (package / "__init__.py").touch()
        (package / "kernels.py").write_text(text, encoding="utf-8")
        (self.folder / "warp_side").mkdir()
        assert IMPORT in text
        (self.folder / "warp_side" / "kernels.py").write_text(
            text.replace(IMPORT, "import warp as wp"), encoding="utf-8"
        )

    def ways(self) -> dict[str, Any]:
        """Name → what runs it once. The first ones fill a sample's `process` and `compile`."""
        return {
            "kbuild": self.kbuild_compile,
            "kbuild build, toolchains known": lambda: self.kbuild_build(True),
            "kbuild build, nothing known": lambda: self.kbuild_build(False),
            "Warp forward": lambda: self.warp_compile(False),
            "Warp default": lambda: self.warp_compile(True),
        }

    def kbuild_compile(self) -> Sample:
        """The parts, in one process."""
        program = BENCHMARKS / "programs" / "aot_kbuild.py"
        command = [sys.executable, program, self.folder / "project", "measured.kernels", self.target]
        return run(command, {"KBUILD_CACHE": str(self.cache(True)), "PYTHONPATH": str(ROOT)})

    def kbuild_build(self, is_known: bool) -> Sample:
        """The command, with an empty cache; or with one that knows the NVRTC libraries of this machine."""
        command = [sys.executable, "-m", "kbuild", "build", self.folder / "project", "--json"]
        sample = run(command, {"KBUILD_CACHE": str(self.cache(is_known)), "PYTHONPATH": str(ROOT)})
        if sample["compiled"] != 1:
            sys.exit(f"the build of {self.title} compiled {sample['compiled']} units, not one")
        return {**sample, "nvrtc": sample["nvrtc_seconds"]}

    def warp_compile(self, has_backward: bool) -> Sample:
        """Warp's process, with an empty cache."""
        program, output = BENCHMARKS / "programs" / "aot_warp.py", self.folder / "warp_output"
        shutil.rmtree(output, ignore_errors=True)
        architecture, backward = self.target.removeprefix("sm_"), str(int(has_backward))
        command = [self.warp, program, self.folder / "warp_side", "kernels", architecture, backward, output]
        return run(command, {"WARP_CACHE_PATH": str(self.empty("warp_cache"))})

    def cache(self, is_known: bool) -> Path:
        """A cache for kbuild without any result."""
        cache = self.empty("cache")
        known = self.folder.parent / "known"
        if is_known:
            if not known.exists():
                discover = "from kbuild.nvrtc import discover; discover()"
                environment = {**environ(), "KBUILD_CACHE": str(known), "PYTHONPATH": str(ROOT)}
                subprocess.run([sys.executable, "-c", discover], env=environment, check=True)
            shutil.copytree(known, cache)
        return cache

    def empty(self, name: str) -> Path:
        """A folder that does not exist."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return self.folder / name


def environ() -> dict[str, str]:
    """The environment, in which Python keeps its compiled modules, as it does for users."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(command: list[Any], environment: dict[str, str]) -> Sample:
    """What a process printed as JSON, with its time and that of the processors, in seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [str(part) for part in command], env={**environ(), **environment}, capture_output=True, text=True, check=False
    )
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    sample: Sample = json.loads(done.stdout[done.stdout.index("{") :])
    return {**sample, "process": seconds, "process_cpu": used}


def measure(case: Case, runs: int) -> dict[str, Any]:
    """Every way, in turns; the first turn fills the disk's caches and does not count."""
    samples: dict[str, list[Sample]] = {name: [] for name in case.ways()}
    for turn in range(runs + 1):
        for name, way in case.ways().items():
            sample = way()
            if turn:
                samples[name].append(sample)
    numbers = ("seconds", "cpu", "front", "nvrtc", "nvrtc_cpu", "process", "process_cpu")
    ways = {
        name: {
            **{key: statistics.median(s[key] for s in rows) for key in numbers if key in rows[0]},
            **{key: rows[0][key] for key in ("size", "compiler") if key in rows[0]},
            "least": {key: min(s[key] for s in rows) for key in numbers if key in rows[0]},
        }
        for name, rows in samples.items()
    }
    return {"case": case.title, "target": case.target, "runs": runs, "ways": ways}


def ratios(row: dict[str, Any], other: str) -> dict[str, float]:
    """How many times longer and larger another way is: to compile (and by the processor's time), a process, bytes."""
    ours, theirs = row["ways"]["kbuild"], row["ways"][other]
    build, known = row["ways"]["kbuild build, nothing known"], row["ways"]["kbuild build, toolchains known"]
    return {
        "compile": theirs["seconds"] / ours["seconds"],
        "compile_cpu": theirs["cpu"] / ours["cpu"],
        "process": theirs["process"] / build["process"],
        "process_known": theirs["process"] / known["process"],
        "size": theirs["size"] / ours["size"],
    }


def show(row: dict[str, Any]) -> None:
    """One case."""
    print(f"\n{row['target']}, {row['case']}")
    for name, way in row["ways"].items():
        parts = [
            f"{key} {1e3 * way[key]:.0f}" for key in ("seconds", "cpu", "nvrtc", "process", "process_cpu") if key in way
        ]
        print(f"  {name:<32} {', '.join(parts)} ms; {way.get('size', '')} bytes")
    for other in ("Warp forward", "Warp default"):
        print(f"  {other} / kbuild: " + ", ".join(f"{key} {ratio:.2f}" for key, ratio in ratios(row, other).items()))


if __name__ == "__main__":
    main()
