"""The two sweeps as IR: the kernel once more, saving, and then backward, putting back what was saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbuild.autodiff.flat import Branch, Do, Loop, Names, Set, Tree, fresh, int_const, looks_at, read
from kbuild.autodiff.needed import Slice, is_atomic, overwritten, run_again
from kbuild.autodiff.reverse import Core
from kbuild.autodiff.saving import Amounts, Stacks, stack_of, words_of
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Stmt, Symbol
from kbuild.ir.traverse import rewrite
from kbuild.ir.types import BOOL, INT32, Scalar


@dataclass
class Plan:
    """What was decided about a tree: `cores` by statement, `saved` statements, variables computed `again`."""

    body: list[Tree]
    cores: dict[int, Core]
    saved: set[int]
    again: dict[Symbol, Set]
    max_iterations: int | None


def amounts(plan: Plan) -> Amounts:
    """How much is saved inside loops."""
    found = Amounts()

    def count(body: list[Tree], times: int | None, depth: int, is_promised: bool) -> None:
        for one in body:
            if isinstance(one, Branch):
                count(one.then, times, depth, is_promised)
                count(one.otherwise, times, depth, is_promised)
            elif isinstance(one, Loop):
                trips = constant_trips(one)
                promised = is_promised or trips is None
                if trips is None:
                    trips = plan.max_iterations
                count(one.body, None if times is None or trips is None else times * trips, depth + 1, promised)
            elif id(one) in plan.saved and depth:
                place = overwritten(one)
                assert place is not None
                words = words_of(place.type)
                found.add(stack_of(place.type), None if times is None else times * words, is_promised)

    count(plan.body, 1, 0, False)
    return found


def constant_trips(one: Loop) -> int | None:
    """The number of trips where it is known; of a loop that may end before, the most it can be."""
    if isinstance(one.start, Const) and isinstance(one.stop, Const):
        return len(range(int(one.start.value), int(one.stop.value), one.step))
    return None


class Reversal:
    """The reverse sweep, made before the forward one, which it tells what it needs."""

    def __init__(self, plan: Plan, stacks: Stacks) -> None:
        self.plan, self.stacks = plan, stacks
        self.alone: dict[int, Symbol] = {}  # saves outside loops

    def block(self, body: list[Tree], depth: int = 0) -> list[Stmt]:
        made: list[Stmt] = []
        for one in reversed(body):
            made += self.statement(one, depth)
        return [*self._again(body, made), *made] if depth else made

    def statement(self, one: Tree, depth: int) -> list[Stmt]:
        if isinstance(one, Branch):
            return branched(one, self.block(one.then, depth), self.block(one.otherwise, depth))
        if isinstance(one, Loop):
            return self.loop(one, depth)
        core = self.plan.cores[id(one)]
        return [*core.before, *self._restore(one, depth), *core.after]

    def loop(self, one: Loop, depth: int) -> list[Stmt]:
        body = self.block(one.body, depth + 1)
        if not body:
            return []
        symbol = one.symbol
        if symbol is None:
            assert one.trips is not None
            return [_countdown(fresh("trip", INT32), read(one.trips), body, one)]
        assert one.start is not None
        assert one.stop is not None
        type = symbol.type
        assert isinstance(type, Scalar)
        if one.trips is None and type.kind == "int" and type.size >= 4:
            if one.step in (1, -1):
                first, last = _moved(one.stop, -one.step), _moved(one.start, -one.step)
                return [nodes.For(symbol, first, last, int_const(-one.step, type), tuple(body), one.span)]
            way = range(int(one.start.value), int(one.stop.value), one.step)[::-1]  # type: ignore[union-attr]
            first, last, step = (int_const(n, type) for n in (way.start, way.stop, way.step))
            return [nodes.For(symbol, first, last, step, tuple(body), one.span)]
        # The variable is computed from the number of the trip.
        trip, value = fresh("trip", INT32), fresh(symbol.name, type, symbol.span)
        body = [_renamed(stmt, symbol, value) for stmt in body]
        number: Expr = read(trip) if type == INT32 else nodes.Convert(read(trip), type)
        if one.step != 1:
            by = one.step % (1 << 8 * type.size) if type.kind == "uint" else one.step
            number = nodes.Binary("mul", number, int_const(by, type), type)
        body.insert(0, nodes.Assign(read(value), nodes.Binary("add", one.start, number, type), one.span))
        count: Expr
        if one.trips is not None:
            count = read(one.trips)
        else:
            count = _distance(one, type)
        return [_countdown(trip, count, body, one)]

    def _restore(self, one: Tree, depth: int) -> list[Stmt]:
        if id(one) not in self.plan.saved:
            return []
        place = overwritten(one)
        assert place is not None
        if depth:
            return self.stacks.pop(place, one.span)
        self.alone[id(one)] = fresh("saved", place.type)
        return [nodes.Assign(place, read(self.alone[id(one)]), one.span)]

    def _again(self, body: list[Tree], made: Sequence[Stmt]) -> list[Stmt]:
        """What is computed again for a block, as far as it is read there."""
        wanted = read_in(made)
        found: list[Stmt] = []
        for one in reversed(body):
            if isinstance(one, Set) and isinstance(one.target, nodes.Read):
                symbol = one.target.symbol
                if self.plan.again.get(symbol) is one and symbol in wanted:
                    found.append(nodes.Assign(one.target, one.value, one.span))
                    wanted = wanted | looks_at(one.value)
        return found[::-1]


def branched(one: Branch, then: list[Stmt], otherwise: list[Stmt]) -> list[Stmt]:
    """A branch with something in it, else nothing."""
    if then:
        return [nodes.If(one.condition, tuple(then), tuple(otherwise), one.span)]
    return [nodes.If(negated(one.condition), tuple(otherwise), (), one.span)] if otherwise else []


def negated(condition: Expr) -> Expr:
    """The opposite."""
    if isinstance(condition, nodes.Unary) and condition.op == "not":
        return condition.operand
    return nodes.Unary("not", condition, BOOL, condition.span)


def read_in(body: Sequence[Stmt]) -> Names:
    """Variables and arrays that statements look at."""
    return looks_at(*body)


class Forward:
    """The forward sweep, as far as something needs it."""

    def __init__(self, plan: Plan, kept: Slice, stacks: Stacks, alone: dict[int, Symbol]) -> None:
        self.plan, self.kept, self.stacks, self.alone = plan, kept, stacks, alone

    def block(self, body: list[Tree], depth: int = 0) -> list[Stmt]:
        made: list[Stmt] = []
        for one in body:
            if self.kept.keeps(one):
                made += self.statement(one, depth)
        return made

    def statement(self, one: Tree, depth: int) -> list[Stmt]:
        if isinstance(one, Branch):
            return branched(one, self.block(one.then, depth), self.block(one.otherwise, depth))
        if isinstance(one, Loop):
            return self.loop(one, depth)
        made = self._save(one, depth)
        assert isinstance(one, (Set, Do))
        value = run_again(one.value) if isinstance(one.value, nodes.Call) else one.value
        if isinstance(one, Do) or is_atomic(value):
            return [*made, nodes.Evaluate(value, one.span)]
        return [*made, nodes.Assign(one.target, value, one.span)]

    def loop(self, one: Loop, depth: int) -> list[Stmt]:
        body = self.block(one.body, depth + 1)
        if one.trips is not None:
            count = read(one.trips)
            body.append(nodes.Assign(count, nodes.Binary("add", count, int_const(1), INT32), one.span))
        if one.symbol is None:
            assert one.condition is not None
            return [nodes.While(one.condition, tuple(body), one.span)]
        if one.condition is not None:
            leave = nodes.If(negated(one.condition), (nodes.Break(),), (), one.span)
            body.insert(0, leave)
        assert one.start is not None
        assert one.stop is not None
        step = int_const(one.step, one.symbol.type)
        return [nodes.For(one.symbol, one.start, one.stop, step, tuple(body), one.span)]

    def _save(self, one: Tree, depth: int) -> list[Stmt]:
        if id(one) not in self.plan.saved:
            return []
        place = overwritten(one)
        assert place is not None
        if depth:
            return self.stacks.push(place, one.span)
        return [nodes.Assign(read(self.alone[id(one)]), place, one.span)]


def _countdown(trip: Symbol, count: Expr, body: Sequence[Stmt], one: Loop) -> nodes.For:
    """The trips from the last to the first."""
    last = nodes.Binary("sub", count, int_const(1), INT32)
    return nodes.For(trip, last, int_const(-1), int_const(-1), tuple(body), one.span)


def _distance(one: Loop, type: Scalar) -> Expr:
    """The trips of a loop of step 1 or -1, as int32."""
    assert one.start is not None
    assert one.stop is not None
    low, high = (one.start, one.stop) if one.step > 0 else (one.stop, one.start)
    if isinstance(one.start, Const) and isinstance(one.stop, Const):
        return int_const(constant_trips(one) or 0)
    full: Expr = nodes.Binary("sub", high, low, type)
    if type != INT32:
        full = nodes.Convert(full, INT32)
    return nodes.Select(nodes.Compare("lt", low, high, BOOL), full, int_const(0), INT32)


def _moved(bound: Expr, by: int) -> Expr:
    if isinstance(bound, Const):
        return int_const(int(bound.value) + by, bound.type)
    op = "add" if by > 0 else "sub"
    return nodes.Binary(op, bound, int_const(abs(by), bound.type), bound.type)


def _renamed(stmt: Stmt, old: Symbol, new: Symbol) -> Stmt:
    def change(node: nodes.Node) -> nodes.Node:
        if isinstance(node, nodes.Read) and node.symbol is old:
            return nodes.Read(new, node.type, node.span)
        return node

    return rewrite(stmt, change)
