"""docs/what-happens-when.md is made from the tests that prove its rows: `pytest --update-golden` writes it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import golden
from tests.helpers.situations import rows

PAGE = Path(__file__).parents[2] / "docs" / "what-happens-when.md"

HEAD = """\
# What happens when …

Every row is a test in `make test` that does the real thing: real pip, real processes, real files. This page is made
from those tests (`tests/helpers/situations.py`). Exit status of `python -m kbuild`: 0 done, 1 the kernels are at fault
or a bundle is damaged, 2 usage or configuration, 3 this machine lacks something, 70 a bug in kbuild, 130 interrupted.
"""

# In the order in which a user meets them; sections that are not named here come after these.
ORDER = (
    "Configuration",
    "Sources",
    "Importing the project",
    "Targets and compilers",
    "Cache and disk",
    "Interrupted builds",
    "Wheels, sdists and editable installs",
    "Damaged and forged bundles",
)


def page() -> str:
    found = rows()
    sections = [*ORDER, *sorted(found.keys() - set(ORDER))]
    return HEAD + "".join(_section(title, found[title]) for title in sections)


def _section(title: str, table: list[tuple[str, str]]) -> str:
    lines = [f"| {_cell(when)} | {_cell(what)} |\n" for when, what in table]
    return f"\n## {title}\n\n| when … | then |\n|---|---|\n" + "".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def test_the_page_is_what_the_tests_say(pytestconfig: pytest.Config) -> None:
    golden.check(PAGE, page(), pytestconfig)


def test_every_row_stands_once() -> None:
    found = [(section, when) for section, table in rows().items() for when, _ in table]
    assert len(found) == len(set(found))
    assert set(ORDER) <= {section for section, _ in found}
