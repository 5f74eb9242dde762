"""`make demo`: from a fresh clone to GPU code that runs where no compiler is, in five steps.

1. build kbuild's own wheel, since it is on no package index yet
2. build sample_project into a wheel: pip makes an isolated environment with three NVRTC compilers for it
3. install that wheel into a second environment that has neither NVRTC nor NumPy nor cuda-python
4. show what is in it, and which Jetsons nothing is built for, and why
5. run its program: on the GPU if there is one, otherwise it says which code each of a list of GPUs would get

Everything lies in build/demo. Wants Python 3.10 with `venv`, and a network for pip; no GPU, no CUDA toolkit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tools import wheels

FOLDER = wheels.ROOT / "build" / "demo"
ABSENT = ("cuda", "numpy", "nvidia")
UNSUPPORTED = "from kbuild import targets; print(*targets.UNSUPPORTED.values(), sep='\\n')"


def main() -> None:
    """Runs the steps; ends with the status of the first that fails."""
    if sys.version_info < (3, 10):
        sys.exit(f"make demo: building kernels wants Python 3.10 or newer, and this is {sys.version.split()[0]}")
    started = time.monotonic()

    step("1/5 kbuild's own wheel")
    builder = wheels.make_environment(FOLDER / "builder")
    kbuild = wheels.build_kbuild(builder, FOLDER / "kbuild")

    step("2/5 the sample's wheel (pip fetches the compilers, 200 MB the first time)")
    environment = wheels.with_kbuild(kbuild, os.environ)
    wheels.pip_wheel(builder, wheels.SAMPLE, FOLDER / "robosim", environment)
    robosim = next((FOLDER / "robosim").glob("robosim-*.whl"))

    step("3/5 a clean environment with that wheel")
    target = wheels.make_environment(FOLDER / "target")
    wheels.run([target, "-m", "pip", "install", "--quiet", robosim], environment)
    assert_clean(target)

    step(f"4/5 what is in {robosim.name}")
    wheels.run([target, "-m", "kbuild", "inspect", robosim], os.environ)
    wheels.run([target, "-I", "-c", UNSUPPORTED], os.environ)

    step("5/5 python -m robosim")
    # No JIT in the driver and no cache of it: what runs is the machine code in the wheel or nothing.
    no_jit = {**os.environ, "CUDA_DISABLE_PTX_JIT": "1", "CUDA_CACHE_DISABLE": "1"}
    wheels.run([target, "-I", "-m", "robosim"], no_jit)
    print(f"\ndone in {time.monotonic() - started:.0f} s; the wheel is {os.path.relpath(robosim)}")


def step(title: str) -> None:
    """A heading above what the tools of the step print."""
    print(f"\n=== {title}", flush=True)


def assert_clean(python: Path) -> None:
    """Ends the program unless an environment is free of everything that only a build needs."""
    look = f"import importlib.util as u; print(*[n for n in {ABSENT!r} if u.find_spec(n)])"
    found = subprocess.run([str(python), "-I", "-c", look], capture_output=True, text=True, check=True).stdout.split()
    if found:
        sys.exit(f"make demo: the clean environment has {', '.join(found)}")
    installed = [str(python), "-m", "pip", "list", "--format=freeze"]
    listed = subprocess.run(installed, capture_output=True, text=True, check=True).stdout.split()
    print("installed:", ", ".join(listed), f"(no {', no '.join(ABSENT)})")


if __name__ == "__main__":
    main()
