"""Forward mode: a kernel run on dual numbers, thread by thread, as the judge of reverse mode.

    run(kernel, (5,), [memory, 0.5], order=[3, 0, 4, 1, 2]) → Trace

A number of floating-point type is a `Dual`: the value, computed as `kbuild.sim.numbers` defines it, and its tangent in
double precision along two directions at once, the real and the imaginary part of a complex number. Everything else of
a value is as in `kbuild.sim.values`. The meaning of nodes is that of `kbuild/ir/nodes.py`, without barriers, shared
memory and printing. The IR is the one that goes into the pass, so that nothing of the pass is taken for granted.

The `Trace` has the path that the run took (branches, trips, pieces of functions such as `abs`): where it differs
between two runs, their difference says nothing about a derivative. `kinks` counts places where there is none,
or one so steep that rounding decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Kernel, Stmt, Symbol
from kbuild.ir.types import Array, Matrix, Scalar, Struct, Type, Vector, element_of, is_composite, is_float
from kbuild.sim import blocks, numbers
from kbuild.sim.tables import table_memory
from kbuild.sim.values import Memory, OutOfBounds, built, copied, fetch, zero
from tests.helpers import tangents


class Dual:
    """A value, and its tangents along two directions as a complex number."""

    __slots__ = ("tangent", "value")

    def __init__(self, value: float, tangent: complex = 0j) -> None:
        self.value, self.tangent = value, tangent

    def __repr__(self) -> str:
        return f"{self.value!r}~{self.tangent!r}"


class TooLong(Exception):
    """More steps than the caller allows."""


@dataclass
class Trace:
    """What a run saw. Steps are executed statements; `trips`, `calls` … count for statistics."""

    path: list[object] = field(default_factory=list)
    kinks: int = 0
    steps: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


def run(
    kernel: Kernel,
    dim: tuple[int, ...],
    arguments: Sequence[Any],
    order: Sequence[int] | None = None,
    trace: Trace | None = None,
    max_steps: int = 100_000,
) -> Trace:
    """Runs every thread of a launch in this order of their numbers. Arguments are values whose floats are `Dual`."""
    trace = trace if trace is not None else Trace()
    launch = blocks.over(dim, 256)
    threads = [thread for block in range(math.prod(launch.grid)) for thread in launch.threads(block)]
    for number in order if order is not None else range(len(threads)):
        interpreter = _Interpreter(threads[number], launch, trace, trace.steps + max_steps)
        interpreter.call(kernel.function, [copied(argument) for argument in arguments])
    return trace


_BREAK, _CONTINUE = object(), object()


@dataclass
class _Returned:
    value: Any


class _Frame(dict[Symbol, Any]):
    """Variables of a call; `wraps`: its indices may count from the end."""

    __slots__ = ("wraps",)

    def __missing__(self, symbol: Symbol) -> Any:
        self[symbol] = value = zeros(symbol.type)
        return value


def zeros(type: Type) -> Any:
    """The zero of a type."""
    return built(type, lambda leaf: Dual(0.0) if is_float(leaf) else zero(leaf))


def _dual(element: Any) -> Any:
    """An element of a table, which nothing is differentiated by."""
    return [_dual(part) for part in element] if isinstance(element, list) else Dual(element)


STEEPEST = 1e7  # what was rounding before is the result afterwards, and derivatives are nobody's


def times(factor: float, tangent: complex) -> complex:
    """Nothing times anything is nothing: what does not move has no part in what comes of it."""
    return factor * tangent if tangent != 0 else 0j


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Dual) else value


def _scalar(type: Type) -> Scalar:
    element = element_of(type)
    assert isinstance(element, Scalar), type
    return element


def _mapped(type: Type, function: Callable[..., Any], *values: Any) -> Any:
    if isinstance(type, Matrix):
        return [[function(*items) for items in zip(*rows, strict=True)] for rows in zip(*values, strict=True)]
    if is_composite(type):
        return [function(*items) for items in zip(*values, strict=True)]
    return function(*values)


def _is_tie(left: Any, right: Any, near: float) -> bool:
    """Whether rounding alone decides between two numbers that move: `lerp(x, x, t) < x`."""
    if not (isinstance(left, Dual) and isinstance(right, Dual)) or left.tangent == right.tangent == 0:
        return False
    return abs(left.value - right.value) <= near * max(abs(left.value), abs(right.value))


@dataclass
class _Interpreter:
    thread: blocks.Thread
    launch: blocks.Launch
    trace: Trace
    max_steps: int

    def call(self, function: Function, arguments: list[Any]) -> Any:
        frame = _Frame(zip(function.parameters, arguments, strict=True))
        frame.wraps = function.wraps
        left = self.block(function.body, frame)
        return left.value if isinstance(left, _Returned) else None

    # Statements

    def block(self, body: tuple[Stmt, ...], frame: _Frame) -> Any:
        for statement in body:
            self.trace.steps += 1
            if self.trace.steps > self.max_steps:
                raise TooLong
            left = _STATEMENTS[type(statement)](self, statement, frame)
            if left is not None:
                return left
        return None

    def assignment(self, stmt: nodes.Assign, frame: _Frame) -> None:
        value = copied(self.value(stmt.value, frame))
        if isinstance(stmt.target, nodes.Read):
            frame[stmt.target.symbol] = value
            return
        container, path = self.place(stmt.target, frame)
        fetch(container, path[:-1])[path[-1]] = value

    def evaluation(self, stmt: nodes.Evaluate, frame: _Frame) -> None:
        self.value(stmt.value, frame)

    def branch(self, stmt: nodes.If, frame: _Frame) -> Any:
        return self.block(stmt.then if self.decides(stmt.condition, frame) else stmt.otherwise, frame)

    def decides(self, condition: Expr, frame: _Frame) -> bool:
        taken = bool(self.value(condition, frame))
        self.trace.path.append(taken)
        return taken

    def for_loop(self, stmt: nodes.For, frame: _Frame) -> Any:
        start, stop, step = (self.value(bound, frame) for bound in (stmt.start, stmt.stop, stmt.step))
        counters = range(start, stop, step) if step else range(0)
        self.trace.path.append((len(counters), start, step))
        self.trace.count("trip" if counters else "no trip")
        for counter in counters:
            frame[stmt.symbol] = counter
            left = self.block(stmt.body, frame)
            if left is _BREAK:
                self.trace.count("break")
                return None
            if isinstance(left, _Returned):
                self.trace.count("return from a loop")
                return left
        return None

    def while_loop(self, stmt: nodes.While, frame: _Frame) -> Any:
        while self.decides(stmt.condition, frame):
            self.trace.steps += 1
            if self.trace.steps > self.max_steps:
                raise TooLong
            left = self.block(stmt.body, frame)
            if left is _BREAK:
                self.trace.count("break")
                return None
            if isinstance(left, _Returned):
                self.trace.count("return from a loop")
                return left
        return None

    def returned(self, stmt: nodes.Return, frame: _Frame) -> _Returned:
        return _Returned(None if stmt.value is None else self.value(stmt.value, frame))

    def nothing(self, stmt: Stmt, frame: _Frame) -> None:
        """Printing and asserts have no part in values."""

    # Places

    def place(self, place: Expr, frame: _Frame) -> tuple[Any, tuple[Any, ...]]:
        """What a place lies in, and the way to it from there."""
        match place:
            case nodes.Read(symbol):
                _ = frame[symbol]  # is there from now on
                return frame, (symbol,)
            case nodes.Index():
                memory, offset = self.element(place, frame)
                return memory.data, (offset,)
            case nodes.Component(base, indices):
                container, path = self.place(base, frame)
                return container, path + self.components(base.type, indices, frame)
            case nodes.Member(base, name):
                container, path = self.place(base, frame)
                return container, (*path, name)
        raise AssertionError(f"no place: {place!r:.100}")

    def element(self, expr: nodes.Index, frame: _Frame) -> tuple[Memory, int]:
        memory: Memory = self.value(expr.array, frame)
        indices = [self.value(index, frame) for index in expr.indices]
        return memory, memory.offset(indices, frame.wraps, self.thread)

    def components(self, base: Type, indices: tuple[Expr, ...], frame: _Frame) -> tuple[int, ...]:
        extents = (base.length,) if isinstance(base, Vector) else (base.rows, base.columns)  # type: ignore[attr-defined]
        found = []
        for index, extent in zip((self.value(index, frame) for index in indices), extents, strict=False):
            if not (-extent if frame.wraps else 0) <= index < extent:
                raise OutOfBounds(f"index {index} in {base}")
            found.append(index % extent)
        return tuple(found)

    # Expressions

    def value(self, expr: Expr, frame: _Frame) -> Any:
        return _EXPRESSIONS[type(expr)](self, expr, frame)

    def const(self, expr: nodes.Const, frame: _Frame) -> Any:
        return Dual(float(expr.value)) if is_float(expr.type) else expr.value

    def read(self, expr: nodes.Read, frame: _Frame) -> Any:
        return frame[expr.symbol]

    def table(self, expr: nodes.Table, frame: _Frame) -> Memory:
        found = table_memory(expr)
        if not is_float(element_of(found.element)):
            return found
        lifted = [_dual(element) for element in found.data]
        return Memory(found.element, found.shape, lifted, is_constant=True)

    def index(self, expr: nodes.Index, frame: _Frame) -> Any:
        memory, offset = self.element(expr, frame)
        return memory.data[offset]

    def component(self, expr: nodes.Component, frame: _Frame) -> Any:
        return fetch(self.value(expr.base, frame), self.components(expr.base.type, expr.indices, frame))

    def member(self, expr: nodes.Member, frame: _Frame) -> Any:
        return self.value(expr.base, frame)[expr.field]

    def extent(self, expr: nodes.Extent, frame: _Frame) -> int:
        return int(self.value(expr.array, frame).shape[expr.axis])

    def present(self, expr: nodes.Present, frame: _Frame) -> bool:
        return bool(self.value(expr.array, frame).is_present)

    def view(self, expr: nodes.View, frame: _Frame) -> Memory:
        memory: Memory = self.value(expr.array, frame)
        return memory.view([self.value(index, frame) for index in expr.indices], frame.wraps, self.thread)

    def thread_index(self, expr: nodes.ThreadIndex, frame: _Frame) -> int:
        return self.thread.number if expr.ndim == 1 else self.thread.coordinates[expr.axis]

    def position(self, expr: nodes.Position, frame: _Frame) -> int:
        if expr.axis is None:
            return blocks.numbered(expr.what, self.thread, self.launch)
        return blocks.along(expr.what, expr.axis, self.thread, self.launch)

    def select(self, expr: nodes.Select, frame: _Frame) -> Any:
        return self.value(expr.then if self.decides(expr.condition, frame) else expr.otherwise, frame)

    def logical(self, expr: nodes.Logical, frame: _Frame) -> Any:
        first = self.decides(expr.left, frame)
        return self.value(expr.right, frame) if first == (expr.op == "and") else first

    def compare(self, expr: nodes.Compare, frame: _Frame) -> bool:
        left, right = self.value(expr.left, frame), self.value(expr.right, frame)
        self.trace.kinks += _is_tie(left, right, 1e-12 if expr.left.type.size == 8 else 1e-5)
        return numbers.compare(expr.op, _plain(left), _plain(right))

    def unary(self, expr: nodes.Unary, frame: _Frame) -> Any:
        type, op = _scalar(expr.type), expr.op

        def one(a: Any) -> Any:
            if isinstance(a, Dual):
                return Dual(float(numbers.unary(op, a.value, type)), -a.tangent)
            return numbers.unary(op, a, type)

        return _mapped(expr.type, one, self.value(expr.operand, frame))

    def binary(self, expr: nodes.Binary, frame: _Frame) -> Any:
        type, op = _scalar(expr.type), expr.op
        left, right = self.spread(expr.left, expr.type, frame), self.spread(expr.right, expr.type, frame)
        if not is_float(type):
            return _mapped(expr.type, lambda a, b: numbers.binary(op, a, b, type), left, right)
        return _mapped(expr.type, lambda a, b: self.arithmetic(op, a, b, type), left, right)

    def arithmetic(self, op: str, a: Dual, b: Dual, type: Scalar) -> Dual:
        value = float(numbers.binary(op, a.value, b.value, type))
        match op:
            case "add":
                return Dual(value, a.tangent + b.tangent)
            case "sub":
                return Dual(value, a.tangent - b.tangent)
            case "mul":
                return Dual(value, times(b.value, a.tangent) + times(a.value, b.tangent))
            case "mod":
                return self.through("fmod", [a, b], value)
            case "floordiv":
                self.trace.path.append(value)
                return Dual(value)
        assert op == "div"
        x, y = a.value, b.value
        by_first, by_second = (1.0 / y, -x / y / y) if y else (math.nan, math.nan)
        self.trace.kinks += abs(by_first) > STEEPEST
        return Dual(value, times(by_first, a.tangent) + times(by_second, b.tangent))

    def spread(self, part: Expr, type: Type, frame: _Frame) -> Any:
        """An operand; a composite's scalar as a composite of equal elements."""
        value = self.value(part, frame)
        return value if part.type == type else _mapped(type, lambda _: value, zero(type))

    def fma(self, expr: nodes.Fma, frame: _Frame) -> Any:
        type = _scalar(expr.type)

        def one(a: Dual, b: Dual, c: Dual) -> Dual:
            tangent = times(b.value, a.tangent) + times(a.value, b.tangent) + c.tangent
            return Dual(numbers.fma(a.value, b.value, c.value, type), tangent)

        return _mapped(expr.type, one, *(self.spread(part, expr.type, frame) for part in (expr.a, expr.b, expr.c)))

    def convert(self, expr: nodes.Convert, frame: _Frame) -> Any:
        a, source, target = self.value(expr.operand, frame), _scalar(expr.operand.type), _scalar(expr.type)
        value = numbers.convert(_plain(a), source, target)
        if is_float(target):
            return Dual(float(value), a.tangent if isinstance(a, Dual) else 0j)
        if isinstance(a, Dual):
            self.trace.path.append(value)
        return value

    def build(self, expr: nodes.Build, frame: _Frame) -> Any:
        type = expr.type
        if not expr.parts and isinstance(type, Array):
            return zero(type)
        parts = [copied(self.value(part, frame)) for part in expr.parts]
        if isinstance(type, Matrix):
            return [parts[row * type.columns : (row + 1) * type.columns] for row in range(type.rows)]
        if isinstance(type, Struct):
            return {f.name: part for f, part in zip(type.fields, parts, strict=True)}
        return parts

    def item(self, expr: nodes.Item, frame: _Frame) -> Any:
        return self.value(expr.base, frame)[expr.index]

    def called(self, expr: nodes.Call, frame: _Frame) -> Any:
        arguments = [copied(self.value(argument, frame)) for argument in expr.arguments]
        return copied(self.call(expr.callee, arguments))

    def intrinsic(self, expr: nodes.Intrinsic, frame: _Frame) -> Any:
        if ALL_ROWS[expr.name].is_atomic:
            return self.atomic(expr, frame)
        source, result = _scalar(expr.arguments[0].type), _scalar(expr.type)
        arguments = [self.value(argument, frame) for argument in expr.arguments]
        plain = [_plain(argument) for argument in arguments]
        value = numbers.intrinsic(expr.name, plain, source, result)
        if is_float(result):
            return self.through(expr.name, arguments, float(value))
        if is_float(source):
            self.trace.path.append(value)
        return value

    def through(self, name: str, arguments: list[Dual], value: float) -> Dual:
        """The value of a function with the tangent that its derivatives give it."""
        plain = [argument.value for argument in arguments]
        piece = tangents.piece(name, plain)
        if piece is not None:
            self.trace.path.append(piece)
        self.kink(tangents.at_kink(name, plain), name, arguments)
        tangent = 0j
        for slope, argument in zip(tangents.partials(name, plain), arguments, strict=True):
            if argument.tangent != 0:
                factor = slope()
                self.trace.kinks += abs(factor) > STEEPEST
                tangent += factor * argument.tangent
        return Dual(value, tangent)

    def kink(self, is_kink: bool, name: str, arguments: Sequence[Dual]) -> None:
        """At a kink it matters how the arguments move; where two of them move as one there is none. An infinite slope
        is one in any case: reverse mode meets it before it knows what moves.
        """
        moves = {argument.tangent for argument in arguments}
        if is_kink and (name in tangents.STEEP or (len(moves) > 1 if name in ("min", "max") else moves != {0j})):
            self.trace.kinks += 1

    def atomic(self, expr: nodes.Intrinsic, frame: _Frame) -> Any:
        """The value before."""
        self.trace.count(expr.name)
        type = _scalar(expr.arguments[0].type)
        container, path = self.place(expr.arguments[0], frame)
        before, given = fetch(container, path), [self.value(a, frame) for a in expr.arguments[1:]]
        fetch(container, path[:-1])[path[-1]] = self.after(expr.name.removeprefix("atomic_"), before, given, type)
        return before

    def after(self, op: str, before: Any, given: list[Any], type: Scalar) -> Any:
        match op:
            case "exch":
                return given[0]
            case "cas":
                same = _plain(before) == _plain(given[0])
                self.trace.path.append(same)
                return given[1] if same else before
            case "min" | "max":
                if not is_float(type):
                    return (min if op == "min" else max)(before, given[0])
                self.kink(before.value == given[0].value, op, [before, given[0]])
                wins = numbers.EXACT[op](before.value, given[0].value) != before.value
                self.trace.path.append(wins)
                return given[0] if wins else before
        if is_float(type):
            return self.arithmetic(op, before, given[0], type)
        return numbers.binary(op, before, given[0], type)


