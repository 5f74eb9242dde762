"""Runs a kernel one thread after the other on Python numbers.

    run(kernel, dim=(64,), arguments=[Memory(…), 0.5]) → Outcome: the arrays hold the results

Every access is checked: outside an array, or in conflict with another thread so that the result depends on order, is a
`Fault` with the Python line. The order of threads is the linear one; at a barrier a thread waits for the others of its
block (`sim.blocks`), so statements are generators that yield there. Expressions never wait.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kbuild.errors import InternalError
from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Kernel, Stmt, Symbol
from kbuild.ir.traverse import root_of
from kbuild.ir.types import BOOL, Array, Matrix, Scalar, Shared, Struct, Type, Vector, element_of, is_composite
from kbuild.sim import blocks, collectives, numbers, printing
from kbuild.sim.blocks import WARP, Launch, Run, Steps, Thread, Waiting, run_in_step, to_end
from kbuild.sim.tables import table_memory
from kbuild.sim.values import (
    MAY_HAVE_ENDED,
    MAY_NOT_HAVE_BEGUN,
    Fault,
    Memory,
    OutOfBounds,
    Path,
    copied,
    fetch,
    native,
    no_rank,
    shared_memory,
    zero,
)

_BREAK, _CONTINUE = object(), object()
_WRAPS = Symbol("wraps", BOOL)  # in the frame of a function whose indices may count from the end


@dataclass
class _Returned:
    value: Any


class TooLong(Fault):
    """More steps than the caller allows."""


class AssertFailed(Fault):
    """An assert of the kernel's does not hold."""


class AssumptionFailed(Fault):
    """What the kernel tells the compiler to count on is not so."""


@dataclass
class Outcome:
    """What a run has seen: `approximate` when a result is only near on other devices, `steps` statements executed.

    `printed` is what kernels have printed, in the order of threads; a GPU promises order within a thread only.
    """

    approximate: bool = False
    steps: int = 0
    printed: bytearray = field(default_factory=bytearray)


def run(
    kernel: Kernel, dim: tuple[int, ...], arguments: list[Any], max_steps: int = 10_000_000, block_dim: int = 256
) -> Outcome:
    """Runs every thread of a launch. Raises Fault with the place in its message, ValueError for a block in part."""
    return run_launch(kernel, blocks.over(dim, block_dim), arguments, max_steps)


def run_launch(kernel: Kernel, launch: Launch, arguments: list[Any], max_steps: int = 10_000_000) -> Outcome:
    """The same for a launch with a grid of its own."""
    launch = blocks.in_clusters(launch, kernel)
    machine = _Machine(max_steps, launch)
    for first in range(0, math.prod(launch.grid), launch.cluster):
        machine.shared = {}
        runs = [
            Run(thread, machine.thread_of(kernel.function, [copied(a) for a in arguments]))
            for number in range(first, first + launch.cluster)
            for thread in launch.threads(number)
        ]
        run_in_step(runs, machine.switch)
    return machine.outcome


