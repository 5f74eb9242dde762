"""Finished machine code, per target: what a kernel takes of a multiprocessor, and which memory instructions it has.

    measure(Compiled(kernel, "sm_90", "sm_90", cubin, entry, threads=256, spills=0))   →   Machine

Everything is read from the cubin's own tables and instructions; how many bytes are spilled, which no table tells apart
from other local memory, is what ptxas said when it made the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from kbuild.audit.findings import Finding
from kbuild.audit.sass import OLDEST, Access, memory_instructions
from kbuild.errors import Span
from kbuild.loader import cubin
from kbuild.loader.occupancy import resident_blocks
from kbuild.targets import limits

CHECK: Final = "machine-code"
_LITTLE = 4  # occupancy below a quarter is told
_NEAR = 3 / 4  # of the static shared memory that a block may have

# What a build is compared by, beside its memory instructions: field → how it is called.
COMPARED: Final[dict[str, str]] = {
    "registers": "registers",
    "spills": "bytes spilled",
    "local": "bytes of local memory",
    "shared": "bytes of static shared memory",
    "barriers": "barriers",
    "constants": "bytes of tables",
    "warps": "resident warps",
    "code": "bytes of code",
}


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel's code for a target: its cubin, its entry there, the threads of a block, and bytes spilled."""

    kernel: str
    target: str
    cubin: bytes
    entry: str
    threads: int
    spills: int


@dataclass(frozen=True, slots=True)
class Machine:
    """A kernel on a target. Sizes are in bytes, `registers` and `local` those of a thread, `shared` is static and of a
    block, `constants` are those of its whole unit. A multiprocessor holds `blocks` blocks of `threads` threads, `warps`
    warps of `most_warps`; `limited_by` is what allows no more. `accesses` are its memory instructions; None where they
    are not decoded. `limits` are the most registers of a thread, and the most static shared memory of a block.
    """

    kernel: str
    target: str
    arch: str
    registers: int
    spills: int
    local: int
    shared: int
    barriers: int
    constants: int
    code: int
    threads: int
    blocks: int
    warps: int
    most_warps: int
    limited_by: str
    limits: tuple[int, int]
    accesses: tuple[tuple[Access, int], ...] | None

    def count(self, memory: str, bytes: int | None = None) -> int:
        """How many instructions there are for a memory, with so many bytes a thread."""
        return sum(n for access, n in self.accesses or () if access.memory == memory and bytes in (None, access.bytes))


@dataclass(frozen=True, slots=True)
class Change:
    """A figure that is not what it was; None where there was, or is, no such kernel on the target. `figure` is one of
    `COMPARED`, or a kind of memory instruction in words, `global load 16 readonly`."""

    kernel: str
    target: str
    figure: str
    before: int | None
    after: int | None

    def __str__(self) -> str:
        if self.before is None or self.after is None:
            return f"{self.kernel} on {self.target}: {'new' if self.before is None else 'gone'}"
        return f"{self.kernel} on {self.target}: {self.text}"

    @property
    def text(self) -> str:
        """What changed, without what it changed of."""
        return f"{self.before} → {self.after} {COMPARED.get(self.figure) or f'× {self.figure}'}"


@lru_cache(maxsize=256)
def _read(data: bytes) -> tuple[cubin.Cubin, Mapping[str, bytes]]:
    return cubin.read(data), cubin.machine_code(data)


