"""The functions of the kernel language as a host program sees them: `kb.sin`, `kb.dot`, `kb.atomic_add`.

Inside a kernel the name stands for the row of the same name in `kbuild.intrinsics`. On the host the mathematical ones
compute with Python numbers (double precision) and kbuild's vectors and matrices; the others say "inside kernels only".
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Builtin:
    """One function of the kernel language."""

    __slots__ = ("_host", "name")

    def __init__(self, name: str, host: Callable[..., Any] | None = None) -> None:
        self.name, self._host = name, host

    def __repr__(self) -> str:
        return "<kbuild function %s>" % self.name

    def __call__(self, *arguments: Any) -> Any:
        if self._host is None:
            raise TypeError("kb.%s works inside kernels only" % self.name)
        return self._host(*arguments)


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


def _round(x: float) -> float:
    return math.copysign(math.floor(abs(x) + 0.5), x)


def _guarded(function: Callable[[float], float], below: float, at: float) -> Callable[[float], float]:
    """A function as IEEE has it at its pole (`at` for zero) and outside its domain (NaN), where Python raises."""

    def apply(x: float) -> float:
        if x == 0.0 and below == 0.0:
            return at
        return math.nan if x < below else function(x)

    return apply


_HOST: dict[str, Callable[..., Any]] = {
    "abs": _elementwise(abs),
    "acos": math.acos,
    "asin": math.asin,
    "atan": math.atan,
    "atan2": math.atan2,
    "cbrt": lambda x: math.copysign(abs(x) ** (1.0 / 3.0), x),
    "ceil": lambda x: float(math.ceil(x)),
    "clamp": lambda x, low, high: min(max(x, low), high),
    "copysign": math.copysign,
    "cos": math.cos,
    "cosh": math.cosh,
    "cross": _cross,
    "cw_div": _elementwise(lambda a, b: a / b),
    "cw_mul": _elementwise(lambda a, b: a * b),
    "degrees": math.degrees,
    "dot": _dot,
    "erf": math.erf,
    "erfc": math.erfc,
    "exp": math.exp,
    "exp2": lambda x: 2.0**x,
    "floor": lambda x: float(math.floor(x)),
    "frac": lambda x: x - math.trunc(x),
    "isfinite": math.isfinite,
    "isinf": math.isinf,
    "isnan": math.isnan,
    "length": _length,
    "length_sq": lambda v: _dot(v, v),
    "lerp": lambda a, b, t: a * (1.0 - t) + b * t,
    "log": _guarded(math.log, 0.0, -math.inf),
    "log10": _guarded(math.log10, 0.0, -math.inf),
    "log2": _guarded(math.log2, 0.0, -math.inf),
    "max": _elementwise(max),
    "min": _elementwise(min),
    "normalize": _normalize,
    "pow": math.pow,
    "radians": math.radians,
    "rint": lambda x: float(round(x)),
    "round": _round,
    "rsqrt": lambda x: 1.0 / math.sqrt(x),
    "sign": lambda x: -1.0 if x < 0.0 else 1.0,
    "sin": math.sin,
    "sinh": math.sinh,
    "sqrt": math.sqrt,
    "step": lambda x: 1.0 if x < 0.0 else 0.0,
    "tan": math.tan,
    "tanh": math.tanh,
    "transpose": lambda m: m.transpose(),
    "trunc": lambda x: float(math.trunc(x)),
    "where": _where,
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
