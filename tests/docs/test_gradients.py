"""The programs of docs/gradients.md print what the page says, and its table has every method of a tape."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

import kbuild as kb
from kbuild.loader import uses
from tests.helpers import kernels

PAGE = (Path(__file__).parents[2] / "docs" / "gradients.md").read_text(encoding="utf-8")
PROGRAMS = {
    name: (text, dedent(shown))
    for name, text, shown in re.findall(
        r"```python\n# (\w+)\.py\n((?:(?!```).*\n)*)```\n\nprints\n\n((?:    .*\n)+)", PAGE
    )
}


def test_they_were_found() -> None:
    assert list(PROGRAMS) == ["doubling", "throwing", "checking"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, shown = PROGRAMS[name]
    path = tmp_path / f"gradients_{name}.py"
    path.write_text(text, encoding="utf-8")
    module, _ = kernels.load(path)
    assert capsys.readouterr().out == shown
    # Its module lives as long as its kernels do; while a tape does, launches go the slow way.
    vars(module).pop("tape", None)
    assert uses.tapes == []


def test_every_method_is_on_the_page() -> None:
    names = [name for name in vars(kb.Tape) if not name.startswith("_") and name != "recorder"]
    assert len(names) > 6
    assert [name for name in names if f"`tape.{name}" not in PAGE] == []
