"""Scalar mathematics. Spellings are CUDA's own functions, and `kb_…` where kbuild defines the meaning itself.

Rules of derivatives (`partials`) are written so that nothing overflows on the way to a result that does not, and so
that a partial that is well-defined is no NaN because another one is not.
"""

from __future__ import annotations

from kbuild.intrinsics.row import Row
from kbuild.intrinsics.signature import signature
from kbuild.ir.types import SCALARS


def _float_row(
    name: str,
    doc: str,
    parameters: str = "x",
    result: str = "Float",
    cuda: str | None = None,
    *,
    ptx: str,
    derivative: str = "yes",
    partials: str = "",
    subgradient: str = "",
) -> Row:
    """A row for float32 and float64 with C's names: `sinf` and `sin`, or one overloaded name."""
    names = {"float32": cuda or f"{name}f", "float64": cuda or name}
    text = ", ".join(f"{p}: Float" for p in parameters.split())
    return Row(
        name,
        signature(f"({text}) -> {result}"),
        names,
        doc,
        ptx=ptx,
        derivative=derivative,
        partials=_rules(partials),
        subgradient=subgradient,
    )


def _clamped_row(name: str, doc: str, *, ptx: str, partials: str) -> Row:
    """A row whose argument kbuild cuts to -1 … 1 first, as Warp does; a NaN stays."""
    names = dict.fromkeys(("float32", "float64"), f"kb_{name}")
    return Row(
        name,
        signature("(x: Float) -> Float"),
        names,
        doc,
        ptx=ptx,
        derivative="parts",
        partials=_rules(partials),
        subgradient="0 at -1 and 1, as beyond them",
    )


_NUMBERS = tuple(name for name, type in SCALARS.items() if type.kind in ("int", "uint"))


def _number_row(name: str, doc: str, parameters: str, float_name: str, *, partials: str, subgradient: str) -> Row:
    """A row for all numbers: C's float functions, kbuild's own for integers."""
    names = {"float32": f"{float_name}f", "float64": float_name} | dict.fromkeys(_NUMBERS, f"kb_{name}")
    text = ", ".join(f"{p}: Number" for p in parameters.split())
    return Row(
        name,
        signature(f"({text}) -> Number"),
        names,
        doc,
        ptx=name,
        derivative="parts",
        partials=_rules(partials),
        subgradient=subgradient,
    )


def _rules(text: str) -> tuple[str, ...]:
    """One for each parameter: `g * x; g * y`."""
    return tuple(text.split("; ")) if text else ()


_TIE = "at a tie the first argument gets all"

