"""What a kernel's `Print` writes, byte for byte: C's printf on Python numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kbuild.errors import InternalError
from kbuild.ir.formats import Conversion, Piece
from kbuild.ir.types import Scalar, Type
from kbuild.sim.numbers import Number

_BASES = {"d": "d", "i": "d", "u": "d", "x": "x", "X": "X", "o": "o"}


def formatted(pieces: Sequence[Piece], arguments: Sequence[tuple[Number, Type]]) -> bytes:
    """The pieces with the arguments (value, type) in the places of the conversions."""
    left = iter(arguments)
    return b"".join(
        piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else _converted(piece, *next(left))
        for piece in pieces
    )


def _converted(conversion: Conversion, value: Number, type: Type) -> bytes:
    if not isinstance(type, Scalar):
        raise InternalError(f"{conversion.text} of {type}")
    if conversion.letter == "s":
        return str(bool(value)).encode()
    if conversion.letter == "c":
        return _padded("", bytes([int(value) & 255]), conversion, zeros=False)
    if conversion.wants == "a float":
        return _float(conversion, float(value))
    return _integer(conversion, int(value), type)


def _integer(conversion: Conversion, value: int, type: Scalar) -> bytes:
    flags, letter, precision = conversion.flags, conversion.letter, conversion.precision
    is_signed = letter in "di" and type.spelling != "uint64"
    if not is_signed:
        value &= (1 << 8 * type.size) - 1
    digits = format(abs(value), _BASES[letter])
    if precision is not None:
        digits = "" if precision == value == 0 else digits.rjust(precision, "0")
    prefix = _sign(value < 0, flags) if is_signed else ""
    if "#" in flags and letter == "o" and not digits.startswith("0"):
        digits = "0" + digits
    elif "#" in flags and letter in "xX" and value:
        prefix = "0" + letter
    return _padded(prefix, digits.encode(), conversion, zeros=precision is None)


def _float(conversion: Conversion, value: float) -> bytes:
    prefix = _sign(math.copysign(1.0, value) < 0.0, conversion.flags)
    if not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf"
        text = text.upper() if conversion.letter.isupper() else text
    else:
        alternate = "#" if "#" in conversion.flags else ""
        precision = 6 if conversion.precision is None else conversion.precision
        text = f"%{alternate}.{precision}{conversion.letter}" % abs(value)
    return _padded(prefix, text.encode(), conversion, zeros=math.isfinite(value))


def _sign(is_negative: bool, flags: str) -> str:
    return "-" if is_negative else "+" if "+" in flags else " " if " " in flags else ""


def _padded(prefix: str, digits: bytes, conversion: Conversion, zeros: bool) -> bytes:
    """Filled up to the width: on the right, with zeros behind the sign, or on the left."""
    missing = max((conversion.width or 0) - len(prefix) - len(digits), 0)
    if "-" in conversion.flags:
        return prefix.encode() + digits + b" " * missing
    if "0" in conversion.flags and zeros:
        return prefix.encode() + b"0" * missing + digits
    return b" " * missing + prefix.encode() + digits
