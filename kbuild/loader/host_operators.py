"""Quotients and remainders of vectors and matrices on the host, element by element as kernels compute them."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from . import abi


def quotients(element: abi.Scalar, left: Iterable[Any], right: Iterable[Any]) -> list[Any]:
    """IEEE division, or that of integers towards zero; by an integer zero it is zero."""
    one = _float_quotient if element.kind == "float" else _integer_quotient
    return [one(a, b) for a, b in zip(left, right)]


def remainders(element: abi.Scalar, left: Iterable[Any], right: Iterable[Any]) -> list[Any]:
    """What division towards zero leaves, with the sign of the left side; of an integer zero it is the left side."""
    one = _float_remainder if element.kind == "float" else _integer_remainder
    return [one(a, b) for a, b in zip(left, right)]


def _float_quotient(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a:
        return math.nan
    return math.copysign(math.inf, math.copysign(1.0, a) * math.copysign(1.0, b))


def _float_remainder(a: float, b: float) -> float:
    return math.nan if b == 0.0 or math.isinf(a) else math.fmod(a, b)


def _integer_quotient(a: int, b: int) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _integer_remainder(a: int, b: int) -> int:
    return a - _integer_quotient(a, b) * b
