"""What statements mean, for all lanes of a frame at once; where lanes part and meet.

A block answers for each lane how it was left: by its end (0), or early. Lanes that have left early take no part in what
follows; the others go on in a frame of their own.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Stmt, Symbol
from kbuild.ir.traverse import root_of
from kbuild.ir.types import INT64, Scalar, Shared, Vector
from kbuild.sim.lockstep import atomics, barriers, collectives, memory, tree
from kbuild.sim.lockstep.expressions import Expressions, Step
from kbuild.sim.lockstep.frame import Frame, join
from kbuild.sim.lockstep.going import Going
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.output import Output
from kbuild.sim.lockstep.places import Location, OfPart, at_lane
from kbuild.sim.lockstep.tracked import Tracked
from kbuild.sim.lockstep.tree import Descriptor, Value
from kbuild.sim.lockstep.trips import Trips
from kbuild.sim.lockstep.watching import Watching
from kbuild.sim.threads import AssertFailed, AssumptionFailed
from kbuild.sim.values import Fault, is_in_library, native

_BREAK, _CONTINUE, _RETURN = 1, 2, 3
Left = Any  # None: every lane came to the end; a number: all left so; else a number for each lane

_FIRST_LOOK = 64  # trips of a loop before it is asked whether anything changes


class Deadlock(Fault):
    """Threads that wait for what cannot happen while they wait."""


class Statements:
    """Runs a kernel's statements over some blocks at a time. `order` shuffles who comes first in atomics, if given."""

    def __init__(
        self,
        space: memory.Space,
        watching: Watching,
        output: Output,
        shared: dict[Symbol, int],
        trips: Trips,
        order: np.random.Generator | None = None,
    ) -> None:
        self.space, self.watching, self.output, self.shared, self.order = space, watching, output, shared, order
        self.expressions = Expressions(space, watching, trips.steps)
        self.expressions.call = self.call
        self.trips = trips
        self.block_memory: memory.Allocation | None = None
        self.ended: Any = None  # of the threads at hand
        self.changes = 0  # stores, and atomics that have changed something
        self._lingering: dict[int, tuple[Stmt, bool]] = {}
        self._frame = Tracked if watching.calls else Frame
        self._running: list[Function] = []
        self._results: dict[Function, Symbol] = {}
        self._counters: dict[int, tuple[Stmt, Symbol, Symbol, Symbol]] = {}

    def run(
        self, function: Function, arguments: list[Value], lanes: Lanes, block_memory: memory.Allocation | None
    ) -> None:
        """Runs a kernel's function for the threads at hand. Raises Fault with place, thread and variables."""
        self.block_memory, self._running = block_memory, []
        self.ended = np.zeros(lanes.count, bool)
        self.watching.begins(lanes, block_memory)
        self.call(function, arguments, self._frame(lanes, function.wraps, {}))

    def call(self, function: Function, arguments: list[Value], caller: Frame) -> Value:
        """A function's result."""
        values = dict(zip(function.parameters, arguments, strict=True))
        for symbol in function.shared:
            values[symbol] = self._shared_array(symbol, caller.lanes)
        frame = self._frame(caller.lanes, function.wraps, values)
        self._running.append(function)
        if self.watching.calls:
            self.watching.enters(function, frame, caller)
        self.block(function.body, frame)
        if self.watching.calls:
            self.watching.leaves(function)
        self._running.pop()
        return frame.get(self._result(function))

    def _result(self, function: Function) -> Symbol:
        if function not in self._results:
            self._results[function] = Symbol("result", function.result)
        return self._results[function]

    def _shared_array(self, symbol: Symbol, lanes: Lanes) -> Descriptor:
        assert isinstance(symbol.type, Shared)
        assert self.block_memory is not None
        strides: list[Any] = []
        step = symbol.type.element.size
        for extent in reversed(symbol.type.shape):
            strides.insert(0, np.int32(step))
            step *= extent
        start = self.block_memory.start + self.shared[symbol]
        address = lanes.slot * self.block_memory.stride + start
        shape = [np.int32(extent) for extent in symbol.type.shape]
        if symbol.type.is_dynamic:
            shape[0] = np.int32(lanes.launch.shared // symbol.type.row)
        return Descriptor(symbol.type.element, address, shape, strides, self.block_memory)

    # Statements

    def block(self, body: tuple[Stmt, ...], frame: Frame) -> Left:
        """Runs statements one after the other."""
        for number, stmt in enumerate(body):
            left = self.statement(stmt, frame)
            if left is None:
                continue
            if isinstance(left, int):
                return left
            (rest,) = np.nonzero(left == 0)
            if len(rest) == 0 or number == len(body) - 1:
                return left
            part = frame.part(rest)
            behind = self.block(body[number + 1 :], part)
            part.merge()
            if behind is not None:
                left[rest] = behind
            return left
        return None

    def statement(self, stmt: Stmt, frame: Frame) -> Left:
        """Runs one statement."""
        try:
            if self.watching.statements:
                self.watching.executes(stmt, frame)
            return _MEANING[type(stmt)](self, stmt, frame)
        except Fault as fault:
            _put(fault, stmt, frame)
            raise

    def _value(self, expr: Expr, frame: Frame) -> Value:
        return self.expressions.value(expr, frame)

    def _assign(self, stmt: nodes.Assign, frame: Frame) -> Left:
        value = stmt.value
        if isinstance(value, nodes.Intrinsic) and ALL_ROWS[value.name].is_atomic:
            found = self.atomic(value, frame, is_used=True)
        elif isinstance(value, nodes.Intrinsic) and ALL_ROWS[value.name].is_collective:
            found = self.collective(value, frame)
        else:
            found = self._value(value, frame)
        self.assign(stmt.target, found, frame)
        return None

    def assign(self, target: Expr, value: Value, frame: Frame) -> None:
        """Puts a value into a place."""
        if isinstance(target, nodes.Read):
            if self.watching.variables:
                self.watching.assigns(target.symbol, value, frame, target.span)
            frame.set(target.symbol, value)
        elif isinstance(root_of(target), nodes.Index):
            self.store(self.expressions.locate(target, frame), value, frame, target)
        else:
            assert isinstance(target, (nodes.Component, nodes.Member))
            self.assign(target.base, self._replaced(target, value, frame), frame)

    def _replaced(self, target: nodes.Component | nodes.Member, value: Value, frame: Frame) -> Value:
        """The whole that a component or field belongs to, with it replaced."""
        whole = self._value(target.base, frame)
        if isinstance(target, nodes.Member):
            return {**whole, target.field: value}
        constant, moving = self.expressions.component(target.base.type, target.indices, frame)
        parts = value if isinstance(target.type, Vector) else [value]
        changed = list(whole)
        if moving is None:
            changed[constant : constant + len(parts)] = parts
            return changed
        first = moving + constant
        for number in range(len(changed)):
            for i, part in enumerate(parts):
                here = first + i == number
                if here.any():
                    changed[number] = np.where(here, tree.dense(part), tree.dense(changed[number]))
        return changed

    def store(self, location: Location, value: Value, frame: Frame, expr: Expr) -> None:
        """Puts a value into memory."""
        self.changes += 1
        for found, positions, offset in location.parts(self.space, frame.lanes.count):
            _require_writable(found, positions)
            lanes, part = frame.lanes, value
            if positions is not None:
                lanes, part = lanes.take(positions), tree.take(value, positions)
            at = Location(found, offset, location.type, location.delta)
            if self.watching.accesses:
                with OfPart(positions):
                    self.watching.accessed("write", at, lanes, expr, part)
            memory.store(found, offset, location.type, part, location.delta)

    def _evaluate(self, stmt: nodes.Evaluate, frame: Frame) -> Left:
        value = stmt.value
        if isinstance(value, nodes.Intrinsic) and ALL_ROWS[value.name].is_atomic:
            self.atomic(value, frame, is_used=False)
        elif isinstance(value, nodes.Intrinsic) and ALL_ROWS[value.name].is_collective:
            self.collective(value, frame)
        else:
            self._value(value, frame)
        return None

    def collective(self, expr: nodes.Intrinsic, frame: Frame) -> Any:
        """What the lanes of a warp do together."""
        given = [self.expressions.dense(one, frame) for one in expr.arguments]
        return collectives.apply(expr.name, given, frame.lanes, self.ended)

    def atomic(self, expr: nodes.Intrinsic, frame: Frame, is_used: bool) -> Any:
        """An atomic operation; the values before."""
        location = self.expressions.locate(expr.arguments[0], frame)
        assert isinstance(location.type, Scalar)
        values = [self.expressions.dense(one, frame) for one in expr.arguments[1:]]
        before = None
        for found, positions, offset in location.parts(self.space, frame.lanes.count):
            _require_writable(found, positions)
            lanes, given = frame.lanes, values
            if positions is not None:
                lanes, given = lanes.take(positions), [tree.take(one, positions) for one in values]
            at = Location(found, offset, location.type, location.delta)
            if self.watching.accesses:
                with OfPart(positions):
                    self.watching.accessed("atomic", at, lanes, expr, given)
            order = None if self.order is None else self.order.permutation(lanes.count)
            seen, has_changed = atomics.apply(expr.name, at, given, lanes.count, is_used, order)
            self.changes += has_changed
            if expr.order != nodes.ORDERS[0]:
                self.watching.orders(expr.order, lanes)
            if positions is None:
                before = seen
            elif is_used:
                before = np.zeros(frame.lanes.count, seen.dtype) if before is None else before
                before[positions] = seen
        return before

    def _if(self, stmt: nodes.If, frame: Frame) -> Left:
        condition = self.expressions.dense(stmt.condition, frame)
        if isinstance(condition, np.generic):
            return self.block(stmt.then if condition else stmt.otherwise, frame)
        (yes,) = np.nonzero(condition)
        if len(yes) == 0 or len(yes) == frame.lanes.count:
            return self.block(stmt.then if len(yes) else stmt.otherwise, frame)
        left = np.zeros(frame.lanes.count, np.int8)
        then = frame.part(yes)
        by_then = self.block(stmt.then, then)
        if not stmt.otherwise:
            then.merge()
            by_otherwise = None
        else:
            (no,) = np.nonzero(~condition)
            otherwise = frame.part(no)
            by_otherwise = self.block(stmt.otherwise, otherwise)
            join(then, otherwise)
            if by_otherwise is not None:
                left[no] = by_otherwise
        if by_then is None and by_otherwise is None:
            return None
        if by_then is not None:
            left[yes] = by_then
        return left

    def _while(self, stmt: nodes.While, frame: Frame) -> Left:
        return self._loop(stmt, frame, lambda current, trip: self.expressions.dense(stmt.condition, current))

    def _for(self, stmt: nodes.For, frame: Frame) -> Left:
        start, stop, step = (self._value(bound, frame) for bound in (stmt.start, stmt.stop, stmt.step))
        assert isinstance(stmt.symbol.type, Scalar)
        kind = stmt.symbol.type
        if all(isinstance(one, np.generic) for one in (start, stop, step)):
            counters = range(int(start), int(stop), int(step)) if int(step) else range(0)
            make = tree.zero(kind).dtype.type

            def next_uniform(current: Frame, trip: int) -> Any:
                if trip >= len(counters):
                    return np.False_
                if self.watching.variables:
                    self.watching.assigns(stmt.symbol, make(counters[trip]), current, stmt.span)
                current.set(stmt.symbol, make(counters[trip]))
                return np.True_

            return self._loop(stmt, frame, next_uniform)
        if id(stmt) not in self._counters:
            self._counters[id(stmt)] = stmt, Symbol("first", INT64), Symbol("step", INT64), Symbol("trips", INT64)
        _, first, by, trips = self._counters[id(stmt)]
        numbers = [tree.dense(one).astype(np.int64) for one in (start, stop, step)]
        frame.set(first, numbers[0])
        frame.set(by, numbers[2])
        frame.set(trips, _trips(*numbers))

        def next_one(current: Frame, trip: int) -> Any:
            goes_on = current.get(trips) > trip
            counter = (current.get(first) + np.int64(trip) * current.get(by)).astype(tree.zero(kind).dtype)
            if self.watching.variables:
                self.watching.assigns(stmt.symbol, counter, current, stmt.span, np.flatnonzero(goes_on))
            if not goes_on.all():  # who leaves keeps what its last trip had
                counter = np.where(goes_on, counter, tree.dense(current.get(stmt.symbol)))
            current.set(stmt.symbol, counter)
            return goes_on

        return self._loop(stmt, frame, next_one)

    def _loop(self, stmt: nodes.For | nodes.While, frame: Frame, test: Callable[[Frame, int], Any]) -> Left:
        """Runs the body while the test holds; lanes that leave are not with those that go on, unless they linger."""
        may_linger = self._may_linger(stmt)
        going, returned, trip = Going(frame, may_linger), None, 0
        snapshot: Any = None
        straight = self.trips.of(stmt) if may_linger else None
        if straight is not None and straight.has_test:
            test = self._tested(straight.test)
        while True:
            self.expressions.kept_for_a_trip.clear()
            try:
                if self.watching.statements:
                    self.watching.tests(stmt, going.frame)
                goes_on = test(going.frame, trip)
            except Fault as fault:
                _put(fault, stmt, going.frame)
                raise
            if isinstance(goes_on, np.generic):
                if not goes_on:
                    break
            elif not (going.alive is None and goes_on.all()) and not going.stay(goes_on):
                break
            current = going.frame
            left = None
            if straight is None:
                left = self.block(stmt.body, current)
            else:
                straight.run(self.expressions, current, trip)
            trip += 1
            if isinstance(left, int):
                if left == _CONTINUE:
                    left = None
                elif left == _BREAK:
                    break
                else:
                    returned = _noted(returned, current, frame, np.arange(current.lanes.count))
                    break
            if left is not None:
                (gone,) = np.nonzero(left == _RETURN)
                if len(gone):
                    returned = _noted(returned, current, frame, gone)
                if not going.stay((left == 0) | (left == _CONTINUE)):
                    break
            if isinstance(stmt, nodes.While) and trip >= _FIRST_LOOK:
                if snapshot is not None or trip & (trip - 1) == 0:
                    going.leave_behind()
                snapshot = self._look(stmt, going.frame, trip, snapshot)
        if straight is not None:
            self.expressions.kept_for_a_trip.clear()
            self.expressions.kept_for_all_trips.clear()
            self.expressions.next_test = None
        if going.frame is not frame:
            going.frame.merge()
        return returned

    def _tested(self, test: Step) -> Callable[[Frame, int], Any]:
        return lambda current, trip: tree.dense(test(self.expressions, current))

    def _may_linger(self, stmt: nodes.For | nodes.While) -> bool:
        """Lanes that have left a loop may go on beside the others until it pays to part: nothing comes of it, for the
        loop does arithmetic and nothing else, and nobody watches. What they compute then is thrown away.
        """
        watching = self.watching
        if watching.statements or watching.values or watching.variables or watching.calls:
            return False
        known = self._lingering.get(id(stmt))
        if known is None:
            tests = [stmt.condition] if isinstance(stmt, nodes.While) else []
            is_plain = self._are_plain(stmt.body) and all(map(self.expressions.is_plain, tests))
            known = self._lingering[id(stmt)] = stmt, is_plain
        return known[1]

    def _are_plain(self, body: tuple[Stmt, ...]) -> bool:
        """Statements that touch no memory and end for every lane: no loops, which may depend on what is computed."""
        is_plain = self.expressions.is_plain
        for stmt in body:
            match stmt:
                case nodes.Assign(target, value):
                    if not (isinstance(root_of(target), nodes.Read) and is_plain(target) and is_plain(value)):
                        return False
                case nodes.If(condition, then, otherwise):
                    if not (is_plain(condition) and self._are_plain(then) and self._are_plain(otherwise)):
                        return False
                case nodes.Break() | nodes.Continue():
                    pass
                case _:
                    return False
        return True

    def _look(self, stmt: nodes.While, current: Frame, trip: int, snapshot: Any) -> Any:
        """Now and then: has a trip changed anything? If not, no later one will. Raises Deadlock."""
        if snapshot is not None:
            changes, lanes, values = snapshot
            if changes == self.changes and lanes is current.lanes and _are_same(values, current):
                reason = f"no thread can leave this loop any more: nothing changes from trip to trip ({trip} were made)"
                raise _put(Deadlock(reason), stmt, current)
            return None
        if trip & (trip - 1) == 0:
            return self.changes, current.lanes, dict(current.values)
        return None

    def _break(self, stmt: nodes.Break, frame: Frame) -> Left:
        return _BREAK

    def _continue(self, stmt: nodes.Continue, frame: Frame) -> Left:
        return _CONTINUE

    def _return(self, stmt: nodes.Return, frame: Frame) -> Left:
        if stmt.value is not None:
            frame.set(self._result(self._running[-1]), self._value(stmt.value, frame))
        if len(self._running) == 1:
            self.ended[frame.lanes.dense - frame.lanes.origin] = True
        return _RETURN

    def _print(self, stmt: nodes.Print, frame: Frame) -> Left:
        values = [(tree.spread(self._value(one, frame), frame.lanes.count), one.type) for one in stmt.arguments]
        self.watching.prints(stmt, values, frame.lanes)
        self.output.write(stmt.pieces, values, frame.lanes)
        return None

    def _assert(self, stmt: nodes.Assert, frame: Frame) -> Left:
        holds = self.expressions.dense(stmt.condition, frame)
        if not holds.all():
            fault = AssertFailed(f"{stmt.owner}:{stmt.number}: the assertion `{stmt.text}` fails")
            raise at_lane(fault, int(np.argmin(holds)) if holds.ndim else 0)
        return None

    def _assume(self, stmt: nodes.Assume, frame: Frame) -> Left:
        holds = self.expressions.dense(stmt.condition, frame)
        if not holds.all():
            fault = AssumptionFailed(f"the assumption `{stmt.text}` does not hold")
            raise at_lane(fault, int(np.argmin(holds)) if holds.ndim else 0)
        return None

    def _native(self, stmt: nodes.Native, frame: Frame) -> Left:
        if not stmt.has_body:
            raise native(stmt.name)
        return self.block(stmt.body, frame)

    def _barrier(self, stmt: nodes.Barrier, frame: Frame) -> Left:
        mask = None if stmt.mask is None else self.expressions.dense(stmt.mask, frame)
        barriers.check(frame.lanes, mask, stmt.of_cluster, self.ended)
        self.watching.waits(stmt, frame.lanes)
        return None


def _require_writable(found: memory.Allocation, positions: Any) -> None:
    if found.is_read_only:
        fault = Fault(f"{found.name} lies in memory that may only be read")
        raise at_lane(fault, 0 if positions is None else int(positions[0]))


def _put(fault: Fault, stmt: Stmt, frame: Frame) -> Fault:
    """The fault with its place, its thread and what that thread's variables hold, unless it has them."""
    if fault.span is None:
        lanes = frame.lanes
        if not fault.thread:
            fault.thread = lanes.coordinates(fault.position or 0)
        elif lanes.coordinates(fault.position or 0) != fault.thread:  # of a frame further in, with fewer lanes
            fault.position = next((i for i in range(lanes.count) if lanes.coordinates(i) == fault.thread), 0)
        if not is_in_library(stmt.span):
            fault.span, fault.variables = stmt.span, variables(frame, fault.position or 0)
    return fault


def variables(frame: Frame, position: int) -> dict[str, Any]:
    """What a lane's variables hold, by name; of two of one name that which is assigned last."""
    found: dict[str, Any] = {}
    chain: list[tuple[Frame, int]] = []
    at: Frame | None = frame
    while at is not None:
        chain.append((at, position))
        if at.parent is not None:
            position = int(at.positions[position])
        at = at.parent
    for one, where in reversed(chain):
        for symbol, value in one.values.items():
            if _is_written(symbol):
                found[symbol.name] = tree.lane_of(value, where)
    return found


def _is_written(symbol: Symbol) -> bool:
    """Whether the kernel has a variable of this name, not the compiler alone: those have no place, or another's."""
    span = symbol.span
    if span is None or not (symbol.name[0] == "t" and symbol.name[1:].isdigit()):
        return span is not None
    return linecache.getline(span.path, span.line)[span.column - 1 :].startswith(symbol.name)


def _noted(returned: Any, current: Frame, frame: Frame, gone: Any) -> Any:
    """Marks lanes of the loop's frame as returned."""
    found = np.zeros(frame.lanes.count, np.int8) if returned is None else returned
    found[gone if current is frame else current.positions[gone]] = _RETURN
    return found


def _are_same(values: dict[Symbol, Value], current: Frame) -> bool:
    if values.keys() != current.values.keys():
        return False
    differ = False

    def compare(a: Any, b: Any) -> Any:
        nonlocal differ
        differ = differ or (a is not b and not _is_equal(a, b))
        return a

    for symbol, value in values.items():
        tree.mapped(compare, value, current.values[symbol])
    return not differ


def _is_equal(a: Any, b: Any) -> bool:
    return bool(tree.dense(a).tobytes() == tree.dense(b).tobytes())


def _trips(start: Any, stop: Any, step: Any) -> Any:
    """How often each lane runs a `For`."""
    safe = np.where(step == 0, 1, step)
    up = (stop - start + safe - 1) // safe
    down = (start - stop - safe - 1) // -safe
    return np.where(step == 0, 0, np.maximum(np.where(step > 0, up, down), 0))


_MEANING: dict[type[Any], Callable[[Statements, Any, Frame], Left]] = {
    nodes.Assign: Statements._assign,
    nodes.Evaluate: Statements._evaluate,
    nodes.If: Statements._if,
    nodes.For: Statements._for,
    nodes.While: Statements._while,
    nodes.Break: Statements._break,
    nodes.Continue: Statements._continue,
    nodes.Return: Statements._return,
    nodes.Print: Statements._print,
    nodes.Assert: Statements._assert,
    nodes.Assume: Statements._assume,
    nodes.Barrier: Statements._barrier,
    nodes.Native: Statements._native,
}
