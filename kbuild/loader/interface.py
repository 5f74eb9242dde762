"""Device memory of other libraries: `__cuda_array_interface__` (version 3), read; describing.py writes it.

A foreign array of numbers stands for an array of vectors or matrices too, when its last axes are their components and
lie side by side: float32 of shape (n, 3) for array1[vec3[float32]].
"""

from __future__ import annotations

import struct
import sys
from operator import index

from . import abi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LETTERS = {"bool": "b", "int": "i", "uint": "u", "float": "f"}
TYPESTR = {s: ("|" if s.size == 1 else "<") + _LETTERS[s.kind] + str(s.size) for s in abi.SCALARS.values()}
SCALAR_OF = {text: scalar for scalar, text in TYPESTR.items()}


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


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Row-major strides in bytes."""
    strides: list[int] = []
    for extent in reversed(shape):
        strides.append(itemsize)
        itemsize *= max(extent, 1)
    return tuple(reversed(strides))


def read(described: dict[str, Any], element: abi.Type, ndim: int | None = None) -> View:
    """The foreign array as an array of `element`. Raises Mismatch, which says what the array is."""
    try:
        return _read(described, element, ndim)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Mismatch("a foreign array whose __cuda_array_interface__ is malformed: %r" % error) from None


def _read(described: dict[str, Any], element: abi.Type, ndim: int | None) -> View:
    shape = tuple(map(index, described["shape"]))
    name = SCALAR_OF.get(described["typestr"], described["typestr"])
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


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch's."""
    base = getattr(sys.modules.get("torch"), "Tensor", None)
    return isinstance(base, type) and isinstance(value, base)


def is_jax(value: Any) -> bool:
    """Whether a value is an array of JAX's, which never change."""
    return type(value).__module__.partition(".")[0] in ("jax", "jaxlib")
