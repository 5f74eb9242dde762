"""What a trip of a loop computes of float32, as a list of operations: for `routines`, which makes machine code of it.

    while n < limit and u * u + v * v <= four:      inputs v, u, x, y; operations of the body, and of the next test
        w = u * u - v * v + x                       with the values that the body has left
        v = two * u * v + y
        u = w
        n = n + 1                                   is no float: left to the steps of the trip

An operation is (name, operands), operands being numbers of earlier ones; equal ones are one. Names are `input` (of a
symbol), `constant` (its bits), those of `sim.assembler`, and `fma` with the signs behind it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from kbuild.ir import nodes
from kbuild.ir.nodes import Assign, Const, Expr, Symbol
from kbuild.ir.traverse import walk
from kbuild.ir.types import FLOAT32
from kbuild.sim.hardware import MINUS_C, MINUS_PRODUCT

Loop = nodes.For | nodes.While
Operation = tuple[str, tuple[Any, ...]]
_OPS = frozenset({"add", "sub", "mul", "div"})
_SIGN = 0x80000000


class NotCompiledError(Exception):
    """Something else than arithmetic of float32."""


class Graph:
    """`outputs` are the symbols that the body assigns, with the operations whose results they have; `truth` is that of
    the comparisons in the test, or None; `others` are the numbers of the statements, and `conjuncts` the parts of the
    test, that are something else.
    """

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.outputs: dict[Symbol, int] = {}
        self.truth: int | None = None
        self.others: list[int] = []
        self.conjuncts: list[Expr] = []
        self._known: dict[Operation, int] = {}

    def add(self, name: str, *operands: Any) -> int:
        """The number of an operation."""
        key = name, operands
        if key not in self._known:
            self._known[key] = len(self.operations)
            self.operations.append(key)
        return self._known[key]

    def value(self, expr: Expr) -> int:
        """The number of the operation that gives an expression's value. Raises NotCompiledError."""
        if expr.type != FLOAT32:
            raise NotCompiledError
        match expr:
            case nodes.Read(symbol):
                return self.outputs[symbol] if symbol in self.outputs else self.add("input", symbol)
            case Const(value):
                return self.add("constant", struct.unpack("<I", struct.pack("<f", value))[0])
            case nodes.Binary(op, left, right) if op in _OPS:
                return self.add(op, self.value(left), self.value(right))
            case nodes.Unary("neg", operand):
                return self.add("xor", self.value(operand), self.add("constant", _SIGN))
            case nodes.Fma(a, b, c):
                # Signs go into the instruction, as they do where the nodes are computed one by one.
                (a, minus_a), (c, minus_c) = _without_sign(a), _without_sign(c)
                signs = minus_a * MINUS_PRODUCT + minus_c * MINUS_C
                return self.add("fma", self.value(a), self.value(b), self.value(c), signs)
        raise NotCompiledError

    def comparison(self, expr: Expr) -> int:
        """The number of a comparison of floats. Raises NotCompiledError."""
        if not isinstance(expr, nodes.Compare):
            raise NotCompiledError
        return self.add(f"compare {expr.op}", self.value(expr.left), self.value(expr.right))


def graph_of(loop: Loop) -> Graph | None:
    """What is computed of float32 in a loop whose body is assignments to variables; None where there is nothing, or
    where the rest has to do with it.
    """
    made, floats = Graph(), set()
    for number, stmt in enumerate(loop.body):
        symbol, value = _assigned(stmt)
        try:
            made.outputs[symbol] = made.value(value)
            floats.add(symbol)
        except NotCompiledError:
            made.others.append(number)
    others = [_assigned(loop.body[number]) for number in made.others]
    read = {symbol for _, value in others for symbol in _symbols(value)}
    inputs = {operands[0] for name, operands in made.operations if name == "input"}
    if not floats or read & floats or {symbol for symbol, _ in others} & (inputs | floats):
        return None
    if isinstance(loop, nodes.While):
        for part in _conjuncts(loop.condition):
            try:
                found = made.comparison(part)
                made.truth = found if made.truth is None else made.add("and", made.truth, found)
            except NotCompiledError:
                made.conjuncts.append(part)
        if {operands[0] for name, operands in made.operations if name == "input"} & {symbol for symbol, _ in others}:
            return None
    return made


def _assigned(stmt: nodes.Stmt) -> tuple[Symbol, Expr]:
    assert isinstance(stmt, Assign)
    assert isinstance(stmt.target, nodes.Read)
    return stmt.target.symbol, stmt.value


def _symbols(expr: Expr) -> Iterator[Symbol]:
    return (node.symbol for node in walk(expr) if isinstance(node, nodes.Read))


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, nodes.Logical) and expr.op == "and":
        yield from _conjuncts(expr.left)
        yield from _conjuncts(expr.right)
    else:
        yield expr


def _without_sign(expr: Expr) -> tuple[Expr, bool]:
    return (expr.operand, True) if isinstance(expr, nodes.Unary) and expr.op == "neg" else (expr, False)
