"""Mathematical functions of float64 lanes, with the domains of `numbers.APPROXIMATE`.

NumPy has all but the error function and its relatives. erf and erfc call Python's, lane by lane: polynomials over whole
arrays need so many operations for the last bit that they take as long. The inverses are their own, within 2 units in
the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from kbuild.sim.lanes import Lanes, in_parts


def _by_lane(function: Callable[[float], float]) -> Callable[[Lanes], Lanes]:
    objects = np.frompyfunc(function, 1, 1)

    def apply(a: Lanes) -> Lanes:
        return np.asarray(objects(a), np.float64)[()]

    return apply


_erf = _by_lane(math.erf)
_erfc = _by_lane(math.erfc)

_TWO_BY_ROOT_PI: Final = 2.0 / math.sqrt(math.pi)
_FAR: Final = 1e-280  # above it, erfc has all its bits


def _erfinv(y: Lanes) -> Lanes:
    size = np.abs(y)
    centre = _inverse_of_centre(np.where(size <= 0.5, y, 0.0))
    return np.where(size <= 0.5, centre, np.copysign(_inverse_of_upper(1.0 - size), y))


def _erfcinv(y: Lanes) -> Lanes:
    """Both 1 - y and 2 - y are exact where the other is asked for."""
    upper = _inverse_of_upper(np.where(y > 1.0, 2.0 - y, y))
    return np.where(y > 1.0, -upper, upper)


def _inverse_of_upper(y: Lanes) -> Lanes:
    """The x ≥ 0 with erfc(x) = y, for y up to 1; infinite at 0, NaN below."""
    is_tail = (y > 0.0) & (y < 0.5)
    tail = _inverse_of_tail(np.where(is_tail, y, 0.25))
    centre = _inverse_of_centre(np.where(y >= 0.5, 1.0 - y, 0.0))
    return np.where(is_tail, tail, np.where(y >= 0.5, centre, np.where(y == 0.0, np.inf, np.nan)))


def _inverse_of_centre(y: Lanes) -> Lanes:
    """The x with erf(x) = y, for |y| up to 0.5: three terms of its series (DLMF 7.17.2), then Halley's method."""
    square = math.pi * y * y
    x = y / _TWO_BY_ROOT_PI * (1.0 + square * (1.0 / 12.0 + square * 7.0 / 480.0))
    for _ in range(2):
        step = (_erf(x) - y) * np.exp(x * x) / _TWO_BY_ROOT_PI
        x = x - step / (1.0 + x * step)
    return x


def _inverse_of_tail(y: Lanes) -> Lanes:
    """The x with erfc(x) = y, for y above 0 and below 0.5: Halley's method on the logarithms, from the leading term of
    erfc, exp(-x²) / (√π x).
    """
    logarithm = np.log(y)
    is_far = y < _FAR
    x = np.sqrt(-logarithm - np.log(np.sqrt(-logarithm * math.pi)))
    for _ in range(3):
        tail = _erfc(np.where(is_far, 1.0, x))
        excess = np.where(is_far, _log_erfc_far(x) - logarithm, np.log1p((tail - y) / y))
        slope = np.where(is_far, 2.0 * x + 1.0 / x, _TWO_BY_ROOT_PI * np.exp(-x * x) / tail)
        step = -excess / slope
        x = x - step / (1.0 - 0.5 * step * (slope - 2.0 * x))
    return x


def _log_erfc_far(x: Lanes) -> Lanes:
    """The logarithm of erfc(x) for x > 25: its asymptotic series (DLMF 7.12.1) to the last term that counts."""
    term = -0.5 / (x * x)
    series = term * (1.0 + 3.0 * term * (1.0 + 5.0 * term * (1.0 + 7.0 * term * (1.0 + 9.0 * term))))
    return np.log1p(series) - x * x - np.log(x * math.sqrt(math.pi))


def _on_arrays(function: Callable[[Lanes], Lanes]) -> Callable[[Lanes], Lanes]:
    """The function for scalars, too."""
    in_array = in_parts(function)

    def apply(a: Lanes) -> Lanes:
        return in_array(a) if a.ndim else function(np.array([a]))[0]

    return apply


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
    "erf": _erf,
    "erfc": _erfc,
    "erfinv": _on_arrays(_erfinv),
    "erfcinv": _on_arrays(_erfcinv),
}
