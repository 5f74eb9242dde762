"""What a float function should give: by mpmath, far more precise than any of the types.

    exact("sin", (0.5,)) → mpf            a number that the types can only come near to
    exact("sqrt", (-1.0,)) → nan          a float where the answer is a zero, an infinity, not a number, or itself exact

Special cases are IEEE 754's and C's (C17, annex F), but for `asin` and `acos`, which cut their argument to -1 … 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
from mpmath import mp, mpf

PRECISION = 220  # bits: twice 53 for a product, and room for what cancels near a zero
mp.prec = PRECISION
BEYOND = 1200  # powers of two that no type reaches

Exact = float | mpf
Function = Callable[..., Exact]


def exact(function: str, arguments: tuple[float, ...]) -> Exact:
    """The result of a function for arguments that are exactly these."""
    return FUNCTIONS[function](*arguments)


def _smooth(function: Callable[[mpf], mpf], positive: Exact, negative: Exact, zero: Exact | None = None) -> Function:
    """A function that is finite for finite arguments; what it is at the infinities, and at zero (None: zero itself)."""

    def apply(x: float) -> Exact:
        if x != x:
            return x
        if math.isinf(x):
            return positive if x > 0.0 else negative
        if x == 0.0:
            return x if zero is None else zero
        return function(mpf(x))

    return apply


def _growing(function: Callable[[mpf], mpf], steepness: float, low: Exact, zero: Exact) -> Function:
    """exp and its like: `low` far below zero, infinite far above; `steepness` in powers of two a unit."""

    def apply(x: float) -> Exact:
        if x != x:
            return x
        if abs(x) * steepness > BEYOND:
            return math.inf if x > 0.0 else low
        return zero if x == 0.0 else function(mpf(x))

    return apply


def _saturating(function: Callable[[mpf], mpf], limit: float, high: float, low: float, zero: Exact | None) -> Function:
    """tanh and its like: beyond the limit the types know nothing but the ends."""

    def apply(x: float) -> Exact:
        if x != x:
            return x
        if abs(x) > limit:
            return high if x > 0.0 else low
        if x == 0.0:
            return x if zero is None else zero
        return function(mpf(x))

    return apply


def _sinh(x: float) -> Exact:
    if x == 0.0 or x != x:
        return x
    if abs(x) > BEYOND:
        return math.copysign(math.inf, x)
    return mpmath.sinh(mpf(x))


def _logarithm(function: Callable[[mpf], mpf]) -> Function:
    def apply(x: float) -> Exact:
        if not x > 0.0:
            return -math.inf if x == 0.0 else math.nan
        if x in (1.0, math.inf):
            return 0.0 if x == 1.0 else x
        return function(mpf(x))

    return apply


def _power_of_two(x: float) -> mpf:
    whole = math.floor(x)
    return mpmath.ldexp(mpmath.power(2, mpf(x) - whole), whole)


def _root(x: float) -> Exact:
    if not x > 0.0 or math.isinf(x):
        return x if x == 0.0 or x == math.inf else math.nan
    return mpmath.sqrt(mpf(x))


def _reciprocal_root(x: float) -> Exact:
    if x == 0.0:
        return math.copysign(math.inf, x)
    if not x > 0.0:
        return math.nan
    return 0.0 if math.isinf(x) else 1 / mpmath.sqrt(mpf(x))


def _cube_root(x: float) -> Exact:
    if x == 0.0 or not math.isfinite(x):
        return x
    root = mpmath.cbrt(mpf(abs(x)))
    return root if x > 0.0 else -root


def _cut(function: Callable[[mpf], mpf], at: dict[float, Exact]) -> Function:
    def apply(x: float) -> Exact:
        if x != x:
            return x
        cut = min(max(x, -1.0), 1.0)
        if cut == 0.0 and 0.0 not in at:
            return x
        return at[cut] if cut in at else function(mpf(cut))

    return apply


def _is_odd(y: float) -> bool:
    return math.isfinite(y) and math.fmod(y, 2.0) in (1.0, -1.0)


def _power(x: float, y: float) -> Exact:
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return math.nan
    sign = -1.0 if math.copysign(1.0, x) < 0.0 and _is_odd(y) else 1.0
    if x == 0.0 or math.isinf(x):
        return sign * (math.inf if (x == 0.0) == (y < 0.0) else 0.0)
    if math.isinf(y):
        return 1.0 if x == -1.0 else math.inf if (abs(x) > 1.0) == (y > 0.0) else 0.0
    if x < 0.0 and y != math.floor(y):
        return math.nan
    logarithm = mpf(y) * mpmath.log(mpf(abs(x)))
    if abs(logarithm) > BEYOND:
        return sign * (math.inf if logarithm > 0.0 else 0.0)
    if y == math.floor(y) and abs(y) < 1024.0:
        return sign * mpmath.power(mpf(abs(x)), int(y))
    return sign * mpmath.exp(logarithm)


def _angle(y: float, x: float) -> Exact:
    if x != x or y != y:
        return math.nan
    is_left = math.copysign(1.0, x) < 0.0
    if y == 0.0 and not is_left:
        return y
    sign = math.copysign(1.0, y)
    if math.isinf(x) and math.isinf(y):
        return sign * mp.pi * (3 if is_left else 1) / 4
    if y == 0.0 or math.isinf(x):
        return sign * mp.pi if is_left else math.copysign(0.0, y)
    if x == 0.0 or math.isinf(y):
        return sign * mp.pi / 2
    return mpmath.atan2(mpf(y), mpf(x))


def _inverse_erf(y: float) -> Exact:
    if not abs(y) < 1.0:
        return math.copysign(math.inf, y) if abs(y) == 1.0 else math.nan
    if y == 0.0:
        return y
    if abs(y) > 0.5:
        x = _inverse_erfc_below_one(1 - mpf(abs(y)))
        return x if y > 0.0 else -x
    return _inverse_erf_near_zero(mpf(y))


def _inverse_erfc(y: float) -> Exact:
    if not 0.0 < y < 2.0:
        return {0.0: math.inf, 2.0: -math.inf}.get(y, math.nan)
    if y == 1.0:
        return 0.0
    if 0.5 <= y <= 1.5:
        return _inverse_erf_near_zero(1 - mpf(y))
    return _inverse_erfc_below_one(mpf(y)) if y < 1.0 else -_inverse_erfc_below_one(2 - mpf(y))


def _inverse_erf_near_zero(y: mpf) -> mpf:
    """Newton's method for erf(x) = y, where |y| ≤ 1/2."""
    x, half_root_pi = y * mpf("0.8862"), mpmath.sqrt(mp.pi) / 2
    for _ in range(20):
        step = (mpmath.erf(x) - y) * mpmath.exp(x * x) * half_root_pi
        x -= step
        if abs(step) < abs(x) * mpf(2) ** -100:  # the next step would be the square of this one
            return x
    raise ArithmeticError(f"no convergence for erfinv({y})")


