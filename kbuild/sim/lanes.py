"""What values of many lanes are, and the sums and products of them that lose nothing."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

# An array of one value for each lane, or a NumPy scalar: one value for all lanes. Both have the same methods, which no
# type of NumPy's says.
Lanes: TypeAlias = Any


def exact_sum(a: Lanes, b: Lanes) -> tuple[Lanes, Lanes]:
    """`a + b` and the error of that, which is a float, too (Knuth, "The Art of Computer Programming", volume 2, 4.2.2,
    theorem B). An overflow on the way leaves a NaN.
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def exact_product(a: Lanes, b: Lanes) -> tuple[Lanes, Lanes]:
    """`a * b` in float64 and the error of that (Dekker, "A floating-point technique for extending the available
    precision", 1971).

    Holds where the product is zero because a factor is, or at least 2**-960; from 2**996 on, factors leave a NaN.
    """
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Lanes) -> tuple[Lanes, Lanes]:
    """The upper 26 bits of a float64, and the rest."""
    scaled = a * np.float64(2**27 + 1)
    high = scaled - (scaled - a)
    return high, a - high
