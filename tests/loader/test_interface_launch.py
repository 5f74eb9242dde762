"""Other libraries' arrays as arguments of a launch."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kbuild.loader import abi, values
from kbuild.loader import array as arrays
from kbuild.loader.errors import LaunchError
from kbuild.loader.values import float32, vec3
from tests.helpers.fake_cuda import FakeCuda, make_bundle


class Tensor:
    """Device memory with the interface and nothing else."""

    def __init__(self, shape: tuple[int, ...], ptr: int, **described: Any) -> None:
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": "<f4",
            "data": (ptr, False),
            "version": 3,
            **described,
        }


def descriptor(cuda: FakeCuda) -> tuple[int, ...]:
    return struct.unpack_from("<Qii", bytes(cuda.records[-1].bytes), 8)


ELEMENTS = {
    "float32": ((10,), 4),
    "vec3[float32]": ((10, 3), 12),
    "mat2x2[float32]": ((10, 2, 2), 16),
    "quat[float32]": ((10, 4), 16),
    "transform[float32]": ((10, 7), 28),
    "vec6[float32]": ((10, 6), 24),
    "mat6x6[float32]": ((10, 6, 6), 144),
}


@pytest.mark.parametrize("spelling", ELEMENTS)
def test_numbers_stand_for_elements(cuda: FakeCuda, spelling: str) -> None:
    kernel = make_bundle([("a", f"array1[{spelling}]")])["p.kernels:k"]
    block = arrays.zeros(360, float32)
    shape, stride = ELEMENTS[spelling]
    for _ in range(2):
        kernel.launch(1, (Tensor(shape, block.ptr),))
        assert descriptor(cuda) == (block.ptr, 10, stride)


def test_the_interface_is_asked_once(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block = arrays.zeros(4)
    asked = []

    class Slow:
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            asked.append(1)
            return block.__cuda_array_interface__

    for _ in range(2):
        kernel.launch(1, (Slow(),))
    assert len(asked) == 2


def test_a_library_that_refuses(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]

    class Variable:
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            raise RuntimeError("it requires grad: use var.detach()")

    with pytest.raises(LaunchError, match="parameter a: Variable refuses to lend its memory: it requires grad"):
        kernel.launch(1, (Variable(),))


def test_strides_are_honoured(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[vec3[float32]]")])["p.kernels:k"]
    block = arrays.zeros(40, float32)
    kernel.launch(1, (Tensor((5, 3), block.ptr, strides=(32, 4)),))
    assert descriptor(cuda) == (block.ptr, 5, 32)


def test_our_own_numbers_stand_for_vectors_too(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[vec3[float32]]")])["p.kernels:k"]
    numbers = arrays.zeros((5, 3))
    for array in (arrays.zeros(5, vec3), numbers, numbers):
        kernel.launch(1, (array,))
        assert descriptor(cuda) == (array.ptr, 5, 12)


def test_an_empty_foreign_array(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    kernel.launch(1, (Tensor((0,), 0),))
    assert descriptor(cuda) == (0, 0, 4)


def test_the_producers_stream_is_waited_for(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block = arrays.zeros(4)
    waiting = ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy_v2"]
    for stream, ours, waits in ((None, None, False), (1, None, False), (7, 7, False), (7, None, True), (1, 7, True)):
        before = len(cuda.calls)
        kernel.launch(1, (Tensor((4,), block.ptr, stream=stream),), stream=ours)
        assert [c for c in cuda.calls[before:] if c in waiting] == (waiting if waits else [])
        assert cuda.calls[-1] == "cuLaunchKernelEx"


def test_a_foreign_array_on_another_gpu(two_gpus: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    there = arrays.zeros(4, device=1)
    kernel.launch(1, (Tensor((4,), there.ptr),))
    assert two_gpus.records[-1].function
    with pytest.raises(LaunchError, match="parameter a: the array is on cuda:1, but the launch is on cuda:0"):
        kernel.launch(1, (Tensor((4,), there.ptr),), device=0)


@pytest.mark.parametrize("device", [None, "cuda:9"])
def test_an_address_of_the_host(cuda: FakeCuda, device: Any) -> None:
    """It is said first, also where the device is wrong too."""
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    with pytest.raises(
        LaunchError, match="parameter a: there is no GPU memory at 0x40: it is host memory, or was freed"
    ):
        kernel.launch(1, (Tensor((4,), 64),), device=device)


def test_rotations_are_launched_by_value(cuda: FakeCuda) -> None:
    """The thorough launch, then the quick one: a quaternion, a transform, tuples for both."""
    kernel = make_bundle([("q", "quat[float32]"), ("t", "transform[float64]")])["p.kernels:k"]
    q, t = (
        values.class_of(abi.quaternion(abi.FLOAT32))(1, 2, 3, 4),
        values.class_of(abi.transformation(abi.FLOAT64))(*range(7)),
    )
    for arguments in ((q, t), (q, t), (tuple(q), tuple(t)), ([*q], [*t])):
        kernel.launch(1, arguments)
        assert struct.unpack_from("<4f7d", bytes(cuda.records[-1].bytes), 8) == (1, 2, 3, 4, *range(7))
    with pytest.raises(LaunchError, match=r"parameter t: wanted transform\[float64\], got 4 values"):
        kernel.launch(1, (q, q))
