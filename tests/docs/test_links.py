"""Links between the Markdown files of the repository lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "sample_project" / "README.md"])
LINK = re.compile(r"\]\(([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_decision_is_in_the_list():
    listed = (ROOT / "docs" / "design" / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs" / "design").glob("*.md")} - {"README.md"}
    assert [page for page in sorted(pages) if f"({page})" not in listed] == []
