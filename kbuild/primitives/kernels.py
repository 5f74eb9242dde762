"""What the kernels of this room have in common: how they are declared, made once a type, and work together in a block.

A kernel here is made by a factory for the types that it works on. Each captures `PROTOCOL`, so that number is part of
the identity by which a launch finds machine code: a bundle that a kbuild with other kernels has built is refused.
"""

from __future__ import annotations

from typing import Any

from kbuild.loader import builtins as kb
from kbuild.loader import types as declarations
from kbuild.loader.array import array
from kbuild.loader.types import func
from kbuild.primitives.finding import Carried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# The bodies of kernels are no Python to a type checker: their types are inferred while lowering.
# mypy: disable-error-code="no-untyped-call,no-any-return,untyped-decorator"

PROTOCOL = 1  # one more with each change to a kernel of this room: tests/primitives/test_protocol.py

BLOCK = 256  # threads of a block
WARPS = BLOCK // 32
ITEMS = 8  # elements of a thread at a time
TILE = BLOCK * ITEMS  # elements of a block at a time
PADDED = TILE + TILE // 8  # with a gap after each eight, so that threads meet different banks: see `slot`
SLOTS = BLOCK + BLOCK // 8
MOST_CHUNKS = 2048  # blocks that share the work: fixed, since the order of sums depends on it; a tile at most

_made: dict[tuple[Any, ...], declarations.Kernel] = {}


def kernel(function: Callable[..., Any]) -> declarations.Kernel:
    """Declares a kernel whose arithmetic does not depend on the options of the project that builds it."""
    made = declarations.Kernel(function, {"block_dim": BLOCK, "fmad": True, "asserts": False})
    made.target = Carried(made)
    if declarations.on_declare is not None:
        declarations.on_declare(made)
    return made


def made_once(factory: Callable[..., declarations.Kernel], *values: Any) -> declarations.Kernel:
    """The kernel that a factory makes for these values, always the same object."""
    key = (factory, *values)
    found = _made.get(key)
    if found is None:
        found = _made.setdefault(key, factory(*values))
    return found


def chunks_of(count: int) -> tuple[int, int]:
    """How many elements each block takes, in whole tiles, and how many blocks that makes; from the count alone."""
    tiles = -(-count // TILE)
    chunk = -(-tiles // MOST_CHUNKS) * TILE
    return chunk, -(-count // chunk)


@func
def slot(k: int):  # type: ignore[no-untyped-def]
    """Where element k stands in shared memory with gaps: eight neighbours a thread are free of bank conflicts so."""
    return k + k // 8


@func
def sum_of_block(sums: array(dtype=Any)):  # type: ignore[no-untyped-def, valid-type]
    """The sum of one element a thread, in every thread, always in the same order. Uses the elements up; a barrier is
    wanted before they are written again.
    """
    t = kb.thread_idx()
    half = kb.static(BLOCK // 2)
    kb.syncthreads()
    while half > 0:
        if t < half:
            sums[t] = sums[t] + sums[t + half]
        kb.syncthreads()
        half = half // 2
    return sums[0]


@func
def scan_block(sums: array(dtype=Any)):  # type: ignore[no-untyped-def, valid-type]
    """Puts in the place of one element a thread (`sums[slot(t)]`) the sum of those before it; returns the sum of all.

    The first warp does it: each lane adds up eight neighbours, then the lanes' sums are scanned as in Hillis and
    Steele, "Data parallel algorithms", CACM 29(12), 1986. A barrier is wanted before the elements are written again.
    """
    lanes = kb.shared_array(32, sums.dtype)
    t = kb.thread_idx()
    kb.syncthreads()
    if t < 32:
        own = t * (WARPS + 1)
        total = sums.dtype(0)
        for i in range(WARPS):
            total = total + sums[own + i]
        lanes[t] = total
        kb.syncwarp()
        step = 1
        while step < 32:
            before = sums.dtype(0)
            if t >= step:
                before = lanes[t - step]
            kb.syncwarp()
            total = before + total
            lanes[t] = total
            kb.syncwarp()
            step = step * 2
        start = sums.dtype(0)
        if t > 0:
            start = lanes[t - 1]
        for i in range(WARPS):
            x = sums[own + i]
            sums[own + i] = start
            start = start + x
    kb.syncthreads()
    return lanes[31]
