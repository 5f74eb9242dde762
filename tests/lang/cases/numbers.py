"""Numbers that do not fit, types that do not mix, operators that do not take them."""

import kbuild as kb

BIG = 3_000_000_000


@kb.kernel
def too_large(a: kb.array(dtype=kb.int8), b: kb.array(dtype=int), c: kb.array(dtype=kb.uint8), h: kb.array(dtype=kb.float16)):
    a[0] = 128  # E: KB122 must be int8, and 128 is none
    a[1] = -129  # E: KB122 use a larger type
    b[0] = 2147483648  # E: KB122 int32
    b[1] = BIG  # E: KB122 3000000000
    c[0] = -1  # E: KB122 must be uint8
    c[1] = c[1] + 256  # E: KB122 the right side must be uint8
    c[2] = 300 - c[2]  # E: KB122 the left side
    x = 4294967296  # E: KB122 must be int32
    y = kb.int8(200)  # E: KB122 -128 … 127
    z = kb.uint32(-1)  # E: KB122 does not fit uint32
    h[0] = 100000.0  # E: KB122 must be float16
    w = kb.int32(1e30)  # E: KB122 does not fit int32
    f = 1e60  # E: KB122 must be float32
    b[2] = x + y + z + w + f


@kb.kernel
def fractions(b: kb.array(dtype=int), f: kb.array(dtype=float), i: int):
    b[0] = 1.5  # E: KB122 write a whole number, or convert: `kb.int32(1.5)`
    b[1] = b[1] + 0.5  # E: KB122 must be int32
    b[f[0]] = 1  # E: KB140 an index must be an integer
    b[1.0] = 1  # E: KB122 an index must be int32
    f[0] = 16777217  # E: KB122 must be float32
    i += 2.5  # E: KB122 the right side


@kb.kernel
def no_value(b: kb.array(dtype=int), f: kb.array(dtype=float)):
    b[0] = 1 // 0  # E: KB122 has no value
    b[1] = 5 % 0  # E: KB122 has no value
    f[0] = 1.0 / 0.0  # E: KB122 has no value
    b[2] = 1 << -1  # E: KB122 has no value
    b[3] = 1 << 1000  # E: KB122 out of range
    f[1] = (-2.0) ** 0.5  # E: KB122 out of range
    b[4] = 1.5 << 2  # E: KB122 has no value
    b[5] = 10**10**10  # E: KB122 out of range
    b[6] = 1 << 1_000_000_000_000  # E: KB122 out of range
    f[2] = 10.0**400  # E: KB122 has no value
    b[7] = ~1.5  # E: KB121 takes integers


@kb.kernel
def mixed(f: kb.array(dtype=float), d: kb.array(dtype=kb.float64), i: int, u: kb.uint32, b: bool, v: kb.vec3, m: kb.mat33):
    x = f[0] * i  # E: KB120 convert it: `kb.float32(…)`
    #   ^^^^^^^^
    d[0] = f[0]  # E: KB120 must be float64, not float32
    y = i + u  # E: KB120 between int32 and uint32
    z = f[0] + d[0]  # E: KB120 between float32 and float64
    w = v * v  # E: KB120 kb.cw_mul(a, b)
    s = v + 1.0  # E: KB120 between vec3[float32] and float32
    t = m * kb.vec2(1.0)  # E: KB120 between mat3x3[float32] and vec2[float32]
    r = v @ v  # E: KB120 it takes matrices and vectors of one element type
    q = v * d[0]  # E: KB120 between
    p = d[0] / v  # E: KB120 between float64 and vec3[float32]
    o = m / m  # E: KB120 kb.cw_div(a, b)
    n = i if b else f[0]  # E: KB120 a conditional expression of
    if i < u:  # E: KB120 a comparison of int32 and uint32
        f[1] = x + y + z + w + s + t + r + q + p + o + n


@kb.kernel
def not_taken(f: kb.array(dtype=float), i: int, b: bool, v: kb.vec3):
    x = b + i  # E: KB121 does not take bool
    y = b & b  # E: KB121 use `and`, `or`, `not`
    z = f[0] << 1.0  # E: KB121 takes integers
    w = i ** i  # E: KB121 `**` takes floating-point
    s = f + 1  # E: KB121 there is no arithmetic between array1[float32]
    t = ~f[0]  # E: KB121 takes integers
    r = -b  # E: KB121 does not take bool
    q = v < v  # E: KB121 cannot be compared
    p = +f  # E: KB121 does not take array1
    o = f + f  # E: KB121 does not take array1
    n = v & v  # E: KB120 `&` between
    k = v % f[0]  # E: KB120 `%` between
    l = ~v  # E: KB121 takes integers
    m = b < 1  # E: KB122 must be bool
    f[0] = x + y + z + w + s + t + r + q + p + o + n + m + k + l


@kb.kernel
def conditions(f: kb.array(dtype=float), v: kb.vec3):
    if v:  # E: KB123 compare it with something
        f[0] = 1.0
    while v:  # E: KB123 no truth value
        f[0] = 1.0
    x = not v  # E: KB123 no truth value
    y = f[0] > 1.0 and v  # E: KB123 no truth value
    f[1] = float(x) + float(y)
