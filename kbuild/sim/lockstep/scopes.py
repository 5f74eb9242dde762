"""Atomic operations that are atomic for their block alone, at elements that threads of another block change too.

`scope="block"` says that nobody else takes part: two blocks may then both read an element before either has stored it,
and one change is lost. For each granule the first thread that changed it by an atomic is remembered, one of another
block, and one that did so for its block alone. What lies before a barrier of a cluster is forgotten, since it is in
order with what those blocks do after it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr
from kbuild.sim.lockstep.granules import granules
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.memory import Allocation
from kbuild.sim.lockstep.places import Location, at_lane
from kbuild.sim.lockstep.races import Race, line_of
from kbuild.sim.lockstep.watching import Watcher


def is_narrow(node: nodes.Node) -> bool:
    """Whether a node is an atomic operation for a block alone."""
    return isinstance(node, nodes.Intrinsic) and node.scope == "block"


class _Book:
    """Threads (by number + 1, 0 for none) and the operations by which they changed each granule."""

    def __init__(self, granules: int) -> None:
        self.first, self.away, self.narrow = (np.zeros((granules, 2), np.int64) for _ in range(3))


class Scopes(Watcher):
    """Raises Race."""

    wants_accesses = True

    def __init__(self) -> None:
        self._books: dict[int, tuple[Allocation, _Book]] = {}
        self._operations: list[nodes.Intrinsic] = []

    def begins(self, lanes: Lanes, shared: Any) -> None:
        """Their shared memory is another."""
        self._books = {key: found for key, found in self._books.items() if found[0].space != "shared"}

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        """Blocks may have waited for one another."""
        if stmt.of_cluster:
            self._books.clear()

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Any) -> None:
        """Raises Race."""
        memory = location.memory
        if kind != "atomic" or memory is None:
            return
        assert isinstance(expr, nodes.Intrinsic)
        _, book = self._books.setdefault(id(memory), (memory, _Book(memory.size // memory.granule + 1)))
        self._operations.append(expr)
        (granule, *_) = granules(location, 0, location.type.size, lanes.count)
        if isinstance(granule, slice):
            granule = np.arange(memory.size // memory.granule + 1)[granule]
        size = math.prod(lanes.launch.block)
        for turn in _by_block(granule, lanes.block):
            self._note(book, memory, granule[turn], turn, lanes, size)

    def _note(self, book: _Book, memory: Allocation, granule: Any, turn: Any, lanes: Lanes, size: int) -> None:
        """One thread at each granule."""
        block, narrow = lanes.block[turn], is_narrow(self._operations[-1])
        for entries in (book.first, book.away) if narrow else (book.narrow,):
            clashes = (entries[granule, 0] != 0) & ((entries[granule, 0] - 1) // size != block)
            if clashes.any():
                at = int(np.argmax(clashes))
                raise self._race(memory, int(granule[at]), entries[granule[at]], int(turn[at]), lanes)
        own = np.stack([lanes.dense[turn] + 1, np.full(len(turn), len(self._operations) - 1)], axis=1)
        is_new = book.first[granule, 0] == 0
        book.first[granule[is_new]] = own[is_new]
        is_away = (book.first[granule, 0] - 1) // size != block
        book.away[granule[is_away]] = own[is_away]
        if narrow:
            book.narrow[granule] = own

    def _race(self, memory: Allocation, granule: int, other: Any, position: int, lanes: Lanes) -> Race:
        there, here = self._operations[int(other[1])], self._operations[-1]
        first = tuple(int(n) for n in np.unravel_index(int(other[0]) - 1, lanes.launch.dim))
        second = lanes.coordinates(position)
        place = memory.place(granule * memory.granule)
        reason = (
            f"thread {first} changes (atomic) {place}{line_of(there.span)}, and thread "
            f'{second} of another block does{line_of(here.span)}, with scope="block" at '
            f"{'both' if is_narrow(there) and is_narrow(here) else 'one'} of them"
        )
        return at_lane(Race(reason, there.span, first), position)  # type: ignore[return-value]


def _by_block(granule: Any, block: Any) -> list[Any]:
    """Positions of one lane for each granule and block, those of one granule in different turns."""
    order = np.lexsort((block, granule))
    granule, block = granule[order], block[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (granule[1:] != granule[:-1]) | (block[1:] != block[:-1])
    positions, granule = order[is_first], granule[is_first]
    begins = np.ones(len(granule), bool)
    begins[1:] = granule[1:] != granule[:-1]
    here = np.arange(len(granule))
    turn = here - np.maximum.accumulate(np.where(begins, here, 0))
    return [positions[turn == number] for number in range(min(int(turn.max(initial=-1)) + 1, 2))]
