"""Which variables are live where: their value may still be read.

    analyse(function) → Block: the function's body as points, each with the variables live before and after it

A backward data-flow analysis on the structured IR, loops to a fixed point. It follows every way through branches and
loops, whatever the conditions say; only `while True` is known to end by `break` alone. Storing to a part of a variable
keeps the rest of it, so it neither ends the life of the old value nor reads it. Every variable is zero until assigned:
one that is live at the start of a function and is no parameter may be read before anything was assigned to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from kbuild.errors import InternalError
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Function, Stmt, Symbol
from kbuild.ir.traverse import root_of, walk

Live: TypeAlias = frozenset[Symbol]
_NOTHING: Live = frozenset()


@dataclass(eq=False, slots=True)
class Block:
    """Statements that run one after the other. `kind` is function, for, while, then or else; `owner` the statement
    whose block it is."""

    kind: str
    owner: Point | None
    points: list[Point] = field(default_factory=list)

    def walk(self) -> Iterator[Point]:
        """Every point inside, in the order of the text."""
        for point in self.points:
            yield point
            for block in point.blocks:
                yield from block.walk()


@dataclass(eq=False, slots=True)
class Point:
    """A statement in its place. `before` and `after` are live there, `carried` where a loop decides on a trip."""

    stmt: Stmt
    block: Block
    blocks: list[Block] = field(default_factory=list)
    before: Live = _NOTHING
    after: Live = _NOTHING
    carried: Live = _NOTHING


def analyse(function: Function) -> Block:
    """The body of a function with what is live in it."""
    root = Block("function", None)
    _fill(root, function.body)
    _Analysis().block(root, _NOTHING, None)
    return root


def blocks_of(stmt: Stmt) -> list[tuple[str, tuple[Stmt, ...]]]:
    """The blocks inside a statement, by kind."""
    match stmt:
        case nodes.If(_, then, otherwise):
            return [("then", then), ("else", otherwise)]
        case nodes.For(_, _, _, _, body):
            return [("for", body)]
        case nodes.While(_, body):
            return [("while", body)]
        case nodes.Native(body=body) if body:
            return [("in Python", body)]
    return []


def reads(stmt: Stmt) -> Live:
    """Variables that a statement itself reads, those of its blocks apart."""
    return frozenset(reads_in_order(stmt))


def reads_in_order(stmt: Stmt) -> Iterator[Symbol]:
    """The same one by one, as the text has them."""
    nodes_read = (node for expr in _read_expressions(stmt) for node in walk(expr))
    return (node.symbol for node in nodes_read if isinstance(node, nodes.Read))


def assigned(stmt: Stmt) -> tuple[Symbol | None, bool]:
    """The variable that a statement assigns, if any, and whether all of it."""
    if isinstance(stmt, nodes.Assign) and isinstance(root := root_of(stmt.target), nodes.Read):
        return root.symbol, root is stmt.target
    return (stmt.symbol, True) if isinstance(stmt, nodes.For) else (None, False)


def _fill(block: Block, body: tuple[Stmt, ...]) -> None:
    for stmt in body:
        point = Point(stmt, block)
        block.points.append(point)
        for kind, inner in blocks_of(stmt):
            point.blocks.append(Block(kind, point))
            _fill(point.blocks[-1], inner)


def _read_expressions(stmt: Stmt) -> list[Expr]:
    match stmt:
        case nodes.Assign(target, value):
            return [*_read_by_target(target), value]
        case nodes.Evaluate(value):
            return [value]
        case nodes.If(condition, _, _) | nodes.While(condition, _) | nodes.Assert(condition) | nodes.Assume(condition):
            return [condition]
        case nodes.Print(_, arguments):
            return list(arguments)
        case nodes.Barrier(mask):
            return [] if mask is None else [mask]
        case nodes.Native(inputs=inputs, adjoints=adjoints):
            return [*inputs, *adjoints]
        case nodes.For(_, start, stop, step, _):
            return [start, stop, step]
        case nodes.Return(value):
            return [] if value is None else [value]
        case nodes.Break() | nodes.Continue():
            return []
    raise InternalError(f"liveness does not know {type(stmt).__name__}\n{stmt!r:.400}")


def _read_by_target(target: Expr) -> list[Expr]:
    """Indices on the way to a part of a variable; all of an element of an array."""
    found: list[Expr] = []
    while isinstance(target, (nodes.Component, nodes.Member)):
        if isinstance(target, nodes.Component):
            found.extend(target.indices)
        target = target.base
    return found if isinstance(target, nodes.Read) else [*found, target]


@dataclass(frozen=True, slots=True)
class _Loop:
    """Where jumps inside a loop lead: what is live there."""

    on_break: Live
    on_continue: Live


class _Analysis:
    """Sets only grow from pass to pass, so that an inner loop goes on from what it found before."""

    def block(self, block: Block, live: Live, loop: _Loop | None) -> Live:
        """What is live before a block, from what is live after it."""
        for point in reversed(block.points):
            point.after = live
            live = point.before = self.point(point, live, loop)
        return live

    def point(self, point: Point, after: Live, loop: _Loop | None) -> Live:
        stmt = point.stmt
        match stmt:
            case nodes.Break() | nodes.Continue():
                if loop is None:
                    raise InternalError(f"jump outside a loop: {stmt!r:.200}")
                return loop.on_break if isinstance(stmt, nodes.Break) else loop.on_continue
            case nodes.Return():
                return reads(stmt)
            case nodes.If():
                then, otherwise = (self.block(block, after, loop) for block in point.blocks)
                return reads(stmt) | then | otherwise
            case nodes.While(condition):
                is_endless = isinstance(condition, Const) and condition.value is True
                return self.loop(point, after, reads(stmt) | (_NOTHING if is_endless else after), _NOTHING)
            case nodes.For(symbol):
                return reads(stmt) | self.loop(point, after, after, frozenset({symbol}))
        target, is_whole = assigned(stmt)
        return (after - {target} if is_whole and target is not None else after) | reads(stmt)

    def loop(self, point: Point, after: Live, at_test: Live, counter: Live) -> Live:
        """What is live where the loop decides on a trip: what the test and a way out need, and what the body does."""
        point.carried |= at_test
        while True:
            body = self.block(point.blocks[0], point.carried, _Loop(after, point.carried)) - counter
            if body <= point.carried:
                return point.carried
            point.carried |= body
