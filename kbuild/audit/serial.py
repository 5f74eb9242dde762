"""Loops over a whole array that every thread runs, or one alone, where the threads could share its elements [KB410]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kbuild.audit.dependence import Dependence, is_for_few
from kbuild.audit.findings import Finding
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, For, Function, Kernel, Stmt, Symbol
from kbuild.ir.traverse import walk

CODE = "KB410"


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop with the conditions around it."""

    statement: For
    conditions: tuple[Expr, ...]


def serial_loops(kernel: Kernel) -> tuple[list[Finding], int]:
    """Findings, and how many loops were looked at: those of the kernel itself."""
    function = kernel.function
    loops = list(_loops(function.body, ()))
    if not loops:
        return [], 0
    dependence, values = Dependence(function), assigned_values(function)
    made = (_judged(kernel, loop, dependence, values) for loop in loops)
    return [found for found in made if found is not None], len(loops)


def assigned_values(function: Function) -> dict[Symbol, list[Expr]]:
    """Everything that is assigned to each symbol of a function as a whole."""
    values: dict[Symbol, list[Expr]] = {}
    for node in walk(function.body):
        if isinstance(node, nodes.Assign) and isinstance(node.target, nodes.Read):
            values.setdefault(node.target.symbol, []).append(node.value)
    return values


def _loops(body: tuple[Stmt, ...], conditions: tuple[Expr, ...]) -> Iterator[_Loop]:
    for statement in body:
        if isinstance(statement, nodes.If):
            inner = (*conditions, statement.condition)
            yield from _loops(statement.then, inner)
            yield from _loops(statement.otherwise, inner)
        elif isinstance(statement, For):
            yield _Loop(statement, conditions)
            yield from _loops(statement.body, (*conditions, statement.stop))
        elif isinstance(statement, nodes.While):
            yield from _loops(statement.body, (*conditions, statement.condition))


def _judged(kernel: Kernel, loop: _Loop, dependence: Dependence, values: dict[Symbol, list[Expr]]) -> Finding | None:
    statement = loop.statement
    whole = next((one for one in _whole_axes(statement, values) if _touches(statement, *one)), None)
    if whole is None:
        return None
    array, axis = whole
    splits = [one for one in loop.conditions if dependence.of(one)]
    # Under `if i == 0` what is assigned depends on the thread, though nothing that is done there does.
    own = Dependence(kernel.function, passed=splits) if splits else dependence
    if any(own.of(one) for one in statement.body):
        return None
    name = array.name
    if any(is_for_few(one, dependence) for one in splits):
        text = f"one thread, or few, run over all of {name!r}, and the others do nothing meanwhile"
    else:
        who = "every thread that comes here" if splits else "every thread"
        text = f"{who} runs over all of {name!r}, and does the same there as the others"
    help = f"let the threads share the elements: `for … in kb.grid_range({name}.shape[{axis}])`, or one thread for each"
    return Finding(CODE, "source", "found", text, statement.span, kernel.name, name, help=help)


def _whole_axes(loop: For, values: dict[Symbol, list[Expr]]) -> Iterator[tuple[Symbol, int]]:
    """The arrays, and their axes, that a loop `for i in range(a.shape[0])` runs over: of a `min` the shortest."""
    if _is(loop.start, 0) and _is(loop.step, 1):
        yield from _extents(loop.stop, values)


def _extents(stop: Expr, values: dict[Symbol, list[Expr]]) -> Iterator[tuple[Symbol, int]]:
    if isinstance(stop, nodes.Read) and len(values.get(stop.symbol, ())) == 1:
        stop = values[stop.symbol][0]
    if isinstance(stop, nodes.Extent) and isinstance(stop.array, nodes.Read):
        yield stop.array.symbol, stop.axis
    elif isinstance(stop, nodes.Intrinsic) and stop.name == "min":
        for one in stop.arguments:
            yield from _extents(one, values)


def _touches(loop: For, array: Symbol, axis: int) -> bool:
    return any(
        isinstance(node, nodes.Index)
        and isinstance(node.array, nodes.Read)
        and node.array.symbol is array
        and isinstance(index := node.indices[axis], nodes.Read)
        and index.symbol is loop.symbol
        for node in walk(loop.body)
    )


def _is(value: Expr, number: int) -> bool:
    return isinstance(value, nodes.Const) and value.value == number
