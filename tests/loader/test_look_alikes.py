"""What equals a good argument and is none: refused at the first launch and at every later one."""

from __future__ import annotations

from typing import Any

import pytest

from kbuild.loader import array as arrays
from kbuild.loader import foreign
from kbuild.loader.errors import DriverError, LaunchError
from tests.helpers.fake_cuda import FakeCuda, make_bundle


class Index:
    """An integer of another library."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value

    def __eq__(self, other: object) -> bool:
        return other == self.value

    def __hash__(self) -> int:
        return hash(self.value)


class Stream:
    def __init__(self, handle: Any) -> None:
        self.handle = handle


class Broken:
    def __cuda_stream__(self) -> tuple[int]:
        return (0,)


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("dim", [2.0, (2.0,), (2, 3.0), (2.0, 3), (2, 3, 1.0)])
def test_dim_of_floats(cuda: FakeCuda, ndim: int, dim: Any) -> None:
    kernel = make_bundle([("x", "float32")], ndim=ndim)["p.kernels:k"]
    good = [2, (2,), (2, 3)] + [(2, 3, 1)] * (ndim != 2)
    for options in ({}, {"block_dim": 64}):
        for same in good * 2:
            kernel.launch(same, (1.0,), **options)
        before = len(cuda.records)
        with pytest.raises(LaunchError, match=r"p.kernels:k: dim (wants an integer|has 3 axes)"):
            kernel.launch(dim, (1.0,), **options)
        assert len(cuda.records) == before


@pytest.mark.parametrize("ndim", [1, 2])
def test_integers_of_other_libraries_stay_quick(cuda: FakeCuda, ndim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = make_bundle([("x", "float32")], ndim=ndim)["p.kernels:k"]
    for dim in (2, (2,), (2, 3)):
        kernel.launch(dim, (1.0,))
    monkeypatch.setattr(kernel, "packing", None)  # from here on the thorough way would fail
    for dim in (Index(2), (Index(2),), (Index(2), 3), (2, Index(3))):
        kernel.launch(dim, (1.0,))
    assert len(cuda.records) == 7


@pytest.mark.parametrize("option", [{"block_dim": 64.0}, {"block_dim": True}, {"block_dim": "64"}])
def test_block_dim(cuda: FakeCuda, option: dict[str, Any]) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    for block_dim in (64, 1) * 2:
        kernel.launch(5, (1.0,), block_dim=block_dim)
    with pytest.raises(LaunchError, match="block_dim is 1 to 1024 threads, not"):
        kernel.launch(5, (1.0,), **option)


@pytest.mark.parametrize("device", [0.0, False])
def test_device(cuda: FakeCuda, device: Any) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    kernel.launch(5, (1.0,), device=0)
    with pytest.raises(DriverError, match=r"a device is 'cuda:0', a number, 'cpu', 'sim' or a kb.Device, not"):
        kernel.launch(5, (1.0,), device=device)


@pytest.mark.parametrize("stream", [True, 1.0, Stream(5.5), Stream("5"), Stream(2**64), Broken()])
def test_stream(cuda: FakeCuda, stream: Any) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    for _ in range(2):
        with pytest.raises(LaunchError, match=r"p.kernels:k: stream wants None, a handle, or an object"):
            kernel.launch(5, (1.0,), stream=stream)
        kernel.launch(5, (1.0,), stream=1)
    assert len(cuda.records) == 2


@pytest.mark.parametrize("args", [b"\5", bytearray(b"\5"), memoryview(b"\5"), {5: 1}, {5}, frozenset((5,))])
def test_args(cuda: FakeCuda, args: Any) -> None:
    kernel = make_bundle([("n", "int32")])["p.kernels:k"]
    for _ in range(2):
        with pytest.raises(LaunchError, match="args wants a tuple or a list of arguments, not"):
            kernel.launch(5, args)
        kernel.launch(5, (5,))
    assert len(cuda.records) == 2


@pytest.mark.parametrize("value", [b"1.5", bytearray(b"1.5"), memoryview(b"1.5"), "1.5"])
def test_text_is_no_number(cuda: FakeCuda, value: Any) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    for _ in range(2):
        with pytest.raises(LaunchError, match="parameter x: wanted float32, got"):
            kernel.launch(5, (value,))
        kernel.launch(5, (1.5,))


def test_an_array_is_no_vector(cuda: FakeCuda) -> None:
    kernel = make_bundle([("v", "vec3[float32]")])["p.kernels:k"]
    for value in (arrays.zeros(3), b"abc", {1: 1, 2: 2, 3: 3}):
        with pytest.raises(LaunchError, match=r"parameter v: wanted vec3\[float32\], got"):
            kernel.launch(5, (value,))
        kernel.launch(5, ((1, 2, 3),))


# Foreign memory


class Tensor:
    def __init__(self, described: Any) -> None:
        self.__cuda_array_interface__ = described


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": (-4,)}, "of the negative shape (-4,)"),
        ({"shape": (4.0,)}, "__cuda_array_interface__ is malformed: TypeError"),
        ({"shape": None}, "__cuda_array_interface__ is malformed: TypeError"),
        ({"data": (0, False)}, "of shape (4,) at address 0x0"),
        ({"data": (-64, False)}, "at address -0x40"),
        ({"data": None}, "__cuda_array_interface__ is malformed"),
        ({"data": (1 << 64, False)}, "at address 0x10000000000000000"),
        ({"strides": (4, 4)}, "with 2 strides"),
        ({"strides": (4.0,)}, "__cuda_array_interface__ is malformed"),
        ({"strides": (2**31,)}, "stride along axis 0 is 2147483648"),
        ({"stream": -7}, "being written on stream -7"),
        ({"stream": "fast"}, "__cuda_array_interface__ is malformed"),
        ({"typestr": ["<f4"]}, "__cuda_array_interface__ is malformed"),
        ({"typestr": ">f4"}, "got a foreign >f4 array"),
        (None, "__cuda_array_interface__ is malformed"),
        ([1, 2], "__cuda_array_interface__ is malformed"),
    ],
)
def test_malformed_foreign_arrays(cuda: FakeCuda, change: Any, message: str) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block = arrays.zeros(4)
    good = {"shape": (4,), "typestr": "<f4", "data": (block.ptr, False), "version": 3}
    wrong = {**good, **change} if isinstance(change, dict) else change
    for _ in range(2):
        with pytest.raises(LaunchError) as caught:
            kernel.launch(1, (Tensor(wrong),))
        assert "p.kernels:k: parameter a: wanted array1[float32], got" in str(caught.value)
        assert message in str(caught.value) or change is None
        kernel.launch(1, (Tensor(good),))
    assert len(cuda.records) == 2
    with pytest.raises((TypeError, ValueError), match=r"wanted an array(?: of float32)?, got"):
        foreign.asarray(Tensor(wrong), float if isinstance(change, dict) else None)


def test_what_is_on_the_host_is_no_array(cuda: FakeCuda) -> None:
    for data in ([1.0], "text", None):
        with pytest.raises(TypeError, match=r"wanted an array, got .*: copy it with kb.array"):
            foreign.asarray(data)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ptr": -64}, "address -0x40"),
        ({"ptr": 0}, "address 0x0"),
        ({"ptr": 1 << 64}, "address 0x10000000000000000"),
        ({"ptr": 64.0}, "ptr wants an address, not float 64.0"),
        ({"ptr": "x"}, "ptr wants an address, not str 'x'"),
        ({"strides": (4.0,)}, "strides wants 1 numbers of bytes"),
        ({"strides": 4}, "strides wants 1 numbers of bytes"),
        ({"strides": (4, 4)}, "strides wants 1 numbers of bytes"),
        ({"strides": (6,)}, "not aligned to the 4 bytes"),
        ({"shape": (-1,)}, "a shape cannot be negative"),
        ({"shape": None}, "needs shape=… and dtype=… too"),
    ],
)
def test_arrays_over_what_is_no_memory(cuda: FakeCuda, changes: dict[str, Any], message: str) -> None:
    block = arrays.zeros(4)
    with pytest.raises((TypeError, ValueError)) as caught:
        arrays.array(**{"ptr": block.ptr, "shape": (4,), "dtype": float, **changes})
    assert message in str(caught.value)
    assert arrays.array(ptr=0, shape=(0,), dtype=float).tolist() == []


def test_a_view_outlives_the_free_of_its_owner(cuda: FakeCuda) -> None:
    """`free` gives up an array's own hold; an array made over the same memory has one too."""
    made = arrays.array([1.0, 2.0])
    view = arrays.array(ptr=made.ptr, shape=(2,), dtype=float, owner=made)
    made.free()
    assert (view.tolist(), cuda.live_allocations) == ([1.0, 2.0], 1)
    view.free()
    assert cuda.live_allocations == 0
    with pytest.raises(ValueError, match="the array has been freed"):
        arrays.array(ptr=made.ptr, shape=(2,), dtype=float, owner=made, device=0)


def test_no_threads_need_nothing_of_the_driver(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]"), ("x", "float32")], ndim=2)["p.kernels:k"]
    held = arrays.zeros(4)
    before = len(cuda.calls)
    for dim in (0, (0, 5), (5, 0), (2**31 - 1, 0)):
        kernel.launch(dim, (held, 1.0))
    assert cuda.calls[before:] == []
    with pytest.raises(LaunchError, match="parameter x"):  # still, what is wrong is wrong
        kernel.launch(0, (held, "x"))
    for dim in (-1, (-1, 0), (0, -1)):
        with pytest.raises(LaunchError, match="dim is negative along axis"):
            kernel.launch(dim, (held, 1.0))
