"""What an array says of itself to other libraries, and the strides of one whose elements lie side by side."""

from __future__ import annotations

from .interface import SCALAR_OF, Mismatch, View, contiguous_strides, inner_shape, scalar_of, typestr_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import abi


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


def element_of(described: dict[str, Any]) -> abi.Scalar:
    """The type of a foreign array's numbers. Raises Mismatch."""
    typestr = described.get("typestr") if isinstance(described, dict) else described
    scalar = SCALAR_OF.get(typestr) if isinstance(typestr, str) else None
    if scalar is None:
        raise Mismatch("a foreign array of type %r" % (typestr,))
    return scalar


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


def is_contiguous(view: View) -> bool:
    """Whether the elements lie side by side in row-major order."""
    wanted = contiguous_strides(view.shape, view.element.size)
    return 0 in view.shape or all(n == 1 or s == w for n, s, w in zip(view.shape, view.strides, wanted))
