"""Partial derivatives of the scalar intrinsics, by formula, for the dual numbers of `tests.helpers.duals`.

partials(name, [x, y]) → the derivative by each argument, as functions to be called where it is wanted
at_kink(name, [x, y])  → there is more than one derivative here, or none
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Partial = Callable[..., float]


def _nothing(*_: float) -> float:
    return 0.0


_ROOT = math.sqrt(math.pi) / 2.0


def _inverse_erf(x: float) -> float:
    from kbuild.sim.numbers import inverse_erf

    return _ROOT * math.exp(inverse_erf(x) ** 2)


def _inverse_erfc(x: float) -> float:
    from kbuild.sim.numbers import inverse_erfc

    return -_ROOT * math.exp(inverse_erfc(x) ** 2)


def _power_by_base(x: float, y: float) -> float:
    return 0.0 if y == 0.0 else y * math.pow(x, y - 1.0)


def _inside(slope: Partial) -> Partial:
    """A function whose argument is cut to -1 … 1."""
    return lambda x: slope(x) if abs(x) < 1.0 else 0.0


_PARTIALS: dict[str, tuple[Partial, ...]] = {
    "abs": (lambda x: math.copysign(1.0, x),),
    "min": (lambda a, b: float(a < b or b != b), lambda a, b: float(not (a < b or b != b))),
    "max": (lambda a, b: float(a > b or b != b), lambda a, b: float(not (a > b or b != b))),
    "sqrt": (lambda x: 0.5 / math.sqrt(x),),
    "rsqrt": (lambda x: -0.5 * x**-1.5,),
    "cbrt": (lambda x: abs(x) ** (-2.0 / 3.0) / 3.0,),
    "pow": (_power_by_base, lambda x, y: math.pow(x, y) * math.log(x)),
    "exp": (math.exp,),
    "exp2": (lambda x: math.log(2.0) * 2.0**x,),
    "log": (lambda x: 1.0 / x,),
    "log2": (lambda x: 1.0 / (x * math.log(2.0)),),
    "log10": (lambda x: 1.0 / (x * math.log(10.0)),),
    "sin": (math.cos,),
    "cos": (lambda x: -math.sin(x),),
    "tan": (lambda x: math.cos(x) ** -2,),
    "asin": (_inside(lambda x: ((1.0 - x) * (1.0 + x)) ** -0.5),),
    "acos": (_inside(lambda x: -(((1.0 - x) * (1.0 + x)) ** -0.5)),),
    "atan": (lambda x: 1.0 / (1.0 + x * x),),
    "atan2": (lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
    "sinh": (math.cosh,),
    "cosh": (math.sinh,),
    "tanh": (lambda x: math.cosh(x) ** -2 if abs(x) < 300.0 else 0.0,),
    "erf": (lambda x: math.exp(-x * x) / _ROOT,),
    "erfc": (lambda x: -math.exp(-x * x) / _ROOT,),
    "erfinv": (_inverse_erf,),
    "erfcinv": (_inverse_erfc,),
    "copysign": (lambda x, y: math.copysign(1.0, x) * math.copysign(1.0, y), _nothing),
    "fmod": (lambda a, b: 1.0, lambda a, b: -float(round((a - math.fmod(a, b)) / b))),
} | dict.fromkeys(("floor", "ceil", "trunc", "round", "rint"), (_nothing,))

# Where a function has a corner, a jump or an infinite slope.
_KINKS: dict[str, Callable[..., bool]] = {
    "abs": lambda x: x == 0.0,
    "min": lambda a, b: a == b,
    "max": lambda a, b: a == b,
    "sqrt": lambda x: x == 0.0,
    "cbrt": lambda x: x == 0.0,
    "pow": lambda x, y: x <= 0.0,
    "asin": lambda x: abs(x) == 1.0,
    "acos": lambda x: abs(x) == 1.0,
    "atan2": lambda y, x: x == y == 0.0,
    "copysign": lambda x, y: x == 0.0,
}

STEEP = frozenset({"sqrt", "cbrt", "pow"})  # the slope at the kink is infinite

# Functions in pieces: the piece is part of the path that a run has taken.
PIECES: dict[str, Callable[..., object]] = {
    "abs": lambda x: x < 0.0,
    "min": lambda a, b: a < b,
    "max": lambda a, b: a > b,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": lambda x: math.floor(x + 0.5),
    "rint": round,
    "asin": lambda x: abs(x) < 1.0,
    "acos": lambda x: abs(x) < 1.0,
    "copysign": lambda x, y: (x < 0.0, math.copysign(1.0, y)),
    "fmod": lambda a, b: math.floor((a - math.fmod(a, b)) / b + 0.5),
}


def partials(name: str, values: Sequence[float]) -> list[Callable[[], float]]:
    """The derivatives; a KeyError for a function that has no tangent here."""
    return [_later(partial, values) for partial in _PARTIALS[name]]


def _later(partial: Partial, values: Sequence[float]) -> Callable[[], float]:
    def compute() -> float:
        try:
            result = partial(*values)
            return result if isinstance(result, float) else math.nan  # a power of what is negative is complex
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan

    return compute


def at_kink(name: str, values: Sequence[float]) -> bool:
    kink = _KINKS.get(name)
    return kink is not None and kink(*values)


def piece(name: str, values: Sequence[float]) -> object:
    """Which of a function's pieces the arguments are on; None for a smooth one."""
    function = PIECES.get(name)
    if function is None:
        return None
    try:
        return function(*values)
    except (ValueError, OverflowError, ZeroDivisionError):
        return "nowhere"