ROWS = (
    _number_row(
        "abs",
        "Absolute value; the smallest integer stays itself.",
        "x",
        "fabs",
        partials="g if x > 0.0 else -g if x < 0.0 else 0.0",
        subgradient="0 at 0",
    ),
    _number_row(
        "min",
        "The smaller; a NaN loses.",
        "a b",
        "fmin",
        partials="g if a <= b or isnan(b) else 0.0; 0.0 if a <= b or isnan(b) else g",
        subgradient=_TIE,
    ),
    _number_row(
        "max",
        "The larger; a NaN loses.",
        "a b",
        "fmax",
        partials="g if a >= b or isnan(b) else 0.0; 0.0 if a >= b or isnan(b) else g",
        subgradient=_TIE,
    ),
    _float_row(
        "sqrt",
        "Square root, correctly rounded.",
        ptx="sqrt.rn",
        derivative="parts",
        partials="g / (2.0 * r)",
        subgradient="infinite at 0",
    ),
    _float_row("rsqrt", "One over the square root.", ptx="rsqrt.approx", partials="-0.5 * g * (r / x)"),
    _float_row(
        "cbrt",
        "Cube root.",
        ptx="lg2.approx ex2.approx",
        derivative="parts",
        partials="g / (3.0 * r * r)",
        subgradient="infinite at 0",
    ),
    _float_row(
        "pow",
        "x to the power y.",
        "x y",
        ptx="fma.rn rcp.approx",
        derivative="parts",
        partials="0.0 if y == 0.0 else g * (y * pow(x, y - 1.0)); 0.0 if x <= 0.0 or r == 0.0 else g * (r * log(x))",
        subgradient="0 in y where x is not above 0; at x = 0 in x what y · pow(x, y - 1) is, 0 for y = 0",
    ),
    _float_row("exp", "e to the power x.", ptx="ex2.approx", partials="g * r"),
    _float_row("exp2", "2 to the power x.", ptx="ex2.approx", partials="g * r * 0.6931471805599453"),
    _float_row("log", "Natural logarithm.", ptx="fma.rn", partials="g / x"),
    _float_row("log2", "Logarithm to base 2.", ptx="fma.rn", partials="1.4426950408889634 * g / x"),
    _float_row("log10", "Logarithm to base 10.", ptx="fma.rn", partials="0.4342944819032518 * g / x"),
    _float_row("sin", "Sine of x [rad].", ptx="fma.rn", partials="g * cos(x)"),
    _float_row("cos", "Cosine of x [rad].", ptx="fma.rn", partials="-g * sin(x)"),
    _float_row("tan", "Tangent of x [rad].", ptx="fma.rn rcp.approx", partials="g * (1.0 + r * r)"),
    _clamped_row(
        "asin",
        "Arc sine [rad]; x below -1 counts as -1, above 1 as 1.",
        ptx="fma.rn rsqrt.approx",
        partials="0.0 if abs(x) >= 1.0 else g / sqrt((1.0 - x) * (1.0 + x))",
    ),
    _clamped_row(
        "acos",
        "Arc cosine [rad]; x below -1 counts as -1, above 1 as 1.",
        ptx="fma.rn rsqrt.approx",
        partials="0.0 if abs(x) >= 1.0 else -g / sqrt((1.0 - x) * (1.0 + x))",
    ),
    _float_row("atan", "Arc tangent [rad].", ptx="fma.rn rcp.approx", partials="g / (1.0 + x * x)"),
    _float_row(
        "atan2",
        "Angle of the point (x, y) [rad].",
        "y x",
        ptx="fma.rn div.rn",
        derivative="parts",
        # x / (x² + y²) and -y / (x² + y²), in which the squares may overflow, or vanish.
        partials="0.0 if x == 0.0 and y == 0.0 else"
        " g / (x + y * (y / x)) if abs(x) >= abs(y) else g * (x / y) / (y + x * (x / y)); "
        "0.0 if x == 0.0 and y == 0.0 else"
        " -g * (y / x) / (x + y * (y / x)) if abs(x) >= abs(y) else -g / (y + x * (x / y))",
        subgradient="0 at the origin",
    ),
    _float_row("sinh", "Hyperbolic sine.", ptx="ex2.approx fma.rn", partials="g * cosh(x)"),
    _float_row("cosh", "Hyperbolic cosine.", ptx="ex2.approx", partials="g * sinh(x)"),
    _float_row("tanh", "Hyperbolic tangent.", ptx="ex2.approx rcp.approx", partials="g * ((1.0 - r) * (1.0 + r))"),
    _float_row("erf", "Error function.", ptx="fma.rn ex2.approx", partials="1.1283791670955126 * g * exp(-x * x)"),
    _float_row(
        "erfc",
        "1 - erf(x), without cancellation.",
        ptx="fma.rn ex2.approx",
        partials="-1.1283791670955126 * g * exp(-x * x)",
    ),
    _float_row(
        "erfinv",
        "The x whose error function is given; infinite at -1 and 1, NaN beyond.",
        ptx="lg2.approx fma.rn",
        partials="0.886226925452758 * g * exp(r * r)",
    ),
    _float_row(
        "erfcinv",
        "The x whose erfc is given; infinite at 0 and 2, NaN beyond.",
        ptx="lg2.approx fma.rn",
        partials="-0.886226925452758 * g * exp(r * r)",
    ),
    Row(
        "bit_count",
        signature("(x: Integer) -> Int32"),
        dict.fromkeys(_NUMBERS, "kb_bit_count"),
        "How many bits of x are 1, in its own width (two's complement).",
        ptx="popc",
        derivative="no",
    ),
    _float_row("floor", "Largest whole number not above x.", ptx="cvt.rmi", derivative="no"),
    _float_row("ceil", "Smallest whole number not below x.", ptx="cvt.rpi", derivative="no"),
    _float_row("trunc", "The whole part of x.", ptx="cvt.rzi", derivative="no"),
    _float_row("round", "Nearest whole number, halves away from zero.", ptx="add.rz cvt.rzi", derivative="no"),
    _float_row("rint", "Nearest whole number, halves to even.", ptx="cvt.rni", derivative="no"),
    Row(
        "copysign",
        signature("(x: Float, y: Float) -> Float"),
        # float16 on its bits: a NaN that becomes float32 loses its sign.
        {"float16": "kb_copysign", "float32": "copysignf", "float64": "copysign"},
        "The magnitude of x with the sign of y.",
        ptx="copysign",
        derivative="parts",
        partials=("0.0 if x == 0.0 else g if r == x else -g", "0.0"),
        subgradient="0 in x at 0; in y always",
    ),
    _float_row("isnan", "x is not a number.", result="Bool", cuda="isnan", ptx="setp.gtu", derivative="no"),
    _float_row("isinf", "x is an infinity.", result="Bool", cuda="isinf", ptx="setp.eq", derivative="no"),
    _float_row(
        "isfinite", "x is neither an infinity nor NaN.", result="Bool", cuda="isfinite", ptx="setp.lt", derivative="no"
    ),
)
