"""Tensors of PyTorch and arrays of JAX, told and read without importing either: whoever has one has imported it.

PyTorch's tensors are read by their own methods, which costs a microsecond; their `__cuda_array_interface__` costs ten
and refuses tensors that require gradients. Whatever such a launch writes is no part of PyTorch's graph of gradients.
"""

from __future__ import annotations

import sys

from . import abi, context, hosts, interface, ordering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def described(tensor: Any) -> dict[str, Any]:
    """A tensor as the dictionary of an array interface. Raises Mismatch, which says what cannot be used."""
    torch = sys.modules["torch"]
    if tensor.layout is not torch.strided:
        raise interface.Mismatch("a tensor of layout %s: use its to_dense()" % tensor.layout)
    scalar = abi.SCALARS.get(str(tensor.dtype).rpartition(".")[2])
    if scalar is None:
        raise interface.Mismatch("a tensor of %s, which kernels here do not know" % tensor.dtype)
    if tensor.is_neg() or tensor.is_conj():
        raise interface.Mismatch("a tensor whose memory holds the negative or conjugate of its values: use its clone()")
    size = scalar.size
    return {
        "shape": tuple(tensor.shape),
        "typestr": interface.TYPESTR[scalar],
        "data": (_address_of(tensor), False),
        "strides": tuple([step * size for step in tensor.stride()]),
    }


def _address_of(tensor: Any) -> int:
    place_of(tensor)
    try:
        address: int = tensor.data_ptr()
    except RuntimeError as error:  # tensors without memory of their own, as compilers and wrappers make them
        raise interface.Mismatch("a tensor without memory: %s" % str(error).partition("\n")[0]) from None
    if not address and tensor.numel():
        raise interface.Mismatch("a tensor without memory (%s)" % type(tensor).__name__)
    return address


def place_of(tensor: Any) -> Any:
    """The device of a tensor. Raises Mismatch for those that kernels here do not reach."""
    kind = tensor.device.type
    if kind == "cuda":
        return context.devices()[tensor.device.index]
    if kind == "cpu":
        return hosts.HOSTS["cpu"]
    raise interface.Mismatch("a tensor on device %r" % str(tensor.device))


def current_stream(ordinal: int) -> int:
    """The handle of PyTorch's current stream on a GPU."""
    torch = sys.modules["torch"]
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if raw is None:  # a build of PyTorch's without it
        return ordering.stream_handle(torch.cuda.current_stream(ordinal))
    handle: int = raw(ordinal)
    return handle


def follow(ordinal: int, stream: Any, handle: int, streams: set[int], tensors: Any) -> tuple[Any, int]:
    """(stream, handle) for a launch with these tensors: PyTorch's current stream where none was named.

    One that was named has to wait for PyTorch's (which is added to `streams`), and PyTorch is told that it uses the
    tensors' memory: so what is freed there is not used again too early.
    """
    theirs = current_stream(ordinal)
    if stream is None:
        return theirs or None, theirs
    if max(handle, 1) != max(theirs, 1) and not _is_capturing(ordinal, handle):
        streams.add(theirs)
        record(tensors, ordinal, handle)
    return stream, handle


def _is_capturing(ordinal: int, handle: int) -> bool:
    """Whether a stream is being captured, when it can wait for nothing outside of the capture."""
    with context.devices()[ordinal].current():
        return ordering.is_capturing(handle)


def record(tensors: Any, ordinal: int, handle: int) -> None:
    """Tells PyTorch's allocator of a stream that uses the memory of tensors."""
    torch = sys.modules["torch"]
    with context.devices()[ordinal].current():  # since PyTorch makes the GPU's own context current, and leaves it so
        if handle in (0, 1):
            stream = torch.cuda.default_stream(ordinal)
        else:
            stream = torch.cuda.ExternalStream(handle, device=ordinal)
        for tensor in tensors:
            tensor.record_stream(stream)
