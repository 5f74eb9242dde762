"""Elements of shared memory that are read before anybody has stored there.

What all threads of a block store is counted element by element, for a block of the nominal launch and every trip of
its loops, and held against what they read.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from kbuild.audit import conditions
from kbuild.audit.answers import Answer, Judge
from kbuild.audit.lanes import NOMINAL, Integers, Lanes, NoNumber, trip
from kbuild.audit.records import Access
from kbuild.audit.records import Unset as Read
from kbuild.audit.terms import STORED
from kbuild.audit.values import Memory
from kbuild.errors import Span

MOST_TRIPS: Final = 1100  # of a loop that are looked at
MOST_NESTED: Final = 72  # of each of two loops


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
        for one in _unset(judge, Sizes(block, nominal)):
            key = (id(one.memory), one.span)
            if key not in found or _rank(one) > _rank(found[key]):
                found[key] = one
    yield from found.values()


@dataclass(frozen=True, slots=True)
class Sizes:
    """A launch that is looked at: which block, and how large what the launch gives is where nobody says so."""

    block: int
    nominal: int


def _rank(one: Unset) -> int:
    return ("proved", "unknown", "found").index(one.answer.verdict)


def _unset(judge: Judge, sizes: Sizes) -> Iterator[Unset]:
    by_memory: dict[int, list[Access]] = defaultdict(list)
    for one in judge.records.accesses:
        if one.memory.space == "shared":
            by_memory[id(one.memory)].append(one)
    for accesses in by_memory.values():
        stored: Integers | None = np.zeros(0, np.int64)
        seen: set[Span | None] = set()
        for one in accesses:
            if one.kind == "write":
                stored = _together(stored, _elements(judge, one, sizes))
            elif one.span not in seen or stored is None:
                seen.add(one.span)
                yield _looked_at(judge, one, stored, sizes)


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


def _together(stored: Integers | None, more: Integers | None) -> Integers | None:
    """None: nobody knows which."""
    return None if stored is None or more is None else np.union1d(stored, more)


def _looked_at(judge: Judge, one: Access, stored: Integers | None, sizes: Sizes) -> Unset:
    if stored is None:
        return Unset(one.memory, one.span, None, Answer("unknown", "", "which elements are stored depends on data"))
    if not len(stored):
        return Unset(one.memory, one.span, None, Answer("found", "nothing stores before"))
    read = _elements(judge, one, sizes)
    if read is None:
        if len(stored) >= _count(judge, one.memory, sizes):
            return Unset(one.memory, one.span, None, Answer("proved", "all elements are stored"))
        reason = "which elements are read depends on data"
        return Unset(one.memory, one.span, None, Answer("unknown", "", reason))
    missing = np.setdiff1d(read, stored)
    if len(missing):
        return Unset(one.memory, one.span, int(missing[0]), Answer("found", "element by element"))
    return Unset(one.memory, one.span, None, Answer("proved", "element by element"))


def _count(judge: Judge, memory: Memory, sizes: Sizes) -> int:
    """How many elements it has."""
    lanes = Lanes(judge.place, judge.contracts, np.zeros(1, np.int64), trip(0), sizes.block, sizes.nominal)
    return math.prod(int(lanes.term(extent)[0]) for extent in memory.extents)


def _elements(judge: Judge, access: Access, sizes: Sizes) -> Integers | None:
    """Linear numbers of the elements that a block's threads access; None where that depends on data."""
    numbers = np.arange(judge.place.blocks.size, dtype=np.int64)
    loops = [atom for number in access.loops for atom in number.atoms()]
    if len(loops) > 2:
        return None
    found: list[Integers] = []
    reached = True
    for trips in itertools.product(*[range(MOST_TRIPS if len(loops) == 1 else MOST_NESTED)] * len(loops)):
        if not reached and trips[-1]:
            continue  # the inner loop has ended
        lanes = Lanes(
            judge.place,
            judge.contracts,
            numbers,
            dict(zip(loops, trips, strict=True)).__getitem__,
            sizes.block,
            sizes.nominal,
        )
        try:
            values = [lanes.term(index) for index in access.indices]
            extents = [int(lanes.term(extent)[0]) for extent in access.memory.extents]
        except NoNumber:
            return None
        active = lanes.active(access.path)
        inside = active.copy()
        total = np.zeros(len(numbers), np.int64)
        for value, extent in zip(values, extents, strict=True):
            inside &= (value >= 0) & (value < extent)
            total = total * extent + value
        reached = bool(active.any())
        if len(trips) == 1 and not reached and trips[0]:
            break
        found.append(np.unique(total[inside]))
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
