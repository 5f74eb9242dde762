"""Short functions of the kernel language that a host program needs rarely, and what `host_library` is made of.

Imported with the first call of one of them. `host_library` holds the longer algorithms, written down from those of
`kbuild.intrinsics`.
"""

from __future__ import annotations

import bisect
import math
import operator
import struct

from . import abi, builtins, factories
from .scalars import round_float
from .values import convert as _to_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What `host_library` is made of

_PAIR = struct.Struct("<d"), struct.Struct("<q")


def convert(spelling: str, value: Any) -> Any:
    """A number as another scalar type."""
    return _to_type(abi.SCALARS[spelling], value)


def copied(value: list[Any]) -> list[Any]:
    """A vector or matrix of its own."""
    return [list(row) for row in value] if isinstance(value[0], list) else list(value)


def rounded(value: float) -> float:
    """The nearest float32."""
    return round_float(abi.FLOAT32, value)


def int32(value: int) -> int:
    """The low 32 bits, signed."""
    return ((value + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def divide(a: Any, b: Any) -> Any:
    """A quotient: of integers towards zero, and zero where b is; of floats as IEEE has it."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a:
        return math.nan
    return math.copysign(math.inf, math.copysign(1.0, a) * math.copysign(1.0, b))


def remainder(a: Any, b: Any) -> Any:
    """What a division leaves, with the sign of a."""
    if isinstance(a, int) and isinstance(b, int):
        return a - divide(a, b) * b
    return math.nan if b == 0.0 or math.isinf(a) else math.fmod(a, b)


def fused(a: float, b: float, c: float) -> float:
    """`a * b + c` of float32 numbers, rounded once.

    The product is exact in double precision. The sum is rounded to odd there, which makes the second rounding right
    (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE
    Transactions on Computers 57(4), 2008).
    """
    product = a * b
    total = product + c
    if math.isfinite(total):
        part = total - product
        error = (product - (total - part)) + (c - part)
        if error != 0.0:
            double, whole = _PAIR
            bits = whole.unpack(double.pack(total))[0]
            if not bits & 1:
                total = double.unpack(whole.pack(bits + (1 if (error > 0.0) == (total > 0.0) else -1)))[0]
    return rounded(total)


def intrinsic(name: str) -> Callable[..., Any]:
    """The host's function of a name."""
    return builtins.HOST[name]


# Short functions


def fma(a: Any, b: Any, c: Any) -> Any:
    """`a * b + c`, rounded once: of Python numbers in double precision, of vectors and matrices element by element."""
    if hasattr(a, "__len__"):
        one = fused if _element(a) == abi.FLOAT32 else _fma
        numbers = [_numbers(part) if hasattr(part, "__len__") else None for part in (a, b, c)]
        factors = numbers[1] or [b] * len(numbers[0] or ())
        return type(a)(*map(one, numbers[0] or (), factors, numbers[2] or ()))
    return _fma(a, b, c)


def _numbers(value: Any) -> list[Any]:
    """The elements of a vector or matrix, row by row."""
    return [number for row in value for number in (row if hasattr(row, "__len__") else (row,))]


def _fma(a: float, b: float, c: float) -> float:
    a, b, c = float(a), float(b), float(c)
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c if not math.isfinite(c) or not (math.isfinite(a) and math.isfinite(b)) else c
    from fractions import Fraction

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # the sign of a zero sum follows the signs of its terms
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _element(value: Any) -> abi.Scalar:
    element: abi.Scalar = value._kb_type_.element
    return element


def _matrix(rows: list[Any], element: abi.Scalar) -> Any:
    return factories.matrix((len(rows), len(rows[0])), element)(*(number for row in rows for number in row))


def identity(n: int, dtype: Any) -> Any:
    one = factories.matrix((n, n), dtype)
    return one(*(1 if i == j else 0 for i in range(n) for j in range(n)))


def diag(v: Any) -> Any:
    return _matrix([[x if i == j else 0 for j in range(len(v))] for i, x in enumerate(v)], _element(v))


def get_diag(m: Any) -> Any:
    return factories.vector(len(m), _element(m))(*(m[i][i] for i in range(len(m))))


def trace(m: Any) -> Any:
    return math.fsum(m[i][i] for i in range(len(m))) if _is_float(m) else sum(m[i][i] for i in range(len(m)))


def _is_float(value: Any) -> bool:
    return _element(value).kind == "float"


def outer(a: Any, b: Any) -> Any:
    if _element(a) != _element(b):
        raise TypeError("kb.outer of vectors of %s and %s" % (_element(a), _element(b)))
    return _matrix([[_to_type(_element(a), x * y) for y in b] for x in a], _element(a))


def skew(v: Any) -> Any:
    x, y, z = v
    return factories.matrix((3, 3), _element(v))(0, -z, y, z, 0, -x, -y, x, 0)


def ddot(a: Any, b: Any) -> Any:
    products = [x * y for row, other in zip(a, b) for x, y in zip(row, other)]
    return math.fsum(products) if _is_float(a) else sum(products)


def _square(v: Any) -> float:
    return math.fsum(x * x for x in v)


def norm_l1(v: Any) -> Any:
    return math.fsum(map(abs, v)) if _is_float(v) else sum(map(abs, v))


def norm_l2(v: Any) -> float:
    return math.sqrt(_square(v))


def norm_huber(v: Any, delta: float = 1.0) -> float:
    square = _square(v)
    return 0.5 * square if square <= delta * delta else delta * (math.sqrt(square) - 0.5 * delta)


def norm_pseudo_huber(v: Any, delta: float = 1.0) -> float:
    return delta * math.sqrt(1.0 + divide(_square(v), delta * delta))


def smooth_normalize(v: Any, delta: float = 1.0) -> Any:
    norm = norm_pseudo_huber(v, delta)
    return type(v)(*(divide(x, norm) for x in v))


def argmin(v: Any) -> int:
    best = 0
    for i in range(1, len(v)):
        if v[i] < v[best]:
            best = i
    return best


def argmax(v: Any) -> int:
    best = 0
    for i in range(1, len(v)):
        if v[i] > v[best]:
            best = i
    return best


_HALF_ROOT_PI = math.sqrt(math.pi) / 2.0


def erfinv(x: float) -> float:
    """By Newton's method, on erfc where erf comes near one."""
    if not abs(x) <= 0.5:
        return -erfcinv(1.0 + x) if x < 0.0 else erfcinv(1.0 - x)
    y = x
    for _ in range(30):
        y -= (math.erf(y) - x) * math.exp(y * y) * _HALF_ROOT_PI
    return y


def erfcinv(x: float) -> float:
    """By Newton's method on the logarithm of erfc, which is nearly a parabola."""
    if not 0.0 < x < 2.0:
        return {0.0: math.inf, 2.0: -math.inf}.get(x, math.nan)
    if x > 1.0:
        return -erfcinv(2.0 - x)
    y = 1.0 - x if x > 0.5 else min(math.sqrt(-math.log(x)), 26.5)  # erfc is zero beyond
    for _ in range(60):
        tail = math.erfc(y)
        y += (math.log(tail) - math.log(x)) * tail * math.exp(y * y) * _HALF_ROOT_PI
    return y


def lower_bound(arr: Any, *bounds_and_value: Any) -> int:
    """`lower_bound(arr, value)` or `lower_bound(arr, begin, end, value)`; an array on a GPU is copied first."""
    items = arr.tolist() if hasattr(arr, "_kb_array_") else arr
    if len(bounds_and_value) == 1:
        return bisect.bisect_left(items, bounds_and_value[0])
    begin, end, value = bounds_and_value
    return bisect.bisect_left(items, value, begin, max(begin, end))


# Random numbers


class RandomState:
    """The state of random numbers on the host, which a drawn number advances; also a number, for a kernel's uint32."""

    __slots__ = ("_value",)

    def __init__(self, value: int) -> None:
        self._value = operator.index(value) & 0xFFFFFFFF

    def __index__(self) -> int:
        return self._value

    __int__ = __index__

    def __eq__(self, other: object) -> bool:
        return self._value == (other._value if isinstance(other, RandomState) else other)

    def advance(self, value: int) -> None:
        """Puts the next state in place of this one."""
        self._value = value

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return "<kb random state %d>" % self._value


HOST: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        argmax,
        argmin,
        ddot,
        diag,
        erfcinv,
        erfinv,
        fma,
        get_diag,
        identity,
        lower_bound,
        norm_huber,
        norm_l1,
        norm_l2,
        norm_pseudo_huber,
        outer,
        skew,
        smooth_normalize,
        trace,
    )
}
