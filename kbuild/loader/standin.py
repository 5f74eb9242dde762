"""A stand-in for the driver where there is no GPU: memory of the host, and launches that do nothing.

For `python -m kbuild record`, which runs a program to see which kernels it asks for. What the program reads back are
the bytes it wrote: no kernel has run. `open()` gives what `ctypes.CDLL("libcuda.so.1")` would.
"""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NAME = b"no GPU (recording)"
_VERSION = 13000
_ATTRIBUTES = {16: 132, 19: 1, 41: 1, 75: 9, 76: 0, 97: 232448}  # as an H200, without pools
_INVALID_VALUE = 1


class _Call:
    """One function of the library; its declared argument types do not matter here."""

    argtypes: Any = ()

    def __init__(self, function: Callable[..., int | None]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> int:
        return self.function(*args) or 0


class Library:
    """The functions that the loader calls, by name."""

    def __init__(self) -> None:
        self._memory: dict[int, Any] = {}
        self._calls: dict[str, _Call] = {
            "cuDriverGetVersion": _Call(lambda version: _put(version, _VERSION)),
            "cuDeviceGetCount": _Call(lambda count: _put(count, 1)),
            "cuDeviceGet": _Call(lambda device, ordinal: _put(device, ordinal)),
            "cuDeviceGetName": _Call(lambda name, size, device: _put(name, _NAME)),
            "cuDeviceGetAttribute": _Call(lambda value, which, device: _put(value, _ATTRIBUTES.get(which, 0))),
            "cuMemAlloc_v2": _Call(self._allocate),
            "cuMemFree_v2": _Call(lambda ptr: self._memory.pop(ptr, None) and None),
            "cuMemGetInfo_v2": _Call(_memory_info),
            "cuMemHostAlloc": _Call(lambda address, size, flags: self._allocate(address, size)),
            "cuMemFreeHost": _Call(lambda ptr: self._memory.pop(ptr, None) and None),
            "cuMemHostGetDevicePointer_v2": _Call(lambda address, ptr, flags: _put(address, ptr)),
            "cuMemcpyHtoDAsync_v2": _Call(_move),
            "cuMemcpyDtoHAsync_v2": _Call(_move),
            "cuMemcpyDtoDAsync_v2": _Call(_move),
            "cuMemcpy2DAsync_v2": _Call(_move_rows),
            "cuMemsetD8Async": _Call(lambda ptr, value, size, stream: ctypes.memset(ptr, value, size) and None),
            "cuMemsetD16Async": _Call(lambda ptr, value, count, stream: _repeat(ptr, value, 2, count)),
            "cuMemsetD32Async": _Call(lambda ptr, value, count, stream: _repeat(ptr, value, 4, count)),
            "cuPointerGetAttribute": _Call(self._owner),
        }

    def __getattr__(self, name: str) -> _Call:
        if not name.startswith("cu"):
            raise AttributeError(name)
        # The rest are handles, which count from one, and questions after errors that never come.
        return self._calls.setdefault(name, _Call(_handle))

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def _allocate(self, address: Any, size: int) -> None:
        memory = ctypes.create_string_buffer(size + 256)  # the driver's addresses are multiples of 256
        address.value = (ctypes.addressof(memory) + 255) // 256 * 256
        self._memory[address.value] = memory

    def _owner(self, ordinal: Any, attribute: int, ptr: int) -> int:
        for start, memory in self._memory.items():
            if start <= ptr < start + len(memory):
                _put(ordinal, 0)
                return 0
        return _INVALID_VALUE


def _put(place: Any, value: Any) -> None:
    """Writes a result, whether its place was given as it is or by reference."""
    getattr(place, "_obj", place).value = value


def _memory_info(free: Any, total: Any) -> None:
    _put(free, 1 << 40)
    _put(total, 1 << 40)


def _handle(*args: Any) -> None:
    if args and isinstance(args[0], ctypes.c_uint64):
        args[0].value = args[0].value or 1


def _move(to: Any, source: Any, size: int, stream: int) -> None:
    ctypes.memmove(to, source, size)


def _repeat(ptr: int, value: int, size: int, count: int) -> None:
    ctypes.memmove(ptr, value.to_bytes(size, "little") * count, size * count)


def _move_rows(place: Any, stream: int) -> None:
    from .memory.transfer import Copy2D

    request = Copy2D.from_address(place.value)
    to, source = request.dstHost or request.dstDevice, request.srcHost or request.srcDevice
    for row in range(request.Height):
        ctypes.memmove(to + row * request.dstPitch, source + row * request.srcPitch, request.WidthInBytes)


def open() -> Any:
    """The library."""
    return Library()
