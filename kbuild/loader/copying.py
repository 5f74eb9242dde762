"""What moves the content of arrays: copies, fills, and the way to and from the host.

Everything runs on the stream that is meant where none is named, and in its order. It also waits for the other streams
on which the arrays were used by launches that named them, so that what the host reads is what was computed.
"""

from __future__ import annotations

from . import abi, driver, host, ordering, recent, uses
from .errors import describe
from .interface import View
from .memory import transfer
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .array_class import array

__all__ = ("clone", "copy", "to_host")


def copy(
    dest: Any, src: Any, dest_offset: int = 0, src_offset: int = 0, count: int | None = None, stream: Any = None
) -> None:
    """Copies `src` (an array on any device, or host data) into the array `dest` of the same shape and type.

    With `count`, or an offset, that many elements from there on, in row-major order, of arrays with one axis or without
    gaps. On `stream`, or the one that is meant on the GPU that takes part (of two, the destination's). Returns at once
    where both sides are on GPUs or in pinned memory. Raises TypeError, ValueError, DriverError.
    """
    from . import foreign

    dest = foreign.asarray(dest)
    to = dest._alive()
    if dest._view.readonly:
        raise ValueError("the destination is read-only: %r" % dest)
    if not foreign.is_array(src):
        encoded, shape, _ = host.encode(src, dest.dtype)
        if count is not None or dest_offset or src_offset:
            src = foreign.over_buffer(encoded, shape, dest._type.element)
        else:
            _check_same(dest, shape, dest._type.element)
            upload(dest, encoded, stream)
            return
    source = src if hasattr(src, "_kb_array_") else foreign.asarray(src, dest.dtype)
    if count is None and not dest_offset and not src_offset:
        _check_same(dest, source.shape, source._type.element)
        _move(dest, to, source, source._alive(), stream)
        return
    count = min(dest.size - dest_offset, source.size - src_offset) if count is None else count
    _check_same(dest, dest.shape, source._type.element)
    _move(dest, _part(dest, dest_offset, count), source, _part(source, src_offset, count), stream)


def _check_same(dest: array, shape: tuple[int, ...], element: abi.Type) -> None:
    if dest.shape != shape or dest._type.element != element:
        message = "cannot copy %s of shape %r into %s of shape %r"
        raise ValueError(message % (element, shape, dest._type.element, dest.shape))


def _part(whole: array, offset: int, count: int) -> View:
    """`count` elements from `offset` on."""
    if not whole.is_contiguous and whole.ndim > 1:
        raise ValueError("a part of an array by offset and count needs one axis, or no gaps; got %r" % whole)
    if offset < 0 or count < 0 or offset + count > whole.size:
        raise ValueError("elements %d to %d are not all in %r" % (offset, offset + count, whole))
    element = whole._type.element
    stride = element.size if whole.is_contiguous else whole.strides[0]
    return View(whole._alive().ptr + offset * stride, (count,), (stride,), element)


def _move(dest: array, to: View, source: array, view: View, stream: Any) -> None:
    if uses.tapes:
        from .tape import watching

        if watching.copied(dest, to, source, view, stream, lambda: _move(dest, to, source, view, stream)):
            return
    gpu = dest.device if dest.device.kind == "cuda" else source.device
    handle = stream_on(gpu, stream)
    _prepare(dest, gpu, handle, stream)
    _prepare(source, gpu, handle, stream)
    sides = transfer.Side(dest.device, to, dest.pinned), transfer.Side(source.device, view, source.pinned)
    is_peer = dest.device.kind == source.device.kind == "cuda" and dest.device is not source.device
    other = stream_on(source.device, None) if is_peer else 0
    if is_peer:
        from . import waits

        waits.wait_for_stream(source.device, other, handle, dest.device)
    transfer.copy(sides[0], sides[1], handle)
    if is_peer:  # what is put on the source's stream next may overwrite it
        waits.wait_for_stream(dest.device, handle, other, source.device)
    elif gpu.kind == "cuda" and dest.device.kind != "cuda" and not dest.pinned:
        _wait(gpu, handle)


def stream_on(place: Any, stream: Any) -> int:
    """The handle of a stream, or of the one that is meant on a device. Raises TypeError."""
    from . import current

    if stream is not None:
        return ordering.stream_handle(stream)
    return current.handle(place)


