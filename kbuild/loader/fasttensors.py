"""The quick launch of a kernel that has been given tensors of PyTorch's: `fastpath`'s, with two ways for each array.

A tensor's type, device, layout, address, extents and strides are read by its own methods, and the launch runs on
PyTorch's current stream. What has to be waited for, or told to PyTorch, is left to the thorough launch. What is written
for an array:

    if v1.__class__ in tensors: v2 = read1(v1); lent = True
    elif v1._key is key0: v2 = v1._descriptor; mine.append(v1._owner)
    else: raise Unexpected
"""

from __future__ import annotations

import struct
import sys

from . import abi, fastpath, frameworks, interface, uses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .kernel import BundleKernel, Loaded

_MIDDLE = """\
handle = 0
if stream is None and scopes: stream = current_stream()
if stream is not None:
    handle = stream_handle(stream)
    if lent and handle != torch_stream(ordinal): raise Unexpected
elif lent:
    handle = torch_stream(ordinal)
    if handle: stream = handle
if handle and lent and captures: raise Unexpected
buffer, ready, _ = slot = pop()
{packing}
if handle:
    put_stream(buffer, {stream_offset}, handle)
    note_use(handle, stream, mine)
"""


class _Writer(fastpath.Writer):
    """Writes both ways."""

    def __init__(self, ordinal: int, optional: frozenset[str]) -> None:
        super().__init__(ordinal, optional)
        self.statements += ["lent = False", "mine = []"]

    def add_array(self, name: str, key: str, type: Any, is_optional: bool) -> None:
        leaf, read = self.name(), "read%d" % len(self.keys)
        self.keys[read] = reader(type, self.ordinal)
        self.statements += [
            "if %s.__class__ in tensors: %s = %s(%s); lent = True" % (name, leaf, read, name),
            *(["elif %s is None: %s = %r" % (name, leaf, bytes(type.size))] if is_optional else []),
            "elif %s._key is %s: %s = %s; mine.append(%s._owner)" % (name, key, leaf, self.bytes_of(name, type), name),
            "else: raise Unexpected",
        ]
        self.leaves.append(leaf)


def make(kernel: BundleKernel, loaded: Loaded, put_stream: Any, stream_offset: int, tapes: Any) -> Callable[..., None]:
    """See `fastpath.make`."""
    writer = _Writer(loaded.device.ordinal, kernel.optional)
    torch = sys.modules["torch"]
    parameter = getattr(getattr(torch, "nn", None), "Parameter", torch.Tensor)
    more: dict[str, Any] = {
        "captures": uses.captures,
        "ordinal": loaded.device.ordinal,
        "tapes": tapes,
        "tensors": frozenset((torch.Tensor, parameter)),  # classes made from them may mean something else
        "torch_stream": getattr(torch._C, "_cuda_getCurrentRawStream", frameworks.current_stream),
    }
    return fastpath.build(kernel, loaded, put_stream, stream_offset, writer, _MIDDLE, more)


def reader(type: Any, ordinal: int) -> Callable[[Any], bytes]:
    """A function from a tensor on that GPU to the descriptor of an array of that type; it raises where in doubt."""
    torch, scalar = sys.modules["torch"], interface.scalar_of(type.element)
    if scalar is None or isinstance(type, abi.IndexedArray) or not hasattr(torch, scalar.spelling):
        return _refuse
    dtype, size, ndim = getattr(torch, scalar.spelling), scalar.size, type.ndim
    inner = interface.inner_shape(type.element)
    steps = interface.contiguous_strides(inner, 1)
    descriptor = struct.Struct("<Q%di" % (2 * ndim)).pack

    if isinstance(type, abi.Flat):
        return _address_reader(dtype, size, ndim, inner, ordinal)

    def read(tensor: Any) -> bytes:
        address = tensor.data_ptr()  # which sparse tensors refuse
        if tensor.dtype is not dtype or tensor.get_device() != ordinal or not address or address % size:
            raise fastpath.Unexpected
        shape, strides = tensor.shape, tensor.stride()
        if tensor.is_neg():
            raise fastpath.Unexpected
        if inner:
            if shape[ndim:] != inner or strides[ndim:] != steps:
                raise fastpath.Unexpected
            shape, strides = shape[:ndim], strides[:ndim]
        return descriptor(address, *shape, *[step * size for step in strides])

    return read


def _address_reader(dtype: Any, size: int, ndim: int, inner: Any, ordinal: int) -> Callable[[Any], bytes]:
    """The same for a kernel that takes the address alone, of a tensor without gaps."""
    pack = struct.Struct("<Q").pack

    def read(tensor: Any) -> bytes:
        address = tensor.data_ptr()
        if tensor.dtype is not dtype or tensor.get_device() != ordinal or not address or address % size:
            raise fastpath.Unexpected
        shape = tensor.shape
        if tensor.is_neg() or not tensor.is_contiguous() or len(shape) != ndim + len(inner) or shape[ndim:] != inner:
            raise fastpath.Unexpected
        return pack(address)

    return read


def _refuse(tensor: Any) -> bytes:
    raise fastpath.Unexpected
