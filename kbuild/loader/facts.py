"""What programs ask of a device besides its name and its memory, as Warp's devices answer it: `device.is_uva`.

Asked for by name when they are first used (`Device.__getattr__`): a launch needs none of them.
"""

from __future__ import annotations

from ctypes import c_size_t, create_string_buffer

from . import driver
from .errors import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FLAGS = {  # CUdevice_attribute
    "is_concurrent_managed_access_supported": 89,
    "is_cpu_gpu_atomic_supported": 86,
    "is_cpu_memory_access_from_gpu_supported": 88,
    "is_gpu_memory_access_from_cpu_supported": 101,
    "is_managed_memory_supported": 83,
    "is_mempool_enabled": 115,
    "is_mempool_supported": 115,
    "is_integrated": 18,
    "is_uva": 41,
}
_NUMBERS = {"sm_count": 16, "max_shared_memory_per_block": 97}
_ON_HOST = {
    "arch": 0,
    "free_memory": 0,
    "is_primary": False,
    "max_shared_memory_per_block": 0,
    "pci_bus_id": None,
    "sm_count": 0,
    "total_memory": 0,
    "uuid": None,
}


def of(device: Any, name: str) -> Any:
    """The answer. Raises AttributeError, DriverError."""
    if name in _ANSWERS:
        return _ANSWERS[name](device)
    if device.kind == "cuda":
        if name in _FLAGS:
            return bool(device.attribute(_FLAGS[name]))
        if name in _NUMBERS:
            return device.attribute(_NUMBERS[name])
        if name in _ON_GPU:
            return _ON_GPU[name](device)
    elif name in _FLAGS:
        return False
    elif name in _ON_HOST:
        return _ON_HOST[name]
    known = [*_ANSWERS, *_FLAGS, *_ON_HOST]
    raise AttributeError("the device %s has no attribute %r%s" % (device, name, did_you_mean(name, known)))


def _total(device: Any) -> int:
    size = c_size_t()
    driver.get().call("cuDeviceTotalMem_v2", size, device.handle, about=str(device))
    return size.value


def _free(device: Any) -> int:
    free, total = c_size_t(), c_size_t()
    with device.current():
        driver.get().call("cuMemGetInfo_v2", free, total, about=str(device))
    return free.value


def _uuid(device: Any) -> str:
    """As `nvidia-smi -L` writes it."""
    raw = create_string_buffer(16)
    driver.get().call("cuDeviceGetUuid_v2", raw, device.handle, about=str(device))
    text = raw.raw.hex()
    return "GPU-" + "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def _bus(device: Any) -> str:
    """Domain, bus and device in hexadecimal digits: `0000:3B:00`."""
    raw = create_string_buffer(20)
    driver.get().call("cuDeviceGetPCIBusId", raw, 20, device.handle, about=str(device))
    return raw.value.decode().partition(".")[0].upper()


def _stream(device: Any) -> Any:
    from . import current

    return current.get_stream(device)


def _null_stream(device: Any) -> Any:
    from . import streams

    return streams.default_stream(device)


def _can_access(device: Any) -> Any:
    from . import peers

    return lambda other: peers.can_access(device, other)


def _set_stream(device: Any) -> Any:
    from . import current, streams

    def set_stream(stream: Any, sync: bool = True) -> None:
        """Makes a stream the one that is meant on the device; with `sync` it waits for the one before."""
        if sync and stream is not None:
            before = current.get_stream(device)
            streams.stream_of(stream, device).wait_stream(before)
        current.set_stream(stream, device)

    return set_stream


_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "can_access": _can_access,
    "context_guard": lambda device: device.current(),
    "has_context": lambda device: device.kind == "cuda" and device._context.value != 0,
    "has_stream": lambda device: device.kind == "cuda",
    "is_capturing": lambda device: _stream(device).is_capturing,
    "is_ipc_supported": lambda device: False,
    "null_stream": _null_stream,
    "set_stream": _set_stream,
    "stream": _stream,
}
_ON_GPU: dict[str, Callable[[Any], Any]] = {
    "arch": lambda device: device.number,
    "free_memory": _free,
    "is_primary": lambda device: True,
    "pci_bus_id": _bus,
    "total_memory": _total,
    "uuid": _uuid,
}
