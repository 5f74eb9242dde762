"""Which numbers fit a kernel's scalar, and how they are rounded."""

from __future__ import annotations

import operator
import struct

from . import abi
from .errors import describe

_FLOAT_PACK = {"float16": struct.Struct("<e"), "float32": struct.Struct("<f")}


def coerce(scalar: abi.Scalar, value: object) -> object:
    """A number that fits the type without surprise. TypeError: not such a number; OverflowError: out of range."""
    if scalar.kind == "bool":
        if value in (0, 1):
            return bool(value)
        raise TypeError("wanted a bool, got %s" % describe(value))
    if isinstance(value, (str, bytes, bytearray, memoryview)):  # Python's float() would read them as text
        raise TypeError("wanted %s, got %s" % (scalar, describe(value)))
    if scalar.kind == "float":
        return _coerce_float(scalar, value)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError("wanted %s, got %s" % (scalar, describe(value))) from None
    low, high = int_range(scalar)
    if not low <= number <= high:
        raise OverflowError("%d does not fit %s, which holds %d to %d" % (number, scalar, low, high))
    return number


def _coerce_float(scalar: abi.Scalar, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise OverflowError("%s does not fit %s" % (describe(value), scalar)) from None
    except (TypeError, ValueError):
        raise TypeError("wanted %s, got %s" % (scalar, describe(value))) from None
    if abs(number) != float("inf") and abs(round_float(scalar, number)) == float("inf"):
        raise OverflowError("%r does not fit %s" % (number, scalar))
    return number


def int_range(scalar: abi.Scalar) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    bits = 8 * scalar.size
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if scalar.kind == "int" else (0, (1 << bits) - 1)


def round_float(scalar: abi.Scalar, value: float) -> float:
    """The nearest value of the type; infinity beyond its range."""
    pack = _FLOAT_PACK.get(scalar.spelling)
    if pack is None:
        return value
    try:
        return float(pack.unpack(pack.pack(value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
