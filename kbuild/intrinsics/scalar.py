"""Scalar mathematics. Spellings are CUDA's own functions, and `kb_…` where kbuild defines the meaning itself."""

from __future__ import annotations

from kbuild.intrinsics.row import Row
from kbuild.intrinsics.signature import signature
from kbuild.ir.types import SCALARS


def _float_row(name: str, doc: str, parameters: str = "x", result: str = "Float", cuda: str | None = None) -> Row:
    """A row for float32 and float64 with C's names: `sinf` and `sin`, or one overloaded name."""
    names = {"float32": cuda or f"{name}f", "float64": cuda or name}
    text = ", ".join(f"{p}: Float" for p in parameters.split())
    return Row(name, signature(f"({text}) -> {result}"), names, doc)


def _clamped_row(name: str, doc: str) -> Row:
    """A row whose argument kbuild cuts to -1 … 1 first, as Warp does; a NaN stays."""
    return Row(name, signature("(x: Float) -> Float"), dict.fromkeys(("float32", "float64"), f"kb_{name}"), doc)


_NUMBERS = tuple(name for name, type in SCALARS.items() if type.kind in ("int", "uint"))


def _number_row(name: str, doc: str, parameters: str, float_name: str) -> Row:
    """A row for all numbers: C's float functions, kbuild's own for integers."""
    names = {"float32": f"{float_name}f", "float64": float_name} | dict.fromkeys(_NUMBERS, f"kb_{name}")
    text = ", ".join(f"{p}: Number" for p in parameters.split())
    return Row(name, signature(f"({text}) -> Number"), names, doc)


ROWS = (
    _number_row("abs", "Absolute value; the smallest integer stays itself.", "x", "fabs"),
    _number_row("min", "The smaller; a NaN loses.", "a b", "fmin"),
    _number_row("max", "The larger; a NaN loses.", "a b", "fmax"),
    _float_row("sqrt", "Square root, correctly rounded."),
    _float_row("rsqrt", "One over the square root."),
    _float_row("cbrt", "Cube root."),
    _float_row("pow", "x to the power y.", "x y"),
    _float_row("exp", "e to the power x."),
    _float_row("exp2", "2 to the power x."),
    _float_row("log", "Natural logarithm."),
    _float_row("log2", "Logarithm to base 2."),
    _float_row("log10", "Logarithm to base 10."),
    _float_row("sin", "Sine of x [rad]."),
    _float_row("cos", "Cosine of x [rad]."),
    _float_row("tan", "Tangent of x [rad]."),
    _clamped_row("asin", "Arc sine [rad]; x below -1 counts as -1, above 1 as 1."),
    _clamped_row("acos", "Arc cosine [rad]; x below -1 counts as -1, above 1 as 1."),
    _float_row("atan", "Arc tangent [rad]."),
    _float_row("atan2", "Angle of the point (x, y) [rad].", "y x"),
    _float_row("sinh", "Hyperbolic sine."),
    _float_row("cosh", "Hyperbolic cosine."),
    _float_row("tanh", "Hyperbolic tangent."),
    _float_row("erf", "Error function."),
    _float_row("erfc", "1 - erf(x), without cancellation."),
    _float_row("erfinv", "The x whose error function is given; infinite at -1 and 1, NaN beyond."),
    _float_row("erfcinv", "The x whose erfc is given; infinite at 0 and 2, NaN beyond."),
    Row(
        "bit_count",
        signature("(x: Integer) -> Int32"),
        dict.fromkeys(_NUMBERS, "kb_bit_count"),
        "How many bits of x are 1, in its own width (two's complement).",
    ),
    _float_row("floor", "Largest whole number not above x."),
    _float_row("ceil", "Smallest whole number not below x."),
    _float_row("trunc", "The whole part of x."),
    _float_row("round", "Nearest whole number, halves away from zero."),
    _float_row("rint", "Nearest whole number, halves to even."),
    Row(
        "copysign",
        signature("(x: Float, y: Float) -> Float"),
        # float16 on its bits: a NaN that becomes float32 loses its sign.
        {"float16": "kb_copysign", "float32": "copysignf", "float64": "copysign"},
        "The magnitude of x with the sign of y.",
    ),
    _float_row("isnan", "x is not a number.", result="Bool", cuda="isnan"),
    _float_row("isinf", "x is an infinity.", result="Bool", cuda="isinf"),
    _float_row("isfinite", "x is neither an infinity nor NaN.", result="Bool", cuda="isfinite"),
)
