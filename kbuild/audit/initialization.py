"""Elements of shared memory that are read before anybody has stored there.

What all threads of a block store is counted element by element, for a block of the nominal launch and every trip of
its loops, and held against what they read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from kbuild.audit import conditions
from kbuild.audit.answers import Answer, Judge
from kbuild.audit.conditions import Condition
from kbuild.audit.lanes import NOMINAL, Bools, Integers, Lanes, NoNumber, trip
from kbuild.audit.records import Access
from kbuild.audit.records import Unset as Read
from kbuild.audit.terms import STORED, THREAD, Atom
from kbuild.audit.values import Memory, every_atom
from kbuild.errors import Span

MOST_TRIPS: Final = 1100  # of a loop that are looked at
MOST_NESTED: Final = 72  # of each of two loops
MOST_TOGETHER: Final = 128  # that are looked at in one go
MOST_IDLE: Final = 4  # trips in which nobody does anything, until a loop counts as ended


@dataclass(frozen=True, slots=True)
class Unset:
    """One line that reads an array in shared memory; `element` is one that nobody has stored to."""

    memory: Memory
    span: Span | None
    element: int | None
    answer: Answer


def unset(judge: Judge) -> Iterator[Unset]:
    """Every line that reads shared memory, at launches whose blocks are full, and at others."""
    size = judge.place.blocks.size
    found: dict[tuple[int, Span | None], Unset] = {}
    for block, nominal in ((1, NOMINAL), (1, size + size // 2 + 1), (0, size // 2 + 1)):
        sizes = Sizes(block, nominal)
        for one in _unset(judge, sizes):
            key = (id(one.memory), one.span)
            if key not in found or _rank(one) > _rank(found[key]):
                found[key] = one
    yield from found.values()


@dataclass(frozen=True, slots=True)
class Sizes:
    """A launch that is looked at: which block, and how large what the launch gives is where nobody says so."""

    block: int
    nominal: int
    _lanes: dict[tuple[object, ...], Lanes] = field(default_factory=dict)

    def lanes(self, judge: Judge, loops: tuple[Atom, ...], outer: int, trips: tuple[int, int]) -> Lanes:
        """A block's threads in each of these trips of the inner one of `loops`, one trip after the other; the same for
        all accesses."""
        key = (loops, outer, trips)
        found = self._lanes.get(key)
        if found is None:
            threads = judge.place.blocks.size
            numbers = np.tile(np.arange(threads, dtype=np.int64), trips[1] - trips[0])
            inner = np.repeat(np.arange(*trips, dtype=np.int64), threads)
            number = _number_of(dict(zip(loops, (outer, inner) if len(loops) == 2 else (inner,), strict=False)))
            found = Lanes(judge.place, judge.contracts, numbers, number, self.block, self.nominal)
            self._lanes[key] = found
        return found


def _number_of(trips: dict[Atom, int | Integers]) -> Callable[[Atom], int | Integers]:
    def number(atom: Atom) -> int | Integers:
        if atom not in trips:
            raise NoNumber(atom.name)  # of a loop that has been left
        return trips[atom]

    return number


def _rank(one: Unset) -> int:
    return ("proved", "unknown", "found").index(one.answer.verdict)


def _unset(judge: Judge, sizes: Sizes) -> Iterator[Unset]:
    by_memory: dict[int, list[Access]] = defaultdict(list)
    for one in judge.records.accesses:
        if one.memory.space == "shared":
            by_memory[id(one.memory)].append(one)
    for accesses in by_memory.values():
        stores: list[_Elements | None] = []
        seen: set[tuple[object, ...]] = set()
        for one in accesses:
            key = (one.kind == "write", one.span, one.indices, one.path, one.loops)
            if key in seen:
                continue
            seen.add(key)
            if one.kind == "write":
                stores.append(_elements(judge, one, sizes))
            else:
                yield Unset(one.memory, one.span, *_looked_at(judge, one, stores, sizes))


@dataclass(frozen=True, slots=True)
class UnsetVariable:
    """A variable that is read, perhaps before anything is assigned."""

    name: str
    span: Span | None
    answer: Answer


def unset_variables(judge: Judge) -> Iterator[UnsetVariable]:
    """Every line that reads a variable to which not every way there has assigned something."""
    seen: set[tuple[str, Span | None]] = set()
    for one in judge.records.unset:
        if (one.name, one.span) not in seen:
            seen.add((one.name, one.span))
            yield UnsetVariable(one.name, one.span, _assigned(judge, one))


def _assigned(judge: Judge, one: Read) -> Answer:
    if judge.facts(one.path).proves(one.assigned):
        return Answer("proved", "inequalities")
    missing = conditions.negation(one.assigned)
    return judge.answer([one.path, missing], [], [one.path, missing], fine=~(STORED - 1))


@dataclass(frozen=True, slots=True)
class _Elements:
    """Linear `numbers` of the elements that a block's threads access, where the conditions `unclear` hold. `is_all`:
    there are no trips that have not been looked at."""

    numbers: Integers
    unclear: frozenset[Condition]
    is_all: bool


def _looked_at(judge: Judge, one: Access, stores: list[_Elements | None], sizes: Sizes) -> tuple[int | None, Answer]:
    """The verdict on a read, and an element that nobody has stored to."""
    if not stores:
        return None, Answer("found", "nothing stores before")
    same = {condition for condition in conditions.conjuncts(one.path) if condition.level < THREAD}
    known = [each for each in stores if each is not None]
    stored = _union(each for each in known if each.unclear <= same)  # what is so here was so for those who stored
    read = _elements(judge, one, sizes)
    if read is None or not read.is_all:
        if len(stored) >= _count(judge, one.memory, sizes):
            return None, Answer("proved", "all elements are stored")
        return None, Answer("unknown", "", "which elements are read depends on data")
    missing = np.setdiff1d(read.numbers, stored)
    if not len(missing):
        return None, Answer("proved", "element by element")
    never = np.setdiff1d(missing, _union(known))
    if not len(never) or len(known) < len(stores) or not all(each.is_all for each in known):
        return None, Answer("unknown", "", "which elements are stored depends on data")
    return int(never[0]), Answer("found", "element by element")


def _union(elements: Iterable[_Elements]) -> Integers:
    found = [one.numbers for one in elements]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _count(judge: Judge, memory: Memory, sizes: Sizes) -> int:
    """How many elements it has."""
    lanes = Lanes(judge.place, judge.contracts, np.zeros(1, np.int64), trip(0), sizes.block, sizes.nominal)
    return math.prod(int(lanes.term(extent)[0]) for extent in memory.extents)


def _elements(judge: Judge, access: Access, sizes: Sizes) -> _Elements | None:
    """Which elements an access takes; None where that depends on data."""
    loops = [atom for number in access.loops for atom in number.atoms()]
    if len(loops) > 2:
        return None
    found: list[Integers] = []
    unclear: set[Condition] = set()
    is_all = True
    differs = [_differs(access, atom) for atom in loops] or [False]
    most = (1, MOST_TRIPS, MOST_NESTED)[len(loops)]
    for outer in range(most if len(loops) == 2 else 1):
        idle, was_taken = 0, False
        for trips in _stretches(most):
            try:
                places, inside, without = _in_trips(judge, access, sizes, loops, outer, trips)
            except NoNumber:
                return None
            unclear |= without
            idle, count = _count_idle([bool(some.any()) for some in inside], idle)
            places, inside = places[:count], inside[:count]
            found.append(np.unique(places[inside]))
            is_taken = bool(inside.any())
            was_taken |= is_taken
            if is_taken and not differs[-1]:
                break  # and other trips take the same
            if is_taken and loops and trips[1] == most and not idle:
                is_all = False
            if idle > MOST_IDLE:
                break  # the inner loop has ended
        if was_taken and not differs[0]:
            break
        if was_taken and outer == MOST_NESTED - 1:
            is_all = False
    return _Elements(np.unique(np.concatenate(found)), frozenset(unclear), is_all)


def _stretches(most: int) -> Iterator[tuple[int, int]]:
    """Trips that are looked at together: few at first, since most loops are short."""
    first, size = 0, 2 * MOST_IDLE
    while first < most:
        last = min(first + size, most)
        yield first, last
        first, size = last, min(4 * size, MOST_TOGETHER)


def _differs(access: Access, loop: Atom) -> bool:
    """Another trip may take other elements; else all take the same, or none."""
    own = [one for one in conditions.conjuncts(access.path) if one.level == THREAD]
    return any(loop in every_atom(one) for one in (*access.indices, *own))


def _count_idle(taken: Iterable[bool], idle: int) -> tuple[int, int]:
    """(trips in a row in which nobody did anything, how many trips there are until that is too many)."""
    count = 0
    for is_taken in taken:
        count += 1
        idle = 0 if is_taken else idle + 1
        if idle > MOST_IDLE:
            break
    return idle, count


def _in_trips(
    judge: Judge, access: Access, sizes: Sizes, loops: list[Atom], outer: int, trips: tuple[int, int]
) -> tuple[Integers, Bools, set[Condition]]:
    """Per trip and thread, the element and whether it is accessed; and the conditions on the way that have no numbers.
    Raises NoNumber."""
    lanes = sizes.lanes(judge, tuple(loops), outer, trips)
    values = [lanes.term(index) for index in access.indices]
    extents = [int(lanes.term(extent)[0]) for extent in access.memory.extents]
    inside, without = lanes.split(access.path)
    places = np.zeros(len(inside), np.int64)
    for value, extent in zip(values, extents, strict=True):
        inside &= (value >= 0) & (value < extent)
        places = places * extent + value
    return places.reshape(trips[1] - trips[0], -1), inside.reshape(trips[1] - trips[0], -1), without
