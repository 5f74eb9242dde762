"""Who touched what, to tell results that depend on which thread comes first; and memory that nobody has assigned to.

Every granule of memory remembers the last thread that wrote to it, and up to four that have read it or changed it by an
atomic since: the latest, one other, one of another warp than the latest's, and one of another block. That is enough to
find a conflict if there is one (in a warp, and in a block, all come after what the latest comes after): two
threads, at least one of which writes, with no barrier of their block (or warp) between them. Writes of the same value
are no conflict, since nothing depends on their order; nor is it one to read what others change by atomics, as every
loop around a compare-and-swap does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr
from kbuild.sim.blocks import WARP
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.memory import Allocation, leaves
from kbuild.sim.lockstep.places import Location, at_lane
from kbuild.sim.lockstep.tree import Value
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.values import Conflict, Unassigned

_WORDS = {"read": "reads", "write": "writes", "atomic": "changes (atomic)"}


class Race(Conflict):
    """Two threads on one element, with a result that depends on who comes first. `others` are the other's place and
    coordinates; `span` and `thread` are those of the one that came second here."""

    def __init__(self, reason: str, other_span: Span | None, other_thread: tuple[int, ...]) -> None:
        super().__init__(reason)
        self.other_span, self.other_thread = other_span, other_thread


class _Books:
    """Accesses to the granules of an allocation. A slot has four rows: thread + 1 (0: nobody), how many barriers of its
    block and of its warp it had passed, and the number of the expression."""

    def __init__(self, granules: int) -> None:
        self.writer = np.zeros((4, granules), np.int32)
        self.slots = {kind: [np.zeros((4, granules), np.int32) for _ in range(4)] for kind in ("read", "atomic")}
        self.used = {"write": False, "read": False, "atomic": False}
        self.winner = np.empty(granules, np.int32)


class Races(Watcher):
    """Raises Race."""

    wants_accesses = True

    def __init__(self) -> None:
        self._sites: list[Expr] = []
        self._numbers: dict[int, int] = {}
        self._of_block = self._of_warp = np.zeros(0, np.int32)  # barriers passed, by thread at hand

    def begins(self, lanes: Lanes, shared: Any) -> None:
        """Threads that have passed no barrier yet."""
        self._of_block, self._of_warp = np.zeros(lanes.count, np.int32), np.zeros(lanes.count, np.int32)

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        """From here on these threads see what the others did before."""
        here = lanes.dense - lanes.origin
        if stmt.mask is None:
            self._of_block[here] += 1
        else:  # a mask is taken as the whole warp's
            warps = lanes.warp - lanes.warp[0]
            latest = np.zeros(int(warps.max()) + 1, np.int32)
            np.maximum.at(latest, warps, self._of_warp[here])
            self._of_warp[here] = latest[warps] + 1

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Value) -> None:
        """Raises Race."""
        memory = location.memory
        assert memory is not None
        if memory.books is None:
            memory.books = _Books(memory.size // memory.granule + 1)
        here = lanes.dense - lanes.origin
        who = np.empty((4, lanes.count), np.int32)
        who[0], who[1], who[2] = lanes.dense + 1, self._of_block[here], self._of_warp[here]
        who[3] = self._site(expr)
        parts = flat(value) if kind == "write" else None
        for number, (delta, leaf) in enumerate(leaves(location.type)):
            written = None if parts is None else tree.spread(parts[number], lanes.count)
            for granule in granules(location, delta, leaf.size, lanes.count):
                self._note(kind, memory, granule, who, lanes, written)

    def _site(self, expr: Expr) -> int:
        number = self._numbers.get(id(expr))
        if number is None:
            number = self._numbers[id(expr)] = len(self._sites)
            self._sites.append(expr)
        return number

    def _note(self, kind: str, memory: Allocation, granule: Any, who: Any, lanes: Lanes, written: Any) -> None:
        books: _Books = memory.books
        if books.used["write"]:
            self._hold("write", books.writer, kind, memory, granule, who, lanes, written)
        for other in ("read", "atomic"):
            if kind == "write" and books.used[other]:
                for slot in books.slots[other]:
                    self._hold(other, slot, kind, memory, granule, who, lanes, None)
        books.used[kind] = True
        if kind == "write":
            self._write(books, memory, granule, who, lanes, written)
        else:
            self._remember(books.slots[kind], granule, who, lanes)

    def _hold(
        self, other: str, slot: Any, kind: str, memory: Allocation, granule: Any, who: Any, lanes: Lanes, written: Any
    ) -> None:
        """Holds accesses against an earlier one."""
        before = slot[0, granule]
        suspects = (before != 0) & (before != who[0])
        if not suspects.any():
            return
        size = math.prod(lanes.launch.block)
        same_block = (before - 1) // size == lanes.block
        same_warp = same_block & ((before - 1) % size // WARP == lanes.index // WARP)
        is_seen = same_block & (slot[1, granule] < who[1]) | same_warp & (slot[2, granule] < who[2])
        suspects &= ~is_seen
        if written is not None and suspects.any():
            width = memory.granule
            if written.dtype.itemsize == width:  # else a part of a number: taken as different
                there = memory.data[: memory.size // width * width].view(f"u{width}")[granule]
                suspects &= there != np.ascontiguousarray(written).view(f"u{width}")
        if suspects.any():
            at = int(np.argmax(suspects))
            raise self._race(other, slot[:, granule[at]], kind, who[:, at], memory, int(granule[at]), lanes, at)

    def _write(self, books: _Books, memory: Allocation, granule: Any, who: Any, lanes: Lanes, written: Any) -> None:
        positions = np.arange(lanes.count, dtype=np.int32)
        books.winner[granule] = positions
        winner = books.winner[granule]
        if written is not None and not np.array_equal(winner, positions):
            bits = np.ascontiguousarray(written).view(f"u{written.dtype.itemsize}")
            differ = (bits != bits[winner]) & (winner != positions)
            if differ.any():
                at = int(np.argmax(differ))
                raise self._race("write", who[:, winner[at]], "write", who[:, at], memory, int(granule[at]), lanes, at)
        books.writer[:, granule] = who
        for slots in books.slots.values():  # who comes after this write comes after all that it has seen
            for slot in slots:
                slot[0, granule] = 0

    def _remember(self, slots: list[Any], granule: Any, who: Any, lanes: Lanes) -> None:
        latest = slots[0]
        before = latest[:, granule]
        differs = (before[0] != 0) & (before[0] != who[0])
        if differs.any():
            _displace(slots, granule, before, who, differs, lanes)
        latest[:, granule] = who
        after = latest[:, granule]
        beside = after[0] != who[0]
        if beside.any():
            _displace(slots, granule, who, after, beside, lanes)

    def _race(
        self, other: str, before: Any, kind: str, now: Any, memory: Allocation, granule: int, lanes: Lanes, at: int
    ) -> Race:
        dim = lanes.launch.dim
        first = tuple(int(n) for n in np.unravel_index(int(before[0]) - 1, dim))
        second = tuple(int(n) for n in np.unravel_index(int(now[0]) - 1, dim))
        span, there = self._sites[int(now[3])].span, self._sites[int(before[3])].span
        offset = granule * memory.granule % (memory.stride or memory.size + 1)
        reason = (
            f"thread {first} {_WORDS[other]} {memory.name}, byte {offset}{_line(there)}, and thread {second} "
            f"{_WORDS[kind]} it{_line(span)}, with no barrier between them"
        )
        fault = Race(reason, there, first)
        return at_lane(fault, at)  # type: ignore[return-value]


def _displace(slots: list[Any], granule: Any, before: Any, after: Any, which: Any, lanes: Lanes) -> None:
    """Keeps accesses that others follow: as any, and as one of another warp or block than the one that follows."""
    _, other, aside, away = slots
    size = math.prod(lanes.launch.block)
    first, second = before[0] - 1, after[0] - 1
    is_far = which & (first // size != second // size)
    is_aside = which & ~is_far & (first % size // WARP != second % size // WARP)
    for slot, places in ((other, which), (aside, is_aside), (away, is_far)):
        slot[:, granule[places]] = before[:, places]


def _line(span: Span | None) -> str:
    return "" if span is None else f" (line {span.line})"


class Assigned(Watcher):
    """Raises Unassigned where shared memory is read before anything was assigned to it."""

    wants_accesses = True

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Value) -> None:
        """Raises Unassigned."""
        memory = location.memory
        assert memory is not None
        if memory.assigned is None:
            return
        for delta, leaf in leaves(location.type):
            for granule in granules(location, delta, leaf.size, lanes.count):
                if kind != "write" and not memory.assigned[granule].all():
                    at = int(np.argmin(memory.assigned[granule]))
                    offset = int(granule[at]) * memory.granule % (memory.stride or memory.size + 1)
                    reason = f"{memory.name}, byte {offset}, is read before anything is assigned to it"
                    raise at_lane(Unassigned(reason), at)
                memory.assigned[granule] = True


def granules(location: Location, delta: int, size: int, count: int) -> list[Any]:
    """For each granule of a number its index, lane by lane."""
    memory = location.memory
    assert memory is not None
    offset = location.offset
    start = tree.spread(np.int64(offset) if isinstance(offset, int) else offset, count)
    first = (start + (location.delta + delta)) // memory.granule
    return [first + i if i else first for i in range(max(size // memory.granule, 1))]


def flat(value: Value) -> list[Any]:
    """The leaves of a value that lie in memory, in order."""
    if isinstance(value, list):
        return [leaf for part in value for leaf in flat(part)]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in flat(part)]
    return [value] if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "dense") else []