def _inverse_erfc_below_one(y: mpf) -> mpf:
    """Newton's method for log erfc(x) = log y, which is nearly a parabola, where 0 < y ≤ 1/2."""
    wanted = mpmath.log(y)
    x, half_root_pi = mpmath.sqrt(-wanted) * mpf("0.8"), mpmath.sqrt(mp.pi) / 2
    for _ in range(40):
        tail = mpmath.erfc(x)
        step = (mpmath.log(tail) - wanted) * tail * mpmath.exp(x * x) * half_root_pi
        x += step
        if abs(step) < abs(x) * mpf(2) ** -100:
            return x
    raise ArithmeticError(f"no convergence for erfcinv({y})")


def _round_away(x: float) -> float:
    if not math.isfinite(x) or x == 0.0:
        return x
    magnitude = Fraction(abs(x)) + Fraction(1, 2)
    return math.copysign(float(magnitude.numerator // magnitude.denominator), x)


def _whole(function: Callable[[float], int]) -> Function:
    """A rounding to whole numbers, which keeps the sign of a zero."""

    def apply(x: float) -> float:
        return math.copysign(float(function(x)), x) if math.isfinite(x) else x

    return apply


def _smaller(x: float, y: float) -> float:
    return y if x != x else x if y != y else min(x, y)


def _larger(x: float, y: float) -> float:
    return y if x != x else x if y != y else max(x, y)


def _arithmetic(special: Callable[..., float], finite: Callable[..., mpf]) -> Function:
    """Finite numbers exactly; zeros and what is not finite as Python's floats."""

    def apply(*arguments: float) -> Exact:
        if all(map(math.isfinite, arguments)):
            result = finite(*map(mpf, arguments))
            if result != 0:
                return result
        return special(*arguments)

    return apply


def _divide(x: float, y: float) -> float:
    if y != 0.0:
        return x / y
    sign = math.copysign(1.0, x) * math.copysign(1.0, y)
    return math.nan if x == 0.0 or x != x else math.copysign(math.inf, sign)


def _quotient(x: float, y: float) -> Exact:
    is_finite = math.isfinite(x) and math.isfinite(y) and x != 0.0 and y != 0.0
    return mpf(x) / mpf(y) if is_finite else _divide(x, y)


def _remainder(x: float, y: float) -> float:
    if math.isinf(x) or y == 0.0 or x != x or y != y:
        return math.nan
    return math.fmod(x, y)


def _fused(x: float, y: float, z: float) -> float:
    """Only for what is not finite and for zeros: the product is never rounded to either by a finite number."""
    if all(map(math.isfinite, (x, y, z))):
        return x * y + z if x == 0.0 or y == 0.0 else 0.0  # else the sum cancelled
    if math.isfinite(x) and math.isfinite(y):
        return z
    return x * y + z


def _exactly(x: mpf, y: mpf) -> mpf:
    return mpmath.fadd(x, y, exact=True)


FUNCTIONS: dict[str, Function] = {
    "sqrt": _root,
    "rsqrt": _reciprocal_root,
    "cbrt": _cube_root,
    "pow": _power,
    "exp": _growing(mpmath.exp, 1.5, 0.0, 1.0),
    "exp2": _growing(_power_of_two, 1.0, 0.0, 1.0),
    "log": _logarithm(mpmath.log),
    "log2": _logarithm(lambda x: mpmath.log(x) / mp.ln2),
    "log10": _logarithm(lambda x: mpmath.log(x) / mp.ln10),
    "sin": _smooth(mpmath.sin, math.nan, math.nan),
    "cos": _smooth(mpmath.cos, math.nan, math.nan, 1.0),
    "tan": _smooth(mpmath.tan, math.nan, math.nan),
    "asin": _cut(mpmath.asin, {}),
    "acos": _cut(mpmath.acos, {1.0: 0.0, 0.0: mp.pi / 2}),
    "atan": _smooth(mpmath.atan, mp.pi / 2, -mp.pi / 2),
    "atan2": _angle,
    "sinh": _sinh,
    "cosh": _growing(mpmath.cosh, 1.5, math.inf, 1.0),
    "tanh": _saturating(mpmath.tanh, 60.0, 1.0, -1.0, None),
    "erf": _saturating(mpmath.erf, 30.0, 1.0, -1.0, None),
    "erfc": _saturating(mpmath.erfc, 40.0, 0.0, 2.0, 1.0),
    "erfinv": _inverse_erf,
    "erfcinv": _inverse_erfc,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "round": _round_away,
    "rint": _whole(round),
    "copysign": math.copysign,
    "abs": abs,
    "min": _smaller,
    "max": _larger,
    "add": _arithmetic(lambda x, y: x + y, _exactly),
    "sub": _arithmetic(lambda x, y: x - y, lambda x, y: _exactly(x, -y)),
    "mul": _arithmetic(lambda x, y: x * y, lambda x, y: x * y),
    "div": _quotient,
    "mod": _remainder,
    "frac": lambda x: x - math.copysign(math.trunc(x), x) if math.isfinite(x) else math.nan,
    "degrees": _smooth(lambda x: x * 180 / mp.pi, math.inf, -math.inf),
    "radians": _smooth(lambda x: x * mp.pi / 180, math.inf, -math.inf),
    "fma": _arithmetic(_fused, lambda x, y, z: _exactly(x * y, z)),
}
