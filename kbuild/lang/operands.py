"""What an expression of the source lowers to: typed IR, a number that has no type yet, several values, a static thing.

An untyped number comes from a literal or a captured Python number. It keeps Python's exact value until its context
gives it a type: then it must fit.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from kbuild.errors import Diagnostic, Span
from kbuild.ir.nodes import Expr
from kbuild.ir.types import FLOAT32, FLOAT64, INT32, Scalar, Type


class Refused(Exception):
    """The source is at fault here; ends the statement, not the run."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Silenced(Exception):
    """Something here depends on what was refused before; nothing more to say."""


@dataclass(frozen=True, slots=True)
class Untyped:
    """A number of the source."""

    value: int | float
    span: Span


@dataclass(frozen=True, slots=True)
class Pack:
    """Several values side by side: a tuple, the results of a call, a shape."""

    items: tuple[Operand, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Static:
    """A Python object that is no value inside a kernel: a type, a function, None, a string."""

    value: Any
    span: Span


@dataclass(frozen=True, slots=True)
class Place:
    """An argument for a parameter that stands for a place of the caller's: see `references`."""

    place: Expr

    @property
    def type(self) -> Type:
        """Of what is there."""
        return self.place.type


NOTHING = object()  # what a call gives that has no value

Operand: TypeAlias = Expr | Untyped | Pack | Static | Place


Structure: TypeAlias = "tuple[Structure, ...] | None"


def structure_of(operand: Operand | None) -> Structure:
    """How tuples stand inside tuples: None for a single value."""
    return tuple(structure_of(item) for item in operand.items) if isinstance(operand, Pack) else None


def flattened(operand: Operand) -> Operand:
    """A tuple with everything in it side by side."""
    if not isinstance(operand, Pack):
        return operand
    inner = [flattened(item) for item in operand.items]
    return Pack(tuple(x for one in inner for x in (one.items if isinstance(one, Pack) else (one,))), operand.span)


def structured(items: Iterator[Operand], structure: Structure, span: Span) -> Operand:
    """The values of a flattened tuple in their places again."""
    if structure is None:
        return next(items)
    return Pack(tuple(structured(items, inner, span) for inner in structure), span)


def default_type(number: int | float) -> Scalar:
    """The type of a number whose context asks for none."""
    return FLOAT32 if isinstance(number, float) else INT32


def describe(operand: Operand) -> str:
    """The type of an operand in a message."""
    match operand:
        case Untyped(value):
            return f"the number {value!r}"
        case Pack(items):
            return f"{len(items)} values"
        case Static(value) if value is NOTHING:
            return "nothing"
        case Static(value):
            return f"{value!r}" if value is None or isinstance(value, str) else f"the Python object {value!r:.60}"
    return str(operand.type)


def fit(number: int | float, type: Type) -> bool | int | float | None:
    """The number as a constant of a type, None where it does not fit: no fraction is cut, no integer rounded."""
    if not isinstance(type, Scalar) or type.kind == "bool":
        return None
    if type.kind == "float":
        rounded = round_to(number, type)
        exact = isinstance(number, float) or rounded == number
        return rounded if exact and (math.isfinite(rounded) or not _is_finite(number)) else None
    if isinstance(number, float):
        return None
    low, high = integer_range(type)
    return number if low <= number <= high else None


def _is_finite(number: int | float) -> bool:
    return isinstance(number, int) or math.isfinite(number)


def integer_range(type: Scalar) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    bits = 8 * type.size
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type.kind == "int" else (0, (1 << bits) - 1)


def round_to(number: int | float, type: Scalar) -> float:
    """The nearest value of a floating-point type, infinite beyond its range."""
    try:
        if type == FLOAT64:
            return float(number)
        value: float = struct.unpack(type.code, struct.pack(type.code, float(number)))[0]
        return value
    except OverflowError:
        return math.copysign(math.inf, number)


def _divide(a: int | float, b: int | float) -> int | float:
    """Division as kernels do it: towards zero for integers."""
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int | float, b: int | float) -> int | float:
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b)
    return a - int(_divide(a, b)) * b


def _floor_divide(a: int | float, b: int | float) -> int | float:
    return a // b if isinstance(a, float) or isinstance(b, float) else _divide(a, b)


FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divide,
    "floordiv": _floor_divide,
    "mod": _remainder,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "pow": operator.pow,
}
