"""Which arrays a kernel may store to. To read, or to change by atomics, what nobody stores to is never a race.

An array's origins are names of the kernel's parameters. One that is loaded from memory may be any: `ANY`.
"""

from __future__ import annotations

from functools import lru_cache

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Symbol
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import Array, Struct, Tuple, Type

ANY = "*"
Origins = frozenset[str]
_NONE: Origins = frozenset()


@lru_cache(maxsize=1024)
def stored_parameters(function: Function) -> Origins:
    """Names of a kernel's parameters whose arrays it, or a function that it calls, may store to; `ANY` for all."""
    return _stored(function, _own(function), False)


@lru_cache(maxsize=1024)
def changed_parameters(function: Function) -> Origins:
    """The same, and those that atomics may change."""
    return _stored(function, _own(function), True)


def _own(function: Function) -> tuple[Origins, ...]:
    return tuple(frozenset({p.name}) for p in function.parameters)


@lru_cache(maxsize=1024)
def _stored(function: Function, given: tuple[Origins, ...], with_atomics: bool) -> Origins:
    origins: dict[Symbol, Origins] = dict(zip(function.parameters, given, strict=True))
    assigns = [node for node in walk(function.body) if isinstance(node, nodes.Assign)]
    while _spread(assigns, origins):  # no order of statements is looked at
        pass
    found = _NONE
    for node in walk(function.body):
        if isinstance(node, nodes.Assign) and isinstance(root := root_of(node.target), nodes.Index):
            found |= _origins(root.array, origins)
        elif isinstance(node, nodes.Call):
            passed = tuple(_origins(argument, origins) for argument in node.arguments)
            found |= _stored(node.callee, passed, with_atomics)
        elif with_atomics and isinstance(node, nodes.Intrinsic) and node.name.startswith("atomic_"):
            place = root_of(node.arguments[0])
            found |= _origins(place.array, origins) if isinstance(place, nodes.Index) else _NONE
    return found


def _spread(assigns: list[nodes.Assign], origins: dict[Symbol, Origins]) -> bool:
    """Takes origins from right to left once; whether that has changed any."""
    changes = False
    for assign in assigns:
        root = root_of(assign.target)
        if isinstance(root, nodes.Read) and holds_arrays(root.symbol.type):
            before = origins.get(root.symbol, _NONE)
            after = origins[root.symbol] = before | _origins(assign.value, origins)
            changes = changes or after != before
    return changes


def _origins(expr: Expr, origins: dict[Symbol, Origins]) -> Origins:
    """Of all arrays that may be in a value: those that are anywhere in the expression."""
    if isinstance(expr, nodes.View):
        return _origins(expr.array, origins)  # its indices are numbers
    if not holds_arrays(expr.type):
        return _NONE
    found = _NONE
    for node in walk(expr):
        if isinstance(node, nodes.Read) and holds_arrays(node.symbol.type):
            found |= origins.get(node.symbol, _NONE)
        elif isinstance(node, (nodes.Index, nodes.Call)) and holds_arrays(node.type):
            found |= {ANY}
    return found


def holds_arrays(type: Type) -> bool:
    """An array is in a value of the type."""
    match type:
        case Array():
            return True
        case Struct():
            return any(holds_arrays(field.type) for field in type.fields)
        case Tuple():
            return any(map(holds_arrays, type.items))
    return False
