"""Liveness against its definition: by every way through a graph of steps, and by running kernels whose dead variables
are overwritten with rubbish before every statement."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.errors import InternalError
from kbuild.ir import nodes
from kbuild.ir.liveness import Block, Point, analyse
from kbuild.ir.nodes import Const, Expr, Function, Read, Stmt, Symbol
from kbuild.ir.traverse import callees
from kbuild.ir.types import BOOL, INT32, VOID, Array, Matrix, Scalar, Type, Vector
from kbuild.sim import blocks, threads
from kbuild.sim.blocks import to_end
from kbuild.sim.values import Memory, copied
from tests.helpers import kernels, random_programs
from tests.ir.test_python import ODD

# The definition: steps that read and overwrite variables, and what may follow each


@dataclass(eq=False)
class Step:
    """One step of a program. `kills` is overwritten after `reads` are read."""

    reads: frozenset[Symbol] = frozenset()
    kills: Symbol | None = None
    following: list[Step] = field(default_factory=list)


def steps_of(function: Function) -> dict[int, Step]:
    """The first step of each statement, by the statement's identity."""
    found: dict[int, Step] = {}
    _steps(function.body, Step(), [], found)
    return found


def _steps(body: tuple[Stmt, ...], after: Step, loops: list[tuple[Step, Step]], found: dict[int, Step]) -> Step:
    for stmt in reversed(body):
        after = found[id(stmt)] = _step(stmt, after, loops, found)
    return after


def _step(stmt: Stmt, after: Step, loops: list[tuple[Step, Step]], found: dict[int, Step]) -> Step:
    match stmt:
        case nodes.Assign(nodes.Read(symbol), value):
            return Step(_symbols(value), symbol, [after])
        case nodes.Assign(target, value):
            root = target
            indices: list[Expr] = []
            while not isinstance(root, (nodes.Read, nodes.Index)):
                indices += getattr(root, "indices", ())
                root = root.base
            parts = [value, *indices, *([root] if isinstance(root, nodes.Index) else [])]
            return Step(frozenset().union(*map(_symbols, parts)), None, [after])
        case nodes.Evaluate(value):
            return Step(_symbols(value), None, [after])
        case nodes.If(condition, then, otherwise):
            ways = [_steps(then, after, loops, found), _steps(otherwise, after, loops, found)]
            return Step(_symbols(condition), None, ways)
        case nodes.While(condition, inner):
            test = Step(_symbols(condition))
            endless = isinstance(condition, Const) and condition.value is True
            test.following = [_steps(inner, test, [*loops, (after, test)], found), *([] if endless else [after])]
            return test
        case nodes.For(symbol, start, stop, step, inner):
            test, trip = Step(), Step(frozenset(), symbol)
            trip.following = [_steps(inner, test, [*loops, (after, test)], found)]
            test.following = [trip, after]
            return Step(frozenset().union(*map(_symbols, (start, stop, step))), None, [test])
        case nodes.Print(_, arguments):
            return Step(_symbols(arguments), None, [after])
        case nodes.Barrier(mask):
            return Step(frozenset() if mask is None else _symbols(mask), None, [after])
        case nodes.Assume(condition):
            return Step(_symbols(condition), None, [after])
        case nodes.Assert(condition):
            return Step(_symbols(condition), None, [after, Step()])
        case nodes.Break():
            return Step(following=[loops[-1][0]])
        case nodes.Continue():
            return Step(following=[loops[-1][1]])
        case nodes.Return(value):
            return Step(frozenset() if value is None else _symbols(value))
    raise AssertionError(stmt)


def _symbols(expr: Any) -> frozenset[Symbol]:
    """Symbols below any value made of nodes, written without `traverse`."""
    if isinstance(expr, Symbol):
        return frozenset({expr})
    if isinstance(expr, tuple):
        return frozenset().union(*map(_symbols, expr))
    if isinstance(expr, nodes.EXPRESSIONS):
        names = (name for name in expr.__slots__ if name not in ("span", "type", "callee"))
        return frozenset().union(*(_symbols(getattr(expr, name)) for name in names))
    return frozenset()


def is_live(symbol: Symbol, start: Step) -> bool:
    """Some way from here reads the symbol before it overwrites it."""
    seen: set[int] = set()

    def follow(step: Step) -> bool:
        if symbol in step.reads:
            return True
        if step.kills is symbol or id(step) in seen:
            return False
        seen.add(id(step))
        return any(follow(one) for one in step.following)

    return follow(start)


def check(function: Function) -> int:
    """Holds the analysis against the definition, at every statement and for every variable."""
    root, steps = analyse(function), steps_of(function)
    symbols = {*function.parameters}.union(*(_all_symbols(point.stmt) for point in root.walk()))
    count = 0
    for point in root.walk():
        expected = {symbol for symbol in symbols if is_live(symbol, steps[id(point.stmt)])}
        assert point.before == expected, (point.stmt, point.before, expected)
        count += 1
    return count


def _all_symbols(stmt: Stmt) -> frozenset[Symbol]:
    target = frozenset({stmt.symbol}) if isinstance(stmt, nodes.For) else frozenset[Symbol]()
    parts = [getattr(stmt, name) for name in stmt.__slots__ if name != "span"]
    return target.union(*map(_symbols, parts))


# Small random functions: every jump, every nesting, every order of reads and assignments

SYMBOLS = [Symbol(name, INT32) for name in "abcd"]
VECTOR = Symbol("v", Vector(3, INT32))
ONE = Const(1, INT32)

