"""Frames that know their parts, so that the variables of every lane can be found while a launch stands still."""

from __future__ import annotations

from itertools import count
from typing import Any

from kbuild.ir.nodes import Stmt, Symbol
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.tree import Value

_moments = count(1)


class Tracked(Frame):
    """`parts` are frames of some of the lanes that are not merged yet, `at` is the statement that was reached last,
    `moments` says when each variable was assigned.
    """

    __slots__ = ("at", "moments", "parts")

    def __init__(
        self, lanes: Lanes, wraps: bool, values: dict[Symbol, Value], parent: Frame | None = None, positions: Any = None
    ) -> None:
        super().__init__(lanes, wraps, values, parent, positions)
        self.parts: list[Tracked] = []
        self.at: Stmt | None = None
        self.moments: dict[Symbol, int] = dict.fromkeys(values, 0) if parent is None else {}

    def set(self, symbol: Symbol, value: Value) -> None:
        """Assigns to all lanes of this frame."""
        self.moments[symbol] = next(_moments)
        super().set(symbol, value)

    def part(self, positions: Any) -> Frame:
        """The frame of some of the lanes."""
        made = super().part(positions)
        assert isinstance(made, Tracked)
        self.parts.append(made)
        return made

    def merge(self) -> None:
        """What was assigned here is seen by the frame that this one is a part of."""
        super().merge()
        assert isinstance(self.parent, Tracked)
        self.parent.parts.remove(self)

    def narrow(self, keep: Any) -> Frame:
        """The part of a part that goes on, in the place of this one."""
        made = super().narrow(keep)
        assert isinstance(made, Tracked)
        assert isinstance(self.parent, Tracked)
        made.at, made.moments = self.at, dict(self.moments)
        self.parent.parts[self.parent.parts.index(self)] = made
        return made
