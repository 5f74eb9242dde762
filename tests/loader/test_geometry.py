"""Every thread of a launch finds its index: the header against the decomposition written down in plain Python."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild.loader import geometry
from kbuild.loader.schema import header_size

BIG = 2**31


def index_of(linear: int, header: bytes, ndim: int) -> tuple[int, ...] | None:
    """What the kernel computes from its linear number, in 32-bit arithmetic; None for a thread past the end."""
    if ndim == 1 and len(header) == 8:
        linear += struct.unpack_from("<I", header, 4)[0]
    if linear >= struct.unpack_from("<I", header)[0]:
        return None
    if ndim == 1:
        return (linear,)
    d = ndim - 1
    words = struct.unpack("<I%dI%dI%dI%di" % (d, d, d, ndim), header)
    extent, magic, shift, origin = (
        words[1 : 1 + d],
        words[1 + d : 1 + 2 * d],
        words[1 + 2 * d : 1 + 3 * d],
        words[-ndim:],
    )
    index = [0] * ndim
    for axis in range(ndim - 1, 0, -1):
        high = (linear * magic[axis - 1]) >> 32
        assert high + linear < 2**32
        quotient = (high + linear) >> shift[axis - 1]
        index[axis] = linear - quotient * extent[axis - 1] + origin[axis]
        linear = quotient
    index[0] = linear + origin[0]
    return tuple(index)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 70), st.booleans())
def test_every_index_once_in_order(extents: list[int], block_dim: int, has_origin: bool) -> None:
    ((header, blocks),) = geometry.plan(tuple(extents), len(extents), block_dim, has_origin)
    found = [index_of(i, header, len(extents)) for i in range(blocks * block_dim)]
    assert [i for i in found if i is not None] == list(itertools.product(*map(range, extents)))
    assert found.count(None) < block_dim


@given(st.integers(1, BIG - 1), st.integers(0, BIG - 1))
def test_division_is_exact(n: int, number: int) -> None:
    magic, shift = geometry.divider(n)
    for thread in (number, number // n * n, number // n * n - 1, BIG - 1):
        if thread >= 0:
            assert (((thread * magic) >> 32) + thread) >> shift == thread // n


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 641, 2**16 - 1, 2**16, 2**16 + 1, 2**30, 2**30 + 1, 2**31 - 1])
def test_division_at_the_edges(n: int) -> None:
    magic, shift = geometry.divider(n)
    for k in (1, 2, (BIG - 1) // n):
        for thread in (k * n - 1, min(k * n, BIG - 1)):
            assert (((thread * magic) >> 32) + thread) >> shift == thread // n


@given(st.lists(st.integers(1, 2**17), min_size=2, max_size=4), st.data())
def test_large_launches_are_cut(extents: list[int], data: st.DataObject) -> None:
    extents[0] = min(extents[0], 50)  # keeps the number of pieces small
    extents[1:-1] = [min(n, 50) for n in extents[1:-1]]
    shape = tuple(extents)
    total = geometry._product(shape)
    pieces = list(geometry.split(shape))
    assert sum(geometry._product(piece) for _, piece in pieces) == total
    assert all(geometry._product(piece) <= geometry.MAX_THREADS for _, piece in pieces)
    assert pieces == sorted(pieces)
    # A thread picked at random stands at its place in the piece that holds its row-major number.
    wanted = data.draw(st.integers(0, total - 1))
    passed = 0
    for header, _ in geometry.plan(shape, len(shape), 256):
        count = struct.unpack_from("<I", header)[0]
        if wanted < passed + count:
            break
        passed += count
    assert index_of(wanted - passed, header, len(shape)) == _unravel(wanted, shape)


def _unravel(number: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    index = []
    for extent in reversed(shape):
        number, last = divmod(number, extent)
        index.append(last)
    return tuple(reversed(index))


def test_a_launch_is_cut_along_its_leading_axes() -> None:
    assert list(geometry.split((3, 2**30))) == [((0, 0), (1, 2**30)), ((1, 0), (1, 2**30)), ((2, 0), (1, 2**30))]
    assert list(geometry.split((2, 3, 2**30))) == [((i, j, 0), (1, 1, 2**30)) for i in range(2) for j in range(3)]
    assert list(geometry.split((5, 2**29))) == [((0, 0), (3, 2**29)), ((3, 0), (2, 2**29))]


@pytest.mark.parametrize("has_origin", [False, True])
@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_header_has_the_size_of_the_contract(ndim: int, has_origin: bool) -> None:
    ((header, _),) = geometry.plan((2,) * ndim, ndim, 32, has_origin)
    assert len(header) == header_size(ndim, has_origin)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.integers(1, 70), st.integers(0, 5))
def test_a_cap_on_blocks_cuts_and_leaves_nothing_out(extents: list[int], block_dim: int, max_blocks: int) -> None:
    """Every index once, in order, over launches of at most so many blocks."""
    found = []
    for header, blocks in geometry.plan(tuple(extents), len(extents), block_dim, True, max_blocks):
        assert 1 <= blocks <= (max_blocks or blocks)
        found += [index_of(i, header, len(extents)) for i in range(blocks * block_dim)]
    assert [i for i in found if i is not None] == list(itertools.product(*map(range, extents)))


def test_pieces_of_one_coordinate_are_whole_blocks() -> None:
    pieces = [(*struct.unpack("<II", header), blocks) for header, blocks in geometry.plan(1000, 1, 128, True, 3)]
    assert pieces == [(384, 0, 3), (768, 384, 3), (1000, 768, 2)]


def test_a_cap_of_the_largest_launch() -> None:
    ((header, blocks),) = geometry.plan(2**31 - 1, 1, 256, True, 2**31)
    assert (struct.unpack("<II", header), blocks) == ((2**31 - 1, 0), 2**23)


@pytest.mark.parametrize("max_blocks", [-1, True, 1.0, "8", None])
def test_max_blocks_refused(max_blocks: object) -> None:
    with pytest.raises(ValueError, match="max_blocks is a number of blocks, or 0 for no cap, not "):
        geometry.plan(1, 1, 32, True, max_blocks)  # type: ignore[arg-type]


def test_code_of_before_max_blocks() -> None:
    assert list(geometry.plan(64, 1, 32, False, 2)) == [(struct.pack("<I", 64), 2)]
    with pytest.raises(
        ValueError, match=r"max_blocks=2 would cut it into several launches.*\n  help: build the package"
    ):
        geometry.plan(65, 1, 32, False, 2)


def test_fewer_axes_are_filled_up_and_a_1d_kernel_takes_the_product() -> None:
    assert geometry.axes(5, 3) == (5, 1, 1)
    assert geometry.axes((4, 5), 1) == (20,)


def test_an_empty_axis_launches_nothing() -> None:
    assert list(geometry.plan((3, 0), 2, 256)) == []


@pytest.mark.parametrize(
    ("dim", "ndim", "message"),
    [
        (-1, 1, "negative along axis 0"),
        ((2, -3), 2, "negative along axis 1"),
        (2.5, 1, "wants an integer or a tuple of integers, not float 2.5"),
        ("7", 1, "not str '7'"),
        ((), 2, "dim is empty"),
        ((1, 2, 3), 2, "dim has 3 axes, but the kernel's tid() has 2"),
        (2**31, 1, "larger than 2^31 - 1 along axis 0"),
        ((2**16, 2**15), 1, "larger than 2^31 - 1"),
        ((1, 2**31), 2, "larger than 2^31 - 1 along axis 1"),
    ],
)
def test_refused(dim: object, ndim: int, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        geometry.plan(dim, ndim, 256)
    assert message in str(caught.value)


@pytest.mark.parametrize("block_dim", [0, 1025, -1, "256"])
def test_block_dim_refused(block_dim: object) -> None:
    with pytest.raises(ValueError, match="block_dim is 1 to 1024 threads"):
        geometry.plan(1, 1, block_dim)  # type: ignore[arg-type]
