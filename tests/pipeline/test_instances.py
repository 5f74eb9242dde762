"""Kernels made by factories: told by what they captured, found on the target without their source, on Python 3.8."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kbuild import config, pipeline
from kbuild.errors import CompileError, UsageError
from kbuild.loader import open as open_bundle
from tests.helpers.pythons import need_python

PROJECT = """
[tool.kbuild]
modules = ["made.factories"]
targets = ["sm_90"]
instances = "made.instances:build"
"""
FACTORIES = '''
import enum
import functools

import kbuild as kb


class Mode(enum.IntEnum):
    ADD = 1
    MULTIPLY = 2


@kb.func
def twice(x: float):
    return x * 2.0


@kb.func
def half(x: float):
    return x * 0.5


@functools.lru_cache(maxsize=None, typed=True)
def make(mode, op, size, dtype=kb.float32):
    """A kernel for a mode, a function and a size."""

    @kb.kernel
    def kernel(data: kb.array(dtype=float), out: kb.array(dtype=float)):
        i = kb.tid()
        if kb.static(mode == Mode.ADD):
            out[i] = op(data[i]) + float(size)
        else:
            out[i] = op(data[i]) * float(size)

    return kernel
'''
INSTANCES = """
from made.factories import Mode, half, make, twice


def build():
    for size in (1, 2):
        make(Mode.ADD, twice, size)
    make(Mode.MULTIPLY, half, 3)
"""
PROGRAM = """
import sys

from kbuild.loader import LaunchError, resolve
from made.factories import Mode, half, make, twice

assert not hasattr(make, "source")
for arguments in [(Mode.ADD, twice, 1), (Mode.ADD, twice, 2), (Mode.MULTIPLY, half, 3)]:
    print(resolve.find(make(*arguments)).name)
for arguments in [(Mode.ADD, twice, 7), (Mode.ADD, half, 1), (1, twice, 1), (Mode.ADD, twice, True)]:
    try:
        resolve.find(make(*arguments))
    except LaunchError as error:
        print("refused", str(error).replace("\\n", " | "))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    (root / "made").mkdir()
    (root / "pyproject.toml").write_text(PROJECT)
    for name, text in {"__init__": "", "factories": FACTORIES, "instances": INSTANCES}.items():
        (root / "made" / f"{name}.py").write_text(text)
    return root


@pytest.fixture(scope="module")
def bundle(project: Path) -> Path:
    return pipeline.build(config.require(project), output=project / "out").bundles[0].path


def test_the_bundle_holds_the_instances(bundle: Path) -> None:
    found = open_bundle(bundle)
    assert len(found) == 3
    assert all(name.startswith("made.factories:make.<locals>.kernel[") for name in found)
    (definition,) = found.manifest["definitions"].values()
    assert {"closure:mode", "closure:op", "closure:size"} <= set(definition["plan"])
    assert len({row["identity"] for row in definition["instances"]}) == 3


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_the_target_finds_them_without_sources(project: Path, bundle: Path, tmp_path: Path, version: str) -> None:
    python = need_python(version)
    package = tmp_path / "site" / "made"
    shutil.copytree(project / "made", package)
    shutil.copy(bundle, package)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{Path(__file__).parents[2]}"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([python, "-m", "compileall", "-q", "-b", str(package)], env=environment, check=True)
    for source in package.glob("*.py"):
        source.unlink()
    done = subprocess.run([python, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(set(lines[:3])) == 3
    assert all(line.startswith("made.factories:make.<locals>.kernel[") for line in lines[:3])
    assert len(lines) == 7
    assert all(line.startswith("refused") for line in lines[3:])
    assert "closure:size = int 7" in lines[3]
    assert "closure:size = int 1" in lines[3]
    assert "closure:op = function made.factories:half" in lines[4]
    assert "closure:mode = int 1" in lines[5]
    assert "closure:size = bool True" in lines[6]


def test_a_function_that_fails(project: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("out"))
    (copy / "made" / "instances.py").write_text("def build():\n    raise ValueError('no such size')\n")
    with pytest.raises(CompileError) as caught:
        pipeline.build(config.require(copy), output=tmp_path / "out")
    assert "instances.py:2:1: error: instances: made.instances:build fails: ValueError: no such size [KB210]" in str(
        caught.value
    )
    (copy / "pyproject.toml").write_text(PROJECT.replace(":build", ":bulid"))
    with pytest.raises(CompileError, match=r"has no attribute .bulid."):
        pipeline.build(config.require(copy), output=tmp_path / "out")
    (copy / "pyproject.toml").write_text(PROJECT.replace("made.instances:build", "made.instances"))
    with pytest.raises(UsageError, match=r"wants a function like 'robosim\.instances:build'"):
        config.require(copy)
