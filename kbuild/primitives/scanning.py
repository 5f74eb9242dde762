"""Prefix sums: reduce, then scan.

Each block takes a chunk of the array. A first kernel adds up every chunk, a second one adds up the chunks before its
own and scans it tile by tile. Blelloch, "Prefix sums and their applications" (CMU-CS-90-190, 1990), section 1.2; on
GPUs Merrill and Grimshaw, "Parallel scan for stream architectures" (University of Virginia, 2009). Two reads and one
write of the array, and no block ever waits for another. The order of additions depends on the count alone.
"""

from typing import Any

from kbuild.loader import builtins as kb
from kbuild.loader.array import array2d
from kbuild.loader.types import Kernel
from kbuild.primitives.kernels import (
    BLOCK,
    ITEMS,
    PADDED,
    PROTOCOL,
    SLOTS,
    TILE,
    kernel,
    scan_block,
    slot,
    sum_of_block,
)

# mypy: disable-error-code="no-untyped-call,no-any-return,untyped-decorator,no-untyped-def,valid-type,attr-defined"

TYPES = ("int32", "int64", "float32", "float64")


def make_sums(dtype: Any) -> Kernel:
    """The sum of each chunk. Block (x, y) takes chunk x of component y."""

    @kernel
    def chunk_sums(values: array2d(dtype=dtype), sums: array2d(dtype=dtype), count: int, chunk: int):
        _ = kb.static(PROTOCOL)
        of_threads = kb.shared_array(BLOCK, dtype)
        loaded = kb.vector(length=ITEMS, dtype=dtype)
        t = kb.thread_idx()
        component = kb.block_idx().y
        first = kb.block_idx().x * chunk
        left = kb.min(count - first, chunk)
        total = dtype(0)
        done = 0
        while done < left:
            rest = left - done
            base = first + done
            if rest >= TILE:
                for i in range(ITEMS):
                    loaded[i] = values[base + (i * BLOCK + t), component]
                for i in range(ITEMS):
                    total = total + loaded[i]
            else:
                for i in range(ITEMS):
                    if i * BLOCK + t < rest:
                        total = total + values[base + (i * BLOCK + t), component]
            done = done + TILE
        of_threads[t] = total
        found = sum_of_block(of_threads)
        if t == 0:
            sums[component, kb.block_idx().x] = found

    return chunk_sums


def make_scan(dtype: Any) -> Kernel:
    """Scans each chunk, from the sum of all before it on. May work in place."""

    @kernel
    def scan_chunks(
        values: array2d(dtype=dtype),
        sums: array2d(dtype=dtype),
        out: array2d(dtype=dtype),
        count: int,
        chunk: int,
        inclusive: int,
    ):
        _ = kb.static(PROTOCOL)
        tile = kb.shared_array(PADDED, dtype)
        of_threads = kb.shared_array(SLOTS, dtype)
        own = kb.vector(length=ITEMS, dtype=dtype)
        t = kb.thread_idx()
        component = kb.block_idx().y
        before = dtype(0)
        for i in range(t, kb.block_idx().x, BLOCK):
            before = before + sums[component, i]
        of_threads[t] = before
        carry = sum_of_block(of_threads)
        first = kb.block_idx().x * chunk
        left = kb.min(count - first, chunk)
        done = 0
        while done < left:
            rest = left - done
            base = first + done
            for i in range(ITEMS):
                own[i] = dtype(0)
                if i * BLOCK + t < rest:
                    own[i] = values[base + (i * BLOCK + t), component]
            for i in range(ITEMS):
                tile[slot(i * BLOCK + t)] = own[i]
            kb.syncthreads()
            total = dtype(0)
            for i in range(ITEMS):
                own[i] = tile[t * (ITEMS + 1) + i]
                total = total + own[i]
            of_threads[slot(t)] = total
            of_tile = scan_block(of_threads)
            running = carry + of_threads[slot(t)]
            for i in range(ITEMS):
                after = running + own[i]
                if inclusive != 0:
                    running = after
                tile[t * (ITEMS + 1) + i] = running
                running = after
            carry = carry + of_tile
            kb.syncthreads()
            for i in range(ITEMS):
                if i * BLOCK + t < rest:
                    out[base + (i * BLOCK + t), component] = tile[slot(i * BLOCK + t)]
            done = done + TILE  # a thread writes next what it has read here, so nobody needs to wait

    return scan_chunks
