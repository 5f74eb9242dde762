"""Warp's memory pools, over kbuild's: there is one a GPU, and arrays come from it where the driver has pools.

It is always in use: to switch it off or on means nothing.
"""

from __future__ import annotations

from kbuild.loader import peers
from kbuild.loader.memory import books, pools

from .devices import get_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_mempool_supported(device: Any) -> bool:
    """Whether a device has memory pools."""
    return bool(get_device(device).is_mempool_supported)


def is_mempool_enabled(device: Any) -> bool:
    """Whether the arrays of a device come from a pool: they do where there is one."""
    return is_mempool_supported(device)


def set_mempool_enabled(device: Any, enable: bool) -> None:
    """Means nothing here. Raises RuntimeError for a pool that there is not, as Warp does."""
    if enable:
        _pool(device)


class ScopedMempool:
    """`set_mempool_enabled` for a block: means nothing here."""

    def __init__(self, device: Any, enable: bool) -> None:
        self.device, self.enable = get_device(device), enable

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def _pool(device: Any) -> pools.Pool:
    """A device's pool. Raises RuntimeError, and ValueError for what is no GPU, as Warp does."""
    place = get_device(device)
    if place.kind != "cuda":
        raise ValueError("memory pools belong to GPUs, and %s is none" % place)
    pool = pools.of(place)
    if pool is None:
        raise RuntimeError("%s (%s) has no memory pools" % (place, place.name))
    return pool


def set_mempool_release_threshold(device: Any, threshold: float) -> None:
    """What the pool keeps when the GPU is waited for: bytes, or a part of the GPU's memory from 0 to 1."""
    if threshold < 0:
        raise ValueError("a threshold is a number of bytes, or a part from 0 to 1, not %r" % (threshold,))
    pool = _pool(device)
    pool.set_limit(int(threshold * pool.place.total_memory if threshold <= 1 else threshold))


def get_mempool_release_threshold(device: Any = None) -> int:
    """What the pool keeps when the GPU is waited for, in bytes."""
    return _pool(device).limit


def get_mempool_used_mem_current(device: Any = None) -> int:
    """Bytes of the pool that arrays hold."""
    return _pool(device).used


def get_mempool_used_mem_high(device: Any = None) -> int:
    """The most bytes of the pool that arrays have held at a time."""
    return _pool(device).used_high


def is_mempool_access_supported(target_device: Any, peer_device: Any) -> bool:
    """Whether kernels of `peer_device` can be let at the pool of `target_device`."""
    target, peer = get_device(target_device), get_device(peer_device)
    return bool(target.is_mempool_supported) and peers.can_access(peer, target)


def is_mempool_access_enabled(target_device: Any, peer_device: Any) -> bool:
    """Whether they have been let. The pool and other memory go together here."""
    target, peer = get_device(target_device), get_device(peer_device)
    return bool(target.is_cuda and peer.is_cuda) and peers.is_open(target, peer)


def set_mempool_access_enabled(target_device: Any, peer_device: Any, enable: bool) -> None:
    """Lets kernels of `peer_device` at the memory of `target_device`, its pool and all other, or not."""
    peers.set_peer_access(get_device(target_device), get_device(peer_device), enable)


class ScopedMempoolAccess:
    """`set_mempool_access_enabled` for a block."""

    def __init__(self, target_device: Any, peer_device: Any, enable: bool) -> None:
        self.target_device, self.peer_device = get_device(target_device), get_device(peer_device)
        self.enable = enable

    def __enter__(self) -> None:
        self.saved_setting = is_mempool_access_enabled(self.target_device, self.peer_device)
        set_mempool_access_enabled(self.target_device, self.peer_device, self.enable)

    def __exit__(self, *_: object) -> None:
        set_mempool_access_enabled(self.target_device, self.peer_device, self.saved_setting)


def print_memory_report(file: Any = None, sort: str = "size", max_items: int = 10) -> None:
    """Prints what arrays hold on each device in use, and who asked for it: the largest first."""
    from .devices import get_devices

    for place in get_devices():
        report = books.memory_report(place)
        if report.in_use or report.peak:
            print(report, file=file)
