"""`make wheelhouse` and `make test-gpu`: the GPU tests with any Python from 3.8 on, on a machine without a network.

    collect   (Python 3.10, a network)  build/wheelhouse ← kbuild's wheel, the sample's wheel, pytest for every Python
    test      (Python 3.8, a GPU)       build/gpu ← a fresh environment with those wheels, and tests/gpu run in it

The environment has no NVRTC, no NumPy and no checkout of kbuild: the tests meet what a user installs.
"""

from __future__ import annotations

import os
import shutil
import sys

from tools import wheels

WHEELHOUSE = wheels.ROOT / "build" / "wheelhouse"
FOLDER = wheels.ROOT / "build" / "gpu"
PYTEST = ("pytest", "exceptiongroup", "tomli", "typing-extensions")  # the last three for the older Pythons
TESTS = ("pyproject.toml", "tests/conftest.py", "tests/helpers", "tests/gpu")


def collect() -> None:
    """Fills the wheelhouse."""
    builder = wheels.make_environment(FOLDER / "builder")
    kbuild = wheels.build_kbuild(builder, FOLDER / "kbuild")
    shutil.rmtree(WHEELHOUSE, ignore_errors=True)
    WHEELHOUSE.mkdir(parents=True)
    shutil.copy(kbuild, WHEELHOUSE)
    for project in (wheels.SAMPLE, *wheels.GPU_PROJECTS):
        wheels.pip_wheel(builder, project, WHEELHOUSE, wheels.with_kbuild(kbuild, os.environ))
    # The versions for 3.8 are pure Python, and run on every later one.
    oldest = ["--python-version", "3.8", "--only-binary", ":all:", "--dest", WHEELHOUSE]
    wheels.run([builder, "-m", "pip", "download", "--quiet", *oldest, *PYTEST], os.environ)
    print(f"collected {len(list(WHEELHOUSE.glob('*.whl')))} wheels in {WHEELHOUSE}")


def test(arguments: list[str]) -> None:
    """Runs tests/gpu; the arguments go to pytest."""
    if not list(WHEELHOUSE.glob("kbuild-*.whl")):
        sys.exit(f"make test-gpu: {WHEELHOUSE} is empty; run `make wheelhouse` where there is a network, and copy it")
    python = wheels.make_environment(FOLDER / "environment")
    offline = ["--quiet", "--no-index", "--find-links", WHEELHOUSE]
    packages = ["kbuild", "robosim", "gpukernels", "gpuclusters", "pytest"]
    wheels.run([python, "-m", "pip", "install", *offline, *packages], os.environ)
    copy = FOLDER / "checkout"  # without kbuild's sources, which would be imported instead of the wheel
    shutil.rmtree(copy, ignore_errors=True)
    for name in TESTS:
        wheels.copy(wheels.ROOT / name, copy / name)
    os.chdir(copy)
    wheels.run([python, "-m", "pytest", "tests/gpu", *arguments], os.environ)


if __name__ == "__main__":
    if sys.argv[1:2] == ["collect"]:
        collect()
    elif sys.argv[1:2] == ["test"]:
        test(sys.argv[2:])
    else:
        sys.exit(__doc__)
