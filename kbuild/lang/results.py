"""What a call gives to the expression around it."""

from __future__ import annotations

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr
from kbuild.ir.types import VOID, Tuple
from kbuild.lang.context import Context
from kbuild.lang.effects import changes_memory
from kbuild.lang.operands import Operand, structured


def results_of(ctx: Context, call: nodes.Call) -> Operand:
    """A call as an operand: a statement of its own if it changes memory, several results side by side."""
    value: Expr = call
    if call.type == VOID or isinstance(call.type, Tuple) or changes_memory(call.callee):
        value = ctx.with_effects(call)
    if isinstance(call.type, Tuple):
        items = (nodes.Item(value, i, item, call.span) for i, item in enumerate(call.type.items))
        return structured(items, ctx.program.structure(call.callee), call.span or ctx.span(ctx.definition))
    return value
