"""Arrays of other libraries as arrays here: over the same memory, kept alive, not copied.

In GPU memory by `__cuda_array_interface__` (CuPy, Numba, JAX), PyTorch's tensors by their own methods, all others by
DLPack; in host memory by the buffer protocol (NumPy, array.array, bytearray).
"""

from __future__ import annotations

from . import buffers, context, interface
from .array import array, wrap
from .layout import abi_type
from .values import class_of, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("asarray",)


def is_array(data: Any) -> bool:
    """Whether `data` is an array of ours, or of a library whose memory can be shared; not a buffer of the host."""
    return isinstance(data, array) or hasattr(data, "__cuda_array_interface__")


def asarray(data: Any, dtype: Any = None) -> array:
    """An array over the memory of another library's array, kept alive, not copied; a buffer of the host is on `cpu`.

    With a vector or matrix as `dtype` the last axes are its components. Raises TypeError for what has no memory of its
    own, such as a list: copy it with `kb.array`.
    """
    if isinstance(data, array):
        return data
    if hasattr(data, "__cuda_array_interface__"):
        return _from_interface(data, dtype)
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError("wanted an array, got %s: copy it with kb.array(…)" % describe(data)) from None
    return over_buffer(view, None, dtype, data)


def _from_interface(data: Any, dtype: Any) -> array:
    described = data.__cuda_array_interface__
    try:
        dtype = class_of(interface.element_of(described)) if dtype is None else dtype
        view = interface.read(described, abi_type(dtype))
    except interface.Mismatch as error:
        wanted = "" if dtype is None else " of %s" % abi_type(dtype)
        raise TypeError("wanted an array%s, got %s" % (wanted, error)) from None
    gpu = context.device_of(view.ptr) if view.ptr else context.gpu()
    if view.stream is not None and view.stream > 1:  # 1 is the default stream
        from . import current

        context.wait_unless_captured(gpu, view.stream, current.handle(gpu))
    return wrap(view, dtype, gpu, data)


def over_buffer(data: Any, shape: tuple[int, ...] | None, dtype: Any, owner: Any = None) -> array:
    """An array of the host over a buffer; `shape` as the buffer's own unless given. Raises TypeError, ValueError."""
    view = memoryview(data)
    if shape is None:
        dtype, found = buffers.of_buffer(view, dtype)
    else:
        packed = interface.contiguous_strides(shape, abi_type(dtype).size)
        found = interface.View(buffers.address_of(view), shape, packed, abi_type(dtype))
    return wrap(found, dtype, context.HOSTS["cpu"], (owner, view))
