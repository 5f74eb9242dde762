"""Memory instructions in finished machine code, counted without a disassembler.

    memory_instructions(code, 90)[("global", "load", 16, "")]   how many 128-bit loads from global memory there are

From compute capability 7.0 on an instruction is 128 bits. The low nine bits name the operation, whichever form its
operands have; bits 73 to 75 say how wide an access is; for global memory five bits from 76 on say how it is ordered,
or that it reads what nobody writes, and three from 84 on when its line leaves the cache. That was read off code of
NVRTC 11.8, 12.9 and 13.0 for all architectures beside what nvdisasm says of it, and `tests/audit/test_sass.py` holds it
against them all. Older code is not decoded.
"""

from __future__ import annotations

import struct
from collections import Counter
from typing import Final, NamedTuple

OLDEST: Final = 70
_INSTRUCTION = struct.Struct("<QQ")

# operation → memory, what is done. `generic` is memory that the compiler could not tell apart.
_OPERATIONS: Final = {
    0x181: ("global", "load"),
    0x186: ("global", "store"),
    0x184: ("shared", "load"),
    0x188: ("shared", "store"),
    0x183: ("local", "load"),
    0x187: ("local", "store"),
    0x180: ("generic", "load"),
    0x185: ("generic", "store"),
}
_BYTES: Final = (1, 1, 2, 2, 4, 8, 16, 16)
_ORDER: Final = {
    0b01001: "readonly", 0b00110: "readonly",
    0b01111: "gpu", 0b10100: "gpu",
    0b10101: "system", 0b10110: "system",
}  # fmt: skip
_FIRST_TO_GO = 0  # of three bits: the line is the first to leave the cache


class Access(NamedTuple):
    """A kind of memory instruction. `bytes` are those of one thread. `modifier` is "", or for global memory "readonly"
    (through the cache of what nobody writes), "streaming" (first to leave the caches), "gpu" or "system" (seen there).
    """

    memory: str
    what: str
    bytes: int
    modifier: str


def memory_instructions(code: bytes, number: int) -> Counter[Access]:
    """The loads and stores in the machine code of a compute capability, each as often as it stands there.

    Empty below `OLDEST`, whose instructions look otherwise.
    """
    found: Counter[Access] = Counter()
    if number < OLDEST:
        return found
    whole = len(code) - len(code) % _INSTRUCTION.size
    for low, high in _INSTRUCTION.iter_unpack(code[:whole]):
        operation = _OPERATIONS.get(low & 0x1FF)
        if operation is not None:
            modifier = _modifier(high) if operation[0] == "global" else ""
            found[Access(*operation, _BYTES[high >> 9 & 7], modifier)] += 1
    return found


def _modifier(high: int) -> str:
    order = _ORDER.get(high >> 12 & 0x1F, "")
    return order or ("streaming" if high >> 20 & 7 == _FIRST_TO_GO else "")
