"""The loader, as its wheel installs it, on every Python from 3.8 on: for real, with each one that this machine has.

Those that it has not are named among the skipped tests.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.helpers.pythons import need_python

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("minor", range(8, 14))
def test_on_python(minor: int, fake_library: Path, site: Path) -> None:
    python = need_python("3.%d" % minor)
    script = ROOT / "tests" / "loader" / "any_python.py"
    command = [str(python), "-I", "-B", "-W", "error", str(script), str(site), str(ROOT), str(fake_library)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd="/")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout == f"3.{minor} 137 checks\n"
