"""Warp's devices: the GPUs, and `cpu`, on which arrays live and no kernel runs.

The device that is meant where none is named is the first GPU; where there is none it is `cpu`, so that programs run
until they launch something.
"""

from __future__ import annotations

from kbuild.loader import context, current, hosts, peers
from kbuild.loader.errors import DriverError

from .absent import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _AnyDevice(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (context.Device, hosts.HostDevice))


class Device(metaclass=_AnyDevice):
    """What every device is an instance of, GPUs and the host."""


def default(device: Any = None) -> Any:
    """What a name stands for, with Warp's meaning of None."""
    if device is None and context.chosen() == 0 and not hosts.get_devices():
        return hosts.HOSTS["cpu"]
    return device


def get_device(ident: Any = None) -> Any:
    """The device that a name stands for; without one that of `ScopedDevice` or `set_device`, else the first GPU."""
    return context.get_device(default(ident))


def set_device(ident: Any) -> None:
    """Makes a device the one that is meant where none is named."""
    current.set_device(get_device(ident))


class ScopedDevice(current.ScopedDevice):
    """`with wp.ScopedDevice("cuda:1"):` makes a device the one that is meant where none is named."""

    def __init__(self, device: Any) -> None:
        super().__init__(default(device))


def get_devices() -> list[Any]:
    """The host, then the GPUs."""
    return [hosts.HOSTS["cpu"], *hosts.get_devices()]


def get_preferred_device() -> Any:
    """The first GPU, or the host where there is none."""
    return next(iter(hosts.get_devices()), hosts.HOSTS["cpu"])


def get_cuda_device(ordinal: Any = None) -> Any:
    """A GPU by its number; without one, the GPU that is meant where none is named."""
    return context.get_device("cuda" if ordinal is None else ordinal)


def get_cuda_device_count() -> int:
    """How many GPUs there are."""
    return len(hosts.get_devices())


def is_cuda_available() -> bool:
    """There is a GPU and its driver."""
    return bool(hosts.get_devices())


def is_cpu_available() -> bool:
    """kbuild runs kernels on GPUs."""
    return False


def is_cubql_available() -> bool:
    """Part of Warp's own build."""
    return False


def is_device_available(device: Any) -> bool:
    """The device is one of `get_devices()`."""
    return any(device == one for one in get_devices())


def get_cuda_driver_version() -> tuple[int, int] | None:
    """The newest CUDA that the driver takes; None without a driver."""
    from kbuild.loader import driver

    try:
        return driver.get().version
    except DriverError:
        return None


def get_cuda_toolkit_version() -> None:
    """There is no compiler on the machine that launches."""


def get_cuda_supported_archs() -> list[int]:
    """None: nothing is compiled here."""
    return []


def synchronize() -> None:
    """Waits for every GPU that this program uses."""
    from kbuild.loader import timers

    timers.synchronize_all()


def synchronize_device(device: Any = None) -> None:
    """Waits for a device."""
    context.synchronize(get_device(device))


# One GPU's memory for another's kernels


def can_access(device: Any, resource: Any) -> bool:
    """Whether kernels on a device can use an array. Raises TypeError for what is none."""
    if not hasattr(resource, "_kb_array_") or not hasattr(resource, "device"):
        raise TypeError("wp.can_access wants an array, not %r" % (resource,))
    place = get_device(device)
    if place is resource.device or (place.is_cpu and resource.device.is_cpu):
        return True
    if place.is_cuda and resource.device.is_cuda:
        return peers.is_open(resource.device, place)
    return False


def is_peer_access_supported(target_device: Any, peer_device: Any) -> bool:
    """Whether kernels of `peer_device` can be let at the memory of `target_device`."""
    return peers.can_access(get_device(peer_device), get_device(target_device))


def is_peer_access_enabled(target_device: Any, peer_device: Any) -> bool:
    """Whether `set_peer_access_enabled` has let them."""
    target, peer = get_device(target_device), get_device(peer_device)
    return bool(target.is_cuda and peer.is_cuda) and peers.is_open(target, peer)


def set_peer_access_enabled(target_device: Any, peer_device: Any, enable: bool) -> None:
    """Lets kernels of `peer_device` at the memory of `target_device`, that of its pool too, or not."""
    peers.set_peer_access(get_device(target_device), get_device(peer_device), enable)


class ScopedPeerAccess:
    """`set_peer_access_enabled` for a block."""

    def __init__(self, target_device: Any, peer_device: Any, enable: bool) -> None:
        self.target_device, self.peer_device = get_device(target_device), get_device(peer_device)
        self.enable = enable

    def __enter__(self) -> None:
        self.saved_setting = is_peer_access_enabled(self.target_device, self.peer_device)
        set_peer_access_enabled(self.target_device, self.peer_device, self.enable)

    def __exit__(self, *_: object) -> None:
        set_peer_access_enabled(self.target_device, self.peer_device, self.saved_setting)


def map_cuda_device(alias: str, context: Any = None) -> Any:
    """A context of the program's own as a device: kbuild knows primary contexts alone."""
    raise refusal("map_cuda_device(%r)" % alias, "devices over contexts that are not primary")


def unmap_cuda_device(alias: str) -> None:
    """See `map_cuda_device`."""
    raise refusal("unmap_cuda_device(%r)" % alias, "devices over contexts that are not primary")
