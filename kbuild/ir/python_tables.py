"""Tables of constants in the kernel language: `TABLE = kb.constant([…], dtype=…)` before the functions."""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator

from kbuild.ir.nodes import Const, Table
from kbuild.ir.python_numbers import number
from kbuild.ir.python_types import TypeNames, call, kb
from kbuild.ir.types import Constant, Matrix, Scalar, Type, Vector, element_of


class Tables:
    """Names of tables in a module; `declarations` holds the statements that make them, in the order of first use."""

    def __init__(self, types: TypeNames) -> None:
        self.types = types
        self.declarations: list[ast.stmt] = []
        self._known: dict[tuple[Type, bytes], str] = {}

    def __call__(self, table: Table) -> ast.expr:
        """The name of a table."""
        key = table.type, table.data
        if key not in self._known:
            self._known[key] = name = self.types.names.fresh(table.name)
            self.declarations.append(ast.Assign([ast.Name(name, ast.Store())], self._made(table)))
        return ast.Name(self._known[key], ast.Load())

    def _made(self, table: Table) -> ast.expr:
        type = table.type
        assert isinstance(type, Constant)
        scalar = element_of(type.element)
        assert isinstance(scalar, Scalar)
        numbers = (number for (number,) in struct.iter_unpack(f"<{scalar.code}", table.data))
        axes = (*type.shape, *_parts(type.element))
        return call(kb("constant"), _nested(axes, numbers, scalar), dtype=self.types(type.element))


def _parts(type: Type) -> tuple[int, ...]:
    if isinstance(type, Vector):
        return (type.length,)
    return (type.rows, type.columns) if isinstance(type, Matrix) else ()


def _nested(axes: tuple[int, ...], numbers: Iterator[bool | int | float], scalar: Scalar) -> ast.expr:
    if not axes:
        return number(Const(next(numbers), scalar))
    return ast.List([_nested(axes[1:], numbers, scalar) for _ in range(axes[0])], ast.Load())
