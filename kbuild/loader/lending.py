"""Other libraries' arrays as arguments of a launch on a GPU: what `pack.Packing` asks where one is none of ours.

The order is that of `foreign.asarray`. What a library's work on its array stands on is added to the packing's streams,
which the launch waits for.
"""

from __future__ import annotations

from . import abi, interface
from .pack import Packing, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def add(packing: Packing, type: abi.Array, value: Any, path: str) -> None:
    """Adds another library's array to a packing. Raises Refused."""
    is_asked = not (isinstance(type, abi.IndexedArray) or interface.is_tensor(value) or interface.is_jax(value))
    described = _interface_of(value, path) if is_asked else None
    if described is not None:
        add_described(packing, type, value, path, described, None)
        return
    from . import lent_tensors

    lent_tensors.add(packing, type, value, path)


def add_described(packing: Packing, type: abi.Array, value: Any, path: str, described: Any, place: Any) -> None:
    """The array as its interface describes it, on a device where that is known. Raises Refused."""
    try:
        view = interface.read(described, type.element, type.ndim)
        packing.values.append(view.descriptor())
    except interface.Mismatch as error:
        raise Refused(path, "wanted %s, got %s" % (type, error)) from None
    packing.owners.append(value)
    if place is not None:
        packing.places.append((path, place))
    elif view.ptr:
        packing.addresses.append((path, view.ptr))
    if view.stream is not None:
        packing.streams.add(view.stream)


def _interface_of(value: Any, path: str) -> Any:
    """What another library says about its array; asked once, since answering may take 10 µs."""
    try:
        return getattr(value, "__cuda_array_interface__", None)
    except MemoryError:
        raise
    except Exception as error:
        raise Refused(path, "%s refuses to lend its memory: %s" % (type(value).__name__, error)) from None


def follow(gpu: Any, stream: Any, handle: int, packing: Packing) -> tuple[Any, int]:
    """(stream, handle) of a launch with these arguments, which waits for what their libraries are still doing."""
    if packing.tensors:
        from . import frameworks

        stream, handle = frameworks.follow(gpu.ordinal, stream, handle, packing.streams, packing.tensors)
    for producer in packing.streams:
        if max(producer, 1) != max(handle, 1):  # 0 and 1 both mean the default stream
            from . import waits

            waits.wait_unless_captured(gpu, producer, handle)
    return stream, handle
