"""`a * b + c` on many lanes, rounded once.

float16 and float32 compute in the type that holds every product, float32 and float64. The sum is rounded there and once
more to the result, which differs from one rounding only where the first lands on the middle between two results. Only
those lanes sum again, rounded to odd: an inexact sum then ends in a 1, so that it is never the middle (Boldo and
Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). float64 is
their algorithm from the start, without the sum that only their proof needs; lanes where numbers are too small or too
large for it go through fractions.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kbuild.ir.types import FLOAT64, Scalar
from kbuild.sim import numbers
from kbuild.sim.lanes import Lanes, exact_product, exact_sum


def fma(a: Lanes, b: Lanes, c: Lanes, type: Scalar) -> Lanes:
    """`a * b + c` of one floating-point type."""
    if a.ndim == b.ndim == c.ndim == 0:
        return fma(np.array([a]), b, c, type)[0]
    return _double(a, b, c) if type.size == 8 else _narrow(a, b, c, _WIDENED[type.size])


class _Widened:
    """A float, the wider one that holds the products of two, and how the middle between two results looks there."""

    def __init__(self, narrow: type, wide: type, integer: type) -> None:
        self.narrow, self.wide, self.integer = narrow, wide, integer
        dropped = np.finfo(wide).nmant - np.finfo(narrow).nmant
        self.dropped_bits = integer((1 << dropped) - 1)
        self.middle = integer(1 << (dropped - 1))
        self.smallest_normal = np.finfo(narrow).tiny


_WIDENED: Final = {
    2: _Widened(np.float16, np.float32, np.int32),
    4: _Widened(np.float32, np.float64, np.int64),
}


def _narrow(a: Lanes, b: Lanes, c: Lanes, to: _Widened) -> Lanes:
    total = a.astype(to.wide) * b.astype(to.wide) + c.astype(to.wide)
    result: NDArray[Any] = total.astype(to.narrow)
    is_doubtful = (total.view(to.integer) & to.dropped_bits) == to.middle
    # A subnormal result has fewer bits: its middles look different, and there are few of these lanes.
    is_small = np.abs(result) <= to.smallest_normal
    if is_small.any():
        is_doubtful |= is_small & (total != 0)
    lanes = np.flatnonzero(is_doubtful)
    if lanes.size:
        x, y, z = (_chosen(value, lanes).astype(to.wide) for value in (a, b, c))
        result[lanes] = _to_odd(*exact_sum(x * y, z), to.integer).astype(to.narrow)
    return result


def _double(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    product, low = exact_product(a, b)
    total, rest = exact_sum(product, c)
    # Where `total` has lost much to cancellation it is exact: then `rest` is zero and this sum exact, too. Elsewhere
    # `tail` is far below the last bit of the result, and so is the bit by which it is rounded to odd.
    tail = _to_odd(*exact_sum(rest, low), np.int64)
    result: NDArray[Any] = total + tail
    np.copyto(result, total, where=tail == 0)  # a zero keeps the sign of the sum
    is_out_of_reach = ~np.isfinite(result)
    size = np.abs(product)
    if not size.min() >= _SAFE_PRODUCT:
        # `low` may be wrong. It does not matter where a factor is zero, or where c is zero, or so large that it is the
        # result.
        is_out_of_reach |= (size < _SAFE_PRODUCT) & (a != 0) & (b != 0) & (np.abs(c) < _FAR_ABOVE) & (c != 0)
        np.copyto(result, total, where=(size < _SAFE_PRODUCT) & ~is_out_of_reach)
    lanes = np.flatnonzero(is_out_of_reach)
    if lanes.size:
        result[lanes] = _without_limits(*(_chosen(value, lanes) for value in (a, b, c)))
    return result


_SAFE_PRODUCT = np.float64(2.0**-960)  # from here on the error of a product is no smaller than the smallest float64
_FAR_ABOVE = np.float64(2.0**-850)  # and this is so much larger that adding less than that changes nothing


def _to_odd(total: Lanes, error: Lanes, integer: type) -> Lanes:
    """The float that ends in a 1 of the two around an inexact sum, from the nearest one and its error."""
    bits = total.view(integer)
    is_even = (bits & integer(1)) == 0
    away = (bits ^ error.view(integer)) >= 0  # the error has the sign of the total: the next one up in magnitude
    is_inexact = (error < 0) | (error > 0)
    step = np.where(away, integer(1), integer(-1)) * (is_even & is_inexact)
    return (bits + step).view(total.dtype)


def _without_limits(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """By fractions; infinities and NaN as the terms have them."""
    # A finite product that overflows does not meet the infinity of c.
    result: NDArray[Any] = np.where(np.isfinite(a) & np.isfinite(b) & ~np.isfinite(c), c, a * b + c)
    for lane in np.flatnonzero(np.isfinite(a) & np.isfinite(b) & np.isfinite(c)):
        result[lane] = numbers.fma(float(a[lane]), float(b[lane]), float(c[lane]), FLOAT64)
    return result


def _chosen(value: Lanes, lanes: Lanes) -> Lanes:
    """The values of some lanes."""
    return value[lanes] if value.ndim else np.full(lanes.shape, value)
