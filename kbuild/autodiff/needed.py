"""What of a kernel its adjoint must run forward again, and which of its stores.

A statement is kept if something needs what it assigns: another kept statement, or the reverse of one. A store is kept
only if a load may see it that comes after it. Both shrink together, from everything down to a fixed point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from kbuild.autodiff.flat import (
    NONE,
    Branch,
    Do,
    Loop,
    Names,
    Set,
    Tree,
    blocks_of,
    in_memory,
    looks_at,
    looks_at_in_target,
    path_of,
)
from kbuild.autodiff.reverse import root_array
from kbuild.autodiff.touched import changed
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.nodes import Symbol
from kbuild.ir.traverse import root_of
from kbuild.ir.types import Array


def stored(one: Tree) -> Names:
    """The arrays that a statement may change."""
    found: set[Symbol | str] = set()
    if isinstance(one, Set) and in_memory(one.target) is not None:
        found.add(path_of(root_array(one.target)) or "")
    if isinstance(one, (Set, Do)):
        if isinstance(one.value, nodes.Intrinsic) and has_effects(one.value.name):
            found.add(path_of(root_array(one.value.arguments[0])) or "")
        elif isinstance(one.value, nodes.Call):
            found |= changed_by(run_again(one.value))
    return frozenset(found)


def changed_by(call: nodes.Call) -> Names:
    """The arrays that a call changes."""
    changes = changed(call.callee)
    return frozenset(p for i, a in enumerate(call.arguments) if i in changes for p in _paths(a))


def _paths(argument: nodes.Expr) -> list[str]:
    if isinstance(argument.type, Array):
        return [path_of(argument) or ""]
    return [path for part in argument.parts for path in _paths(part)] if isinstance(argument, nodes.Build) else []


def assigned(one: Tree) -> Symbol | None:
    """The variable that a statement assigns, in whole or in part; what an atomic operation gives back is not known."""
    if isinstance(one, Set) and not is_atomic(one.value) and isinstance(root := root_of(one.target), nodes.Read):
        return root.symbol
    return None


def run_again(call: nodes.Call) -> nodes.Call:
    """The call as the forward sweep of an adjoint makes it."""
    return call if call.callee.replay is None else replace(call, callee=call.callee.replay)


def is_atomic(value: nodes.Expr) -> bool:
    """The value is what an atomic operation gives back."""
    return isinstance(value, nodes.Intrinsic) and has_effects(value.name)


def overwritten(one: Tree) -> nodes.Expr | None:
    """The place that a statement overwrites; None for what a call does."""
    if isinstance(one, (Set, Do)) and isinstance(one.value, nodes.Intrinsic) and is_atomic(one.value):
        return one.value.arguments[0]
    return one.target if isinstance(one, Set) else None


@lru_cache(maxsize=8192)
def looked_at(one: Tree) -> Names:
    """What a statement itself looks at; of a branch or loop its condition and bounds.

    Remembered, since every analysis asks again: a statement keeps its expressions once `conditions` has given it the
    last of them.
    """
    match one:
        case Set(target, value):
            return _of_value(value) | (NONE if is_atomic(value) else looks_at_in_target(target))
        case Do(value):
            return _of_value(value)
        case Branch(condition):
            return looks_at(condition)
        case Loop(_, start, stop, _, condition):
            return looks_at(start, stop, condition)
    return NONE


def _of_value(value: nodes.Expr) -> Names:
    if isinstance(value, nodes.Intrinsic) and has_effects(value.name):
        place, *operands = value.arguments
        return looks_at(*operands) | looks_at_in_target(place)
    return looks_at(value)


@dataclass
class Slice:
    """What is kept. `names` are the variables and arrays whose values something needs."""

    kept: set[int] = field(default_factory=set)
    names: set[Symbol | str] = field(default_factory=set)

    def keeps(self, one: Tree) -> bool:
        """A statement without blocks runs; a branch or loop has something in it that does, or is needed otherwise."""
        return id(one) in self.kept


def slice_of(
    body: list[Tree],
    wanted: Callable[[Tree], Names | None],
    may_store: Callable[[Tree], bool],
    seeds: Names = NONE,
) -> Slice:
    """The statements that must run for `seeds`, and for what is `wanted` at each statement (None: nothing is done).

    The condition or bounds of a branch or loop are needed where something inside it is done or kept.
    """
    made = Slice(names={*seeds})
    size = -1
    while size != len(made.names) + len(made.kept):
        size = len(made.names) + len(made.kept)
        _grow(body, wanted, may_store, made)
    return made


def _grow(
    body: list[Tree], wanted: Callable[[Tree], Names | None], may_store: Callable[[Tree], bool], made: Slice
) -> bool:
    """One pass; says whether anything in the block is done or kept."""
    has_work = False
    for one in reversed(body):
        reads = wanted(one)
        if reads is not None:
            has_work = True
            made.names |= reads
        if isinstance(one, (Branch, Loop)):
            busy = [_grow(block, wanted, may_store, made) for block in blocks_of(one)]
            counts = isinstance(one, Loop) and one.trips is not None and one.trips in made.names
            if any(busy) or counts:
                has_work = True
                made.kept.add(id(one))
                made.names |= looked_at(one)
                if isinstance(one, Loop) and one.trips is not None:
                    made.names.add(one.trips)
            continue
        symbol = assigned(one)
        if (symbol is not None and symbol in made.names) or (stored(one) & made.names and may_store(one)):
            has_work = True
            made.kept.add(id(one))
            made.names |= looked_at(one)
            if symbol is not None and isinstance(one, Set) and not isinstance(one.target, nodes.Read):
                made.names.add(symbol)
    return has_work


def observable(body: list[Tree], loads: Callable[[Tree], Names]) -> set[int]:
    """The stores that a later load may see. `loads` are what is looked at where a statement stands."""
    found: set[int] = set()
    _observe(body, NONE, loads, found)
    return found


def _observe(body: list[Tree], live: Names, loads: Callable[[Tree], Names], found: set[int]) -> Names:
    for one in reversed(body):
        if isinstance(one, Branch):
            live = _observe(one.then, live, loads, found) | _observe(one.otherwise, live, loads, found) | loads(one)
        elif isinstance(one, Loop):
            live = live | loads(one)
            while True:
                inner = _observe(one.body, live, loads, found) | live
                if inner == live:
                    break
                live = inner
        else:
            if stored(one) & live:
                found.add(id(one))
            live = live | loads(one)
    return live
