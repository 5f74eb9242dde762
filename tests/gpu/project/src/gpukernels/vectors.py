"""Vectors of every length and element type. Written by generate.py: change that, and run it."""

import kbuild as kb

EXPRESSIONS = {}


@kb.kernel
def vec2b_vectors(
    xs: kb.array(dtype=kb.vec2b),
    ys: kb.array(dtype=kb.vec2b),
    ss: kb.array(dtype=kb.int8),
    out: kb.array2d(dtype=kb.vec2b),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec2b_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec2b_scalars(
    xs: kb.array(dtype=kb.vec2b),
    ys: kb.array(dtype=kb.vec2b),
    ss: kb.array(dtype=kb.int8),
    out: kb.array2d(dtype=kb.int8),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec2b_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec2ub_vectors(
    xs: kb.array(dtype=kb.vec2ub),
    ys: kb.array(dtype=kb.vec2ub),
    ss: kb.array(dtype=kb.uint8),
    out: kb.array2d(dtype=kb.vec2ub),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec2ub_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec2ub_scalars(
    xs: kb.array(dtype=kb.vec2ub),
    ys: kb.array(dtype=kb.vec2ub),
    ss: kb.array(dtype=kb.uint8),
    out: kb.array2d(dtype=kb.uint8),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec2ub_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec2s_vectors(
    xs: kb.array(dtype=kb.vec2s),
    ys: kb.array(dtype=kb.vec2s),
    ss: kb.array(dtype=kb.int16),
    out: kb.array2d(dtype=kb.vec2s),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec2s_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec2s_scalars(
    xs: kb.array(dtype=kb.vec2s),
    ys: kb.array(dtype=kb.vec2s),
    ss: kb.array(dtype=kb.int16),
    out: kb.array2d(dtype=kb.int16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec2s_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec2us_vectors(
    xs: kb.array(dtype=kb.vec2us),
    ys: kb.array(dtype=kb.vec2us),
    ss: kb.array(dtype=kb.uint16),
    out: kb.array2d(dtype=kb.vec2us),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec2us_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec2us_scalars(
    xs: kb.array(dtype=kb.vec2us),
    ys: kb.array(dtype=kb.vec2us),
    ss: kb.array(dtype=kb.uint16),
    out: kb.array2d(dtype=kb.uint16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec2us_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec2i_vectors(
    xs: kb.array(dtype=kb.vec2i),
    ys: kb.array(dtype=kb.vec2i),
    ss: kb.array(dtype=int),
    out: kb.array2d(dtype=kb.vec2i),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec2i_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec2i_scalars(
    xs: kb.array(dtype=kb.vec2i),
    ys: kb.array(dtype=kb.vec2i),
    ss: kb.array(dtype=int),
    out: kb.array2d(dtype=int),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec2i_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec2ui_vectors(
    xs: kb.array(dtype=kb.vec2ui),
    ys: kb.array(dtype=kb.vec2ui),
    ss: kb.array(dtype=kb.uint32),
    out: kb.array2d(dtype=kb.vec2ui),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec2ui_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec2ui_scalars(
    xs: kb.array(dtype=kb.vec2ui),
    ys: kb.array(dtype=kb.vec2ui),
    ss: kb.array(dtype=kb.uint32),
    out: kb.array2d(dtype=kb.uint32),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec2ui_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec2l_vectors(
    xs: kb.array(dtype=kb.vec2l),
    ys: kb.array(dtype=kb.vec2l),
    ss: kb.array(dtype=kb.int64),
    out: kb.array2d(dtype=kb.vec2l),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec2l_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec2l_scalars(
    xs: kb.array(dtype=kb.vec2l),
    ys: kb.array(dtype=kb.vec2l),
    ss: kb.array(dtype=kb.int64),
    out: kb.array2d(dtype=kb.int64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec2l_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec2ul_vectors(
    xs: kb.array(dtype=kb.vec2ul),
    ys: kb.array(dtype=kb.vec2ul),
    ss: kb.array(dtype=kb.uint64),
    out: kb.array2d(dtype=kb.vec2ul),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec2ul_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec2ul_scalars(
    xs: kb.array(dtype=kb.vec2ul),
    ys: kb.array(dtype=kb.vec2ul),
    ss: kb.array(dtype=kb.uint64),
    out: kb.array2d(dtype=kb.uint64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec2ul_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec2h_vectors(
    xs: kb.array(dtype=kb.vec2h),
    ys: kb.array(dtype=kb.vec2h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.vec2h),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.normalize(x)


EXPRESSIONS["vec2h_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.normalize(x)",
)


@kb.kernel
def vec2h_scalars(
    xs: kb.array(dtype=kb.vec2h),
    ys: kb.array(dtype=kb.vec2h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.float16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x
    out[7, i] = kb.length(x)


EXPRESSIONS["vec2h_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
    "kb.length(x)",
)


@kb.kernel
def vec2f_vectors(
    xs: kb.array(dtype=kb.vec2f),
    ys: kb.array(dtype=kb.vec2f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=kb.vec2f),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.normalize(x)


EXPRESSIONS["vec2f_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.normalize(x)",
)


@kb.kernel
def vec2f_scalars(
    xs: kb.array(dtype=kb.vec2f),
    ys: kb.array(dtype=kb.vec2f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=float),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x
    out[7, i] = kb.length(x)


EXPRESSIONS["vec2f_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
    "kb.length(x)",
)


@kb.kernel
def vec2d_vectors(
    xs: kb.array(dtype=kb.vec2d),
    ys: kb.array(dtype=kb.vec2d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.vec2d),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.normalize(x)


EXPRESSIONS["vec2d_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.normalize(x)",
)


@kb.kernel
def vec2d_scalars(
    xs: kb.array(dtype=kb.vec2d),
    ys: kb.array(dtype=kb.vec2d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[1]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x
    out[7, i] = kb.length(x)


EXPRESSIONS["vec2d_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[1]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
    "kb.length(x)",
)


@kb.kernel
def vec3b_vectors(
    xs: kb.array(dtype=kb.vec3b),
    ys: kb.array(dtype=kb.vec3b),
    ss: kb.array(dtype=kb.int8),
    out: kb.array2d(dtype=kb.vec3b),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.cross(x, y)


EXPRESSIONS["vec3b_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3b_scalars(
    xs: kb.array(dtype=kb.vec3b),
    ys: kb.array(dtype=kb.vec3b),
    ss: kb.array(dtype=kb.int8),
    out: kb.array2d(dtype=kb.int8),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec3b_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec3ub_vectors(
    xs: kb.array(dtype=kb.vec3ub),
    ys: kb.array(dtype=kb.vec3ub),
    ss: kb.array(dtype=kb.uint8),
    out: kb.array2d(dtype=kb.vec3ub),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.cross(x, y)


EXPRESSIONS["vec3ub_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3ub_scalars(
    xs: kb.array(dtype=kb.vec3ub),
    ys: kb.array(dtype=kb.vec3ub),
    ss: kb.array(dtype=kb.uint8),
    out: kb.array2d(dtype=kb.uint8),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec3ub_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec3s_vectors(
    xs: kb.array(dtype=kb.vec3s),
    ys: kb.array(dtype=kb.vec3s),
    ss: kb.array(dtype=kb.int16),
    out: kb.array2d(dtype=kb.vec3s),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.cross(x, y)


EXPRESSIONS["vec3s_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3s_scalars(
    xs: kb.array(dtype=kb.vec3s),
    ys: kb.array(dtype=kb.vec3s),
    ss: kb.array(dtype=kb.int16),
    out: kb.array2d(dtype=kb.int16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec3s_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec3us_vectors(
    xs: kb.array(dtype=kb.vec3us),
    ys: kb.array(dtype=kb.vec3us),
    ss: kb.array(dtype=kb.uint16),
    out: kb.array2d(dtype=kb.vec3us),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.cross(x, y)


EXPRESSIONS["vec3us_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3us_scalars(
    xs: kb.array(dtype=kb.vec3us),
    ys: kb.array(dtype=kb.vec3us),
    ss: kb.array(dtype=kb.uint16),
    out: kb.array2d(dtype=kb.uint16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec3us_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec3i_vectors(
    xs: kb.array(dtype=kb.vec3i),
    ys: kb.array(dtype=kb.vec3i),
    ss: kb.array(dtype=int),
    out: kb.array2d(dtype=kb.vec3i),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.cross(x, y)


EXPRESSIONS["vec3i_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3i_scalars(
    xs: kb.array(dtype=kb.vec3i),
    ys: kb.array(dtype=kb.vec3i),
    ss: kb.array(dtype=int),
    out: kb.array2d(dtype=int),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec3i_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec3ui_vectors(
    xs: kb.array(dtype=kb.vec3ui),
    ys: kb.array(dtype=kb.vec3ui),
    ss: kb.array(dtype=kb.uint32),
    out: kb.array2d(dtype=kb.vec3ui),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.cross(x, y)


EXPRESSIONS["vec3ui_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3ui_scalars(
    xs: kb.array(dtype=kb.vec3ui),
    ys: kb.array(dtype=kb.vec3ui),
    ss: kb.array(dtype=kb.uint32),
    out: kb.array2d(dtype=kb.uint32),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec3ui_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec3l_vectors(
    xs: kb.array(dtype=kb.vec3l),
    ys: kb.array(dtype=kb.vec3l),
    ss: kb.array(dtype=kb.int64),
    out: kb.array2d(dtype=kb.vec3l),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.cross(x, y)


EXPRESSIONS["vec3l_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3l_scalars(
    xs: kb.array(dtype=kb.vec3l),
    ys: kb.array(dtype=kb.vec3l),
    ss: kb.array(dtype=kb.int64),
    out: kb.array2d(dtype=kb.int64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec3l_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec3ul_vectors(
    xs: kb.array(dtype=kb.vec3ul),
    ys: kb.array(dtype=kb.vec3ul),
    ss: kb.array(dtype=kb.uint64),
    out: kb.array2d(dtype=kb.vec3ul),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.cross(x, y)


EXPRESSIONS["vec3ul_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3ul_scalars(
    xs: kb.array(dtype=kb.vec3ul),
    ys: kb.array(dtype=kb.vec3ul),
    ss: kb.array(dtype=kb.uint64),
    out: kb.array2d(dtype=kb.uint64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec3ul_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec3h_vectors(
    xs: kb.array(dtype=kb.vec3h),
    ys: kb.array(dtype=kb.vec3h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.vec3h),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.normalize(x)
    out[19, i] = kb.cross(x, y)


EXPRESSIONS["vec3h_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.normalize(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3h_scalars(
    xs: kb.array(dtype=kb.vec3h),
    ys: kb.array(dtype=kb.vec3h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.float16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x
    out[7, i] = kb.length(x)


EXPRESSIONS["vec3h_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
    "kb.length(x)",
)


@kb.kernel
def vec3f_vectors(
    xs: kb.array(dtype=kb.vec3f),
    ys: kb.array(dtype=kb.vec3f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=kb.vec3f),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.normalize(x)
    out[19, i] = kb.cross(x, y)


EXPRESSIONS["vec3f_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.normalize(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3f_scalars(
    xs: kb.array(dtype=kb.vec3f),
    ys: kb.array(dtype=kb.vec3f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=float),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x
    out[7, i] = kb.length(x)


EXPRESSIONS["vec3f_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
    "kb.length(x)",
)


@kb.kernel
def vec3d_vectors(
    xs: kb.array(dtype=kb.vec3d),
    ys: kb.array(dtype=kb.vec3d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.vec3d),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.normalize(x)
    out[19, i] = kb.cross(x, y)


EXPRESSIONS["vec3d_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.normalize(x)",
    "kb.cross(x, y)",
)


@kb.kernel
def vec3d_scalars(
    xs: kb.array(dtype=kb.vec3d),
    ys: kb.array(dtype=kb.vec3d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[2]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x
    out[7, i] = kb.length(x)


EXPRESSIONS["vec3d_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[2]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
    "kb.length(x)",
)


@kb.kernel
def vec4b_vectors(
    xs: kb.array(dtype=kb.vec4b),
    ys: kb.array(dtype=kb.vec4b),
    ss: kb.array(dtype=kb.int8),
    out: kb.array2d(dtype=kb.vec4b),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec4b_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec4b_scalars(
    xs: kb.array(dtype=kb.vec4b),
    ys: kb.array(dtype=kb.vec4b),
    ss: kb.array(dtype=kb.int8),
    out: kb.array2d(dtype=kb.int8),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec4b_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec4ub_vectors(
    xs: kb.array(dtype=kb.vec4ub),
    ys: kb.array(dtype=kb.vec4ub),
    ss: kb.array(dtype=kb.uint8),
    out: kb.array2d(dtype=kb.vec4ub),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec4ub_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec4ub_scalars(
    xs: kb.array(dtype=kb.vec4ub),
    ys: kb.array(dtype=kb.vec4ub),
    ss: kb.array(dtype=kb.uint8),
    out: kb.array2d(dtype=kb.uint8),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec4ub_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec4s_vectors(
    xs: kb.array(dtype=kb.vec4s),
    ys: kb.array(dtype=kb.vec4s),
    ss: kb.array(dtype=kb.int16),
    out: kb.array2d(dtype=kb.vec4s),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec4s_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec4s_scalars(
    xs: kb.array(dtype=kb.vec4s),
    ys: kb.array(dtype=kb.vec4s),
    ss: kb.array(dtype=kb.int16),
    out: kb.array2d(dtype=kb.int16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec4s_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec4us_vectors(
    xs: kb.array(dtype=kb.vec4us),
    ys: kb.array(dtype=kb.vec4us),
    ss: kb.array(dtype=kb.uint16),
    out: kb.array2d(dtype=kb.vec4us),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec4us_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec4us_scalars(
    xs: kb.array(dtype=kb.vec4us),
    ys: kb.array(dtype=kb.vec4us),
    ss: kb.array(dtype=kb.uint16),
    out: kb.array2d(dtype=kb.uint16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec4us_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec4i_vectors(
    xs: kb.array(dtype=kb.vec4i),
    ys: kb.array(dtype=kb.vec4i),
    ss: kb.array(dtype=int),
    out: kb.array2d(dtype=kb.vec4i),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec4i_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec4i_scalars(
    xs: kb.array(dtype=kb.vec4i),
    ys: kb.array(dtype=kb.vec4i),
    ss: kb.array(dtype=int),
    out: kb.array2d(dtype=int),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec4i_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec4ui_vectors(
    xs: kb.array(dtype=kb.vec4ui),
    ys: kb.array(dtype=kb.vec4ui),
    ss: kb.array(dtype=kb.uint32),
    out: kb.array2d(dtype=kb.vec4ui),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec4ui_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec4ui_scalars(
    xs: kb.array(dtype=kb.vec4ui),
    ys: kb.array(dtype=kb.vec4ui),
    ss: kb.array(dtype=kb.uint32),
    out: kb.array2d(dtype=kb.uint32),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec4ui_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec4l_vectors(
    xs: kb.array(dtype=kb.vec4l),
    ys: kb.array(dtype=kb.vec4l),
    ss: kb.array(dtype=kb.int64),
    out: kb.array2d(dtype=kb.vec4l),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec4l_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec4l_scalars(
    xs: kb.array(dtype=kb.vec4l),
    ys: kb.array(dtype=kb.vec4l),
    ss: kb.array(dtype=kb.int64),
    out: kb.array2d(dtype=kb.int64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec4l_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec4ul_vectors(
    xs: kb.array(dtype=kb.vec4ul),
    ys: kb.array(dtype=kb.vec4ul),
    ss: kb.array(dtype=kb.uint64),
    out: kb.array2d(dtype=kb.vec4ul),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)


EXPRESSIONS["vec4ul_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
)


@kb.kernel
def vec4ul_scalars(
    xs: kb.array(dtype=kb.vec4ul),
    ys: kb.array(dtype=kb.vec4ul),
    ss: kb.array(dtype=kb.uint64),
    out: kb.array2d(dtype=kb.uint64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x


EXPRESSIONS["vec4ul_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
)


@kb.kernel
def vec4h_vectors(
    xs: kb.array(dtype=kb.vec4h),
    ys: kb.array(dtype=kb.vec4h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.vec4h),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.normalize(x)


EXPRESSIONS["vec4h_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.normalize(x)",
)


@kb.kernel
def vec4h_scalars(
    xs: kb.array(dtype=kb.vec4h),
    ys: kb.array(dtype=kb.vec4h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.float16),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x
    out[7, i] = kb.length(x)


EXPRESSIONS["vec4h_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
    "kb.length(x)",
)


@kb.kernel
def vec4f_vectors(
    xs: kb.array(dtype=kb.vec4f),
    ys: kb.array(dtype=kb.vec4f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=kb.vec4f),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.normalize(x)


EXPRESSIONS["vec4f_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.normalize(x)",
)


@kb.kernel
def vec4f_scalars(
    xs: kb.array(dtype=kb.vec4f),
    ys: kb.array(dtype=kb.vec4f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=float),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x
    out[7, i] = kb.length(x)


EXPRESSIONS["vec4f_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
    "kb.length(x)",
)


@kb.kernel
def vec4d_vectors(
    xs: kb.array(dtype=kb.vec4d),
    ys: kb.array(dtype=kb.vec4d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.vec4d),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    s = ss[i]
    out[0, i] = x + y
    out[1, i] = x - y
    out[2, i] = x * s
    out[3, i] = s * x
    out[4, i] = x / s
    out[5, i] = -x
    out[6, i] = x * s + y
    out[7, i] = y - x * s
    out[8, i] = x * 3
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = kb.abs(x)
    out[12, i] = kb.min(x, y)
    out[13, i] = kb.max(x, y)
    out[14, i] = type(x)(x[3], x[2], x[1], x[0])
    out[15, i] = type(x)(s)
    out[16, i] = type(x)()
    out[17, i] = type(x)(x)
    out[18, i] = kb.normalize(x)


EXPRESSIONS["vec4d_vectors"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x * s + y",
    "y - x * s",
    "x * 3",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "type(x)(x[3], x[2], x[1], x[0])",
    "type(x)(s)",
    "type(x)()",
    "type(x)(x)",
    "kb.normalize(x)",
)


@kb.kernel
def vec4d_scalars(
    xs: kb.array(dtype=kb.vec4d),
    ys: kb.array(dtype=kb.vec4d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    y = ys[i]
    out[0, i] = kb.dot(x, y)
    out[1, i] = kb.length_sq(x)
    out[2, i] = x.x
    out[3, i] = x.y
    out[4, i] = x[3]
    out[5, i] = x[-1]
    out[6, i] = x.x * y.y - x.y * y.x
    out[7, i] = kb.length(x)


EXPRESSIONS["vec4d_scalars"] = (
    "kb.dot(x, y)",
    "kb.length_sq(x)",
    "x.x",
    "x.y",
    "x[3]",
    "x[-1]",
    "x.x * y.y - x.y * y.x",
    "kb.length(x)",
)


FUSED = {
    "x * s + y": "fma(x, s, y)",
    "y - x * s": "fma(-x, s, y)",
    "x.x * y.y - x.y * y.x": "fma(-x.y, y.x, x.x * y.y)",
}
