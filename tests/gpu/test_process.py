"""A deployed process: no compiler, no NumPy, no JIT, and no shared library but Python's own and the driver's."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kbuild import loader

pytestmark = pytest.mark.gpu

HERE = Path(__file__).parent
# No JIT in the driver, and no cache of it: what runs is the machine code in the wheel.
NO_JIT = dict(os.environ, CUDA_DISABLE_PTX_JIT="1", CUDA_CACHE_DISABLE="1")
COUNT = 1000

LIBRARIES = """
def libraries():
    with open("/proc/self/maps") as maps:
        return sorted({line.split(None, 5)[5].strip() for line in maps if ".so" in line})
"""

# The same work as plain.c's, as a program of kbuild's; then what is in the process.
KBUILD = (
    LIBRARIES
    + """
import sys
sys.path[:0] = sys.argv[2:]
import kbuild as kb
from robosim.kernels import integrate
count = int(sys.argv[1])
data = [(float(i), 1.0, 0.5) for i in range(count)]
pos, vel = kb.array(data, dtype=kb.vec3), kb.array(data, dtype=kb.vec3)
kb.launch(integrate, dim=count, inputs=[pos, vel, kb.vec3(0.0, -9.81, 0.0), 0.5])
print("%.9g %.9g %.9g" % tuple(pos.tolist()[0]))
print(*libraries(), sep="\\n")
print(*[name for name, module in sys.modules.items() if ".so" in (getattr(module, "__file__", None) or "")])
print(*sys.modules)
"""
)

# Python alone, with the same extension modules of its standard library.
PYTHON = (
    LIBRARIES
    + """
import sys
for name in sys.argv[1:]:
    __import__(name)
print(*libraries(), sep="\\n")
"""
)

SAMPLE = """
import runpy, sys
sys.path[:0] = sys.argv[1:]
sys.argv[1:] = []
runpy.run_module("robosim", run_name="__main__")
"""


def places():
    """The folders that kbuild and robosim are installed in."""
    return sorted({str(Path(find_spec(name).origin).parents[1]) for name in ("kbuild", "robosim")})


def isolated(program, *arguments):
    """Lines that a program prints in a Python that sees no site-packages."""
    command = [sys.executable, "-I", "-S", "-c", program, *map(str, arguments)]
    return lines_of(command)


def lines_of(command):
    done = subprocess.run(command, env=NO_JIT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """plain.c, compiled here, or as it was compiled where this was built (KBUILD_PLAIN)."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        if "KBUILD_PLAIN" not in os.environ:
            pytest.skip("no C compiler, and KBUILD_PLAIN names no compiled plain.c")
        return os.environ["KBUILD_PLAIN"]
    program = tmp_path_factory.mktemp("plain") / "plain"
    subprocess.run([compiler, "-O2", "-o", str(program), str(HERE / "plain.c"), "-ldl"], check=True)
    return str(program)


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """robosim's machine code for this GPU in a file, and the entry of `integrate`."""
    from kbuild.loader import context, select

    bundle = loader.open("robosim")
    index = bundle.kernels.index("robosim.kernels:integrate")
    rows = [row for row in bundle.manifest["cubins"] if index in row["kernels"]]
    best = rows[select.order(context.get_device(), rows)[0]]
    path = tmp_path_factory.mktemp("code") / "integrate.cubin"
    path.write_bytes(bundle.parsed.blob(best["blob"]))
    return str(path), bundle.manifest["kernels"][index]["entry"]


def test_nothing_is_loaded_but_python_and_the_driver(plain, code):
    result, *rest = isolated(KBUILD, COUNT, *places())
    *mine, extensions, _ = rest
    allowed = set(isolated(PYTHON, *extensions.split()))
    plain_result, *plains = lines_of([plain, *code, str(COUNT), "maps"])
    assert result == plain_result
    assert set(mine) <= allowed | set(plains), "besides: %s" % sorted(set(mine) - allowed - set(plains))
    assert any("libcuda.so" in path for path in mine)


def test_no_module_but_the_standard_library():
    *_, modules = isolated(KBUILD, COUNT, *places())
    foreign = {name.partition(".")[0] for name in modules.split()} & {"numpy", "cuda", "nvidia", "torch", "cupy"}
    assert foreign == set()


def test_the_sample_runs_in_a_clean_python():
    lines = isolated(SAMPLE, *places())
    assert sum(line.endswith(" ok") for line in lines) == 10, "\n".join(lines)
    assert "all results are right" in lines
