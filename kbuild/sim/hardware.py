"""The one instruction that NumPy has no function for: `a * b + c` of many floats, rounded once.

Every x86-64 processor since 2013 has it, for eight float32 or four float64 at a time, and IEEE 754 says what it gives,
to the last bit: what `fused` computes by a dozen passes. Its machine code is the table below, put into memory that may
be executed and not written. Where the processor has no such instruction, or the system no such memory, there is no
routine, and `fused` does without.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from kbuild.sim.lanes import Lanes

_VECTOR: Final = 32  # bytes of a register
# vfmadd213ps and vfmadd213pd  ymm0, ymm1, [rcx]
_MULTIPLY_ADD: Final = {np.dtype(np.float32): "c4 e2 75 a8 01", np.dtype(np.float64): "c4 e2 f5 a8 01"}

# void routine(out: rdi, a: rsi, b: rdx, c: rcx, vectors: r8, steps: r9), as the System V ABI passes them. `steps` are
# three numbers: by how many bytes a, b and c move on, 0 where one vector stands for all. `vectors` is at least 1.
_CODE: Final = (
    ("49 8b 01", "mov rax, [r9]"),
    ("4d 8b 51 08", "mov r10, [r9 + 8]"),
    ("4d 8b 59 10", "mov r11, [r9 + 16]"),
    ("c5 fc 10 06", "next: vmovups ymm0, [rsi]"),
    ("c5 fc 10 0a", "vmovups ymm1, [rdx]"),
    ("", "ymm0 = ymm0 * ymm1 + [rcx]"),  # one of _MULTIPLY_ADD
    ("c5 fc 11 07", "vmovups [rdi], ymm0"),
    ("48 01 c6", "add rsi, rax"),
    ("4c 01 d2", "add rdx, r10"),
    ("4c 01 d9", "add rcx, r11"),
    ("48 83 c7 20", "add rdi, 32"),
    ("49 ff c8", "dec r8"),
    ("75 dd", "jnz next"),
    ("c5 f8 77", "vzeroupper"),
    ("c3", "ret"),
)
_STEPS: Final = [np.array([_VECTOR * (moves >> i & 1) for i in range(3)], np.int64) for moves in range(8)]
_STEPS_AT: Final = [one.ctypes.data for one in _STEPS]


def fma(a: Lanes, b: Lanes, c: Lanes) -> Lanes | None:
    """`a * b + c` of float32 or of float64, at least one of them an array; None where there is no way to."""
    dtype = a.dtype
    routine = _routine(dtype)
    if routine is None or b.dtype != dtype or c.dtype != dtype:
        return None
    size = dtype.itemsize
    width = _VECTOR // size
    count, moves, inputs = -1, 0, []
    for bit, one in ((1, a), (2, b), (4, c)):
        if one.ndim == 0:
            inputs.append(_filled(one, width, width))
            continue
        moves |= bit
        if one.ndim > 1 or count not in (-1, len(one)):
            return None
        count = len(one)
        if count < width:  # a shorter array is made as long as a vector
            one = _filled(one, count, width)
        elif not one.flags.c_contiguous:
            one = one.copy()
        inputs.append(one)
    out = np.empty(max(count, width), dtype)
    x, y, z = inputs
    to, at_x, at_y, at_z = _address(out), _address(x), _address(y), _address(z)
    routine(to, at_x, at_y, at_z, len(out) // width, _STEPS_AT[moves])
    if len(out) % width:  # the last vector overlaps the one before: some lanes are computed twice
        back = (len(out) - width) * size
        at_x, at_y, at_z = at_x + back * (moves & 1), at_y + back * (moves >> 1 & 1), at_z + back * (moves >> 2)
        routine(to + back, at_x, at_y, at_z, 1, _STEPS_AT[moves])
    return out if count >= width else out[:count]


def _filled(values: Lanes, count: int, width: int) -> Lanes:
    """One vector: `count` lanes of values, and anything."""
    vector = np.empty(width, values.dtype)
    vector[:count] = values
    return vector


def _address(array: Lanes) -> int:
    """Where an array's numbers lie: the first field behind the head of NumPy's object, as its C interface fixes it. To
    ask the array takes longer than the arithmetic on a thousand lanes."""
    return _POINTER_AT(id(array) + _HEAD).value or 0


_POINTER_AT: Final = ctypes.c_void_p.from_address
_HEAD: Final = object.__basicsize__


@cache
def _routine(dtype: np.dtype[Any]) -> Callable[..., None] | None:
    """The machine code for floats of a type, to be called; once in a process."""
    if dtype not in _MULTIPLY_ADD or not _has_instruction():
        return None
    if sys.implementation.name != "cpython" or _address(_STEPS[0]) != _STEPS_AT[0]:
        return None
    code = bytes.fromhex("".join(line or _MULTIPLY_ADD[dtype] for line, _ in _CODE))
    try:
        file = os.memfd_create("kbuild-fma")
        try:
            os.write(file, code)
            memory = mmap.mmap(file, len(code), mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
        finally:
            os.close(file)
    except (AttributeError, OSError):  # no Linux; no memory that may be executed
        return None
    held: Any = np.frombuffer(memory, np.uint8)
    _HELD.append(held)
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_size_t, ctypes.c_void_p)
    return prototype(held.ctypes.data)


_HELD: Final[list[Any]] = []  # machine code in use


def _has_instruction() -> bool:
    try:
        if os.uname().machine != "x86_64":
            return False
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line.split(":")[1].split() for line in file if line.startswith("flags")), [])
    except (AttributeError, OSError):
        return False
    return {"avx", "fma"} <= set(flags)
