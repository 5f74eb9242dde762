"""Who touched each granule of an allocation last.

A slot has two numbers for every granule: the thread + 1 (0: nobody), and the event, which is an access that the kernel
makes at some place between two barriers. A granule has a slot for the last write, and four each for reads and for
changes by atomics since: the latest, one other, one of another warp than the latest's, and one of another block (where
blocks run in clusters, one of another block of the cluster and one of another cluster). That is enough to find a
conflict if there is one (in a warp, and in a block, all come after what the latest comes after). Most accesses are
cleared by one look at the thread: it is the same, or there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kbuild.sim.blocks import WARP, Launch
from kbuild.sim.lockstep.granules import at, chosen
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.memory import Allocation

# What decides whether lanes see earlier accesses: (lanes, their positions, threads + 1, events) → one answer each.
Sees = Callable[[Lanes, Any, Any, Any], Any]


class Clash(Exception):
    """Two threads on one granule. `other` is the kind of the earlier access, by `thread` (+ 1) and `event`; `position`
    is the lane that came second."""

    def __init__(self, other: str, thread: int, event: int, granule: int, position: int) -> None:
        super().__init__(other)
        self.other, self.thread, self.event, self.granule, self.position = other, thread, event, granule, position


class _Slot:
    """The two numbers of a granule lie side by side: lanes that go all over the memory come to one place each."""

    __slots__ = ("_both", "event", "who")

    def __init__(self, granules: int) -> None:
        pairs = np.zeros((granules, 2), "<i4")
        self.who, self.event = pairs[:, 0], pairs[:, 1]
        self._both = pairs.view("<i8")[:, 0]

    def put(self, granule: Any, who: Any, event: Any) -> None:
        """Replaces both, of the same granule by those of the last lane."""
        if isinstance(granule, slice):
            self.who[granule], self.event[granule] = who, event
        else:
            self._both[granule] = who + (np.int64(event) << 32)


class _Readers:
    """Those who have read a granule, or changed it by atomics."""

    def __init__(self, granules: int) -> None:
        self.latest, self._granules = _Slot(granules), granules
        self._more: dict[
            str, _Slot
        ] = {}  # `other`, `aside`, `away`, `beyond`: made when they are needed, which is seldom

    @property
    def slots(self) -> list[_Slot]:
        return [self.latest, *self._more.values()]

    def add(self, granule: Any, who: Any, event: int, lanes: Lanes) -> None:
        latest = self.latest
        before = latest.who[granule]
        differs = before != who
        differs &= before != 0
        if differs.any():
            (positions,) = np.nonzero(differs)
            here = chosen(granule, positions)
            self._beside(here, before[positions], latest.event[here], who[positions], lanes.launch)
        latest.put(granule, who, event)
        if isinstance(granule, slice):
            return
        beside = latest.who[granule] != who
        if beside.any():
            (positions,) = np.nonzero(beside)
            here = granule[positions]
            event_of_all = np.full(len(here), event, np.int32)
            self._beside(here, who[positions], event_of_all, latest.who[here], lanes.launch)

    def _beside(self, here: Any, who: Any, event: Any, latest: Any, launch: Launch) -> None:
        """Keeps who is not the latest: as any, and as one of another cluster, block, or warp, than who is."""
        self._keep("other", here, who, event)
        first, second, size = who - 1, latest - 1, math.prod(launch.block)
        is_far = is_away = first // size != second // size
        if launch.cluster > 1:
            together = size * launch.cluster
            is_beyond = first // together != second // together
            self._keep("beyond", here[is_beyond], who[is_beyond], event[is_beyond])
            is_away = is_far & ~is_beyond
        self._keep("away", here[is_away], who[is_away], event[is_away])
        if size > WARP:
            is_aside = ~is_far & (first % size // WARP != second % size // WARP)
            self._keep("aside", here[is_aside], who[is_aside], event[is_aside])

    def _keep(self, name: str, here: Any, who: Any, event: Any) -> None:
        if len(here):
            slot = self._more.get(name)
            if slot is None:
                slot = self._more[name] = _Slot(self._granules)
            slot.put(here, who, event)


class Books:
    """The slots of all granules."""

    def __init__(self, memory: Allocation) -> None:
        self.memory = memory
        self._granules = memory.size // memory.granule + 1
        self._writer: _Slot | None = None
        self._readers: dict[str, _Readers] = {}
        self._winner: Any = None

    def note(self, kind: str, granule: Any, lanes: Lanes, event: int, written: Any, sees: Sees) -> None:
        """An access of lanes to a granule each; `written` are the values, if they are known. Raises Clash."""
        who = lanes.stamps
        if self._writer is not None:
            self._hold("write", self._writer, granule, who, lanes, written, sees)
        if kind != "write":
            readers = self._readers.get(kind)
            if readers is None:
                readers = self._readers[kind] = _Readers(self._granules)
            readers.add(granule, who, event, lanes)
            return
        for other, readers in self._readers.items():
            for slot in readers.slots:
                self._hold(other, slot, granule, who, lanes, None, sees)
        self._write(granule, who, event, written)

    def _hold(self, other: str, slot: _Slot, granule: Any, who: Any, lanes: Lanes, written: Any, sees: Sees) -> None:
        """Holds accesses against an earlier one."""
        before = slot.who[granule]
        differs = before != who
        differs &= before != 0
        if not differs.any():
            return
        (positions,) = np.nonzero(differs)
        here = chosen(granule, positions)
        unseen = ~sees(lanes, positions, before[positions], slot.event[here])
        if written is not None and unseen.any():
            unseen &= ~self._is_there(here, written, positions)
        if unseen.any():
            first = int(np.argmax(unseen))
            position = int(positions[first])
            thread, event = int(before[position]), int(slot.event[here[first]])
            raise Clash(other, thread, event, int(here[first]), position)

    def _is_there(self, here: Any, written: Any, positions: Any) -> Any:
        """Where memory holds already what is written: nothing depends on the order of equal writes."""
        memory, width = self.memory, self.memory.granule
        if written.dtype.itemsize != width:  # a part of a number: taken as different
            return np.zeros(len(positions), bool)
        there = memory.data[: memory.size // width * width].view(f"u{width}")[here]
        return there == np.ascontiguousarray(written[positions]).view(f"u{width}")

    def _write(self, granule: Any, who: Any, event: int, written: Any) -> None:
        if self._writer is None:
            self._writer = _Slot(self._granules)
        self._writer.put(granule, who, event)
        if not isinstance(granule, slice) and written is not None:
            beside = self._writer.who[granule] != who
            if beside.any():
                self._compare(granule, who, event, written)
        for readers in self._readers.values():  # who comes after this write comes after all that it has seen
            for slot in readers.slots:
                slot.who[granule] = 0

    def _compare(self, granule: Any, who: Any, event: int, written: Any) -> None:
        """Holds the lanes of one access against each other."""
        if self._winner is None:
            self._winner = np.empty(self._granules, np.int32)
        positions = np.arange(len(granule), dtype=np.int32)
        self._winner[granule] = positions
        winner = self._winner[granule]
        bits = np.ascontiguousarray(written).view(f"u{written.dtype.itemsize}")
        differ = (bits != bits[winner]) & (winner != positions)
        if differ.any():
            position = int(np.argmax(differ))
            raise Clash("write", int(who[winner[position]]), event, at(granule, position), position)
