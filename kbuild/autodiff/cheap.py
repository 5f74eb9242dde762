"""Which calls cost less to make again than to remember."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.effects import changes_memory
from kbuild.ir.nodes import Const, Function, Stmt
from kbuild.ir.traverse import walk

MOST = 100  # statements: a length or an inverse is far below, a decomposition far above


def may_run_again(function: Function) -> bool:
    """The function changes nothing, and does not do much."""
    return not changes_memory(function, has_effects) and _statements(function) <= MOST


@cache
def _statements(function: Function) -> float:
    """How many statements run at most, those of callees included; infinitely many where nobody knows."""
    return _of_block(function.body)


def _of_block(body: Sequence[Stmt]) -> float:
    return sum(_of(stmt) for stmt in body)


def _of(stmt: Stmt) -> float:
    match stmt:
        case nodes.If(condition, then, otherwise):
            return 1 + _calls(condition) + max(_of_block(then), _of_block(otherwise))
        case nodes.For(_, Const(start), Const(stop), Const(step), body) if step:
            return 1 + len(range(int(start), int(stop), int(step))) * _of_block(body)
        case nodes.For() | nodes.While():
            return float("inf")
    return 1 + _calls(stmt)


def _calls(node: nodes.Node) -> float:
    return sum(_statements(one.callee) for one in walk(node) if isinstance(one, nodes.Call))
