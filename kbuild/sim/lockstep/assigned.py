"""Shared memory that nobody has assigned to."""

from __future__ import annotations

from typing import Any

import numpy as np

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr
from kbuild.sim.lockstep import granules
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.memory import Allocation, leaves
from kbuild.sim.lockstep.places import Location, at_lane
from kbuild.sim.lockstep.tree import Value
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.values import Unassigned


class Assigned(Watcher):
    """Raises Unassigned where shared memory is read before anything was assigned to it."""

    wants_accesses = True

    def __init__(self) -> None:
        self._shared: Allocation | None = None

    def begins(self, lanes: Lanes, shared: Any) -> None:
        """Other shared memory."""
        self._shared = shared

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        """Mostly all of it is assigned before the first barrier, and there is nothing more to look for."""
        memory = self._shared
        if memory is not None and memory.assigned is not None and memory.assigned.all():
            memory.assigned = None

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Value) -> None:
        """Raises Unassigned."""
        memory = location.memory
        assert memory is not None
        if memory.assigned is None:
            return
        for delta, leaf in leaves(location.type):
            for granule in granules.granules(location, delta, leaf.size, lanes.count):
                if kind != "write":
                    known = memory.assigned[granule]
                    if known.all():
                        continue
                    at = int(np.argmin(known))
                    place = memory.place(granules.at(granule, at) * memory.granule)
                    reason = f"{place} is read before anything is assigned to it"
                    raise at_lane(Unassigned(reason), at)
                memory.assigned[granule] = True
