"""Which elements of arrays get their address from a product that the compiler leaves whole.

An index times a stride is one instruction, of 32-bit factors and a product of 64 bits. Where the compiler widens a
factor first, which it does to take it out of a loop or because another block uses it too, what is left to do is a
product of 64 bits: three instructions and a pair of registers for each pointer. `array.at(i)` gives it the instruction
as it is, and `array.across(i, j)` the same with the last index first, which is what a loop over rows of one column
needs.

What it cannot see into it cannot recognise either: of the same element twice it would load twice. So `array(i)`, which
is plain C, is the form of an element that is met again, and of constant indices, which cost nothing.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from kbuild.codegen.declarations import inner_blocks, own_expressions
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Function, Index, Stmt, Symbol
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import INT32, Array, Fixed, IndexedArray, Scalar, Type

_Key = tuple[Any, ...]
_OF_MEMORY = (nodes.Index, nodes.Call, nodes.Intrinsic)  # whose value may be another one each time


@dataclass(frozen=True, slots=True)
class Addresses:
    """`at` or `across`, for the elements whose address is `array.at(…)` or `array.across(…)`; and those that are read
    again after they were met.
    """

    kept_whole: dict[Index, str]
    met_again: frozenset[Index]


def of_function(function: Function) -> Addresses:
    """What is known of the elements that a function loads and stores."""
    met = _Met()
    met.block(function.body, None)
    groups = list(met.places.values())
    again = [one.index for places in groups if _is_read_again(places) for one in places]
    return Addresses({one.index: _form(one) for places in groups for one in _chosen(places)}, frozenset(again))


@dataclass(frozen=True, slots=True)
class _Place:
    """An element where it is loaded or stored. `changing`: variables of the loops around it that differ from trip to
    trip; None outside of loops.
    """

    index: Index
    is_read: bool
    changing: frozenset[Symbol] | None


def _chosen(places: list[_Place]) -> list[_Place]:
    """Of the places of one element those that get the product whole."""
    if not _takes_whole(places[0].index):
        return []
    if any(one.changing is None for one in places):
        return [] if len(places) > 1 else places
    if _is_read_again(places):
        return []
    return [one for one in places if any(changes(i, one.changing) for i in one.index.indices)]


def _is_read_again(places: list[_Place]) -> bool:
    """What is known of the element by then should not be forgotten."""
    return any(one.is_read for one in places[1:])


def _form(place: _Place) -> str:
    """What is the same in every trip is added first, and once."""
    moves = [changes(one, place.changing) for one in place.index.indices]
    return "across" if any(moves) and not moves[-1] else "at"


def changes(expr: Expr, changing: frozenset[Symbol] | None) -> bool:
    """The value may differ from trip to trip."""
    return changing is not None and any(
        isinstance(node, _OF_MEMORY) or (isinstance(node, nodes.Read) and node.symbol in changing)
        for node in walk(expr)
    )


@dataclass
class _Met:
    """The places of each element, in the order in which they are met."""

    places: dict[_Key, list[_Place]] = field(default_factory=dict)

    def block(self, body: tuple[Stmt, ...], changing: frozenset[Symbol] | None) -> None:
        for stmt in body:
            target = stmt.target if isinstance(stmt, nodes.Assign) else None
            inner = changing
            if isinstance(stmt, (nodes.For, nodes.While)):
                inner = (changing or frozenset()) | assigned(stmt)
            for expr in own_expressions(stmt):
                # A condition is asked in each trip.
                self.expression(expr, target, inner if isinstance(stmt, nodes.While) else changing)
            for one in inner_blocks(stmt):
                self.block(one, inner)

    def expression(self, root: Expr, target: Expr | None, changing: frozenset[Symbol] | None) -> None:
        for node in walk(root):
            if isinstance(node, nodes.Index):
                place = _Place(node, node is not target, changing)
                self.places.setdefault(_key(node), []).append(place)


def assigned(loop: nodes.For | nodes.While) -> frozenset[Symbol]:
    """Variables that a loop assigns, with its counter."""
    found = {loop.symbol} if isinstance(loop, nodes.For) else set[Symbol]()
    for node in walk(loop.body):
        if isinstance(node, nodes.For):
            found.add(node.symbol)
        elif isinstance(node, nodes.Assign) and isinstance(root := root_of(node.target), nodes.Read):
            found.add(root.symbol)
    return frozenset(found)


def _takes_whole(index: Index) -> bool:
    """An element of an array in global memory, at variable indices of at most 32 bits with a sign."""
    type = index.array.type
    if not isinstance(type, Array) or isinstance(type, (Fixed, IndexedArray)):
        return False
    return not any(isinstance(one, Const) or not is_narrow(one.type) for one in index.indices)


def is_narrow(type: Type) -> bool:
    """An index of this type is an int in C."""
    return type == INT32 or (isinstance(type, Scalar) and type.kind in ("int", "uint") and type.size < INT32.size)


def _key(value: Any) -> Any:
    """What a node says, wherever it stands."""
    if isinstance(value, tuple):
        return tuple(_key(one) for one in value)
    if dataclasses.is_dataclass(value) and isinstance(value, (*nodes.EXPRESSIONS,)):
        names = [one.name for one in dataclasses.fields(value) if one.name != "span"]
        return (type(value).__name__, *(_key(getattr(value, name)) for name in names))
    return value
