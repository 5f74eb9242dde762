"""`a * b + c` on many lanes, rounded once: by the processor's instruction (`hardware`), or by passes over arrays.

float16 and float32 compute in the type that holds every product, float32 and float64. The sum is rounded there and once
more to the result, which differs from one rounding only where the first lands on the middle between two results. A
float64 is the sum of the two parts of the product and c. Lanes where a middle is met sum again, rounded to odd: an
inexact sum then ends in a 1, so that it is never the middle (Boldo and Melquiond, "Emulation of FMA and correctly
rounded sums: proved algorithms using rounding to odd", 2008). float64 lanes with numbers too small or too large for
exact products go through fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kbuild.ir.types import FLOAT64, Scalar
from kbuild.sim import hardware, numbers
from kbuild.sim.lanes import PART, Lanes, exact_product, exact_sum, in_parts


def fma(a: Lanes, b: Lanes, c: Lanes, type: Scalar, signs: int = 0) -> Lanes:
    """`a * b + c` of one floating-point type; with `signs` of `hardware`, the product or c has the other one."""
    if a.ndim == b.ndim == c.ndim == 0:
        return fma(np.array([a]), b, c, type, signs)[0]
    if type.size > 2:
        found = hardware.fma(a, b, c, signs)
        if found is not None:
            return found
    if signs & hardware.MINUS_PRODUCT:
        a = -a
    return by_passes(a, b, -c if signs & hardware.MINUS_C else c, type)


def by_passes(a: Lanes, b: Lanes, c: Lanes, type: Scalar) -> Lanes:
    """The same with what NumPy has. At least one of the three is an array."""
    return _double(a, b, c) if type.size == 8 else _narrow(a, b, c, to=_WIDENED[type.size])


class _Widened:
    """A float, the wider one that holds the products of two, and how the middle between two results looks there."""

    def __init__(self, narrow: type, wide: type, integer: type) -> None:
        self.narrow, self.wide, self.integer = narrow, wide, integer
        # What rounding drops is the middle when its first bit is 1, and no other: shifted up, the smallest integer.
        self.kept_bits = integer(np.iinfo(integer).bits - (np.finfo(wide).nmant - np.finfo(narrow).nmant))
        self.middle = integer(np.iinfo(integer).min)
        self.smallest_normal = np.finfo(narrow).tiny


_WIDENED: Final = {
    2: _Widened(np.float16, np.float32, np.int32),
    4: _Widened(np.float32, np.float64, np.int64),
}


_PART = 4 * PART  # few arrays, so that each may be longer, and looking into lanes in doubt is not done as often


def _narrow(a: Lanes, b: Lanes, c: Lanes, to: _Widened) -> Lanes:
    count = max(value.size for value in (a, b, c) if value.ndim)
    result = np.empty(count, to.narrow)
    terms = [value if value.ndim else to.wide(value) for value in (a, b, c)]
    # Room for all parts: small enough for the cache, and asked for once.
    size = min(count, _PART)
    room = np.empty(size, to.wide), np.empty(size, to.wide), np.empty(size, to.integer), np.empty(size, bool)
    for start in range(0, count, _PART):
        end = min(start + _PART, count)
        x, y, z = (value[start:end] if value.ndim else value for value in terms)
        _narrow_part(x, y, z, result[start:end], room if end - start == size else [r[: end - start] for r in room], to)
    return result


def _narrow_part(x: Lanes, y: Lanes, z: Lanes, result: NDArray[Any], room: Sequence[Any], to: _Widened) -> None:
    """Into `result`. `room` is overwritten: two arrays of the wide type, one of its bits, one of truth values."""
    total, wide, bits, is_doubtful = room
    np.copyto(total, x)
    np.copyto(wide, y)
    np.multiply(total, wide, out=total)
    np.copyto(wide, z)
    np.add(total, wide, out=total)
    np.copyto(result, total, casting="same_kind")
    np.left_shift(total.view(to.integer), to.kept_bits, out=bits)
    has_middle = bits.min() == to.middle
    # A subnormal result has fewer bits: its middles look different, and there are few of these lanes.
    size = np.abs(result)
    has_small = not size.min() > to.smallest_normal  # or a NaN
    if not (has_middle or has_small):
        return
    np.equal(bits, to.middle, out=is_doubtful)
    if has_small:
        is_doubtful |= (size <= to.smallest_normal) & (total != 0)
    if is_doubtful.any():
        lanes = np.flatnonzero(is_doubtful)
        p, q, r = (_chosen(value, lanes).astype(to.wide) for value in (x, y, z))
        nearest, error = exact_sum(p * q, r)
        if error.any():  # else sums are what they look like, as of factors with few bits
            result[lanes] = _to_odd(nearest, error, to.integer).astype(to.narrow)


@in_parts
def _double(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    product, low = exact_product(a, b)
    total, rest = exact_sum(product, c)
    tail = rest + low
    result = total + tail
    # The result can be wrong where it was the middle that was rounded, so that the error is half a bit, a power of two,
    # and where the tail was rounded before. That takes a rest, and so a total that is not much smaller than its terms.
    error = tail - (result - total)
    is_middle = ((error.view(np.int64) & _FRACTION) == 0) & (error != 0)
    if is_middle.any():
        lanes = np.flatnonzero(is_middle)
        result[lanes] = total[lanes] + _to_odd(*exact_sum(rest[lanes], _chosen(low, lanes)), np.int64)
    is_zero = result == 0
    if is_zero.any():
        np.copyto(result, total, where=is_zero)  # which has the sign of the sum of two zeros
    size = np.abs(product)
    is_small = size < _SAFE_PRODUCT
    is_settled = np.isfinite(result)
    if is_small.any():
        # `low` may be wrong, which matters unless a factor is zero, or c is, or c is so large that it is the result.
        is_small &= (a != 0) & (b != 0)
        np.copyto(result, product, where=is_small & (c == 0))
        is_settled &= ~is_small | (c == 0) | (np.abs(c) >= _FAR_ABOVE)
    if not is_settled.all():
        lanes = np.flatnonzero(~is_settled)
        result[lanes] = _without_limits(*(_chosen(value, lanes) for value in (a, b, c)))
    return result


_FRACTION = np.int64((1 << 52) - 1)
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
