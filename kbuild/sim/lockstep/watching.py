"""Who is told of what happens in a run: checks, counts and traces. What nobody asks for costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Stmt
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.places import Location, at_lane
from kbuild.sim.values import Fault

if TYPE_CHECKING:
    from kbuild.sim.lockstep.frame import Frame


class Watcher:
    """What a check, a count or a trace may be told; one that does not care for something leaves it out."""

    wants_accesses = wants_statements = wants_values = False

    def starts_over(self) -> None:
        """What was seen does not count: the launch runs again, thread after thread, since some wait for a lock."""

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Any) -> None:
        """Lanes read, write (a value), or change (`atomic`) what lies at a location, whose allocation is known."""

    def executes(self, stmt: Stmt, frame: Frame) -> None:
        """Lanes come to a statement."""

    def computed(self, expr: Expr, found: Any, operands: list[Any], frame: Frame) -> None:
        """Lanes have computed a value."""

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        """Lanes meet at a barrier."""

    def begins(self, lanes: Lanes, shared: Any) -> None:
        """Other blocks are at hand."""


class DividedByZero(Fault):
    """An integer divided by zero, which is 0 on every device, and hardly ever meant."""


class Watching:
    """The watchers of one run."""

    def __init__(self, watchers: list[Watcher], divisions: bool) -> None:
        self.watchers, self.divisions = watchers, divisions
        self._accesses = [one for one in watchers if one.wants_accesses]
        self._statements = [one for one in watchers if one.wants_statements]
        self._values = [one for one in watchers if one.wants_values]
        self.accesses, self.statements, self.values = map(bool, (self._accesses, self._statements, self._values))

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Any = None) -> None:
        for one in self._accesses:
            one.accessed(kind, location, lanes, expr, value)

    def executes(self, stmt: Stmt, frame: Frame) -> None:
        for one in self._statements:
            one.executes(stmt, frame)

    def computed(self, expr: Expr, found: Any, operands: list[Any], frame: Frame) -> None:
        for one in self._values:
            one.computed(expr, found, operands, frame)

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        for one in self.watchers:
            one.waits(stmt, lanes)

    def begins(self, lanes: Lanes, shared: Any) -> None:
        for one in self.watchers:
            one.begins(lanes, shared)

    def divided(self, divisor: Any, op: str, expr: nodes.Binary) -> None:
        """Raises DividedByZero."""
        divisor = tree.dense(divisor)
        if not divisor.all():
            what = "remainder of a division" if op == "mod" else "division"
            raise at_lane(DividedByZero(f"{what} of integers by zero"), int(np.argmin(divisor)) if divisor.ndim else 0)
