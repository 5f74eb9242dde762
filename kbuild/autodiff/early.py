"""Sums that one thread adds up for itself: all loads come before the first store.

`adj_x[i] += …` and `adj_y[i] += …` one after the other are two loads that wait for each other: the compiler does not
know that the arrays are two, and may not load the second before it has stored the first. Whoever launches an adjoint
keeps them apart (`loader.tape.steps.Apart`), so here both are loaded first.
"""

from __future__ import annotations

from collections.abc import Sequence

from kbuild.autodiff.flat import fresh, path_of, read, zero
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Stmt, Symbol
from kbuild.ir.traverse import root_of, walk


def loads_first(statements: Sequence[Stmt]) -> list[Stmt]:
    """Statements of one block, rearranged where several sums of different arrays stand together."""
    made: list[Stmt] = []
    run = _Run()
    for one in statements:
        if not run.takes(one):
            made += run.statements()
            run = _Run()
            if not run.takes(one):
                made.append(one)
    return made + run.statements()


class _Run:
    """Sums of different arrays, and the variables that are computed between them."""

    def __init__(self) -> None:
        self._all: list[Stmt] = []
        self._sums: dict[str, tuple[int, nodes.If, nodes.Assign]] = {}
        self._assigned: set[Symbol] = set()

    def takes(self, one: Stmt) -> bool:
        """Adds a statement, if it belongs here."""
        if isinstance(one, nodes.Assign) and isinstance(one.target, nodes.Read):
            self._assigned.add(one.target.symbol)
            self._all.append(one)
            return True
        found = _sum(one)
        if found is None:
            return False
        path, guard, assign = found
        looked_at = [node for part in (guard.condition, assign.target) for node in walk(part)]
        used = {node.symbol for node in looked_at if isinstance(node, nodes.Read)}
        if path in self._sums or used & self._assigned:
            return False
        self._sums[path] = len(self._all), guard, assign
        self._all.append(one)
        return True

    def statements(self) -> list[Stmt]:
        """What it has become."""
        if len(self._sums) < 2:
            return self._all
        first: list[Stmt] = []
        rest = [*self._all]
        for place, guard, assign in self._sums.values():
            before = fresh("before", assign.target.type)
            first.append(nodes.Assign(read(before), zero(before.type), assign.span))
            first.append(nodes.If(guard.condition, (nodes.Assign(read(before), assign.target, assign.span),), (), None))
            total = nodes.Assign(assign.target, _with_first(assign.value, read(before)), assign.span)
            rest[place] = nodes.If(guard.condition, (total,), (), guard.span)
        return first + rest


def _sum(one: Stmt) -> tuple[str, nodes.If, nodes.Assign] | None:
    """`if there is one: array[…] = array[…] + …`, as `rules.add` writes it; and which array."""
    if not isinstance(one, nodes.If) or len(one.then) != 1 or one.otherwise:
        return None
    (inner,) = one.then
    if not isinstance(inner, nodes.Assign) or not isinstance(inner.value, nodes.Binary):
        return None
    root = root_of(inner.target)
    if inner.value.op != "add" or inner.value.left is not inner.target or not isinstance(root, nodes.Index):
        return None
    path = path_of(root.array)
    return None if path is None else (path, one, inner)


def _with_first(value: Expr, first: Expr) -> Expr:
    assert isinstance(value, nodes.Binary)
    return nodes.Binary(value.op, first, value.right, value.type, value.span)
