"""Kernels to which the launch gives shared memory: what the driver gets, and what never gets there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import bound, dynamic, graphs, resolve
from kbuild.loader.errors import BundleError, LaunchError
from kbuild.loader.grids import Sized
from kbuild.loader.kernel import BundleKernel
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from tests.helpers.situations import happens

MOST = 232448  # of the fake GPU, where a block may have that much when asked for


def tiled(**options: Any) -> BundleKernel:
    bundle = make_bundle([("x", "float32")], whole_blocks=True, block_dim=64, dynamic_shared=16, **options)
    return bundle["p.kernels:k"]


def in_cuda(**options: Any) -> BundleKernel:
    bundle = make_bundle([("x", "float32")], plain=True, block_dim=64, shared_memory=48, **options)
    return bundle["p.kernels:k"]


Make = Callable[..., BundleKernel]
of_both_kinds = pytest.mark.parametrize("make", [tiled, in_cuda])


def arrived(cuda: FakeCuda) -> tuple[int, int, int]:
    """Blocks, threads of each, and shared memory of the last launch."""
    record = cuda.records[-1]
    return record.grid, record.block, record.shared


@of_both_kinds
@pytest.mark.parametrize("shared", [0, 16, 1000, 48 * 1024, 48 * 1024 + 1, MOST])
def test_what_arrives(cuda: FakeCuda, make: Make, shared: int) -> None:
    kernel = make()
    for _ in range(4):  # thorough launches, then the quick one
        resolve.launch(kernel, dim=128, inputs=[1.0], shared_memory=shared)
        assert arrived(cuda) == (2, 64, shared)
        resolve.launch(kernel, grid=3, block=32, inputs=[1.0], shared_memory=shared)
        assert arrived(cuda) == (3, 32, shared)
    assert kernel.launch != kernel.thorough
    assert cuda.calls.count("cuFuncSetAttribute") == 1


@of_both_kinds
def test_later_launches_are_quick_ones(cuda: FakeCuda, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = make()
    for _ in range(2):
        resolve.launch(kernel, dim=128, inputs=[1.0], shared_memory=64)
    monkeypatch.setattr(kernel, "thorough", None)
    for shared in (64, 128, 64):
        resolve.launch(kernel, dim=128, inputs=[1.0], shared_memory=shared)
        assert arrived(cuda) == (2, 64, shared)


def test_what_a_declaration_in_cuda_says(cuda: FakeCuda) -> None:
    kernel = in_cuda()
    step = bound.bind(kernel, dim=128, inputs=[1.0])
    for _ in range(4):
        resolve.launch(kernel, dim=128, inputs=[1.0])
        assert arrived(cuda) == (2, 64, 48)
        resolve.launch(kernel, dim=128, inputs=[1.0], shared_memory=32)
        assert arrived(cuda) == (2, 64, 32)
        step()
        assert arrived(cuda) == (2, 64, 48)
    step.set_dim(Sized(64, 0))
    step()
    assert arrived(cuda) == (1, 64, 0)


def test_a_declaration_of_more_than_the_gpu_has(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "float32")], plain=True, shared_memory=MOST + 1)["p.kernels:k"]
    with pytest.raises(LaunchError, match=f"shared_memory={MOST + 1} is more than the {MOST} bytes"):
        resolve.launch(kernel, dim=64, inputs=[1.0])
    resolve.launch(kernel, dim=64, inputs=[1.0], shared_memory=MOST)
    assert len(cuda.records) == 1


@happens(
    "A launch",
    "`shared_memory` is more than a block may have on the GPU, or does not fit the kernel",
    "`LaunchError` with both numbers, or with what the kernel takes; nothing is launched.",
)
@pytest.mark.parametrize("launches", [0, 3])
def test_what_does_not_fit_never_reaches_the_driver(cuda: FakeCuda, launches: int) -> None:
    kernel, other, plain = tiled(), make_bundle([("x", "float32")])["p.kernels:k"], in_cuda()
    for one, options in ((kernel, {"shared_memory": 16}), (other, {}), (plain, {})):
        for _ in range(launches):
            resolve.launch(one, dim=64, inputs=[1.0], **options)
    before = len(cuda.records)
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (kernel, {}, "in rows of 16 bytes\n  help: launch it with shared_memory=16 times the number of rows"),
        (other, {"shared_memory": 16}, "it has no array whose size the launch gives, and shared_memory=16"),
        (kernel, {"shared_memory": MOST + 1}, f"{MOST + 1} is more than the {MOST} bytes that a block may have"),
        (kernel, {"shared_memory": -1}, "shared_memory is a number of bytes, 0 or more, not -1"),
        (kernel, {"shared_memory": 1 << 31}, "0 or more, not 2147483648"),
        (kernel, {"shared_memory": 1.5}, "shared_memory wants a number of bytes, not float 1.5"),
        (kernel, {"shared_memory": 16, "grid": 1}, "give dim, or grid and block, not both"),
        (plain, {"shared_memory": MOST + 1}, f"{MOST + 1} is more than the {MOST} bytes that a block may have"),
        (plain, {"shared_memory": -1}, "shared_memory is a number of bytes, 0 or more, not -1"),
        (plain, {"shared_memory": 16, "grid": 1}, "give dim, or grid and block, not both"),
    ]
    for one, options, message in refused:
        with pytest.raises(LaunchError) as caught:
            resolve.launch(one, dim=64, inputs=[1.0], **options)
        assert message in str(caught.value)
        if "grid" not in options:
            with pytest.raises(LaunchError) as caught:
                bound.bind(one, dim=64, inputs=[1.0], **options)
            assert message in str(caught.value)
    assert len(cuda.records) == before


@of_both_kinds
def test_bound_launches_and_graphs(cuda: FakeCuda, make: Make) -> None:
    step = bound.bind(make(), dim=128, inputs=[1.0], shared_memory=100_000)
    step()
    assert arrived(cuda) == (2, 64, 100_000)
    step.set_dim(192)
    step()
    assert arrived(cuda) == (3, 64, 100_000)
    step.set_dim(Sized(64, 32))
    step()
    assert arrived(cuda) == (1, 64, 32)
    with kb.capture() as graph:
        step()
    assert isinstance(graph, graphs.Graph)
    graph.launch()
    assert arrived(cuda) == (1, 64, 32)
    step.set_dim(Sized(128, 64))
    graph.update(step)
    graph.launch()
    assert arrived(cuda) == (2, 64, 64)
    kb.synchronize()


@of_both_kinds
def test_what_the_kernel_declares_is_beside_it(cuda: FakeCuda, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attribute 32 of the fake function stands for static shared memory here."""
    monkeypatch.setattr(dynamic, "_STATIC", 4)
    kernel = make()
    resolve.launch(kernel, dim=64, inputs=[1.0], shared_memory=MOST - 32)
    with pytest.raises(LaunchError, match=f"the {MOST - 32} bytes that a block may have on this device beside the 32"):
        resolve.launch(kernel, dim=64, inputs=[1.0], shared_memory=MOST - 31)


def test_a_manifest_that_contradicts_itself() -> None:
    with pytest.raises(BundleError, match="dynamic_shared is of kernels that run in whole_blocks"):
        make_bundle([("x", "float32")], dynamic_shared=4)
    with pytest.raises(BundleError, match="dynamic_shared is -4, but wants an integer from 1 on"):
        make_bundle([("x", "float32")], whole_blocks=True, dynamic_shared=-4)
