"""The packages of these tests: written for Warp, without Warp."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def broken() -> Path:
    """A folder of modules that use what kbuild does not have, and one that cannot be imported."""
    return HERE / "broken"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project `warpsim`."""
    return Path(shutil.copytree(HERE / "project", tmp_path / "project"))
