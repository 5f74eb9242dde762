"""`for i in kb.grid_range(start, stop, step):` as a loop in which each thread of the grid takes every so many trips.

Trips are counted by their number in the whole range, the first of a thread being the thread's own number. A launch in
whole blocks has below 2³¹ threads, so that this number, and that of all threads, are int32.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import BOOL, INT32, UINT64, Scalar
from kbuild.lang.context import Context

Bounds = tuple[Expr, Expr, Expr]


def strided(ctx: Context, bounds: Bounds, node: ast.expr) -> tuple[Bounds, Callable[[Expr], Expr] | None]:
    """The bounds of a thread's loop, and the loop variable's value from its counter (None: the counter itself)."""
    span = ctx.span(node)
    number = nodes.Binary(
        "add", _product(("block_idx", "block_dim"), node, ctx), _position("thread_idx", node, ctx), INT32
    )
    every = _product(("grid_dim", "block_dim"), node, ctx)
    start, stop, step = bounds
    type = start.type
    assert isinstance(type, Scalar)
    if isinstance(step, Const) and step.value < 1:
        ctx.refuse("KB130", f"kb.grid_range() with a step of {step.value}", node, "the step is one or more")

    def at(value: Expr, wanted: Scalar) -> Expr:
        return value if value.type == wanted else nodes.Convert(value, wanted, span)

    if isinstance(start, Const) and start.value == 0 and isinstance(step, Const) and step.value == 1 and type.size >= 4:
        return (at(number, type), stop, at(every, type)), None
    start, stop, step = (bound if isinstance(bound, Const) else ctx.temporary(bound) for bound in bounds)
    last = nodes.Binary("sub", _difference(at(stop, UINT64), at(start, UINT64)), Const(1, UINT64, span), UINT64, span)
    trips = nodes.Binary("div", last, at(step, UINT64), UINT64, span)
    trips = nodes.Binary("add", trips, Const(1, UINT64, span), UINT64, span)
    rises = nodes.Compare("gt", step, Const(0, type, span), BOOL, span)
    runs = nodes.Logical("and", rises, nodes.Compare("lt", start, stop, BOOL, span), BOOL, span)
    count = ctx.temporary(nodes.Select(runs, trips, Const(0, UINT64, span), UINT64, span))

    def value(counter: Expr) -> Expr:
        return nodes.Binary("add", start, nodes.Binary("mul", at(counter, type), step, type, span), type, span)

    return (at(number, UINT64), count, at(every, UINT64)), value


def _difference(a: Expr, b: Expr) -> Expr:
    return nodes.Binary("sub", a, b, UINT64, a.span)


def _position(what: str, node: ast.expr, ctx: Context) -> Expr:
    return nodes.Position(what, None, INT32, ctx.span(node))


def _product(whats: tuple[str, str], node: ast.expr, ctx: Context) -> Expr:
    a, b = (_position(what, node, ctx) for what in whats)
    return nodes.Binary("mul", a, b, INT32, ctx.span(node))
