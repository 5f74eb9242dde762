"""The functions of the kernel language as a host program sees them: `kb.sin`, `kb.dot`, `kb.atomic_add`.

Inside a kernel the name stands for the row of the same name in `kbuild.intrinsics`. On the host the mathematical ones
compute with Python numbers (double precision) and kbuild's vectors and matrices; the others say "inside kernels only".
"""

from __future__ import annotations

import math

from . import factories, rotations, spatial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Builtin:
    """One function of the kernel language."""

    __slots__ = ("_host", "name")
    _kb_builtin_ = True

    def __init__(self, name: str, host: Callable[..., Any] | None = None) -> None:
        self.name, self._host = name, host

    def __repr__(self) -> str:
        return "<kbuild function %s>" % self.name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._host is None:
            raise TypeError("kb.%s works inside kernels only" % self.name)
        return self._host(*arguments, **named)


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    return then if condition else otherwise


def _dot(a: Any, b: Any) -> float:
    return math.fsum(x * y for x, y in zip(a, b))


def _length(v: Any) -> float:
    return math.sqrt(_dot(v, v))


def _normalize(v: Any) -> Any:
    length = _length(v)
    return type(v)(*(x / length for x in v)) if length > 0.0 else type(v)()


def _cross(a: Any, b: Any) -> Any:
    return type(a)(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _elementwise(one: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*values: Any) -> Any:
        if hasattr(values[0], "_kb_type_"):
            return type(values[0])(*(one(*items) for items in zip(*values)))
        return one(*values)

    return apply


def _smaller(a: Any, b: Any) -> Any:
    return b if b < a or a != a else a


def _larger(a: Any, b: Any) -> Any:
    return b if b > a or a != a else a


def _any_count(two: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function of two values as one of two or more."""

    def apply(first: Any, *others: Any) -> Any:
        for other in others:
            first = two(first, other)
        return first

    return apply


def _transpose(m: Any) -> Any:
    return factories.make_matrix_from_cols(*m)


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    """A rounding function with a float as its result; infinities and NaN stay."""

    def apply(x: float) -> float:
        return float(function(x)) if math.isfinite(x) else x

    return apply


def _away_from_zero(x: float) -> int:
    whole = math.trunc(x)
    return whole + (1 if x > 0.0 else -1) if abs(x - whole) >= 0.5 else whole


def _ieee(function: Callable[..., float], pole: float | None = None) -> Callable[..., float]:
    """A function as IEEE has it where Python raises: NaN outside its domain, `pole` at zero, else an infinity."""

    def apply(*arguments: float) -> float:
        try:
            return function(*arguments)
        except (ValueError, ZeroDivisionError):
            return pole if pole is not None and arguments[0] == 0.0 else math.nan
        except OverflowError:
            return math.inf

    return apply


def _sinh(x: float) -> float:
    return math.copysign(_ieee(math.sinh)(abs(x)), x)


_HOST: dict[str, Callable[..., Any]] = {
    "abs": _elementwise(abs),
    "acos": _ieee(math.acos),
    "asin": _ieee(math.asin),
    "atan": math.atan,
    "atan2": math.atan2,
    "cbrt": lambda x: math.copysign(abs(x) ** (1.0 / 3.0), x),
    "ceil": _whole(math.ceil),
    "clamp": lambda x, low, high: min(max(x, low), high),
    "copysign": math.copysign,
    "cos": _ieee(math.cos),
    "cosh": _ieee(math.cosh),
    "cross": _cross,
    "cw_div": _elementwise(lambda a, b: a / b),
    "cw_mul": _elementwise(lambda a, b: a * b),
    "degrees": math.degrees,
    "dot": _dot,
    "erf": math.erf,
    "erfc": math.erfc,
    "exp": _ieee(math.exp),
    "exp2": _ieee(lambda x: 2.0**x),
    "floor": _whole(math.floor),
    "frac": lambda x: x - _whole(math.trunc)(x),
    "isfinite": math.isfinite,
    "isinf": math.isinf,
    "isnan": math.isnan,
    "length": _length,
    "length_sq": lambda v: _dot(v, v),
    "lerp": lambda a, b, t: a * (1.0 - t) + b * t,
    "log": _ieee(math.log, -math.inf),
    "log10": _ieee(math.log10, -math.inf),
    "log2": _ieee(math.log2, -math.inf),
    "max": _any_count(_elementwise(_larger)),
    "min": _any_count(_elementwise(_smaller)),
    "normalize": _normalize,
    "pow": _ieee(math.pow, math.inf),
    "radians": math.radians,
    "rint": _whole(round),
    "round": _whole(_away_from_zero),
    "rsqrt": _ieee(lambda x: 1.0 / math.sqrt(x), math.inf),
    "sign": lambda x: -1.0 if x < 0.0 else 1.0,
    "sin": _ieee(math.sin),
    "sinh": _sinh,
    "sqrt": _ieee(math.sqrt),
    "static": lambda value: value,
    "step": lambda x: 1.0 if x < 0.0 else 0.0,
    "tan": _ieee(math.tan),
    "tanh": math.tanh,
    "transpose": _transpose,
    "trunc": _whole(math.trunc),
    "where": _where,
    **factories.HOST,
    **rotations.HOST,
    **spatial.HOST,
}

_KERNEL_ONLY: tuple[str, ...] = (
    "atomic_add",
    "atomic_cas",
    "atomic_exch",
    "atomic_max",
    "atomic_min",
    "atomic_sub",
    "fma",
    "tid",
)

TABLE: dict[str, Builtin] = {name: Builtin(name, _HOST.get(name)) for name in sorted([*_HOST, *_KERNEL_ONLY])}


def __getattr__(name: str) -> Builtin:
    try:
        return TABLE[name]
    except KeyError:
        raise AttributeError("module %r has no attribute %r" % (__name__, name)) from None
