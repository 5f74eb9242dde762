"""Arrays, streams, types and devices to and from other libraries, by name; the real ones where they are installed."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.loader import array as arrays
from kbuild.loader import context, conversions, loans, streams
from kbuild.loader.errors import DriverError
from kbuild.loader.memory import pools
from kbuild.loader.types import struct
from kbuild.loader.values import class_of, float16, float32, uint16, vec3
from tests.helpers import fake_torch
from tests.helpers.fake_cuda import FakeCuda
from tests.helpers.fake_torch import FakeTorch


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> FakeTorch:
    return fake_torch.install(monkeypatch)


def waits(cuda: FakeCuda, before: int) -> int:
    return sum(call == "cuStreamWaitEvent" for call in cuda.calls[before:])


# PyTorch


def test_tensors(cuda: FakeCuda, torch: FakeTorch) -> None:
    mine = kb.array([[1.0, 2.0, 3.0]])
    made = kb.from_torch(torch.over(mine), dtype=kb.vec3)
    assert (made.ptr, made.tolist()) == (mine.ptr, [vec3(1, 2, 3)])
    kb.to_torch(mine)
    assert torch.consumed.pop().ptr == mine.ptr
    assert kb.to_torch(mine, requires_grad=True) == "requires grad"
    torch.consumed.clear()
    with pytest.raises(TypeError, match="from_torch wants a tensor of PyTorch's, not list"):
        kb.from_torch([1.0])
    with pytest.raises(TypeError, match=r"to_torch wants a kb\.array, not list"):
        kb.to_torch([1.0])


def test_pytorchs_stream_waits_for_ours(cuda: FakeCuda, torch: FakeTorch) -> None:
    mine, theirs = arrays.zeros(4), cuda.make_stream()
    torch.current[0] = theirs
    before = len(cuda.calls)
    kb.to_torch(mine)
    assert waits(cuda, before) > 0
    assert theirs in mine._owner.users
    del mine
    torch.consumed.clear()
    pools.trim_memory()


@pytest.mark.parametrize(("device", "memory"), [("cpu", None), ("cpu", "pinned"), ("cuda:0", "managed")])
def test_memory_that_pytorch_does_not_know(cuda: FakeCuda, torch: FakeTorch, device: str, memory: Any) -> None:
    mine = arrays.zeros(4, device=device, memory=memory)
    kb.to_torch(mine)
    assert torch.consumed.pop().device.kind == device[:4].rstrip(":0")


def test_streams_of_pytorch(cuda: FakeCuda, torch: FakeTorch) -> None:
    theirs = fake_torch.Stream(cuda.make_stream())
    made = kb.stream_from_torch(theirs)
    assert (made.handle, made.device, made.owner) == (theirs.cuda_stream, context.get_device(0), theirs)
    torch.current[0] = theirs.cuda_stream
    assert kb.stream_from_torch().handle == theirs.cuda_stream
    mine = streams.Stream()
    back = kb.stream_to_torch(mine)
    assert (back.cuda_stream, back.device.index, back._kb_stream_) == (mine.handle, 0, mine)
    assert kb.stream_to_torch().cuda_stream == 0
    with kb.ScopedStream(mine):
        assert kb.stream_to_torch("cuda:0").cuda_stream == mine.handle
    with pytest.raises(DriverError, match="a GPU is wanted here, and cpu is none"):
        kb.stream_to_torch("cpu")


def test_types_and_devices_of_pytorch(two_gpus: FakeCuda, torch: Any) -> None:
    for name in ("bool", "int8", "uint16", "float16", "float64"):
        kind = conversions.dtype_from_torch(getattr(torch, name))
        assert conversions.dtype_to_torch(kind) is getattr(torch, name)
    assert conversions.dtype_from_torch(torch.float16) is float16
    assert conversions.dtype_to_torch(vec3) is torch.float32
    assert conversions.dtype_to_torch(float) is torch.float32
    with pytest.raises(TypeError, match=r"torch\.bfloat16 has no counterpart among the types of kernels"):
        conversions.dtype_from_torch(torch.bfloat16)
    del torch.uint16
    with pytest.raises(TypeError, match="torch has no type for uint16"):
        conversions.dtype_to_torch(uint16)
    assert [str(conversions.device_from_torch(one)) for one in ("cuda:1", "cuda", "cpu")] == ["cuda:1", "cuda:0", "cpu"]
    assert [conversions.device_to_torch(one) for one in ("cuda:1", 0, "cpu", "sim")] == [
        "cuda:1",
        "cuda:0",
        "cpu",
        "cpu",
    ]


@struct
class Pair:
    a: float
    b: int


def test_structs_have_no_type_elsewhere(cuda: FakeCuda, torch: FakeTorch) -> None:
    with pytest.raises(TypeError, match=r"torch has no type for struct:.*Pair"):
        conversions.dtype_to_torch(Pair)
    with pytest.raises(BufferError, match="DLPack has no records"):
        kb.to_torch(arrays.zeros(2, Pair, device="cpu"))


# CuPy


def test_cupy(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its current stream waits for ours; its own array is not told to wait again."""
    mine, theirs, entered = arrays.zeros((2, 3)), SimpleNamespace(ptr=cuda.make_stream()), []

    class Device:
        def __init__(self, ordinal: int) -> None:
            self.ordinal = ordinal

        def __enter__(self) -> None:
            entered.append(self.ordinal)

        def __exit__(self, *_: object) -> None:
            pass

    cupy: Any = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(Device=Device, get_current_stream=lambda: theirs)
    cupy.asarray = lambda one: one.__cuda_array_interface__
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    before = len(cuda.calls)
    described = kb.to_cupy(mine)
    assert (described["data"], described["shape"], described["stream"]) == ((mine.ptr, False), (2, 3), None)
    assert waits(cuda, before) > 0
    assert (entered, list(mine._owner.users)) == ([0], [theirs.ptr])
    assert kb.from_cupy(mine) is mine
    with pytest.raises(DriverError, match="a GPU is wanted here, and cpu is none"):
        kb.to_cupy(arrays.zeros(3, device="cpu"))
    del mine
    pools.trim_memory()


