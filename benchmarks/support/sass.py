"""Machine code as nvdisasm prints it: instructions of each kernel, its loops, and what they are made of.

kernels(nvdisasm, cubin) → {entry: [Instruction, …]}
counts(code) → {"instructions", "loads": {"32": 3, …}, "stores", "wide", "shuffles", "barriers"}
hottest(code) → the loop over global memory that moves the most bytes a trip, as instructions; empty without one
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGE = "nvidia-cuda-nvdisasm"
_SECTION = re.compile(r"^\.text\.(\S+):")
_LABEL = re.compile(r"^\.(L_\w+):")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z0-9_.]+)(.*?);")
_BRANCH = re.compile(r"`\(\.(L_\w+)\)")
_GLOBAL = ("LDG", "STG", "ATOMG", "REDG", "RED", "ATOM")
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


@dataclass(frozen=True)
class Instruction:
    """An operation (`LDG.E.64`); `back` is the number of the instruction that it jumps back to."""

    operation: str
    back: int | None = None

    @property
    def name(self) -> str:
        """The operation without its modifiers."""
        return self.operation.partition(".")[0]

    @property
    def bytes(self) -> int:
        """How much a thread loads or stores."""
        return next((_BYTES[part] for part in self.operation.split(".")[1:] if part in _BYTES), 4)

    @property
    def is_global(self) -> bool:
        """It loads from global memory, or stores there."""
        return self.name in _GLOBAL


class Missing(Exception):
    """There is no nvdisasm; says where it comes from."""


def find_nvdisasm() -> Path:
    """On the path, else of NVIDIA's package."""
    found = shutil.which("nvdisasm")
    if found is not None:
        return Path(found)
    try:
        files = metadata.files(_PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name in ("nvdisasm", "nvdisasm.exe"):
            return Path(str(file.locate()))
    raise Missing(f"there is no nvdisasm; install it: pip install {_PACKAGE}")


def kernels(nvdisasm: Path, cubin: Path) -> dict[str, list[Instruction]]:
    """The instructions of each entry and function of a cubin."""
    done = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True)
    return parse(done.stdout)


def parse(text: str) -> dict[str, list[Instruction]]:
    """The same from nvdisasm's text, without the padding behind the end and the trap in it."""
    sections: dict[str, list[tuple[str, str]]] = {}
    labels: dict[str, int] = {}
    current: list[tuple[str, str]] = []
    for line in text.splitlines():
        if (found := _SECTION.match(line)) is not None:
            current = sections.setdefault(found[1], [])
        elif (found := _LABEL.match(line)) is not None:
            labels[found[1]] = len(current)
        elif (found := _INSTRUCTION.search(line)) is not None:
            current.append((found[1], found[2]))
    return {name: _linked(lines, labels) for name, lines in sections.items()}


def _linked(lines: Sequence[tuple[str, str]], labels: dict[str, int]) -> list[Instruction]:
    code = []
    for at, (operation, rest) in enumerate(lines):
        target = _BRANCH.search(rest) if operation.startswith("BRA") else None
        to = labels[target[1]] if target is not None else None
        if operation != "NOP" and to != at:  # padding, and the trap behind the last EXIT
            code.append(Instruction(operation, to if to is not None and to < at else None))
    return code


def loops(code: Sequence[Instruction]) -> list[tuple[int, int]]:
    """First and last instruction of each loop, by where a jump leads back."""
    return [(one.back, at) for at, one in enumerate(code) if one.back is not None]


def hottest(code: Sequence[Instruction]) -> Sequence[Instruction]:
    """The loop that moves the most bytes of global memory with an instruction, then in a trip, among those without such
    a loop inside: of versions of one loop that is the one that large launches on arrays without gaps go through.
    """
    found = [(first, last) for first, last in loops(code) if moved(code[first : last + 1])]
    innermost = [
        (first, last)
        for first, last in found
        if not any((first, last) != other and first <= other[0] and other[1] <= last for other in found)
    ]
    bodies = [code[first : last + 1] for first, last in innermost]
    return max(bodies, key=lambda body: (_width(body), moved(body), -len(body)), default=())


def _width(code: Sequence[Instruction]) -> float:
    """Bytes of an access to global memory."""
    accesses = [one.bytes for one in code if one.is_global]
    return sum(accesses) / len(accesses)


def moved(code: Sequence[Instruction]) -> int:
    """Bytes that a thread loads from global memory and stores there, each instruction once."""
    return sum(one.bytes for one in code if one.is_global)


def counts(code: Sequence[Instruction]) -> dict[str, Any]:
    """What instructions there are; `wide` are multiplications with a result of 64 bits, loads and stores by bits."""

    def widths(*names: str) -> dict[str, int]:
        found = Counter(8 * one.bytes for one in code if one.name in names)
        return {str(bits): found[bits] for bits in sorted(found)}

    return {
        "instructions": len(code),
        "loads": widths("LDG"),
        "stores": widths("STG"),
        "wide": sum(one.operation.startswith(("IMAD.WIDE", "UIMAD.WIDE")) for one in code),
        "shuffles": sum(one.name == "SHFL" for one in code),
        "barriers": sum(one.name == "BAR" for one in code),
    }
