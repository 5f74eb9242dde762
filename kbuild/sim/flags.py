"""The exceptions of IEEE 754 that operations on lanes raise, found from operands and results.

- invalid: a NaN that comes of numbers; a float that an integer type does not hold.
- divide by zero: an infinity that is exact, of finite operands: x / 0, and a pole such as log(0).
- overflow: any other infinity of finite operands.
- underflow: a result below the smallest normal number, zero included, that is not exact. (The standard lets
  implementations look before or after rounding; this is after, of the result that is delivered.)

Inexact is not among them: nearly every operation is. Nor are comparisons, which say nothing of NaN on a GPU either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from kbuild.ir.types import Scalar
from kbuild.sim.lanes import Lanes, exact_product, exact_sum

KINDS = ("invalid", "divide by zero", "overflow", "underflow")
_QUIET = frozenset({"abs", "min", "max", "floor", "ceil", "trunc", "round", "rint", "copysign"})
_POLES: dict[str, Callable[..., Any]] = {
    "div": lambda a, b: b == 0,
    "floordiv": lambda a, b: b == 0,
    "rsqrt": lambda a: a == 0,
    "log": lambda a: a == 0,
    "log2": lambda a: a == 0,
    "log10": lambda a: a == 0,
    "pow": lambda a, b: a == 0,
    "erfinv": lambda a: np.abs(a) == 1,
    "erfcinv": lambda a: (a == 0) | (a == 2),
}


def raised(op: str, found: Lanes, operands: Sequence[Lanes]) -> dict[str, Lanes]:
    """For each kind that an operation raises in some lane, where. `op` is that of a Binary, `fma`, or an intrinsic; the
    result is a float.
    """
    if op in _QUIET:
        return {}
    flags: dict[str, Lanes] = {}
    if not np.isfinite(found).all():
        is_nan = np.isnan(found)
        is_finite: Any = True
        for one in operands:
            is_nan = is_nan & ~np.isnan(one)
            is_finite = is_finite & np.isfinite(one)
        is_infinite = np.isinf(found) & is_finite
        pole = _POLES.get(op)
        at_pole = is_infinite & pole(*operands) if pole is not None else np.False_
        _note(flags, "invalid", is_nan)
        _note(flags, "divide by zero", at_pole)
        _note(flags, "overflow", is_infinite & ~at_pole)
    is_small = np.abs(found) < np.finfo(found.dtype).tiny
    if is_small.any():
        _note(flags, "underflow", _inexact(op, found, operands, is_small))
    return flags


def converted(found: Lanes, value: Lanes, source: Scalar, target: Scalar) -> dict[str, Lanes]:
    """The same for a conversion to or from a float."""
    flags: dict[str, Lanes] = {}
    if target.kind == "float":
        is_float = source.kind == "float"
        _note(flags, "overflow", np.isinf(found) & (np.isfinite(value) if is_float else np.True_))
        if is_float and target.size < source.size:
            is_small = np.abs(found) < np.finfo(found.dtype).tiny
            _note(flags, "underflow", is_small & (found.astype(value.dtype) != value))
    elif source.kind == "float" and target.kind in ("int", "uint"):
        whole, bits = np.trunc(value.astype(np.float64)), 8 * target.size
        low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if target.kind == "int" else (0.0, 2.0**bits)
        _note(flags, "invalid", ~((whole >= low) & (whole < high)))
    return flags


def _note(flags: dict[str, Lanes], kind: str, where: Any) -> None:
    if where.any():
        flags[kind] = where


def _inexact(op: str, found: Lanes, operands: Sequence[Lanes], is_small: Any) -> Any:
    """Where a small result is not exact. Only small ones are looked at."""
    if op in ("add", "sub", "mod", "floordiv", "sqrt"):
        return np.False_  # small ones are exact; a floor is whole
    lanes = np.flatnonzero(np.atleast_1d(is_small))
    count = np.size(found)
    parts = [np.broadcast_to(one, (count,))[lanes] for one in (found, *operands)]
    exact = _EXACT.get(op)
    is_exact = exact(*parts) if exact is not None else (parts[0] == 0) & _is_zero_at(op, parts[1:])
    where = np.zeros(count, np.bool_)
    where[lanes] = ~is_exact
    return where if np.ndim(found) else where[0]


def _is_zero_at(op: str, operands: Sequence[Lanes]) -> Any:
    """Whether a function's value is zero at these operands, of which one is known to give a small result."""
    x = operands[0]
    match op:
        case "log" | "log2" | "log10" | "erfcinv":
            return x == 1
        case "acos":
            return x >= 1  # it is cut to 1
        case "exp" | "erfc" | "rsqrt":
            return np.isinf(x)
        case "atan2":
            return (x == 0) | np.isinf(operands[1])
    return x == 0


def _exact_product(found: Lanes, a: Lanes, b: Lanes) -> Any:
    """found == a * b"""
    if found.dtype.itemsize < 8:
        return found.astype(np.float64) == a.astype(np.float64) * b.astype(np.float64)
    # Significands from 0.5 to 1, whose product loses nothing.
    (x, of_x), (y, of_y) = np.frexp(a), np.frexp(b)
    product, rest = exact_product(x, y)
    exponent = of_x.astype(np.int32) + of_y
    is_same = (np.ldexp(found, -exponent) == product) & (rest == 0)
    return is_same & ((found == 0) == (product == 0))  # of a number far from the product, a zero may be left


def _exact_quotient(found: Lanes, a: Lanes, b: Lanes) -> Any:
    """found == a / b"""
    return np.isinf(b) | _exact_product(a, found, b)


def _exact_fma(found: Lanes, a: Lanes, b: Lanes, c: Lanes) -> Any:
    """found == a * b + c"""
    if found.dtype.itemsize < 8:
        total, rest = exact_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))
        return (found.astype(np.float64) == total) & (rest == 0)
    is_plain = (a == 0) | (b == 0)
    (others,) = np.nonzero(~is_plain)
    for lane in others:
        x, y, z, result = (Fraction(float(one[lane])) for one in (a, b, c, found))
        is_plain[lane] = x * y + z == result
    return is_plain


def _exact_exp2(found: Lanes, x: Lanes) -> Any:
    return np.isinf(x) | ((found != 0) & (x == np.trunc(x)))


def _exact_power(found: Lanes, x: Lanes, y: Lanes) -> Any:
    is_exact = (x == 0) | np.isinf(x) | np.isinf(y)
    (others,) = np.nonzero(~is_exact & (found != 0))
    for lane in others:
        is_exact[lane] = _is_power(float(found[lane]), float(x[lane]), float(y[lane]))
    return is_exact


def _is_power(found: float, x: float, y: float) -> bool:
    """found == x ** y, for a small result. Beside powers of two, only small exponents leave a significand of 53 bits:
    3 ** 34 has 54, and roots of them are small, too.
    """
    base, exponent = Fraction(x), Fraction(y)
    above, below = abs(base.numerator), base.denominator
    if above & (above - 1) == 0 and (above == 1 or below == 1):
        return bool((exponent * (above.bit_length() - below.bit_length())).denominator == 1)
    if exponent.denominator > 64 or not 0 < exponent.numerator <= 64:
        return False
    return bool(Fraction(found) ** exponent.denominator == base**exponent.numerator)


_EXACT: dict[str, Callable[..., Any]] = {
    "mul": _exact_product,
    "div": _exact_quotient,
    "fma": _exact_fma,
    "exp2": _exact_exp2,
    "pow": _exact_power,
}
