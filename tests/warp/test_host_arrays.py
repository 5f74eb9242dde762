"""Arrays with Warp's arguments: what data becomes, copies, options, without a GPU where that makes no difference."""

from __future__ import annotations

import array as buffers
import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kbuild as kb
import kbuild.warp as wp
from tests.helpers.fake_cuda import FakeCuda

ROOT = Path(__file__).parents[2]


def zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


# data, dtype, shape and type of the array that Warp makes of it
DATA: list[tuple[Any, Any, tuple[int, ...], Any]] = [
    (zeros(3), wp.vec3, (1,), wp.vec3),
    (zeros(6), wp.vec3, (2,), wp.vec3),
    (zeros(2, 6), wp.vec3, (2, 2), wp.vec3),
    (zeros(2, 3), wp.vec3, (2,), wp.vec3),
    (zeros(2, 9), wp.mat33, (2,), wp.mat33),
    (zeros(2, 3, 3), wp.mat33, (2,), wp.mat33),
    (zeros(3, 3), wp.mat33, (1,), wp.mat33),
    (zeros(9), wp.mat33, (1,), wp.mat33),
    (zeros(0), wp.vec3, (0,), wp.vec3),
    (zeros(2, 0, 3), wp.vec3, (2, 0), wp.vec3),
    ([], wp.vec3, (0,), wp.vec3),
    ([1.0, 2.0, 3.0, 4.0], wp.vec2, (2,), wp.vec2),
    ([[1, 2], [3, 4]], wp.vec2, (2,), wp.vec2),
    ([np.ones(3), np.zeros(3)], wp.vec3, (2,), wp.vec3),
    ([wp.vec3(1.0, 2.0, 3.0)], wp.vec3, (1,), wp.vec3),
    ([1, 2, 3], None, (3,), wp.int64),
    ([1.0, 2], None, (2,), wp.float64),
    ([True, False], None, (2,), wp.bool),
    ([1.5, -2.5], int, (2,), wp.int32),
    ([0, 2], bool, (2,), wp.bool),
    (np.zeros(2, np.int64), int, (2,), wp.int32),
    (np.float64(5.0), float, (1,), wp.float32),
    (np.array(5), None, (1,), wp.int64),
    (buffers.array("f", [1.0, 2.0]), None, (2,), wp.float32),
]


@pytest.mark.parametrize(("data", "dtype", "shape", "element"), DATA, ids=range(len(DATA)))
def test_what_data_becomes(data: Any, dtype: Any, shape: tuple[int, ...], element: Any) -> None:
    made = wp.array(data, dtype=dtype, device="cpu")
    assert (made.shape, made.dtype) == (shape, element)


def test_numbers_are_kept() -> None:
    assert wp.array(np.arange(6.0), dtype=wp.vec3, device="cpu").tolist() == [(0.0, 1.0, 2.0), (3.0, 4.0, 5.0)]
    assert wp.array([1.5, -2.5], dtype=int, device="cpu").tolist() == [1, -2]
    assert wp.array(np.arange(8.0), dtype=wp.mat22, shape=(1, 2), device="cpu").numpy()[0, 1, 1].tolist() == [6.0, 7.0]
    floats = wp.array([1.0, 2.0], dtype=float, device="cpu")
    assert wp.array(floats, dtype=int).tolist() == [1, 2]
    assert wp.array(floats).dtype is wp.float32


@pytest.mark.parametrize(
    ("data", "dtype", "reason"),
    [
        (zeros(4), wp.vec3, r"4 numbers side by side cannot be gathered into elements of vec3\[float32\]"),
        (zeros(2, 4), wp.mat33, r"the data has the shape \(2, 4\)"),
        (5.0, float, "made of nested lists or of a buffer, not of float 5.0"),
    ],
)
def test_data_that_does_not_fit(data: Any, dtype: Any, reason: str) -> None:
    with pytest.raises((TypeError, ValueError), match=reason):
        wp.array(data, dtype=dtype, device="cpu")


def test_lists_without_numpy() -> None:
    """What NumPy does for lists is done without it where it was never imported."""
    program = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import kbuild.warp as wp
