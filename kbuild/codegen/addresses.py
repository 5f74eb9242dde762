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

from dataclasses import dataclass

from kbuild.ir import elements, nodes
from kbuild.ir.elements import Place
from kbuild.ir.nodes import Const, Expr, Function, Index, Symbol
from kbuild.ir.traverse import walk
from kbuild.ir.types import INT32, Array, Fixed, IndexedArray, Scalar, Type

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
    chosen = (one for places in elements.places(function) for one in _chosen(places))
    return Addresses({one.index: _form(one) for one in chosen}, elements.met_again(function))


def _chosen(places: list[Place]) -> list[Place]:
    """Of the places of one element those that get the product whole."""
    if not _takes_whole(places[0].index):
        return []
    if any(one.changing is None for one in places):
        return [] if len(places) > 1 else places
    if elements.is_read_again(places):
        return []
    return [one for one in places if any(changes(i, one.changing) for i in one.index.indices)]


def _form(place: Place) -> str:
    """What is the same in every trip is added first, and once."""
    moves = [changes(one, place.changing) for one in place.index.indices]
    return "across" if any(moves) and not moves[-1] else "at"


def changes(expr: Expr, changing: frozenset[Symbol] | None) -> bool:
    """The value may differ from trip to trip."""
    return changing is not None and any(
        isinstance(node, _OF_MEMORY) or (isinstance(node, nodes.Read) and node.symbol in changing)
        for node in walk(expr)
    )


def _takes_whole(index: Index) -> bool:
    """An element of an array in global memory, at variable indices of at most 32 bits with a sign."""
    type = index.array.type
    if not isinstance(type, Array) or isinstance(type, (Fixed, IndexedArray)):
        return False
    return not any(isinstance(one, Const) or not is_narrow(one.type) for one in index.indices)


def is_narrow(type: Type) -> bool:
    """An index of this type is an int in C."""
    return type == INT32 or (isinstance(type, Scalar) and type.kind in ("int", "uint") and type.size < INT32.size)
