"""A few instructions of x86-64, for routines that work on eight float32 at a time.

    code = Assembler()
    code.load(0, slot=3)                    ymm0 = the vector at hand of the array whose address is in slot 3
    code.arithmetic("add", 0, 0, 1)         ymm0 = ymm0 + ymm1
    code.store(0, slot=4)
    hardware.function(code.loop(), 3)       routine(table, first, end)

The routine runs over the bytes from `first` to before `end` of arrays whose addresses stand in `table`, one word of 64
bits a slot. Each instruction is kept with its text, which a test holds against an assembler.
"""

from __future__ import annotations

import struct
from typing import Final

REGISTERS: Final = 16
STEP: Final = 32  # bytes of a vector
_ARITHMETIC: Final = {"add": 0x58, "mul": 0x59, "sub": 0x5C, "div": 0x5E, "xor": 0x57, "and": 0x54}
# How a comparison is spelled, and its number; those with NaNs are false, but for `ne`, and none is an exception.
_COMPARE: Final = {
    "lt": ("lt_oq", 0x11),
    "le": ("le_oq", 0x12),
    "gt": ("gt_oq", 0x1E),
    "ge": ("ge_oq", 0x1D),
    "eq": ("eq", 0x00),
    "ne": ("neq", 0x04),
}
_FMA: Final = ("fmadd", "fmsub", "fnmadd", "fnmsub")
_NEAREST: Final = 1  # maps of opcodes: 0F, 0F 38 and 0F 3A
_FURTHER: Final = 2
_LAST: Final = 3
_66: Final = 1  # what stands before an instruction in its older form
_AT: Final = 0x30  # [rax + rsi]: the vector at hand
_AT_LANE: Final = 0x08  # [rax + rcx]: its lanes in an array of bytes


class Assembler:
    """Instructions in order; registers are numbers of ymm0 to ymm15."""

    def __init__(self) -> None:
        self.lines: list[tuple[bytes, str]] = []

    def load(self, to: int, slot: int) -> None:
        """The vector at hand of an array."""
        self._address(slot)
        self._memory(0x10, to, _AT, f"vmovups ymm{to}, [rax + rsi]")

    def load_same(self, to: int, slot: int) -> None:
        """A vector that is the same for all lanes."""
        self._address(slot)
        self._emit(0x10, to, 0, 0, f"vmovups ymm{to}, [rax]", is_memory=True)

    def store(self, register: int, slot: int) -> None:
        """The vector at hand of an array."""
        self._address(slot)
        self._memory(0x11, register, _AT, f"vmovups [rax + rsi], ymm{register}")

    def move(self, to: int, register: int) -> None:
        self._emit(0x28, to, 0, register, f"vmovaps ymm{to}, ymm{register}")

    def arithmetic(self, op: str, to: int, a: int, b: int) -> None:
        """`add`, `sub`, `mul`, `div`; `xor` and `and` of bits."""
        name = f"v{op}ps"
        self._emit(_ARITHMETIC[op], to, a, b, f"{name} ymm{to}, ymm{a}, ymm{b}")

    def compare(self, op: str, to: int, a: int, b: int) -> None:
        """All bits of the lanes where it holds."""
        name, number = _COMPARE[op]
        self._emit(0xC2, to, a, b, f"vcmp{name}ps ymm{to}, ymm{a}, ymm{b}", tail=bytes([number]))

    def fma(self, a: int, b: int, c: int, signs: int) -> None:
        """`a = ±a * b ± c`; `signs` as in `hardware`."""
        text = f"v{_FMA[signs // 2]}213ps ymm{a}, ymm{b}, ymm{c}"
        self._emit(0xA8 + signs, a, b, c, text, map=_FURTHER, prefix=_66)

    def store_truth(self, register: int, room: int, slot: int) -> None:
        """Lanes of all bits, or none, as bytes of 1 or 0. Both registers hold something else afterwards."""
        self._emit(
            0x19, register, 0, room, f"vextractf128 xmm{room}, ymm{register}, 1", map=_LAST, prefix=_66, tail=b"\x01"
        )
        for opcode, name, other in ((0x6B, "vpackssdw", room), (0x63, "vpacksswb", register)):
            text = f"{name} xmm{register}, xmm{register}, xmm{other}"
            self._emit(opcode, register, register, other, text, prefix=_66, is_wide=False)
        text = f"vpabsb xmm{register}, xmm{register}"
        self._emit(0x1C, register, 0, register, text, map=_FURTHER, prefix=_66, is_wide=False)
        self._address(slot)
        self._plain("48 89 f1", "mov rcx, rsi")
        self._plain("48 c1 e9 02", "shr rcx, 2")
        self._memory(0xD6, register, _AT_LANE, f"vmovq [rax + rcx], xmm{register}", prefix=_66, is_wide=False)

    def loop(self) -> bytes:
        """All of it for each vector. The texts are those of `listing`."""
        return b"".join(code for code, _ in self.listing())

    def listing(self) -> list[tuple[bytes, str]]:
        """The lines of the loop, each with its text; the arguments come in rdi, rsi and rdx (System V)."""
        body = b"".join(code for code, _ in self.lines)
        back = len(body) + 4 + 3 + 6
        end = [("48 83 c6 20", "add rsi, 32"), ("48 39 d6", "cmp rsi, rdx")]
        jump = b"\x0f\x82" + struct.pack("<i", -back)
        tail = [(bytes.fromhex(code), text) for code, text in end]
        rest = [("c5 f8 77", "vzeroupper"), ("c3", "ret")]
        return [
            (b"", "next:"),
            *self.lines,
            *tail,
            (jump, "jb next"),
            *[(bytes.fromhex(code), text) for code, text in rest],
        ]

    def _plain(self, code: str, text: str) -> None:
        self.lines.append((bytes.fromhex(code), text))

    def _address(self, slot: int) -> None:
        self.lines.append((b"\x48\x8b\x87" + struct.pack("<i", 8 * slot), f"mov rax, [rdi + {8 * slot}]"))

    def _memory(self, opcode: int, register: int, at: int, text: str, *, prefix: int = 0, is_wide: bool = True) -> None:
        """A register, and memory at two others."""
        self._emit(opcode, register, 0, 4, text, prefix=prefix, is_wide=is_wide, is_memory=True, tail=bytes([at]))

    def _emit(
        self,
        opcode: int,
        register: int,
        first: int,
        last: int,
        text: str,
        *,
        map: int = _NEAREST,
        prefix: int = 0,
        is_wide: bool = True,
        is_memory: bool = False,
        tail: bytes = b"",
    ) -> None:
        """VEX of three bytes, opcode, ModRM. `first` is the register between `register` and `last`, 0 where there is
        none; memory is at rax, or as the byte behind says.
        """
        high, beyond = register >> 3 ^ 1, 1 if is_memory else last >> 3 ^ 1
        vex = bytes([0xC4, high << 7 | 1 << 6 | beyond << 5 | map, (~first & 15) << 3 | is_wide << 2 | prefix])
        modrm = (0 if is_memory else 0xC0) | (register & 7) << 3 | (last & 7)
        self.lines.append((vex + bytes([opcode, modrm]) + tail, text))
