"""Arrays in device memory: what goes in comes out, and memory lives exactly as long as it is held."""

from __future__ import annotations

import array as python_array
import gc
import math
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbuild.loader import array as arrays
from kbuild.loader import context, copying, driver, streams, values
from kbuild.loader.array import array, array1d, array2d
from kbuild.loader.errors import DriverError
from kbuild.loader.foreign import asarray
from kbuild.loader.interface import View
from kbuild.loader.memory import transfer
from kbuild.loader.types import float16, float32, float64, int32, int64, struct, uint8
from kbuild.loader.values import mat22, vec2, vec3, vec3i
from tests.helpers.fake_cuda import FakeCuda

with_cuda = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
NUMPY = [np.bool_, np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64]


@struct
class Particle:
    mass: float
    at: vec3  # type: ignore[valid-type]
    tag: uint8


@struct
class Cloud:
    points: array(dtype=vec3)  # type: ignore[valid-type]
    count: int


@pytest.mark.parametrize(
    ("data", "dtype", "shape", "spelling"),
    [
        ([1, 2, 3], None, (3,), "int32"),
        ([1, 2.5], None, (2,), "float32"),
        ([True, False], None, (2,), "bool"),
        ([[1.0, 2.0], [3.0, 4.0]], None, (2, 2), "float32"),
        ([vec3(1, 2, 3), vec3(4, 5, 6)], None, (2,), "vec3[float32]"),
        ([[vec3(1, 2, 3)], [vec3(4, 5, 6)]], None, (2, 1), "vec3[float32]"),
        ([(1, 2, 3), (4, 5, 6)], vec3i, (2,), "vec3[int32]"),
        ([mat22(1, 2, 3, 4)], None, (1,), "mat2x2[float32]"),
        ([[[1, 2], [3, 4]]], mat22, (1,), "mat2x2[float32]"),
        ([], float, (0,), "float32"),
        ([[], []], float, (2, 0), "float32"),
        ([2**40], int64, (1,), "int64"),
        ([0.5, math.inf], float16, (2,), "float16"),
    ],
)
def test_lists(cuda: FakeCuda, data: Any, dtype: Any, shape: tuple[int, ...], spelling: str) -> None:
    made = array(data, dtype=dtype)
    assert (made.shape, made._type.element.spelling, made.ndim) == (shape, spelling, len(shape))
    assert made.nbytes == made.size * made._type.element.size == len(made.tobytes())
    listed = made.tolist()
    assert listed == _as_classes(data, listed)


def _as_classes(data: Any, listed: Any) -> Any:
    """The data with tuples where the array gives vectors, which compare as tuples."""
    return [_as_classes(d, x) if isinstance(x, list) else type(x)(d) for d, x in zip(data, listed, strict=True)]


def test_structs_come_back(cuda: FakeCuda) -> None:
    particles = [Particle(mass=1.0, at=vec3(1, 2, 3), tag=7), Particle(mass=2.0)]  # type: ignore[call-arg]
    back = array(particles).tolist()
    assert [vars(p) for p in back] == [vars(p) for p in particles]
    assert (
        array([{"mass": 1, "at": (1, 2, 3), "tag": 7}, (2, (0, 0, 0), 0)], dtype=Particle).tobytes()
        == array(particles).tobytes()
    )
    points = arrays.zeros(4, vec3)
    (cloud,) = array([Cloud(points=points, count=4)]).tolist()  # type: ignore[call-arg]
    assert (cloud.points.ptr, cloud.points.shape, cloud.count) == (points.ptr, (4,), 4)
    assert arrays.zeros(1, Cloud).tolist()[0].points is None


