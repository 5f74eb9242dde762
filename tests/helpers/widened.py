"""A kernel in which every floating-point number is a float64: for differences, where types are fixed."""

from __future__ import annotations

import dataclasses
from typing import Any

from kbuild.ir.nodes import Kernel
from kbuild.ir.types import FLOAT64, Array, Matrix, Tuple, Type, Vector, is_float


def widened(kernel: Kernel) -> Kernel:
    """The kernel in double precision."""
    made = _Widened().of(kernel)
    assert isinstance(made, Kernel)
    return made


class _Widened:
    def __init__(self) -> None:
        self.known: dict[int, Any] = {}

    def of(self, one: Any) -> Any:
        """A node, symbol, function or type, or several; what is shared stays shared."""
        if isinstance(one, tuple):
            return tuple(map(self.of, one))
        if isinstance(one, Type):
            return _wide(one)
        if not dataclasses.is_dataclass(one) or isinstance(one, type):
            return one
        if id(one) not in self.known:
            parts = {field.name: self.of(getattr(one, field.name)) for field in dataclasses.fields(one)}
            self.known[id(one)] = dataclasses.replace(one, **parts)
        return self.known[id(one)]


def _wide(type: Type) -> Type:
    wide: Any = _wide  # a scalar of a scalar
    match type:
        case Vector(length=length, element=element, kind=kind):
            return Vector(length, wide(element), kind)
        case Matrix(rows=rows, columns=columns, element=element):
            return Matrix(rows, columns, wide(element))
        case Array(element=element, ndim=ndim):
            return Array(_wide(element), ndim)
        case Tuple(items=items):
            return Tuple(tuple(map(_wide, items)))
    return FLOAT64 if is_float(type) else type
