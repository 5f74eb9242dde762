"""The packages of these tests: written for Warp, without Warp."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import kbuild as kb
from kbuild.loader import context, driver, peers
from kbuild.loader.memory import allocation
from tests.helpers.fake_cuda import FakeCuda, compile_library

HERE = Path(__file__).parent


@pytest.fixture
def broken() -> Path:
    """A folder of modules that use what kbuild does not have, and one that cannot be imported."""
    return HERE / "broken"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project `warpsim`."""
    return Path(shutil.copytree(HERE / "project", tmp_path / "project"))


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(tmp_path_factory.mktemp("fake"))


@pytest.fixture
def gpus(library: Path) -> Iterator[FakeCuda]:
    """Two GPUs, of which a test leaves nothing behind."""
    with FakeCuda(library, devices="9.0,9.0") as fake:
        yield fake
        kb.set_device(None)
        peers._open.clear()
        gc.collect()
        for device in kb.get_devices():
            kb.set_stream(None, device)
            kb.synchronize(device)
            allocation.reclaim(device, wait=True)
        assert fake.breaches == []
        assert fake.leaks == {}


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """No driver at all."""
    monkeypatch.setattr(driver, "LIBRARIES", ("/nowhere/libcuda.so.1",))
    monkeypatch.setattr(driver, "_driver", None)
    monkeypatch.setattr(context, "_devices", None)
