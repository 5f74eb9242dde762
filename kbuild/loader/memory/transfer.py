"""Copies and fills, with strides, on a stream.

Each side of a copy is a View on a device. What lies without gaps on both sides goes in one piece, rows with gaps as
two-dimensional copies, and what neither serves piece by piece; on one GPU by a kernel, where a bundle has it
(`providers.STRIDED_COPY`). Ordinary memory of the host is safe to change, or to read, when a call returns; with pinned
memory the host goes on at once. Where both sides of a copy share elements, those have no certain value afterwards.
"""

from __future__ import annotations

import ctypes

from .. import buffers, context, driver, ordering, providers, uses
from ..errors import LaunchError
from ..interface import View, contiguous_strides
from ..kinds import count, is_contiguous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_HOST, _DEVICE = 1, 2  # CUmemorytype
_MAX_PITCH = 2**31 - 1
# From where on a kernel is asked for, if the program has one: calls of the driver's; bytes of a row, and how many rows.
_MANY_CALLS = 16
_SHORT_ROW, _MANY_ROWS = 32, 64


class Copy2D(ctypes.Structure):
    """The driver's CUDA_MEMCPY2D."""

    _fields_ = tuple(
        [
            (side + name, kind)
            for side in ("src", "dst")
            for name, kind in (
                ("XInBytes", ctypes.c_size_t),
                ("Y", ctypes.c_size_t),
                ("MemoryType", ctypes.c_int),
                ("Host", ctypes.c_uint64),
                ("Device", ctypes.c_uint64),
                ("Array", ctypes.c_void_p),
                ("Pitch", ctypes.c_size_t),
            )
        ]
        + [("WidthInBytes", ctypes.c_size_t), ("Height", ctypes.c_size_t)]
    )


class Side:
    """One side of a copy: a view on a device. `pinned`: the host memory stays where it is while the driver works."""

    __slots__ = ("device", "is_host", "is_pinned", "view")

    def __init__(self, device: Any, view: View, is_pinned: bool = False) -> None:
        self.device, self.view, self.is_pinned = device, view, is_pinned
        self.is_host = device is None or device.kind != "cuda"


class Piece:
    """`height` rows of `width` bytes; where they begin on both sides, and the bytes from row to row."""

    __slots__ = ("height", "source", "source_pitch", "to", "to_pitch", "width")

    def __init__(self, to: int, source: int, width: int, height: int, to_pitch: int, source_pitch: int) -> None:
        self.to, self.source, self.width, self.height = to, source, width, height
        self.to_pitch, self.source_pitch = to_pitch, source_pitch


class Layout:
    """How a copy is cut: pieces of `height` rows of `width` bytes, one for each place along `outer` axes."""

    __slots__ = ("height", "outer", "pitches", "width")

    def __init__(self, size: int, axes: list[tuple[int, int, int]]) -> None:
        width, height, pitches = size, 1, (0, 0)
        if axes and axes[-1][1:] == (width, width):
            width *= axes.pop()[0]
        if axes and min(axes[-1][1:]) >= width and max(axes[-1][1:]) <= _MAX_PITCH:
            height, *steps = axes.pop()
            pitches = (steps[0], steps[1])
        self.width, self.height, self.pitches, self.outer = width, height, pitches, axes

    def is_scattered(self) -> bool:
        """Many calls of the driver's, or very short rows, each of which costs as much as a long one."""
        calls = 1
        for extent, _, _ in self.outer:
            calls *= extent
        return calls > _MANY_CALLS or (self.width < _SHORT_ROW and calls * self.height > _MANY_ROWS)


def layout(to: View, source: View) -> Layout | None:
    """How to copy one view into another of the same shape; None where there is nothing to copy."""
    axes = _merged(to, source)
    return None if axes is None else Layout(to.element.size, axes)


def pieces(to: View, source: View) -> Iterator[Piece]:
    """The copy of one view into another of the same shape as two-dimensional pieces, few and large."""
    found = layout(to, source)
    return iter(()) if found is None else _cut(found, to, source)


def _cut(found: Layout, to: View, source: View) -> Iterator[Piece]:
    for a, b in _offsets(found.outer):
        yield Piece(to.ptr + a, source.ptr + b, found.width, found.height, *found.pitches)


