"""The three binary formats as bit patterns: IEEE 754 float16, float32, float64. Standard library only.

FORMATS["float32"].value(0x3F800000) → 1.0        FORMATS["float32"].round(Fraction(1, 3)) → 0x3EAAAAAB
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """`precision` counts the hidden bit; `code` is struct's letter of the number, `word` that of its bits."""

    name: str
    code: str
    word: str
    size: int
    precision: int
    largest_exponent: int

    @property
    def width(self) -> int:
        return 8 * self.size

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (self.width - 1)

    @property
    def infinity(self) -> int:
        return (1 << (self.width - 1)) - (1 << (self.precision - 1))

    @property
    def least_exponent(self) -> int:
        """Exponent of the smallest subnormal number."""
        return 2 - self.largest_exponent - self.precision

    def value(self, bits: int) -> float:
        """The number of a pattern."""
        number: float = struct.unpack("<" + self.code, bits.to_bytes(self.size, "little"))[0]
        return number

    def values(self, data: bytes) -> tuple[float, ...]:
        """The numbers of many patterns, in little-endian order."""
        return struct.unpack(f"<{len(data) // self.size}{self.code}", data)

    def pack(self, patterns: list[int]) -> bytes:
        """Patterns one after the other, in little-endian order."""
        return struct.pack(f"<{len(patterns)}{self.word}", *patterns)

    def unpack(self, data: bytes) -> tuple[int, ...]:
        """The opposite of `pack`."""
        return struct.unpack(f"<{len(data) // self.size}{self.word}", data)

    def ordinal(self, bits: int) -> int:
        """Neighbouring numbers have neighbouring ordinals; both zeros have 0. NaN has none."""
        return bits if bits < self.sign else self.sign - bits

    def round(self, exact: Fraction) -> int:
        """The nearest pattern, ties to even; beyond the largest number an infinity."""
        magnitude = abs(exact)
        return self.round_scaled(exact < 0, magnitude.numerator, 0, magnitude.denominator)

    def round_scaled(self, is_negative: bool, numerator: int, exponent: int, denominator: int = 1) -> int:
        """The nearest pattern to numerator / denominator · 2^exponent."""
        sign = self.sign if is_negative else 0
        if numerator == 0:
            return sign
        top = numerator.bit_length() - denominator.bit_length() + exponent  # the leading bit, or one above it
        unit = max(top - self.precision, self.least_exponent)  # so one bit too many is kept, or none
        shift = exponent - unit
        scaled = (numerator << max(shift, 0), denominator << max(-shift, 0))
        quotient, rest = divmod(*scaled)
        if quotient >> self.precision:  # that bit
            unit += 1
            scaled = (scaled[0], scaled[1] << 1)
            quotient, rest = divmod(*scaled)
        twice = 2 * rest
        if twice > scaled[1] or (twice == scaled[1] and quotient & 1):
            quotient += 1
        # A quotient that became 2^precision carries into the exponent by itself, as patterns are ordered.
        pattern = ((unit - self.least_exponent) << (self.precision - 1)) + quotient
        return sign | min(pattern, self.infinity)


FORMATS = {
    "float16": Format("float16", "e", "H", 2, 11, 15),
    "float32": Format("float32", "f", "I", 4, 24, 127),
    "float64": Format("float64", "d", "Q", 8, 53, 1023),
}
