"""The loader on a fake driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.fake_cuda import FakeCuda, compile_library


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(tmp_path_factory.mktemp("fake"))


@pytest.fixture
def cuda(fake_library: Path) -> Iterator[FakeCuda]:
    """One GPU, sm_90, driver for CUDA 13.0. Whatever a test does, the driver is asked nothing that breaks its rules."""
    with FakeCuda(fake_library) as fake:
        yield fake
        assert fake.breaches == []


@pytest.fixture
def two_gpus(fake_library: Path) -> Iterator[FakeCuda]:
    with FakeCuda(fake_library, devices="9.0,9.0") as fake:
        yield fake
        assert fake.breaches == []
