"""PyTorch's tensors, and arrays that libraries lend by DLPack, as arguments of a launch on a GPU; and what is no array.

`lending.add` asks here where an argument does not describe itself as CuPy's arrays do.
"""

from __future__ import annotations

from . import abi, interface
from .errors import describe
from .lending import add_described
from .pack import Packing, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def add(packing: Packing, type: abi.Array, value: Any, path: str) -> None:
    """Adds the array to a packing. Raises Refused."""
    if not isinstance(type, abi.IndexedArray):
        if interface.is_tensor(value):
            _add_tensor(packing, type, value, path)
            return
        if _add_lent(packing, type, value, path):
            return
    raise Refused(path, "wanted %s, got %s%s" % (type, describe(value), _hint(type, value)))


def _add_tensor(packing: Packing, type: abi.Array, tensor: Any, path: str) -> None:
    from . import frameworks

    try:
        place, described = frameworks.place_of(tensor), frameworks.described(tensor)
    except interface.Mismatch as error:
        raise Refused(path, "wanted %s, got %s" % (type, error)) from None
    if place.kind != "cuda":
        raise Refused(path, "wanted %s, got %s%s" % (type, describe(tensor), IN_HOST_MEMORY))
    add_described(packing, type, tensor, path, described, place)
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


IN_HOST_MEMORY = " in host memory: copy it to the GPU with kb.array(…) first"


def _hint(type: abi.Array, value: object) -> str:
    own = getattr(value, "_type", None)
    if isinstance(type, abi.IndexedArray) and not isinstance(own, abi.IndexedArray):
        return ": make it one with kb.indexedarray(data, indices)"
    if isinstance(own, abi.IndexedArray) and not isinstance(type, abi.IndexedArray):
        return ": pass its contiguous(), or annotate the parameter with kb.indexedarray"
    is_on_host = hasattr(value, "__array_interface__") or isinstance(value, (list, bytes, bytearray, memoryview))
    return IN_HOST_MEMORY if is_on_host or hasattr(value.__class__, "__dlpack__") else ""
