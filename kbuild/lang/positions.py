"""`kb.thread_idx().x`: where a thread stands, along one axis of the grid."""

from __future__ import annotations

import ast

from kbuild.ir import nodes
from kbuild.ir.types import INT32
from kbuild.lang.context import Context

_AXES = ("x", "y", "z")


def along(ctx: Context, position: nodes.Position, node: ast.Attribute) -> nodes.Position:
    """`kb.thread_idx().x`: the position along one axis."""
    if position.axis is not None or position.what not in nodes.POSITIONS or node.attr not in _AXES:
        what = f"kb.{position.what}()" + ("" if position.axis is None else f".{_AXES[position.axis]}")
        has_axes = position.what in nodes.POSITIONS and position.axis is None
        help = "its parts are .x, .y and .z" if has_axes else None
        ctx.refuse("KB142", f"{what} has no attribute {node.attr!r}", node, help)
    return nodes.Position(position.what, _AXES.index(node.attr), INT32, ctx.span(node))
