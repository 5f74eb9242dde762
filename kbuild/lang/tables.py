"""Tables of `kb.constant`: arrays that are part of the machine code.

An element at indices that are known while building is a constant like any other, and is not read from the table.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Sequence

from kbuild.errors import Diagnostic, Note, Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.traverse import root_of
from kbuild.ir.types import Constant, Scalar, Struct, Type, element_of
from kbuild.lang.context import Context
from kbuild.lang.operands import Operand
from kbuild.loader import constants

# CUDA keeps the constants of a module in one bank of this size, and loads each cubin as a module of its own.
LIMIT = 64 * 1024
ALIGN = 16


def captured(ctx: Context, table: constants.Constant, node: ast.expr) -> nodes.Table:
    """A table from outside the kernel, by the name that the kernel has for it."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else "table"
    return nodes.Table(name, table.data, Constant(table.type, table.shape), ctx.span(node))


def unviewed(array: Expr, indices: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
    """`TABLE[i][j]` as `TABLE[i, j]`; any other array as it is."""
    if not isinstance(array, nodes.View):
        return array, indices
    whole, before = unviewed(array.array, array.indices)
    return (whole, (*before, *indices)) if isinstance(whole, nodes.Table) else (array, indices)


def folded(value: Operand) -> Operand:
    """An element of a table at known indices as a constant; everything else as it is."""
    if not isinstance(value, nodes.Index) or not isinstance(value.array, nodes.Table):
        return value
    table, type = value.array, value.array.type
    assert isinstance(type, Constant)
    position = 0
    for index, extent in zip(value.indices, type.shape, strict=True):
        if not isinstance(index, Const):
            return value
        position = position * extent + int(index.value)
    return _known(type.element, table.data, position * type.element.size, value.span)


def _known(kind: Type, data: bytes, offset: int, span: Span | None) -> Expr:
    """The element at an offset."""
    if isinstance(kind, Struct):
        fields = tuple(_known(field.type, data, offset + field.offset, span) for field in kind.fields)
        return nodes.Build(fields, kind, span)
    scalar = element_of(kind)
    assert isinstance(scalar, Scalar)
    numbers = struct.unpack_from(f"<{kind.size // scalar.size}{scalar.code}", data, offset)
    parts = tuple(Const(number, scalar, span) for number in numbers)
    return parts[0] if kind == scalar else nodes.Build(parts, kind, span)


def refuse_storing(ctx: Context, place: Operand, node: ast.AST) -> None:
    """Nobody changes a table."""
    is_place = isinstance(place, (nodes.Index, nodes.View, nodes.Component, nodes.Member))
    root = root_of(place) if is_place else None  # type: ignore[arg-type]
    if isinstance(root, (nodes.Index, nodes.View)) and isinstance(root.array.type, Constant):
        help = "it is compiled into the kernel: copy what must change into an array, and pass that"
        ctx.refuse("KB198", "this is an element of a table of kb.constant, which nobody changes", node, help)


def too_large(kernel: str, tables: Sequence[nodes.Table], place: Span) -> Diagnostic | None:
    """What to say where the tables of one kernel, and of the functions that it calls, take more than there is."""
    total = bytes_of([len(table.data) for table in tables])
    if total <= LIMIT:
        return None
    listed = ", ".join(f"{table.name} {len(table.data)}" for table in tables)
    text = f"{kernel} reads tables of {total} bytes together ({listed}), and constant memory has {LIMIT}"
    notes = tuple(Note(f"{table.name} takes {len(table.data)} bytes: {table.type}", table.span) for table in tables)
    help = "use a smaller element type, split the kernel, or pass the largest table as an array"
    return Diagnostic("KB199", text, place, help=help, notes=notes, kernel=kernel)


def bytes_of(sizes: Sequence[int]) -> int:
    """What tables take side by side: each begins at a multiple of `ALIGN` bytes."""
    end = 0
    for size in sizes:
        end = -(-end // ALIGN) * ALIGN + size
    return end
