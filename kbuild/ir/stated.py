"""What a kernel says of its launches that can be held against them before they are made.

    comparisons(kernel)   →   (Comparison("b.shape[0]", "==", "a.shape[0]", "b.shape[0] == a.shape[0]", span), …)

That is what it assumes where every thread gets, as far as it compares numbers that the launch gives, and its
`launch_dim`. All else that it assumes (of what threads see, of what arrays hold) the simulator alone looks at.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Kernel, Symbol
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import Scalar

Polynomial: TypeAlias = "dict[tuple[str, ...], int]"  # products of names, and how often each

_OPERATORS: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left` and `right` are terms: `n` or `model.n`, `a.shape[0]`, `dim[0]`, a number, sums of products of these as
    `rows * columns + -1`; of a remainder, `n % 4`, the right one is 0. `said` is what the source says. Where a term is
    of an array that may be None, and is, nothing is said."""

    left: str
    operator: str
    right: str
    said: str
    span: Span | None = None


def comparisons(kernel: Kernel) -> tuple[Comparison, ...]:
    """Of a kernel, in the order of the source; `launch_dim` comes last."""
    return (*_assumed(kernel), *_launch_dim(kernel))


def rows(kernel: Kernel) -> list[tuple[str, str, str, str]]:
    """The same as a manifest has it."""
    return [(one.left, one.operator, one.right, one.said) for one in comparisons(kernel)]


def _launch_dim(kernel: Kernel) -> Iterator[Comparison]:
    for axis, extent in enumerate(kernel.launch_dim):
        term = _term(extent, set(kernel.function.parameters))
        assert term is not None  # as the verifier has it
        words = "dim" if kernel.ndim == 1 else f"dim[{axis}]"
        yield Comparison(f"dim[{axis}]", "==", term, f"{words} == {term} (launch_dim)", extent.span)


def _assumed(kernel: Kernel) -> Iterator[Comparison]:
    given = set(kernel.function.parameters)  # that hold what the launch has given
    for stmt in kernel.function.body:
        if isinstance(stmt, nodes.Assume):
            for condition, asked in _conjuncts(stmt.condition):
                found = _comparison(condition, stmt, given)
                if found is not None and all(_is_of(found, _path(one, given)) for one in asked):
                    yield found
        parts = list(walk((stmt,)))
        if any(isinstance(one, nodes.Return) for one in parts):
            return  # from here on not every thread
        given.difference_update(_assigned(parts))


def _assigned(parts: list[nodes.Node]) -> Iterator[Symbol]:
    for one in parts:
        if isinstance(one, nodes.Assign) and isinstance(root := root_of(one.target), nodes.Read):
            yield root.symbol


def _conjuncts(condition: Expr, asked: tuple[Expr, ...] = ()) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """What holds, and the arrays without which it need not: `not a or a.shape[0] == n`."""
    match condition:
        case nodes.Logical("and", left, right):
            yield from _conjuncts(left, asked)
            yield from _conjuncts(right, asked)
        case nodes.Logical("or", nodes.Unary("not", nodes.Present(array)), right):
            yield from _conjuncts(right, (*asked, array))
        case _:
            yield condition, asked


def _is_of(found: Comparison, array: str | None) -> bool:
    return any(term.startswith(f"{array}.shape[") for term in (found.left, found.right))


def _comparison(condition: Expr, stmt: nodes.Assume, given: set[Symbol]) -> Comparison | None:
    if not isinstance(condition, nodes.Compare):
        return None
    operator = _OPERATORS[condition.op]
    left, right = _term(condition.left, given), _term(condition.right, given)
    if left is not None and isinstance(condition.left, nodes.Const):
        left, right, operator = right, left, _TURNED.get(operator, operator)
    if left is None or right is None or _is_number(left):
        return None
    if "%" in left + right and (operator not in ("==", "!=") or right != "0"):
        return None  # remainders of negative numbers are another matter on the host
    return Comparison(left, operator, right, stmt.text, stmt.span)


def _is_number(term: str) -> bool:
    return term.replace(".", "").replace("e-", "").replace("e+", "").lstrip("-").isdigit()


def _term(expr: Expr, given: set[Symbol]) -> str | None:
    """What the launch gives, a number, or a sum of products of these; None for anything else."""
    if not isinstance(expr.type, Scalar) or expr.type.kind not in ("int", "uint", "float"):
        return None
    match expr:
        case nodes.Const(value):
            return repr(value) if math.isfinite(value) else None
        case nodes.Binary("mod", value, nodes.Const(divisor)) if expr.type.kind != "float" and divisor > 0:
            term = _term(value, given)
            return None if term is None or "%" in term or _is_number(term) else f"{term} % {divisor}"
    if expr.type.kind == "float":
        return _path(expr, given)
    found = _polynomial(expr, given)
    return None if found is None else _spelled(found)


def _polynomial(expr: Expr, given: set[Symbol]) -> Polynomial | None:
    """An integer expression; it wraps as a whole as each of its operations does."""
    match expr:
        case nodes.Const(value):
            return {(): int(value)}
        case nodes.Unary("neg", operand):
            return _product({(): -1}, _polynomial(operand, given))
        case nodes.Binary("add", left, right):
            return _sum(_polynomial(left, given), _polynomial(right, given))
        case nodes.Binary("sub", left, right):
            return _sum(_polynomial(left, given), _product({(): -1}, _polynomial(right, given)))
        case nodes.Binary("mul", left, right):
            return _product(_polynomial(left, given), _polynomial(right, given))
        case nodes.Extent(array, axis):
            path = _path(array, given)
            return None if path is None else {(f"{path}.shape[{axis}]",): 1}
    path = _path(expr, given)
    return None if path is None else {(path,): 1}


def _sum(a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
    if a is None or b is None:
        return None
    return {factors: n for factors in {**a, **b} if (n := a.get(factors, 0) + b.get(factors, 0))}


def _product(a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
    if a is None or b is None:
        return None
    found: Polynomial | None = {}
    for (one, n), (other, m) in itertools.product(a.items(), b.items()):
        found = _sum(found, {tuple(sorted((*one, *other))): n * m})
    return found


def _spelled(found: Polynomial) -> str:
    """`2 * n * m + -1`."""
    parts = ((*([str(n)] if n != 1 or not factors else []), *factors) for factors, n in found.items())
    return " + ".join(" * ".join(one) for one in parts) or "0"


def _path(expr: Expr, given: set[Symbol]) -> str | None:
    """A parameter, or a field of one."""
    match expr:
        case nodes.Read(symbol) if symbol in given:
            return symbol.name
        case nodes.Member(base, field):
            path = _path(base, given)
            return None if path is None else f"{path}.{field}"
    return None
