"""Arrays, streams, types and devices to and from PyTorch, CuPy and JAX, by name. Nothing is copied.

A launch takes their arrays as they are, and `kb.asarray` makes an array over any; these are for what is asked for by
name, and for programs written for Warp. A library is imported when it is named by a `to_` function.
"""

from __future__ import annotations

import sys

from . import abi, context, current, describing, dlpack, foreign, frameworks, hosts, interface, naming, ordering, waits
from .array_class import array
from .errors import describe
from .layout import abi_type
from .streams import Stream, stream_of
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = (
    "from_cupy",
    "from_jax",
    "from_torch",
    "stream_from_torch",
    "stream_to_torch",
    "to_cupy",
    "to_jax",
    "to_torch",
)


# PyTorch


def from_torch(tensor: Any, dtype: Any = None, requires_grad: bool = False) -> array:
    """An array over a tensor's memory; with a vector or matrix as `dtype` the last axes are its components.

    Tensors that require gradients are taken too; what kernels write to them is no part of PyTorch's graph. With
    `requires_grad` the array's gradient is the tensor's `grad`, which is made where there is none yet.
    """
    if not interface.is_tensor(tensor):
        raise TypeError("from_torch wants a tensor of PyTorch's, not %s" % describe(tensor))
    made = foreign.asarray(tensor, dtype)
    if requires_grad:
        if tensor.grad is None:
            tensor.grad = sys.modules["torch"].zeros_like(tensor)
        made.grad = foreign.asarray(tensor.grad, made.dtype)
    return made


def to_torch(whole: array, requires_grad: bool = False) -> Any:
    """A tensor over an array's memory. PyTorch's current stream waits for what is being done to it here."""
    import torch

    _check(whole, "to_torch")
    place = whole.device
    if place.kind == "cuda":
        # Of managed memory PyTorch knows nothing, and of pinned memory only what it pinned itself.
        stream = frameworks.current_stream(place.ordinal) or 1
        capsule = dlpack.export(whole, stream, dl_device=(dlpack.CUDA, place.ordinal))
    else:
        capsule = dlpack.export(whole, dl_device=(dlpack.CPU, 0))
    made = torch.utils.dlpack.from_dlpack(capsule)
    return made.requires_grad_() if requires_grad else made


def _check(whole: Any, name: str) -> None:
    if not hasattr(whole, "_kb_array_"):
        raise TypeError("%s wants a kb.array, not %s" % (name, describe(whole)))


def stream_from_torch(stream_or_device: Any = None) -> Stream:
    """A stream of PyTorch's as ours; of a device, or without one, its current stream."""
    import torch

    given = stream_or_device
    if given is None or not hasattr(given, "cuda_stream"):
        given = torch.cuda.current_stream(given)
    return stream_of(given, "cuda:%d" % given.device.index)


def stream_to_torch(stream_or_device: Any = None) -> Any:
    """A stream of ours for PyTorch; of a device, or without one, the stream that is meant there."""
    import torch

    given = stream_or_device
    if given is None or isinstance(given, (str, int, context.Device)):
        given = current.get_stream(given)
    mine = stream_of(given)
    naming.gpu(mine.device)
    if mine.handle in (0, 1):
        return torch.cuda.default_stream(mine.device.ordinal)
    made = torch.cuda.ExternalStream(mine.handle, device=mine.device.ordinal)
    made._kb_stream_ = mine  # PyTorch keeps the handle alone
    return made


def dtype_from_torch(dtype: Any) -> Any:
    """`torch.float32` → `kb.float32`."""
    return _scalar(str(dtype).rpartition(".")[2], dtype)


def dtype_to_torch(dtype: Any) -> Any:
    """`kb.float32` → `torch.float32`; vectors and matrices give the type of their numbers."""
    import torch

    return _named(torch, dtype)


def device_from_torch(device: Any) -> Any:
    """`torch.device("cuda:0")`, or its name, → a device here."""
    name = str(device)
    if name == "cuda":
        import torch

        return context.get_device(torch.cuda.current_device())
    return context.get_device(name)


