"""The loader on a fake driver."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.fake_cuda import FakeCuda, compile_library
from tests.helpers.once import once
from tools import wheels


@pytest.fixture(autouse=True, scope="module")
def young_heap() -> Iterator[None]:
    """What other tests of this process have left is not gone through at each of thousands of collections."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(tmp_path_factory.mktemp("fake"))


@pytest.fixture
def cuda(fake_library: Path, request: pytest.FixtureRequest) -> Iterator[FakeCuda]:
    """One GPU, sm_90, driver for CUDA 13.0. Whatever a test does, it breaks no rule and leaves nothing behind."""
    with FakeCuda(fake_library) as fake:
        yield fake
        check_end(fake, request)


@pytest.fixture
def two_gpus(fake_library: Path, request: pytest.FixtureRequest) -> Iterator[FakeCuda]:
    with FakeCuda(fake_library, devices="9.0,9.0") as fake:
        yield fake
        check_end(fake, request)


def check_end(fake: FakeCuda, request: pytest.FixtureRequest) -> None:
    """Nothing was asked of the driver that no caller may ask, and nothing is left (`FakeCuda.may_keep`)."""
    assert fake.breaches == []
    if not request.node.stash.get(FAILED, False):  # the frames of a test that failed hold what they held
        fake.hold_all(False)
        gc.collect()
        assert fake.breaches == []
        assert fake.leaks == {}


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome = yield
    if outcome.get_result().failed:  # type: ignore[attr-defined]
        item.stash[FAILED] = True


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what pip installs of kbuild's wheel on Python 3.8, and nothing else; read-only."""

    def build(folder: Path) -> None:
        wheels.build_kbuild(sys.executable, folder / "wheel", "--quiet", "--no-build-isolation")

    def install(folder: Path) -> None:
        wheel = next((once(tmp_path_factory, "kbuild", build) / "wheel").glob("*.whl"))
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
        chosen = ["--python-version", "3.8", "--only-binary", ":all:", "--target", str(folder)]
        subprocess.run([*pip, *chosen, str(wheel)], check=True)
        subprocess.run(["chmod", "-R", "a-w", str(folder)], check=True)
        folder.chmod(0o755)  # `once` renames it

    return once(tmp_path_factory, "site", install)
