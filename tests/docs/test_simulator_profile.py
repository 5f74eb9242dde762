"""The kernels of docs/simulator-profile.md run, and their profile is the one that the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers import kernels

PAGE = (Path(__file__).parents[2] / "docs" / "simulator-profile.md").read_text(encoding="utf-8")


def test_the_page_shows_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
    path = tmp_path / "page_of_profiles.py"
    path.write_text(code, encoding="utf-8")
    kernels.load(path)
    printed = capsys.readouterr().out
    (shown,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for line in shown.splitlines():
        assert line in printed.splitlines()
