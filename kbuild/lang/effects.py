"""Which functions change memory: their calls keep their place among the statements."""

from __future__ import annotations

from functools import cache

from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.nodes import Function
from kbuild.ir.traverse import root_of, walk


@cache
def changes_memory(function: Function) -> bool:
    """The function, or one that it calls, stores to an array or works on one atomically."""
    return any(_changes(node) for node in walk(function.body))


def _changes(node: nodes.Node) -> bool:
    match node:
        case nodes.Assign(target, _):
            return isinstance(root_of(target), nodes.Index)
        case nodes.Intrinsic(name, _):
            return has_effects(name)
        case nodes.Call(callee, _):
            return changes_memory(callee)
    return False