expressions = st.sampled_from([ONE, *(Read(s, INT32) for s in SYMBOLS)])
truths = st.one_of(st.just(Const(True, BOOL)), st.builds(lambda e: nodes.Compare("lt", e, ONE, BOOL), expressions))


@st.composite
def bodies(draw: Any, depth: int = 3, in_loop: bool = False) -> tuple[Stmt, ...]:
    return tuple(draw(statement(depth, in_loop)) for _ in range(draw(st.integers(0, 3))))


def statement(depth: int, in_loop: bool) -> st.SearchStrategy[Stmt]:
    whole = st.builds(lambda s, e: nodes.Assign(Read(s, INT32), e), st.sampled_from(SYMBOLS), expressions)
    part = st.builds(
        lambda i, e: nodes.Assign(nodes.Component(Read(VECTOR, VECTOR.type), (i,), INT32), e), expressions, expressions
    )
    element = st.builds(lambda i: nodes.Component(Read(VECTOR, VECTOR.type), (i,), INT32), expressions)
    use = st.builds(lambda s, e: nodes.Assign(Read(s, INT32), e), st.sampled_from(SYMBOLS), element)
    kinds: list[st.SearchStrategy[Stmt]] = [whole, whole, part, use, st.builds(lambda: nodes.Return(None))]
    if in_loop:
        kinds += [st.builds(lambda: nodes.Break()), st.builds(lambda: nodes.Continue())]
    if depth:
        inner, looped = bodies(depth - 1, in_loop), bodies(depth - 1, True)
        kinds += [
            st.builds(nodes.If, truths, inner, inner),
            st.builds(nodes.While, truths, looped),
            st.builds(
                lambda e, f, body: nodes.For(Symbol("i", INT32), e, f, ONE, body), expressions, expressions, looped
            ),
        ]
    return st.one_of(kinds)


@settings(max_examples=300, deadline=None)
@given(bodies(), st.sets(st.sampled_from(SYMBOLS)))
def test_small_functions_by_every_way_through_them(body: tuple[Stmt, ...], parameters: set[Symbol]) -> None:
    check(Function("f", "m", tuple(parameters), VOID, body))


@pytest.mark.parametrize("name", ODD)
def test_kernels_by_every_way_through_them(tmp_path: Path, name: str) -> None:
    for kernel in kernels.lower_text(tmp_path, ODD[name], asserts=True):
        for function in [kernel.function, *callees(kernel.function)]:
            assert check(function)


def test_a_statement_that_liveness_does_not_know_is_a_fault_of_ours() -> None:
    with pytest.raises(InternalError, match="liveness does not know object"):
        analyse(Function("f", "m", (), VOID, (object(),)))  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="jump outside a loop"):
        analyse(Function("f", "m", (), VOID, (nodes.Break(),)))


# What liveness means: a dead variable may hold anything


class Spoiling(threads._Machine):
    """Overwrites every variable that is not live before a statement, whatever it holds."""

    def __init__(self, *launch: Any) -> None:
        super().__init__(*launch)
        self.points: dict[int, Point] = {}
        self.known: dict[Function, Block] = {}
        self.spoiled = 0

    def call(self, function: Function, arguments: list[Any]) -> Any:
        if function not in self.known:
            self.known[function] = analyse(function)
            self.points |= {id(point.stmt): point for point in self.known[function].walk()}
        return super().call(function, arguments)

    def statement(self, stmt: Stmt, frame: dict[Symbol, Any]) -> Any:
        point = self.points.get(id(stmt))  # the interpreter counts trips of `while` with a statement of its own
        for symbol in list(frame) if point is not None else ():
            assert point is not None
            if symbol not in point.before:
                frame[symbol] = self.rubbish(symbol.type)
                self.spoiled += 1
        return super().statement(stmt, frame)

    def rubbish(self, type: Type) -> Any:
        match type:
            case Scalar():
                return {"bool": True, "float": 1.5e3}.get(type.kind, 77)
            case Vector():
                return [self.rubbish(type.element)] * type.length
            case Matrix():
                return [[self.rubbish(type.element)] * type.columns for _ in range(type.rows)]
        return None  # an array, struct or tuple: whoever touches it fails


@pytest.mark.parametrize("seed", range(4))
def test_dead_variables_may_hold_anything(tmp_path: Path, seed: int) -> None:
    programs = random_programs.make(seed, 12)
    text = random_programs.HELPERS + "\n".join(program.text() for program in programs)
    found, diagnostics = kernels.diagnose(kernels.load(kernels.write(tmp_path, text))[1])
    assert diagnostics == []
    spoiled = 0
    for kernel in found:
        source = random.Random(seed)
        start = {kind: random_programs.values(kind, source) for kind in random_programs.TYPES}
        outcomes = []
        launch = blocks.over((4,), 4)
        for machine in (threads._Machine(10_000_000, launch), Spoiling(10_000_000, launch)):
            results = []
            for thread in (0, 3):
                arrays = [Memory(p.type.element, (8,), list(start[p.type.element.spelling])) for p in _arrays(kernel)]
                machine.switch(blocks.Thread(thread, (thread,), 0, thread))
                to_end(machine.call(kernel.function, [copied(a) for a in [*arrays, 3, 0.75, 0.1]]))
                results.append([array.data for array in arrays])
            outcomes.append(repr(results))
            spoiled += getattr(machine, "spoiled", 0)
        assert outcomes[0] == outcomes[1], kernel.name
    assert spoiled > 100


def _arrays(kernel: nodes.Kernel) -> list[Any]:
    return [p for p in kernel.function.parameters if isinstance(p.type, Array)]
