"""Shared memory of other blocks of a cluster: whether those blocks are there when it is touched.

Blocks of a cluster begin and end as they like. After the first barrier of the cluster all have begun, and before the
last one none has ended.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.places import Location, at_lane
from kbuild.sim.lockstep.tree import Value
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.values import MAY_HAVE_ENDED, MAY_NOT_HAVE_BEGUN, Fault


class Clusters(Watcher):
    """Raises Fault where a block may not have begun yet, or may have ended."""

    wants_accesses = True

    def __init__(self) -> None:
        self._has_waited: Any = None  # of the threads at hand: at a barrier of the cluster
        self._away: Any = None  # the last access of each to another block since: its number in `_exprs`, 0 for none
        self._exprs: list[Expr | None] = [None]

    def begins(self, lanes: Lanes, shared: Any) -> None:
        """Other threads."""
        self._has_waited, self._away = np.zeros(lanes.count, bool), np.zeros(lanes.count, np.int32)

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        """The blocks of these threads are there."""
        if stmt.of_cluster:
            here = lanes.dense - lanes.origin
            self._has_waited[here], self._away[here] = True, 0

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Value) -> None:
        """Raises Fault."""
        memory, offset = location.memory, location.offset
        assert memory is not None
        if not memory.stride:
            return
        places = tree.spread(np.int64(offset) if isinstance(offset, int) else offset, lanes.count)
        (away,) = np.nonzero(places // memory.stride != lanes.slot)
        if len(away) == 0:
            return
        here = lanes.dense[away] - lanes.origin
        known = self._has_waited[here]
        if not known.all():
            raise at_lane(Fault(MAY_NOT_HAVE_BEGUN), int(away[np.argmin(known)]))
        if self._exprs[-1] is not expr:
            self._exprs.append(expr)
        self._away[here] = len(self._exprs) - 1

    def finish(self, lanes: Lanes) -> None:
        """All threads at hand have ended. Raises Fault."""
        if self._away.any():
            position = int(np.argmax(self._away != 0))
            last = self._exprs[self._away[position]]
            fault = Fault(MAY_HAVE_ENDED)
            fault.span, fault.thread = None if last is None else last.span, lanes.coordinates(position)
            raise fault