@pytest.mark.parametrize(
    ("data", "dtype", "message"),
    [
        ([[1, 2], [3]], None, "nested lists of different lengths"),
        ([[1, 2], 3], None, "nested lists of different lengths"),
        ([1, "2"], float, "item 1: wanted float32, got str '2'"),
        ([1, 2.5], int, "item 1: wanted int32, got float 2.5"),
        ([1, 300], uint8, "item 1: 300 does not fit uint8"),
        ([(1, 2), (3, 4)], vec3, "elements of type vec3[float32] cannot be made of nested lists of shape (2, 2)"),
        ([[[[[1]]]]], None, "an array has 1 to 4 dimensions, not 5"),
        (["a"], None, "cannot tell the element type"),
        ([], None, "cannot tell the element type"),
        (5, None, "an array is made of nested lists or of a buffer, not of int 5"),
        ([{"mass": 1}], Particle, "item 0: wanted"),
        (b"abc", float32, "3 bytes are no whole number of float32"),
        (np.zeros((2, 2)), vec3, "a buffer of shape (2, 2) is no array of vec3"),
        (np.array([1.5]), int32, "Cannot cast"),
        (np.zeros(2, dtype=">f4"), None, "cannot tell the element type of a buffer"),
        (np.zeros(2, dtype=complex), None, "cannot tell the element type of a buffer"),
        (np.zeros((1,) * 5), None, "an array has 1 to 4 dimensions, not 5"),
    ],
)
def test_data_refused(cuda: FakeCuda, data: Any, dtype: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        array(data, dtype=dtype)
    assert message in str(caught.value)


@pytest.mark.parametrize("dtype", NUMPY)
def test_numpy_both_ways(cuda: FakeCuda, dtype: Any) -> None:
    data = np.arange(24).reshape(2, 3, 4).astype(dtype)
    for source in (data, data.T, data[:, ::2], np.asfortranarray(data)):
        back = array(source).numpy()
        assert back.dtype == source.dtype
        assert np.array_equal(back, source)
        assert back.flags.writeable


def test_numpy_with_vectors_matrices_and_structs(cuda: FakeCuda) -> None:
    data = np.arange(12, dtype=np.float32)
    assert array(data.reshape(4, 3), dtype=vec3).shape == (4,)
    assert np.array_equal(array(data.reshape(4, 3), dtype=vec3).numpy(), data.reshape(4, 3))
    assert array(data.reshape(3, 2, 2), dtype=mat22).numpy().shape == (3, 2, 2)
    records = array([Particle(mass=1.0, at=vec3(1, 2, 3), tag=7)]).numpy()  # type: ignore[call-arg]
    assert records["at"].tolist() == [[1.0, 2.0, 3.0]]
    assert records["tag"].tolist() == [7]
    assert array(records, dtype=Particle).tolist()[0].at == (1, 2, 3)
    assert arrays.zeros(2, Cloud).numpy().dtype.itemsize == 24


def test_numpy_is_converted_when_that_loses_nothing_in_kind(cuda: FakeCuda) -> None:
    assert array(np.array([1.5, 2.5]), dtype=float).tolist() == [1.5, 2.5]
    assert array(np.array([1, 2]), dtype=float).tolist() == [1.0, 2.0]


def test_other_buffers(cuda: FakeCuda) -> None:
    assert array(python_array.array("d", [1.5, 2.5])).dtype is float64
    assert array(python_array.array("d", [1.5, 2.5]), dtype=float).tolist() == [1.5, 2.5]
    assert array(b"\1\2\3").tolist() == [1, 2, 3]
    assert array(bytearray(b"\0\0\x80\x3f"), dtype=float).tolist() == [1.0]
    assert array(memoryview(b"\0\1\2\3")[::2]).tolist() == [0, 2]
    assert array(memoryview(bytearray(b"abcdef"))[1:3]).tolist() == [98, 99]


@with_cuda
@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.data())
def test_any_shape_comes_back(cuda: FakeCuda, shape: list[int], data: st.DataObject) -> None:
    source = np.array(
        data.draw(st.lists(st.integers(-9, 9), min_size=math.prod(shape), max_size=math.prod(shape))), np.int32
    )
    source = source.reshape(shape)
    made = array(source)
    assert made.tolist() == source.tolist()
    assert np.array_equal(made.numpy(), source)


