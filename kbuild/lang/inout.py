"""Calls that change variables of the caller: `kb.randf(state)` and `kb.svd3(a, u, sigma, v)`.

Functions get values, so the callee gives what it changed among its results, and the caller assigns those back.
"""

from __future__ import annotations

import ast

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Read
from kbuild.ir.traverse import root_of
from kbuild.lang import places
from kbuild.lang.context import Context
from kbuild.lang.operands import Operand, describe

_PLACES = (Read, nodes.Index, nodes.Component, nodes.Member)


def place_of(ctx: Context, operand: Operand, node: ast.expr, what: str) -> Expr:
    """An argument that the call changes: a variable of the kernel, or a part of one."""
    if not isinstance(operand, _PLACES) or not isinstance(root_of(operand), Read):
        help = "copy it into a variable first, and store that afterwards: `state = states[i]`"
        ctx.refuse("KB171", f"{what} changes this argument: it must be a variable, not {describe(operand)}", node, help)
    places.refuse_parameter_field(ctx, operand, node)
    return operand


def state_of(ctx: Context, operand: Operand, node: ast.expr, what: str) -> Expr | None:
    """The variable of a state, None for a value that nobody could see again: `kb.randf(kb.rand_init(seed))`.

    In Warp's dialect an element of an array gives its value, and stays what it is.
    """
    if isinstance(operand, (nodes.Call, nodes.Convert, nodes.Const)):
        return None
    is_element = isinstance(operand, _PLACES) and isinstance(root_of(operand), nodes.Index)
    if is_element and ctx.owner.dialect == "warp":
        return None
    return place_of(ctx, operand, node, what)


def assign_back(ctx: Context, place: Expr, value: Operand, node: ast.AST) -> None:
    """Stores what the callee made of an argument."""
    ctx.emit(nodes.Assign(place, ctx.coerce(value, place.type, node, "this argument"), ctx.span(node)))
