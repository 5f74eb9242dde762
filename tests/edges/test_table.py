"""Which texts of pyproject.toml open `[tool.kbuild]`: what TOML says, and what the hook sees without reading TOML."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import setuptools

from hooks import setuptools_plugin as plugin

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXTS = [
    "[tool.kbuild]\nmodules = []\n",
    "[tool]\nkbuild.modules = []\n",
    "[tool]\nother = 1\nkbuild = {modules = []}\n",
    '[ tool ]  # tools\n"kbuild" . modules = []\n',
    "tool.kbuild.modules = []\n",
    "tool . 'kbuild' = {}\n[project]\n",
    "tool = {kbuild = {modules = []}}\n",
    "tool = {other = {a = 1}, kbuild = {modules = []}}\n",
    "['tool'.'kbuild']\n",
    '[tool."kbuild".deep]\n',
    "[[tool.kbuild]]\n",
    "[project.optional-dependencies]\nkbuild = ['kbuild[build]']\n",
    "[tool.other]\nkbuild = 1\n",
    "[tool.other]\ntool.kbuild = 1\n",
    "[tools]\nkbuild.modules = []\n",
    "[tool]\nkbuilder = 1\nmykbuild = 2\n",
    "[[tool.uv.index]]\nname = 'kbuild'\n",
    "[build-system]\nrequires = ['kbuild[build]']\n",
    "[tool]\nother.kbuild = 1\n",
    "kbuild = 1\ntool.other = 'kbuild = 1'\n",
    "# tool.kbuild = 1\n[tool]\n# kbuild = 1\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_hook_sees_what_toml_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(text)
    is_there = "kbuild" in tomllib.loads(text).get("tool", {})
    assert plugin.has_table(setuptools.Distribution()) == is_there
