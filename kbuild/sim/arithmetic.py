"""Arithmetic on the lanes of a launch: what `sim.numbers` says of one number, element by element on NumPy arrays.

    binary("add", a, b, INT8)    a and b: one int8 for each lane, or one NumPy scalar for all of them

Operands have exactly the dtype of their type (`dtype_of`), and so do results; lanes and scalars mix, scalars alone give
a scalar. Operands are never changed. All results but those of `APPROXIMATE` functions are those of `numbers`, bit for
bit, but for the bits of a NaN. Callers hold `np.errstate(all="ignore")`: every value is defined here, none is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kbuild.errors import InternalError
from kbuild.ir.types import FLOAT32, FLOAT64, SCALARS, Scalar
from kbuild.sim.functions import APPROXIMATE
from kbuild.sim.fused import fma
from kbuild.sim.lanes import Lanes, in_parts

__all__ = [
    "Lanes",
    "binary",
    "binary_function",
    "compare",
    "comparison",
    "convert",
    "dtype_of",
    "fma",
    "intrinsic",
    "unary",
    "unary_function",
]

_DTYPES: dict[str, np.dtype[Any]] = {spelling: np.dtype(spelling) for spelling in SCALARS}


def dtype_of(type: Scalar) -> np.dtype[Any]:
    """How NumPy stores a scalar type."""
    return _DTYPES[type.spelling]


def binary(op: str, a: Lanes, b: Lanes, type: Scalar) -> Lanes:
    """`a op b` at one type."""
    return _BINARY[type.kind][op](a, b)


def binary_function(op: str, type: Scalar) -> Callable[[Lanes, Lanes], Lanes]:
    """What `binary` does, for who does it often."""
    return _BINARY[type.kind][op]


def unary_function(op: str) -> Callable[[Lanes], Lanes]:
    """`-a`, `~a`, `not a`."""
    return _UNARY[op]


def unary(op: str, a: Lanes, type: Scalar) -> Lanes:
    """`-a`, `~a`, `not a`."""
    return _UNARY[op](a)


def comparison(op: str) -> Callable[[Lanes, Lanes], Lanes]:
    """`a op b`, bool."""
    return _COMPARE[op]


def compare(op: str, a: Lanes, b: Lanes) -> Lanes:
    """`a op b`, bool."""
    return _COMPARE[op](a, b)


@in_parts
def _divide(a: Lanes, b: Lanes) -> Lanes:
    """Integers, towards zero. In a float of twice their bits, where a quotient that is not whole is further from the
    whole numbers than it is rounded; that takes a fraction of the time of an integer division.
    """
    if a.dtype.itemsize == 8:
        return _divide_long(a, b)
    by_zero = b == 0
    if by_zero.any():
        a, b = a * ~by_zero, b | by_zero  # 0 / 1
    wide = np.float64 if a.dtype.itemsize == 4 else np.float32
    quotient = a.astype(wide) / b.astype(wide)
    if a.dtype.kind == "i" and (b == -1).any():
        quotient = quotient.astype(np.int64)  # that of the smallest integer is too large for its type
    return quotient.astype(a.dtype)


def _divide_long(a: Lanes, b: Lanes) -> Lanes:
    """The same for 64 bits, by magnitudes: NumPy's division of unsigned integers has 0 for x div 0 and no overflow."""
    if a.dtype.kind == "u":
        return np.floor_divide(a, b)
    magnitude = np.floor_divide(np.abs(a).view(np.uint64), np.abs(b).view(np.uint64)).view(np.int64)
    sign = np.right_shift(a ^ b, np.int64(63))  # -1 where the signs differ: x ^ -1 is -x - 1
    return (magnitude ^ sign) - sign


def _modulo(a: Lanes, b: Lanes) -> Lanes:
    return a - _divide(a, b) * b


def _floor_divide(a: Lanes, b: Lanes) -> Lanes:
    if a.dtype == np.float16:  # devices round it once, behind the floor
        return np.floor(np.divide(a, b, dtype=np.float32)).astype(np.float16)
    return np.floor(np.divide(a, b))


_Function = Callable[..., Any]
_BITWISE: dict[str, _Function] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
# NumPy defines shifts by the width or more, and by a negative number, as `ir.nodes` does.
_INTEGER: dict[str, _Function] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _divide,
    "mod": _modulo,
    "shl": np.left_shift,
    "shr": np.right_shift,
    **_BITWISE,
}
_FLOAT: dict[str, _Function] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "floordiv": _floor_divide,
    "mod": np.fmod,
}
_BINARY = {"int": _INTEGER, "uint": _INTEGER, "float": _FLOAT}
_UNARY: dict[str, _Function] = {"neg": np.negative, "invert": np.invert, "not": np.logical_not}
_COMPARE: dict[str, _Function] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _where(condition: Lanes, a: Lanes, b: Lanes) -> Lanes:
    """NumPy's `where`, of scalars a scalar."""
    chosen: Lanes = np.where(condition, a, b)
    return chosen[()]


