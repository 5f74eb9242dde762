"""The stream-ordered pool of a GPU: `cuMemAllocFromPoolAsync`, where the GPU has pools (an attribute says so).

The pool is kbuild's own, so that what it holds is known, and so that settings of PyTorch's or CuPy's never meet ours.
It keeps what is given back for the next array (`set_pool_limit`, `trim_memory`).
"""

from __future__ import annotations

from ctypes import Structure as _Structure
from ctypes import byref, c_int, c_size_t, c_ubyte, c_uint64, c_ushort, c_void_p, cast

from .. import context, driver, ordering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("set_pool_limit", "trim_memory")

_POOLS_SUPPORTED = 115  # CUdevice_attribute
_THRESHOLD, _RESERVED, _USED, _USED_HIGH = 4, 5, 7, 8  # CUmemPool_attribute
_UNLIMITED = 2**64 - 1


class _Location(_Structure):
    _fields_ = (("type", c_int), ("id", c_int))


class _Properties(_Structure):
    """The driver's CUmemPoolProps: pinned (ordinary) memory of a device, without handles for other processes."""

    _fields_ = (
        ("kind", c_int),
        ("handles", c_int),
        ("location", _Location),
        ("security", c_void_p),
        ("size", c_size_t),
        ("usage", c_ushort),
        ("reserved", c_ubyte * 54),
    )


class _Access(_Structure):
    """The driver's CUmemAccessDesc."""

    _fields_ = (("location", _Location), ("flags", c_int))


class Pool:
    """One pool; lives as long as the process."""

    def __init__(self, place: context.Device) -> None:
        self.place = place
        self.handle = c_uint64()  # the driver's, as it takes it soonest
        properties = _Properties(kind=1, location=_Location(1, place.handle))
        try:
            with place.current():
                call = driver.get().call
                call("cuMemPoolCreate", self.handle, cast(byref(properties), c_void_p), about=str(place))
                self._set(_THRESHOLD, _UNLIMITED)
        except BaseException:
            if self.handle:
                driver.get().ask("cuMemPoolDestroy", self.handle)
            raise

    def _set(self, attribute: int, value: int) -> None:
        number = c_uint64(value)
        driver.get().call("cuMemPoolSetAttribute", self.handle, attribute, cast(byref(number), c_void_p))

    def _get(self, attribute: int) -> int:
        number = c_uint64()
        with self.place.current():
            driver.get().call("cuMemPoolGetAttribute", self.handle, attribute, cast(byref(number), c_void_p))
        return number.value

    @property
    def reserved(self) -> int:
        """Bytes that the pool has taken from the GPU."""
        return self._get(_RESERVED)

    @property
    def used(self) -> int:
        """Bytes of these that arrays hold."""
        return self._get(_USED)

    @property
    def used_high(self) -> int:
        """The most bytes that arrays have held of it at a time."""
        return self._get(_USED_HIGH)

    @property
    def limit(self) -> int:
        """What the pool keeps at most when the GPU is waited for."""
        return self._get(_THRESHOLD)

    def set_limit(self, size: int) -> None:
        """What the pool keeps at most when the GPU is waited for."""
        with self.place.current():
            self._set(_THRESHOLD, size)

    def trim(self, keep: int) -> None:
        """Gives back what no array holds, but for `keep` bytes."""
        with self.place.current():
            driver.get().call("cuMemPoolTrimTo", self.handle, keep, about=str(self.place))

    def open_to(self, peer: context.Device, is_open: bool) -> None:
        """Lets kernels of another GPU read and write the pool's memory, or not."""
        access = _Access(_Location(1, peer.handle), 3 if is_open else 0)
        with self.place.current():
            driver.get().call("cuMemPoolSetAccess", self.handle, cast(byref(access), c_void_p), 1, about=str(peer))


_pools: dict[int, Pool] = {}  # by the GPU's ordinal


def of(place: context.Device) -> Pool | None:
    """A GPU's pool, made at the first call; None where the GPU has none."""
    found = _pools.get(place.ordinal)
    if found is None and place.attribute(_POOLS_SUPPORTED):
        with context.lock():
            found = _pools.get(place.ordinal)
            if found is None:
                with ordering.Relaxed():
                    found = _pools[place.ordinal] = Pool(place)
    return found


def set_pool_limit(size: int | None, device: Any = None) -> None:
    """How many bytes a GPU's pool keeps for later arrays when it is waited for; None: all. No effect without a pool."""
    pool = of(_gpu(device))
    if pool is not None:
        pool.set_limit(_UNLIMITED if size is None else size)


def trim_memory(keep: int = 0, device: Any = None) -> None:
    """Gives memory that no array holds back to the GPU, for other libraries and processes, but for `keep` bytes."""
    from . import allocation

    place = _gpu(device)
    allocation.reclaim(place, wait=True)
    pool = of(place)
    if pool is not None:
        context.synchronize(place)  # what was given back in the order of a stream is free when that has come so far
        pool.trim(keep)


def _gpu(device: Any) -> context.Device:
    from .. import naming  # no part of a start

    return naming.gpu(device)
