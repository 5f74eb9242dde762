"""Where a run is to stop, and what stops it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kbuild.ir.nodes import For, Function, If, Kernel, Stmt, Symbol, While
from kbuild.ir.traverse import callees
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.tracked import Tracked
from kbuild.sim.looking import threads
from kbuild.sim.looking.changes import require_name
from kbuild.sim.looking.stack import Spot, Stack
from kbuild.sim.looking.state import State, Variables
from kbuild.sim.looking.variables import visible


@dataclass(frozen=True)
class Stop:
    """Before lanes execute `line` (of a file whose path ends in `path`), and where `when` holds.

    `thread` is the one that must come there; `when` is asked with its variables, without a thread with those of each
    lane. With a line a run stops each time; without one when `when` begins to hold for a thread, or at a thread's first
    statement. A variable that has no value yet makes no condition hold.
    """

    line: int | None = None
    thread: Any = None
    when: Callable[[Any], Any] | None = None
    path: str = ""

    def __post_init__(self) -> None:
        if self.line is None and self.thread is None and self.when is None:
            raise TypeError("Stop wants a line, a thread or a condition: Stop(line=12, when=lambda v: v['x'] > 4)")


class Abandoned(BaseException):
    """Ends a run that nobody wants any more."""


class _Named(Variables):
    """Variables for a condition: a name that the kernel does not have is a mistake, and said at once."""

    def __init__(self, spot: Spot, symbols: dict[str, Symbol], kernel: Kernel) -> None:
        super().__init__(spot, symbols)
        self._kernel = kernel

    def __getitem__(self, name: str) -> Any:
        if name not in self._symbols:
            require_name(name, self._kernel)
            raise _NotYet(name)
        return super().__getitem__(name)


class _NotYet(KeyError):
    """A variable that has no value yet."""


class Stopper(Stack):
    """Stops a run: `on_stop(state)` is called and the run goes on when it returns. Raises LookupError at the beginning
    for a line where nothing is.
    """

    def __init__(self, stops: Sequence[Stop], on_stop: Callable[[State], Any]) -> None:
        super().__init__()
        self.stops, self.on_stop = list(stops), on_stop
        self.wants_step: Callable[[Tracked], bool] | None = None  # stop at the next statement for which it holds
        self.step_thread: int | None = None
        self._held: dict[int, set[int]] = {}  # by stop: the threads for which it held when last asked
        self._starts: set[int] = set()  # statements that begin a line

    def starts(self, kernel: Kernel, launch: Launch) -> None:
        """Raises LookupError for a stop that no statement or thread can meet."""
        super().starts(kernel, launch)
        self._held.clear()
        self._starts = line_starts(kernel)
        for stop in self.stops:
            require(stop, kernel, launch.dim)

    def arrives(self, stmt: Stmt, frame: Tracked) -> None:
        """Stops where a stop says so. Raises Abandoned."""
        if id(stmt) not in self._starts:
            return
        if self.wants_step is not None and self.wants_step(frame):
            self.wants_step = None
            self._stop(frame, self.step_thread, "a step")
            return
        for number, stop in enumerate(self.stops):
            found = self._meets(number, stop, stmt, frame)
            if found is not None:
                self._stop(frame, found, f"thread {threads.coordinates(found, frame.lanes.launch.dim)} is there")
                return

    def _stop(self, frame: Tracked, thread: int | None, reason: str) -> None:
        state = State(self, frame, thread, reason)
        self.on_stop(state)
        if state._is_abandoned:
            raise Abandoned
        state._is_over = True

    def _meets(self, number: int, stop: Stop, stmt: Stmt, frame: Tracked) -> int | None:
        """The number of the thread that it stops for."""
        if stop.line is not None and not _is_at(stop, stmt):
            return None
        lanes = frame.lanes
        wanted = None if stop.thread is None else threads.number(stop.thread, lanes.launch.dim)
        if wanted is None:
            positions: Any = range(lanes.count)
        else:
            at = threads.position(lanes, wanted)
            positions = () if at is None else (at,)
        if stop.line is not None and stop.when is None:
            return next((int(lanes.dense[at]) for at in positions), None)
        before = self._held.setdefault(number, set())
        symbols = visible(frame)
        first: int | None = None
        for at in positions:
            thread = int(lanes.dense[at])
            if stop.when is None or self._holds(stop.when, Spot(self.calls[-1].function, frame, at), symbols):
                if first is None and (stop.line is not None or thread not in before):
                    first = thread
                before.add(thread)
            else:
                before.discard(thread)
        return first

    def _holds(self, when: Callable[[Any], Any], spot: Spot, symbols: dict[str, Symbol]) -> bool:
        assert self.kernel is not None
        try:
            return bool(when(_Named(spot, symbols, self.kernel)))
        except _NotYet:
            return False


def _is_at(stop: Stop, stmt: Stmt) -> bool:
    span = stmt.span
    return span is not None and span.line == stop.line and span.path.endswith(stop.path)


def require(stop: Stop, kernel: Kernel, dim: tuple[int, ...]) -> None:
    """Raises LookupError for a stop that nothing can meet."""
    if stop.thread is not None:
        threads.number(stop.thread, dim)
    if stop.line is None:
        return
    places = sorted({(s.span.path, s.span.line) for f in _functions(kernel) for s in _statements(f.body) if s.span})
    if not any(line == stop.line and path.endswith(stop.path) for path, line in places):
        lines = sorted({line for path, line in places if path.endswith(stop.path)})
        near = min(lines, key=lambda line: abs(line - (stop.line or 0)), default=None)
        advice = f"the nearest with one is {near}" if near is not None else f"its files are {sorted(set(places))}"
        raise LookupError(f"{kernel.name} has no statement in line {stop.line} of {stop.path or 'its files'}: {advice}")


def is_met_in(stop: Stop, kernel: Kernel, dim: tuple[int, ...]) -> bool:
    """Whether a launch of a kernel can meet a stop."""
    try:
        require(stop, kernel, dim)
    except LookupError:
        return False
    return True


def line_starts(kernel: Kernel) -> set[int]:
    """The statements before which a line begins: a line of source may have become several."""
    found: set[int] = set()
    for function in _functions(kernel):
        _collect(function.body, None, found)
    return found


def _collect(body: tuple[Stmt, ...], line: int | None, found: set[int]) -> None:
    for stmt in body:
        if stmt.span is not None and stmt.span.line != line:
            found.add(id(stmt))
            line = stmt.span.line
        for inner in _bodies(stmt):
            _collect(inner, line, found)


def _functions(kernel: Kernel) -> list[Function]:
    return [kernel.function, *callees(kernel.function)]


def _statements(body: tuple[Stmt, ...]) -> list[Stmt]:
    return [one for stmt in body for one in (stmt, *(s for inner in _bodies(stmt) for s in _statements(inner)))]


def _bodies(stmt: Stmt) -> list[tuple[Stmt, ...]]:
    if isinstance(stmt, If):
        return [stmt.then, stmt.otherwise]
    return [stmt.body] if isinstance(stmt, (For, While)) else []
