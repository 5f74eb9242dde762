"""What a function that stays a call does to the arrays that it is given."""

from __future__ import annotations

from functools import cache

from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Symbol
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import Array, Constant


@cache
def mentioned(function: Function) -> frozenset[int]:
    """Positions of the parameters that stand in the function's text at all."""
    known = {symbol: position for position, symbol in enumerate(function.parameters)}
    found = (node.symbol for node in walk(function.body) if isinstance(node, nodes.Read))
    return frozenset(known[symbol] for symbol in found if symbol in known)


@cache
def changed(function: Function) -> frozenset[int]:
    """Positions of the parameters whose elements the function, or one that it calls, may change."""
    origins = {symbol: frozenset({position}) for position, symbol in enumerate(function.parameters)}
    aliases = [node for node in walk(function.body) if isinstance(node, nodes.Assign) and _is_alias(node)]
    while _spread(aliases, origins):  # whatever their order
        pass
    found: frozenset[int] = frozenset()
    for node in walk(function.body):
        place: Expr | None = None
        if isinstance(node, nodes.Native):
            for given in node.inputs:  # nobody knows what it does to them, but tables stay as they are
                found |= frozenset() if isinstance(given.type, Constant) else _origins(given, origins)
        if isinstance(node, nodes.Assign):
            place = node.target
        elif isinstance(node, nodes.Intrinsic) and has_effects(node.name):
            place = node.arguments[0]
        elif isinstance(node, nodes.Call):
            for position in changed(node.callee):
                found |= _origins(node.arguments[position], origins)
        if place is not None and isinstance(root := root_of(place), nodes.Index):
            found |= _origins(root.array, origins)
    return found


def _is_alias(assign: nodes.Assign) -> bool:
    return isinstance(assign.target, nodes.Read) and isinstance(assign.target.type, Array)


def _spread(aliases: list[nodes.Assign], origins: dict[Symbol, frozenset[int]]) -> bool:
    changes = False
    for assign in aliases:
        assert isinstance(assign.target, nodes.Read)
        before = origins.get(assign.target.symbol, frozenset())
        origins[assign.target.symbol] = before | _origins(assign.value, origins)
        changes = changes or origins[assign.target.symbol] != before
    return changes


def _origins(array: Expr, origins: dict[Symbol, frozenset[int]]) -> frozenset[int]:
    """Of all arrays that the expression may be."""
    found: frozenset[int] = frozenset()
    for node in walk(array):
        if isinstance(node, nodes.Read):
            found |= origins.get(node.symbol, frozenset())
    return found
