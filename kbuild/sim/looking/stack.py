"""Where every lane of a run stands: the calls that are open, and the frames of their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kbuild.ir import nodes
from kbuild.ir.nodes import Function, Kernel, Stmt
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.tracked import Tracked
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.looking import threads


@dataclass(frozen=True)
class Call:
    """A function that runs, and the frame of all lanes that called it."""

    function: Function
    frame: Tracked


@dataclass(frozen=True)
class Spot:
    """Where a lane is in one of the calls: the frame of the lanes it is with, and its position there."""

    function: Function
    frame: Tracked
    position: int

    @property
    def stmt(self) -> Stmt | None:
        """The statement that it reached last."""
        return self.frame.at


class Stack(Watcher):
    """Follows the calls. `arrives` is for those who want to stop."""

    wants_calls = wants_statements = True

    def __init__(self) -> None:
        self.kernel: Kernel | None = None
        self.launch: Launch | None = None
        self.lanes: Lanes | None = None
        self.calls: list[Call] = []
        self.ended: Any = None  # of the threads at hand

    def starts(self, kernel: Kernel, launch: Launch) -> None:
        """A launch begins."""
        self.kernel, self.launch, self.calls = kernel, launch, []

    def begins(self, lanes: Lanes, shared: Any) -> None:
        """Other threads are at hand."""
        self.lanes, self.calls, self.ended = lanes, [], np.zeros(lanes.count, bool)

    def enters(self, function: Function, frame: Frame, caller: Frame) -> None:
        """One call more."""
        assert isinstance(frame, Tracked)
        self.calls.append(Call(function, frame))

    def leaves(self, function: Function) -> None:
        """One call less."""
        self.calls.pop()
        if not self.calls:
            self.ended[:] = True

    def executes(self, stmt: Stmt, frame: Frame) -> None:
        """Lanes come to a statement."""
        assert isinstance(frame, Tracked)
        frame.at = stmt
        self.arrives(stmt, frame)
        if isinstance(stmt, nodes.Return) and len(self.calls) == 1:
            self.ended[frame.lanes.dense - frame.lanes.origin] = True

    def arrives(self, stmt: Stmt, frame: Tracked) -> None:
        """Before lanes execute a statement."""

    def find(self, number: int) -> list[Spot]:
        """Where a thread is, the innermost call first; empty for one that is not at hand."""
        found = []
        for call in reversed(self.calls):
            position = threads.position(call.frame.lanes, number)
            if position is not None:
                frame, position = _deepest(call.frame, position, number)
                found.append(Spot(call.function, frame, position))
        return found

    def last(self, number: int | None) -> Tracked | None:
        """The frame that a thread is in, or the innermost of all; None where nothing runs."""
        spots = [] if number is None else self.find(number)
        if spots:
            return spots[0].frame
        return self.calls[-1].frame if self.calls else None

    def has_ended(self, number: int) -> bool:
        """A thread at hand has returned, or was one of those before."""
        if self.lanes is None:
            return False
        at = number - self.lanes.origin
        return at < 0 or (at < len(self.ended) and bool(self.ended[at]))


def _deepest(frame: Tracked, position: int, number: int) -> tuple[Tracked, int]:
    for part in frame.parts:
        at = threads.position(part.lanes, number)
        if at is not None:
            return _deepest(part, at, number)
    return frame, position
