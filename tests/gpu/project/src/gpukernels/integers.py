"""Integer arithmetic, comparisons and functions. Written by generate.py: change that, and run it."""

import kbuild as kb

EXPRESSIONS = {}


@kb.kernel
def arithmetic_int8(
    xs: kb.array(dtype=kb.int8),
    ys: kb.array(dtype=kb.int8),
    zs: kb.array(dtype=kb.int8),
    out: kb.array2d(dtype=kb.int8),
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
    out[6, i] = x << y
    out[7, i] = x >> y
    out[8, i] = x & y
    out[9, i] = x | y
    out[10, i] = x ^ y
    out[11, i] = -x
    out[12, i] = +x
    out[13, i] = ~x
    out[14, i] = x + 7
    out[15, i] = 100 - x
    out[16, i] = x * 3
    out[17, i] = x / 7
    out[18, i] = x % 7
    out[19, i] = x // 16
    out[20, i] = x % 16
    out[21, i] = x / 0
    out[22, i] = x % 0
    out[23, i] = x << 0
    out[24, i] = x << 3
    out[25, i] = x << 7
    out[26, i] = x << 8
    out[27, i] = x >> 0
    out[28, i] = x >> 3
    out[29, i] = x >> 7
    out[30, i] = x >> 8
    out[31, i] = x / -1
    out[32, i] = x % -1
    out[33, i] = x / -7
    out[34, i] = x % -7
    out[35, i] = x << -1
    out[36, i] = x >> -1
    out[37, i] = kb.sign(x)
    out[38, i] = kb.abs(x)
    out[39, i] = kb.min(x, y)
    out[40, i] = kb.max(x, y)
    out[41, i] = kb.min(x, y, z)
    out[42, i] = kb.int8(kb.bit_count(x))
    out[43, i] = kb.nonzero(x)
    out[44, i] = kb.where(x < y, x, y)
    out[45, i] = y if x == y else x
    out[46, i] = kb.step(x)
    out[47, i] = kb.clamp(x, y, z)


EXPRESSIONS["arithmetic_int8"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "x << y",
    "x >> y",
    "x & y",
    "x | y",
    "x ^ y",
    "-x",
    "+x",
    "~x",
    "x + 7",
    "100 - x",
    "x * 3",
    "x / 7",
    "x % 7",
    "x // 16",
    "x % 16",
    "x / 0",
    "x % 0",
    "x << 0",
    "x << 3",
    "x << 7",
    "x << 8",
    "x >> 0",
    "x >> 3",
    "x >> 7",
    "x >> 8",
    "x / -1",
    "x % -1",
    "x / -7",
    "x % -7",
    "x << -1",
    "x >> -1",
    "kb.sign(x)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.min(x, y, z)",
    "kb.int8(kb.bit_count(x))",
    "kb.nonzero(x)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
)


@kb.kernel
def flags_int8(
    xs: kb.array(dtype=kb.int8),
    ys: kb.array(dtype=kb.int8),
    zs: kb.array(dtype=kb.int8),
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
    out[7, i] = x < 3
    out[8, i] = x >= 5
    out[9, i] = bool(x)


EXPRESSIONS["flags_int8"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "x < 3",
    "x >= 5",
    "bool(x)",
)


@kb.kernel
def arithmetic_int16(
    xs: kb.array(dtype=kb.int16),
    ys: kb.array(dtype=kb.int16),
    zs: kb.array(dtype=kb.int16),
    out: kb.array2d(dtype=kb.int16),
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
    out[6, i] = x << y
    out[7, i] = x >> y
    out[8, i] = x & y
    out[9, i] = x | y
    out[10, i] = x ^ y
    out[11, i] = -x
    out[12, i] = +x
    out[13, i] = ~x
    out[14, i] = x + 7
    out[15, i] = 100 - x
    out[16, i] = x * 3
    out[17, i] = x / 7
    out[18, i] = x % 7
    out[19, i] = x // 16
    out[20, i] = x % 16
    out[21, i] = x / 0
    out[22, i] = x % 0
    out[23, i] = x << 0
    out[24, i] = x << 3
    out[25, i] = x << 15
    out[26, i] = x << 16
    out[27, i] = x >> 0
    out[28, i] = x >> 3
    out[29, i] = x >> 15
    out[30, i] = x >> 16
    out[31, i] = x / -1
    out[32, i] = x % -1
    out[33, i] = x / -7
    out[34, i] = x % -7
    out[35, i] = x << -1
    out[36, i] = x >> -1
    out[37, i] = kb.sign(x)
    out[38, i] = kb.abs(x)
    out[39, i] = kb.min(x, y)
    out[40, i] = kb.max(x, y)
    out[41, i] = kb.min(x, y, z)
    out[42, i] = kb.int16(kb.bit_count(x))
    out[43, i] = kb.nonzero(x)
    out[44, i] = kb.where(x < y, x, y)
    out[45, i] = y if x == y else x
    out[46, i] = kb.step(x)
    out[47, i] = kb.clamp(x, y, z)


EXPRESSIONS["arithmetic_int16"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "x << y",
    "x >> y",
    "x & y",
    "x | y",
    "x ^ y",
    "-x",
    "+x",
    "~x",
    "x + 7",
    "100 - x",
    "x * 3",
    "x / 7",
    "x % 7",
    "x // 16",
    "x % 16",
    "x / 0",
    "x % 0",
    "x << 0",
    "x << 3",
    "x << 15",
    "x << 16",
    "x >> 0",
    "x >> 3",
    "x >> 15",
    "x >> 16",
    "x / -1",
    "x % -1",
    "x / -7",
    "x % -7",
    "x << -1",
    "x >> -1",
    "kb.sign(x)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.min(x, y, z)",
    "kb.int16(kb.bit_count(x))",
    "kb.nonzero(x)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
)


@kb.kernel
def flags_int16(
    xs: kb.array(dtype=kb.int16),
    ys: kb.array(dtype=kb.int16),
    zs: kb.array(dtype=kb.int16),
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
    out[7, i] = x < 3
    out[8, i] = x >= 5
    out[9, i] = bool(x)


EXPRESSIONS["flags_int16"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "x < 3",
    "x >= 5",
    "bool(x)",
)


@kb.kernel
def arithmetic_int32(
    xs: kb.array(dtype=int),
    ys: kb.array(dtype=int),
    zs: kb.array(dtype=int),
    out: kb.array2d(dtype=int),
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
    out[6, i] = x << y
    out[7, i] = x >> y
    out[8, i] = x & y
    out[9, i] = x | y
    out[10, i] = x ^ y
    out[11, i] = -x
    out[12, i] = +x
    out[13, i] = ~x
    out[14, i] = x + 7
    out[15, i] = 100 - x
    out[16, i] = x * 3
    out[17, i] = x / 7
    out[18, i] = x % 7
    out[19, i] = x // 16
    out[20, i] = x % 16
    out[21, i] = x / 0
    out[22, i] = x % 0
    out[23, i] = x << 0
    out[24, i] = x << 3
    out[25, i] = x << 31
    out[26, i] = x << 32
    out[27, i] = x >> 0
    out[28, i] = x >> 3
    out[29, i] = x >> 31
    out[30, i] = x >> 32
    out[31, i] = x / -1
    out[32, i] = x % -1
    out[33, i] = x / -7
    out[34, i] = x % -7
    out[35, i] = x << -1
    out[36, i] = x >> -1
    out[37, i] = kb.sign(x)
    out[38, i] = kb.abs(x)
    out[39, i] = kb.min(x, y)
    out[40, i] = kb.max(x, y)
    out[41, i] = kb.min(x, y, z)
    out[42, i] = int(kb.bit_count(x))
    out[43, i] = kb.nonzero(x)
    out[44, i] = kb.where(x < y, x, y)
    out[45, i] = y if x == y else x
    out[46, i] = kb.step(x)
    out[47, i] = kb.clamp(x, y, z)


EXPRESSIONS["arithmetic_int32"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "x << y",
    "x >> y",
    "x & y",
    "x | y",
    "x ^ y",
    "-x",
    "+x",
    "~x",
    "x + 7",
    "100 - x",
    "x * 3",
    "x / 7",
    "x % 7",
    "x // 16",
    "x % 16",
    "x / 0",
    "x % 0",
    "x << 0",
    "x << 3",
    "x << 31",
    "x << 32",
    "x >> 0",
    "x >> 3",
    "x >> 31",
    "x >> 32",
    "x / -1",
    "x % -1",
    "x / -7",
    "x % -7",
    "x << -1",
    "x >> -1",
    "kb.sign(x)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.min(x, y, z)",
    "int(kb.bit_count(x))",
    "kb.nonzero(x)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
)


@kb.kernel
def flags_int32(
    xs: kb.array(dtype=int),
    ys: kb.array(dtype=int),
    zs: kb.array(dtype=int),
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
    out[7, i] = x < 3
    out[8, i] = x >= 5
    out[9, i] = bool(x)


EXPRESSIONS["flags_int32"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "x < 3",
    "x >= 5",
    "bool(x)",
)


@kb.kernel
def arithmetic_int64(
    xs: kb.array(dtype=kb.int64),
    ys: kb.array(dtype=kb.int64),
    zs: kb.array(dtype=kb.int64),
    out: kb.array2d(dtype=kb.int64),
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
    out[6, i] = x << y
    out[7, i] = x >> y
    out[8, i] = x & y
    out[9, i] = x | y
    out[10, i] = x ^ y
    out[11, i] = -x
    out[12, i] = +x
    out[13, i] = ~x
    out[14, i] = x + 7
    out[15, i] = 100 - x
    out[16, i] = x * 3
    out[17, i] = x / 7
    out[18, i] = x % 7
    out[19, i] = x // 16
    out[20, i] = x % 16
    out[21, i] = x / 0
    out[22, i] = x % 0
    out[23, i] = x << 0
    out[24, i] = x << 3
    out[25, i] = x << 63
    out[26, i] = x << 64
    out[27, i] = x >> 0
    out[28, i] = x >> 3
    out[29, i] = x >> 63
    out[30, i] = x >> 64
    out[31, i] = x / -1
    out[32, i] = x % -1
    out[33, i] = x / -7
    out[34, i] = x % -7
    out[35, i] = x << -1
    out[36, i] = x >> -1
    out[37, i] = kb.sign(x)
    out[38, i] = kb.abs(x)
    out[39, i] = kb.min(x, y)
    out[40, i] = kb.max(x, y)
    out[41, i] = kb.min(x, y, z)
    out[42, i] = kb.int64(kb.bit_count(x))
    out[43, i] = kb.nonzero(x)
    out[44, i] = kb.where(x < y, x, y)
    out[45, i] = y if x == y else x
    out[46, i] = kb.step(x)
    out[47, i] = kb.clamp(x, y, z)


EXPRESSIONS["arithmetic_int64"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "x << y",
    "x >> y",
    "x & y",
    "x | y",
    "x ^ y",
    "-x",
    "+x",
    "~x",
    "x + 7",
    "100 - x",
    "x * 3",
    "x / 7",
    "x % 7",
    "x // 16",
    "x % 16",
    "x / 0",
    "x % 0",
    "x << 0",
    "x << 3",
    "x << 63",
    "x << 64",
    "x >> 0",
    "x >> 3",
    "x >> 63",
    "x >> 64",
    "x / -1",
    "x % -1",
    "x / -7",
    "x % -7",
    "x << -1",
    "x >> -1",
    "kb.sign(x)",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.min(x, y, z)",
    "kb.int64(kb.bit_count(x))",
    "kb.nonzero(x)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
)


@kb.kernel
def flags_int64(
    xs: kb.array(dtype=kb.int64),
    ys: kb.array(dtype=kb.int64),
    zs: kb.array(dtype=kb.int64),
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
    out[7, i] = x < 3
    out[8, i] = x >= 5
    out[9, i] = bool(x)


EXPRESSIONS["flags_int64"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "x < 3",
    "x >= 5",
    "bool(x)",
)


@kb.kernel
def arithmetic_uint8(
    xs: kb.array(dtype=kb.uint8),
    ys: kb.array(dtype=kb.uint8),
    zs: kb.array(dtype=kb.uint8),
    out: kb.array2d(dtype=kb.uint8),
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
    out[6, i] = x << y
    out[7, i] = x >> y
    out[8, i] = x & y
    out[9, i] = x | y
    out[10, i] = x ^ y
    out[11, i] = -x
    out[12, i] = +x
    out[13, i] = ~x
    out[14, i] = x + 7
    out[15, i] = 100 - x
    out[16, i] = x * 3
    out[17, i] = x / 7
    out[18, i] = x % 7
    out[19, i] = x // 16
    out[20, i] = x % 16
    out[21, i] = x / 0
    out[22, i] = x % 0
    out[23, i] = x << 0
    out[24, i] = x << 3
    out[25, i] = x << 7
    out[26, i] = x << 8
    out[27, i] = x >> 0
    out[28, i] = x >> 3
    out[29, i] = x >> 7
    out[30, i] = x >> 8
    out[31, i] = kb.abs(x)
    out[32, i] = kb.min(x, y)
    out[33, i] = kb.max(x, y)
    out[34, i] = kb.min(x, y, z)
    out[35, i] = kb.uint8(kb.bit_count(x))
    out[36, i] = kb.nonzero(x)
    out[37, i] = kb.where(x < y, x, y)
    out[38, i] = y if x == y else x
    out[39, i] = kb.step(x)
    out[40, i] = kb.clamp(x, y, z)


EXPRESSIONS["arithmetic_uint8"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "x << y",
    "x >> y",
    "x & y",
    "x | y",
    "x ^ y",
    "-x",
    "+x",
    "~x",
    "x + 7",
    "100 - x",
    "x * 3",
    "x / 7",
    "x % 7",
    "x // 16",
    "x % 16",
    "x / 0",
    "x % 0",
    "x << 0",
    "x << 3",
    "x << 7",
    "x << 8",
    "x >> 0",
    "x >> 3",
    "x >> 7",
    "x >> 8",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.min(x, y, z)",
    "kb.uint8(kb.bit_count(x))",
    "kb.nonzero(x)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
)


@kb.kernel
def flags_uint8(
    xs: kb.array(dtype=kb.uint8),
    ys: kb.array(dtype=kb.uint8),
    zs: kb.array(dtype=kb.uint8),
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
    out[7, i] = x < 3
    out[8, i] = x >= 5
    out[9, i] = bool(x)


EXPRESSIONS["flags_uint8"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "x < 3",
    "x >= 5",
    "bool(x)",
)


@kb.kernel
def arithmetic_uint16(
    xs: kb.array(dtype=kb.uint16),
    ys: kb.array(dtype=kb.uint16),
    zs: kb.array(dtype=kb.uint16),
    out: kb.array2d(dtype=kb.uint16),
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
    out[6, i] = x << y
    out[7, i] = x >> y
    out[8, i] = x & y
    out[9, i] = x | y
    out[10, i] = x ^ y
    out[11, i] = -x
    out[12, i] = +x
    out[13, i] = ~x
    out[14, i] = x + 7
    out[15, i] = 100 - x
    out[16, i] = x * 3
    out[17, i] = x / 7
    out[18, i] = x % 7
    out[19, i] = x // 16
    out[20, i] = x % 16
    out[21, i] = x / 0
    out[22, i] = x % 0
    out[23, i] = x << 0
    out[24, i] = x << 3
    out[25, i] = x << 15
    out[26, i] = x << 16
    out[27, i] = x >> 0
    out[28, i] = x >> 3
    out[29, i] = x >> 15
    out[30, i] = x >> 16
    out[31, i] = kb.abs(x)
    out[32, i] = kb.min(x, y)
    out[33, i] = kb.max(x, y)
    out[34, i] = kb.min(x, y, z)
    out[35, i] = kb.uint16(kb.bit_count(x))
    out[36, i] = kb.nonzero(x)
    out[37, i] = kb.where(x < y, x, y)
    out[38, i] = y if x == y else x
    out[39, i] = kb.step(x)
    out[40, i] = kb.clamp(x, y, z)


EXPRESSIONS["arithmetic_uint16"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "x << y",
    "x >> y",
    "x & y",
    "x | y",
    "x ^ y",
    "-x",
    "+x",
    "~x",
    "x + 7",
    "100 - x",
    "x * 3",
    "x / 7",
    "x % 7",
    "x // 16",
    "x % 16",
    "x / 0",
    "x % 0",
    "x << 0",
    "x << 3",
    "x << 15",
    "x << 16",
    "x >> 0",
    "x >> 3",
    "x >> 15",
    "x >> 16",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.min(x, y, z)",
    "kb.uint16(kb.bit_count(x))",
    "kb.nonzero(x)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
)


@kb.kernel
def flags_uint16(
    xs: kb.array(dtype=kb.uint16),
    ys: kb.array(dtype=kb.uint16),
    zs: kb.array(dtype=kb.uint16),
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
    out[7, i] = x < 3
    out[8, i] = x >= 5
    out[9, i] = bool(x)


EXPRESSIONS["flags_uint16"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "x < 3",
    "x >= 5",
    "bool(x)",
)


@kb.kernel
def arithmetic_uint32(
    xs: kb.array(dtype=kb.uint32),
    ys: kb.array(dtype=kb.uint32),
    zs: kb.array(dtype=kb.uint32),
    out: kb.array2d(dtype=kb.uint32),
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
    out[6, i] = x << y
    out[7, i] = x >> y
    out[8, i] = x & y
    out[9, i] = x | y
    out[10, i] = x ^ y
    out[11, i] = -x
    out[12, i] = +x
    out[13, i] = ~x
    out[14, i] = x + 7
    out[15, i] = 100 - x
    out[16, i] = x * 3
    out[17, i] = x / 7
    out[18, i] = x % 7
    out[19, i] = x // 16
    out[20, i] = x % 16
    out[21, i] = x / 0
    out[22, i] = x % 0
    out[23, i] = x << 0
    out[24, i] = x << 3
    out[25, i] = x << 31
    out[26, i] = x << 32
    out[27, i] = x >> 0
    out[28, i] = x >> 3
    out[29, i] = x >> 31
    out[30, i] = x >> 32
    out[31, i] = kb.abs(x)
    out[32, i] = kb.min(x, y)
    out[33, i] = kb.max(x, y)
    out[34, i] = kb.min(x, y, z)
    out[35, i] = kb.uint32(kb.bit_count(x))
    out[36, i] = kb.nonzero(x)
    out[37, i] = kb.where(x < y, x, y)
    out[38, i] = y if x == y else x
    out[39, i] = kb.step(x)
    out[40, i] = kb.clamp(x, y, z)


EXPRESSIONS["arithmetic_uint32"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "x << y",
    "x >> y",
    "x & y",
    "x | y",
    "x ^ y",
    "-x",
    "+x",
    "~x",
    "x + 7",
    "100 - x",
    "x * 3",
    "x / 7",
    "x % 7",
    "x // 16",
    "x % 16",
    "x / 0",
    "x % 0",
    "x << 0",
    "x << 3",
    "x << 31",
    "x << 32",
    "x >> 0",
    "x >> 3",
    "x >> 31",
    "x >> 32",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.min(x, y, z)",
    "kb.uint32(kb.bit_count(x))",
    "kb.nonzero(x)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
)


@kb.kernel
def flags_uint32(
    xs: kb.array(dtype=kb.uint32),
    ys: kb.array(dtype=kb.uint32),
    zs: kb.array(dtype=kb.uint32),
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
    out[7, i] = x < 3
    out[8, i] = x >= 5
    out[9, i] = bool(x)


EXPRESSIONS["flags_uint32"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "x < 3",
    "x >= 5",
    "bool(x)",
)


@kb.kernel
def arithmetic_uint64(
    xs: kb.array(dtype=kb.uint64),
    ys: kb.array(dtype=kb.uint64),
    zs: kb.array(dtype=kb.uint64),
    out: kb.array2d(dtype=kb.uint64),
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
    out[6, i] = x << y
    out[7, i] = x >> y
    out[8, i] = x & y
    out[9, i] = x | y
    out[10, i] = x ^ y
    out[11, i] = -x
    out[12, i] = +x
    out[13, i] = ~x
    out[14, i] = x + 7
    out[15, i] = 100 - x
    out[16, i] = x * 3
    out[17, i] = x / 7
    out[18, i] = x % 7
    out[19, i] = x // 16
    out[20, i] = x % 16
    out[21, i] = x / 0
    out[22, i] = x % 0
    out[23, i] = x << 0
    out[24, i] = x << 3
    out[25, i] = x << 63
    out[26, i] = x << 64
    out[27, i] = x >> 0
    out[28, i] = x >> 3
    out[29, i] = x >> 63
    out[30, i] = x >> 64
    out[31, i] = kb.abs(x)
    out[32, i] = kb.min(x, y)
    out[33, i] = kb.max(x, y)
    out[34, i] = kb.min(x, y, z)
    out[35, i] = kb.uint64(kb.bit_count(x))
    out[36, i] = kb.nonzero(x)
    out[37, i] = kb.where(x < y, x, y)
    out[38, i] = y if x == y else x
    out[39, i] = kb.step(x)
    out[40, i] = kb.clamp(x, y, z)


EXPRESSIONS["arithmetic_uint64"] = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "x << y",
    "x >> y",
    "x & y",
    "x | y",
    "x ^ y",
    "-x",
    "+x",
    "~x",
    "x + 7",
    "100 - x",
    "x * 3",
    "x / 7",
    "x % 7",
    "x // 16",
    "x % 16",
    "x / 0",
    "x % 0",
    "x << 0",
    "x << 3",
    "x << 63",
    "x << 64",
    "x >> 0",
    "x >> 3",
    "x >> 63",
    "x >> 64",
    "kb.abs(x)",
    "kb.min(x, y)",
    "kb.max(x, y)",
    "kb.min(x, y, z)",
    "kb.uint64(kb.bit_count(x))",
    "kb.nonzero(x)",
    "kb.where(x < y, x, y)",
    "y if x == y else x",
    "kb.step(x)",
    "kb.clamp(x, y, z)",
)


@kb.kernel
def flags_uint64(
    xs: kb.array(dtype=kb.uint64),
    ys: kb.array(dtype=kb.uint64),
    zs: kb.array(dtype=kb.uint64),
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
    out[7, i] = x < 3
    out[8, i] = x >= 5
    out[9, i] = bool(x)


EXPRESSIONS["flags_uint64"] = (
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x < y < z",
    "x < 3",
    "x >= 5",
    "bool(x)",
)