def _prepare(one: array, gpu: Any, handle: int, stream: Any) -> None:
    """Lets a stream wait for the others that use an array's memory, and the memory remember the stream."""
    memory = one._owner
    if uses.captures:
        uses.keep(handle, (memory,))
    users = getattr(memory, "users", None)
    if users is None or gpu.kind != "cuda":
        return
    others = [user for user in list(users) if user != handle]
    if memory.handle and memory.handle != handle:
        others.append(memory.handle)
    if others and memory.device.kind == "cuda" and not ordering.is_capturing(handle):
        from . import waits

        waits.wait(memory, others, handle, gpu)
    if memory.device is gpu:
        from . import current

        memory.used_on(handle, current.stream(gpu.ordinal) if stream is None else stream)


def _wait(gpu: Any, handle: int) -> None:
    with gpu.current():
        driver.get().call("cuStreamSynchronize", handle, about=str(gpu))
    recent.passed(gpu.ordinal, handle)


def upload(dest: array, data: Any, stream: Any = None) -> None:
    """Copies contiguous host bytes (any buffer) into an array."""
    if uses.tapes:
        from .tape import watching

        if watching.filled(dest, dest._view, stream, lambda: upload(dest, data, stream), "a copy from the host"):
            return
    handle = stream_on(dest.device, stream)
    _prepare(dest, dest.device, handle, stream)
    side, keep = transfer.of_buffer(data, dest._alive())
    transfer.copy(transfer.Side(dest.device, dest._view), side, handle)
    del keep


def download(source: array) -> bytearray:
    """An array's bytes, contiguous in row-major order."""
    view = source._alive()
    data = bytearray(transfer.packed_size(view))
    if not data:
        return data
    handle = stream_on(source.device, None)
    _prepare(source, source.device, handle, None)
    side, keep = transfer.of_buffer(data, view)
    transfer.copy(side, transfer.Side(source.device, view), handle)
    if source.device.kind == "cuda":
        _wait(source.device, handle)
    del keep
    return data


def clone(
    src: Any,
    device: Any = None,
    memory: str | None = None,
    stream: Any = None,
    requires_grad: bool | None = None,
) -> array:
    """A copy of an array, on its own device unless another is named, without gaps.

    It requires a gradient where the other one does, unless `requires_grad` says so.
    """
    from . import array as arrays
    from . import foreign

    source = foreign.asarray(src)
    made = arrays.empty_like(source, device, memory, requires_grad)
    copy(made, source, stream=stream)
    return made


def fill(dest: array, value: Any) -> None:
    """Writes a value into every element. Raises TypeError, ValueError."""
    fill_bytes(dest, pattern_of(dest._type.element, value))


def pattern_of(element: abi.Type, value: Any) -> bytes:
    """The bytes of an element that is filled with a value. Raises TypeError, ValueError."""
    if getattr(value, "shape", ()) and hasattr(value, "tolist"):
        value = value.tolist()  # an ndarray
    kind: Any = class_of(element)
    try:
        if getattr(element, "element", element) == abi.BOOL:
            value = _truth(value)  # of a vector, every component
        if isinstance(value, (list, tuple)) and isinstance(element, abi.Matrix) and isinstance(kind, type):
            value = kind(*value)
        if isinstance(element, (abi.Vector, abi.Matrix)) and isinstance(kind, type) and not hasattr(value, "__len__"):
            is_quat = isinstance(element, abi.Vector) and element.kind == "quat"
            value = kind(*(value,) * 4) if is_quat else kind(value)
        return bytes(host.encode([value], element)[0])
    except (TypeError, ValueError) as error:
        raise TypeError("an array of %s cannot be filled with %s: %s" % (element, describe(value), error)) from None


def _truth(value: Any) -> Any:
    """Numbers as truth values."""
    if isinstance(value, (int, float)):
        return bool(value)
    return [_truth(one) for one in value] if isinstance(value, (list, tuple)) else value


def fill_bytes(dest: array, pattern: bytes, stream: Any = None) -> None:
    """Writes an element's bytes into every element, on a stream, or the one that is meant."""
    view = dest._alive()
    if view.readonly:
        raise ValueError("the array is read-only: %r" % dest)
    if 0 in view.shape:
        return
    if uses.tapes:
        from .tape import watching

        if watching.filled(dest, view, stream, lambda: fill_bytes(dest, pattern, stream), "a fill"):
            return
    handle = stream_on(dest.device, stream)
    _prepare(dest, dest.device, handle, stream)
    transfer.fill(dest.device, view, pattern, handle)


def to_host(data: Any) -> Any:
    """Nested lists of an array of this or another library."""
    from . import foreign

    return foreign.asarray(data).tolist()
