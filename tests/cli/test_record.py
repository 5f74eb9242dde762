"""`record`: a program is run, and the next build makes the instances that it asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kbuild import config, pipeline
from kbuild.errors import CompileError, UsageError
from kbuild.loader import open as open_bundle
from kbuild.scan import recorded
from tests.helpers.pythons import need_python

ROOT = Path(__file__).parents[2]
PROJECT = """
[tool.kbuild]
modules = ["rec.kernels"]
targets = ["sm_90"]
instances = "kbuild-instances.json"
"""
KERNELS = """
import enum
import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import kbuild as kb


class Mode(enum.IntEnum):
    ADD = 1
    MULTIPLY = 2


class Size(NamedTuple):
    n: int
    scale: float


@dataclass(frozen=True)
class Options:
    flag: bool


@kb.func
def twice(x: float):
    return x * 2.0


@functools.lru_cache(maxsize=None)
def make_op(k):
    @kb.func
    def op(x: float):
        return x * float(k)

    return op


@functools.lru_cache(maxsize=None)
def make(mode, op, size, *rest, dtype=kb.float32, **more):
    @kb.kernel
    def kernel(data: kb.array(dtype=dtype)):
        i = kb.tid()
        if kb.static(mode == Mode.ADD):
            data[i] = data.dtype(op(float(data[i])) + float(size.n))
        else:
            data[i] = data.dtype(op(float(data[i])) * float(size.scale))

    return kernel


@kb.kernel
def scale(x: kb.array(dtype=Any), s: Any):
    x[kb.tid()] = x[kb.tid()] * s


@kb.kernel
def plain(x: kb.array(dtype=float)):
    x[kb.tid()] = 1.0


def use(options, f):
    @kb.kernel
    def kernel(x: kb.array(dtype=float)):
        if kb.static(options.flag):
            x[kb.tid()] = kb.static(f(2.0))

    return kernel


def triple(x):
    return 3.0 * x


class Solver:
    def make(self):
        n = 3

        @kb.kernel
        def inner(x: kb.array(dtype=float)):
            x[kb.tid()] = float(n)

        return inner
"""
PROGRAM = """
import sys

import kbuild as kb
from rec.kernels import *

x, d = kb.array([1.0, 2.0]), kb.array([1.0], dtype=kb.float64)
kb.launch(plain, 2, [x])
kb.launch(make(Mode.ADD, twice, Size(3, 0.5)), 2, [x])
if len(sys.argv) > 1:
    for _ in range(2):
        kb.launch(make(Mode.MULTIPLY, make_op(4), Size(3, 0.5), dtype=kb.float64), 1, [d])
    kb.launch(scale, 2, [x, 2.0])
    kb.launch(scale, 1, [d, kb.float64(2.0)])
    kb.launch(scale, 2, [kb.array([kb.vec3(1.0, 2.0, 3.0)]), 2.0])
    kb.launch(use(Options(True), triple), 2, [x])
    kb.launch(Solver().make(), 2, [x])
    make(Mode.ADD, twice, Size(99, 0.5))  # made and never launched
print(x.tolist(), d.tolist())
sys.exit(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rec").mkdir()
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "rec" / "__init__.py").write_text("")
    (tmp_path / "rec" / "kernels.py").write_text(KERNELS)
    (tmp_path / "app.py").write_text(PROGRAM)
    return tmp_path


