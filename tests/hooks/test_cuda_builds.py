"""What pip and build make of a project whose kernels are all in CUDA C++: real builds, real compilers."""

import json
import shutil
import tarfile
import zipfile
from pathlib import Path

from kbuild.bundle.verification import verify
from kbuild.loader import format
from tests.helpers.cuda_project import FILES, KERNELS, project
from tools import wheels

BUNDLE = "thing/_kbuild.kbundle"
OFFLINE = ("--no-build-isolation", "--no-deps", "--no-index")


def only(folder, pattern):
    (found,) = Path(folder).glob(pattern)
    return found


def built(path):
    with zipfile.ZipFile(path) as wheel:
        parsed = format.parse(wheel.read(BUNDLE))
        names = wheel.namelist()
    assert verify(parsed) == []
    return parsed, names


def test_through_an_sdist_without_the_checkout(tmp_path, python, build_wheel):
    source = project(tmp_path / "project")
    python("-m", "build", "--no-isolation", "--sdist", "--outdir", tmp_path / "dist", source, cwd=tmp_path)
    shutil.rmtree(source)
    with tarfile.open(only(tmp_path / "dist", "*.tar.gz")) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
        assert set(FILES) <= names, "every file of CUDA C++ travels"
        sdist.extractall(tmp_path / "unpacked")
    build_wheel(only(tmp_path / "unpacked", "*"))
    path = only(tmp_path, "**/*.whl")
    parsed, names = built(path)
    assert sorted(row["name"] for row in parsed.manifest["kernels"]) == [f"thing.kernels:{name}" for name in KERNELS]
    assert path.name.endswith("-py3-none-any.whl")
    assert not [name for name in names if name.endswith((".cu", ".cuh"))], "and none of them is in the wheel"


def test_in_a_clean_environment(tmp_path, environment, kbuild_wheel, python):
    """By pip alone: kbuild is one of the project's own requirements, and so is its compiler."""
    folder = tmp_path / "environment"
    clean = wheels.make_environment(folder)
    source = project(tmp_path / "project", requires='"setuptools>=77", "kbuild[build,cuda11]"')
    variables = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    wheels.pip_wheel(clean, source, tmp_path / "wheels", wheels.with_kbuild(kbuild_wheel, variables), "--quiet")
    path = only(tmp_path / "wheels", "*.whl")
    parsed, _ = built(path)
    assert {row["target"] for row in parsed.manifest["cubins"]} == {"sm_90", "jetson-orin-jp6"}
    said = json.loads(python("-m", "kbuild", "inspect", path, "--json", cwd=tmp_path).stdout)
    assert "thing.kernels:sum_of_doubles" in json.dumps(said)
    shown = python("-m", "kbuild", "inspect", path, cwd=tmp_path).stdout
    assert "thing.kernels:sum_of_doubles: CUDA C++, 128 threads a block" in shown
