"""What all arrays of one element type, number of axes and device have in common: found once, and kept by the device.

And how the elements of those lie that have no gaps.
"""

from __future__ import annotations

from struct import Struct

from . import abi
from .interface import View, contiguous_strides
from .layout import abi_type
from .pack import array_key
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PACKERS = [Struct("<Q%di" % (2 * ndim)).pack for ndim in range(abi.MAX_ARRAY_DIMENSIONS + 1)]


class Kind:
    """`type`: the arrays' layout; `dtype`: the host class of an element; `key`: see `pack.array_key`.

    `pack(address, *shape, *strides)` is the descriptor of one that fits.
    """

    __slots__ = ("dtype", "element", "is_lasting", "key", "pack", "type")

    def __init__(self, element: abi.Type, ndim: int, dtype: Any, device: Any) -> None:
        host_class = class_of(element)  # `float` becomes float32; a struct has none but the class that was given
        # Two structs of one name may differ, and a program makes as many of them as it likes.
        self.is_lasting = not isinstance(host_class, abi.Type)
        self.dtype = host_class if self.is_lasting else dtype
        self.element, self.type = element, abi.Array(element, ndim)
        self.key = array_key(self.type, device)
        self.pack = _PACKERS[ndim]


def of(dtype: Any, ndim: int, device: Any) -> Kind:
    """The kind of the arrays whose elements are what `dtype` stands for. Raises TypeError."""
    try:
        return device.kinds[dtype, ndim]  # type: ignore[no-any-return]
    except (KeyError, TypeError):  # the latter where something without a hash was given for a type
        pass
    made = of_element(abi_type(dtype), ndim, dtype, device)
    if made.is_lasting:
        device.kinds[dtype, ndim] = made
    return made


def of_element(element: abi.Type, ndim: int, dtype: Any, device: Any) -> Kind:
    """The kind of the arrays of `element`; `dtype` is its host class where only the program knows that."""
    found: Kind | None = device.kinds.get((ndim, element.spelling))
    if found is None:
        found = Kind(element, ndim, dtype, device)
        if found.is_lasting:
            device.kinds[ndim, element.spelling] = found
    return found


def count(shape: tuple[int, ...] | list[int]) -> int:
    """Number of elements of a shape."""
    product = 1
    for extent in shape:
        product *= extent
    return product


def packed(shape: tuple[int, ...], itemsize: int) -> tuple[tuple[int, ...], int]:
    """`contiguous_strides`, and the bytes of all elements together."""
    if len(shape) == 1:
        return (itemsize,), itemsize * shape[0]
    strides, size = [], itemsize
    for extent in shape[::-1]:
        strides.append(size)
        size *= extent or 1
    return tuple(strides[::-1]), 0 if 0 in shape else size


def is_contiguous(view: View) -> bool:
    """Whether the elements lie side by side in row-major order."""
    wanted = contiguous_strides(view.shape, view.element.size)
    return 0 in view.shape or all(n == 1 or s == w for n, s, w in zip(view.shape, view.strides, wanted))