@dataclass
class _Machine:
    max_steps: int
    launch: Launch
    outcome: Outcome = field(default_factory=Outcome)
    thread: Thread = field(default_factory=lambda: Thread(0, (0,), 0, 0))
    shared: dict[tuple[int, Symbol], Memory] = field(default_factory=dict)  # of each block
    # Accesses to another block's shared memory since the last barrier of the cluster, by the thread's number.
    away: dict[int, Expr] = field(default_factory=dict)

    def switch(self, thread: Thread) -> None:
        """From here on this thread runs."""
        self.thread = thread

    def thread_of(self, function: Function, arguments: list[Any]) -> Steps:
        """A thread from its beginning to its end."""
        yield from self.call(function, arguments)
        last = self.away.pop(self.thread.number, None)
        if last is not None:
            fault = Fault(MAY_HAVE_ENDED)
            fault.span, fault.thread = last.span, self.thread.coordinates
            raise fault

    def note(self, kind: str, memory: Memory, path: Path, expr: Expr) -> None:
        """An access of the thread's at a place in the source. Raises Fault."""
        if memory.owner is not None and memory.owner[0] != self.thread.block:
            if not self.thread.clusters:
                raise Fault(MAY_NOT_HAVE_BEGUN)
            self.away[self.thread.number] = expr
        memory.note(kind, path, self.thread)

    def call(self, function: Function, arguments: list[Any]) -> Steps:
        frame: dict[Symbol, Any] = dict(zip(function.parameters, arguments, strict=True))
        if function.wraps:
            frame[_WRAPS] = True
        for symbol in function.shared:
            frame[symbol] = self.shared_array(self.thread.block, symbol)
        result = yield from self.block(function.body, frame)
        return result.value if isinstance(result, _Returned) else None

    def shared_array(self, block: int, symbol: Symbol) -> Memory:
        """A block's own; who comes first makes it."""
        assert isinstance(symbol.type, Shared)
        if (block, symbol) not in self.shared:
            shape = symbol.type.shape
            if symbol.type.is_dynamic:
                shape = (self.launch.shared // symbol.type.row, *shape[1:])
            made = self.shared[block, symbol] = shared_memory(symbol.type.element, shape)
            made.owner = block, symbol
        return self.shared[block, symbol]

    def elsewhere(self, array: Memory, rank: int) -> Memory:
        """An array in shared memory, or a view of one, as another block of the cluster has it."""
        assert array.owner is not None
        if not 0 <= rank < self.launch.cluster:
            raise OutOfBounds(no_rank(rank, self.launch.cluster))
        _, symbol = array.owner
        block = self.thread.block - self.thread.block % self.launch.cluster + rank
        whole = self.shared_array(block, symbol)
        books = whole.written_by, whole.read_by, whole.atomic_by, whole.scoped_by
        return Memory(array.element, array.shape, whole.data, *books, array.base, is_shared=True, owner=whole.owner)

    # Statements

    def block(self, body: tuple[Stmt, ...], frame: dict[Symbol, Any]) -> Steps:
        """Runs statements; what ends the block early, or None."""
        for statement in body:
            left = yield from self.statement(statement, frame)
            if left is not None:
                return left
        return None

    def statement(self, stmt: Stmt, frame: dict[Symbol, Any]) -> Steps:
        self.outcome.steps += 1
        if self.outcome.steps > self.max_steps:
            raise TooLong(f"more than {self.max_steps} steps")
        try:
            return (yield from self._statement(stmt, frame))
        except Fault as fault:
            if fault.span is None:
                fault.span, fault.thread = stmt.span, self.thread.coordinates
            raise

    def _statement(self, stmt: Stmt, frame: dict[Symbol, Any]) -> Steps:
        match stmt:
            case nodes.Assign(nodes.Read(symbol), nodes.Call(callee, arguments)):
                with self.on_its_way(id(stmt)):
                    frame[symbol] = copied((yield from self.call(callee, self.copies(arguments, frame))))
            case nodes.Evaluate(nodes.Call(callee, arguments)):
                with self.on_its_way(id(stmt)):
                    yield from self.call(callee, self.copies(arguments, frame))
            case nodes.Assign(target, nodes.Intrinsic() as value) if ALL_ROWS[value.name].is_collective:
                self.assign(target, (yield from self.collective(value, stmt, frame)), frame)
            case nodes.Evaluate(nodes.Intrinsic() as value) if ALL_ROWS[value.name].is_collective:
                yield from self.collective(value, stmt, frame)
            case nodes.Assign(target, value):
                self.assign(target, copied(self.value(value, frame)), frame)
            case nodes.Evaluate(nodes.Intrinsic() as value) if ALL_ROWS[value.name].is_atomic:
                self.atomic(value, frame, is_used=False)
            case nodes.Evaluate(value):
                self.value(value, frame)
            case nodes.Native(name=name, body=body, has_body=has_body):
                if not has_body:
                    raise native(name)
                return (yield from self.block(body, frame))
            case nodes.If(condition, then, otherwise):
                return (yield from self.block(then if self.value(condition, frame) else otherwise, frame))
            case nodes.For():
                return (yield from self.loop(stmt, frame))
            case nodes.While(condition, body):
                with self.on_its_way(0) as way:
                    while self.value(condition, frame):
                        left = yield from self.block(body, frame)
                        if left is _BREAK:
                            break
                        if isinstance(left, _Returned):
                            return left
                        yield from self.statement(nodes.Evaluate(nodes.Const(True, condition.type), stmt.span), frame)
                        way[-1] += 1
            case nodes.Print(pieces, arguments):
                self.outcome.printed += printing.formatted(pieces, [(self.value(a, frame), a.type) for a in arguments])
            case nodes.Assert(condition, owner, number, text):
                if not self.value(condition, frame):
                    raise AssertFailed(f"{owner}:{number}: the assertion `{text}` fails")
            case nodes.Assume(condition, text):
                if not self.value(condition, frame):
                    raise AssumptionFailed(f"the assumption `{text}` does not hold")
            case nodes.Break():
                return _BREAK
            case nodes.Continue():
                return _CONTINUE
            case nodes.Return(value):
                return _Returned(None if value is None else self.value(value, frame))
            case nodes.Barrier(of_cluster=True):
                self.away.pop(self.thread.number, None)
                yield self.waiting(stmt, None)
            case nodes.Barrier(mask):
                yield self.waiting(stmt, None if mask is None else self.value(mask, frame))
        return None

    @contextmanager
    def on_its_way(self, step: int) -> Iterator[list[int]]:
        """A call or a loop that the thread is in; in a loop the last step counts its trips."""
        way = self.thread.way
        way.append(step)
        yield way
        way.pop()

    def collective(self, expr: nodes.Intrinsic, stmt: Stmt, frame: dict[Symbol, Any]) -> Steps:
        """What the lanes of a warp do together: this one's result."""
        waiting = Waiting(
            stmt,
            collectives.ALL_LANES,
            tuple(self.thread.way),
            tuple(self.value(one, frame) for one in expr.arguments),
        )
        yield waiting
        return collectives.result(expr.name, self.thread.index % WARP, waiting.offered)

    def waiting(self, stmt: nodes.Barrier, mask: int | None) -> Waiting:
        lane = self.thread.index % WARP
        if mask is not None and not mask >> lane & 1:
            raise Fault(f"lane {lane} waits for the lanes 0x{mask:x} and is none of them")
        return Waiting(stmt, mask, tuple(self.thread.way))

    def copies(self, arguments: tuple[Expr, ...], frame: dict[Symbol, Any]) -> list[Any]:
        return [copied(self.value(argument, frame)) for argument in arguments]

    def loop(self, stmt: nodes.For, frame: dict[Symbol, Any]) -> Steps:
        start, stop, step = (self.value(bound, frame) for bound in (stmt.start, stmt.stop, stmt.step))
        with self.on_its_way(0) as way:
            for counter in range(start, stop, step) if step else ():
                frame[stmt.symbol] = counter
                left = yield from self.block(stmt.body, frame)
                if left is _BREAK:
                    break
                if isinstance(left, _Returned):
                    return left
                way[-1] += 1
        return None

    # Places

    def assign(self, target: Expr, value: Any, frame: dict[Symbol, Any]) -> None:
        if isinstance(target, nodes.Read):
            frame[target.symbol] = value
            return
        root = root_of(target)
        memory, path = self.path(target, frame)
        if isinstance(root, nodes.Index):
            self.note("write", memory, path, target)
        _store(memory.data if isinstance(memory, Memory) else memory, path, value)

    def path(self, place: Expr, frame: dict[Symbol, Any]) -> tuple[Any, Path]:
        """The container that a place lies in, and the way to it from there."""
        match place:
            case nodes.Index(array, indices):
                memory = self.value(array, frame)
                positions = [self.value(i, frame) for i in indices]
                return memory, (memory.offset(positions, _WRAPS in frame, self.thread),)
            case nodes.Component(base, indices):
                container, path = self.path(base, frame)
                return container, path + self.component(base.type, indices, frame)
            case nodes.Member(base, name):
                container, path = self.path(base, frame)
                return container, (*path, name)
            case nodes.Read(symbol):
                frame.setdefault(symbol, zero(symbol.type))
                return frame, (symbol,)
        raise InternalError(f"no place: {place!r:.200}")

    def component(self, base: Type, indices: tuple[Expr, ...], frame: dict[Symbol, Any]) -> Path:
        extents = (base.length,) if isinstance(base, Vector) else (base.rows, base.columns)  # type: ignore[attr-defined]
        path = tuple(self.value(index, frame) for index in indices)
        for index, extent in zip(path, extents, strict=False):
            if not (-extent if _WRAPS in frame else 0) <= index < extent:
                raise OutOfBounds(f"index {index} in {base}")
        return tuple(index % extent for index, extent in zip(path, extents, strict=False))

    # Expressions

    def value(self, expr: Expr, frame: dict[Symbol, Any]) -> Any:
        match expr:
            case nodes.Const(value):
                return value
            case nodes.Read(symbol):
                if symbol not in frame:
                    frame[symbol] = zero(symbol.type)
                return frame[symbol]
            case nodes.Index() | nodes.Component() | nodes.Member():
                return self.load(expr, frame)
            case nodes.Table():
                return table_memory(expr)
            case nodes.Extent(array, axis):
                return self.value(array, frame).shape[axis]
            case nodes.Present(array):
                return self.value(array, frame).is_present
            case nodes.View(array, indices):
                positions = [self.value(i, frame) for i in indices]
                return self.value(array, frame).view(positions, _WRAPS in frame, self.thread)
            case nodes.Elsewhere(array, rank):
                return self.elsewhere(self.value(array, frame), self.value(rank, frame))
            case nodes.ThreadIndex(axis, ndim):
                return self.thread.number if ndim == 1 else self.thread.coordinates[axis]
            case nodes.Position(what, None):
                return blocks.numbered(what, self.thread, self.launch)
            case nodes.Position(what, int(along)):
                return blocks.along(what, along, self.thread, self.launch)
            case nodes.Select(condition, then, otherwise):
                return self.value(then if self.value(condition, frame) else otherwise, frame)
            case nodes.Logical(op, left, right):
                first = self.value(left, frame)
                return self.value(right, frame) if first == (op == "and") else first
            case nodes.Compare(op, left, right):
                return numbers.compare(op, self.value(left, frame), self.value(right, frame))
            case nodes.Unary(op, operand, type):
                return _map(type, lambda a: numbers.unary(op, a, _scalar(type)), self.value(operand, frame))
            case nodes.Binary(op, left, right, type):
                return self.binary(op, left, right, type, frame)
            case nodes.Fma(a, b, c, type):
                factors = [self.spread(part, type, frame) for part in (a, b, c)]
                return _map(type, lambda x, y, z: numbers.fma(x, y, z, _scalar(type)), *factors)
            case nodes.Convert(operand, type):
                return numbers.convert(self.value(operand, frame), _scalar(operand.type), _scalar(type))
            case nodes.Build((), Array() as type):
                return zero(type)
            case nodes.Build(parts, type):
                return _built(type, [copied(self.value(part, frame)) for part in parts])
            case nodes.Item(base, index):
                return self.value(base, frame)[index]
            case nodes.Call(callee, arguments):
                return to_end(self.call(callee, self.copies(arguments, frame)))
            case nodes.Intrinsic():
                return self.intrinsic(expr, frame)

    def load(self, expr: Expr, frame: dict[Symbol, Any]) -> Any:
        """Part of a value: from memory by its path, so that only what is touched is noted; else by taking it out."""
        root = root_of(expr)
        if isinstance(root, nodes.Index):
            memory, path = self.path(expr, frame)
            self.note("read", memory, path, expr)
            return memory.fetched(path)
        if isinstance(expr, nodes.Member):
            return self.value(expr.base, frame)[expr.field]
        assert isinstance(expr, nodes.Component)
        return fetch(self.value(expr.base, frame), self.component(expr.base.type, expr.indices, frame))

    def binary(self, op: str, left: Expr, right: Expr, type: Type, frame: dict[Symbol, Any]) -> Any:
        a, b = self.spread(left, type, frame), self.spread(right, type, frame)
        return _map(type, lambda x, y: numbers.binary(op, x, y, _scalar(type)), a, b)

    def spread(self, part: Expr, type: Type, frame: dict[Symbol, Any]) -> Any:
        """An operand; a composite's scalar as a composite of equal elements."""
        value = self.value(part, frame)
        return value if part.type == type else _map(type, lambda _: value, zero(type))

    def intrinsic(self, expr: nodes.Intrinsic, frame: dict[Symbol, Any]) -> Any:
        if ALL_ROWS[expr.name].is_atomic:
            return self.atomic(expr, frame, is_used=True)
        type = _scalar(expr.arguments[0].type)
        if expr.name in numbers.APPROXIMATE:
            self.outcome.approximate = True
        arguments = [self.value(a, frame) for a in expr.arguments]
        return numbers.intrinsic(expr.name, arguments, type, _scalar(expr.type))

    def atomic(self, expr: nodes.Intrinsic, frame: dict[Symbol, Any], is_used: bool) -> Any:
        """The value before. Where that is used, or the last one wins, the order of threads shows."""
        type = _scalar(expr.arguments[0].type)
        memory, path = self.path(expr.arguments[0], frame)
        values = [self.value(a, frame) for a in expr.arguments[1:]]
        order_shows = is_used or expr.name in ("atomic_exch", "atomic_cas")
        memory.note_scope(path, self.thread, self.thread.block, expr.scope == "block")
        self.note("write" if order_shows else "atomic", memory, path, expr)
        before = memory.fetched(path)
        _store(memory.data, path, _after(expr.name, before, values, type))
        if type.kind == "float" and expr.name in ("atomic_add", "atomic_sub"):
            self.outcome.approximate = True  # the sum depends on the order of its terms
        return before


def _after(name: str, before: Any, values: list[Any], type: Scalar) -> Any:
    match name:
        case "atomic_add" | "atomic_sub" | "atomic_and" | "atomic_or" | "atomic_xor":
            return numbers.binary(name.removeprefix("atomic_"), before, values[0], type)
        case "atomic_min" | "atomic_max":
            return numbers.EXACT[name.removeprefix("atomic_")](before, values[0])
        case "atomic_exch":
            return values[0]
        case "atomic_graph_condition":
            return before  # there is no graph
        case "atomic_cas":
            return values[1] if _same_bits(before, values[0]) else before
    raise InternalError(f"no meaning for {name}")


def _same_bits(a: Any, b: Any) -> bool:
    return bool(a == b and str(a) == str(b)) or (a != a and b != b)


def _scalar(type: Type) -> Scalar:
    element = element_of(type)
    assert isinstance(element, Scalar)
    return element


def _map(type: Type, function: Any, *values: Any) -> Any:
    """A function of scalars, element by element."""
    if not is_composite(type):
        return function(*values)
    if isinstance(type, Matrix):
        row = Vector(type.columns, type.element)
        return [_map(row, function, *rows) for rows in zip(*values, strict=True)]
    return [function(*items) for items in zip(*values, strict=True)]


def _built(type: Type, parts: list[Any]) -> Any:
    if isinstance(type, Matrix):
        return [parts[i * type.columns : (i + 1) * type.columns] for i in range(type.rows)]
    if isinstance(type, Struct):
        return {f.name: part for f, part in zip(type.fields, parts, strict=True)}
    return parts


def _store(container: Any, path: Path, value: Any) -> None:
    fetch(container, path[:-1])[path[-1]] = value
