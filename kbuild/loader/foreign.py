"""Arrays of other libraries as arrays here: over the same memory, kept alive, not copied.

PyTorch's tensors are read by their own methods, other memory of GPUs by `__cuda_array_interface__` (CuPy, Numba) or by
DLPack (JAX, and whatever has `__dlpack__`), and memory of the host by the buffer protocol (NumPy, array.array).
"""

from __future__ import annotations

import sys

from . import abi, buffers, describing, frameworks, hosts, interface, naming, places, waits
from .array_class import array, wrap
from .errors import describe
from .layout import abi_type
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("asarray",)


def is_array(data: Any) -> bool:
    """Whether `data` is an array of ours, or of a library whose memory can be shared; not a buffer of the host."""
    if isinstance(data, array) or interface.is_tensor(data) or hasattr(data, "__cuda_array_interface__"):
        return True
    return hasattr(type(data), "__dlpack__") and not _is_buffer(data)


def _is_buffer(data: Any) -> bool:
    try:
        memoryview(data)
    except (TypeError, ValueError, BufferError, RuntimeError):
        return False
    return True


def is_immutable(data: Any) -> bool:
    """Whether the library's arrays never change, whatever a protocol says of them."""
    return interface.is_jax(data)


def is_read_only(data: Any) -> bool:
    """Whether an array says that it may not be written to; False where it says nothing."""
    if hasattr(data, "_kb_array_"):
        return bool(data._view.readonly)
    if interface.is_tensor(data):
        return False
    return is_immutable(data) or bool(data.__cuda_array_interface__["data"][1])


def asarray(data: Any, dtype: Any = None) -> array:
    """An array over the memory of another library's array, kept alive, not copied; memory of the host is on `cpu`.

    With a vector or matrix as `dtype` the last axes are its components. What follows on the stream that is meant here
    waits for what the other library is doing to the memory. Raises TypeError for what has no memory of its own, such
    as a list, or does not fit: copy it with `kb.array`.
    """
    if isinstance(data, array):
        return data if dtype is None else with_type(data, dtype)
    if interface.is_tensor(data):
        return _from_tensor(data, dtype)
    if not is_immutable(data) and hasattr(data, "__cuda_array_interface__"):
        return _from_interface(data, dtype)
    from . import dlpack

    if dlpack.is_lender(data) and (is_immutable(data) or not _is_buffer(data)):
        return dlpack.from_dlpack(data, dtype)
    _refuse_masks(data)
    try:
        view = memoryview(data)
    except (TypeError, ValueError, BufferError) as error:
        reason = "" if isinstance(error, TypeError) else " (%s)" % error
        raise TypeError("wanted an array, got %s%s: copy it with kb.array(…)" % (describe(data), reason)) from None
    return over_buffer(view, None, dtype, data)


def with_type(data: array, dtype: Any) -> array:
    """An array of ours whose elements are of a type; numbers stand for vectors and matrices. Raises TypeError."""
    element = abi_type(dtype)
    if element == data._type.element:
        return data
    described = describing.write(data._alive(), None)
    return over_described(described, element, data.device, data._owner)


def over_described(described: dict[str, Any], dtype: Any, place: Any, owner: Any) -> array:
    """An array over what the dictionary of an array interface tells of, on the GPU that its address belongs to unless
    `place` says where. Raises TypeError, ValueError."""
    try:
        dtype = class_of(describing.element_of(described)) if dtype is None else dtype
        element = abi_type(dtype)
        view = interface.read(described, element)
    except interface.Mismatch as error:
        raise _mismatch(error, dtype) from None
    _check_axes(view)
    if place is None:
        place = places.device_at(view.ptr) if view.ptr else naming.gpu()
    return wrap(view, dtype, place, owner)


def _mismatch(error: interface.Mismatch, dtype: Any) -> TypeError:
    return TypeError("wanted an array%s, got %s" % ("" if dtype is None else " of %s" % abi_type(dtype), error))


def _check_axes(view: interface.View) -> None:
    if len(view.shape) > abi.MAX_ARRAY_DIMENSIONS:
        message = "an array has 1 to %d dimensions, not the %d of shape %r"
        raise TypeError(message % (abi.MAX_ARRAY_DIMENSIONS, len(view.shape), view.shape))


def _from_tensor(tensor: Any, dtype: Any) -> array:
    try:
        place, described = frameworks.place_of(tensor), frameworks.described(tensor)
    except interface.Mismatch as error:
        raise _mismatch(error, dtype) from None
    made = over_described(described, dtype, place, tensor)
    if place.kind == "cuda":
        _catch_up(place, frameworks.current_stream(place.ordinal))
    return made


def _from_interface(data: Any, dtype: Any) -> array:
    described = data.__cuda_array_interface__
    made = over_described(described, dtype, None, data)
    producer = described.get("stream")
    if producer is not None:
        _catch_up(made.device, producer)
    return made


def _catch_up(place: Any, producer: int) -> None:
    """Lets the stream that is meant here wait for what another library has put on its own."""
    from . import current

    consumer = current.handle(place)
    if max(producer, 1) != max(consumer, 1):  # 0 and 1 both mean the default stream
        waits.wait_unless_captured(place, producer, consumer)


def _refuse_masks(data: Any) -> None:
    masked = getattr(getattr(sys.modules.get("numpy"), "ma", None), "MaskedArray", None)
    if isinstance(masked, type) and isinstance(data, masked):
        raise TypeError("a masked array of NumPy's has two arrays: hand over its data, or its filled(…)")


def over_buffer(data: Any, shape: tuple[int, ...] | None, dtype: Any, owner: Any = None) -> array:
    """An array of the host over a buffer; `shape` as the buffer's own unless given. Raises TypeError, ValueError."""
    view = memoryview(data)
    if shape is None:
        dtype, found = buffers.of_buffer(view, dtype)
    else:
        packed = interface.contiguous_strides(shape, abi_type(dtype).size)
        found = interface.View(buffers.address_of(view), shape, packed, abi_type(dtype))
    return wrap(found, dtype, hosts.HOSTS["cpu"], (owner, view))
