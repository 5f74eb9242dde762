"""Every scalar type converted to every other. Written by generate.py: change that, and run it."""

import kbuild as kb

EXPRESSIONS = {}


@kb.kernel
def from_bool(
    xs: kb.array(dtype=bool),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_int8(
    xs: kb.array(dtype=kb.int8),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_int16(
    xs: kb.array(dtype=kb.int16),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_int32(
    xs: kb.array(dtype=int),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_int64(
    xs: kb.array(dtype=kb.int64),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_uint8(
    xs: kb.array(dtype=kb.uint8),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_uint16(
    xs: kb.array(dtype=kb.uint16),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_uint32(
    xs: kb.array(dtype=kb.uint32),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_uint64(
    xs: kb.array(dtype=kb.uint64),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_float16(
    xs: kb.array(dtype=kb.float16),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_float32(
    xs: kb.array(dtype=float),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


@kb.kernel
def from_float64(
    xs: kb.array(dtype=kb.float64),
    to_bool: kb.array(dtype=bool),
    to_int8: kb.array(dtype=kb.int8),
    to_int16: kb.array(dtype=kb.int16),
    to_int32: kb.array(dtype=int),
    to_int64: kb.array(dtype=kb.int64),
    to_uint8: kb.array(dtype=kb.uint8),
    to_uint16: kb.array(dtype=kb.uint16),
    to_uint32: kb.array(dtype=kb.uint32),
    to_uint64: kb.array(dtype=kb.uint64),
    to_float16: kb.array(dtype=kb.float16),
    to_float32: kb.array(dtype=float),
    to_float64: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    x = xs[i]
    to_bool[i] = bool(x)
    to_int8[i] = kb.int8(x)
    to_int16[i] = kb.int16(x)
    to_int32[i] = int(x)
    to_int64[i] = kb.int64(x)
    to_uint8[i] = kb.uint8(x)
    to_uint16[i] = kb.uint16(x)
    to_uint32[i] = kb.uint32(x)
    to_uint64[i] = kb.uint64(x)
    to_float16[i] = kb.float16(x)
    to_float32[i] = float(x)
    to_float64[i] = kb.float64(x)


EXPRESSIONS["conversions"] = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)
