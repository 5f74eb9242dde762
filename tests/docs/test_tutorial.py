"""The tutorial's files make the wheel that the tutorial promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kbuild import config, pipeline
from kbuild.loader import format
from tests.helpers import host_arrays

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"```\w+\n# (\S+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def project(tmp_path):
    for name, text in FILE.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.nvrtc
def test_it_builds(project, tmp_path, monkeypatch):
    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    pipeline.build(config.load(project), output=tmp_path / "out")
    manifest = format.parse((tmp_path / "out" / "blur" / "_kbuild.kbundle").read_bytes()).manifest
    assert [kernel["name"] for kernel in manifest["kernels"]] == ["blur.kernels:blur", "blur.kernels:blur:adjoint"]
    assert manifest["targets"] == ["sm_75", "sm_90"]


def test_its_program_prints_what_it_says(project, monkeypatch, capsys):
    """On the host: the kernels as ordinary Python."""
    host_arrays.install(monkeypatch)
    monkeypatch.syspath_prepend(str(project / "src"))
    namespace = {"__name__": "__main__"}
    exec((project / "src" / "blur" / "__main__.py").read_text(encoding="utf-8"), namespace)
    printed = capsys.readouterr().out.strip()
    assert printed in (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert printed.startswith("[2.0")
