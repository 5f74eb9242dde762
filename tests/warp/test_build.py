"""A project written for Warp, built into a bundle, and its kernels found again by what they captured."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from kbuild import config, pipeline
from kbuild.errors import CompileError, UsageError
from kbuild.loader import open as open_bundle
from tests.helpers.pythons import need_python

FIND = """
import sys
import kbuild.warp
kbuild.warp.install()
from warpsim import particles
from kbuild.loader import resolve
for kernel in (particles.integrate, particles.sums, particles.make_power(3)):
    print(resolve.find(kernel).name.partition("[")[0])
import warp
warp.config.mode = "debug"
try:
    resolve.find(particles.sums)
except Exception as error:
    print(str(error).splitlines()[0])
"""


@pytest.mark.nvrtc
def test_built_and_found(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    result = pipeline.build(config.require(project), output=tmp_path / "out", editable=False)
    bundle = open_bundle(str(result.bundles[0].path))
    plans = {name: row["plan"] for name, row in bundle.manifest["definitions"].items()}
    assert "global:wp.config.mode" in plans["warpsim.particles:sums"]
    assert not [
        path for plan in plans.values() for path in plan if path.startswith("global:wp") and "config" not in path
    ]
    target = tmp_path / "out" / "warpsim"
    for path in (project / "src" / "warpsim").glob("*.py"):
        (target / path.name).write_bytes(path.read_bytes())
    python = need_python("3.8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "out"), str(Path(__file__).parents[2])])}
    done = subprocess.run([str(python), "-B", "-c", FIND], capture_output=True, text=True, env=environment, timeout=120)
    assert done.stderr == ""
    *found, refused = done.stdout.splitlines()
    assert found == [
        "warpsim.particles:integrate",
        "warpsim.particles:sums",
        "warpsim.particles:make_power.<locals>.power",
    ]
    assert "holds no instance of warpsim.particles:sums" in refused
    assert "'debug'" in refused


def test_without_the_dialect_there_is_no_warp(project: Path) -> None:
    settings = dataclasses.replace(config.require(project), dialect="")
    with pytest.raises(CompileError, match="No module named 'warp'"):
        pipeline.build(settings)


def test_the_command_line_can_say_it(project: Path) -> None:
    from kbuild.cli.main import main

    path = project / "pyproject.toml"
    path.write_text(path.read_text().replace('dialect = "warp"\n', ""))
    assert main(["build", str(project), "--as", "warp", "--emit=ir", "--kernel", "integrate"]) == 0


@pytest.mark.parametrize("value", ['"taichi"', "1", "[]"])
def test_a_wrong_dialect(project: Path, value: str) -> None:
    path = project / "pyproject.toml"
    path.write_text(path.read_text().replace('"warp"\ninst', f"{value}\ninst"))
    with pytest.raises(UsageError, match=r'dialect is .*, but wants "warp", or is left out') as caught:
        config.require(project)
    assert caught.value.code == "KB003"


OBJECTS = """
import warp as wp


class Block:
    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


class Loop:
    def __init__(self):
        self.me = self


class Handle:
    def __init__(self):
        self.file = open


def reader(block):
    rows = block.shape[0]

    @wp.func
    def read(a: wp.array(dtype=float)):
        return a[rows]

    return read


def make(block):
    @wp.kernel
    def kernel(a: wp.array(dtype=float)):
        a[0] = wp.static(reader(block))(a)

    return kernel


def instances():
    make(Block((2, 3), wp.float32))
    make(Block((4, 3), wp.float32))
"""


def refusals_of(text: str, folder: Path) -> list[tuple[str, ...]]:
    from kbuild.pipeline.dialect import check_as

    (folder / "objects.py").write_text(text)
    result = check_as("warp", [str(folder / "objects.py")], instances=["objects:instances"])
    return [tuple(message for _, message in kernel.refusals) for kernel in result.kernels]


def test_objects_with_exact_attributes_are_captured(tmp_path: Path) -> None:
    assert refusals_of(OBJECTS, tmp_path) == [(), ()]


@pytest.mark.parametrize(("made", "reason"), [("Loop()", "contains itself"), ("Handle()", "cannot be captured")])
def test_other_objects_are_refused(made: str, reason: str, tmp_path: Path) -> None:
    text = OBJECTS.replace("    make(Block((4, 3), wp.float32))\n", "").replace("Block((2, 3), wp.float32)", made)
    ((message, *_),) = refusals_of(text, tmp_path)
    assert "static() captures something without an exact value" in message
    assert reason in message
