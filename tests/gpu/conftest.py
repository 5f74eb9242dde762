"""Tests that need a GPU, and kbuild, robosim, gpukernels and gpuclusters installed from their wheels.

They are collected only where those are installed: `make test-gpu` and `benchmarks/on_gpu.sh` see to that.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

ANYWHERE = ("test_generated.py", "test_meaning.py", "test_robosim.py")  # these import no kernels
collect_ignore = [
    path.name
    for path in sorted(Path(__file__).parent.glob("test_*.py"))
    if path.name not in ANYWHERE and not find_spec("gpuclusters" if path.name == "test_clusters.py" else "gpukernels")
]


@pytest.fixture(autouse=True, scope="session")
def shadow():
    """With KBUILD_SHADOW, every launch runs in the simulator too (see shadow.py); with KBUILD_SHADOW_ADJOINTS the
    adjoints of some (see shadow_backward.py).
    """
    forward, backward = (os.environ.get(name) for name in ("KBUILD_SHADOW", "KBUILD_SHADOW_ADJOINTS"))
    if not (forward or backward):
        yield
        return
    import kbuild as kb

    if forward:
        from tests.gpu.shadow import Shadow

        made = kb.launch = Shadow(forward)
    else:
        from tests.gpu.shadow_backward import BackwardShadow

        made = kb.launch = BackwardShadow(backward)
    yield
    kb.launch = made.launch
    made.write()