def made(*arguments, **options):
    a = wp.array(*arguments, device="cpu", **options)
    return a.dtype.__name__, a.shape, a.tolist()
assert made([1, 2]) == ("int64", (2,), [1, 2])
assert made([1.0, 2]) == ("float64", (2,), [1.0, 2.0])
assert made([True]) == ("bool_", (1,), [True])
assert made([1.0, 2.0, 3.0, 4.0], dtype=wp.vec2) == ("vec2", (2,), [wp.vec2(1.0, 2.0), wp.vec2(3.0, 4.0)])
assert made([1.0] * 8, dtype=wp.mat22)[1] == (2,)
assert made([(1.0, 2.0)], dtype=wp.vec2)[1] == (1,)
assert "numpy" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_structs() -> None:
    @kb.struct
    class Pair:
        a: float
        b: int

    made = wp.array([Pair(a=1.0, b=2)], dtype=Pair, device="cpu")
    assert made.tolist()[0].b == 2
    records = np.array([(1.0, 3)], dtype=[("a", "f4"), ("b", "i4")])
    assert wp.array(records, dtype=Pair, device="cpu").tolist()[0].b == 3


def test_without_a_copy() -> None:
    data = zeros(4, 6)
    seen = wp.array(data, dtype=wp.vec3, copy=False, device="cpu")
    data[1, 0] = 7.0
    assert (seen.shape, seen.tolist()[1][0][0]) == ((4, 2), 7.0)
    copied = wp.array(data, dtype=wp.vec3, device="cpu")
    data[1, 0] = 8.0
    assert copied.tolist()[1][0][0] == 7.0
    assert wp.array(seen, copy=False).ptr == seen.ptr
    assert wp.array(data, dtype=wp.float64, copy=False, device="cpu").numpy()[1, 0] == 8.0  # converted all the same


def test_foreign_memory_and_its_deleter(gpus: FakeCuda) -> None:
    told: list[tuple[int, int]] = []
    memory = wp.zeros(4, dtype=float)
    ptr = memory.ptr
    seen = wp.array(ptr=ptr, dtype=float, shape=(2, 2), device="cuda:0", deleter=lambda *what: told.append(what))
    part = seen[1]
    del seen
    gc.collect()
    assert told == []
    assert part.ptr == ptr + 8
    del part
    gc.collect()
    assert told == [(ptr, 16)]
    wp.array(ptr=ptr, dtype=float, shape=3, capacity=16, device="cuda:0", deleter=lambda *what: told.append(what))
    gc.collect()
    assert told[1:] == [(ptr, 16)]
    with pytest.raises(ValueError, match=r"an array of shape \(5,\) needs 20 bytes; capacity=16"):
        wp.array(ptr=ptr, dtype=float, shape=5, capacity=16, device="cuda:0")
    assert wp.from_ptr(ptr, 4, dtype=wp.int32, device="cuda:0").tolist() == [0, 0, 0, 0]
    del memory


def test_annotations_and_empty_arrays() -> None:
    assert isinstance(wp.array(dtype=float), wp.array)
    assert wp.array(dtype=wp.vec3, ndim=2).ndim == 2
    assert wp.array2d(dtype=float).ndim == 2
    made = wp.array(dtype=float, device="cpu", ndim=2)
    assert (made.shape, made.size) == ((0, 0), 0)
    assert wp.empty(dtype=float, device="cpu").shape == (0,)
    assert wp.zeros(n=3, dtype=float, device="cpu").shape == (3,)