def device_to_torch(device: Any) -> str:
    """The name that PyTorch has for a device."""
    place = context.get_device(device)
    return str(place) if place.kind == "cuda" else "cpu"


# CuPy


def from_cupy(data: Any, dtype: Any = None) -> array:
    """An array over the memory of a CuPy array. The stream that is meant here waits for CuPy's."""
    return foreign.asarray(data, dtype)


def to_cupy(whole: array) -> Any:
    """A CuPy array over the memory of an array on a GPU. CuPy's current stream waits for what is being done to it."""
    import cupy

    _check(whole, "to_cupy")
    place = naming.gpu(whole.device)
    with place.current(), cupy.cuda.Device(place.ordinal):  # CuPy makes the GPU's own context current, and leaves it so
        stream = cupy.cuda.get_current_stream()
        waits.hand_over(whole._owner, place, ordering.stream_handle(stream), stream)
        return cupy.asarray(_Settled(whole))


class _Settled:
    """An array whose interface names no stream to wait for: that has been seen to."""

    def __init__(self, whole: array) -> None:
        self.whole = whole

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return describing.write(self.whole._alive(), None)


# JAX


def from_jax(data: Any, dtype: Any = None) -> array:
    """An array over the memory of a JAX array, read-only as those are. Our stream waits for JAX's work on it."""
    return dlpack.from_dlpack(data, dtype)


def to_jax(whole: array) -> Any:
    """A JAX array over an array's memory, which has to lie without gaps. JAX takes it for granted that it stays as it
    is: write to it no more."""
    import jax

    _check(whole, "to_jax")
    if not whole.is_contiguous:
        raise ValueError("JAX takes arrays without gaps only: hand over the array's contiguous() copy; got %r" % whole)
    return jax.dlpack.from_dlpack(whole)


def dtype_from_jax(dtype: Any) -> Any:
    """`jax.numpy.float32`, or NumPy's, → `kb.float32`."""
    for one in (dtype, getattr(dtype, "dtype", None)):
        name = str(getattr(one, "name", None) or getattr(one, "__name__", ""))
        if name.rstrip("_") in abi.SCALARS:
            return _scalar(name, dtype)
    raise _no_counterpart(dtype)


def dtype_to_jax(dtype: Any) -> Any:
    """`kb.float32` → `jax.numpy.float32`; vectors and matrices give the type of their numbers."""
    import jax.numpy

    return _named(jax.numpy, dtype)


def device_from_jax(device: Any) -> Any:
    """One of `jax.devices()` → a device here."""
    if device.platform == "cpu":
        return hosts.HOSTS["cpu"]
    if device.platform in ("gpu", "cuda"):
        return context.get_device(device.local_hardware_id)
    raise ValueError("kernels here do not run on JAX's %s" % (device,))


def device_to_jax(device: Any) -> Any:
    """A device here → one of `jax.devices()`."""
    import jax

    place = context.get_device(device)
    if place.kind != "cuda":
        return jax.devices("cpu")[0]
    found = [one for one in jax.local_devices(backend="cuda") if one.local_hardware_id == place.ordinal]
    if not found:
        raise ValueError("JAX has no device for %s: is it hidden from JAX?" % place)
    return found[0]


# Types


def _scalar(name: str, given: Any) -> Any:
    scalar = abi.SCALARS.get(name.rstrip("_"))
    if scalar is None:
        raise _no_counterpart(given)
    return class_of(scalar)


def _no_counterpart(given: Any) -> TypeError:
    return TypeError("%s has no counterpart among the types of kernels" % (given,))


def _named(module: Any, dtype: Any) -> Any:
    scalar = interface.scalar_of(abi_type(dtype))
    name = "" if scalar is None else scalar.spelling
    found = getattr(module, name, None) or getattr(module, name + "_", None) if name else None
    if found is None:
        raise TypeError("%s has no type for %s" % (module.__name__, abi_type(dtype)))
    return found