@with_cuda
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.booleans()), min_size=1, max_size=3))
def test_strided_memory(cuda: FakeCuda, axes: list[tuple[int, int, bool]]) -> None:
    """Any view that NumPy can take of a block, taken of device memory; read and written."""
    block = np.arange(math.prod(n * step for n, step, _ in axes), dtype=np.int32).reshape([n * s for n, s, _ in axes])
    view = block[tuple(slice(None, None, -s if back else s) for _, s, back in axes)]
    whole = array(block)
    ptr = whole.ptr + view.__array_interface__["data"][0] - block.__array_interface__["data"][0]
    strided = array(ptr=ptr, shape=view.shape, strides=view.strides, dtype=int32, owner=whole)
    assert strided.tolist() == view.tolist()
    strided.assign(np.full(view.shape, -1, np.int32))
    view[...] = -1
    assert whole.tolist() == block.tolist()


def test_pieces_are_few_and_large() -> None:
    def pieces(shape: tuple[int, ...], to: tuple[int, ...], source: tuple[int, ...]) -> list[tuple[int, ...]]:
        views = (View(0, shape, strides, arrays.abi_type(int32)) for strides in (to, source))
        found = transfer.pieces(*views)
        return [(p.to, p.source, p.width, p.height, p.to_pitch, p.source_pitch) for p in found]

    assert pieces((3, 4), (16, 4), (16, 4)) == [(0, 0, 48, 1, 0, 0)]
    assert pieces((3, 4, 2), (32, 8, 4), (100, 8, 4)) == [(0, 0, 32, 3, 32, 100)]
    assert pieces((2, 3), (12, 4), (4, 8)) == [(0, 0, 4, 3, 4, 8), (12, 4, 4, 3, 4, 8)]
    assert pieces((2,), (4,), (-8,)) == [(0, 0, 4, 1, 0, 0), (4, -8, 4, 1, 0, 0)]
    assert pieces((1, 2, 1), (0, 4, 0), (7, 4, 7)) == [(0, 0, 8, 1, 0, 0)]
    assert pieces((2, 0), (0, 4), (0, 4)) == []


def test_makers(cuda: FakeCuda) -> None:
    assert arrays.zeros(1).dtype is array([1.5], dtype=float).dtype is float32
    assert arrays.zeros((2, 2)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert arrays.ones(2, int).tolist() == [1, 1]
    assert arrays.ones(1, vec2).tolist() == [(1.0, 1.0)]
    assert arrays.full(2, vec3(1, 2, 3)).tolist() == [(1, 2, 3)] * 2
    assert arrays.full((1, 2), 7, uint8).tolist() == [[7, 7]]
    assert arrays.empty(3, float64).nbytes == 24
    assert array(shape=3, dtype=int).tolist() == [0, 0, 0]
    assert copying.to_host(arrays.ones(2)) == [1.0, 1.0]
    assert len(arrays.empty((5, 2))) == 5
    with pytest.raises(TypeError, match="there is no one of type struct"):
        arrays.ones(2, Particle)


def test_number_of_dimensions(cuda: FakeCuda) -> None:
    assert array2d([[1.0]]).ndim == 2
    assert array([[1.0]], ndim=2).ndim == 2
    with pytest.raises(ValueError, match="the data has 2 dimensions, not 1"):
        array1d([[1.0]])


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (-1, "a shape cannot be negative"),
        ((), "an array has 1 to 4 dimensions, not 0"),
        ((1, 1, 1, 1, 1), "not 5"),
        (2.5, "a shape is an integer or a tuple of integers, not float 2.5"),
        (2**31, "extent along axis 0 is 2147483648"),
        ((2, 2**30), "stride along axis 0 is 4294967296"),
    ],
)
def test_shapes_refused(cuda: FakeCuda, shape: Any, message: str) -> None:
    before = cuda.live_allocations
    with pytest.raises((TypeError, ValueError)) as caught:
        arrays.empty(shape)
    assert message in str(caught.value)
    assert cuda.live_allocations == before


