"""Float functions one at a time, for a table of their errors. Written by generate.py: change that, and run it."""

import kbuild as kb

EXPRESSIONS = {}


@kb.kernel
def compute_float16(
    xs: kb.array(dtype=kb.float16),
    ys: kb.array(dtype=kb.float16),
    zs: kb.array(dtype=kb.float16),
    out: kb.array(dtype=kb.float16),
    function: int,
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    if function == 0:
        out[i] = kb.sqrt(x)
    elif function == 1:
        out[i] = kb.rsqrt(x)
    elif function == 2:
        out[i] = kb.cbrt(x)
    elif function == 3:
        out[i] = kb.pow(x, y)
    elif function == 4:
        out[i] = kb.exp(x)
    elif function == 5:
        out[i] = kb.exp2(x)
    elif function == 6:
        out[i] = kb.log(x)
    elif function == 7:
        out[i] = kb.log2(x)
    elif function == 8:
        out[i] = kb.log10(x)
    elif function == 9:
        out[i] = kb.sin(x)
    elif function == 10:
        out[i] = kb.cos(x)
    elif function == 11:
        out[i] = kb.tan(x)
    elif function == 12:
        out[i] = kb.asin(x)
    elif function == 13:
        out[i] = kb.acos(x)
    elif function == 14:
        out[i] = kb.atan(x)
    elif function == 15:
        out[i] = kb.atan2(x, y)
    elif function == 16:
        out[i] = kb.sinh(x)
    elif function == 17:
        out[i] = kb.cosh(x)
    elif function == 18:
        out[i] = kb.tanh(x)
    elif function == 19:
        out[i] = kb.erf(x)
    elif function == 20:
        out[i] = kb.erfc(x)
    elif function == 21:
        out[i] = kb.erfinv(x)
    elif function == 22:
        out[i] = kb.erfcinv(x)
    elif function == 23:
        out[i] = kb.floor(x)
    elif function == 24:
        out[i] = kb.ceil(x)
    elif function == 25:
        out[i] = kb.trunc(x)
    elif function == 26:
        out[i] = kb.round(x)
    elif function == 27:
        out[i] = kb.rint(x)
    elif function == 28:
        out[i] = kb.copysign(x, y)
    elif function == 29:
        out[i] = kb.abs(x)
    elif function == 30:
        out[i] = kb.min(x, y)
    elif function == 31:
        out[i] = kb.max(x, y)
    elif function == 32:
        out[i] = kb.add(x, y)
    elif function == 33:
        out[i] = kb.sub(x, y)
    elif function == 34:
        out[i] = kb.mul(x, y)
    elif function == 35:
        out[i] = kb.div(x, y)
    elif function == 36:
        out[i] = kb.mod(x, y)
    elif function == 37:
        out[i] = kb.frac(x)
    elif function == 38:
        out[i] = kb.degrees(x)
    elif function == 39:
        out[i] = kb.radians(x)


EXPRESSIONS["compute_float16"] = (
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
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.add(x, y)",
    "kb.sub(x, y)",
    "kb.mul(x, y)",
    "kb.div(x, y)",
    "kb.mod(x, y)",
    "kb.frac(x)",
    "kb.degrees(x)",
    "kb.radians(x)",
)


@kb.kernel
def compute_float32(
    xs: kb.array(dtype=float),
    ys: kb.array(dtype=float),
    zs: kb.array(dtype=float),
    out: kb.array(dtype=float),
    function: int,
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    if function == 0:
        out[i] = kb.sqrt(x)
    elif function == 1:
        out[i] = kb.rsqrt(x)
    elif function == 2:
        out[i] = kb.cbrt(x)
    elif function == 3:
        out[i] = kb.pow(x, y)
    elif function == 4:
        out[i] = kb.exp(x)
    elif function == 5:
        out[i] = kb.exp2(x)
    elif function == 6:
        out[i] = kb.log(x)
    elif function == 7:
        out[i] = kb.log2(x)
    elif function == 8:
        out[i] = kb.log10(x)
    elif function == 9:
        out[i] = kb.sin(x)
    elif function == 10:
        out[i] = kb.cos(x)
    elif function == 11:
        out[i] = kb.tan(x)
    elif function == 12:
        out[i] = kb.asin(x)
    elif function == 13:
        out[i] = kb.acos(x)
    elif function == 14:
        out[i] = kb.atan(x)
    elif function == 15:
        out[i] = kb.atan2(x, y)
    elif function == 16:
        out[i] = kb.sinh(x)
    elif function == 17:
        out[i] = kb.cosh(x)
    elif function == 18:
        out[i] = kb.tanh(x)
    elif function == 19:
        out[i] = kb.erf(x)
    elif function == 20:
        out[i] = kb.erfc(x)
    elif function == 21:
        out[i] = kb.erfinv(x)
    elif function == 22:
        out[i] = kb.erfcinv(x)
    elif function == 23:
        out[i] = kb.floor(x)
    elif function == 24:
        out[i] = kb.ceil(x)
    elif function == 25:
        out[i] = kb.trunc(x)
    elif function == 26:
        out[i] = kb.round(x)
    elif function == 27:
        out[i] = kb.rint(x)
    elif function == 28:
        out[i] = kb.copysign(x, y)
    elif function == 29:
        out[i] = kb.abs(x)
    elif function == 30:
        out[i] = kb.min(x, y)
    elif function == 31:
        out[i] = kb.max(x, y)
    elif function == 32:
        out[i] = kb.add(x, y)
    elif function == 33:
        out[i] = kb.sub(x, y)
    elif function == 34:
        out[i] = kb.mul(x, y)
    elif function == 35:
        out[i] = kb.div(x, y)
    elif function == 36:
        out[i] = kb.mod(x, y)
    elif function == 37:
        out[i] = kb.frac(x)
    elif function == 38:
        out[i] = kb.degrees(x)
    elif function == 39:
        out[i] = kb.radians(x)
    elif function == 40:
        out[i] = kb.fma(x, y, z)


EXPRESSIONS["compute_float32"] = (
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
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.add(x, y)",
    "kb.sub(x, y)",
    "kb.mul(x, y)",
    "kb.div(x, y)",
    "kb.mod(x, y)",
    "kb.frac(x)",
    "kb.degrees(x)",
    "kb.radians(x)",
    "kb.fma(x, y, z)",
)


@kb.kernel
def compute_float64(
    xs: kb.array(dtype=kb.float64),
    ys: kb.array(dtype=kb.float64),
    zs: kb.array(dtype=kb.float64),
    out: kb.array(dtype=kb.float64),
    function: int,
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    z = zs[i]
    if function == 0:
        out[i] = kb.sqrt(x)
    elif function == 1:
        out[i] = kb.rsqrt(x)
    elif function == 2:
        out[i] = kb.cbrt(x)
    elif function == 3:
        out[i] = kb.pow(x, y)
    elif function == 4:
        out[i] = kb.exp(x)
    elif function == 5:
        out[i] = kb.exp2(x)
    elif function == 6:
        out[i] = kb.log(x)
    elif function == 7:
        out[i] = kb.log2(x)
    elif function == 8:
        out[i] = kb.log10(x)
    elif function == 9:
        out[i] = kb.sin(x)
    elif function == 10:
        out[i] = kb.cos(x)
    elif function == 11:
        out[i] = kb.tan(x)
    elif function == 12:
        out[i] = kb.asin(x)
    elif function == 13:
        out[i] = kb.acos(x)
    elif function == 14:
        out[i] = kb.atan(x)
    elif function == 15:
        out[i] = kb.atan2(x, y)
    elif function == 16:
        out[i] = kb.sinh(x)
    elif function == 17:
        out[i] = kb.cosh(x)
    elif function == 18:
        out[i] = kb.tanh(x)
    elif function == 19:
        out[i] = kb.erf(x)
    elif function == 20:
        out[i] = kb.erfc(x)
    elif function == 21:
        out[i] = kb.erfinv(x)
    elif function == 22:
        out[i] = kb.erfcinv(x)
    elif function == 23:
        out[i] = kb.floor(x)
    elif function == 24:
        out[i] = kb.ceil(x)
    elif function == 25:
        out[i] = kb.trunc(x)
    elif function == 26:
        out[i] = kb.round(x)
    elif function == 27:
        out[i] = kb.rint(x)
    elif function == 28:
        out[i] = kb.copysign(x, y)
    elif function == 29:
        out[i] = kb.abs(x)
    elif function == 30:
        out[i] = kb.min(x, y)
    elif function == 31:
        out[i] = kb.max(x, y)
    elif function == 32:
        out[i] = kb.add(x, y)
    elif function == 33:
        out[i] = kb.sub(x, y)
    elif function == 34:
        out[i] = kb.mul(x, y)
    elif function == 35:
        out[i] = kb.div(x, y)
    elif function == 36:
        out[i] = kb.mod(x, y)
    elif function == 37:
        out[i] = kb.frac(x)
    elif function == 38:
        out[i] = kb.degrees(x)
    elif function == 39:
        out[i] = kb.radians(x)
    elif function == 40:
        out[i] = kb.fma(x, y, z)


EXPRESSIONS["compute_float64"] = (
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
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.add(x, y)",
    "kb.sub(x, y)",
    "kb.mul(x, y)",
    "kb.div(x, y)",
    "kb.mod(x, y)",
    "kb.frac(x)",
    "kb.degrees(x)",
    "kb.radians(x)",
    "kb.fma(x, y, z)",
)
