"""Elements that a thread loads again though nobody has changed them [KB407].

    b[i] = a[i] * 2.0          reads a[i]
    c[i] = a[i] + 1.0          loads it again: for all that a compiler knows, b and a overlap

A compiler makes one load of two where nothing lies between them that might store to the element. Arrays of a launch may
overlap as far as it knows, so each store to an array is such a thing, and each atomic; so is every barrier, and
printing. Stores to shared memory are not, nor is what the lanes of a warp tell one another. That was read off machine
code for sm_87, sm_90 and sm_120, and `tests/audit/test_machine_cases.py` reads it again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from kbuild.audit import conditions
from kbuild.audit.answers import Judge
from kbuild.audit.conditions import Condition, conjuncts
from kbuild.audit.loops import is_of_trip
from kbuild.audit.records import Access, Fence
from kbuild.audit.terms import Term
from kbuild.audit.values import Memory, every_atom
from kbuild.errors import Span


@dataclass(frozen=True, slots=True)
class Repeat:
    """A load of what the thread has loaded or stored before, at `first` (None: in the trip of the loop before), and the
    access or fence `between` the two that keeps a compiler from making one of them. `size` in bytes."""

    memory: Memory
    span: Span | None
    size: int
    first: Access | None
    between: Access | Fence


def repeats(judge: Judge) -> Iterator[Repeat]:
    """Every load that is made again, one of a line and an array. Of arrays that CUDA C++ or atomics change nothing is
    said, nor of loads with a hint for the caches."""
    if judge.records.unclear:
        return
    things = _Things(judge)
    told: set[tuple[int, Span | None]] = set()
    for one in judge.records.accesses:
        place = (id(one.memory), one.span)
        if one.kind == "read" and not one.cache and place not in told and things.is_asked(one.memory):
            found = things.repeat(one)
            if found is not None:
                told.add(place)
                yield found


class _Things:
    """What a run has come to, for questions about what lies between two of them."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        records = judge.records
        self._same: dict[tuple[int, tuple[Term, ...]], list[Access]] = defaultdict(list)
        self._stores: dict[int, list[Access]] = defaultdict(list)
        self._counted: set[int] = set()
        for one in records.accesses:
            self._same[id(one.memory), one.indices].append(one)
            if one.kind != "read":
                self._stores[id(one.memory)].append(one)
            if one.kind == "atomic":
                self._counted.add(id(one.memory))
        stores = [one for one in records.accesses if one.kind != "read" and one.memory.space == "global"]
        self._keepers: list[Access | Fence] = [*stores, *records.fences]
        self._keepers.sort(key=lambda one: one.order)
        self._barriers = [one for one in records.fences if one.is_barrier]

    def is_asked(self, memory: Memory) -> bool:
        """An array of the launch that no atomic changes."""
        return memory.space == "global" and bool(memory.parameter) and id(memory) not in self._counted

    def repeat(self, load: Access) -> Repeat | None:
        """What makes a load a repetition."""
        first = self._first(load)
        if first is not None:
            if not self._is_changed(load, first.order, first.loops):
                between = next(self._between(load, first.order, first.loops), None)
                if between is not None:
                    return Repeat(load.memory, load.span, load.size, first, between)
            return None
        for depth in range(len(load.loops)):
            if self._is_same_in(load, load.loops[depth]) and not self._is_changed(load, load.order, load.loops[:depth]):
                between = next(self._between(load, load.order, load.loops[:depth]), None)
                if between is not None:
                    return Repeat(load.memory, load.span, load.size, None, between)
        return None

    def _first(self, load: Access) -> Access | None:
        """The last load or store of all of these bytes on every way to the load."""
        for one in reversed(self._same[id(load.memory), load.indices]):
            if (
                one.order < load.order
                and one.loops == load.loops[: len(one.loops)]
                and not one.cache
                and one.offset <= load.offset
                and load.offset + load.size <= one.offset + one.size
                and one.part.component in (None, load.part.component)
                and is_part(one.path, load.path)
            ):
                return one
        return None

    def _is_same_in(self, load: Access, number: Term) -> bool:
        """The load is of the same element in every trip of a loop, and there in each."""
        begin = self._judge.records.trips.get(number)
        if begin is None or not is_part(load.path, begin):
            return False
        return not any(
            is_of_trip(one, number) or one in number.atoms() for one in every_atom((*load.indices, load.part.component))
        )

    def _is_changed(self, load: Access, begin: int, loops: tuple[Term, ...]) -> bool:
        """Somebody may have changed the element since, as far as the source says: arrays do not overlap."""
        stores = self._stores[id(load.memory)]
        if not stores and not load.memory.is_changed:
            return False
        if any(_lies_between(one, load, begin, loops) for one in self._barriers):
            return True
        return any(_lies_between(one, load, begin, loops) and not are_apart(one, load) for one in stores)

    def _between(self, load: Access, begin: int, loops: tuple[Term, ...]) -> Iterator[Access | Fence]:
        """What no compiler carries an element past."""
        for one in reversed(self._keepers):
            if _lies_between(one, load, begin, loops) and self._may_meet(one.path, load.path):
                yield one

    def _may_meet(self, one: Condition, two: Condition) -> bool:
        """A thread may be on both paths."""
        both = conditions.all_of((one, two))
        return both.kind != "false" and not self._judge.facts(both).refutes()


def _lies_between(one: Access | Fence, load: Access, begin: int, loops: tuple[Term, ...]) -> bool:
    """After what has the number `begin`, in `loops`, and before the load: or in a trip before, of loops around it."""
    if begin < one.order and (one.order < load.order or (isinstance(one, Fence) and one.order == load.order)):
        return True
    depth = len(loops) + 1
    return depth <= len(load.loops) and one.loops[:depth] == load.loops[:depth] and one is not load


def is_part(path: Condition, of: Condition) -> bool:
    """Whoever is on the second path has been on the first."""
    known = set(conjuncts(of))
    return all(one in known for one in conjuncts(path))


def are_apart(one: Access, two: Access) -> bool:
    """They are of different elements, or of different bytes of one, in one thread."""
    distances = [a - b for a, b in zip(one.indices, two.indices, strict=True)]
    if any(distance.is_constant and distance.constant for distance in distances):
        return True
    is_same = all(distance.is_constant for distance in distances)
    return is_same and (one.offset + one.size <= two.offset or two.offset + two.size <= one.offset)
