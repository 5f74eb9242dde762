"""Square matrices of every size and element type. Written by generate.py: change that, and run it."""

import kbuild as kb

EXPRESSIONS = {}


@kb.kernel
def mat22h_matrices(
    xs: kb.array(dtype=kb.mat22h),
    ys: kb.array(dtype=kb.mat22h),
    vs: kb.array(dtype=kb.vec2h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.mat22h),
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
    out[6, i] = x @ y
    out[7, i] = x * s + y
    out[8, i] = kb.transpose(x)
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = type(x)(x[1, 0])
    out[12, i] = kb.abs(x)
    out[13, i] = kb.min(x, y)
    out[14, i] = kb.max(x, y)


EXPRESSIONS["mat22h_matrices"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x @ y",
    "x * s + y",
    "kb.transpose(x)",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "type(x)(x[1, 0])",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
)


@kb.kernel
def mat22h_vectors(
    xs: kb.array(dtype=kb.mat22h),
    ys: kb.array(dtype=kb.mat22h),
    vs: kb.array(dtype=kb.vec2h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.vec2h),
):
    i = kb.tid()
    x = xs[i]
    v = vs[i]
    out[0, i] = x @ v
    out[1, i] = x[0]
    out[2, i] = x[1] + v
    out[3, i] = kb.transpose(x)[0]


EXPRESSIONS["mat22h_vectors"] = (
    "x @ v",
    "x[0]",
    "x[1] + v",
    "kb.transpose(x)[0]",
)


@kb.kernel
def mat22f_matrices(
    xs: kb.array(dtype=kb.mat22f),
    ys: kb.array(dtype=kb.mat22f),
    vs: kb.array(dtype=kb.vec2f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=kb.mat22f),
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
    out[6, i] = x @ y
    out[7, i] = x * s + y
    out[8, i] = kb.transpose(x)
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = type(x)(x[1, 0])
    out[12, i] = kb.abs(x)
    out[13, i] = kb.min(x, y)
    out[14, i] = kb.max(x, y)


EXPRESSIONS["mat22f_matrices"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x @ y",
    "x * s + y",
    "kb.transpose(x)",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "type(x)(x[1, 0])",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
)


@kb.kernel
def mat22f_vectors(
    xs: kb.array(dtype=kb.mat22f),
    ys: kb.array(dtype=kb.mat22f),
    vs: kb.array(dtype=kb.vec2f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=kb.vec2f),
):
    i = kb.tid()
    x = xs[i]
    v = vs[i]
    out[0, i] = x @ v
    out[1, i] = x[0]
    out[2, i] = x[1] + v
    out[3, i] = kb.transpose(x)[0]


EXPRESSIONS["mat22f_vectors"] = (
    "x @ v",
    "x[0]",
    "x[1] + v",
    "kb.transpose(x)[0]",
)


@kb.kernel
def mat22d_matrices(
    xs: kb.array(dtype=kb.mat22d),
    ys: kb.array(dtype=kb.mat22d),
    vs: kb.array(dtype=kb.vec2d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.mat22d),
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
    out[6, i] = x @ y
    out[7, i] = x * s + y
    out[8, i] = kb.transpose(x)
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = type(x)(x[1, 0])
    out[12, i] = kb.abs(x)
    out[13, i] = kb.min(x, y)
    out[14, i] = kb.max(x, y)


EXPRESSIONS["mat22d_matrices"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x @ y",
    "x * s + y",
    "kb.transpose(x)",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "type(x)(x[1, 0])",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
)


@kb.kernel
def mat22d_vectors(
    xs: kb.array(dtype=kb.mat22d),
    ys: kb.array(dtype=kb.mat22d),
    vs: kb.array(dtype=kb.vec2d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.vec2d),
):
    i = kb.tid()
    x = xs[i]
    v = vs[i]
    out[0, i] = x @ v
    out[1, i] = x[0]
    out[2, i] = x[1] + v
    out[3, i] = kb.transpose(x)[0]


EXPRESSIONS["mat22d_vectors"] = (
    "x @ v",
    "x[0]",
    "x[1] + v",
    "kb.transpose(x)[0]",
)


@kb.kernel
def mat33h_matrices(
    xs: kb.array(dtype=kb.mat33h),
    ys: kb.array(dtype=kb.mat33h),
    vs: kb.array(dtype=kb.vec3h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.mat33h),
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
    out[6, i] = x @ y
    out[7, i] = x * s + y
    out[8, i] = kb.transpose(x)
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = type(x)(x[1, 0])
    out[12, i] = kb.abs(x)
    out[13, i] = kb.min(x, y)
    out[14, i] = kb.max(x, y)


EXPRESSIONS["mat33h_matrices"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x @ y",
    "x * s + y",
    "kb.transpose(x)",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "type(x)(x[1, 0])",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
)


@kb.kernel
def mat33h_vectors(
    xs: kb.array(dtype=kb.mat33h),
    ys: kb.array(dtype=kb.mat33h),
    vs: kb.array(dtype=kb.vec3h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.vec3h),
):
    i = kb.tid()
    x = xs[i]
    v = vs[i]
    out[0, i] = x @ v
    out[1, i] = x[0]
    out[2, i] = x[2] + v
    out[3, i] = kb.transpose(x)[0]


EXPRESSIONS["mat33h_vectors"] = (
    "x @ v",
    "x[0]",
    "x[2] + v",
    "kb.transpose(x)[0]",
)


@kb.kernel
def mat33f_matrices(
    xs: kb.array(dtype=kb.mat33f),
    ys: kb.array(dtype=kb.mat33f),
    vs: kb.array(dtype=kb.vec3f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=kb.mat33f),
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
    out[6, i] = x @ y
    out[7, i] = x * s + y
    out[8, i] = kb.transpose(x)
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = type(x)(x[1, 0])
    out[12, i] = kb.abs(x)
    out[13, i] = kb.min(x, y)
    out[14, i] = kb.max(x, y)


EXPRESSIONS["mat33f_matrices"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x @ y",
    "x * s + y",
    "kb.transpose(x)",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "type(x)(x[1, 0])",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
)


@kb.kernel
def mat33f_vectors(
    xs: kb.array(dtype=kb.mat33f),
    ys: kb.array(dtype=kb.mat33f),
    vs: kb.array(dtype=kb.vec3f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=kb.vec3f),
):
    i = kb.tid()
    x = xs[i]
    v = vs[i]
    out[0, i] = x @ v
    out[1, i] = x[0]
    out[2, i] = x[2] + v
    out[3, i] = kb.transpose(x)[0]


EXPRESSIONS["mat33f_vectors"] = (
    "x @ v",
    "x[0]",
    "x[2] + v",
    "kb.transpose(x)[0]",
)


@kb.kernel
def mat33d_matrices(
    xs: kb.array(dtype=kb.mat33d),
    ys: kb.array(dtype=kb.mat33d),
    vs: kb.array(dtype=kb.vec3d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.mat33d),
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
    out[6, i] = x @ y
    out[7, i] = x * s + y
    out[8, i] = kb.transpose(x)
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = type(x)(x[1, 0])
    out[12, i] = kb.abs(x)
    out[13, i] = kb.min(x, y)
    out[14, i] = kb.max(x, y)


EXPRESSIONS["mat33d_matrices"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x @ y",
    "x * s + y",
    "kb.transpose(x)",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "type(x)(x[1, 0])",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
)


@kb.kernel
def mat33d_vectors(
    xs: kb.array(dtype=kb.mat33d),
    ys: kb.array(dtype=kb.mat33d),
    vs: kb.array(dtype=kb.vec3d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.vec3d),
):
    i = kb.tid()
    x = xs[i]
    v = vs[i]
    out[0, i] = x @ v
    out[1, i] = x[0]
    out[2, i] = x[2] + v
    out[3, i] = kb.transpose(x)[0]


EXPRESSIONS["mat33d_vectors"] = (
    "x @ v",
    "x[0]",
    "x[2] + v",
    "kb.transpose(x)[0]",
)


@kb.kernel
def mat44h_matrices(
    xs: kb.array(dtype=kb.mat44h),
    ys: kb.array(dtype=kb.mat44h),
    vs: kb.array(dtype=kb.vec4h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.mat44h),
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
    out[6, i] = x @ y
    out[7, i] = x * s + y
    out[8, i] = kb.transpose(x)
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = type(x)(x[1, 0])
    out[12, i] = kb.abs(x)
    out[13, i] = kb.min(x, y)
    out[14, i] = kb.max(x, y)


EXPRESSIONS["mat44h_matrices"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x @ y",
    "x * s + y",
    "kb.transpose(x)",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "type(x)(x[1, 0])",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
)


@kb.kernel
def mat44h_vectors(
    xs: kb.array(dtype=kb.mat44h),
    ys: kb.array(dtype=kb.mat44h),
    vs: kb.array(dtype=kb.vec4h),
    ss: kb.array(dtype=kb.float16),
    out: kb.array2d(dtype=kb.vec4h),
):
    i = kb.tid()
    x = xs[i]
    v = vs[i]
    out[0, i] = x @ v
    out[1, i] = x[0]
    out[2, i] = x[3] + v
    out[3, i] = kb.transpose(x)[0]


EXPRESSIONS["mat44h_vectors"] = (
    "x @ v",
    "x[0]",
    "x[3] + v",
    "kb.transpose(x)[0]",
)


@kb.kernel
def mat44f_matrices(
    xs: kb.array(dtype=kb.mat44f),
    ys: kb.array(dtype=kb.mat44f),
    vs: kb.array(dtype=kb.vec4f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=kb.mat44f),
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
    out[6, i] = x @ y
    out[7, i] = x * s + y
    out[8, i] = kb.transpose(x)
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = type(x)(x[1, 0])
    out[12, i] = kb.abs(x)
    out[13, i] = kb.min(x, y)
    out[14, i] = kb.max(x, y)


EXPRESSIONS["mat44f_matrices"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x @ y",
    "x * s + y",
    "kb.transpose(x)",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "type(x)(x[1, 0])",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
)


@kb.kernel
def mat44f_vectors(
    xs: kb.array(dtype=kb.mat44f),
    ys: kb.array(dtype=kb.mat44f),
    vs: kb.array(dtype=kb.vec4f),
    ss: kb.array(dtype=float),
    out: kb.array2d(dtype=kb.vec4f),
):
    i = kb.tid()
    x = xs[i]
    v = vs[i]
    out[0, i] = x @ v
    out[1, i] = x[0]
    out[2, i] = x[3] + v
    out[3, i] = kb.transpose(x)[0]


EXPRESSIONS["mat44f_vectors"] = (
    "x @ v",
    "x[0]",
    "x[3] + v",
    "kb.transpose(x)[0]",
)


@kb.kernel
def mat44d_matrices(
    xs: kb.array(dtype=kb.mat44d),
    ys: kb.array(dtype=kb.mat44d),
    vs: kb.array(dtype=kb.vec4d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.mat44d),
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
    out[6, i] = x @ y
    out[7, i] = x * s + y
    out[8, i] = kb.transpose(x)
    out[9, i] = kb.cw_mul(x, y)
    out[10, i] = kb.cw_div(x, y)
    out[11, i] = type(x)(x[1, 0])
    out[12, i] = kb.abs(x)
    out[13, i] = kb.min(x, y)
    out[14, i] = kb.max(x, y)


EXPRESSIONS["mat44d_matrices"] = (
    "x + y",
    "x - y",
    "x * s",
    "s * x",
    "x / s",
    "-x",
    "x @ y",
    "x * s + y",
    "kb.transpose(x)",
    "kb.cw_mul(x, y)",
    "kb.cw_div(x, y)",
    "type(x)(x[1, 0])",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
)


@kb.kernel
def mat44d_vectors(
    xs: kb.array(dtype=kb.mat44d),
    ys: kb.array(dtype=kb.mat44d),
    vs: kb.array(dtype=kb.vec4d),
    ss: kb.array(dtype=kb.float64),
    out: kb.array2d(dtype=kb.vec4d),
):
    i = kb.tid()
    x = xs[i]
    v = vs[i]
    out[0, i] = x @ v
    out[1, i] = x[0]
    out[2, i] = x[3] + v
    out[3, i] = kb.transpose(x)[0]


EXPRESSIONS["mat44d_vectors"] = (
    "x @ v",
    "x[0]",
    "x[3] + v",
    "kb.transpose(x)[0]",
)


FUSED = {
    "x * s + y": "fma(x, s, y)",
}