def test_no_memory(cuda: FakeCuda) -> None:
    with pytest.raises(DriverError) as caught:
        arrays.empty((2**20, 2**13))
    for part in (
        "cuda:0: 34359738368 bytes: cuMemAllocFromPoolAsync failed: CUDA_ERROR_OUT_OF_MEMORY (2)",
        "MiB are free",
        "help: free",
    ):
        assert part in str(caught.value)


# Lifetime


def test_memory_is_freed_with_the_last_reference(cuda: FakeCuda) -> None:
    gc.collect()
    before = cuda.live_allocations
    made = arrays.zeros(10)
    view = array(ptr=made.ptr, shape=5, dtype=float, owner=made)
    del made
    assert cuda.live_allocations == before + 1
    del view
    assert cuda.live_allocations == before


def test_free(cuda: FakeCuda) -> None:
    before = cuda.live_allocations
    made = arrays.zeros(10)
    made.free()
    assert cuda.live_allocations == before
    assert (made.is_alive, repr(made)) == (False, "<kb.array, freed>")
    for use in (made.tolist, made.numpy, lambda: made.assign([1.0]), lambda: copying.copy(arrays.zeros(10), made)):
        with pytest.raises(ValueError, match="the array has been freed"):
            use()
    with pytest.raises(ValueError, match="freed"):
        made.__cuda_array_interface__  # noqa: B018


def test_an_array_is_freed_in_its_own_context(two_gpus: FakeCuda) -> None:
    made = arrays.zeros(10, device=1)
    two_gpus.set_current(0x1000)
    del made
    assert two_gpus.library.fake_current() == 0x1000
    mode = "cuThreadExchangeStreamCaptureMode"
    freed = ["cuStreamIsCapturing", mode, "cuMemFreeAsync", mode]
    assert two_gpus.calls[-6:] == ["cuCtxSetCurrent", *freed, "cuCtxSetCurrent"]


def test_a_finalizer_gives_no_thread_a_context(two_gpus: FakeCuda) -> None:
    """The collector may call one in any thread: to the CUDA runtime another GPU would be meant there from then on."""
    made = [arrays.zeros(10, device=1), streams.Event("cuda:1")]
    two_gpus.set_current(0)  # as in another thread
    while made:
        made.pop()
        assert (two_gpus.library.fake_current(), two_gpus.library.fake_depth()) == (0, 0)
    assert two_gpus.live.keys() == {"pools"}


def test_a_failing_free_is_silent(cuda: FakeCuda) -> None:
    made = arrays.zeros(10)
    cuda.fail("cuMemFreeAsync", 700)
    cuda.may_keep = {"allocations"}
    del made


def test_arrays_do_not_change(cuda: FakeCuda) -> None:
    made = arrays.zeros(10)
    with pytest.raises(AttributeError, match="an array's shape cannot change"):
        made.shape = (5, 2)


# Copies


def test_copies(cuda: FakeCuda) -> None:
    source, target = array([1.0, 2.0]), arrays.zeros(2)
    copying.copy(target, source)
    assert cuda.calls[-1] == "cuMemcpyDtoDAsync_v2"
    assert target.tolist() == [1.0, 2.0]
    copying.copy(target, [3, 4])
    assert target.tolist() == [3.0, 4.0]
    assert array(source).tolist() == [1.0, 2.0]
    for wrong in ([1.0], array([1.0]), array([1, 2])):
        with pytest.raises(ValueError, match="cannot copy"):
            copying.copy(target, wrong)


# __cuda_array_interface__


class Foreign:
    """Another library's array."""

    def __init__(self, keep: Any, **described: Any) -> None:
        self.keep = keep
        self.__cuda_array_interface__ = {"version": 3, "strides": None, "data": (keep.ptr, False), **described}


