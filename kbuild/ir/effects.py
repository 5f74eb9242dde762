"""Which functions change memory, print, assert, assume or wait: their calls keep their place among the statements."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kbuild.ir import nodes
from kbuild.ir.nodes import Function
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import VOID, Array

HasEffects = Callable[[str], bool]


@cache
def changes_memory(function: Function, has_effects: HasEffects) -> bool:
    """The function, or one that it calls, stores to an array, prints, asserts, assumes, waits at a barrier, or has an
    intrinsic's effect (on memory, or on the other lanes of the warp), by name.

    What is printed goes through memory too, and a failed assert ends what would come after it.
    """

    def changes(node: nodes.Node) -> bool:
        match node:
            case nodes.Assign(target, _):
                return isinstance(root_of(target), nodes.Index)
            case nodes.Print() | nodes.Assert() | nodes.Assume() | nodes.Barrier():
                return True
            case nodes.Native(inputs=inputs, type=type, is_together=is_together):
                return is_together or type == VOID or any(isinstance(one.type, Array) for one in inputs)
            case nodes.Intrinsic(name, _):
                return has_effects(name)
            case nodes.Call(callee, _):
                return changes_memory(callee, has_effects)
        return False

    return any(changes(node) for node in walk(function.body))
