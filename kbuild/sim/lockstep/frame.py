"""The variables of a function's lanes, and what becomes of them where lanes part and meet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kbuild.ir.nodes import Symbol
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.tree import Value


class Frame:
    """Variables of some lanes. A frame of a part of another one's lanes (`positions`) reads what it has not assigned
    there, at the first use, and gives back what it has assigned when the parts meet (`merge`, `join`).
    """

    __slots__ = ("lanes", "left", "parent", "positions", "values", "wraps", "written")

    def __init__(
        self, lanes: Lanes, wraps: bool, values: dict[Symbol, Value], parent: Frame | None = None, positions: Any = None
    ) -> None:
        self.lanes, self.wraps, self.values, self.parent, self.positions = lanes, wraps, values, parent, positions
        self.written: set[Symbol] = set()
        # Lanes that have left a loop: where they are in the parent, and what they had assigned then.
        self.left: list[tuple[Any, dict[Symbol, Value]]] = []

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
        """What was assigned here is seen by the frame that this one is a part of.

        Lanes that have left keep what they had: it overrides what was computed for those that lingered.
        """
        parent = self.parent
        assert parent is not None
        for symbol in self.written:
            before = parent.get(symbol)
            pieces = [(self.positions, self.values[symbol])]
            for at, values in self.left:
                pieces.append((at, values[symbol] if symbol in values else tree.take(before, at)))
            parent.set(symbol, tree.put(before, pieces, parent.lanes.count))

    def leave(self, leavers: Any) -> None:
        """Some lanes are done: what they have assigned is kept for the merge."""
        if len(leavers):
            at = self.positions[leavers]
            self.left.append((at, self._taken(self.written, leavers)))

    def kept(self, keep: Any) -> Frame:
        """The part of a part that goes on, beside the same whole; the others have left."""
        values = self._taken(self.values, keep)
        narrowed = type(self)(self.lanes.take(keep), self.wraps, values, self.parent, self.positions[keep])
        narrowed.written, narrowed.left = self.written, self.left
        return narrowed

    def _taken(self, symbols: Iterable[Symbol], positions: Any) -> dict[Symbol, Value]:
        """What some of the lanes have in these variables; two with one array have one there, too."""
        found: dict[Symbol, Value] = {}
        known: dict[int, Value] = {}
        for symbol in symbols:
            value = self.values[symbol]
            number = id(value)
            if number not in known:
                known[number] = tree.take(value, positions)
            found[symbol] = known[number]
        return found


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
