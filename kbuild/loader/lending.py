"""Other libraries' arrays as arguments of a launch on a GPU: what `pack.Packing` asks where one is none of ours.

The order is that of `foreign.asarray`. What a library's work on its array stands on is added to the packing's streams,
which the launch waits for.
"""

from __future__ import annotations

from . import abi, interface
from .errors import describe
from .pack import Packing, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def add(packing: Packing, type: abi.Array, value: Any, path: str) -> None:
    """Adds another library's array to a packing. Raises Refused."""
    if isinstance(type, abi.IndexedArray):
        raise Refused(path, "wanted %s, got %s%s" % (type, describe(value), _hint(type, value)))
    if interface.is_tensor(value):
        _add_tensor(packing, type, value, path)
        return
    described = None if interface.is_jax(value) else _interface_of(value, path)
    if described is not None:
        _add_described(packing, type, value, path, described, None)
    elif not _add_lent(packing, type, value, path):
        raise Refused(path, "wanted %s, got %s%s" % (type, describe(value), _hint(type, value)))


def _add_described(packing: Packing, type: abi.Array, value: Any, path: str, described: Any, place: Any) -> None:
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


def _add_tensor(packing: Packing, type: abi.Array, tensor: Any, path: str) -> None:
    from . import frameworks

    try:
        place, described = frameworks.place_of(tensor), frameworks.described(tensor)
    except interface.Mismatch as error:
        raise Refused(path, "wanted %s, got %s" % (type, error)) from None
    if place.kind != "cuda":
        raise Refused(path, "wanted %s, got %s%s" % (type, describe(tensor), IN_HOST_MEMORY))
    _add_described(packing, type, tensor, path, described, place)
    packing.tensors.append(tensor)


def _add_lent(packing: Packing, type: abi.Array, value: Any, path: str) -> bool:
    """An array by DLPack; False where the value has none, or is on the host."""
    from . import current, dlpack

    if not dlpack.is_lender(value):
        return False
    try:
        place = dlpack.place_of(value)
        if place.kind != "cuda":
            return False
        made = dlpack.from_dlpack(value, type.element)
    except (TypeError, BufferError) as error:
        raise Refused(path, "wanted %s, got %s: %s" % (type, describe(value), error)) from None
    if made.ndim != type.ndim:
        raise Refused(path, "wanted %s, got an array of shape %r" % (type, made.shape))
    packing.values.append(made._descriptor)
    packing.owners.append(made._owner)
    packing.places.append((path, place))
    packing.streams.add(current.handle(place))  # which the library has let wait
    return True


def _interface_of(value: Any, path: str) -> Any:
    """What another library says about its array; asked once, since answering may take 10 µs."""
    try:
        return getattr(value, "__cuda_array_interface__", None)
    except MemoryError:
        raise
    except Exception as error:
        raise Refused(path, "%s refuses to lend its memory: %s" % (type(value).__name__, error)) from None


IN_HOST_MEMORY = " in host memory: copy it to the GPU with kb.array(…) first"


def _hint(type: abi.Array, value: object) -> str:
    own = getattr(value, "_type", None)
    if isinstance(type, abi.IndexedArray) and not isinstance(own, abi.IndexedArray):
        return ": make it one with kb.indexedarray(data, indices)"
    if isinstance(own, abi.IndexedArray) and not isinstance(type, abi.IndexedArray):
        return ": pass its contiguous(), or annotate the parameter with kb.indexedarray"
    is_on_host = hasattr(value, "__array_interface__") or isinstance(value, (list, bytes, bytearray, memoryview))
    return IN_HOST_MEMORY if is_on_host or hasattr(value.__class__, "__dlpack__") else ""


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
