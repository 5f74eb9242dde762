"""Floating-point arithmetic, comparisons, functions and fusing. Written by generate.py: change that, and run it."""

import kbuild as kb

EXPRESSIONS = {}


@kb.kernel
def arithmetic_float16(
    xs: kb.array(dtype=kb.float16),
    ys: kb.array(dtype=kb.float16),
    zs: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.float16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * y
    out[3, i] = x / y
    out[4, i] = x // y
    out[5, i] = x % y
    out[6, i] = -x
    out[7, i] = +x
    out[8, i] = x + 0.1
    out[9, i] = 1.0 - x
    out[10, i] = x * 3.0
    out[11, i] = 1.0 / x
    out[12, i] = x % 1.5
    out[13, i] = kb.abs(x)
    out[14, i] = kb.min(x, y)
    out[15, i] = kb.max(x, y)
    out[16, i] = kb.where(x < y, x, y)
    out[17, i] = y if x == y else x
    out[18, i] = kb.step(x)
    out[19, i] = kb.clamp(x, y, z)
    out[20, i] = kb.sign(x)
    out[21, i] = kb.nonzero(x)
    out[22, i] = kb.frac(x)
    out[23, i] = kb.degrees(x)
    out[24, i] = kb.radians(x)
    out[25, i] = kb.lerp(x, y, z)
    out[26, i] = x * y + z


EXPRESSIONS["arithmetic_float16"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "-x",
    "+x",
    "x + 0.1",
    "1.0 - x",
    "x * 3.0",
    "1.0 / x",
    "x % 1.5",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
    "kb.sign(x)",
    "kb.nonzero(x)",
    "kb.frac(x)",
    "kb.degrees(x)",
    "kb.radians(x)",
    "kb.lerp(x, y, z)",
    "x * y + z",
)


@kb.kernel
def flags_float16(
    xs: kb.array(dtype=kb.float16),
    ys: kb.array(dtype=kb.float16),
    zs: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=bool),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x == y
    out[1, i] = x != y
    out[2, i] = x < y
    out[3, i] = x <= y
    out[4, i] = x > y
    out[5, i] = x >= y
    out[6, i] = x < y < z
    out[7, i] = bool(x)
    out[8, i] = kb.isnan(x)
    out[9, i] = kb.isinf(x)
    out[10, i] = kb.isfinite(x)


EXPRESSIONS["flags_float16"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "bool(x)",
    "kb.isnan(x)",
    "kb.isinf(x)",
    "kb.isfinite(x)",
)


@kb.kernel
def functions_float16(
    xs: kb.array(dtype=kb.float16),
    ys: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.float16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.sqrt(x)
    out[1, i] = kb.rsqrt(x)
    out[2, i] = kb.cbrt(x)
    out[3, i] = kb.pow(x, y)
    out[4, i] = kb.exp(x)
    out[5, i] = kb.exp2(x)
    out[6, i] = kb.log(x)
    out[7, i] = kb.log2(x)
    out[8, i] = kb.log10(x)
    out[9, i] = kb.sin(x)
    out[10, i] = kb.cos(x)
    out[11, i] = kb.tan(x)
    out[12, i] = kb.asin(x)
    out[13, i] = kb.acos(x)
    out[14, i] = kb.atan(x)
    out[15, i] = kb.atan2(x, y)
    out[16, i] = kb.sinh(x)
    out[17, i] = kb.cosh(x)
    out[18, i] = kb.tanh(x)
    out[19, i] = kb.erf(x)
    out[20, i] = kb.erfc(x)
    out[21, i] = kb.erfinv(x)
    out[22, i] = kb.erfcinv(x)
    out[23, i] = kb.floor(x)
    out[24, i] = kb.ceil(x)
    out[25, i] = kb.trunc(x)
    out[26, i] = kb.round(x)
    out[27, i] = kb.rint(x)
    out[28, i] = kb.copysign(x, y)
    out[29, i] = x**y


EXPRESSIONS["functions_float16"] = (
    "kb.sqrt(x)",
    "kb.rsqrt(x)",
    "kb.cbrt(x)",
    "kb.pow(x, y)",
    "kb.exp(x)",
    "kb.exp2(x)",
    "kb.log(x)",
    "kb.log2(x)",
    "kb.log10(x)",
    "kb.sin(x)",
    "kb.cos(x)",
    "kb.tan(x)",
    "kb.asin(x)",
    "kb.acos(x)",
    "kb.atan(x)",
    "kb.atan2(x, y)",
    "kb.sinh(x)",
    "kb.cosh(x)",
    "kb.tanh(x)",
    "kb.erf(x)",
    "kb.erfc(x)",
    "kb.erfinv(x)",
    "kb.erfcinv(x)",
    "kb.floor(x)",
    "kb.ceil(x)",
    "kb.trunc(x)",
    "kb.round(x)",
    "kb.rint(x)",
    "kb.copysign(x, y)",
    "x**y",
)


@kb.kernel
def arithmetic_float32(
    xs: kb.array(dtype=float),
    ys: kb.array(dtype=float),
    zs: kb.array(dtype=float),
    out: kb.array2d(dtype=float),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * y
    out[3, i] = x / y
    out[4, i] = x // y
    out[5, i] = x % y
    out[6, i] = -x
    out[7, i] = +x
    out[8, i] = x + 0.1
    out[9, i] = 1.0 - x
    out[10, i] = x * 3.0
    out[11, i] = 1.0 / x
    out[12, i] = x % 1.5
    out[13, i] = kb.abs(x)
    out[14, i] = kb.min(x, y)
    out[15, i] = kb.max(x, y)
    out[16, i] = kb.where(x < y, x, y)
    out[17, i] = y if x == y else x
    out[18, i] = kb.step(x)
    out[19, i] = kb.clamp(x, y, z)
    out[20, i] = kb.sign(x)
    out[21, i] = kb.nonzero(x)
    out[22, i] = kb.frac(x)
    out[23, i] = kb.degrees(x)
    out[24, i] = kb.radians(x)


EXPRESSIONS["arithmetic_float32"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "-x",
    "+x",
    "x + 0.1",
    "1.0 - x",
    "x * 3.0",
    "1.0 / x",
    "x % 1.5",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
    "kb.sign(x)",
    "kb.nonzero(x)",
    "kb.frac(x)",
    "kb.degrees(x)",
    "kb.radians(x)",
)


@kb.kernel
def flags_float32(
    xs: kb.array(dtype=float),
    ys: kb.array(dtype=float),
    zs: kb.array(dtype=float),
    out: kb.array2d(dtype=bool),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x == y
    out[1, i] = x != y
    out[2, i] = x < y
    out[3, i] = x <= y
    out[4, i] = x > y
    out[5, i] = x >= y
    out[6, i] = x < y < z
    out[7, i] = bool(x)
    out[8, i] = kb.isnan(x)
    out[9, i] = kb.isinf(x)
    out[10, i] = kb.isfinite(x)


EXPRESSIONS["flags_float32"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "bool(x)",
    "kb.isnan(x)",
    "kb.isinf(x)",
    "kb.isfinite(x)",
)


@kb.kernel
def functions_float32(
    xs: kb.array(dtype=float),
    ys: kb.array(dtype=float),
    out: kb.array2d(dtype=float),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.sqrt(x)
    out[1, i] = kb.rsqrt(x)
    out[2, i] = kb.cbrt(x)
    out[3, i] = kb.pow(x, y)
    out[4, i] = kb.exp(x)
    out[5, i] = kb.exp2(x)
    out[6, i] = kb.log(x)
    out[7, i] = kb.log2(x)
    out[8, i] = kb.log10(x)
    out[9, i] = kb.sin(x)
    out[10, i] = kb.cos(x)
    out[11, i] = kb.tan(x)
    out[12, i] = kb.asin(x)
    out[13, i] = kb.acos(x)
    out[14, i] = kb.atan(x)
    out[15, i] = kb.atan2(x, y)
    out[16, i] = kb.sinh(x)
    out[17, i] = kb.cosh(x)
    out[18, i] = kb.tanh(x)
    out[19, i] = kb.erf(x)
    out[20, i] = kb.erfc(x)
    out[21, i] = kb.erfinv(x)
    out[22, i] = kb.erfcinv(x)
    out[23, i] = kb.floor(x)
    out[24, i] = kb.ceil(x)
    out[25, i] = kb.trunc(x)
    out[26, i] = kb.round(x)
    out[27, i] = kb.rint(x)
    out[28, i] = kb.copysign(x, y)
    out[29, i] = x**y


EXPRESSIONS["functions_float32"] = (
    "kb.sqrt(x)",
    "kb.rsqrt(x)",
    "kb.cbrt(x)",
    "kb.pow(x, y)",
    "kb.exp(x)",
    "kb.exp2(x)",
    "kb.log(x)",
    "kb.log2(x)",
    "kb.log10(x)",
    "kb.sin(x)",
    "kb.cos(x)",
    "kb.tan(x)",
    "kb.asin(x)",
    "kb.acos(x)",
    "kb.atan(x)",
    "kb.atan2(x, y)",
    "kb.sinh(x)",
    "kb.cosh(x)",
    "kb.tanh(x)",
    "kb.erf(x)",
    "kb.erfc(x)",
    "kb.erfinv(x)",
    "kb.erfcinv(x)",
    "kb.floor(x)",
    "kb.ceil(x)",
    "kb.trunc(x)",
    "kb.round(x)",
    "kb.rint(x)",
    "kb.copysign(x, y)",
    "x**y",
)


@kb.kernel
def fused_float32(
    xs: kb.array(dtype=float),
    ys: kb.array(dtype=float),
    zs: kb.array(dtype=float),
    out: kb.array2d(dtype=float),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x + y * z
    out[1, i] = x * y + z
    out[2, i] = x - y * z
    out[3, i] = x * y - z
    out[4, i] = x * y + y * z
    out[5, i] = x * x + y * y + z * z
    out[6, i] = x * y * z + x
    out[7, i] = -(x * y) + z
    out[8, i] = (x + y) * z
    out[9, i] = kb.fma(x, y, z)
    out[10, i] = kb.lerp(x, y, z)


EXPRESSIONS["fused_float32"] = (
    "x + y * z",
    "x * y + z",
    "x - y * z",
    "x * y - z",
    "x * y + y * z",
    "x * x + y * y + z * z",
    "x * y * z + x",
    "-(x * y) + z",
    "(x + y) * z",
    "kb.fma(x, y, z)",
    "kb.lerp(x, y, z)",
)


@kb.kernel(fmad=False)
def unfused_float32(
    xs: kb.array(dtype=float),
    ys: kb.array(dtype=float),
    zs: kb.array(dtype=float),
    out: kb.array2d(dtype=float),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x + y * z
    out[1, i] = x * y + z
    out[2, i] = x - y * z
    out[3, i] = x * y - z
    out[4, i] = x * y + y * z
    out[5, i] = x * x + y * y + z * z
    out[6, i] = x * y * z + x
    out[7, i] = -(x * y) + z
    out[8, i] = (x + y) * z
    out[9, i] = kb.fma(x, y, z)
    out[10, i] = kb.lerp(x, y, z)


EXPRESSIONS["unfused_float32"] = (
    "x + y * z",
    "x * y + z",
    "x - y * z",
    "x * y - z",
    "x * y + y * z",
    "x * x + y * y + z * z",
    "x * y * z + x",
    "-(x * y) + z",
    "(x + y) * z",
    "kb.fma(x, y, z)",
    "kb.lerp(x, y, z)",
)


@kb.kernel
def arithmetic_float64(
    xs: kb.array(dtype=kb.float64),
    ys: kb.array(dtype=kb.float64),
    zs: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * y
    out[3, i] = x / y
    out[4, i] = x // y
    out[5, i] = x % y
    out[6, i] = -x
    out[7, i] = +x
    out[8, i] = x + 0.1
    out[9, i] = 1.0 - x
    out[10, i] = x * 3.0
    out[11, i] = 1.0 / x
    out[12, i] = x % 1.5
    out[13, i] = kb.abs(x)
    out[14, i] = kb.min(x, y)
    out[15, i] = kb.max(x, y)
    out[16, i] = kb.where(x < y, x, y)
    out[17, i] = y if x == y else x
    out[18, i] = kb.step(x)
    out[19, i] = kb.clamp(x, y, z)
    out[20, i] = kb.sign(x)
    out[21, i] = kb.nonzero(x)
    out[22, i] = kb.frac(x)
    out[23, i] = kb.degrees(x)
    out[24, i] = kb.radians(x)


EXPRESSIONS["arithmetic_float64"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "-x",
    "+x",
    "x + 0.1",
    "1.0 - x",
    "x * 3.0",
    "1.0 / x",
    "x % 1.5",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
    "kb.sign(x)",
    "kb.nonzero(x)",
    "kb.frac(x)",
    "kb.degrees(x)",
    "kb.radians(x)",
)


@kb.kernel
def flags_float64(
    xs: kb.array(dtype=kb.float64),
    ys: kb.array(dtype=kb.float64),
    zs: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=bool),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x == y
    out[1, i] = x != y
    out[2, i] = x < y
    out[3, i] = x <= y
    out[4, i] = x > y
    out[5, i] = x >= y
    out[6, i] = x < y < z
    out[7, i] = bool(x)
    out[8, i] = kb.isnan(x)
    out[9, i] = kb.isinf(x)
    out[10, i] = kb.isfinite(x)


EXPRESSIONS["flags_float64"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "bool(x)",
    "kb.isnan(x)",
    "kb.isinf(x)",
    "kb.isfinite(x)",
)


@kb.kernel
def functions_float64(
    xs: kb.array(dtype=kb.float64),
    ys: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.sqrt(x)
    out[1, i] = kb.rsqrt(x)
    out[2, i] = kb.cbrt(x)
    out[3, i] = kb.pow(x, y)
    out[4, i] = kb.exp(x)
    out[5, i] = kb.exp2(x)
    out[6, i] = kb.log(x)
    out[7, i] = kb.log2(x)
    out[8, i] = kb.log10(x)
    out[9, i] = kb.sin(x)
    out[10, i] = kb.cos(x)
    out[11, i] = kb.tan(x)
    out[12, i] = kb.asin(x)
    out[13, i] = kb.acos(x)
    out[14, i] = kb.atan(x)
    out[15, i] = kb.atan2(x, y)
    out[16, i] = kb.sinh(x)
    out[17, i] = kb.cosh(x)
    out[18, i] = kb.tanh(x)
    out[19, i] = kb.erf(x)
    out[20, i] = kb.erfc(x)
    out[21, i] = kb.erfinv(x)
    out[22, i] = kb.erfcinv(x)
    out[23, i] = kb.floor(x)
    out[24, i] = kb.ceil(x)
    out[25, i] = kb.trunc(x)
    out[26, i] = kb.round(x)
    out[27, i] = kb.rint(x)
    out[28, i] = kb.copysign(x, y)
    out[29, i] = x**y


EXPRESSIONS["functions_float64"] = (
    "kb.sqrt(x)",
    "kb.rsqrt(x)",
    "kb.cbrt(x)",
    "kb.pow(x, y)",
    "kb.exp(x)",
    "kb.exp2(x)",
    "kb.log(x)",
    "kb.log2(x)",
    "kb.log10(x)",
    "kb.sin(x)",
    "kb.cos(x)",
    "kb.tan(x)",
    "kb.asin(x)",
    "kb.acos(x)",
    "kb.atan(x)",
    "kb.atan2(x, y)",
    "kb.sinh(x)",
    "kb.cosh(x)",
    "kb.tanh(x)",
    "kb.erf(x)",
    "kb.erfc(x)",
    "kb.erfinv(x)",
    "kb.erfcinv(x)",
    "kb.floor(x)",
    "kb.ceil(x)",
    "kb.trunc(x)",
    "kb.round(x)",
    "kb.rint(x)",
    "kb.copysign(x, y)",
    "x**y",
)


@kb.kernel
def fused_float64(
    xs: kb.array(dtype=kb.float64),
    ys: kb.array(dtype=kb.float64),
    zs: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x + y * z
    out[1, i] = x * y + z
    out[2, i] = x - y * z
    out[3, i] = x * y - z
    out[4, i] = x * y + y * z
    out[5, i] = x * x + y * y + z * z
    out[6, i] = x * y * z + x
    out[7, i] = -(x * y) + z
    out[8, i] = (x + y) * z
    out[9, i] = kb.fma(x, y, z)
    out[10, i] = kb.lerp(x, y, z)


EXPRESSIONS["fused_float64"] = (
    "x + y * z",
    "x * y + z",
    "x - y * z",
    "x * y - z",
    "x * y + y * z",
    "x * x + y * y + z * z",
    "x * y * z + x",
    "-(x * y) + z",
    "(x + y) * z",
    "kb.fma(x, y, z)",
    "kb.lerp(x, y, z)",
)


@kb.kernel(fmad=False)
def unfused_float64(
    xs: kb.array(dtype=kb.float64),
    ys: kb.array(dtype=kb.float64),
    zs: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    out[0, i] = x + y * z
    out[1, i] = x * y + z
    out[2, i] = x - y * z
    out[3, i] = x * y - z
    out[4, i] = x * y + y * z
    out[5, i] = x * x + y * y + z * z
    out[6, i] = x * y * z + x
    out[7, i] = -(x * y) + z
    out[8, i] = (x + y) * z
    out[9, i] = kb.fma(x, y, z)
    out[10, i] = kb.lerp(x, y, z)


EXPRESSIONS["unfused_float64"] = (
    "x + y * z",
    "x * y + z",
    "x - y * z",
    "x * y - z",
    "x * y + y * z",
    "x * x + y * y + z * z",
    "x * y * z + x",
    "-(x * y) + z",
    "(x + y) * z",
    "kb.fma(x, y, z)",
    "kb.lerp(x, y, z)",
)


FUSED = {
    "x + y * z": "fma(y, z, x)",
    "x * y + z": "fma(x, y, z)",
    "x - y * z": "fma(-y, z, x)",
    "x * y - z": "fma(x, y, -z)",
    "x * y + y * z": "fma(y, z, x * y)",
    "x * x + y * y + z * z": "fma(z, z, fma(y, y, x * x))",
    "x * y * z + x": "fma(x * y, z, x)",
    "-(x * y) + z": "-(x * y) + z",
    "(x + y) * z": "(x + y) * z",
    "kb.fma(x, y, z)": "fma(x, y, z)",
    "kb.lerp(x, y, z)": "fma(y, z, x * (1.0 - z))",
}
