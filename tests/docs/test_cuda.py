"""The files of docs/cuda.md are a project that builds, and what the page says of it is so."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild import config as configuration
from kbuild.loader import abi, format
from kbuild.pipeline import build
from tests.helpers.projects import write

PAGE = (Path(__file__).parents[2] / "docs" / "cuda.md").read_text(encoding="utf-8")
FILES = {
    "src/blurring/__init__.py": "",
    **dict(re.findall(r"```\w+\n(?:#|//) ([\w/.]+)\n((?:(?!```).*\n)*)```", PAGE)),
}


def test_they_were_found() -> None:
    assert len(FILES) == 7


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    return write(tmp_path / "project", FILES)


@pytest.mark.nvrtc
def test_the_project(project: Path) -> None:
    settings = project / "pyproject.toml"
    settings.write_text(settings.read_text().replace('["blurring.kernels"]', '["blurring.*"]'))
    found = configuration.load(project)
    assert found is not None
    result = build(found)
    assert result.diagnostics == ()
    rows = {row["name"]: row for row in format.parse(result.bundles[0].path.read_bytes()).manifest["kernels"]}
    assert set(rows) == {
        f"blurring.{name}" for name in ("kernels:blur", "kernels:brighten", "twin:brighten", "snippets:spread")
    }
    assert rows["blurring.kernels:blur"]["entry"].startswith("_Z4blurILi2EE")


@pytest.fixture
def modules(project: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(project / "src"))
    yield __import__("blurring.twin"), __import__("blurring.snippets")
    for name in [name for name in sys.modules if name.partition(".")[0] == "blurring"]:
        del sys.modules[name]


def test_what_the_simulator_runs(modules: Any) -> None:
    image = np.zeros((3, 4), np.float32)
    kb.launch(modules[0].twin.brighten, dim=12, inputs=[10, 0.5, image], device="sim")
    assert image.sum() == 5.0
    assert modules[1].snippets.reciprocal(4.0) == 0.25


def test_the_table_of_types() -> None:
    from kbuild.cuda.signature import spelled

    assert (spelled(abi.INT8), spelled(abi.FLOAT64)) == ("'signed char'", "'double'")
    assert spelled(abi.Flat(abi.FLOAT32, 1)) == "'float *'"
    for word in ("`shared_memory=`", '`arrays="views"`', "KB304", "KB305", "KB189", "KB220"):
        assert word in PAGE or word.strip("`") in PAGE