# JAX


@pytest.fixture
def jax(monkeypatch: pytest.MonkeyPatch) -> Any:
    made: Any = ModuleType("jax")
    made.numpy = ModuleType("jax.numpy")
    made.numpy.float32, made.numpy.bool_ = np.float32, np.bool_
    gpus = [SimpleNamespace(platform="gpu", local_hardware_id=i) for i in (1, 0)]
    made.cpu = SimpleNamespace(platform="cpu")
    made.devices, made.local_devices = lambda kind: [made.cpu], lambda backend: gpus
    made.dlpack = SimpleNamespace(from_dlpack=np.from_dlpack)
    monkeypatch.setitem(sys.modules, "jax", made)
    monkeypatch.setitem(sys.modules, "jax.numpy", made.numpy)
    return made


def test_jax(cuda: FakeCuda, jax: Any) -> None:
    mine = arrays.array([[1.0, 2.0], [3.0, 4.0]], device="cpu")
    assert kb.to_jax(mine).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match=r"JAX takes arrays without gaps only: hand over the array's contiguous\(\)"):
        kb.to_jax(mine.transpose())
    assert kb.from_jax(np.arange(3.0)).tolist() == [0.0, 1.0, 2.0]
    loans.sweep()


def test_types_and_devices_of_jax(two_gpus: FakeCuda, jax: Any) -> None:
    assert conversions.dtype_from_jax(np.dtype("float32")) is conversions.dtype_from_jax(np.float32) is float32
    assert conversions.dtype_from_jax(SimpleNamespace(dtype=np.dtype("bool"))) is class_of(kb.bool_._kb_type_)
    assert (conversions.dtype_to_jax(vec3), conversions.dtype_to_jax(bool)) == (np.float32, np.bool_)
    with pytest.raises(TypeError, match=r"bfloat16.* has no counterpart"):
        conversions.dtype_from_jax(SimpleNamespace(name="bfloat16"))
    with pytest.raises(TypeError, match=r"jax\.numpy has no type for float64"):
        conversions.dtype_to_jax(kb.float64)
    for i in (0, 1):
        place = conversions.device_to_jax("cuda:%d" % i)
        assert place.local_hardware_id == i
        assert conversions.device_from_jax(place) is context.get_device(i)
    assert conversions.device_from_jax(conversions.device_to_jax("sim")).kind == "cpu"
    with pytest.raises(ValueError, match="kernels here do not run on JAX's"):
        conversions.device_from_jax(SimpleNamespace(platform="tpu"))
    jax.local_devices = lambda backend: []
    with pytest.raises(ValueError, match="JAX has no device for cuda:0: is it hidden from JAX"):
        conversions.device_to_jax(0)


# The real libraries, on the host


def test_real_tensors_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    for tensor in (base, base.T, base[::2, 1:], base.detach().requires_grad_()):
        made = kb.asarray(tensor)
        assert (made.ptr, made.tolist()) == (tensor.data_ptr(), tensor.tolist())
        assert kb.from_torch(tensor).tolist() == tensor.tolist()
    for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"):
        tensor = torch.ones(3, dtype=getattr(torch, name))
        back = kb.to_torch(kb.asarray(tensor))
        assert (back.dtype, back.data_ptr(), back.tolist()) == (tensor.dtype, tensor.data_ptr(), tensor.tolist())
        assert torch.from_dlpack(kb.asarray(tensor)).data_ptr() == tensor.data_ptr()
    mine = arrays.array([vec3(1, 2, 3)], device="cpu")
    assert kb.to_torch(mine).tolist() == [[1.0, 2.0, 3.0]]
    for bad, message in (
        (torch.zeros(3, dtype=torch.bfloat16), r"a tensor of torch\.bfloat16"),
        (torch.zeros(3, dtype=torch.complex64).conj().imag, "the negative or conjugate of its values"),
        (torch.zeros(3, device="meta"), "a tensor on device 'meta'"),
        (torch.eye(3).to_sparse(), r"a tensor of layout torch\.sparse_coo"),
        (torch.zeros(()), r"got a foreign float32 array of shape \(\)"),
    ):
        with pytest.raises(TypeError, match=message):
            kb.asarray(bad)
    with pytest.raises(TypeError, match="a tensor without memory"):
        torch.vmap(lambda one: kb.asarray(one) and one)(torch.zeros((3, 3)))


def test_real_arrays_of_jax() -> None:
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.arange(6.0).reshape(2, 3)
    made = kb.asarray(theirs, kb.vec3)
    assert (made.tolist(), made._view.readonly) == ([vec3(0, 1, 2), vec3(3, 4, 5)], True)
    assert kb.from_jax(theirs).tolist() == theirs.tolist()
    mine = arrays.array([1.0, 2.0], device="cpu")
    assert kb.to_jax(mine).tolist() == [1.0, 2.0]
    assert conversions.dtype_from_jax(jax.numpy.float32) is float32
    assert conversions.dtype_from_jax(theirs.dtype) is float32
    assert conversions.dtype_to_jax(kb.float32) is jax.numpy.float32
    assert conversions.device_from_jax(theirs.devices().pop()).kind == "cpu"
    with pytest.raises(TypeError, match="Tracer"):
        jax.jit(lambda one: kb.asarray(one) and one)(theirs)
