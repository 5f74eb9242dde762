"""Events of a run, one after the other, for whoever writes or keeps them.

Events are dicts of what JSON has: `event` says which it is, `t` counts statements since the trace began. See
docs/simulator-looking.md for the fields.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Kernel, Stmt
from kbuild.ir.traverse import root_of
from kbuild.sim.blocks import WARP, Launch
from kbuild.sim.lockstep import memory, tree
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.granules import flat
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.memory import Space
from kbuild.sim.lockstep.places import Location
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.looking import threads
from kbuild.sim.printing import formatted
from kbuild.sim.values import Fault

VERSION = 1
Event = dict[str, Any]
_ACCESSES = {"read": "load", "write": "store", "atomic": "atomic"}
# Besides these every trace has `trace`, `file`, `launch` and `end`.
KINDS = ("statement", "load", "store", "atomic", "barrier", "print", "fault")


class Sink(Protocol):
    """Takes events."""

    kinds: frozenset[str]  # those that it has a use for

    def write(self, event: Event) -> None: ...
    def flush(self) -> None: ...


class Kept:
    """Keeps the events in a list."""

    kinds = frozenset(KINDS)

    def __init__(self) -> None:
        self.events: list[Event] = []

    def write(self, event: Event) -> None:
        """One more."""
        self.events.append(event)

    def flush(self) -> None:
        """Nothing waits."""


class Tracer(Watcher):
    """Makes events of some threads, lines and kinds; all of them unless named. Serves launch after launch."""

    def __init__(
        self,
        sink: Sink,
        chosen: Iterable[Any] | None = None,
        lines: Iterable[int] | None = None,
        kinds: Iterable[str] | None = None,
        is_strict: bool = True,
    ) -> None:
        """Not strict, it takes launches that have not all of the threads. Raises ValueError for a kind that is none."""
        wanted = frozenset(KINDS if kinds is None else kinds)
        for kind in sorted(wanted - set(KINDS)):
            raise ValueError(f"a trace has no events {kind!r}; it has {', '.join(KINDS)}")
        self.sink, self.kinds = sink, wanted & sink.kinds
        self.wants_statements = True  # they are the clock
        self.wants_accesses = not self.kinds.isdisjoint(_ACCESSES.values())
        self._chosen, self._is_strict = None if chosen is None else list(chosen), is_strict
        self._lines = None if lines is None else frozenset(lines)
        self._numbers: Any = None
        self._launch: Launch | None = None
        self._files: dict[str, int] = {}
        self._clock = self._launches = 0
        self._no_space = Space(())
        sink.write({"event": "trace", "version": VERSION})

    def starts(self, kernel: Kernel, launch: Launch) -> None:
        """Raises LookupError for a thread that the launch does not have."""
        self._numbers = threads.numbers(self._chosen, launch.dim, self._is_strict)
        self._launch, self._launches = launch, self._launches + 1
        sizes = {"dim": list(launch.dim), "grid": list(launch.grid), "block": list(launch.block)}
        self.sink.write({"event": "launch", "t": self._clock, "launch": self._launches, "kernel": kernel.name, **sizes})

    def ends(self, fault: Fault | None) -> None:
        """The fault, if there was one, and the end of the launch."""
        if fault is not None and "fault" in self.kinds:
            what = {"kind": type(fault).__name__, "reason": fault.reason, "thread": list(fault.thread)}
            self.sink.write({"event": "fault", "t": self._clock, **self._place(fault), **self._track(fault), **what})
        self.sink.write({"event": "end", "t": self._clock, "launch": self._launches})
        self.sink.flush()

    def executes(self, stmt: Stmt, frame: Frame) -> None:
        """An event for each warp; one tick of the clock."""
        self._clock += 1
        if "statement" in self.kinds and self._is_wanted(stmt):
            place = self._place(stmt)
            kind = type(stmt).__name__.lower()
            for warp, _ in self._warps(frame.lanes):
                self.sink.write({"event": "statement", "t": self._clock, **place, "kind": kind, **warp})

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Any) -> None:
        """An event for each warp: where each of its lanes reads or writes, and what."""
        name = _ACCESSES[kind]
        if name not in self.kinds or not self._is_wanted(expr):
            return
        allocation, chosen = location.memory, threads.chosen(lanes, self._numbers)
        assert allocation is not None
        if chosen is not None and len(chosen) == 0:
            return
        at = location.offset
        offsets = tree.spread(np.int64(at) if isinstance(at, int) else at, lanes.count) + location.delta
        if kind == "read":
            value = memory.load(allocation, at, location.type, self._no_space, location.delta)
        leaves = [tree.spread(leaf, lanes.count) for leaf in flat(value)]
        seen: Event = {"array": _array(expr) or allocation.name, "space": allocation.space, "size": location.type.size}
        if kind == "atomic":
            assert isinstance(expr, nodes.Intrinsic)
            seen["operation"] = expr.name
        for warp, members in self._warps(lanes):
            places = offsets[members] % allocation.stride if allocation.stride else offsets[members]
            columns = [_listed(leaf[members]) for leaf in leaves]
            values = columns[0] if len(columns) == 1 else [list(row) for row in zip(*columns, strict=True)]
            event = {"event": name, "t": self._clock, **self._place(expr), **warp, **seen}
            self.sink.write({**event, "offsets": places.tolist(), "values": values})

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        """An event for each warp."""
        if "barrier" in self.kinds and self._is_wanted(stmt):
            for warp, _ in self._warps(lanes):
                self.sink.write({"event": "barrier", "t": self._clock, **self._place(stmt), **warp})

    def prints(self, stmt: nodes.Print, values: list[tuple[Any, Any]], lanes: Lanes) -> None:
        """An event for each thread."""
        if "print" not in self.kinds or not self._is_wanted(stmt):
            return
        for warp, members in self._warps(lanes):
            for position in members:
                text = formatted(stmt.pieces, [(value[position].item(), type) for value, type in values])
                event = {"event": "print", "t": self._clock, **self._place(stmt)}
                who = {"block": warp["block"], "warp": warp["warp"], "thread": list(lanes.coordinates(int(position)))}
                self.sink.write({**event, **who, "text": text.decode("utf-8", "replace")})

    def _is_wanted(self, node: Stmt | Expr) -> bool:
        return self._lines is None or (node.span is not None and node.span.line in self._lines)

    def _place(self, node: Stmt | Expr | Fault) -> Event:
        span = node.span
        if span is None:
            return {}
        number = self._files.get(span.path)
        if number is None:
            number = self._files[span.path] = len(self._files)
            self.sink.write({"event": "file", "file": number, "path": span.path})
        return {"file": number, "line": span.line}

    def _track(self, fault: Fault) -> Event:
        """The block and the warp of a fault's thread."""
        launch = self._launch
        if launch is None or len(fault.thread) != len(launch.dim):
            return {}
        block, index = divmod(threads.number(fault.thread, launch.dim), math.prod(launch.block))
        return {"block": block, "warp": index // WARP}

    def _warps(self, lanes: Lanes) -> Iterator[tuple[Event, Any]]:
        """(block, warp in the block and mask of its lanes; their positions) of each warp of the chosen threads."""
        chosen = threads.chosen(lanes, self._numbers)
        positions = np.arange(lanes.count) if chosen is None else chosen
        if len(positions) == 0:
            return
        warps = lanes.warp[positions]
        lane = lanes.index[positions] % WARP
        starts = np.flatnonzero(np.concatenate([[True], warps[1:] != warps[:-1]]))
        masks = np.bitwise_or.reduceat(np.int64(1) << lane, starts)
        in_block = -(-math.prod(lanes.launch.block) // WARP)
        for start, end, mask in zip(starts, [*starts[1:], len(positions)], masks, strict=True):
            block, warp = divmod(int(warps[start]), in_block)
            yield {"block": block, "warp": warp, "mask": f"{mask:08x}"}, positions[start:end]


def _array(expr: Expr) -> str | None:
    """The name of the variable that an access goes through."""
    place = expr.arguments[0] if isinstance(expr, nodes.Intrinsic) else expr
    root: Any = root_of(place)
    while isinstance(root, (nodes.Index, nodes.View, nodes.Elsewhere, nodes.Member)):
        root = root.base if isinstance(root, nodes.Member) else root.array
    return root.symbol.name if isinstance(root, nodes.Read) else None


def _listed(leaf: Any) -> list[Any]:
    """Numbers as JSON has them: the shortest that tell floats of their size apart, others' names as text."""
    if leaf.dtype.kind != "f" or leaf.dtype.itemsize == 8:
        found = leaf.tolist()
    else:
        found = [float(str(one)) for one in leaf]
    return [str(one) if isinstance(one, float) and not math.isfinite(one) else one for one in found]
