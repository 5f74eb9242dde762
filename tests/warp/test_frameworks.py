"""Other libraries' arrays by Warp's names and arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kbuild as kb
import kbuild.warp as wp
from kbuild.loader import loans
from tests.helpers import fake_torch
from tests.helpers.fake_cuda import FakeCuda, compile_library
from tests.helpers.fake_torch import FakeTorch


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return compile_library(tmp_path_factory.mktemp("fake"))


@pytest.fixture(autouse=True)
def cuda(library: Any) -> Iterator[FakeCuda]:
    with FakeCuda(library) as fake:
        yield fake
        assert fake.breaches == []


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> FakeTorch:
    return fake_torch.install(monkeypatch)


def test_pytorch(torch: Any) -> None:
    mine = kb.zeros((5, 3))
    tensor = torch.over(mine)
    for made in (
        wp.from_torch(tensor, wp.vec3),
        wp.from_torch(tensor, dtype=wp.vec3, requires_grad=False, return_ctype=True),
    ):
        assert (made.ptr, made.shape, made.dtype) == (mine.ptr, (5,), wp.vec3)
    wp.to_torch(mine)
    assert torch.consumed.pop().ptr == mine.ptr
    assert wp.to_torch(mine, requires_grad=True) == "requires grad"
    torch.consumed.clear()
    assert wp.dtype_from_torch(torch.float64) is wp.float64
    assert wp.dtype_to_torch(wp.float64) is torch.float64
    assert wp.device_from_torch("cuda:0") is wp.get_device("cuda:0")
    assert wp.device_to_torch("cuda:0") == "cuda:0"
    theirs = fake_torch.Stream(7)
    assert wp.stream_from_torch(theirs).cuda_stream == 7
    assert wp.stream_to_torch(wp.stream_from_torch(theirs)).cuda_stream == 7


def test_gradients_are_shared(torch: Any) -> None:
    mine, gradient = kb.zeros((5, 3)), kb.zeros((5, 3))
    tensor = torch.over(mine, requires_grad=True)
    tensor.grad = torch.over(gradient)
    for asked in ({}, {"requires_grad": True}, {"grad": tensor.grad}, {"grad": wp.from_torch(tensor.grad, wp.vec3)}):
        made = wp.from_torch(tensor, wp.vec3, **asked)
        assert (made.grad.ptr, made.grad.shape) == (gradient.ptr, (5,))
    assert wp.from_torch(tensor, requires_grad=False).grad is None


def test_dlpack_and_jax() -> None:
    mine = kb.array([1.0, 2.0, 3.0], device="cpu")
    made = wp.from_dlpack(wp.to_dlpack(mine), dtype=wp.float32)
    assert (made.ptr, made.tolist()) == (mine.ptr, [1.0, 2.0, 3.0])
    assert wp.from_jax(np.arange(3, dtype=np.float32)).tolist() == [0.0, 1.0, 2.0]
    assert wp.dtype_from_jax(np.float32) is wp.float32
    del made
    assert loans.count() == 0
