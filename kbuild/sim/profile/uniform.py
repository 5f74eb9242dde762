"""Which values are the same in all threads of a warp, as far as a compiler can tell.

A value varies where it comes from a thread's number, from memory at a place that varies, from a call or an atomic, or
where a variable is assigned by some threads only: under a condition that varies, or in a loop that threads leave one by
one.
"""

from __future__ import annotations

from collections.abc import Iterable

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Stmt, Symbol
from kbuild.ir.traverse import callees, children, walk

_OF_THREADS = frozenset({"thread_idx", "lane_id", "launch_idx"})


class Uniform:
    """Answers for the expressions of a kernel's function and all that it calls."""

    def __init__(self, function: Function) -> None:
        self._varying: set[Symbol] = set()
        self._functions = [function, *reversed(callees(function))]  # callers first
        before = -1
        while len(self._varying) > before:  # what one variable makes of another shows in the next round
            before = len(self._varying)
            for one in self._functions:
                self._block(one.body, False)

    def __call__(self, expr: Expr) -> bool:
        """The same in all threads of a warp."""
        match expr:
            case nodes.ThreadIndex() | nodes.Call():
                return False
            case nodes.Position(what):
                return what not in _OF_THREADS
            case nodes.Read(symbol):
                return symbol not in self._varying
            case nodes.Intrinsic(name) if name.startswith("atomic_"):
                return False
            case nodes.Intrinsic("ballot" | "any" | "all"):
                return True
            case nodes.Intrinsic("shfl", (_, lane, nodes.Const(value=32))):
                return self(lane)
            case nodes.Intrinsic(name, (value, *_)) if name in nodes.COLLECTIVES:
                return self(value)
        return all(self(child) for child in children(expr))  # type: ignore[arg-type]  # an expression's are expressions

    def _block(self, body: Iterable[Stmt], apart: bool) -> None:
        """`apart`: some threads of a warp may be here without the others."""
        for stmt in body:
            self._statement(stmt, apart)

    def _statement(self, stmt: Stmt, apart: bool) -> None:
        for node in walk(stmt):
            if isinstance(node, nodes.Call):
                self._call(node, apart)
        match stmt:
            case nodes.Assign(target, value):
                root = _root(target)
                if root is not None and (apart or not self(value) or not self(target)):
                    self._varying.add(root)
            case nodes.If(condition, then, otherwise):
                apart = apart or not self(condition)
                self._block(then, apart)
                self._block(otherwise, apart)
            case nodes.For(symbol, start, stop, step, body):
                apart = apart or not (self(start) and self(stop) and self(step)) or self._is_left_apart(body)
                if apart:
                    self._varying.add(symbol)
                self._block(body, apart)
            case nodes.While(condition, body):
                self._block(body, apart or not self(condition) or self._is_left_apart(body))

    def _call(self, call: nodes.Call, apart: bool) -> None:
        for parameter, argument in zip(call.callee.parameters, call.arguments, strict=True):
            if apart or not self(argument):
                self._varying.add(parameter)

    def _is_left_apart(self, body: Iterable[Stmt], under: bool = False) -> bool:
        """Some threads of a warp leave a loop, or a trip of it, before the others."""
        for stmt in body:
            match stmt:
                case nodes.Break() | nodes.Continue() | nodes.Return() if under:
                    return True
                case nodes.If(condition, then, otherwise):
                    inner = under or not self(condition)
                    if self._is_left_apart(then, inner) or self._is_left_apart(otherwise, inner):
                        return True
                case nodes.For(body=inside) | nodes.While(body=inside):
                    if self._is_left_apart(inside, under):
                        return True
        return False


def _root(target: Expr) -> Symbol | None:
    """The variable that an assignment changes; None for memory."""
    while isinstance(target, (nodes.Component, nodes.Member)):
        target = target.base
    return target.symbol if isinstance(target, nodes.Read) else None
