"""The loader runs on every Python from 3.8 on: for real, with each one that this machine has."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def interpreter(minor: int) -> str | None:
    """A CPython 3.`minor`: on PATH, or among pyenv's."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [str(path) for path in sorted(kept.glob(f"3.{minor}.*/bin/python"))]
    on_path = shutil.which(f"python3.{minor}")
    for candidate in [*found, *([on_path] if on_path else [])]:
        asked = subprocess.run(
            [candidate, "-c", "import sys; print(sys.version_info[1])"], capture_output=True, text=True
        )
        if asked.stdout.strip() == str(minor):  # pyenv's shims answer for versions that are not active
            return candidate
    return None


@pytest.mark.parametrize("minor", range(8, 14))
def test_on_python(minor: int, fake_library: Path) -> None:
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"this machine has no Python 3.{minor}")
    command = [
        python,
        "-I",
        "-B",
        "-W",
        "error",
        str(ROOT / "tests/loader/any_python.py"),
        str(ROOT),
        str(fake_library),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd="/")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"3.{minor} 25 checks\n"
