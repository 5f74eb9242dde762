"""Which elements of arrays a function comes to, where, and which of them it meets again.

Two elements are the same if they are written the same: `a[i]` and `a[i]`, whatever was stored in between.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Index, Stmt, Symbol
from kbuild.ir.traverse import inner_blocks, own_expressions, root_of, walk
from kbuild.ir.types import Fixed, Shared, word_of

_Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """An element where it is loaded or stored. `changing`: variables of the loops around it that differ from trip to
    trip; None outside of loops.
    """

    index: Index
    is_read: bool
    changing: frozenset[Symbol] | None


@lru_cache(maxsize=256)
def places(function: Function) -> tuple[list[Place], ...]:
    """The places of each element, in the order in which they are met."""
    met = _Met()
    met.block(function.body, None)
    return tuple(met.places.values())


@lru_cache(maxsize=256)
def met_again(function: Function) -> frozenset[Index]:
    """Elements that are read again after they were met: of these a compiler keeps what it knows, number by number, so
    that they are not loaded in larger words."""
    return frozenset(one.index for found in places(function) if is_read_again(found) for one in found)


def word_at(place: Expr, again: Collection[Index]) -> int:
    """Bytes of the words that a place is loaded or stored in, if its address is a multiple of them; 0 where it goes
    number by number. `again`: what its function meets again, which matters in arrays of the launch alone."""
    if not isinstance(place, Index) or place.cache:
        return 0
    array = place.array.type
    is_split = not isinstance(array, Shared) and (isinstance(array, Fixed) or place in again)
    return 0 if is_split else word_of(place.type)


def is_read_again(found: list[Place]) -> bool:
    """What is known of the element by then should not be forgotten."""
    return any(one.is_read for one in found[1:])


@dataclass
class _Met:
    """The places of each element, in the order in which they are met."""

    places: dict[_Key, list[Place]] = field(default_factory=dict)

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
                place = Place(node, node is not target, changing)
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


def _key(value: Any) -> Any:
    """What a node says, wherever it stands."""
    if isinstance(value, tuple):
        return tuple(_key(one) for one in value)
    if dataclasses.is_dataclass(value) and isinstance(value, (*nodes.EXPRESSIONS,)):
        names = [one.name for one in dataclasses.fields(value) if one.name != "span"]
        return (type(value).__name__, *(_key(getattr(value, name)) for name in names))
    return value
