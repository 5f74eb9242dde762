"""Which integers are never below zero, so that an index need not be asked whether it counts from the end.

That question is Warp's dialect's alone: see `wraps` in `nodes`.

    never_negative(function) → {i, row}        of `i = tid()`, `for row in range(n)`, …

A sum or product of such integers counts as one too: where it wraps, the index is outside of every array.
"""

from __future__ import annotations

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Symbol
from kbuild.ir.traverse import walk
from kbuild.ir.types import Scalar, Type

_KEEPING = frozenset({"add", "mul", "div", "shr", "or", "xor"})  # when both sides are never negative


def never_negative(function: Function) -> frozenset[Symbol]:
    """The integer variables of a function that no assignment makes negative. Those that start as zero count."""
    values: dict[Symbol, list[Expr]] = {}
    bad = set(function.parameters)
    for node in walk(function.body):
        match node:
            case nodes.Assign(nodes.Read(symbol), value):
                values.setdefault(symbol, []).append(value)
            case nodes.For(symbol, start, stop, step):
                values.setdefault(symbol, []).extend(() if _counts_down_to_zero(stop, step) else (start, step))
    known = {symbol for symbol in values if _is_signed(symbol.type)} - bad
    while True:
        lost = {s for s in known if not all(is_never_negative(value, known) for value in values[s])}
        if not lost:
            return frozenset(known)
        known -= lost


def _counts_down_to_zero(stop: Expr, step: Expr) -> bool:
    """`range(n - 1, -1, -1)`: what is above the end is not below zero."""
    ends = isinstance(stop, nodes.Const) and isinstance(step, nodes.Const)
    return ends and stop.value >= -1 and step.value < 0  # type: ignore[union-attr]


def is_never_negative(expr: Expr, known: frozenset[Symbol] | set[Symbol]) -> bool:
    """Whether an integer is sure not to be below zero, given the variables that never are."""
    if not _is_signed(expr.type):
        return True
    match expr:
        case nodes.Const(value):
            return value >= 0
        case nodes.Read(symbol):
            return symbol in known
        case nodes.ThreadIndex() | nodes.Position() | nodes.Extent():
            return True
        case nodes.Binary("mod", left, _):
            return is_never_negative(left, known)
        case nodes.Binary("and", left, right):
            return is_never_negative(left, known) or is_never_negative(right, known)
        case nodes.Binary(op, left, right) if op in _KEEPING:
            return is_never_negative(left, known) and is_never_negative(right, known)
        case nodes.Select(_, then, otherwise):
            return is_never_negative(then, known) and is_never_negative(otherwise, known)
        case nodes.Convert(operand, type):
            return operand.type.size < type.size and _is_integer(operand.type) and is_never_negative(operand, known)
        case nodes.Intrinsic("min", arguments):
            return all(is_never_negative(one, known) for one in arguments)
        case nodes.Intrinsic("max", arguments):
            return any(is_never_negative(one, known) for one in arguments)
    return False


def is_positive(expr: Expr) -> bool:
    """Whether an integer is sure to be above zero: a constant, or how many threads or blocks there are.

    Their product counts as one too: a launch in which a thread asks for its place has below 2³¹ threads.
    """
    match expr:
        case nodes.Const(value):
            return value > 0
        case nodes.Position(what, _):
            return what in ("grid_dim", "block_dim")
        case nodes.Binary("mul", nodes.Position() as left, nodes.Position() as right):
            return {left.what, right.what} == {"grid_dim", "block_dim"} and is_positive(left) and is_positive(right)
        case nodes.Convert(operand, type):
            return operand.type.size < type.size and _is_integer(operand.type) and is_positive(operand)
    return False


def _is_integer(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind in ("int", "uint", "bool")


def _is_signed(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind == "int"
