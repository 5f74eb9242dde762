"""Other Pythons of this machine, for what must run on the oldest."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest


@cache
def find_python(version: str) -> Path | None:
    """An interpreter of a version like "3.8": on the path, or one that pyenv installed; None without."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    on_path = shutil.which(f"python{version}")
    candidates = [*([Path(on_path)] if on_path else []), *sorted(pyenv.glob(f"versions/{version}.*/bin/python"))]
    return next((python for python in candidates if _answers(python)), None)


def _answers(python: Path) -> bool:
    """Whether it runs: a shim of pyenv may stand for a version that is not selected."""
    return subprocess.run([str(python), "-c", ""], capture_output=True, check=False).returncode == 0


def need_python(version: str) -> Path:
    """The interpreter; skips the test on a machine that has none."""
    python = find_python(version)
    if python is None:
        pytest.skip(f"no python{version} on this machine")
    return python
