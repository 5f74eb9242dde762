"""Arithmetic on scalars as `ir.nodes` defines it, to the last bit, on Python numbers.

float32 results of + - * / and sqrt are computed in double precision and rounded once more, which is exact for them
(Figueroa, "When is double rounding innocuous?", 1995); so are float16 results through float32. A fused multiply-add is
computed with fractions.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

from kbuild.errors import InternalError
from kbuild.ir.types import FLOAT16, FLOAT32, Scalar

Number = bool | int | float


def round_to(value: float, type: Scalar) -> float:
    """The nearest value of a floating-point type, ties to even, infinite beyond its range."""
    if type.size == 8 or not math.isfinite(value):
        return value
    try:
        return float(struct.unpack(type.code, struct.pack(type.code, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def wrap(value: int, type: Scalar) -> int:
    """The low bits of an integer, as a value of the type."""
    bits = 8 * type.size
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if type.kind == "int" and low >> (bits - 1) else low


def binary(op: str, a: Number, b: Number, type: Scalar) -> Number:
    """`a op b` at one type."""
    if type.kind == "float":
        return _float(op, float(a), float(b), type)
    return wrap(_INTEGER[op](int(a), int(b), type), type)


def _divide(a: int, b: int, type: Scalar) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _shift_left(a: int, b: int, type: Scalar) -> int:
    return a << b if 0 <= b < 8 * type.size else 0


def _shift_right(a: int, b: int, type: Scalar) -> int:
    return a >> (b if 0 <= b < 8 * type.size else 8 * type.size)


_INTEGER: dict[str, Callable[[int, int, Scalar], int]] = {
    "add": lambda a, b, type: a + b,
    "sub": lambda a, b, type: a - b,
    "mul": lambda a, b, type: a * b,
    "div": _divide,
    "mod": lambda a, b, type: a - _divide(a, b, type) * b,
    "shl": _shift_left,
    "shr": _shift_right,
    "and": lambda a, b, type: a & b,
    "or": lambda a, b, type: a | b,
    "xor": lambda a, b, type: a ^ b,
}


def _float(op: str, a: float, b: float, type: Scalar) -> float:
    if op == "floordiv":
        quotient = round_to(_quotient(a, b), FLOAT32 if type == FLOAT16 else type)
        return round_to(_whole(math.floor)(quotient), type)
    if op == "mod":
        return _remainder(a, b)
    whole = {"add": a + b, "sub": a - b}.get(op)
    if whole is None:
        whole = a * b if op == "mul" else _quotient(a, b)
    return round_to(whole, type)


def _quotient(a: float, b: float) -> float:
    """IEEE division, where Python raises."""
    if b != 0.0:
        return a / b
    if a == 0.0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, math.copysign(1.0, a) * math.copysign(1.0, b))


def _remainder(a: float, b: float) -> float:
    if b == 0.0 or math.isinf(a):
        return math.nan
    return math.fmod(a, b)


def fma(a: float, b: float, c: float, type: Scalar) -> float:
    """`a * b + c`, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c  # the exact product is finite, also where the rounded one overflows
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # the sign of a zero sum follows the signs of its terms
    return round_fraction(exact, type)


def round_fraction(exact: Fraction, type: Scalar) -> float:
    """The nearest value of a floating-point type to an exact number that is not zero, ties to even."""
    precision, smallest = {2: (11, -24), 4: (24, -149), 8: (53, -1074)}[type.size]
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    unit = max(exponent - precision + 1, smallest)
    scaled = magnitude / Fraction(2) ** unit
    digits = round(scaled)  # of a Fraction: to the nearest, ties to even
    try:
        value = math.ldexp(digits, unit)
    except OverflowError:
        value = math.inf
    return math.copysign(round_to(value, type), 1 if exact > 0 else -1)


def unary(op: str, a: Number, type: Scalar) -> Number:
    """`-a`, `~a`, `not a`."""
    if op == "not":
        return not a
    if op == "invert":
        return wrap(~int(a), type)
    return -a if type.kind == "float" else wrap(-int(a), type)


def convert(a: Number, source: Scalar, target: Scalar) -> Number:
    """A value of one scalar type as another."""
    if target.kind == "bool":
        return a != 0
    if target.kind == "float":
        return round_to(float(a), target) if source.kind == "float" else _from_integer(int(a), target)
    if source.kind == "float":
        return wrap(_truncate(float(a), target), target)
    return wrap(int(a), target)


def _from_integer(a: int, target: Scalar) -> float:
    return 0.0 if a == 0 else round_fraction(Fraction(a), target)


def _truncate(a: float, target: Scalar) -> int:
    """Towards zero, saturating at 32 or 64 bits; NaN gives 0."""
    bits = 64 if target.size == 8 else 32
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if target.kind == "int" else (0, (1 << bits) - 1)
    if math.isnan(a):
        return 0
    if math.isinf(a):
        return high if a > 0 else low
    return min(max(math.trunc(a), low), high)


def compare(op: str, a: Number, b: Number) -> bool:
    """`a op b`."""
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[op]


