"""docs/audit.md: its example is what the command prints, and its tables are complete."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kbuild import config
from kbuild.audit.findings import CHECKS, SAFETY
from kbuild.audit.levels import CODES
from kbuild.cli import audit as command
from tests.helpers.audits import judged
from tests.helpers.projects import pyproject, table, write

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.nvrtc
def test_the_example(tmp_path: Path) -> None:
    ((_, source),) = [one for one in SNIPPETS if one[1].startswith("# src/robosim/scaling.py\n")]
    files = {
        "pyproject.toml": pyproject(table=table("robosim.scaling")),
        "src/robosim/__init__.py": "",
        "src/robosim/scaling.py": source,
    }
    project = write(tmp_path / "robosim", files)
    shown = next(text for kind, text in SNIPPETS if kind == "console" and "--check source" in text)
    first, wanted = shown.split("\n", 1)
    environment = {**os.environ, "KBUILD_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, *first.removeprefix("$ python ").split()]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, cwd=project)
    assert done.returncode == 0
    found = done.stdout.replace(str(project), "/home/me/robosim")
    assert _without_figures(found) == _without_figures(wanted)


def _without_figures(text: str) -> str:
    """The text without seconds, and without the figures of machine code, which another compiler makes others."""
    head, title, rest = text.partition("\nmachine code\n")
    rest = re.sub(r" +", " ", re.sub(r"[\d.]+", "N", rest))
    return head + title + rest


def test_every_check_and_code() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*?) \| (KB.*?) \|$", PAGE, re.MULTILINE)
    assert {name: about for name, about, _ in rows} == CHECKS
    for name, _, codes in rows:
        listed = set(re.findall(r"KB\d{3}", codes))
        for first, last in re.findall(r"KB(\d{3}) to KB(\d{3})", codes):
            listed |= {f"KB{number}" for number in range(int(first), int(last) + 1)}
        assert {code for code, (check, _) in CODES.items() if check == name} == listed & CODES.keys()
    assert "The first six prove" in PAGE
    assert set(list(CHECKS)[:6]) == SAFETY


def test_every_option_of_the_command() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    command.configure(parser)
    options = {action.option_strings[-1] for action in parser._actions if action.option_strings} - {"--output"} | {"-o"}
    assert {one.split()[0] for one in re.findall(r"^\| `(-.*?)`", PAGE, re.MULTILINE)} == options


def test_the_configuration(tmp_path: Path) -> None:
    (text,) = [text for kind, text in SNIPPETS if kind == "toml"]
    (tmp_path / "pyproject.toml").write_text("[tool.kbuild]\n" + table("robosim.blocks") + text, encoding="utf-8")
    found = config.load(tmp_path)
    assert found is not None
    assert found.audit.build == "warn"
    assert found.audit.kernels[0].names == ("robosim.blocks:matrix_product",)


def test_the_suppressions(tmp_path: Path) -> None:
    (text,) = [text for kind, text in SNIPPETS if kind == "python" and "ignore" in text]
    found = judged(tmp_path, text, "source")
    assert [(one.finding.code, one.reason) for one in found] == [("KB410", "three elements")]
