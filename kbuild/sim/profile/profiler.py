"""The watcher that counts."""

from __future__ import annotations

from typing import Any

from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.elements import met_again, word_at
from kbuild.ir.nodes import Expr, Kernel, Stmt
from kbuild.ir.traverse import callees
from kbuild.ir.types import Scalar
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.memory import leaves
from kbuild.sim.lockstep.places import Location
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.profile import atomics
from kbuild.sim.profile.atomics import Form
from kbuild.sim.profile.counts import Accesses, Line
from kbuild.sim.profile.report import Profile
from kbuild.sim.profile.warped import cost, cost_together, is_aligned, warped
from kbuild.traffic.warps import Kind

Executions = list[int]  # threads, warps, partial warps
NOWHERE = Span("", 0)
_KINDS: dict[str, Kind] = {"read": "load", "write": "store", "atomic": "atomic"}


class Profiler(Watcher):
    """Counts one launch of a kernel; `result()` is its profile."""

    wants_accesses = wants_statements = True

    def __init__(self) -> None:
        self._kernel: Kernel | None = None
        self._forms: dict[int, Form] = {}
        self._again: frozenset[nodes.Index] = frozenset()
        self._words: dict[int, int] = {}  # by the node's identity
        # By source position: copies of a statement (an unrolled loop's, two instances' of a function) add up.
        self._executions: dict[Span, Executions] = {}
        self._lines: dict[tuple[str, int], Line] = {}
        self._at = NOWHERE
        self._notes: dict[str, None] = {}
        self._blocks = self._warps = self._threads = 0  # that were launched

    def starts(self, kernel: Kernel, launch: Launch) -> None:
        """The kernel that is counted."""
        self._kernel, self._forms = kernel, atomics.forms(kernel)
        functions = [kernel.function, *callees(kernel.function)]
        self._again = frozenset(one for function in functions for one in met_again(function))

    def begins(self, lanes: Lanes, shared: Any) -> None:
        """Blocks that run."""
        seen = warped(lanes)
        self._blocks += int(lanes.block[-1]) - int(lanes.block[0]) + 1
        self._warps += len(seen.starts)
        self._threads += lanes.count

    def executes(self, stmt: Stmt, frame: Frame) -> None:
        """A statement's executions; those of a loop are its tests."""
        self._at = stmt.span or NOWHERE
        if not isinstance(stmt, (nodes.For, nodes.While)):
            self._executed(self._at, frame.lanes)

    def tests(self, stmt: nodes.For | nodes.While, frame: Frame) -> None:
        """A loop's line is come to before each trip, and when it is over."""
        self._at = stmt.span or NOWHERE
        self._executed(self._at, frame.lanes)

    def _executed(self, span: Span, lanes: Lanes) -> None:
        seen = warped(lanes)
        found = self._executions.get(span)
        if found is None:
            found = self._executions[span] = [0, 0, 0]
        found[0] += lanes.count
        found[1] += len(seen.starts)
        found[2] += seen.partial

    def waits(self, stmt: nodes.Barrier, lanes: Lanes) -> None:
        """Warps at a barrier."""
        self._line(stmt.span).barriers += len(warped(lanes).starts)

    def accessed(self, kind: str, location: Location, lanes: Lanes, expr: Expr, value: Any) -> None:
        """A memory instruction for each word or number that lies there."""
        line = self._line(expr.span)
        if kind == "atomic":
            self._changed(line, location, lanes, expr)
            return
        assert location.memory is not None
        for delta, size in self._pieces(location, expr):
            found = cost(_KINDS[kind], location, delta, size, lanes)
            self._add(line, location.memory.space, _KINDS[kind], lanes, size, found)

    def _pieces(self, location: Location, expr: Expr) -> list[tuple[int, int]]:
        """(distance, bytes) of what the instructions of an access move: words, as the generated code has it, or
        numbers."""
        size = self._words.get(id(expr))
        if size is None:
            size = self._words[id(expr)] = word_at(expr, self._again)
        if size and is_aligned(location, size):
            return [(delta, size) for delta in range(0, location.type.size, size)]
        return [(delta, leaf.size) for delta, leaf in leaves(location.type)]

    def _changed(self, line: Line, location: Location, lanes: Lanes, expr: Expr) -> None:
        assert isinstance(expr, nodes.Intrinsic)
        assert isinstance(location.type, Scalar)
        assert location.memory is not None
        if expr.name == "atomic_graph_condition":
            return
        form, space, size = self._forms[id(expr)], location.memory.space, max(location.type.size, 4)
        kind = "reduction" if space == "global" and not form.has_result else "atomic"
        if atomics.is_loop(expr.name, location.type, space):
            kind = "atomic"
            self._notes[f"line {line.line}: a loop of compare-and-swap, of which one trip is counted"] = None
        if form.increments and space == "shared":
            found = cost("increment", location, 0, size, lanes)
        elif form.together == "never":
            found = cost("atomic", location, 0, size, lanes)
        else:
            found = cost_together(location, size, lanes, form.together == "in full warps")
        self._add(line, space, kind, lanes, size, found)

    def _add(self, line: Line, space: str, kind: str, lanes: Lanes, size: int, found: Any) -> None:
        accesses = line.memory.get((space, kind))
        if accesses is None:
            accesses = line.memory[space, kind] = Accesses()
        accesses.add(lanes.count, size, warped(lanes).ideal(size) if space == "global" else 0, found)

    def _line(self, span: Span | None) -> Line:
        path, number = (span.path, span.line) if span is not None else (self._at.path, self._at.line)
        found = self._lines.get((path, number))
        if found is None:
            found = self._lines[path, number] = Line(path=path, line=number)
        return found

    def result(self) -> Profile:
        """What was counted."""
        for span, (threads, warps, partial) in self._executions.items():
            if span is not NOWHERE:
                line = self._line(span)
                if threads > line.threads:
                    line.threads, line.warps, line.partial = threads, warps, partial
        lines = sorted(self._lines.values(), key=lambda line: (line.path, line.line))
        if self._kernel is None:
            return Profile("", 0, 0, 0, lines)  # an empty launch
        functions = [*callees(self._kernel.function), self._kernel.function]
        own = (f.span for f in reversed(functions) if not f.module.startswith("kbuild."))
        spans = dict.fromkeys(span for span in own if span is not None)  # of instances, one
        notes = tuple(self._notes)
        return Profile(self._kernel.name, self._blocks, self._warps, self._threads, lines, tuple(spans), notes)