def measure(one: Compiled) -> Machine:
    """The figures of a kernel. Raises CubinError, and KeyError where the cubin has no such entry."""
    tables, code = _read(one.cubin)
    info = tables.kernels[one.entry]
    target = limits(tables.arch)
    room = target.limits
    blocks = resident_blocks(room, info.registers, info.shared, one.threads)
    of_block = -(-one.threads // target.warp)
    without = {
        "registers": resident_blocks(room, 0, info.shared, one.threads),
        "shared memory": resident_blocks(room, info.registers, 0, one.threads),
    }
    limited_by = next((name for name, more in without.items() if more > blocks), "threads")
    counted = memory_instructions(code.get(one.entry, b""), target.number) if target.number >= OLDEST else None
    return Machine(
        one.kernel,
        one.target,
        tables.arch,
        info.registers,
        one.spills,
        info.local,
        info.shared,
        info.barriers,
        tables.constants,
        info.code,
        one.threads,
        blocks,
        blocks * of_block,
        room.threads // target.warp,
        limited_by,
        (target.registers_per_thread, target.static_shared_per_block),
        None if counted is None else tuple(sorted(counted.items())),
    )


def findings(machine: Machine, span: Span | None, wide: Sequence[tuple[str, int]] = ()) -> Iterator[Finding]:
    """What there is to say of a kernel on a target, at its `def`. `wide` are parameters whose elements one instruction
    moves where they are aligned to their size, with that size."""

    def found(code: str, text: str, help: str, subject: str = "", **figures: float) -> Finding:
        where = f"{text} ({machine.target})"
        rows = tuple(figures.items())
        return Finding(
            code, CHECK, "found", where, span, machine.kernel, subject, help=help, figures=rows, target=machine.target
        )

    most, static = machine.limits
    if machine.blocks == 0:
        text = f"a block of {machine.threads} threads with {machine.registers} registers each fits no multiprocessor"
        help = "launch smaller blocks, or say the size with `@kb.kernel(launch_bounds=…)`, and the compiler keeps to it"
        yield found("KB420", text, help, registers=machine.registers, threads=machine.threads)
    elif machine.warps * _LITTLE < machine.most_warps and machine.limited_by == "registers":
        text = (
            f"{machine.registers} of {most} registers a thread leave room for {machine.warps} of {machine.most_warps} "
            f"warps, in blocks of {machine.threads} threads"
        )
        help = '`@kb.kernel(launch_bounds="auto")` makes room for as many blocks as spill nothing'
        yield found("KB420", text, help, registers=machine.registers, warps=machine.warps)
    if machine.spills:
        text = f"{machine.spills} bytes of registers a thread are spilled to local memory, stores and loads counted"
        help = "allow more registers (`launch_bounds`, `max_registers`), or keep fewer values alive (`check --emit=ir`)"
        yield found("KB421", text, help, spills=machine.spills, local=machine.local)
    elif machine.local:
        text = f"a thread has {machine.local} bytes of stack in local memory"
        help = "index vectors and matrices with constants, in unrolled loops; printing and calls need a stack, too"
        yield found("KB422", text, help, local=machine.local)
    if machine.shared >= _NEAR * static:
        text = f"{machine.shared} of the {static} bytes of static shared memory of a block are taken"
        help = "`kb.shared_array(None, dtype)` takes more, which the launch gives"
        yield found("KB423", text, help, shared=machine.shared, limit=static)
    elif machine.limited_by == "shared memory" and machine.warps * _LITTLE < machine.most_warps:
        room = f"{machine.warps} of {machine.most_warps} warps"
        text = f"{machine.shared} bytes of shared memory a block leave room for {room}"
        yield found(
            "KB423", text, "smaller tiles let more blocks run at once", shared=machine.shared, warps=machine.warps
        )
    if machine.accesses is not None and not machine.count("global", 8) and not machine.count("global", 16):
        for name, size in wide if machine.count("global", 4) else ():
            text = f"the elements of {name!r}, {size} bytes each, are moved by instructions of 4 bytes"
            help = "load and store elements as a whole, each once: `v = a[i]`; KB408 names the lines"
            yield found("KB424", text, help, name, bytes=size)


def changes(now: Iterable[Machine], before: Iterable[Machine]) -> tuple[Change, ...]:
    """What differs from an earlier build, by kernel and target; kernels and targets that came and went, once each."""
    new = {(one.kernel, one.target): one for one in now}
    old = {(one.kernel, one.target): one for one in before}
    found = []
    for key in sorted(new.keys() | old.keys()):
        one, other = new.get(key), old.get(key)
        if one is None or other is None:
            registers = (None if other is None else other.registers, None if one is None else one.registers)
            found.append(Change(*key, "registers", *registers))
            continue
        for figure in COMPARED:
            values = getattr(other, figure), getattr(one, figure)
            if values[0] != values[1]:
                found.append(Change(*key, figure, *values))
        found += [Change(*key, figure, *counts) for figure, counts in _changed_accesses(one, other)]
    return tuple(found)


def _changed_accesses(now: Machine, before: Machine) -> Iterator[tuple[str, tuple[int, int]]]:
    """(kind, (before, after)) of memory instructions, where both are decoded."""
    if now.accesses is None or before.accesses is None:
        return
    new, old = dict(now.accesses), dict(before.accesses)
    for access in sorted(new.keys() | old.keys()):
        if new.get(access, 0) != old.get(access, 0):
            yield " ".join(map(str, filter(None, access))), (old.get(access, 0), new.get(access, 0))
