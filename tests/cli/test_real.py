"""The command line with everything behind it: a project is checked, built, inspected and verified."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kbuild.errors import ExitCode

ROOT = Path(__file__).parents[2]

KERNELS = """\
import kbuild as kb


@kb.kernel
def scale(data: kb.array(dtype=float), factor: float):
    i = kb.tid()
    data[i] = data[i] * factor


@kb.kernel
def shift(data: kb.array(dtype=float), by: float):
    i = kb.tid()
    data[i] = data[i] + by
"""

WRONG = """

@kb.kernel
def wrong(data: kb.array(dtype=float)):
    i = kb.tid()
    data[i] = [1.0, 2.0]
"""

pytestmark = pytest.mark.nvrtc


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    package = tmp_path / "tiny"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "kernels.py").write_text(KERNELS)
    text = '[tool.kbuild]\nmodules = ["tiny.kernels"]\ntargets = ["sm_90", "jetson-orin-jp6"]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    return tmp_path


def kbuild(cache: Path, *argv: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KBUILD_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kbuild", *map(str, argv)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == status, done.stderr
    return done


def answer(cache: Path, *argv: object, status: int = 0) -> Any:
    return json.loads(kbuild(cache, *argv, "--json", status=status).stdout)


def test_from_check_to_verify(project: Path, cache: Path) -> None:
    assert answer(cache, "check", project)["kernels"] == {"found": 2, "complete": 2}
    built = answer(cache, "build", project, "--pin", project / "trusted.py")
    assert built["kernels"] == ["tiny.kernels:scale", "tiny.kernels:shift"]
    assert built["targets"] == ["sm_90", "jetson-orin-jp6"]
    assert Path(built["bundle"]) == project / "tiny" / "_kbuild.kbundle"
    assert (project / "trusted.py").read_text() == f'DIGEST = "{built["digest"]}"\n'

    again = answer(cache, "build", project)
    assert (again["compiled"], again["cached"], again["lowered"]) == (0, 4, 0)  # and the adjoints
    assert again["digest"] == built["digest"]

    seen = answer(cache, "inspect", project)
    assert seen["digest"] == built["digest"]
    assert [cubin["target"] for cubin in seen["cubins"]] == 2 * ["sm_90", "jetson-orin-jp6"]
    assert [row["name"] for row in seen["kernels"][0]["parameters"]] == ["data", "factor"]
    assert "right, 4 cubins" in kbuild(cache, "verify", project, "--digest", built["digest"]).stdout
    assert answer(cache, "inspect", built["bundle"], "--compare", project) == {"differences": []}


def test_stages(project: Path, cache: Path, tmp_path: Path) -> None:
    assert "__global__" in kbuild(cache, "build", project, "--emit=cuda", "--kernel", "scale").stdout
    shown = kbuild(cache, "check", project, "--emit=ir").stdout
    assert "kernel tiny.kernels:scale ndim=1(" in shown
    assert "variables of tiny.kernels:scale" in shown
    again = kbuild(cache, "check", project, "--emit=python", "--kernel", "scale").stdout
    assert again.startswith("import kbuild as kb\n\n\n@kb.kernel(fmad=True)\ndef scale(")
    assert ".visible .entry scale" in kbuild(cache, "build", project, "--emit=ptx", "--target", "sm_90").stdout
    out = tmp_path / "out"
    files = answer(cache, "build", project, "--emit=cubin", "--target", "sm_90", "-o", out)["files"]
    assert files
    assert all(Path(file).read_bytes()[:4] == b"\x7fELF" for file in files)


def test_wrong_kernels(project: Path, cache: Path) -> None:
    source = project / "tiny" / "kernels.py"
    source.write_text(KERNELS + WRONG)
    found = answer(cache, "check", project, status=ExitCode.KERNELS)
    assert found["kernels"] == {"found": 3, "complete": 2}
    (row,) = found["diagnostics"]
    assert (Path(row["path"]), row["line"], row["kernel"]) == (source, 19, "tiny.kernels:wrong")
    assert found["refusals"] == [{"code": row["code"], "count": 1}]
    failed = kbuild(cache, "build", project, status=ExitCode.KERNELS)
    assert f"{source}:19:" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not (project / "tiny" / "_kbuild.kbundle").exists()


def test_a_module_that_is_not_there(project: Path, cache: Path) -> None:
    path = project / "pyproject.toml"
    path.write_text(path.read_text().replace("tiny.kernels", "tiny.kernel"))
    for command in ("check", "build"):
        assert "tiny.kernel" in kbuild(cache, command, project, status=ExitCode.USAGE).stderr
