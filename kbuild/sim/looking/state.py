"""A run that stands still, as Python sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kbuild.errors import did_you_mean
from kbuild.ir.nodes import Stmt, Symbol
from kbuild.sim.lockstep.tracked import Tracked
from kbuild.sim.looking import threads
from kbuild.sim.looking.stack import Spot, Stack
from kbuild.sim.looking.variables import held, of_lane, of_lanes, visible

_SHOWN = 8  # elements of an array in a text


class Variables(Mapping[str, Any]):
    """A lane's variables by name, looked up when asked for. Raises KeyError for one that has no value yet."""

    def __init__(self, spot: Spot, symbols: dict[str, Symbol] | None = None) -> None:
        self._spot, self._symbols = spot, visible(spot.frame) if symbols is None else symbols

    def __getitem__(self, name: str) -> Any:
        symbol = self._symbols[name]
        return of_lane(held(self._spot.frame, symbol), symbol.type, self._spot.position)

    def __iter__(self) -> Iterator[str]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {_short(value)}' for name, value in self.items())}}}"


class ThreadState:
    """One thread: `variables` of the function it is in, `where`, `stack`, `is_here` (among the lanes that go on next),
    `has_ended`.
    """

    def __init__(self, state: State, number: int) -> None:
        self._state, self._number = state, number

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Its coordinates in `dim`."""
        return threads.coordinates(self._number, self._state.dim)

    @property
    def has_ended(self) -> bool:
        """It has returned."""
        return self._state._seen().has_ended(self._number)

    @property
    def is_here(self) -> bool:
        """It is one of the lanes at the statement where the run stands."""
        return threads.position(self._state._frame.lanes, self._number) is not None

    @property
    def variables(self) -> Variables:
        """By name, those of the innermost function. Raises LookupError for a thread that is not at hand."""
        return Variables(self._spots()[0])

    @property
    def where(self) -> str:
        """`path:line` of the statement that it has reached: it waits there for lanes that are elsewhere."""
        return place(self._spots()[0].stmt)

    @property
    def stack(self) -> list[str]:
        """`function at path:line`, the innermost first."""
        return [f"{spot.function.name} at {place(spot.stmt)}" for spot in self._spots()]

    def outer(self, level: int) -> Variables:
        """The variables of the function so many calls further out. Raises LookupError."""
        return Variables(self._spots()[level])

    def _spots(self) -> list[Spot]:
        found = self._state._seen().find(self._number)
        if not found:
            when = "has ended" if self.has_ended else "has not begun"
            raise LookupError(f"thread {self.coordinates} {when}: it runs with others than thread {self._state._first}")
        return found

    def __repr__(self) -> str:
        where = "ended" if self.has_ended else f"at {self.where}"
        return f"<thread {self.coordinates} {where}>"


class State:
    """Where a run stands, before its lanes execute a statement. Holds until the run goes on."""

    def __init__(self, stack: Stack, frame: Tracked, thread: int | None = None, reason: str = "") -> None:
        self._stack, self._frame, self.reason = stack, frame, reason
        self._thread, self._is_over, self._is_abandoned = thread, False, False

    def _seen(self) -> Stack:
        if self._is_over:
            raise RuntimeError("the run has gone on: take what you need from a state before it does")
        return self._stack

    @property
    def dim(self) -> tuple[int, ...]:
        """The extents of the launch."""
        launch = self._stack.launch
        assert launch is not None
        return launch.dim

    @property
    def kernel(self) -> str:
        """Its name."""
        kernel = self._stack.kernel
        assert kernel is not None
        return kernel.name

    @property
    def lanes(self) -> Any:
        """The coordinates of the lanes that go on next, an array of shape [lanes, extents of dim]."""
        lanes = self._here().lanes
        return np.stack(np.unravel_index(lanes.dense, self.dim), axis=-1)

    @property
    def where(self) -> str:
        """`path:line` of the statement that they execute next."""
        self._seen()
        return place(self._here().at)

    @property
    def line(self) -> int:
        """The line."""
        stmt = self._here().at
        return 0 if stmt is None or stmt.span is None else stmt.span.line

    @property
    def stack(self) -> list[str]:
        """`function at path:line`, the innermost first, of the thread that the run stopped for."""
        return self.thread().stack

    def thread(self, thread: Any = None) -> ThreadState:
        """Any thread of those at hand, by coordinates or number; by itself that which the run stopped for."""
        self._seen()
        number = self._first_number if thread is None else threads.number(thread, self.dim)
        return ThreadState(self, number)

    def variables(self, thread: Any = None) -> Variables:
        """A thread's variables by name. Of one on another way those that it last had."""
        return self.thread(thread).variables

    def values(self, name: str) -> Any:
        """A variable in all of `lanes`, as a NumPy array whose first axis is theirs. Raises LookupError, TypeError."""
        self._seen()
        frame = self._here()
        symbols = visible(frame)
        if name not in symbols:
            near = did_you_mean(name, symbols) or f"there are {', '.join(sorted(symbols))}"
            raise LookupError(f"no variable {name!r} at {self.where}: {near}")
        return of_lanes(held(frame, symbols[name]), symbols[name].type, frame.lanes.count)

    def abandon(self) -> None:
        """Ends the run here: nothing more of it is executed."""
        self._is_abandoned = True

    @property
    def _first_number(self) -> int:
        return int(self._here().lanes.dense[0]) if self._thread is None else self._thread

    @property
    def _first(self) -> tuple[int, ...]:
        return threads.coordinates(self._first_number, self.dim)

    def _here(self) -> Tracked:
        self._seen()
        return self._frame

    def __repr__(self) -> str:
        if self._is_over:
            return "<a state of a run that has gone on>"
        return f"<stopped at {self.where}: {self.reason or f'{self._frame.lanes.count} lanes'}>"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > _SHOWN:
        return f"<array of {value.dtype}, shape {value.shape}>"
    return repr(value)


def place(stmt: Stmt | None) -> str:
    """`path:line`."""
    span = None if stmt is None else stmt.span
    return "the beginning" if span is None else f"{span.path}:{span.line}"
