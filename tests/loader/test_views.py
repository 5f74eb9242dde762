"""Slices, shapes and types of arrays on the host's devices, and copies with gaps, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.loader import array as arrays
from kbuild.loader import copying
from kbuild.loader.array import array
from kbuild.loader.foreign import asarray
from kbuild.loader.values import float32, int8, int16, int32, int64, quat, uint8, vec3

SHAPES = st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)
DEVICES = st.sampled_from(["cpu", "sim"])


def numbers(shape: tuple[int, ...], dtype: Any = np.int32) -> np.ndarray:
    size = int(np.prod(shape))
    return np.arange(size).astype(dtype).reshape(shape)


def indices(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """What NumPy calls basic indexing."""

    def one(extent: int) -> st.SearchStrategy[Any]:
        bound = st.none() | st.integers(-extent - 1, extent + 1)
        step = st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3])
        slices = st.builds(slice, bound, bound, step)
        return slices | st.integers(-extent, extent - 1) if extent else slices

    return st.integers(0, len(shape)).flatmap(lambda n: st.tuples(*map(one, shape[:n])))


@given(st.data(), SHAPES, DEVICES)
@settings(max_examples=200)
def test_slices_are_numpys(data: st.DataObject, shape: tuple[int, ...], device: str) -> None:
    wanted = numbers(shape)
    whole = array(wanted.copy(), device=device)
    index = data.draw(indices(shape))
    found = whole[index]
    if np.ndim(wanted[index]) == 0:
        assert found == wanted[index]
        return
    assert found.shape == wanted[index].shape
    assert (np.array(found.tolist(), np.int32).reshape(found.shape) == wanted[index]).all()
    found.fill_(-7)
    wanted[index] = -7
    assert (whole.numpy() == wanted).all(), "a view is the same memory, and no more of it"


@given(st.data(), SHAPES)
def test_storing_is_numpys(data: st.DataObject, shape: tuple[int, ...]) -> None:
    wanted = numbers(shape)
    whole = array(wanted.copy(), device="cpu")
    index = data.draw(indices(shape))
    part = np.asarray(wanted[index] * 2 + 1, np.int32)
    whole[index] = part if part.ndim else int(part)
    wanted[index] = part
    assert (whole.numpy() == wanted).all()


@given(st.data(), SHAPES, st.sampled_from([np.int8, np.int16, np.int32, np.int64]))
@settings(max_examples=200)
def test_copies_with_gaps_are_numpys(data: st.DataObject, shape: tuple[int, ...], dtype: Any) -> None:
    source, target = numbers(shape, dtype), np.zeros(shape, dtype)
    order = data.draw(st.permutations(range(len(shape))))
    index = tuple(slice(None, None, data.draw(st.sampled_from([1, 2, -1]))) for _ in shape)
    ours = asarray(source).transpose(order)[index]
    wanted = source.transpose(order)[index]
    base = array(np.zeros(wanted.shape[::-1], dtype), device="cpu").transpose()
    copying.copy(base, ours)
    assert (base.numpy() == wanted).all()
    clone = copying.clone(ours)
    assert clone.is_contiguous
    assert (clone.numpy() == wanted).all()
    assert target.sum() == 0


@given(SHAPES.filter(lambda shape: 0 not in shape), st.data())
def test_shapes_are_numpys(shape: tuple[int, ...], data: st.DataObject) -> None:
    wanted = numbers(shape)
    whole = array(wanted.copy(), device="cpu")
    order = data.draw(st.permutations(range(len(shape))))
    assert (whole.transpose(order).numpy() == wanted.transpose(order)).all()
    assert (whole.transpose().contiguous().numpy() == wanted.T).all()
    assert (whole.flatten().numpy() == wanted.ravel()).all()
    assert whole.reshape(-1, 1).shape == wanted.reshape(-1, 1).shape
    assert whole.reshape((1, -1)).ptr == whole.ptr


def test_iterating() -> None:
    whole = array([[1, 2], [3, 4]], device="cpu")
    assert [row.tolist() for row in whole] == [[1, 2], [3, 4]]
    assert list(whole[0]) == [1, 2]
    assert whole.list() == [1, 2, 3, 4]


def test_other_types() -> None:
    points = array([vec3(1, 2, 3), vec3(4, 5, 6)], device="cpu")
    assert points.view(float).tolist() == [1, 2, 3, 4, 5, 6]
    assert points.view(float).view(vec3).tolist() == points.tolist()
    assert array([1, 256], dtype=int16, device="cpu").view(uint8).tolist() == [1, 0, 0, 1]
    assert array([[1], [2]], dtype=int32, device="cpu").view(float32).shape == (2, 1)
    with pytest.raises(ValueError, match="cannot be seen as int64: its last axis has gaps, or is no whole number of 8"):
        array([1, 2, 3], dtype=int32, device="cpu").view(int64)
    with pytest.raises(ValueError, match="cannot be seen as int8"):
        array([[1, 2], [3, 4]], dtype=int32, device="cpu")[:, 0].view(int8)


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (3, IndexError, "index 3 is outside axis 0 of 3 elements"),
        (-4, IndexError, "index -4 is outside axis 0 of 3 elements"),
        ((0, 2), IndexError, "index 2 is outside axis 1 of 2 elements"),
        ((0, 0, 0), IndexError, "3 indices for an array of 2 dimensions"),
        ((..., ...), IndexError, "an index has one … at most"),
        (1.0, TypeError, "indexed by integers, slices, … and arrays of indices, not by float 1.0"),
        (True, TypeError, "not by bool True"),
        ([0, 1], TypeError, r"arrays of indices, not by list \[0, 1\]"),
        (None, TypeError, "not by None"),
    ],
)
def test_wrong_indices(index: Any, error: type[Exception], message: str) -> None:
    whole = arrays.zeros((3, 2), device="cpu")
    with pytest.raises(error, match=message):
        whole[index]
    with pytest.raises(error, match=message):
        whole[index] = 1.0


def test_what_has_no_other_shape() -> None:
    whole = arrays.zeros((3, 2), device="cpu")
    for shape in (7, (4, 2), (-1, -1), (3, 2, 1, 1, 1), (-2, -3), ()):
        with pytest.raises(ValueError, match="6 elements cannot have the shape"):
            whole.reshape(shape)
    with pytest.raises(ValueError, match=r"an array with gaps has one shape only: reshape its contiguous\(\) copy"):
        whole[:, 0].reshape(3, 1)
    with pytest.raises(TypeError, match=r"a shape is an integer or a tuple of integers, not float 2.5"):
        whole.reshape(2.5)
    with pytest.raises(ValueError, match="axes wants each of 0 to 1 once"):
        whole.transpose((0, 0))


def test_parts_by_offset_and_count() -> None:
    a, b = array([1.0, 2.0, 3.0, 4.0], device="cpu"), arrays.zeros(6, device="sim")
    copying.copy(b, a, dest_offset=2, src_offset=1, count=2)
    assert b.tolist() == [0, 0, 2, 3, 0, 0]
    copying.copy(b, a, dest_offset=5)
    assert b.tolist() == [0, 0, 2, 3, 0, 1]
    copying.copy(b, [9.0, 8.0], dest_offset=1, count=1)
    assert b.tolist() == [0, 9, 2, 3, 0, 1]
    for options in ({"dest_offset": 6, "count": 1}, {"src_offset": -1, "count": 1}, {"count": 5}):
        with pytest.raises(ValueError, match="are not all in"):
            copying.copy(b, a, **options)
    copying.copy(b[::2], a[::3], dest_offset=1)
    assert b.tolist() == [0, 9, 1, 3, 4, 1]
    with pytest.raises(ValueError, match="needs one axis, or no gaps"):
        copying.copy(arrays.zeros((2, 4), device="cpu")[:, ::2], a, count=1)


def test_arrays_of_indices() -> None:
    whole = array([[float(10 * i + j) for j in range(4)] for i in range(3)], device="cpu")
    rows, columns = array([2, 0], dtype=int, device="cpu"), array([3, 3, 1], dtype=int, device="cpu")
    assert whole[rows].tolist() == [[20.0, 21.0, 22.0, 23.0], [0.0, 1.0, 2.0, 3.0]]
    assert whole[rows, columns].tolist() == [[23.0, 23.0, 21.0], [3.0, 3.0, 1.0]]
    assert whole[1:, columns].tolist() == [[13.0, 13.0, 11.0], [23.0, 23.0, 21.0]]
    whole[rows].fill_(7.0)
    assert whole[0, 1] == whole[2, 2] == 7.0
    with pytest.raises(TypeError, match="beside arrays of indices stand slices alone"):
        whole[1, columns]


def test_fills_of_truth_values_and_quaternions() -> None:
    flags = arrays.zeros(2, bool, device="cpu")
    flags.fill_(42)
    assert flags.tolist() == [True, True]
    rotations = arrays.zeros(1, quat, device="cpu")
    rotations.fill_(2.0)
    assert rotations.tolist() == [(2.0, 2.0, 2.0, 2.0)]


def test_memory_of_numpys_is_shared() -> None:
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    over = asarray(data)
    over[0] = 5.0
    assert data[0].tolist() == [5, 5, 5]
    over.numpy()[1, 1] = -1
    assert data[1, 1] == -1
    assert array(data, device="sim", copy=False).device.kind == "sim"
    copied = array(data, device="cpu")
    data[:] = 0
    assert copied[0, 0] == 5
    data.setflags(write=False)
    locked = asarray(data)
    assert locked.readonly
    for change in (lambda: locked.fill_(1.0), lambda: copying.copy(locked, copied), lambda: locked[0].zero_()):
        with pytest.raises(ValueError, match="read-only"):
            change()


def test_fills() -> None:
    points = arrays.zeros((2, 2), vec3, device="cpu")
    points.fill_(2.0)
    assert points.list() == [vec3(2, 2, 2)] * 4
    points[1] = vec3(1, 2, 3)
    assert points[1].tolist() == [vec3(1, 2, 3)] * 2
    points[:, 0].zero_()
    assert points.list() == [vec3(), vec3(2, 2, 2), vec3(), vec3(1, 2, 3)]
    points[0] = np.array([4, 5, 6], np.float32)
    assert points[0].tolist() == [vec3(4, 5, 6)] * 2
    points[:, 1] = np.array([[1, 1, 1], [2, 2, 2]], np.float32)
    assert points[:, 1].tolist() == [vec3(1, 1, 1), vec3(2, 2, 2)]
    for value in ("x", None, [1.0, 2.0]):
        with pytest.raises(TypeError, match=r"an array of vec3\[float32\] cannot be filled with"):
            points.fill_(value)
    with pytest.raises(TypeError, match=r"an array of float32 cannot be filled with str 'x': item 0: wanted float32"):
        arrays.zeros(2, device="cpu").fill_("x")
