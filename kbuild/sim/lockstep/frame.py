"""The variables of a function's lanes, and what becomes of them where lanes part and meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from kbuild.ir.nodes import Symbol
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.tree import Value


class Frame:
    """Variables of some lanes. A frame of a part of another one's lanes (`positions`) reads what it has not assigned
    there, at the first use, and gives back what it has assigned when the parts meet (`merge`, `join`).
    """

    __slots__ = ("lanes", "parent", "positions", "values", "wraps", "written")

    def __init__(
        self, lanes: Lanes, wraps: bool, values: dict[Symbol, Value], parent: Frame | None = None, positions: Any = None
    ) -> None:
        self.lanes, self.wraps, self.values, self.parent, self.positions = lanes, wraps, values, parent, positions
        self.written: set[Symbol] = set()

    def get(self, symbol: Symbol) -> Value:
        """A variable's value; zero until assigned."""
        value = self.values.get(symbol)
        if value is None:
            value = (
                tree.zero(symbol.type) if self.parent is None else tree.take(self.parent.get(symbol), self.positions)
            )
            self.values[symbol] = value
        return value

    def set(self, symbol: Symbol, value: Value) -> None:
        """Assigns to all lanes of this frame."""
        self.values[symbol] = value
        self.written.add(symbol)

    def part(self, positions: Any) -> Frame:
        """The frame of some of the lanes."""
        return type(self)(self.lanes.take(positions), self.wraps, {}, self, positions)

    def merge(self) -> None:
        """What was assigned here is seen by the frame that this one is a part of."""
        assert self.parent is not None
        for symbol in self.written:
            whole = tree.put(self.parent.get(symbol), self.positions, self.values[symbol], self.parent.lanes.count)
            self.parent.set(symbol, whole)

    def narrow(self, keep: Any) -> Frame:
        """The part of a part that goes on, beside the same whole; the others' variables are merged."""
        assert self.parent is not None
        leave = np.ones(self.lanes.count, bool)
        leave[keep] = False
        (leavers,) = np.nonzero(leave)
        at = self.positions[leavers]
        for symbol in self.written:
            part = tree.take(self.values[symbol], leavers)
            self.parent.set(symbol, tree.put(self.parent.get(symbol), at, part, self.parent.lanes.count))
        values = {symbol: tree.take(value, keep) for symbol, value in self.values.items()}
        narrowed = type(self)(self.lanes.take(keep), self.wraps, values, self.parent, self.positions[keep])
        narrowed.written = set(self.written)
        return narrowed


def join(one: Frame, two: Frame) -> None:
    """Merges two frames that make up all lanes of the one that they are parts of."""
    whole = one.parent
    assert whole is not None
    assert two.parent is whole
    for symbol in one.written & two.written:
        joined = tree.join(whole.lanes.count, one.positions, one.values[symbol], two.positions, two.values[symbol])
        whole.set(symbol, joined)
        one.written.discard(symbol)
        two.written.discard(symbol)
    one.merge()
    two.merge()
