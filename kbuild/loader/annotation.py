"""`kb.array` as an annotation: `array(dtype=T, ndim=n)`; with stated extents, `array(dtype=T, shape=("n", 3))`."""

from __future__ import annotations

from .layout import ArrayAnnotation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_stated(shape: Any) -> bool:
    """With a name among its extents it is that of an annotation."""
    return isinstance(shape, str) or (isinstance(shape, tuple) and any(isinstance(one, str) for one in shape))


def annotation(cls: Any, dtype: Any, ndim: int | None, shape: Any) -> ArrayAnnotation:
    """The annotation that a call of `array`, or of a class like it, stands for. Raises TypeError."""
    if dtype is None:
        raise TypeError("%s needs data, or dtype=… as an annotation: %s(dtype=float)" % (cls.__name__, cls.__name__))
    if shape is None:
        return ArrayAnnotation(dtype, 1 if ndim is None else ndim)
    stated = (shape,) if isinstance(shape, str) else shape
    if ndim is not None and ndim != len(stated):
        raise TypeError("%s has %d dimensions, and shape states %d" % (cls.__name__, ndim, len(stated)))
    return ArrayAnnotation(dtype, len(stated), stated)
