"""Who is told of what happens in a run: checks, counts and traces. What nobody asks for costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Kernel, Stmt, Symbol
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.places import Location, at_lane
from kbuild.sim.values import Fault

if TYPE_CHECKING:
    from kbuild.sim.lockstep.frame import Frame


class Watcher:
    """What a check, a count or a trace may be told; one that does not care for something leaves it out."""

    wants_accesses = wants_statements = wants_values = wants_variables = wants_calls = False

    def starts(self, kernel: Kernel, launch: Launch) -> None:
        """A launch begins."""

    def ends(self, fault: Fault | None) -> None:
        """It has ended: well, by a fault, or because nobody wants more of it."""

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Any) -> None:
        """Lanes read, write (a value), or change (`atomic`, with a list of operands) what lies at a location, whose
        allocation is known."""

    def executes(self, stmt: Stmt, frame: Frame) -> None:
        """Lanes come to a statement."""

    def tests(self, stmt: nodes.For | nodes.While, frame: Frame) -> None:
        """Lanes come to the test whether a loop goes on: before each trip, and when it is over."""

    def computed(self, expr: Expr, found: Any, operands: list[Any], frame: Frame) -> None:
        """Lanes have computed a value."""

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        """Lanes meet at a barrier."""

    def orders(self, order: str, lanes: Lanes) -> None:
        """Lanes have done an atomic operation that releases what they did before, or acquires what others have."""

    def begins(self, lanes: Lanes, shared: Any) -> None:
        """Other blocks are at hand."""

    def prints(self, stmt: nodes.Print, values: list[tuple[Any, Any]], lanes: Lanes) -> None:
        """Lanes print: (number for each lane, type) for each conversion."""

    def assigns(self, symbol: Symbol, value: Any, frame: Frame, span: Span | None, positions: Any) -> None:
        """Lanes of a frame (all, or those at positions) are about to have a variable assigned."""

    def enters(self, function: Function, frame: Frame, caller: Frame) -> None:
        """Lanes call a function, or begin with the kernel's own."""

    def leaves(self, function: Function) -> None:
        """They are back, none missing."""


class DividedByZero(Fault):
    """An integer divided by zero, which is 0 on every device, and hardly ever meant."""


class Watching:
    """The watchers of one run."""

    def __init__(self, watchers: list[Watcher], divisions: bool) -> None:
        self.watchers, self.divisions = watchers, divisions
        self._accesses = [one for one in watchers if one.wants_accesses]
        self._statements = [one for one in watchers if one.wants_statements]
        self._values = [one for one in watchers if one.wants_values]
        self._variables = [one for one in watchers if one.wants_variables]
        self._calls = [one for one in watchers if one.wants_calls]
        self.accesses, self.statements, self.values = map(bool, (self._accesses, self._statements, self._values))
        self.variables, self.calls = bool(self._variables), bool(self._calls)

    def starts(self, kernel: Kernel, launch: Launch) -> None:
        for one in self.watchers:
            one.starts(kernel, launch)

    def ends(self, fault: Fault | None) -> None:
        for one in self.watchers:
            one.ends(fault)

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Any = None) -> None:
        for one in self._accesses:
            one.accessed(kind, location, lanes, expr, value)

    def executes(self, stmt: Stmt, frame: Frame) -> None:
        for one in self._statements:
            one.executes(stmt, frame)

    def tests(self, stmt: nodes.For | nodes.While, frame: Frame) -> None:
        for one in self._statements:
            one.tests(stmt, frame)

    def computed(self, expr: Expr, found: Any, operands: list[Any], frame: Frame) -> None:
        for one in self._values:
            one.computed(expr, found, operands, frame)

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        for one in self.watchers:
            one.waits(stmt, lanes)

    def orders(self, order: str, lanes: Lanes) -> None:
        for one in self.watchers:
            one.orders(order, lanes)

    def begins(self, lanes: Lanes, shared: Any) -> None:
        for one in self.watchers:
            one.begins(lanes, shared)

    def prints(self, stmt: nodes.Print, values: list[tuple[Any, Any]], lanes: Lanes) -> None:
        for one in self.watchers:
            one.prints(stmt, values, lanes)

    def assigns(self, symbol: Symbol, value: Any, frame: Frame, span: Span | None, positions: Any = None) -> None:
        for one in self._variables:
            one.assigns(symbol, value, frame, span, positions)

    def enters(self, function: Function, frame: Frame, caller: Frame) -> None:
        for one in self._calls:
            one.enters(function, frame, caller)

    def leaves(self, function: Function) -> None:
        for one in self._calls:
            one.leaves(function)

    def divided(self, divisor: Any, op: str, expr: nodes.Binary) -> None:
        """Raises DividedByZero."""
        divisor = tree.dense(divisor)
        if not divisor.all():
            what = "remainder of a division" if op == "mod" else "division"
            position = int(np.argmax(divisor == 0)) if divisor.ndim else 0
            raise at_lane(DividedByZero(f"{what} of integers by zero"), position)
