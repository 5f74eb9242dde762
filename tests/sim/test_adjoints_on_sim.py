"""Adjoints on the device `sim`: made from the live kernel, launched like a kernel."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

import kbuild as kb
from kbuild.loader import providers
from kbuild.loader.backward import Backward
from tests.helpers import kernels

SOURCE = """
from typing import Any

@kb.kernel
def square(x: kb.array(dtype=Any), y: kb.array(dtype=Any)):
    i = kb.tid()
    assert x[i] < x[i] + x[i] * x[i] + x[i]
    y[i] = x[i] * x[i]

@kb.kernel(enable_backward=False)
def plain(x: kb.array(dtype=float)):
    x[kb.tid()] = 1.0

@kb.kernel
def tiled(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    tile = kb.shared_array(64, float)
    tile[0] = x[0]
    y[0] = tile[0]
"""


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    return kernels.load(kernels.write(tmp_path, SOURCE))[0]


def arrays(dtype: object = float) -> list[kb.array]:
    values = [[1.0, 2.0, 3.0], [0.0] * 3, [0.0] * 3, [1.0, 1.0, 0.5]]
    return [kb.array(one, dtype=dtype, device="sim") for one in values]


@pytest.mark.parametrize("dtype", [kb.float32, kb.float64])
def test_an_instance_by_its_arguments(module: ModuleType, dtype: object) -> None:
    x, y, adj_x, adj_y = arrays(dtype)
    found = providers.backward_of("sim", module.square, [x, y])
    assert isinstance(found, Backward)
    assert found is providers.backward_of("sim", module.square, [x, y])
    assert (found.read, found.written, found.saved) == ({"x"}, {"y"}, {})
    assert [name for name, _ in found.parameters] == ["x", "y"]
    assert [name for name, _ in found.kernel.parameters] == ["x", "y", "adj_x", "adj_y"]
    assert found.kernel.name == f"{found.name}:adjoint"
    found.launch(3, [x, y, adj_x, adj_y])
    assert adj_x.numpy().tolist() == [2.0, 4.0, 3.0]
    found.kernel.launch(3, [x, y, None, adj_y], device="sim")
    assert adj_x.numpy().tolist() == [2.0, 4.0, 3.0]


def test_faults_are_told_with_the_adjoints_name(module: ModuleType) -> None:
    x, y, adj_x, _ = arrays()
    found = providers.backward_of("sim", module.square, [x, y])
    short = kb.array([1.0], dtype=float, device="sim")
    with pytest.raises(kb.sim.OutOfBounds, match=r"square.*:adjoint") as caught:
        found.launch(3, [x, y, adj_x, short])
    assert caught.value.kernel == found.kernel.name
    with pytest.raises(kb.LaunchError, match=r"square.*:adjoint takes 4 arguments"):
        found.launch(3, [x, y])


def test_without_a_gradient(module: ModuleType) -> None:
    x, y, _, _ = arrays()
    with pytest.raises(kb.LaunchError, match="plain was built without its gradient"):
        providers.backward_of("sim", module.plain, [x])
    for _ in range(2):
        with pytest.raises(kb.LaunchError, match=r"tiled has no gradient: line 17: .* is in shared memory"):
            providers.backward_of("sim", module.tiled, [x, y])
