"""`wp.indexedarray`: annotations, and arrays seen through index arrays. They are no `wp.array`."""

from __future__ import annotations

from kbuild.loader import indexed, layout

from .arrays import Annotation, subscripted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class IndexedAnnotation(Annotation, layout.IndexedAnnotation):
    """`wp.indexedarray(dtype=T, ndim=n)` in a signature."""


_indexedarray: Any = indexed.indexedarray


class _IndexedType(type):
    """Every indexedarray of kbuild's is a `wp.indexedarray`, and so is the annotation, as in Warp."""

    _ndim: int | None

    def __instancecheck__(cls, value: object) -> bool:
        if not isinstance(value, (indexed.indexedarray, layout.IndexedAnnotation)):
            return False
        return cls._ndim is None or value.ndim == cls._ndim

    def __call__(cls, data: Any = None, indices: Any = None, dtype: Any = None, ndim: int | None = None) -> Any:
        """The annotation, or the array. Raises TypeError, ValueError."""
        ndim = ndim or cls._ndim
        if data is None and indices is None:
            return IndexedAnnotation(dtype, ndim or 1)
        return _indexedarray(data, indices, dtype, ndim)

    def __getitem__(cls, dtype: Any) -> IndexedAnnotation:
        return IndexedAnnotation(*subscripted(dtype, cls._ndim))


class indexedarray(metaclass=_IndexedType):
    """`wp.indexedarray(dtype=T, ndim=n)` and `wp.indexedarray[T]` are annotations; else see `kb.indexedarray`."""

    _kb_array_ = True
    _ndim: int | None = None


class indexedarray1d(indexedarray):
    """`indexedarray` with one dimension."""

    _ndim = 1


class indexedarray2d(indexedarray):
    """`indexedarray` with two dimensions."""

    _ndim = 2


class indexedarray3d(indexedarray):
    """`indexedarray` with three dimensions."""

    _ndim = 3


class indexedarray4d(indexedarray):
    """`indexedarray` with four dimensions."""

    _ndim = 4
