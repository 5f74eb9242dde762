"""Trips of loops that do arithmetic and nothing else, one statement after the other.

    while n < limit and u * u + v * v <= four:      u * u is computed once a trip,
        w = u * u - v * v + two * x                 two * x once for all trips
        ...

A trip is bound once for a kernel, with each statement as a symbol and how its value is computed. What it computes twice
of the same values is kept from the first time to the second, and what it computes of variables that the loop does not
assign to, from trip to trip. Both hold for the frame that it was computed for; one with fewer lanes computes it anew.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Stmt, Symbol
from kbuild.ir.traverse import children
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.expressions import Expressions, Step, Steps, bound
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.graph import Graph, graph_of
from kbuild.sim.lockstep.routines import Routines
from kbuild.sim.lockstep.tree import Value

Loop = nodes.For | nodes.While
_WORTH_KEEPING = (nodes.Unary, nodes.Binary, nodes.Fma, nodes.Convert, nodes.Compare, nodes.Intrinsic)


class Trip:
    """`test` (None for a `For`) and body, for a frame that nobody watches."""

    def __init__(
        self, test: Step | None, body: list[tuple[Symbol, Step]], graph: Graph | None, rest: list[Step]
    ) -> None:
        """`graph` is what can be computed in one pass, `rest` the parts of the test that are not in it."""
        self._test, self._body, self._symbols = test, body, {symbol for symbol, _ in body}
        self.has_test, self._rest = test is not None, rest
        self._routines = None if graph is None else Routines(graph)
        self._others = [] if graph is None else [body[number] for number in graph.others]

    def run(self, machine: Expressions, frame: Frame, trip: int) -> None:
        """The body; all lanes come to its end."""
        values, body = frame.values, self._body
        if self._routines is not None:
            is_done, truth = self._routines.run(frame, trip)
            if is_done:
                machine.next_test = None if truth is None else (frame, truth)
                body = self._others
        for symbol, step in body:
            values[symbol] = step(machine, frame)
        frame.written |= self._symbols

    def test(self, machine: Expressions, frame: Frame) -> Value:
        """For which lanes there is another trip."""
        known, machine.next_test = machine.next_test, None
        if known is None or known[0] is not frame:
            assert self._test is not None
            return self._test(machine, frame)
        truth = known[1]
        for step in self._rest:
            found = tree.dense(step(machine, frame))
            if not isinstance(found, np.generic):
                truth = truth & found
            elif not found:
                return found
        return truth


class Trips:
    """The trips of a kernel's loops, each bound when it is first asked for."""

    def __init__(self) -> None:
        self.steps = Steps()
        self._known: dict[int, tuple[Loop, Trip | None]] = {}

    def of(self, loop: Loop) -> Trip | None:
        """That of a loop in which nothing can fail; None where there is more in it than assignments to variables."""
        known = self._known.get(id(loop))
        if known is None:
            known = self._known[id(loop)] = loop, _bound(loop) if all(map(_is_straight, loop.body)) else None
        return known[1]


def _is_straight(stmt: Stmt) -> bool:
    return isinstance(stmt, nodes.Assign) and isinstance(stmt.target, nodes.Read)


def _bound(loop: Loop) -> Trip:
    numbers = Numbers(loop)
    for _, expr in _values(loop, numbers):
        numbers.of(expr)
    steps = _Keeping(Numbers(loop), numbers.seen)
    bound_values = [(symbol, steps.bind(expr)) for symbol, expr in _values(loop, steps.numbers)]
    test = next((step for symbol, step in bound_values if symbol is None), None)
    graph = graph_of(loop)
    rest = [] if graph is None else [Steps().of(part) for part in graph.conjuncts]
    return Trip(test, [(symbol, step) for symbol, step in bound_values if symbol is not None], graph, rest)


def _values(loop: Loop, numbers: Numbers) -> Iterator[tuple[Symbol | None, Expr]]:
    """The test (None), and then what is assigned to each symbol, in the order in which they are computed."""
    if isinstance(loop, nodes.While):
        yield None, loop.condition
    for stmt in loop.body:
        assert isinstance(stmt, nodes.Assign)
        assert isinstance(stmt.target, nodes.Read)
        yield stmt.target.symbol, stmt.value
        numbers.assign(stmt.target.symbol)


