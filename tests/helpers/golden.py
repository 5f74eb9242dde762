"""Texts that stand in a file beside the test; `pytest --update-golden` writes them again."""

from __future__ import annotations

from pathlib import Path

import pytest


def check(path: Path, text: str, config: pytest.Config) -> None:
    """Holds a text against the file at `path`."""
    if config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path} is missing; write it with --update-golden"
    assert text == path.read_text(encoding="utf-8"), f"{path}: if the change is meant, --update-golden"
