"""Arrays that nobody has assigned to: `kb.empty` on the device `sim` fills them with a mark, and reading it is a fault.

The mark is a number of four bytes that no arithmetic makes, so that whoever assigns, kernel or host, takes it away, and
nobody need be watched. Numbers of one or two bytes are not told apart from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kbuild.ir.nodes import Expr
from kbuild.ir.types import BOOL, INT32, INT64, Array, Scalar, Struct, Type
from kbuild.loader.abi import UNASSIGNED
from kbuild.sim.lockstep import memory, tree
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.memory import Extent, bytes_at, leaves
from kbuild.sim.lockstep.places import Location, at_lane
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.values import Unassigned

MARK = {4: np.frombuffer(UNASSIGNED, np.int32)[0], 8: np.frombuffer(UNASSIGNED * 2, np.int64)[0]}


def is_marked(start: int, size: int) -> bool:
    """Whether memory of this process has places that nobody has assigned to."""
    words = bytes_at(Extent(start, start + size // 4 * 4, 4, "")).view(np.int32)
    return bool((words == MARK[4]).any())


def _places(type: Type) -> list[tuple[int, Scalar]]:
    """(offset, type) of what may hold the mark: every number in an element, and the addresses of its arrays."""
    if isinstance(type, Array):
        return [(0, INT64)]
    if isinstance(type, Struct):
        return [(field.offset + at, leaf) for field in type.fields for at, leaf in _places(field.type)]
    return leaves(type)


class Marked(Watcher):
    """Raises Unassigned."""

    wants_accesses = True

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Any) -> None:
        """Raises Unassigned where the mark is read."""
        found = location.memory
        assert found is not None
        if kind == "write" or found.stride:
            return
        for delta, leaf in _places(location.type):
            mark = MARK.get(leaf.size)
            if mark is None or leaf == BOOL:
                continue
            kind_of_bits = INT32 if leaf.size == 4 else INT64
            bits = memory.at(found, location.offset, kind_of_bits, location.delta + delta)
            hits = tree.dense(bits) == mark
            if hits.any():
                at = int(np.argmax(hits)) if hits.ndim else 0
                where = tree.spread(location.offset, lanes.count) if not isinstance(location.offset, int) else None
                offset = (location.offset if where is None else int(where[at])) + location.delta + delta
                reason = f"{found.place(offset)} is read before anything is assigned to it"
                raise at_lane(Unassigned(reason), at)
