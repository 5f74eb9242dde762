"""Mathematical functions of float64 lanes, with the domains of `numbers.APPROXIMATE`.

The error function and its relatives, which NumPy lacks, are within 2 units in the last place (tests hold them against
multiple precision). exp(x²) erfc(x) (1 + 2x) hardly varies, and is a polynomial in (x - a) / (x + b) over the whole
axis, an idea of Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x²) erfc x in 0 ≤ x < ∞", 1981.
The coefficients are our own, interpolated at 80 Chebyshev nodes with 60 digits and cut where they vanish.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from kbuild.sim.lanes import Lanes, exact_product


def _polynomial(x: Lanes, coefficients: Iterable[float]) -> Lanes:
    """Horner's scheme, the highest power first."""
    first, *others = coefficients
    total = np.full_like(x, first)
    for coefficient in others:
        total *= x
        total += coefficient
    return total


# Of erf(x) / x - 1 in powers of x²: 2 (-1)ⁿ / (√π n! (2n + 1)), less 1 where n = 0 (DLMF 7.6.1).
_TWO_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)
_CENTRE: Final = [
    *(_TWO_BY_ROOT_PI * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(15, 0, -1)),
    0.12837916709551257390,
]
_CENTRE_ENDS: Final = 0.5

# Of (1 + 2x) exp(x²) erfc(x) in powers of 1 - 7 / (x + 3), for x from 0.5 (and a little less) to infinity; off by
# 5e-17 at most.
_TAIL: Final = [
    -7.839796597428872e-12,
    9.398532376264554e-11,
    1.6242483762069316e-10,
    -1.0399737796333346e-09,
    -1.7665958819602618e-09,
    6.7390541236444035e-09,
    1.448219496903576e-08,
    -3.8240659543339904e-08,
    -1.0511438493965513e-07,
    2.407551509427643e-07,
    7.238739104902653e-07,
    -1.91349979221878e-06,
    -4.577269092079202e-06,
    1.8863176334576534e-05,
    1.7479106593904733e-05,
    -0.00019788758774368442,
    0.00024740376448686123,
    0.0013920612482762244,
    -0.008073603938175784,
    0.022801799598951192,
    -0.04180651066502489,
    0.04665458534673942,
    -0.003496013513368038,
    -0.12216847723549216,
    1.2329951186255526,
]
_ZERO_BEYOND: Final = 28.0  # erfc(28) is below the smallest float64


def _erf_of_small(x: Lanes) -> Lanes:
    """For |x| up to `_CENTRE_ENDS`."""
    return x + x * _polynomial(x * x, _CENTRE)


def _scaled_tail(x: Lanes) -> tuple[Lanes, Lanes]:
    """exp(x²) erfc(x) for x ≥ 0.48, and the relative error of it, as far as roundings on the way have made it."""
    *others, last = _TAIL
    u = 1.0 - 7.0 / (x + 3.0)
    rest = _polynomial(u, others) * u
    above = last + rest
    below = 1.0 + 2.0 * x
    scaled = above / below
    product, product_rest = exact_product(scaled, below)
    lost_above = rest - (above - last)
    lost_below = 1.0 - (below - 2.0 * x)
    lost = ((above - product) - product_rest) + lost_above - scaled * lost_below
    return scaled, lost / above


def _tail(x: Lanes) -> Lanes:
    """erfc(x) for x ≥ 0.48."""
    x = np.minimum(x, _ZERO_BEYOND)
    square, square_rest = exact_product(x, x)
    scaled, lost = _scaled_tail(x)
    value, value_rest = exact_product(np.exp(-square), scaled)
    value_rest = np.where(value > 2.0**-960, value_rest, 0.0)  # below it is none
    return value + (value_rest + value * (lost - square_rest))


def _on_arrays(function: Callable[[Lanes], Lanes]) -> Callable[[Lanes], Lanes]:
    """The function for scalars, too."""

    def apply(a: Lanes) -> Lanes:
        return function(a) if a.ndim else function(np.array([a]))[0]

    return apply


def _erf(a: Lanes) -> Lanes:
    x = np.abs(a)
    return np.where(x <= _CENTRE_ENDS, _erf_of_small(a), np.copysign(1.0 - _tail(x), a))


def _erfc(a: Lanes) -> Lanes:
    x = np.abs(a)
    tail = _tail(x)
    return np.where(x <= _CENTRE_ENDS, 1.0 - _erf_of_small(a), np.where(a < 0, 2.0 - tail, tail))


def _inverse_of_small(y: Lanes) -> Lanes:
    """The x with erf(x) = y for |y| up to 0.5: three terms of its series (DLMF 7.17.2), then Halley's method."""
    square = math.pi * y * y
    x = y / _TWO_BY_ROOT_PI * (1.0 + square * (1.0 / 12.0 + square * 7.0 / 480.0))
    for _ in range(2):
        step = (_erf_of_small(x) - y) * np.exp(x * x) / _TWO_BY_ROOT_PI
        x = x - step / (1.0 + x * step)
    return x


def _inverse_of_tail(y: Lanes) -> Lanes:
    """The x with erfc(x) = y for y from 0 to 0.5, both without: Halley's method on the logarithm, from the leading term
    exp(-x²) / (√π x).
    """
    logarithm = np.log(y)
    x = np.sqrt(-logarithm - np.log(np.sqrt(-logarithm * math.pi)))
    for _ in range(4):
        scaled, _ = _scaled_tail(x)
        # Near y the difference is exact; far out it is not, but there the result hardly notices.
        excess = np.where(y < 1e-3, np.log(scaled) - x * x - logarithm, np.log1p((_tail(x) - y) / y))
        slope = _TWO_BY_ROOT_PI / scaled
        step = -excess / slope
        x = x - step / (1.0 - 0.5 * step * (slope - 2.0 * x))
    return x


def _erfinv(y: Lanes) -> Lanes:
    size = np.abs(y)
    centre = _inverse_of_small(np.where(size <= 0.5, y, 0.0))
    return np.where(size <= 0.5, centre, np.copysign(_erfcinv_of_half(1.0 - size), y))


def _erfcinv(y: Lanes) -> Lanes:
    return np.where(y > 1.0, -_erfcinv_of_half(2.0 - y), _erfcinv_of_half(y))


def _erfcinv_of_half(y: Lanes) -> Lanes:
    """For y up to 1; infinite at 0, NaN below."""
    is_tail = (y > 0.0) & (y < 0.5)
    tail = _inverse_of_tail(np.where(is_tail, y, 0.25))
    rest = np.where(y == 0.0, np.inf, np.where(y >= 0.5, _inverse_of_small(1.0 - y), np.nan))
    return np.where(is_tail, tail, rest)


def _clamped(a: Lanes) -> Lanes:
    """Cut to -1 … 1; a NaN stays."""
    return np.minimum(np.maximum(a, -1.0), 1.0)


APPROXIMATE: Final[dict[str, Callable[..., Any]]] = {
    "rsqrt": lambda a: 1.0 / np.sqrt(a),
    "cbrt": np.cbrt,
    "pow": np.power,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": lambda a: np.arcsin(_clamped(a)),
    "acos": lambda a: np.arccos(_clamped(a)),
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": _on_arrays(_erf),
    "erfc": _on_arrays(_erfc),
    "erfinv": _on_arrays(_erfinv),
    "erfcinv": _on_arrays(_erfcinv),
}