def record(project: Path, *words: str, python: str = sys.executable) -> Any:
    """Runs the command in the project's folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kbuild", "record", *words]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def entries(project: Path) -> list[str]:
    return [recorded.describe(entry) for entry in recorded.read(project / "kbuild-instances.json")]


def test_what_a_program_asks_for_is_built(project: Path) -> None:
    done = record(project, "--", sys.executable, "app.py", "all")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[1.0, 2.0] [1.0]",
        "kbuild-instances.json: 6 instances, 6 of them new",
    ]
    assert "not recorded: rec.kernels:Solver.make.<locals>.inner is made by a method" in done.stderr
    assert entries(project) == [
        "rec.kernels:make(Mode.ADD, twice, Size(n=3, scale=0.5), dtype=float32)",
        "rec.kernels:make(Mode.MULTIPLY, make_op(4), Size(n=3, scale=0.5), dtype=float64)",
        "rec.kernels:use(Options(flag=True), triple)",
        "rec.kernels:scale for s: float32, x: array1[float32]",
        "rec.kernels:scale for s: float32, x: array1[vec3[float32]]",
        "rec.kernels:scale for s: float64, x: array1[float64]",
    ]
    bundle = open_bundle(pipeline.build(config.require(project), output=project / "out").bundles[0].path)
    assert len(bundle) == 7  # and the plain one

    text = (project / "kbuild-instances.json").read_text()
    again = record(project, "--", sys.executable, "app.py", "all")
    assert "6 instances, 0 of them new" in again.stdout
    assert (project / "kbuild-instances.json").read_text() == text
    assert pipeline.sources(config.require(project))[-1].name == "kbuild-instances.json"


def test_runs_add_up_unless_told_otherwise(project: Path) -> None:
    record(project, "--", sys.executable, "app.py", "all")
    record(project, "--", sys.executable, "app.py")
    assert len(entries(project)) == 6
    record(project, "--fresh", "--", sys.executable, "app.py")
    assert len(entries(project)) == 1


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_programs_on_other_pythons(project: Path, version: str) -> None:
    done = record(project, "--", str(need_python(version)), "app.py", "all")
    assert done.returncode == 0, done.stderr
    assert len(entries(project)) == 6


def test_the_status_is_the_programs(project: Path) -> None:
    done = record(project, "--json", "--", sys.executable, "app.py", "all", "7")
    assert done.returncode == 7
    answer = json.loads(done.stdout)
    assert (answer["instances"], len(answer["new"]), answer["status"]) == (6, 6, 7)
    assert answer["lost"] == [
        "rec.kernels:Solver.make.<locals>.inner is made by a method: make it by a function of a module"
    ]
    assert "[1.0, 2.0] [1.0]" in done.stderr


def test_a_program_that_is_killed_has_left_its_notes(project: Path) -> None:
    (project / "app.py").write_text(PROGRAM + "\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    (project / "app.py").write_text((project / "app.py").read_text().replace("sys.exit(", "(lambda s: None)("))
    done = record(project, "--", sys.executable, "app.py", "all")
    assert done.returncode == 128 + 9
    assert "the list may be incomplete" in done.stderr
    assert len(entries(project)) == 6


def test_wrong_words(project: Path) -> None:
    for words, reason in [
        ([], "record wants a program to run"),
        (["--", "no-such-program"], "no-such-program cannot be run: No such file"),
        (["-o", "missing/x.json", "--", sys.executable, "-c", ""], "missing/x.json cannot be written"),
    ]:
        done = record(project, *words)
        assert done.returncode in (2, 3)
        assert reason in done.stderr
        assert "Traceback" not in done.stderr
    (project / "kbuild-instances.json").write_text("{}")
    done = record(project, "--", sys.executable, "app.py")
    assert done.returncode == 2
    assert "is no list of instances of format 1" in done.stderr


FAULTY = [
    ("{", "is no JSON"),
    ("[]", "is no list of instances of format 1"),
    ('{"format": 1, "instances": [{}]}', "entry 0 names neither a factory nor a kernel"),
    (
        '{"format": 1, "instances": [{"factory": "rec.kernels:gone", "args": [1], "kwargs": {}, "kernel": "x"}]}',
        "kbuild-instances.json: rec.kernels:gone(1): AttributeError",
    ),
    (
        '{"format": 1, "instances": [{"factory": "rec.kernels:make", "args": [], "kwargs": {}, "kernel": "x"}]}',
        "kbuild-instances.json: rec.kernels:make(): TypeError",
    ),
    (
        '{"format": 1, "instances": [{"kernel": "rec.kernels:plain", "types": {"x": "array1[float32]"}}]}',
        "TypeError: plain is not generic",
    ),
    (
        '{"format": 1, "instances": [{"kernel": "rec.kernels:scale", "types": {"x": "array9[what]"}}]}',
        "ValueError: unknown type 'array9[what]'",
    ),
]


@pytest.mark.parametrize(("text", "reason"), FAULTY)
def test_a_file_that_does_not_fit_the_project(project: Path, text: str, reason: str) -> None:
    (project / "kbuild-instances.json").write_text(text)
    with pytest.raises(CompileError) as caught:
        pipeline.build(config.require(project), output=project / "out")
    assert reason in str(caught.value)
    assert "[KB210]" in str(caught.value)
    assert "since it was recorded: python -m kbuild record --fresh -- PROGRAM" in str(caught.value)


def test_a_file_that_is_missing(project: Path) -> None:
    with pytest.raises(UsageError, match=r"instances\[0\] names kbuild-instances.json, which does not exist"):
        config.require(project)
