"""Device memory: an allocation that frees itself, and copies between host and device, with strides.

All copies are synchronous and run on the default stream: they see what was launched there and on ordinary streams;
work on non-blocking streams has to be waited for first.
"""

from __future__ import annotations

import ctypes
import sys

from . import context, driver
from .errors import DriverError
from .interface import View, contiguous_strides, is_contiguous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Allocation:
    """`size` bytes on a device, from address `ptr`; freed with the last reference to it."""

    __slots__ = ("_address", "device", "size")

    def __init__(self, device: context.Device, size: int) -> None:
        self.device, self.size = device, size
        self._address = ctypes.c_uint64()  # the driver writes it here, so that no interrupt can come before it is known
        if size == 0:
            return
        with device.current():
            try:
                driver.get().call("cuMemAlloc_v2", self._address, size, about="%s: %d bytes" % (device, size))
            except DriverError as error:
                raise _with_free_memory(error) from None

    @property
    def ptr(self) -> int:
        """The address; 0 for no bytes."""
        return self._address.value

    def __del__(self) -> None:
        # At the interpreter's exit the driver may be gone already, in a forked child it never was: the memory goes with
        # the process. An error here has nobody to go to; one that comes before the memory was given back, though, is
        # worth a second try.
        if not hasattr(self, "_address") or sys.is_finalizing() or not driver.is_usable():
            return
        for _ in range(2):
            try:
                if self.ptr:
                    with self.device.current():
                        self._free()
            except DriverError:
                pass

    def _free(self) -> None:
        ptr, self._address.value = self.ptr, 0
        driver.get().call("cuMemFree_v2", ptr)


def _with_free_memory(error: DriverError) -> DriverError:
    if error.code != 2:
        return error
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    try:
        driver.get().call("cuMemGetInfo_v2", free, total)
    except DriverError:
        return error
    message = "%s\n  memory: %d of %d MiB are free" % (error, free.value >> 20, total.value >> 20)
    return DriverError(message, error.call, error.code, error.name)


def fill(device: context.Device, ptr: int, value: int, size: int) -> None:
    """Sets `size` bytes."""
    if size:
        with device.current():
            driver.get().call("cuMemsetD8_v2", ptr, value, size, about=str(device))


def upload(device: context.Device, view: View, data: Any) -> None:
    """Copies contiguous host bytes (any buffer) into a device array, run by run."""
    if 0 in view.shape:
        return
    address, keep = _address(memoryview(data).cast("B"))
    with device.current():
        for offset, position, size in runs(view):
            driver.get().call("cuMemcpyHtoD_v2", view.ptr + offset, address + position, size, about=str(device))
    del keep


def download(device: context.Device, view: View) -> bytearray:
    """The array's bytes, contiguous in row-major order."""
    size = view.element.size
    for extent in view.shape:
        size *= extent
    data = bytearray(size)
    address, keep = _address(memoryview(data))
    with device.current():
        for offset, position, length in runs(view):
            driver.get().call("cuMemcpyDtoH_v2", address + position, view.ptr + offset, length, about=str(device))
    del keep
    return data


def copy(device: context.Device, to: View, source: View) -> None:
    """Copies between two device arrays of the same shape and element; through the host where they have gaps."""
    if is_contiguous(to) and is_contiguous(source):
        for _, _, size in runs(to):
            with device.current():
                driver.get().call("cuMemcpyDtoD_v2", to.ptr, source.ptr, size, about=str(device))
    else:
        upload(device, to, download(device, source))


def runs(view: View) -> Iterator[tuple[int, int, int]]:
    """The pieces of an array without gaps: (offset in the array's memory, position in packed bytes, bytes)."""
    if 0 in view.shape:
        return
    itemsize = view.element.size
    packed = contiguous_strides(view.shape, itemsize)
    axis = len(view.shape)
    while axis > 0 and (view.shape[axis - 1] == 1 or view.strides[axis - 1] == packed[axis - 1]):
        axis -= 1  # axes from here on lie side by side
    size = packed[axis - 1] if axis else packed[0] * view.shape[0]
    offsets = [0]
    for extent, stride in zip(view.shape[:axis], view.strides[:axis]):
        offsets = [offset + i * stride for offset in offsets for i in range(extent)]
    for number, offset in enumerate(offsets):
        yield offset, number * size, size


def _address(view: memoryview) -> tuple[int, object]:
    """Address of a host buffer, and what keeps it there."""
    if view.nbytes == 0:
        return 0, None
    if view.readonly:
        data = view.obj if isinstance(view.obj, bytes) and len(view.obj) == view.nbytes else bytes(view)
        return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0, data
    buffer = (ctypes.c_char * view.nbytes).from_buffer(view)
    return ctypes.addressof(buffer), buffer