class Numbers:
    """A number for each value that a trip computes: expressions that give the same have the same one."""

    def __init__(self, loop: Loop) -> None:
        self.seen: Counter[int] = Counter()  # how often each is computed in a trip
        self._versions = dict.fromkeys(_assigned(loop), 0)
        self._numbers: dict[Any, int] = {}
        self._varies: list[bool] = []
        self._here: dict[int, int] = {}  # of the nodes of the statement at hand

    def of(self, expr: Expr) -> int:
        """That of an expression in the statement at hand."""
        number = self._here.get(id(expr))
        if number is None:
            parts = [self.of(part) for part in children(expr) if isinstance(part, nodes.EXPRESSIONS)]
            key = _key(expr), *parts, self._versions.get(expr.symbol) if isinstance(expr, nodes.Read) else None
            number = self._here[id(expr)] = self._numbers.setdefault(key, len(self._numbers))
            if number == len(self._varies):
                is_assigned = isinstance(expr, nodes.Read) and expr.symbol in self._versions
                self._varies.append(is_assigned or any(self._varies[part] for part in parts))
        self.seen[number] += 1
        return number

    def varies(self, number: int) -> bool:
        """It depends on what the loop assigns to."""
        return self._varies[number]

    def assign(self, symbol: Symbol) -> None:
        """The statement at hand has been the one that assigns to a symbol."""
        self._here.clear()
        self._versions[symbol] += 1


def _assigned(loop: Loop) -> Iterator[Symbol]:
    if isinstance(loop, nodes.For):
        yield loop.symbol
    for stmt in loop.body:
        if isinstance(stmt, nodes.Assign) and isinstance(stmt.target, nodes.Read):
            yield stmt.target.symbol


def _key(expr: Expr) -> tuple[Any, ...]:
    """What an expression is, but for its parts and its place. 0.0 and -0.0, 1 and True are equal, and not the same."""
    parts = set(map(id, children(expr)))
    found: list[Any] = [type(expr)]
    for field in dataclasses.fields(expr):
        value = getattr(expr, field.name)
        if field.name == "span" or id(value) in parts:
            continue
        if isinstance(value, tuple) and all(id(one) in parts for one in value):
            continue
        found.append(repr(value) if isinstance(expr, nodes.Const) and field.name == "value" else value)
    return tuple(found)


class _Keeping(Steps):
    """Binds expressions of one trip; what is worth it is kept."""

    def __init__(self, numbers: Numbers, seen: Counter[int]) -> None:
        super().__init__()
        self.numbers, self._seen = numbers, seen

    def bind(self, expr: Expr) -> Step:
        """How to compute the value of the statement at hand."""
        self.numbers.of(expr)  # numbers come in the order in which they were counted
        return self.of(expr)

    def of(self, expr: Expr) -> Step:
        """How to compute a part of it."""
        step, number = bound(expr, self), self.numbers.of(expr)
        if not isinstance(expr, _WORTH_KEEPING):
            return step
        if not self.numbers.varies(number):
            return _kept_for_all_trips(step, number)
        return _kept_for_a_trip(step, number) if self._seen[number] > 1 else step


def _kept_for_all_trips(step: Step, number: int) -> Step:
    def value(machine: Expressions, frame: Frame) -> Any:
        known = machine.kept_for_all_trips.get(number)
        if known is None or known[0] is not frame:
            known = machine.kept_for_all_trips[number] = frame, step(machine, frame)
        return known[1]

    return value


def _kept_for_a_trip(step: Step, number: int) -> Step:
    def value(machine: Expressions, frame: Frame) -> Any:
        known = machine.kept_for_a_trip.get(number)
        if known is None or known[0] is not frame:
            known = machine.kept_for_a_trip[number] = frame, step(machine, frame)
        return known[1]

    return value
