"""Machine code in this process; and the one instruction that NumPy has no function for: `a * b + c` of many floats,
rounded once.

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
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from kbuild.sim.lanes import Lanes

_VECTOR: Final = 32  # bytes of a register
# One of vfmadd213, vfmsub213, vfnmadd213 and vfnmsub213, of ps or pd:  ymm0, ymm1, [rcx]
_MULTIPLY_ADD: Final = {np.dtype(np.float32): "c4 e2 75 %02x 01", np.dtype(np.float64): "c4 e2 f5 %02x 01"}
_OPCODE: Final = 0xA8
MINUS_C: Final = 2  # `a * b - c`: what it adds to the opcode
MINUS_PRODUCT: Final = 4  # `-a * b + c`

# void routine(out: rdi, a: rsi, b: rdx, c: rcx, vectors: r8, steps: r9), as the System V ABI passes them. `steps` are
# three numbers: by how many bytes a, b and c move on, 0 where one vector stands for all. `vectors` is at least 1.
_CODE: Final = (
    ("49 8b 01", "mov rax, [r9]"),
    ("4d 8b 51 08", "mov r10, [r9 + 8]"),
    ("4d 8b 59 10", "mov r11, [r9 + 16]"),
    ("c5 fc 10 06", "next: vmovups ymm0, [rsi]"),
    ("c5 fc 10 0a", "vmovups ymm1, [rdx]"),
    ("", "ymm0 = ±ymm0 * ymm1 ± [rcx]"),  # one of _MULTIPLY_ADD
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


def fma(a: Lanes, b: Lanes, c: Lanes, signs: int = 0) -> Lanes | None:
    """`a * b + c` of float32 or of float64, at least one of them an array; None where there is no way to.

    `signs` is the sum of what holds of `MINUS_PRODUCT` and `MINUS_C`.
    """
    dtype = a.dtype
    routine = _routine(dtype, signs)
    if routine is None or b.dtype != dtype or c.dtype != dtype:
        return None
    shape = a.shape or b.shape or c.shape
    size = dtype.itemsize
    width, moves = _VECTOR // size, 7
    if a.shape != shape or b.shape != shape or c.shape != shape or len(shape) > 1 or shape[0] < width:
        prepared = _prepared((a, b, c), shape, width)
        if prepared is None:
            return None
        (a, b, c), moves = prepared
    if not (a.flags.c_contiguous and b.flags.c_contiguous and c.flags.c_contiguous):
        a, b, c = (np.ascontiguousarray(one) for one in (a, b, c))
    count = max(shape[0], width)
    out = np.empty(count, dtype)
    to, at_a = _AT(id(out) + _DATA).value or 0, _AT(id(a) + _DATA).value or 0
    at_b, at_c = _AT(id(b) + _DATA).value or 0, _AT(id(c) + _DATA).value or 0
    routine(to, at_a, at_b, at_c, count // width, _STEPS_AT[moves])
    if count % width:  # the last vector overlaps the one before: some lanes are computed twice
        back = (count - width) * size
        at_a, at_b, at_c = at_a + back * (moves & 1), at_b + back * (moves >> 1 & 1), at_c + back * (moves >> 2)
        routine(to + back, at_a, at_b, at_c, 1, _STEPS_AT[moves])
    return out if count == shape[0] else out[: shape[0]]


def _prepared(operands: Sequence[Lanes], shape: tuple[int, ...], width: int) -> tuple[list[Lanes], int] | None:
    """Operands with at least a vector's lanes, and which of them move on; None for those that are not of one shape."""
    if len(shape) != 1 or any(one.ndim and one.shape != shape for one in operands):
        return None
    moves = sum(1 << number for number, one in enumerate(operands) if one.ndim)
    return [_filled(one, width) if len(one.shape) == 0 or len(one) < width else one for one in operands], moves


def _filled(values: Lanes, width: int) -> Lanes:
    """One vector: a number in all lanes; or an array, and anything behind it."""
    vector = np.empty(width, values.dtype)
    vector[: len(values) if values.ndim else width] = values
    return vector


# Where an array's numbers lie is the first field behind the head of NumPy's object, as its C interface fixes it. To ask
# the array takes longer than the arithmetic on a thousand lanes.
_AT: Final = ctypes.c_void_p.from_address
_DATA: Final = object.__basicsize__


@cache
def _routine(dtype: np.dtype[Any], signs: int) -> Callable[..., None] | None:
    """The machine code for floats of a type, to be called; once in a process."""
    if dtype not in _MULTIPLY_ADD:
        return None
    return function(_code(dtype, signs), [*[ctypes.c_void_p] * 4, ctypes.c_size_t, ctypes.c_void_p])


def function(code: bytes, arguments: Sequence[Any]) -> Callable[..., None] | None:
    """Machine code as a function of arguments of these types of ctypes; None where it cannot run, or may not."""
    if not _has_instruction():
        return None
    if sys.implementation.name != "cpython" or _AT(id(_STEPS[0]) + _DATA).value != _STEPS_AT[0]:
        return None
    try:
        file = os.memfd_create("kbuild-routine")
        try:
            os.write(file, code)
            memory = mmap.mmap(file, len(code), mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
        finally:
            os.close(file)
    except (AttributeError, OSError):  # no Linux; no memory that may be executed
        return None
    held: Any = np.frombuffer(memory, np.uint8)
    made: Any = ctypes.CFUNCTYPE(None, *arguments)(held.ctypes.data)
    made.memory = held  # which goes with it
    return made  # type: ignore[no-any-return]


def address(array: Any) -> int:
    """Where an array's numbers lie, where there are routines."""
    return _AT(id(array) + _DATA).value or 0


def _code(dtype: np.dtype[Any], signs: int) -> bytes:
    instruction = _MULTIPLY_ADD[dtype] % (_OPCODE + signs)
    return bytes.fromhex("".join(line or instruction for line, _ in _CODE))


@cache
def _has_instruction() -> bool:
    try:
        if os.uname().machine != "x86_64":
            return False
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line.split(":")[1].split() for line in file if line.startswith("flags")), [])
    except (AttributeError, OSError):
        return False
    return {"avx", "fma"} <= set(flags)