def _smaller(a: Number, b: Number) -> Number:
    if a != a or b != b:
        return b if a != a else a
    if a == b == 0.0 and isinstance(a, float):
        return min(a, b, key=lambda x: math.copysign(1.0, x))
    return min(a, b)


def _larger(a: Number, b: Number) -> Number:
    if a != a or b != b:
        return b if a != a else a
    if a == b == 0.0 and isinstance(a, float):
        return max(a, b, key=lambda x: math.copysign(1.0, x))
    return max(a, b)


def _away_from_zero(a: float) -> float:
    whole = math.floor(abs(a))
    return math.copysign(whole + (abs(a) - whole >= 0.5), a)


def _guarded(function: Callable[..., float]) -> Callable[..., float]:
    """A function of Python's as IEEE has it: NaN outside its domain, infinities where it overflows."""

    def apply(*arguments: float) -> float:
        try:
            return float(function(*arguments))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return apply


def _clamped(a: float) -> float:
    """Cut to -1 … 1; a NaN stays."""
    return a if a != a else min(max(a, -1.0), 1.0)


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda a: -math.inf if a == 0.0 else _guarded(function)(a)


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    """Rounding to whole numbers: infinities and NaN stay, and so does the sign of zero."""
    return lambda a: math.copysign(float(function(a)), a) if math.isfinite(a) else a


def _power(a: float, b: float) -> float:
    """As C has it, where Python raises: infinite where 0 or a large number has a power, negative for odd ones."""
    try:
        return math.pow(a, b)
    except (ValueError, OverflowError):
        if a < 0.0 and math.fmod(b, 1.0) != 0.0:
            return math.nan
        return math.copysign(math.inf, a) if abs(math.fmod(b, 2.0)) == 1.0 else math.inf


def inverse_erf(y: float) -> float:
    """The x with erf(x) = y, by Newton's method where nothing cancels."""
    if not abs(y) <= 0.5:
        return -inverse_erfc(1.0 + y) if y < 0.0 else inverse_erfc(1.0 - y)
    x = y
    for _ in range(30):
        x -= (math.erf(x) - y) * math.exp(x * x) * _HALF_ROOT_PI
    return x


def inverse_erfc(y: float) -> float:
    """The x with erfc(x) = y, by Newton's method on its logarithm, which is nearly a parabola."""
    if not 0.0 < y < 2.0:
        return {0.0: math.inf, 2.0: -math.inf}.get(y, math.nan)
    if y > 1.0:
        return -inverse_erfc(2.0 - y)
    x = 1.0 - y if y > 0.5 else min(math.sqrt(-math.log(y)), 26.5)  # erfc is zero beyond
    for _ in range(60):
        tail = math.erfc(x)
        x += (math.log(tail) - math.log(y)) * tail * math.exp(x * x) * _HALF_ROOT_PI
    return x


_HALF_ROOT_PI = math.sqrt(math.pi) / 2.0

# Results that are the same on every device, bit for bit.
EXACT: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "min": _smaller,
    "max": _larger,
    "sqrt": _guarded(math.sqrt),
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "round": lambda a: _away_from_zero(a) if math.isfinite(a) else a,
    "rint": _whole(round),
    "copysign": math.copysign,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "bit_count": lambda a: bin(int(a)).count("1"),
}

# Results that devices compute with an error of a few units in the last place.
APPROXIMATE: dict[str, Callable[..., float]] = {
    "rsqrt": lambda a: _quotient(1.0, _guarded(math.sqrt)(a)),
    "cbrt": lambda a: math.copysign(abs(a) ** (1.0 / 3.0), a),
    "pow": _power,
    "exp": _guarded(math.exp),
    "exp2": _guarded(lambda a: math.pow(2.0, a)),
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "sin": _guarded(math.sin),
    "cos": _guarded(math.cos),
    "tan": _guarded(math.tan),
    "asin": lambda a: math.asin(_clamped(a)),
    "acos": lambda a: math.acos(_clamped(a)),
    "atan": math.atan,
    "atan2": math.atan2,
    "sinh": lambda a: math.copysign(_guarded(math.sinh)(abs(a)), a),
    "cosh": _guarded(math.cosh),
    "tanh": math.tanh,
    "erf": math.erf,
    "erfc": math.erfc,
    "erfinv": inverse_erf,
    "erfcinv": inverse_erfc,
}


def intrinsic(name: str, arguments: list[Number], source: Scalar, result: Scalar) -> Number:
    """A pure intrinsic. float16 computes in float32 and rounds."""
    function = EXACT.get(name) or APPROXIMATE.get(name)
    if function is None:
        raise InternalError(f"no meaning for {name}")
    if name == "bit_count":
        arguments = [int(a) & ((1 << 8 * source.size) - 1) for a in arguments]
    value = function(*arguments)
    if result.kind == "bool":
        return bool(value)
    if result.kind == "float":
        inner = round_to(float(value), FLOAT32) if result == FLOAT16 else float(value)
        return round_to(inner, result)
    return wrap(int(value), result)