def test_options() -> None:
    for make in (wp.empty, wp.zeros, wp.ones):
        assert make(2, float, "cpu", requires_grad=False, retain_grad=False).shape == (2,)
        assert make(2, float, "cpu", requires_grad=True).grad.tolist() == [0, 0]
        assert make(2, float, "cpu", requires_grad=True, retain_grad=True).retain_grad
        assert make(2, int, "cpu", requires_grad=True).grad.tolist() == [0, 0]
        with pytest.raises(ValueError, match="retain_grad=True requires requires_grad=True"):
            make(2, float, "cpu", retain_grad=True)
        with pytest.raises(TypeError, match=r"has no argument 'colour'"):
            make(2, float, "cpu", colour=1)
    a = wp.full(2, 3.0, float, "cpu")
    for like in (wp.empty_like, wp.zeros_like, wp.ones_like, wp.clone):
        assert like(a, requires_grad=None, pinned=None).shape == (2,)
        assert like(a, requires_grad=True).requires_grad
    b = wp.array([1.0, 2.0], dtype=float, device="cpu", grad=a)
    assert b.grad is a
    assert wp.zeros_like(b).requires_grad
    assert not wp.zeros_like(b, requires_grad=False).requires_grad
    assert wp.from_numpy(np.ones(2, np.float32), device="cpu", requires_grad=True).requires_grad
    assert wp.full(2, np.array([1.0, 2.0]), dtype=wp.vec2, device="cpu").tolist() == [(1.0, 2.0)] * 2
    assert wp.full(2, [1.0, 2.0], dtype=wp.vec2, device="cpu").tolist() == [(1.0, 2.0)] * 2


def test_pinned_memory(gpus: FakeCuda) -> None:
    a = wp.zeros(3, dtype=float, device="cpu", pinned=True)
    assert a.pinned
    assert not wp.zeros(3, dtype=float, device="cpu").pinned
    assert not wp.zeros(3, dtype=float, device="cuda:0", pinned=True).pinned  # as Warp, where it means nothing there
    assert wp.clone(a).pinned
    assert not wp.clone(a, pinned=False).pinned
    assert wp.clone(a, device="cuda:0").device == "cuda:0"
    assert wp.array([1.0], dtype=float, device="cpu", pinned=True).pinned


def test_copies() -> None:
    source, target = wp.array([1.0, 2.0, 3.0], dtype=float, device="cpu"), wp.zeros(5, float, "cpu")
    wp.copy(target, source)  # a larger one
    assert target.tolist() == [1.0, 2.0, 3.0, 0.0, 0.0]
    wp.copy(target, source, 3, 1, 2)
    assert target.tolist() == [1.0, 2.0, 3.0, 2.0, 3.0]
    wp.copy(target, source, dest_offset=1, count=1)
    assert target.tolist() == [1.0, 1.0, 3.0, 2.0, 3.0]
    bits = wp.zeros(3, dtype=wp.uint32, device="cpu")
    wp.copy(bits, source)  # the same size is enough
    assert bits.tolist()[0] == 0x3F800000
    with pytest.raises(ValueError, match="cannot copy"):
        wp.copy(wp.zeros(3, dtype=wp.float64, device="cpu"), source)
    with pytest.raises(ValueError, match="are not all in"):
        wp.copy(source, target)
    strided = wp.zeros((3, 2), float, "cpu")
    wp.copy(strided[:, 1], source)
    assert strided.numpy()[:, 1].tolist() == [1.0, 2.0, 3.0]


def test_methods() -> None:
    a = wp.array(np.arange(6.0), dtype=float, device="cpu").reshape((2, 3))
    assert a.reshape(shape=(3, 2)).shape == a.reshape(3, 2).shape == a.reshape((-1, 2)).shape == (3, 2)
    assert (a.capacity, a.ndim, a.size, a.is_contiguous) == (24, 2, 6, True)
    turned = a.transpose()
    assert (turned.shape, turned.is_contiguous, turned.capacity) == ((3, 2), False, 24)
    assert turned.contiguous().is_contiguous
    assert a.flatten().list() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    a.assign(np.ones((2, 3)))
    assert a.list() == [1.0] * 6
    a.fill_(2.0)
    a[0].zero_()
    assert a.tolist() == [[0.0] * 3, [2.0] * 3]
    assert a.view(wp.vec3).shape == (2, 1)
    assert a.to("cpu") is a
    assert wp.zeros(0, float, "cpu").capacity == 0


