"""Tables of constants in the kernel language: `TABLE = kb.constant([…], dtype=…)` before the functions."""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator

from kbuild.ir.nodes import Const, Table
from kbuild.ir.python_numbers import number
from kbuild.ir.python_types import TypeNames, call, kb
from kbuild.ir.types import Constant, Matrix, Scalar, Struct, Type, Vector, element_of


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
        kind = type.element
        elements = (_element(kind, table.data, offset) for offset in range(0, len(table.data), kind.size))
        return call(kb("constant"), _nested(type.shape, elements), dtype=self.types(kind))


def _element(type: Type, data: bytes, offset: int) -> ast.expr:
    """A number, the numbers of a vector or matrix as lists, or the fields of a struct as a dictionary."""
    if isinstance(type, Struct):
        names: list[ast.expr | None] = [ast.Constant(field.name) for field in type.fields]
        return ast.Dict(names, [_element(field.type, data, offset + field.offset) for field in type.fields])
    scalar = element_of(type)
    assert isinstance(scalar, Scalar)
    found = struct.unpack_from(f"<{type.size // scalar.size}{scalar.code}", data, offset)
    return _nested(_parts(type), (number(Const(one, scalar)) for one in found))


def _parts(type: Type) -> tuple[int, ...]:
    if isinstance(type, Vector):
        return (type.length,)
    return (type.rows, type.columns) if isinstance(type, Matrix) else ()


def _nested(axes: tuple[int, ...], items: Iterator[ast.expr]) -> ast.expr:
    if not axes:
        return next(items)
    return ast.List([_nested(axes[1:], items) for _ in range(axes[0])], ast.Load())
