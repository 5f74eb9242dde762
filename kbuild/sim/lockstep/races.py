"""Results that depend on which thread comes first.

A conflict is two threads at one granule of memory, at least one of which writes, with no barrier of their block (or
warp) between them, and no release by the one that the other may have acquired (see `ordered`). Writes of the same value
are none, since nothing depends on their order; nor is it one to read what others change by atomics, as every loop
around a compare-and-swap does. So arrays that a kernel never stores to (see `stored`) need no books; those whose
elements belong to one thread each have a list (see `owned`), the others one entry for each granule (see `books`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr
from kbuild.sim.blocks import WARP
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.books import Books, Clash
from kbuild.sim.lockstep.granules import flat, granules
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.memory import Allocation, leaves
from kbuild.sim.lockstep.ordered import Ordered
from kbuild.sim.lockstep.owned import Owned
from kbuild.sim.lockstep.places import Location, at_lane
from kbuild.sim.lockstep.tree import Value
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.values import Conflict

_WORDS = {"read": "reads", "write": "writes", "atomic": "changes (atomic)"}


class Race(Conflict):
    """Two threads on one element, with a result that depends on who comes first. `others` are the other's place and
    coordinates; `span` and `thread` are those of the one that came second here."""

    def __init__(self, reason: str, other_span: Span | None, other_thread: tuple[int, ...]) -> None:
        super().__init__(reason)
        self.other_span, self.other_thread = other_span, other_thread


@dataclass(slots=True)
class _Event:
    """Accesses by one expression between barriers. Barriers passed are a number, the same for all threads at hand, or
    an array that is never changed; `origin` is the first of these threads."""

    expr: Expr
    of_block: Any
    of_warp: Any
    of_cluster: Any
    origin: int


class Races(Watcher):
    """Raises Race."""

    wants_accesses = True

    def __init__(self) -> None:
        self._events: list[_Event] = []
        self._numbers: dict[int, int] = {}  # the event of an expression since the last barrier
        self._of_block: Any = 0  # barriers passed by the threads at hand
        self._of_warp: Any = 0
        self._of_cluster: Any = 0
        self._count = self._epoch = 0  # how many these are; the first event since their last barrier
        self._cluster_epoch = 0  # and since the last one of all their clusters
        self._shared: Allocation | None = None
        self._ordered = Ordered()

    def begins(self, lanes: Lanes, shared: Any) -> None:
        """Threads that have passed no barrier yet."""
        self._of_block = self._of_warp = self._of_cluster = 0
        self._count, self._shared = lanes.count, shared
        self._new_epoch()
        self._cluster_epoch = self._epoch

    def _new_epoch(self) -> None:
        self._numbers.clear()
        self._epoch = len(self._events)

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        """From here on these threads see what the others did before."""
        is_everybody = stmt.mask is None and lanes.count == self._count
        if stmt.mask is None:
            self._of_block = self._after(self._of_block, lanes, is_everybody)
            if stmt.of_cluster:
                self._of_cluster = self._after(self._of_cluster, lanes, is_everybody)
            if is_everybody and self._shared is not None and (stmt.of_cluster or lanes.launch.cluster == 1):
                self._shared.books = None  # what lies there is seen by everybody who can get there
        else:  # a mask is taken as the whole warp's
            here = lanes.dense - lanes.origin
            after = tree.spread(np.int32(self._of_warp), self._count).copy()
            warps = lanes.warp - lanes.warp[0]
            latest = np.zeros(int(warps.max()) + 1, np.int32)
            np.maximum.at(latest, warps, after[here])
            after[here] = latest[warps] + 1
            self._of_warp = after
        self._new_epoch()
        if is_everybody and stmt.of_cluster:
            self._cluster_epoch = self._epoch

    def _after(self, passed: Any, lanes: Lanes, is_everybody: bool) -> Any:
        """Barriers passed, with one more for these threads."""
        if is_everybody:
            return passed + 1
        after = tree.spread(np.int32(passed), self._count).copy()
        after[lanes.dense - lanes.origin] += 1
        return after

    def orders(self, order: str, lanes: Lanes) -> None:
        """What these threads do from here on is another event than before."""
        self._ordered.note(order, lanes, len(self._events))
        self._numbers.clear()

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Value) -> None:
        """Raises Race."""
        memory = location.memory
        assert memory is not None
        if not memory.is_stored:
            return
        event = self._event(expr, lanes)
        books = memory.books
        if books is None:
            books = memory.books = Owned()
        if isinstance(books, Owned):
            if books.takes(kind, location, lanes, event, id(expr)):
                return
            memory.books, listed = Books(memory), books
            for entry in listed.entries():
                self._note(entry.kind, entry.location, entry.lanes, entry.event, None)
        self._note(kind, location, lanes, event, flat(value) if kind == "write" else None)

    def _event(self, expr: Expr, lanes: Lanes) -> int:
        number = self._numbers.get(id(expr))
        if number is None:
            number = self._numbers[id(expr)] = len(self._events)
            self._events.append(_Event(expr, self._of_block, self._of_warp, self._of_cluster, lanes.origin))
        return number

    def _note(self, kind: str, location: Location, lanes: Lanes, event: int, parts: list[Any] | None) -> None:
        memory = location.memory
        assert memory is not None
        books: Books = memory.books
        for number, (delta, leaf) in enumerate(leaves(location.type)):
            written = None if parts is None else tree.spread(parts[number], lanes.count)
            for granule in granules(location, delta, leaf.size, lanes.count):
                try:
                    books.note(kind, granule, lanes, event, written, self._sees)
                except Clash as clash:
                    raise self._race(clash, kind, event, memory, lanes) from None

    def _sees(self, lanes: Lanes, positions: Any, before: Any, events: Any) -> Any:
        """Which of the lanes come after an earlier access, by a thread of another number."""
        size = math.prod(lanes.launch.block)
        mine = lanes.stamps[positions] - 1
        same_block = (before - 1) // size == mine // size
        return self._waited(lanes, positions, before, events, mine, same_block) | self._ordered.sees(
            before - 1, events, mine, size
        )

    def _waited(self, lanes: Lanes, positions: Any, before: Any, events: Any, mine: Any, same_block: Any) -> Any:
        """Which have come to a barrier since."""
        size, cluster = math.prod(lanes.launch.block), lanes.launch.cluster
        same_cluster = same_block if cluster == 1 else (before - 1) // (size * cluster) == mine // (size * cluster)
        if not any(isinstance(passed, np.ndarray) for passed in (self._of_block, self._of_warp, self._of_cluster)):
            # Those of these blocks have come to all barriers together.
            seen = same_block & (events < self._epoch)
            return seen if cluster == 1 else seen | (same_cluster & (events < self._cluster_epoch))
        found = np.zeros(len(positions), bool)
        for number in np.unique(events):
            event = self._events[number]
            if event.origin != lanes.origin:
                continue  # another block's
            here = (events == number) & same_cluster
            there, own = (before - 1 - lanes.origin)[here], (mine - lanes.origin)[here]
            same_warp = there % size // WARP == own % size // WARP
            of_block = self._passed(event.of_block, self._of_block, there, own) | (
                same_warp & self._passed(event.of_warp, self._of_warp, there, own)
            )
            of_cluster = self._passed(event.of_cluster, self._of_cluster, there, own)
            found[here] = (same_block[here] & of_block) | of_cluster
        return found

    def _passed(self, then: Any, now: Any, there: Any, own: Any) -> Any:
        """Whether the one thread has come to more barriers than the other had."""
        return tree.spread(np.int32(then), self._count)[there] < tree.spread(np.int32(now), self._count)[own]

    def _race(self, clash: Clash, kind: str, event: int, memory: Allocation, lanes: Lanes) -> Race:
        first = tuple(int(n) for n in np.unravel_index(clash.thread - 1, lanes.launch.dim))
        second = lanes.coordinates(clash.position)
        span, there = self._events[event].expr.span, self._events[clash.event].expr.span
        place = memory.place(clash.granule * memory.granule)
        reason = (
            f"thread {first} {_WORDS[clash.other]} {place}{line_of(there)}, and thread {second} "
            f"{_WORDS[kind]} it{line_of(span)}, with no barrier between them"
        )
        return at_lane(Race(reason, there, first), clash.position)  # type: ignore[return-value]


def line_of(span: Span | None) -> str:
    """A place, in a sentence."""
    return "" if span is None else f" (line {span.line})"