def test_a_programs_own_notes_on_an_array() -> None:
    a = wp.zeros(3, float, "cpu")
    a._is_batched = True
    assert a._is_batched
    assert (a.requires_grad, a.grad) == (False, None)
    a.requires_grad = False
    with pytest.raises(ValueError, match="requires no gradient that could be retained"):
        a.retain_grad = True
    a.requires_grad = True
    assert a.grad.tolist() == [0, 0, 0]
    a.grad = None
    assert not a.requires_grad
    for name in ("shape", "ptr", "device", "_view", "numpy"):
        with pytest.raises(AttributeError, match=f"an array's {name} cannot change"):
            setattr(a, name, None)


def test_ranges_of_copies() -> None:
    """Arrays with gaps and one axis are copied in part too; a range that is none is refused."""
    data = wp.array(list(range(8)), dtype=int, device="cpu")
    dest = wp.full(8, 9, dtype=int, device="cpu")
    wp.copy(dest[::2], data[1::4])
    assert dest.tolist() == [1, 9, 5, 9, 9, 9, 9, 9]
    wp.copy(dest[1::2], data[::2], dest_offset=1, src_offset=2, count=2)
    assert dest.tolist() == [1, 9, 5, 4, 9, 6, 9, 9]
    with pytest.raises(ValueError, match="src_offset is below zero"):
        wp.copy(dest, data, src_offset=-1)
    with pytest.raises(TypeError, match=r"count is an integer, not 2\.0"):
        wp.copy(dest, data, count=2.0)
    seen = wp.indexedarray(data, [wp.array([0, 2], dtype=int, device="cpu")])
    with pytest.raises(ValueError, match="as a whole"):
        wp.copy(seen, data, count=1)


def test_what_an_empty_array_tells_numpy() -> None:
    a = wp.zeros((1, 0), wp.vec2, "cpu")
    assert a.__array_interface__["data"][0] != 0
    seen = np.asarray(a)
    assert (seen.shape, seen.dtype, seen.strides) == ((1, 0, 2), np.float32, (0, 8, 4))


def test_lists_and_strides() -> None:
    seen = wp.indexedarray(wp.array([[1, 2], [3, 4]], dtype=int, device="cpu"), wp.array([1], dtype=int, device="cpu"))
    assert seen.list() == [3, 4]
    assert wp.types.strides_from_shape((2, 3), wp.vec3) == (36, 12)
    assert wp.types.strides_from_shape(4, wp.int8) == (1,)
    assert wp.types.non_atomic_types == [wp.int8, wp.int16, wp.uint8, wp.uint16]


def test_fields_of_structs() -> None:
    @wp.struct
    class Things:
        v: wp.vec3
        m: wp.mat22
        q: wp.quat

    things = Things()
    assert isinstance(things, Things.cls)
    for given in ((1, 2, 3, 4), [[1, 2], [3, 4]], np.array([1, 2, 3, 4])):
        things.m = given
        assert [list(row) for row in things.m] == [[1.0, 2.0], [3.0, 4.0]]
    things.v = (1, 2, 3)
    things.v = None
    assert list(things.v) == [0.0] * 3
    for name, kind in (("v", "vec3f"), ("m", "mat22f"), ("q", "quatf")):
        with pytest.raises(TypeError, match=f"Struct field '{name}' expects {kind} but got a single value"):
            setattr(things, name, 1.5)


def test_arrays_full_of_what_lists_say() -> None:
    made = wp.full(2, [17, 42, 99], device="cpu")
    assert made.dtype is wp.types.vector(3, wp.int64)
    assert made.dtype._wp_generic_type_str_ == "vec_t"
    assert made.tolist() == [[17, 42, 99]] * 2
    assert wp.full(1, [[1.0, 2.0]], device="cpu").dtype is wp.types.matrix((1, 2), wp.float64)
    for given in (np.array([True, False]), np.array([[1, 2], [3, 4]], np.uint8)):
        filled = wp.full((2,), given, device="cpu")
        assert filled.dtype._shape_ == given.shape
        assert np.array_equal(filled.numpy(), [given, given])
    with pytest.raises(TypeError, match="not of 3 axes"):
        wp.full(1, np.zeros((2, 2, 2)), device="cpu")
    assert wp.full(1, wp.vec2(1.0, 2.0), device="cpu").dtype is wp.vec2
