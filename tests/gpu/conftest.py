"""Tests that need a GPU, and kbuild, robosim and gpukernels installed from their wheels.

They are collected only where gpukernels is installed: `make test-gpu` and `benchmarks/on_gpu.sh` see to that.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

ANYWHERE = ("test_generated.py", "test_meaning.py", "test_robosim.py")  # these import no kernels
collect_ignore = [
    path.name
    for path in sorted(Path(__file__).parent.glob("test_*.py"))
    if path.name not in ANYWHERE and not find_spec("gpukernels")
]


@pytest.fixture(autouse=True, scope="session")
def shadow():
    """With KBUILD_SHADOW, every launch runs in the simulator too (see shadow.py)."""
    if "KBUILD_SHADOW" not in os.environ:
        yield
        return
    import kbuild as kb
    from tests.gpu.shadow import Shadow

    made = kb.launch = Shadow(os.environ["KBUILD_SHADOW"])
    yield
    kb.launch = made.launch
    made.write()
