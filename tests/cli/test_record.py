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
from kbuild.pipeline import dialect
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

WARP_PROJECT = PROJECT.replace("modules =", 'dialect = "warp"\nprimitives = true\nmodules =')
WARP_KERNELS = """
from typing import Any

import warp as wp
from warp.types import vector

wp.set_module_options({"enable_backward": False})


class Options:
    pass


def make_add(n, dtype=wp.float32):
    @wp.func
    def more(x: dtype):
        return x + dtype(n)

    @wp.kernel(module="unique", enable_backward=False)
    def add(x: wp.array(dtype=dtype)):
        i = wp.tid()
        x[i] = more(x[i])

    return add


def make_tiled(size):
    @wp.kernel
    def tiled(x: wp.array(dtype=float)):
        t = wp.tile_load(x, shape=size)
        wp.tile_store(x, t)

    return tiled


@wp.kernel
def scale(x: wp.array(dtype=Any), s: Any):
    i = wp.tid()
    x[i] = x[i] * s


@wp.kernel
def fill(x: wp.array2d(dtype=float), value: float):
    i, j = wp.tid()
    x[i, j] = value
"""
WARP_PROGRAM = """
import warp as wp
import numpy as np
from rec.kernels import *

wp.init()
device = wp.get_device()
assert device.is_cuda and wp.get_cuda_device_count() == 1 and device.arch == 90
x, d = wp.zeros(8, dtype=float), wp.array(np.ones(4), dtype=wp.float64)
wp.launch(make_add(1), dim=8, inputs=[x])
stream, start, end = wp.Stream(device), wp.Event(enable_timing=True), wp.Event(enable_timing=True)
with wp.ScopedStream(stream):
    wp.record_event(start)
    wp.launch(make_add(2, wp.float64), dim=4, inputs=[d])
    wp.record_event(end)
assert wp.get_event_elapsed_time(start, end) >= 0.0
with wp.ScopedCapture() as capture:
    wp.launch(scale, dim=8, inputs=[x, 2.0])
    wp.launch_tiled(make_tiled(4), dim=2, inputs=[x], block_dim=64)
wp.capture_launch(capture.graph)
command = wp.launch(scale, dim=4, inputs=[d, wp.float64(2.0)], record_cmd=True, device=device)
command.set_param_by_name("s", wp.float64(3.0))
command.set_param_at_index(0, d)
command.set_dim(2)
command.launch()
try:
    command.set_param_by_name("t", 1.0)
except Exception as error:
    assert "has no parameter 't'" in str(error), error
condition, seen = wp.ones(1, dtype=int), []
wp.capture_while(condition, lambda **_: (seen.append(1), wp.launch(make_add(3), dim=8, inputs=[x])))
wp.capture_if(condition, on_true=lambda: seen.append(2), on_false=lambda: seen.append(3))
assert seen == [1, 2, 3]
wp.utils.array_scan(wp.zeros(8, dtype=int), wp.zeros(8, dtype=int), True)
wp.utils.segmented_sort_pairs(x, x, 4, x)
assert wp.get_suggested_block_size(scale) == (256, 132)
wp.launch(fill, dim=(2, 4), inputs=[x.reshape((2, 4)), 1.0])
with wp.ScopedTimer("all", synchronize=True, print=False):
    wp.synchronize()
print(x.numpy().tolist(), d.list())
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


@pytest.fixture
def warp_project(project: Path) -> Path:
    """The same in Warp's words: `import warp`, with nothing of that name installed or with the real one."""
    (project / "pyproject.toml").write_text(WARP_PROJECT)
    (project / "rec" / "kernels.py").write_text(WARP_KERNELS)
    (project / "app.py").write_text(WARP_PROGRAM)
    return project


def test_a_program_of_warps(warp_project: Path) -> None:
    done = record(warp_project, "--as", "warp", "--", sys.executable, "app.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] [1.0, 1.0, 1.0, 1.0]",
        "kbuild-instances.json: 5 instances, 5 of them new",
    ]
    assert [line for line in done.stderr.splitlines() if line.startswith("not recorded")] == [
        "not recorded: kernels of kbuild's own (array_scan and the like): write `primitives = true` into [tool.kbuild]",
        "not recorded: wp.launch_tiled(rec.kernels:make_tiled.<locals>.tiled) (tiles) is not in kbuild",
        "not recorded: wp.utils.segmented_sort_pairs (functions over whole arrays) is not in kbuild",
    ]
    assert entries(warp_project) == [
        "rec.kernels:make_add(1, float32)",
        "rec.kernels:make_add(2, float64)",
        "rec.kernels:make_add(3, float32)",
        "rec.kernels:scale for s: float32, x: array1[float32]",
        "rec.kernels:scale for s: float64, x: array1[float64]",
    ]
    bundle = open_bundle(pipeline.build(config.require(warp_project), output=warp_project / "out").bundles[0].path)
    names = [name for name in bundle if name.startswith("rec.")]
    assert len(names) == 6  # and the plain one
    found = dialect.check_as(
        "warp", [str(warp_project / "rec")], instances=[str(warp_project / "kbuild-instances.json")]
    )
    assert sorted(kernel.name.partition("[")[0] for kernel in found.kernels) == sorted(
        n.partition("[")[0] for n in names
    )
    assert found.complete == 6


def test_a_name_that_is_taken(warp_project: Path) -> None:
    """Without `--as warp` the program finds whatever is installed as `warp`, or nothing."""
    (warp_project / "app.py").write_text("import warp")
    done = record(warp_project, "--", sys.executable, "-S", "app.py")
    assert "No module named 'warp'" in done.stderr
    done = record(warp_project, "--as", "warp", "--", sys.executable, "app.py")
    assert done.returncode == 0


def test_bound_launches(project: Path) -> None:
    text = (
        PROGRAM.partition("x, d =")[0]
        + """
x, d = kb.array([1.0, 2.0]), kb.array([1.0], dtype=kb.float64)
step = kb.bind(scale, dim=2, inputs=[x, 2.0])
step()
step.set(s=3.0)
step.set(1, 4.0)
step.set("x", x)
assert (step.args, step.dim, str(step.device)) == ((x, 4.0), 2, "cuda:0")
step.set_dim(1)
step.set_stream(kb.Stream())
step.launch()
for wrong in (lambda: step.set(t=1), lambda: step.set("s")):
    try:
        wrong()
    except kb.LaunchError as error:
        print(error)
print(step)
"""
    )
    (project / "app.py").write_text(text)
    done = record(project, "--", sys.executable, "app.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "rec.kernels:scale has no parameter 't'",
        "rec.kernels:scale: set wants a parameter and its value, or names",
        "<bound launch of rec.kernels:scale, dim=1, on cuda:0>",
        "kbuild-instances.json: 1 instances, 1 of them new",
    ]


def test_arrays_that_live_until_the_end(project: Path) -> None:
    """The interpreter's exit clears modules in the reverse order of their import: ours before one that was first."""
    keeper = "import sys\nkept = []\nclass Finder:\n    module = sys.modules[__name__]\n"
    keeper += "    def find_spec(self, *_):\n        return None\nsys.meta_path.append(Finder())\n"
    (project / "keeper.py").write_text(keeper)
    program = "import keeper\nfrom rec.kernels import kb\nkeeper.kept += [kb.zeros(3), kb.zeros(3, device='cpu')]\n"
    (project / "app.py").write_text(program)
    done = record(project, "--", sys.executable, "app.py")
    assert done.returncode == 0
    assert "Exception ignored" not in done.stderr


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
