"""Launches in blocks: `grid=` and `block=`, and kernels that run in whole blocks only."""

from __future__ import annotations

import math
import struct
from itertools import islice
from typing import Any

import pytest

from kbuild.loader import blocks, geometry, resolve
from kbuild.loader.errors import LaunchError
from kbuild.loader.grids import Grid
from kbuild.loader.kernel import BundleKernel
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from tests.helpers.situations import happens

SECTION = "A launch"


def whole(**options: Any) -> BundleKernel:
    return make_bundle([("x", "float32")], whole_blocks=True, **options)["p.kernels:k"]


def ordinary(**options: Any) -> BundleKernel:
    return make_bundle([("x", "float32")], **options)["p.kernels:k"]


def arrived(cuda: FakeCuda) -> tuple[int, list[int], list[int]]:
    """Header, grid and block of the last launch."""
    record = cuda.records[-1]
    sizes = list(record.sizes)
    return struct.unpack_from("<I", bytes(record.bytes))[0], sizes[:3], sizes[3:]


@pytest.mark.parametrize(
    ("grid", "block", "sizes"),
    [
        (5, None, ([5, 1, 1], [256, 1, 1])),
        (5, 64, ([5, 1, 1], [64, 1, 1])),
        ((5,), [64], ([5, 1, 1], [64, 1, 1])),
        ((5, 6), (16, 8), ([5, 6, 1], [16, 8, 1])),
        ((2, 3, 4), (4, 4, 64), ([2, 3, 4], [4, 4, 64])),
        ((1, 65535, 1), 1, ([1, 65535, 1], [1, 1, 1])),
    ],
)
def test_what_arrives(cuda: FakeCuda, grid: Any, block: Any, sizes: Any) -> None:
    kernel = whole()
    for _ in range(4):  # thorough launches, then the quick one
        resolve.launch(kernel, grid=grid, block=block, inputs=[1.0])
        assert arrived(cuda) == (math.prod(sizes[0]) * math.prod(sizes[1]), *sizes)
    assert kernel.launch != kernel.thorough


def test_later_launches_with_a_grid_are_quick_ones(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = whole()
    for _ in range(2):
        resolve.launch(kernel, grid=2, block=64, inputs=[1.0])
    monkeypatch.setattr(kernel, "thorough", None)
    monkeypatch.setattr(kernel, "packing", None)
    resolve.launch(kernel, grid=(2, 2), block=64, inputs=[1.0])
    resolve.launch(kernel, 512, inputs=[1.0], block_dim=128)
    assert arrived(cuda) == (512, [4, 1, 1], [128, 1, 1])


def test_block_dim_beside_a_grid_without_block(cuda: FakeCuda) -> None:
    for _ in range(3):
        resolve.launch(whole(), grid=3, block_dim=32, inputs=[1.0])
        assert arrived(cuda) == (96, [3, 1, 1], [32, 1, 1])


@happens(
    SECTION,
    "the threads of a kernel wait for one another, and `dim` is no multiple of `block_dim`",
    "`LaunchError` that says how many threads to launch instead; nothing is launched.",
)
@happens(
    SECTION,
    "`grid` and `block` contradict `dim`, each other or CUDA's limits",
    "`LaunchError` with the value and the limit, by axis.",
)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 5, "grid": 5}, "k: give dim, or grid and block, not both"),
        ({"block": 5}, "block wants grid beside it: the number of blocks"),
        ({"dim": 5, "block": 5}, "give dim, or grid and block, not both"),
        ({"grid": 5, "block": 5, "block_dim": 5}, "give block, or block_dim, not both"),
        ({"grid": -1}, "grid is 0 to 2147483647 along x, not -1"),
        ({"grid": (1, 65536)}, "grid is 0 to 65535 along y, not 65536"),
        ({"grid": (1, 1, 65536)}, "grid is 0 to 65535 along z, not 65536"),
        ({"grid": ()}, "grid has one to three extents (x, y, z), not 0"),
        ({"grid": (1, 1, 1, 1)}, "grid has one to three extents (x, y, z), not 4"),
        ({"grid": 1.5}, "grid wants an integer or up to three (x, y, z), not float 1.5"),
        ({"grid": 1, "block": (2, None)}, "block wants an integer or up to three (x, y, z)"),
        ({"grid": 1, "block": 0}, "block is 1 to 1024 along x, not 0"),
        ({"grid": 1, "block": (1, 1, 65)}, "block is 1 to 64 along z, not 65"),
        ({"grid": 1, "block": (64, 32)}, "block is 2048 threads: at most 1024"),
        ({"grid": (2**21, 2), "block": 1024}, "4294967296 threads are more than 2^31 - 1"),
        ({}, "dim wants an integer or a tuple of integers, not None"),
        ({"dim": 100}, "it runs in whole blocks, and dim=100 is 100 threads, no multiple of block_dim=256"),
        ({"dim": 100}, "help: launch 256 threads and let those past the end do nothing between its barriers"),
        ({"dim": (16, 17)}, "dim=(16, 17) is 272 threads, no multiple of block_dim=256"),
        ({"dim": 512, "block_dim": 300}, "no multiple of block_dim=300"),
        ({"grid": 2, "block_dim": 0}, "block_dim is 1 to 1024 threads, not int 0"),
    ],
)
@pytest.mark.parametrize("warm", [False, True])
def test_refused(cuda: FakeCuda, options: dict[str, Any], message: str, warm: bool) -> None:
    kernel = whole()
    for _ in range(3 if warm else 0):
        resolve.launch(kernel, grid=1, inputs=[1.0])
    count = len(cuda.records)
    with pytest.raises(LaunchError) as caught:
        resolve.launch(kernel, inputs=[1.0], **options)
    assert message in str(caught.value)
    assert str(caught.value).startswith("p.kernels:k: ")
    assert len(cuda.records) == count


