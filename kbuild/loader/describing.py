"""What arrays say of themselves to other libraries: `__cuda_array_interface__` (version 3), written."""

from __future__ import annotations

from .interface import SCALAR_OF, Mismatch, View, contiguous_strides, inner_shape, scalar_of, typestr_of
from .kinds import is_contiguous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import abi


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
