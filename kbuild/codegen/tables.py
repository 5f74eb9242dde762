"""Tables of constants in CUDA C: words of bits, so that every number is exact, whatever its type is spelled like."""

from __future__ import annotations

import math
import struct

from kbuild.ir.types import Constant

ALIGN = 16
_WORDS = {
    1: ("unsigned char", "B"),
    2: ("unsigned short", "H"),
    4: ("unsigned int", "I"),
    8: ("unsigned long long", "Q"),
}
_IN_A_LINE = {1: 24, 2: 16, 4: 10, 8: 5}


def definition(name: str, type: Constant, data: bytes) -> str:
    """`__constant__` memory with the elements of a table, row by row."""
    size = math.gcd(type.element.align, 8)
    c_type, code = _WORDS[size]
    words = [f"{word:#x}" for (word,) in struct.iter_unpack(f"<{code}", data)]
    per_line = _IN_A_LINE[size]
    lines = ("    " + ", ".join(words[at : at + per_line]) for at in range(0, len(words), per_line))
    head = f"// {type}\n__constant__ __align__({ALIGN}) {c_type} {name}[{len(words)}] = {{\n"
    return head + ",\n".join(lines) + "\n};\n"
