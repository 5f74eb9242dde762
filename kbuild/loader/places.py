"""Which GPU an address is on, and where a launch's arrays are, if they are not all kbuild's own on one GPU."""

from __future__ import annotations

from ctypes import byref, c_int

from . import context, driver
from .errors import DriverError, LaunchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .pack import Packing

_POINTER_DEVICE_ORDINAL = 9  # CUpointer_attribute


def device_at(ptr: int) -> context.Device:
    """The device that an address belongs to. Raises DriverError when it is no device memory."""
    ordinal = c_int()
    cuda = driver.get()
    with context.devices()[0].current():
        cuda.call("cuPointerGetAttribute", byref(ordinal), _POINTER_DEVICE_ORDINAL, ptr, about="address 0x%x" % ptr)
    return context.devices()[ordinal.value]


def device_of(name: str, packing: Packing, wanted: Any) -> Any:
    """The device of a launch of the kernel `name`: the one asked for, which must be the arrays' own. LaunchError."""
    places = packing.places + [(path, _owner(name, path, ptr)) for path, ptr in packing.addresses]
    reason = "the launch"
    if wanted is None and places:
        reason, wanted = "parameter %s" % places[0][0], places[0][1]
    found = context.get_device(wanted)
    for path, device in places:
        if device is not found and not _is_open(device, found):
            message = "%s: parameter %s: the array is on %s, but %s is on %s"
            raise LaunchError(message % (name, path, device, reason, found))
    return found


def _is_open(device: Any, peer: Any) -> bool:
    """Whether kernels of a GPU have been let at another one's memory."""
    from . import peers

    return device.kind == "cuda" and peers.is_open(device, peer)


def _owner(name: str, path: str, ptr: int) -> context.Device:
    """The device of a foreign array's memory."""
    try:
        return device_at(ptr)
    except DriverError as error:
        if error.call != "cuPointerGetAttribute" or error.code != 1:
            raise
    message = "%s: parameter %s: there is no GPU memory at 0x%x: it is host memory, or was freed"
    raise LaunchError(message % (name, path, ptr))