_STATEMENTS: dict[type, Callable[[_Interpreter, Any, _Frame], Any]] = {
    nodes.Assign: _Interpreter.assignment,
    nodes.Evaluate: _Interpreter.evaluation,
    nodes.If: _Interpreter.branch,
    nodes.For: _Interpreter.for_loop,
    nodes.While: _Interpreter.while_loop,
    nodes.Break: lambda machine, stmt, frame: _BREAK,
    nodes.Continue: lambda machine, stmt, frame: _CONTINUE,
    nodes.Return: _Interpreter.returned,
    nodes.Print: _Interpreter.nothing,
    nodes.Assert: _Interpreter.nothing,
}
_EXPRESSIONS: dict[type, Callable[[_Interpreter, Any, _Frame], Any]] = {
    nodes.Const: _Interpreter.const,
    nodes.Read: _Interpreter.read,
    nodes.Table: _Interpreter.table,
    nodes.Index: _Interpreter.index,
    nodes.Component: _Interpreter.component,
    nodes.Member: _Interpreter.member,
    nodes.Extent: _Interpreter.extent,
    nodes.Present: _Interpreter.present,
    nodes.View: _Interpreter.view,
    nodes.ThreadIndex: _Interpreter.thread_index,
    nodes.Position: _Interpreter.position,
    nodes.Select: _Interpreter.select,
    nodes.Logical: _Interpreter.logical,
    nodes.Compare: _Interpreter.compare,
    nodes.Unary: _Interpreter.unary,
    nodes.Binary: _Interpreter.binary,
    nodes.Fma: _Interpreter.fma,
    nodes.Convert: _Interpreter.convert,
    nodes.Build: _Interpreter.build,
    nodes.Item: _Interpreter.item,
    nodes.Call: _Interpreter.called,
    nodes.Intrinsic: _Interpreter.intrinsic,
}
