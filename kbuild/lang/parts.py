"""Several components at once: slices of vectors and matrices, position and rotation of a transform.

`v[0:3]` is a vector of the components, read one by one; as a target its components are assigned one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Symbol
from kbuild.ir.traverse import root_of
from kbuild.ir.types import INT32, Matrix, Vector, is_integer, quaternion
from kbuild.lang.context import Context, depends_on_memory
from kbuild.lang.operands import Operand, Static, Untyped
from kbuild.loader.values import class_of


def is_sliced(node: ast.Subscript) -> bool:
    """A subscript with a slice in it."""
    axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(axis, ast.Slice) for axis in axes)


def sliced(ctx: Context, node: ast.Subscript) -> Operand:
    """`v[0:3]`, `m[0:2, 1]`, `m[1, :]`: bounds are constants, other indices may be anything."""
    axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    base = ctx.typed(ctx.expr(node.value), node.value)
    type = base.type
    if not isinstance(type, (Vector, Matrix)):
        ctx.refuse("KB111", f"kernels have no slices of {type}", node, "index single elements")
    extents = [type.length] if isinstance(type, Vector) else [type.rows, type.columns]
    if len(axes) > len(extents):
        ctx.refuse("KB140", f"{len(axes)} indices for {type}", node)
    base = read_often(ctx, base)
    axes = [*axes, *[ast.Slice()] * (len(extents) - len(axes))]
    mark = len(ctx.block)
    chosen = [_chosen(ctx, axis, extent, node) for axis, extent in zip(axes, extents, strict=True)]
    if len(ctx.block) > mark and isinstance(node.ctx, ast.Load):
        base = ctx.typed(ctx.saved_before(mark, [base])[0], node)  # an index may change what is sliced
    kept = [len(c) for c, axis in zip(chosen, axes, strict=True) if isinstance(axis, ast.Slice)]
    if 0 in kept:
        empty: Any = class_of(Vector(0, type.element) if len(kept) == 1 else Matrix(0, 0, type.element))
        return Static(empty(), ctx.span(node))
    cells = _cells(chosen)
    found = tuple(nodes.Component(base, cell, type.element, ctx.span(node)) for cell in cells)
    made = Vector(kept[0], type.element) if len(kept) == 1 else Matrix(kept[0], kept[1], type.element)
    return nodes.Build(found, made, ctx.span(node))


def read_often(ctx: Context, value: Expr) -> Expr:
    """The value as something that can be read several times and, where it is a place, assigned."""
    is_place = isinstance(root_of(value), (nodes.Read, nodes.Index))
    return fixed(ctx, value) if is_place else ctx.temporary(value)


def _cells(chosen: Sequence[Sequence[Expr]]) -> list[tuple[Expr, ...]]:
    if len(chosen) == 1:
        return [(i,) for i in chosen[0]]
    return [(i, j) for i in chosen[0] for j in chosen[1]]


def _chosen(ctx: Context, axis: ast.expr, extent: int, node: ast.Subscript) -> list[Expr]:
    """The indices along one axis."""
    span = ctx.span(node)
    if isinstance(axis, ast.Slice):
        bounds = [bound(ctx, one, node) for one in (axis.lower, axis.upper, axis.step)]
        if bounds[2] == 0:
            ctx.refuse("KB141", "a slice with a step of zero", node)
        indices = range(*slice(*bounds).indices(extent))
        if not indices and ctx.owner.dialect != "warp":
            ctx.refuse("KB141", f"the slice is empty: positions are 0 … {extent - 1}", node)
        return [Const(i, INT32, span) for i in indices]
    operand = ctx.expr(axis)
    if isinstance(operand, Untyped) and isinstance(operand.value, int):
        if not -extent <= operand.value < extent:
            ctx.refuse("KB141", f"index {operand.value} is outside 0 … {extent - 1}", node)
        return [Const(operand.value % extent, INT32, span)]
    index = ctx.typed(operand, axis)
    if not is_integer(index.type):
        ctx.refuse("KB140", f"an index must be an integer, not {index.type}", node, "convert it: `kb.int32(…)`")
    return [_once(ctx, index)]


def bound(ctx: Context, node: ast.expr | None, whole: ast.Subscript) -> int | None:
    """A bound of a slice, which is known while building; None for one that is not there."""
    if node is None:
        return None
    operand = ctx.as_number(ctx.expr(node))
    if isinstance(operand, Untyped) and isinstance(operand.value, int):
        return operand.value
    ctx.refuse("KB140", "the bounds of a slice must be constants", whole, "copy the elements in a loop")


def of_transform(ctx: Context, value: Expr, node: ast.Attribute) -> Expr:
    """`t.p`, `t.q`."""
    assert isinstance(value.type, Vector)
    span, element = ctx.span(node), value.type.element
    base = read_often(ctx, value)
    axes, made = (range(3), Vector(3, element)) if node.attr == "p" else (range(3, 7), quaternion(element))
    found = tuple(nodes.Component(base, (Const(i, INT32, span),), element, span) for i in axes)
    return nodes.Build(found, made, span)


def fixed(ctx: Context, place: Expr, changed: frozenset[Symbol] = frozenset()) -> Expr:
    """The same place with its indices evaluated once, also those that are variables which change later."""
    match place:
        case nodes.Index(array, indices, type, span):
            array = ctx.temporary(array) if depends_on_memory(array) else array
            return nodes.Index(array, tuple(_once(ctx, i, changed) for i in indices), type, span)
        case nodes.Component(base, indices, type, span):
            base = fixed(ctx, base, changed)
            return nodes.Component(base, tuple(_once(ctx, i, changed) for i in indices), type, span)
        case nodes.Member(base, field, type, span):
            return nodes.Member(fixed(ctx, base, changed), field, type, span)
    return place


def _once(ctx: Context, index: Expr, changed: frozenset[Symbol] = frozenset()) -> Expr:
    stays = isinstance(index, (Const, nodes.ThreadIndex, nodes.Position))
    stays = stays or (isinstance(index, nodes.Read) and index.symbol not in changed)
    return index if stays else ctx.temporary(index)
