"""Memory of one GPU that kernels of another one read and write, over the link between them.

kb.set_peer_access("cuda:0", "cuda:1")      kernels of cuda:1 may use arrays of cuda:0
"""

from __future__ import annotations

from ctypes import c_int

from . import context, driver, naming
from .errors import DriverError
from .memory import pools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("can_access", "set_peer_access")

_ENABLED_ALREADY, _NOT_ENABLED = 704, 705
_open: set[tuple[int, int]] = set()  # (whose memory, who may use it), by ordinal


def can_access(device: Any, peer: Any) -> bool:
    """Whether kernels of the GPU `device` can be let at memory of the GPU `peer`. Raises DriverError."""
    place, other = context.get_device(device), context.get_device(peer)
    if place is other:
        return True
    if place.kind != "cuda" or other.kind != "cuda":
        return False
    answer = c_int()
    driver.get().call("cuDeviceCanAccessPeer", answer, place.handle, other.handle, about="%s and %s" % (place, other))
    return answer.value != 0


def set_peer_access(device: Any, peer: Any, enabled: bool = True) -> None:
    """Lets kernels of the GPU `peer` read and write arrays of the GPU `device`, those of its pool too; or not.

    A launch on `peer` takes such arrays from then on. Raises DriverError where the two GPUs have no way to each other.
    """
    place, other = naming.gpu(device), naming.gpu(peer)
    if place is other:
        return
    if not can_access(other, place):
        if not enabled:
            return
        raise DriverError(
            "%s cannot reach memory of %s: there is no direct way between the two\n"
            "  help: copy arrays from one to the other with kb.copy" % (other, place),
            code=217,
        )
    _set(place, other, enabled)
    pool = pools.of(place)
    if pool is not None:
        pool.open_to(other, enabled)
    (_open.add if enabled else _open.discard)((place.ordinal, other.ordinal))


def _set(place: context.Device, other: context.Device, enabled: bool) -> None:
    """For memory outside the pool. The program or another library may have done the same before."""
    cuda = driver.get()
    with other.current():
        if enabled:
            name, fine = "cuCtxEnablePeerAccess", _ENABLED_ALREADY
            status = cuda.ask(name, place.context, 0)
        else:
            name, fine = "cuCtxDisablePeerAccess", _NOT_ENABLED
            status = cuda.ask(name, place.context)
        if status not in (0, fine):
            raise cuda.error(name, status, "%s to memory of %s" % (other, place))


def is_open(device: Any, peer: Any) -> bool:
    """Whether `set_peer_access` lets kernels of `peer` at memory of `device`."""
    place, other = context.get_device(device), context.get_device(peer)
    return place is other or (place.ordinal, other.ordinal) in _open


driver.on_fork(_open.clear)