def test_coordinates_come_from_dim_alone(cuda: FakeCuda) -> None:
    kernel = whole(ndim=2, block_dim=16)
    kernel.launch((4, 8), (1.0,))
    assert arrived(cuda) == (32, [2, 1, 1], [16, 1, 1])
    with pytest.raises(LaunchError, match=r"its tid\(\) has 2 coordinates, which dim gives and grid does not"):
        resolve.launch(kernel, grid=2, block=16, inputs=[1.0])
    with pytest.raises(LaunchError, match="is 27 threads, no multiple of block_dim=16"):
        kernel.launch((3, 9), (1.0,))
    with pytest.raises(
        LaunchError, match=r"2147483648 threads are more than 2\^31 - 1: a launch in whole blocks is never"
    ):
        kernel.launch((2**16, 2**15), (1.0,))


def test_ordinary_kernels_have_a_flat_grid(cuda: FakeCuda) -> None:
    kernel = ordinary()
    resolve.launch(kernel, grid=3, block=40, inputs=[1.0])
    assert arrived(cuda) == (120, [3, 1, 1], [40, 1, 1])
    resolve.launch(kernel, 100, inputs=[1.0])
    assert arrived(cuda) == (100, [1, 1, 1], [256, 1, 1])
    for shape in ({"grid": (2, 2)}, {"grid": 2, "block": (2, 2)}):
        with pytest.raises(LaunchError, match="grid and block have one extent for this kernel"):
            resolve.launch(kernel, inputs=[1.0], **shape)


@pytest.mark.parametrize("options", [{"dim": 0}, {"dim": (0, 3)}, {"grid": 0}, {"grid": (4, 0)}])
def test_no_threads(cuda: FakeCuda, options: dict[str, Any]) -> None:
    resolve.launch(whole(), inputs=[1.0], **options)
    assert cuda.records == []


def test_equal_grids_are_one() -> None:
    assert Grid(2, 64) == Grid((2,), [64]) != Grid(2)
    assert len({Grid(2, 64), Grid((2, 1), (64, 1, 1)), Grid((2, 2), 64)}) == 2
    assert repr(Grid((2, 3), 64)) == "grid=(2, 3, 1), block=(64, 1, 1)"


def outcome(plan: Any) -> Any:
    """What a plan comes to: its first launches, or how it is refused."""
    try:
        return list(islice(plan(), 5))
    except (TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("has_origin", [False, True])
@pytest.mark.parametrize("max_blocks", [0, 3, 2**40, -1, False])
def test_an_ordinary_dim_is_planned_as_ever(has_origin: bool, max_blocks: int) -> None:
    """The usual plan is made without geometry.py, and the same."""
    dims: list[Any] = [-1, 0, 1, 64, 100, 2**31 - 1, 2**31, True, 2.0, (5,), (0, 3), None]
    for dim, ndim in [*[(dim, 1) for dim in dims], ((3, 2**30), 2), ((5, 7), 2), (7, 2)]:
        for block in (1, 64, 1024, 0, 1025, True, 64.0):
            row = {"ndim": ndim, "origin": has_origin}

            def ordinary(dim: Any = dim, block: Any = block, row: Any = row) -> Any:
                return blocks.plan(dim, blocks.Shape(row), block, max_blocks)

            def thorough(dim: Any = dim, block: Any = block, ndim: int = ndim) -> Any:
                grids = geometry.plan(dim, ndim, block, has_origin, max_blocks)
                return ((header, (count, 1, 1), (block, 1, 1)) for header, count in grids)

            assert outcome(ordinary) == outcome(thorough)
