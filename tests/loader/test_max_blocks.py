"""`max_blocks`: launches that arrive in pieces, one after another."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import resolve
from kbuild.loader.errors import LaunchError
from kbuild.loader.kernel import BundleKernel
from tests.helpers.fake_cuda import FakeCuda, bundle_bytes, make_bundle
from tests.helpers.situations import happens

SECTION = "A launch"


def kernel_of(**options: Any) -> BundleKernel:
    return make_bundle([("x", "float32")], **options)["p.kernels:k"]


def pieces(cuda: FakeCuda) -> list[tuple[int, int, int]]:
    """(end, origin, blocks) of each launch that arrived."""
    return [(*struct.unpack_from("<II", bytes(record.bytes)), record.grid) for record in cuda.records]


@pytest.mark.parametrize("warm", [False, True])
def test_pieces_arrive_in_order_on_the_stream(cuda: FakeCuda, warm: bool) -> None:
    kernel, stream = kernel_of(), cuda.make_stream()
    for _ in range(3 if warm else 0):
        resolve.launch(kernel, 1000, [1.0])
    before = len(cuda.records)
    resolve.launch(kernel, 1000, [1.0], stream=stream, block_dim=128, max_blocks=3)
    assert pieces(cuda)[before:] == [(384, 0, 3), (768, 384, 3), (1000, 768, 2)]
    assert {record.stream for record in cuda.records[before:]} == {stream}
    assert {tuple(record.sizes)[3:] for record in cuda.records[before:]} == {(128, 1, 1)}


def test_a_launch_that_fits_is_one(cuda: FakeCuda) -> None:
    kernel = kernel_of()
    resolve.launch(kernel, 1024, [1.0], max_blocks=4)
    kernel.launch(1024, [1.0], None, None, None, 4)
    assert pieces(cuda) == [(1024, 0, 4)] * 2


def test_no_cap_is_no_cap_in_a_quick_launch_too(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_of()
    for _ in range(3):
        resolve.launch(kernel, 1000, [1.0], max_blocks=0)
    monkeypatch.setattr(kernel, "packing", None)
    resolve.launch(kernel, 1000, [1.0], max_blocks=0)
    assert pieces(cuda)[-1] == (1000, 0, 4)


def test_several_coordinates_are_cut_into_boxes(cuda: FakeCuda) -> None:
    resolve.launch(kernel_of(ndim=2), (5, 100), [1.0], block_dim=64, max_blocks=4)
    words = [struct.unpack_from("<4I2i", bytes(record.bytes)) for record in cuda.records]
    assert [(count, extent, *origin) for count, extent, _, _, *origin in words] == [
        (200, 100, 0, 0),
        (200, 100, 2, 0),
        (100, 100, 4, 0),
    ]


def test_a_flat_grid_is_cut_like_its_threads(cuda: FakeCuda) -> None:
    resolve.launch(kernel_of(), grid=5, block=64, inputs=[1.0], max_blocks=2)
    assert pieces(cuda) == [(128, 0, 2), (256, 128, 2), (320, 256, 1)]


@happens(
    SECTION,
    "`max_blocks` would cut a kernel whose threads wait for one another, or whose code is of before `max_blocks`",
    "`LaunchError` with the reason and the cure; what fits within `max_blocks` is launched.",
)
@pytest.mark.parametrize(
    "options", [{"dim": 1024, "block_dim": 128}, {"grid": 8, "block": 64}, {"grid": (4, 2), "block": (8, 8)}]
)
def test_whole_blocks_are_never_cut(cuda: FakeCuda, options: dict[str, Any]) -> None:
    kernel = kernel_of(whole_blocks=True)
    resolve.launch(kernel, inputs=[1.0], max_blocks=8, **options)
    assert len(cuda.records) == 1
    with pytest.raises(LaunchError) as caught:
        resolve.launch(kernel, inputs=[1.0], max_blocks=7, **options)
    assert str(caught.value).startswith("p.kernels:k: it runs in whole blocks, and 8 blocks are more than max_blocks=7")
    assert "help: launch fewer blocks, or leave max_blocks out" in str(caught.value)
    assert len(cuda.records) == 1


def test_code_of_before_max_blocks(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kbuild.loader.format.writes_origin", lambda ndim: False)
    old = bundle_bytes([("x", "float32")])
    monkeypatch.undo()
    from kbuild.loader.bundle import from_bytes

    kernel = from_bytes(old, "memory")["p.kernels:k"]
    kernel.launch(512, [1.0], max_blocks=2)
    record = cuda.records[-1]
    assert (record.size, struct.unpack_from("<If", bytes(record.bytes)), record.grid) == (8, (512, 1.0), 2)
    with pytest.raises(LaunchError, match=r"max_blocks=1 would cut it into several.*\n  help: build the package again"):
        kernel.launch(512, [1.0], max_blocks=1)


@pytest.mark.parametrize("max_blocks", [-1, True, False, 1.0, 0.0, "8", None])
@pytest.mark.parametrize("warm", [False, True])
def test_what_is_no_number_of_blocks(cuda: FakeCuda, max_blocks: Any, warm: bool) -> None:
    for kernel in (kernel_of(), kernel_of(whole_blocks=True)):
        for _ in range(3 if warm else 0):
            kernel.launch(256, [1.0])
        for options in ({"dim": 256}, {"grid": 1}):
            with pytest.raises(LaunchError, match="k: max_blocks is a number of blocks, or 0 for no cap, not "):
                resolve.launch(kernel, inputs=[1.0], max_blocks=max_blocks, **options)


def test_a_bound_launch_is_cut_too(cuda: FakeCuda) -> None:
    kernel = kernel_of(any_block_dim=True, registers=72)  # blocks of 128
    step = kb.bind(kernel, 700, [1.0], max_blocks=2)
    step()
    assert pieces(cuda) == [(256, 0, 2), (512, 256, 2), (700, 512, 2)]
    step.set_dim(256)
    step()
    assert pieces(cuda)[3:] == [(256, 0, 2)]
