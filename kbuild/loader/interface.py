"""Device memory of other libraries: `__cuda_array_interface__` (version 3), read and written.

A foreign array of numbers stands for an array of vectors or matrices too, when its last axes are their components and
lie side by side: float32 of shape (n, 3) for array1[vec3[float32]].
"""

from __future__ import annotations

import struct
from operator import index

from . import abi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LETTERS = {"bool": "b", "int": "i", "uint": "u", "float": "f"}
TYPESTR = {s: ("|" if s.size == 1 else "<") + _LETTERS[s.kind] + str(s.size) for s in abi.SCALARS.values()}
_SCALAR_OF = {text: scalar for scalar, text in TYPESTR.items()}


class Mismatch(Exception):
    """A foreign array that does not fit; says what it is."""


class View:
    """An array in device memory: address, shape, strides in bytes, and the stream it is being written on, if any."""

    __slots__ = ("element", "ptr", "readonly", "shape", "stream", "strides")

    def __init__(self, ptr: int, shape: tuple[int, ...], strides: tuple[int, ...], element: abi.Type) -> None:
        self.ptr, self.shape, self.strides, self.element = ptr, shape, strides, element
        self.readonly, self.stream = False, None

    readonly: bool
    stream: int | None

    def check_address(self) -> None:
        """Raises Mismatch for an extent or an address that memory cannot have."""
        if any(extent < 0 for extent in self.shape):
            raise Mismatch("an array of the negative shape %r" % (self.shape,))
        if not 0 <= self.ptr < 1 << 64 or (self.ptr == 0 and 0 not in self.shape):
            raise Mismatch("an array of shape %r at address %#x" % (self.shape, self.ptr))

    def descriptor(self) -> bytes:
        """The array's descriptor in a parameter block. Raises Mismatch for what does not fit one."""
        for what, numbers in (("extent", self.shape), ("stride", self.strides)):
            for axis, number in enumerate(numbers):
                if not -(2**31) <= number < 2**31:
                    message = "an array whose %s along axis %d is %d: kernels address with 32-bit extents and strides"
                    raise Mismatch(message % (what, axis, number))
        align = self.element.align
        if self.ptr % align or any(s % align for s in self.strides):
            message = "an array at 0x%x with strides %r, which is not aligned to the %d bytes of %s"
            raise Mismatch(message % (self.ptr, self.strides, align, self.element))
        ndim = len(self.shape)
        return struct.pack("<Q%di" % (2 * ndim), self.ptr, *self.shape, *self.strides)


def inner_shape(element: abi.Type) -> tuple[int, ...]:
    """The axes that an element adds to an array of plain numbers."""
    if isinstance(element, abi.Vector):
        return (element.length,)
    if isinstance(element, abi.Matrix):
        return (element.rows, element.columns)
    return ()


def scalar_of(element: abi.Type) -> abi.Scalar | None:
    """The number that an element consists of; None for a struct."""
    if isinstance(element, abi.Scalar):
        return element
    return getattr(element, "element", None)


def typestr_of(element: abi.Type) -> str:
    """NumPy's spelling of the element, or of its numbers."""
    scalar = scalar_of(element)
    return TYPESTR[scalar] if scalar is not None else "|V%d" % element.size


def count(shape: tuple[int, ...] | list[int]) -> int:
    """Number of elements of a shape."""
    product = 1
    for extent in shape:
        product *= extent
    return product


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Row-major strides in bytes."""
    strides: list[int] = []
    for extent in reversed(shape):
        strides.append(itemsize)
        itemsize *= max(extent, 1)
    return tuple(reversed(strides))


def packed(shape: tuple[int, ...], itemsize: int) -> tuple[tuple[int, ...], int]:
    """`contiguous_strides`, and the bytes of all elements together."""
    if len(shape) == 1:
        return (itemsize,), itemsize * shape[0]
    strides, size = [], itemsize
    for extent in shape[::-1]:
        strides.append(size)
        size *= extent or 1
    return tuple(strides[::-1]), 0 if 0 in shape else size


def element_of(described: dict[str, Any]) -> abi.Scalar:
    """The type of a foreign array's numbers. Raises Mismatch."""
    typestr = described.get("typestr") if isinstance(described, dict) else described
    scalar = _SCALAR_OF.get(typestr) if isinstance(typestr, str) else None
    if scalar is None:
        raise Mismatch("a foreign array of type %r" % (typestr,))
    return scalar


def read(described: dict[str, Any], element: abi.Type, ndim: int | None = None) -> View:
    """The foreign array as an array of `element`. Raises Mismatch, which says what the array is."""
    try:
        return _read(described, element, ndim)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Mismatch("a foreign array whose __cuda_array_interface__ is malformed: %r" % error) from None


def _read(described: dict[str, Any], element: abi.Type, ndim: int | None) -> View:
    shape = tuple(map(index, described["shape"]))
    name = _SCALAR_OF.get(described["typestr"], described["typestr"])
    what = "a foreign %s array of shape %r" % (name, shape)
    scalar = scalar_of(element)
    itemsize = scalar.size if scalar is not None else element.size
    inner = inner_shape(element)
    outer = len(shape) - len(inner)
    if described["typestr"] != typestr_of(element) or outer < 1 or shape[outer:] != inner:
        raise Mismatch(what)
    if ndim is not None and outer != ndim:
        raise Mismatch(what)
    if described.get("mask") is not None:
        raise Mismatch(what + " with a mask")
    strides = described.get("strides")
    strides = contiguous_strides(shape, itemsize) if strides is None else tuple(map(index, strides))
    if len(strides) != len(shape):
        raise Mismatch("%s with %d strides" % (what, len(strides)))
    if strides[outer:] != contiguous_strides(inner, itemsize):
        raise Mismatch("%s whose components are not side by side (strides %r)" % (what, strides))
    view = View(index(described["data"][0] or 0), shape[:outer], strides[:outer], element)
    view.check_address()
    view.readonly, view.stream = bool(described["data"][1]), described.get("stream")
    if view.stream is not None and not 0 <= index(view.stream) < 1 << 64:
        raise Mismatch("%s being written on stream %r" % (what, view.stream))
    return view


def write(view: View, stream: int | None) -> dict[str, Any]:
    """The interface's dictionary for one of our arrays, which is used on a stream; 1 is the default stream there."""
    scalar = scalar_of(view.element)
    inner = inner_shape(view.element)
    strides = view.strides + contiguous_strides(inner, scalar.size if scalar is not None else 1)
    return {
        "shape": view.shape + inner,
        "strides": None if is_contiguous(view) else strides,
        "typestr": typestr_of(view.element),
        "data": (view.ptr, view.readonly),
        "version": 3,
        "stream": stream,
    }


def is_packed(descriptor: bytes, ndim: int, itemsize: int) -> bool:
    """`is_contiguous` of an array by its descriptor."""
    _, *numbers = struct.unpack_from("<Q%di" % (2 * ndim), descriptor)
    return _lies_side_by_side(tuple(numbers[:ndim]), tuple(numbers[ndim:]), itemsize)


def is_contiguous(view: View) -> bool:
    """Whether the elements lie side by side in row-major order."""
    return _lies_side_by_side(view.shape, view.strides, view.element.size)


def _lies_side_by_side(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    wanted = contiguous_strides(shape, itemsize)
    return 0 in shape or all(n == 1 or s == w for n, s, w in zip(shape, strides, wanted))