def test_interface_is_written(cuda: FakeCuda) -> None:
    points = arrays.zeros((4, 2), vec3)
    assert points.__cuda_array_interface__ == {
        "shape": (4, 2, 3),
        "strides": None,
        "typestr": "<f4",
        "data": (points.ptr, False),
        "version": 3,
        "stream": 1,
    }
    pitched = array(ptr=points.ptr, shape=(4, 1), strides=(24, 12), dtype=vec3)
    assert pitched.__cuda_array_interface__["strides"] == (24, 12, 4)
    assert arrays.zeros(1, Particle).__cuda_array_interface__["typestr"] == "|V20"


def test_interface_round_trip(cuda: FakeCuda) -> None:
    block = array(np.arange(24, dtype=np.float32))
    foreign = Foreign(block, shape=(4, 3), typestr="<f4", strides=(24, 4))
    seen = asarray(foreign, vec3)
    assert (seen.shape, seen.strides, seen.ptr, seen.dtype) == ((4,), (24,), block.ptr, vec3)
    assert seen.tolist()[1] == (6.0, 7.0, 8.0)
    assert asarray(foreign).tolist()[1] == [6.0, 7.0, 8.0]
    assert asarray(seen) is seen
    held = weakref.ref(foreign)
    del foreign
    assert held() is not None
    del seen
    assert held() is None
    copied = array(Foreign(block, shape=(24,), typestr="<f4"))
    assert copied.ptr != block.ptr
    assert copied.tolist() == block.tolist()


@pytest.mark.parametrize(("stream", "waits"), [(None, 0), (1, 0), (2, 1), (77, 1)])
def test_the_producers_stream_is_waited_for(cuda: FakeCuda, stream: int | None, waits: int) -> None:
    asarray(Foreign(arrays.zeros(4), shape=(4,), typestr="<f4", stream=stream))
    assert cuda.calls.count("cuStreamWaitEvent") == waits


@pytest.mark.parametrize(
    ("described", "dtype", "message"),
    [
        ({"shape": (4, 3), "typestr": "<f8"}, vec3, "got a foreign float64 array of shape (4, 3)"),
        ({"shape": (4, 2), "typestr": "<f4"}, vec3, "got a foreign float32 array of shape (4, 2)"),
        ({"shape": (3,), "typestr": "<f4"}, vec3, "of shape (3,)"),
        ({"shape": (4, 3), "typestr": "<f4", "strides": (4, 16)}, vec3, "whose components are not side by side"),
        ({"shape": (4,), "typestr": "<f4", "mask": object()}, float, "with a mask"),
        ({"shape": (4,), "typestr": "<f4", "strides": (6,)}, float, "not aligned to the 4 bytes of float32"),
        ({"shape": (2**31,), "typestr": "|u1"}, uint8, "extent along axis 0 is 2147483648"),
    ],
)
def test_interface_refused(cuda: FakeCuda, described: dict[str, Any], dtype: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        asarray(Foreign(arrays.zeros(24), **described), dtype)
    assert message in str(caught.value)


def test_interface_of_unknown_type(cuda: FakeCuda) -> None:
    from kbuild.loader.interface import Mismatch

    with pytest.raises((TypeError, Mismatch), match="a foreign array of type '<c8'"):
        asarray(Foreign(arrays.zeros(24), shape=(3,), typestr="<c8"))


# Foreign memory


def test_foreign_memory(cuda: FakeCuda) -> None:
    block = arrays.zeros(16, uint8)
    frame = array(ptr=block.ptr, shape=(2, 3), strides=(8, 1), dtype=uint8, owner=block)
    frame.assign([[1, 2, 3], [4, 5, 6]])
    assert block.tolist() == [1, 2, 3, 0, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": 3}, "needs shape=… and dtype=… too"),
        ({"dtype": float}, "needs shape=… and dtype=… too"),
        ({"shape": (2, 2), "dtype": float, "strides": (4,)}, "strides wants 2 numbers of bytes"),
        ({"shape": 2, "dtype": float, "strides": (2**31,)}, "stride along axis 0 is 2147483648"),
        ({"shape": 2, "dtype": float64, "offset": 4}, "not aligned to the 8 bytes of float64"),
    ],
)
def test_foreign_memory_refused(cuda: FakeCuda, arguments: dict[str, Any], message: str) -> None:
    block = arrays.zeros(16, uint8)
    offset = arguments.get("offset", 0)
    arguments = {name: value for name, value in arguments.items() if name != "offset"}
    with pytest.raises((TypeError, ValueError)) as caught:
        array(ptr=block.ptr + offset, **arguments)
    assert message in str(caught.value)


