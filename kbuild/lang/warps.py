"""What the lanes of a warp do together: `kb.shfl(value, lane)`, `kb.ballot(condition)` and their kin.

Each becomes a statement of its own, so that all lanes come to it in the same order; a vector, matrix or struct is
exchanged number by number.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from kbuild.intrinsics.table import ROWS
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import BOOL, INT32, UINT32, Matrix, Scalar, Struct, Vector, is_integer
from kbuild.lang.context import Context
from kbuild.lang.operands import Operand, Untyped, describe

NAMES = nodes.COLLECTIVES
_WIDTHS = (1, 2, 4, 8, 16, 32)


def call(ctx: Context, name: str, node: ast.Call) -> Expr:
    """The operation as a statement; its result."""
    given = _arguments(ctx, name, node)
    if name in nodes.SHUFFLES:
        return _shuffle(ctx, name, given, node)
    if name == "match_any":
        value = ctx.typed(given["value"], node)
        if not is_integer(value.type):
            ctx.refuse("KB170", f"kb.match_any compares integers, not {value.type}", node)
        return ctx.temporary(nodes.Intrinsic(name, (value,), UINT32, ctx.span(node)))
    condition = ctx.truth(given["condition"], node)
    result = UINT32 if name == "ballot" else BOOL
    return ctx.temporary(nodes.Intrinsic(name, (condition,), result, ctx.span(node)))


def _arguments(ctx: Context, name: str, node: ast.Call) -> dict[str, Operand]:
    """Operands by the names of the parameters."""
    names = [parameter for parameter, _ in ROWS[name].signature.parameters]
    usage = f"kb.{name}({', '.join(names)})"
    if any(isinstance(a, ast.Starred) for a in node.args) or len(node.args) > len(names):
        ctx.refuse("KB130", usage, node)
    keys = [*names[: len(node.args)], *(k.arg or "**" for k in node.keywords)]
    wrong = next((key for at, key in enumerate(keys) if key not in names or key in keys[:at]), None)
    if wrong is not None:
        ctx.refuse("KB130", f"{usage} does not take {wrong!r} here", node)
    given = dict(zip(keys, ctx.operands([*node.args, *(k.value for k in node.keywords)]), strict=True))
    missing = [one for one in names if one not in given and one != "width"]
    if missing:
        ctx.refuse("KB130", f"{usage} needs an argument for {missing[0]!r}", node)
    return given


def _shuffle(ctx: Context, name: str, given: dict[str, Operand], node: ast.Call) -> Expr:
    by = ROWS[name].signature.parameters[1][0]
    value = ctx.typed(given["value"], node)
    other = ctx.coerce(given[by], INT32, node, f"the {by} of kb.{name}")
    width = _width(ctx, given.get("width"), name, node)
    span = ctx.span(node)
    if not isinstance(value.type, Scalar):
        value, other = ctx.temporary(value), other if isinstance(other, Const) else ctx.temporary(other)

    def exchanged(one: Expr) -> Expr:
        return ctx.temporary(nodes.Intrinsic(name, (one, other, width), one.type, span))

    return _by_number(ctx, name, value, exchanged, node)


def _width(ctx: Context, operand: Operand | None, name: str, node: ast.Call) -> Const:
    if operand is None:
        return Const(32, INT32, ctx.span(node))
    value = operand.value if isinstance(operand, (Untyped, Const)) else None
    if isinstance(value, bool) or value not in _WIDTHS:
        shown = value if isinstance(operand, (Untyped, Const)) else describe(operand)
        text = f"the width of kb.{name} is a constant, 1, 2, 4, 8, 16 or 32, not {shown}"
        ctx.refuse("KB130", text, node, "leave it out for the whole warp")
    return Const(int(value), INT32, ctx.span(node))


def _by_number(ctx: Context, name: str, value: Expr, exchanged: Callable[[Expr], Expr], node: ast.Call) -> Expr:
    """A value with every number in it exchanged."""
    span = ctx.span(node)

    def inner(part: Expr) -> Expr:
        return _by_number(ctx, name, part, exchanged, node)

    match value.type:
        case Scalar():
            return exchanged(value)
        case Vector(length=n, element=element):
            cells: list[tuple[int, ...]] = [(i,) for i in range(n)]
        case Matrix(rows=rows, columns=columns, element=element):
            cells = [(i, j) for i in range(rows) for j in range(columns)]
        case Struct(fields=fields):
            parts = tuple(inner(nodes.Member(value, one.name, one.type, span)) for one in fields)
            return nodes.Build(parts, value.type, span)
        case _:
            help = "pass numbers, vectors, matrices, or structs of them; arrays are seen by every lane already"
            ctx.refuse("KB170", f"kb.{name} does not work on {value.type}", node, help)
    indices = [tuple(Const(i, INT32, span) for i in cell) for cell in cells]
    return nodes.Build(tuple(inner(nodes.Component(value, cell, element, span)) for cell in indices), value.type, span)