def _merged(to: View, source: View) -> list[tuple[int, int, int]] | None:
    """(extent, stride, stride) of the axes, those joined that lie side by side in both; None where nothing is."""
    axes: list[tuple[int, int, int]] = []
    for axis in zip(to.shape, to.strides, source.strides):
        if axis[0] == 0:
            return None
        if axis[0] == 1:
            continue
        if axes and axes[-1][1:] == (axis[1] * axis[0], axis[2] * axis[0]):
            axes[-1] = (axes[-1][0] * axis[0], axis[1], axis[2])
        else:
            axes.append(axis)
    return axes


def _offsets(axes: list[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """Where each place of the given axes lies on both sides, in row-major order."""
    if not axes:
        yield 0, 0
        return
    extent, step, other = axes[0]
    for i in range(extent):
        for a, b in _offsets(axes[1:]):
            yield i * step + a, i * other + b


def copy(to: Side, source: Side, handle: int) -> None:
    """Copies between two sides of the same shape and element, on a stream of the GPU that takes part. DriverError."""
    if to.is_host and source.is_host:
        for piece in pieces(to.view, source.view):
            _copy_on_host(piece)
        return
    gpu = source.device if to.is_host else to.device
    if not (to.is_host or source.is_host) and to.device is not source.device:
        _copy_to_peer(to, source, handle)
        return
    with gpu.current():
        _check_capture(to, source, handle)
        found = layout(to.view, source.view)
        if found is None or (
            not (to.is_host or source.is_host)
            and found.is_scattered()
            and _by_kernel(to.view, source.view, gpu, handle)
        ):
            return
        for piece in _cut(found, to.view, source.view):
            _run(piece, to.is_host, source.is_host, handle, str(gpu))


def _by_kernel(to: View, source: View, gpu: Any, handle: int) -> bool:
    """Whether a kernel copies, within one GPU: where a bundle of this program has it."""
    try:
        provider = providers.find(providers.STRIDED_COPY)
    except LaunchError:  # the loader alone is here
        return False
    return provider is not None and bool(provider(to, source, gpu, handle))


def _check_capture(to: Side, source: Side, handle: int) -> None:
    """A graph would read or write ordinary memory of the host whenever it runs, long after it is gone."""
    for side in (to, source):
        if side.is_host and not side.is_pinned and ordering.is_capturing(handle):
            raise ValueError(
                "the stream is being captured into a graph, which cannot copy from or to ordinary memory of the host\n"
                "  help: copy before the capture, or use an array in pinned memory: kb.empty(…, device='cpu', "
                "memory='pinned')"
            )


def _run(piece: Piece, to_host: bool, from_host: bool, handle: int, about: str) -> None:
    call = driver.get().call
    if piece.height == 1:
        name = "cuMemcpyDtoHAsync_v2" if to_host else "cuMemcpyHtoDAsync_v2" if from_host else "cuMemcpyDtoDAsync_v2"
        call(name, piece.to, piece.source, piece.width, handle, about=about)
        return
    request = Copy2D(srcPitch=piece.source_pitch, dstPitch=piece.to_pitch)
    request.WidthInBytes, request.Height = piece.width, piece.height
    for side, is_host, address in (("src", from_host, piece.source), ("dst", to_host, piece.to)):
        setattr(request, side + "MemoryType", _HOST if is_host else _DEVICE)
        setattr(request, side + ("Host" if is_host else "Device"), address)
    call("cuMemcpy2DAsync_v2", ctypes.cast(ctypes.byref(request), ctypes.c_void_p), handle, about=about)


def _copy_to_peer(to: Side, source: Side, handle: int) -> None:
    """Between two GPUs, over the link between them where there is one; gaps are closed before, opened after."""
    from .allocation import allocate

    for one in (to, source):
        if not is_contiguous(one.view):
            between = View(
                0, one.view.shape, contiguous_strides(one.view.shape, one.view.element.size), one.view.element
            )
            memory = allocate(one.device, packed_size(one.view))
            between.ptr = memory.ptr
            packed = Side(one.device, between)
            if one is to:
                _copy_to_peer(packed, source, handle)
                copy(to, packed, handle)
            else:
                copy(packed, source, 0)
                from .. import waits

                waits.wait_for_stream(source.device, 0, handle)
                _copy_to_peer(to, packed, handle)
                context.synchronize(source.device)  # the packed copy is about to go
            return
    size = packed_size(to.view)
    if size:
        with to.device.current():
            driver.get().call(
                "cuMemcpyPeerAsync",
                to.view.ptr,
                to.device.context,
                source.view.ptr,
                source.device.context,
                size,
                handle,
                about="from %s to %s" % (source.device, to.device),
            )


_WORDS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def _copy_on_host(piece: Piece) -> None:
    code: Any = _WORDS.get(piece.width)
    if piece.height > 1 and code and not (piece.to_pitch % piece.width or piece.source_pitch % piece.width):
        to, source = (
            memoryview((ctypes.c_char * ((piece.height - 1) * pitch + piece.width)).from_address(address))
            .cast("B")
            .cast(code)[:: pitch // piece.width]
            for address, pitch in ((piece.to, piece.to_pitch), (piece.source, piece.source_pitch))
        )
        to[:] = source
        return
    for row in range(piece.height):
        to_row, source_row = piece.to + row * piece.to_pitch, piece.source + row * piece.source_pitch
        ctypes.memmove(to_row, source_row, piece.width)


def fill(device: Any, view: View, pattern: bytes, handle: int) -> None:
    """Writes an element's bytes into every element of a view, on a stream."""
    if 0 in view.shape:
        return
    word = _word_of(pattern)
    if is_contiguous(view) and (device.kind != "cuda" or word is not None):
        _fill_packed(device, view.ptr, packed_size(view), pattern if word is None else word, handle)
    elif is_contiguous(view):
        _fill_by_doubling(device, view.ptr, packed_size(view), pattern, handle)
    else:
        _fill_with_gaps(device, view, pattern, handle)


def _word_of(pattern: bytes) -> bytes | None:
    """The shortest of 1, 2 or 4 bytes by whose repetition a pattern is made."""
    for size in (1, 2, 4):
        if len(pattern) % size == 0 and pattern == pattern[:size] * (len(pattern) // size):
            return pattern[:size]
    return None


def _fill_packed(device: Any, ptr: int, size: int, word: bytes, handle: int) -> None:
    if device.kind != "cuda":
        if len(word) == 1:
            ctypes.memset(ptr, word[0], size)
        else:
            memoryview((ctypes.c_char * size).from_address(ptr)).cast("B")[:] = word * (size // len(word))
        return
    name = "cuMemsetD%dAsync" % (8 * len(word))
    with device.current():
        value = int.from_bytes(word, "little")
        driver.get().call(name, ptr, value, size // len(word), handle, about=str(device))


def _fill_by_doubling(device: Any, ptr: int, size: int, pattern: bytes, handle: int) -> None:
    """The first element, then what is there already, twice as much each time."""
    with device.current():
        call, done = driver.get().call, len(pattern)
        _write_first(device, ptr, pattern, handle)
        while done < size:
            more = min(done, size - done)
            call("cuMemcpyDtoDAsync_v2", ptr + done, ptr, more, handle, about=str(device))
            done += more


_MANY_WORDS = 16


def _write_first(device: Any, ptr: int, pattern: bytes, handle: int) -> None:
    """One element: word by word, since a graph cannot read it from the host later; a long one from the host."""
    call, about = driver.get().call, str(device)
    if len(pattern) > 4 * _MANY_WORDS and not ordering.is_capturing(handle):
        seed = ctypes.create_string_buffer(pattern, len(pattern))
        call("cuMemcpyHtoDAsync_v2", ptr, ctypes.addressof(seed), len(pattern), handle, about=about)
        return
    size = 4 if len(pattern) % 4 == 0 else 2 if len(pattern) % 2 == 0 else 1
    for start in range(0, len(pattern), size):
        word = int.from_bytes(pattern[start : start + size], "little")
        call("cuMemsetD%dAsync" % (8 * size), ptr + start, word, 1, handle, about=about)


def _fill_with_gaps(device: Any, view: View, pattern: bytes, handle: int) -> None:
    """From a packed array of the same shape."""
    from .allocation import allocate

    memory = allocate(device, packed_size(view))
    source = View(memory.ptr, view.shape, contiguous_strides(view.shape, len(pattern)), view.element)
    uses.note(handle, handle, (memory,))
    fill(device, source, pattern, handle)
    copy(Side(device, view), Side(device, source), handle)


def of_buffer(data: Any, view: View) -> tuple[Side, object]:
    """A host buffer's bytes as the other side of a copy to or from `view`, in its shape; and what keeps them there."""
    keep = memoryview(data)
    strides = contiguous_strides(view.shape, view.element.size)
    return Side(None, View(buffers.address_of(keep), view.shape, strides, view.element)), keep


def packed_size(view: View) -> int:
    """Bytes of all elements together."""
    return view.element.size * count(view.shape)