def convert(a: Lanes, source: Scalar, target: Scalar) -> Lanes:
    """Values of one scalar type as another. NumPy rounds once from every integer and from every float."""
    if source.kind == "float" and target.kind in ("int", "uint"):
        return _truncate(a, target=target)
    return a.astype(_DTYPES[target.spelling])


def _truncate(a: Lanes, *, target: Scalar) -> Lanes:
    """Towards zero, saturating at 32 or 64 bits, NaN gives 0; narrower types take the low bits of that.

    NumPy converts as C does, which leaves open what a number out of range becomes: those lanes convert a zero.
    """
    bits = 64 if target.size == 8 else 32
    wide = _DTYPES[f"{target.kind}{bits}"]
    if a.dtype.itemsize == 2:
        a = a.astype(np.float32)  # which holds the limits
    if target.kind == "int":
        limit = a.dtype.type(2.0 ** (bits - 1))
        is_inside = np.abs(a) < limit
    else:
        limit = a.dtype.type(2.0**bits)
        is_inside = (a > -1) & (a < limit)
    if is_inside.all():
        whole = a.astype(wide)
    else:
        bounds = np.iinfo(wide)
        inside: Lanes = np.where(is_inside, a, a.dtype.type(0)).astype(wide)
        beyond: Lanes = np.where(a > 0, wide.type(bounds.max), wide.type(bounds.min))
        whole = _where(is_inside | np.isnan(a), inside, beyond)
    return whole if wide.itemsize == target.size else whole.astype(_DTYPES[target.spelling])


def _smaller(a: Lanes, b: Lanes) -> Lanes:
    if a.dtype.kind != "f":
        return np.minimum(a, b)
    return _of_zeros(np.fmin(a, b), a, b, lambda: -(-a - b))


def _larger(a: Lanes, b: Lanes) -> Lanes:
    if a.dtype.kind != "f":
        return np.maximum(a, b)
    return _of_zeros(np.fmax(a, b), a, b, lambda: a + b)


def _of_zeros(chosen: Lanes, a: Lanes, b: Lanes, sum_of: Callable[[], Lanes]) -> Lanes:
    """NumPy takes either of two zeros; sums of zeros have the sign that is wanted: 0 + -0 is 0, -(-0 - -0) is -0."""
    is_zero = chosen == 0
    if not is_zero.any():
        return chosen
    return _where(is_zero & (a == b), sum_of(), chosen)


@in_parts
def _away_from_zero(a: Lanes) -> Lanes:
    """To the nearest whole number, halves away from zero. Both the fraction and the step by one are exact."""
    whole = np.trunc(a)
    one = (np.abs(a - whole) >= 0.5).astype(a.dtype)
    return np.copysign(np.abs(whole) + one, a)


_EXACT: dict[str, _Function] = {
    "abs": np.abs,
    "min": _smaller,
    "max": _larger,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _away_from_zero,
    "rint": np.rint,
    "copysign": np.copysign,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}


def _bit_count(a: Lanes) -> Lanes:
    """How many bits are 1, int32: sums of neighbours, then of pairs, of fours, and all bytes by one product (Warren,
    "Hacker's Delight", 2nd edition 2012, section 5-1).
    """
    size = a.dtype.itemsize
    unsigned = np.dtype(f"uint{8 * size}").type

    def constant(byte: int) -> Any:
        return unsigned(int.from_bytes(bytes([byte]) * size, "little"))

    one, two, four = unsigned(1), unsigned(2), unsigned(4)
    bits = a.view(unsigned)
    bits = bits - ((bits >> one) & constant(0x55))
    bits = (bits & constant(0x33)) + ((bits >> two) & constant(0x33))
    bits = (bits + (bits >> four)) & constant(0x0F)
    return ((bits * constant(0x01)) >> unsigned(8 * size - 8)).astype(np.int32)


def intrinsic(name: str, arguments: Sequence[Lanes], source: Scalar, result: Scalar) -> Lanes:
    """A pure intrinsic. Approximate functions are computed in float64 and rounded, float16 by way of float32."""
    exact = _EXACT.get(name)
    if exact is not None:
        return exact(*arguments)
    if name == "bit_count":
        return _bit_count(arguments[0])
    function = APPROXIMATE.get(name)
    if function is None:
        raise InternalError(f"no meaning for {name}")
    value = function(*(a if source == FLOAT64 else a.astype(np.float64) for a in arguments))
    if result.size == 2:
        value = value.astype(_DTYPES[FLOAT32.spelling])
    return value if result == FLOAT64 else value.astype(_DTYPES[result.spelling])
