"""`install()`: what `import warp` means afterwards, on the oldest Python too, without anything but the loader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.pythons import need_python

ROOT = Path(__file__).parents[2]
PROJECT = Path(__file__).parent / "project" / "src"
INSTALLED = """
import sys
import kbuild.warp
kbuild.warp.install()
kbuild.warp.install()
import warp, warp as wp
import warp.fem as fem
import warp.optim.linear
from warp.fem.linalg import array_axpy
from warp.types import vector
from warp._src.types import Any, Vector
from warp._src.context import runtime
from warp._src.thirdparty.appdirs import user_cache_dir
import warp._src.codegen
assert warp is kbuild.warp and warp.types is sys.modules["warp.types"] is kbuild.warp.types
assert fem is warp.fem and warp.optim is sys.modules["warp.optim"]
assert user_cache_dir("name", "author", "1").endswith("name/1")
try:
    import warp.nonsense
except ModuleNotFoundError as error:
    assert str(error) == "kbuild.warp has no module 'warp.nonsense'", error
else:
    sys.exit("warp.nonsense was found")
from warpsim import particles
from warpsim.particles import Spring, integrate, vec5
assert repr(integrate) == "<kb.kernel warpsim.particles:integrate>"
assert Spring(rest=1.0).rest == 1.0 and vec5()[4] == 0.0
assert particles.half(3.0) == 1.5 and particles.half(wp.vec3(2.0, 4.0, 6.0)) == wp.vec3(1.0, 2.0, 3.0)
try:
    wp.launch(integrate, dim=1, inputs=[None] * 5)
except kbuild.loader.errors.LoaderError as error:
    assert "warpsim" in str(error), error
allowed = ("kbuild.warp", "kbuild.loader")
others = [n for n in sys.modules if n.startswith("kbuild.") and not n.startswith(allowed)]
assert not others, others
print("fine")
"""
TOO_LATE = """
import sys, types
sys.modules["warp"] = types.ModuleType("warp")
sys.modules["warp"].__file__ = "/somewhere/warp/__init__.py"
import kbuild.warp
kbuild.warp.install()
"""


def run(python: str, text: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys; sys.path[:0] = {[str(ROOT), str(PROJECT)]!r}\n{text}"
    return subprocess.run(
        [python, "-I", "-B", "-W", "error", "-c", program], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_installed(version: str) -> None:
    done = run(str(need_python(version)), INSTALLED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


def test_the_real_one_was_first() -> None:
    done = run(sys.executable, TOO_LATE)
    assert done.returncode == 1
    assert "comes too late: Warp itself is imported (/somewhere/warp/__init__.py)" in done.stderr
    assert "help: call it before the first module that says `import warp`" in done.stderr
