"""Generic kernels and functions, and factories that differ in types: in the bundle, and found on the target."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kbuild import config, pipeline
from kbuild.loader import open as open_bundle
from tests.helpers.pythons import need_python

PROJECT = """
[tool.kbuild]
modules = ["gen.kernels"]
targets = ["sm_90"]
"""
KERNELS = """
from __future__ import annotations

from typing import Any

import kbuild as kb

STEP = 2.0


@kb.func
def double(x: float):
    return x * STEP


@kb.func
def double(x: kb.float64):
    return x + x


@kb.kernel
def scale(x: kb.array(dtype=Any), s: Any):
    i = kb.tid()
    x[i] = double(x[i]) * s


scale_double = kb.overload(scale, {"x": kb.array(dtype=kb.float64), "s": kb.float64})


@kb.overload
def scale(x: kb.array(dtype=float), s: float): ...


@kb.kernel
def fill(x: kb.array(dtype=Any), value: Any):
    x[kb.tid()] = value


kb.overload(fill, {"x": kb.array(dtype=kb.vec3), "value": kb.vec3})


def make(T, op):
    @kb.kernel
    def kernel(a: kb.array(dtype=T), out: kb.array(dtype=float)):
        i = kb.tid()
        out[i] = float(a[i]) * float(kb.static(op(3)))

    return kernel


def plus(n):
    return lambda x: x + n


one = make(kb.float64, plus(1))
two = make(kb.int32, plus(1))
three = make(kb.int32, plus(2))
"""
PROGRAM = """
import kbuild as kb
from kbuild.loader import LaunchError, resolve
from gen import kernels

print(resolve.find(kernels.scale_double).name)
print(resolve.find(kb.overload(kernels.scale, {"x": kb.array(dtype=float), "s": float})).name)
print(resolve.find(kb.overload(kernels.fill, [kb.array(dtype=kb.vec3), kb.vec3])).name)
print(resolve.find(kernels.one).name, resolve.find(kernels.two).name, resolve.find(kernels.three).name)
for wrong in (
    kb.overload(kernels.fill, {"x": kb.array(dtype=float), "value": float}),
    kernels.make(kb.int64, kernels.plus(1)),
    kernels.make(kb.int32, kernels.plus(5)),
):
    try:
        print("found", resolve.find(wrong).name)
    except LaunchError as error:
        print(str(error).replace("\\n", " | "))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("gen")
    (root / "gen").mkdir()
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "gen" / "__init__.py").write_text("")
    (root / "gen" / "kernels.py").write_text(KERNELS.replace("from __future__ import annotations\n", ""))
    return root


@pytest.fixture(scope="module")
def bundle(project: Path) -> Path:
    return pipeline.build(config.require(project), output=project / "out").bundles[0].path


def test_the_bundle_holds_each_instance(bundle: Path) -> None:
    found = open_bundle(bundle)
    types = {
        (row["name"].partition("[")[0].partition(":")[2], row["parameters"][0]["type"])
        for row in found.manifest["kernels"]
    }
    assert types == {
        ("scale", "array1[float64]"),
        ("scale", "array1[float32]"),
        ("fill", "array1[vec3[float32]]"),
        ("make.<locals>.kernel", "array1[float64]"),
        ("make.<locals>.kernel", "array1[int32]"),
    }
    assert len(found) == 6
    plan = found.manifest["definitions"]["gen.kernels:scale"]["plan"]
    assert plan == ["type:x", "type:s", "global:double", "global:double#0/global:STEP"]


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_the_target_finds_them_without_sources(project: Path, bundle: Path, tmp_path: Path, version: str) -> None:
    python = need_python(version)
    package = tmp_path / "site" / "gen"
    shutil.copytree(project / "gen", package)
    shutil.copy(bundle, package)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{Path(__file__).parents[2]}"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([python, "-m", "compileall", "-q", "-b", str(package)], env=environment, check=True)
    for source in package.glob("*.py"):
        source.unlink()
    done = subprocess.run([python, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    double, single, filled, made, *refused = done.stdout.splitlines()
    names = open_bundle(bundle).kernels
    assert {double, single, filled, *made.split()} == set(names)
    assert "type:x = type array1[float32], type:value = type float32" in refused[0]
    assert "type:x = type array1[vec3[float32]]" in refused[0]
    assert "type:a = type array1[int64]" in refused[1]
    assert "found" not in refused[2]
    assert "closure:op" in refused[2]


def test_texts_as_annotations(project: Path, bundle: Path, tmp_path: Path) -> None:
    """`from __future__ import annotations`: the texts mean the same types; T is found where the body uses it."""
    copy = tmp_path / "copy"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("out"))
    text = KERNELS.replace("float(a[i]) *", "float(T(a[i])) *")
    (copy / "gen" / "kernels.py").write_text(text)
    built = open_bundle(pipeline.build(config.require(copy), output=tmp_path / "out").bundles[0].path)
    before = {
        (r["name"].partition("[")[0], r["parameters"][0]["type"]) for r in open_bundle(bundle).manifest["kernels"]
    }
    assert {(r["name"].partition("[")[0], r["parameters"][0]["type"]) for r in built.manifest["kernels"]} == before


def test_a_generic_kernel_without_types_is_told_of(project: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("out"))
    text = KERNELS.replace('kb.overload(fill, {"x": kb.array(dtype=kb.vec3), "value": kb.vec3})', "")
    (copy / "gen" / "kernels.py").write_text(text.replace("float(a[i]) *", "float(T(a[i])) *"))
    told = [d for d in pipeline.build(config.require(copy), output=tmp_path / "out").diagnostics if d.code == "KB211"]
    assert [d.severity for d in told] == ["warning"]
    assert "gen.kernels:fill is generic" in told[0].message
