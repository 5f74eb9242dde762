"""Types and constants in CUDA C."""

from __future__ import annotations

import math
import struct

from kbuild.errors import InternalError
from kbuild.ir.types import FLOAT16, FLOAT32, Array, IndexedArray, Matrix, Scalar, Type, Vector

SCALAR_NAMES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float16": "kb_half",
    "float32": "float",
    "float64": "double",
}
_SUFFIXES = {
    "bool": "p",
    "int8": "b",
    "int16": "s",
    "int32": "i",
    "int64": "l",
    "uint8": "ub",
    "uint16": "us",
    "uint32": "ui",
    "uint64": "ul",
    "float16": "h",
    "float32": "f",
    "float64": "d",
}


def composite_name(type: Vector | Matrix) -> str:
    """`vec3f`, `quatf`, `mat3x3f`."""
    suffix = _SUFFIXES[type.element.spelling]
    if isinstance(type, Vector) and type.kind != "vec":
        return f"{type.kind}{suffix}"
    if isinstance(type, Vector):
        return f"vec{type.length}{suffix}"
    return f"mat{type.rows}x{type.columns}{suffix}"


def unsigned_name(type: Scalar) -> str:
    """The unsigned type in which an integer type's arithmetic wraps: at least 32 bits wide."""
    return "unsigned long long" if type.size == 8 else "unsigned int"


def cast(type: Scalar, text: str) -> str:
    """`(type)(text)`."""
    return f"({SCALAR_NAMES[type.spelling]})({text})"


def constant(value: bool | int | float, type: Type) -> str:
    """A scalar constant that means exactly this value."""
    if not isinstance(type, Scalar):
        raise InternalError(f"constant of type {type}")
    if type.kind == "bool":
        return "true" if value else "false"
    if type.kind == "float":
        return _float(float(value), type)
    return _integer(int(value), type)


def _integer(value: int, type: Scalar) -> str:
    if type.size < 4:
        return f"({SCALAR_NAMES[type.spelling]}){value}" if value >= 0 else f"({SCALAR_NAMES[type.spelling]})({value})"
    suffix = {"int32": "", "int64": "ll", "uint32": "u", "uint64": "ull"}[type.spelling]
    smallest = -(1 << (8 * type.size - 1))
    if value == smallest and type.kind == "int":
        return f"({value + 1}{suffix} - 1)"
    return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"


def _float(value: float, type: Scalar) -> str:
    if type == FLOAT16:
        return f"kb_half{{0x{struct.unpack('<H', struct.pack('<e', value))[0]:04x}}}"
    if not math.isfinite(value):
        return _special(value, type)
    text = _shortest(value) if type == FLOAT32 else repr(value)
    if "." not in text and "e" not in text:
        text += ".0"
    text += "f" if type == FLOAT32 else ""
    return f"({text})" if text.startswith("-") else text


def _shortest(value: float) -> str:
    """The shortest decimal that reads back as this float32."""
    for digits in range(1, 10):
        decimal = float(f"{value:.{digits}g}")
        if struct.unpack("f", struct.pack("f", decimal))[0] == value:
            return repr(decimal)
    return repr(value)


def _special(value: float, type: Scalar) -> str:
    if type == FLOAT32:
        bits = 0x7FC00000 if math.isnan(value) else 0x7F800000 if value > 0 else 0xFF800000
        return f"__uint_as_float(0x{bits:x}u)"
    wide = 0x7FF8 if math.isnan(value) else 0x7FF0 if value > 0 else 0xFFF0
    return f"__longlong_as_double(0x{wide:x}000000000000ull)"


def array_name(type: Array, element: str) -> str:
    """`kb_array2<float>`, `kb_indexed2<float>`."""
    return f"kb_{'indexed' if isinstance(type, IndexedArray) else 'array'}{type.ndim}<{element}>"
