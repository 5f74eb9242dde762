"""Frames that know their parts, so that the variables of every lane can be found while a launch stands still."""

from __future__ import annotations

from itertools import count
from typing import Any

from kbuild.ir.nodes import Stmt, Symbol
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.tree import Value

_moments = count(1)


class Tracked(Frame):
    """`parts` are frames of some of the lanes that are not merged yet, `at` is the statement that was reached last,
    `moments` says when each variable was assigned. No lanes linger in them (see `Statements._may_linger`).
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

    def leave(self, leavers: Any) -> None:
        """Some lanes are done: what they have assigned is seen in the parent at once, where it is looked for."""
        assert self.parent is not None
        at, count = self.positions[leavers], self.parent.lanes.count
        if len(leavers):
            for symbol in self.written:
                part = tree.take(self.values[symbol], leavers)
                self.parent.set(symbol, tree.put(self.parent.get(symbol), [(at, part)], count))

    def kept(self, keep: Any) -> Frame:
        """The part of a part that goes on, in the place of this one."""
        made = super().kept(keep)
        assert isinstance(made, Tracked)
        assert isinstance(self.parent, Tracked)
        made.at, made.moments = self.at, dict(self.moments)
        self.parent.parts[self.parent.parts.index(self)] = made
        return made