def test_an_address_that_is_no_device_memory(cuda: FakeCuda) -> None:
    with pytest.raises(DriverError, match="address 0x64"):
        array(ptr=100, shape=1, dtype=uint8)


def test_a_type_without_a_class_stands_for_itself() -> None:
    from kbuild.loader import abi

    odd = abi.Array(abi.FLOAT32, 1)
    assert values.class_of(odd) is odd
    assert values.class_of(abi.Vector(3, abi.BOOL))._kb_type_ == abi.Vector(3, abi.BOOL)
    assert float32._kb_type_ == abi.FLOAT32


def test_structs_of_one_name_are_told_apart(cuda: FakeCuda) -> None:
    """What arrays of a type have in common is kept, but not by a name that a program may use again."""

    def make(second: object) -> type:
        return struct(type("Record", (), {"__annotations__": {"a": float, "b": second}}))

    one, other = make(float), make(int64)
    made = [arrays.zeros(2, one), arrays.zeros(2, other), arrays.zeros(2, one)]
    assert [a.dtype for a in made] == [one, other, one]
    assert [a.nbytes for a in made] == [16, 32, 16]
    assert made[0]._key is made[2]._key
    assert made[0]._key is not made[1]._key


@pytest.mark.parametrize("wrong", ["float32", [float], np.float32, 4, str, None])
def test_no_type_is_taken_for_one(cuda: FakeCuda, wrong: object) -> None:
    arrays.zeros(3, float32)
    for device in ("cuda:0", "cpu"):
        with pytest.raises(TypeError, match="is not a type that a kernel knows"):
            arrays.empty(3, wrong, device)


def test_a_wrong_type_is_said_without_a_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_allocation", None)
    monkeypatch.setattr(driver, "LIBRARIES", (str(tmp_path / "none.so"),))
    monkeypatch.setattr(driver, "_driver", None)
    monkeypatch.setattr(context, "_devices", None)
    with pytest.raises(TypeError, match="is not a type"):
        arrays.empty(3, "float32")
    with pytest.raises(DriverError, match="no CUDA driver"):
        arrays.empty(3)


def test_the_view_of_an_array_of_its_own(cuda: FakeCuda) -> None:
    made = arrays.zeros((2, 3), vec3)
    assert made._view is made._view
    assert (made._view.ptr, made._view.shape, made._view.strides) == (made.ptr, (2, 3), (36, 12))
    assert made._view.descriptor() == made._descriptor
    assert arrays.empty((0, 5)).strides == (20, 4)
    assert arrays.empty((3, 0, 5)).strides == (20, 20, 4)
    assert arrays.empty((3, 0, 5)).nbytes == 0


def test_lists_of_arrays_of_numpy() -> None:
    rows = [np.eye(2), 2 * np.eye(2)]
    made = array(rows, dtype=mat22, device="cpu")
    assert made.tolist() == [[[1, 0], [0, 1]], [[2, 0], [0, 2]]]
    made.assign([np.zeros((2, 2)), np.eye(2)])
    assert made.tolist() == [[[0, 0], [0, 0]], [[1, 0], [0, 1]]]
    with pytest.raises(ValueError, match="cannot be made of nested lists"):
        array([np.eye(3)], dtype=mat22, device="cpu")
