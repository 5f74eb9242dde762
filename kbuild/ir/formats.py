"""Formats of what kernels print: text and conversions, as C's printf has them.

    parse("x = %5.2f\\n") → ("x = ", Conversion("", 5, 2, "f"), "\\n")

A conversion says how a value looks. How wide the value is, its type says: `%d` is right for every integer, and the
length modifiers of C (`%lld`) are read and mean nothing. Meaning, where C leaves a choice or has none:
- `d i` print any integer as it is, signed or not; a bool is 0 or 1.
- `u x X o` print the bits of the value's own width: an int8 of -1 is `ff`.
- `f e E g G` print floats of every width, with the digits of the exact value.
- `s` prints a bool as True or False. No format of a kernel's has it; `print` makes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from kbuild.ir.types import BOOL, Type, is_float, is_integer

MAX_ARGUMENTS: Final = 32  # of CUDA's printf
_MAX_DIGITS: Final = 3  # of a width or precision


class Malformed(Exception):
    """A format that kernels do not have; `help` is what to write instead."""

    def __init__(self, reason: str, help: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.help = reason, help


@dataclass(frozen=True, slots=True)
class Conversion:
    """`%5.2f`: flags of `-+ #0`, least width, precision, and the letter that says what is printed how."""

    flags: str
    width: int | None
    precision: int | None
    letter: str

    @property
    def text(self) -> str:
        """As it is written in a format."""
        return f"%{self.size}{self.letter}"

    @property
    def size(self) -> str:
        """All but the letter."""
        width = "" if self.width is None else str(self.width)
        return self.flags + width + ("" if self.precision is None else f".{self.precision}")

    @property
    def wants(self) -> str:
        """What it prints, in words."""
        return "a float" if self.letter in "feEgG" else "an integer"

    def takes(self, type: Type) -> bool:
        """A value of this type can be printed so."""
        if self.letter == "s":
            return type == BOOL
        if self.letter in "feEgG":
            return is_float(type)
        return is_integer(type) or type == BOOL


Piece: TypeAlias = str | Conversion

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|[0-9]*)(?:\.(?P<precision>\*|[0-9]*))?"
    r"(?P<size>hh|h|ll|l|j|z|t|L|q)?(?P<letter>.?)",
    re.DOTALL,
)
_INSTEAD = {
    "": "write %% for a percent sign",
    "s": "write a constant text into the format; kb.printf prints numbers",
    "n": "kernels cannot learn how much was printed",
    "p": "kernels have no pointers",
    "a": "print with %.17g, which loses nothing",
    "A": "print with %.17G, which loses nothing",
    "F": "write %f: CUDA's printf has no %F",
    "r": "kernels have C's conversions, such as %d and %f",
}


def parse(text: str) -> tuple[Piece, ...]:
    """The pieces of a format. Raises Malformed."""
    if "\0" in text:
        raise Malformed("a format cannot hold a zero byte: it would end there")
    pieces: list[Piece] = []
    end = 0
    for match in _CONVERSION.finditer(text):
        pieces.append(text[end : match.start()])
        pieces.append("%" if match[0] == "%%" else _conversion(match))
        end = match.end()
    return joined([*pieces, text[end:]])


def _conversion(match: re.Match[str]) -> Conversion:
    whole, letter = match[0], match["letter"]
    digits = [match["width"], match["precision"] or ""]
    if "*" in digits:
        raise Malformed(f"`{whole}` takes its width from an argument", "write the number into the format: `%8.3f`")
    if letter not in "diuxXocfeEgG" or letter == "":
        help = _INSTEAD.get(letter, "kernels have %d %i %u %x %X %o %c %f %e %E %g %G and %%")
        raise Malformed(f"`{whole}` is no conversion that kernels have", help)
    if any(len(d) > _MAX_DIGITS for d in digits):
        raise Malformed(f"`{whole}` asks for more than 999 characters")
    flags = "".join(flag for flag in "-+ #0" if flag in match["flags"])
    if ("#" in flags and letter in "diuc") or (letter == "c" and (set(flags) - {"-"} or match["precision"])):
        raise Malformed(f"`{whole}` has a flag or precision that `%{letter}` does not take")
    width = int(digits[0]) if digits[0] else None
    return Conversion(flags, width, None if match["precision"] is None else int(digits[1] or "0"), letter)


def joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The same with neighbouring texts as one, and without empty ones."""
    result: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) and result and isinstance(result[-1], str):
            result[-1] += piece
        elif piece != "":
            result.append(piece)
    return tuple(result)


def conversions(pieces: Sequence[Piece]) -> list[Conversion]:
    """Those among the pieces, in order: one for each argument."""
    return [piece for piece in pieces if isinstance(piece, Conversion)]


def text(pieces: Sequence[Piece]) -> str:
    """The format as it is written."""
    return "".join(piece.replace("%", "%%") if isinstance(piece, str) else piece.text for piece in pieces)
