"""Run-length encoding: the heads of runs are counted a chunk, and each block knows from the counts where its own go.

Reduce, then scan, as in `scanning`: two reads of the array, and what is written lies side by side. A run's length is
the distance to the next head, written by the block that finds that one.
"""

from kbuild.loader import builtins as kb
from kbuild.loader.array import array
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


@kernel
def count_heads(values: array(dtype=int), heads: array(dtype=int), lasts: array(dtype=int), count: int, chunk: int):
    """How many runs begin in each chunk, and where the last of them does (-1: none)."""
    _ = kb.static(PROTOCOL)
    numbers = kb.shared_array(BLOCK, int)
    latest = kb.shared_array(1, int)
    t = kb.thread_idx()
    first = kb.block_idx() * chunk
    left = kb.min(count - first, chunk)
    if t == 0:
        latest[0] = -1
    found = 0
    last = -1
    done = 0
    while done < left:
        for i in range(ITEMS):
            k = i * BLOCK + t
            if k < left - done:
                at = first + done + k
                is_head = at == 0
                if not is_head:
                    is_head = values[at] != values[at - 1]
                if is_head:
                    found = found + 1
                    last = at
        done = done + TILE
    numbers[t] = found
    total = sum_of_block(numbers)
    kb.atomic_max(latest, 0, last)
    kb.syncthreads()
    if t == 0:
        heads[kb.block_idx()] = total
        lasts[kb.block_idx()] = latest[0]


@kernel
def write_runs(
    values: array(dtype=int),
    heads: array(dtype=int),
    lasts: array(dtype=int),
    run_values: array(dtype=int),
    run_lengths: array(dtype=int),
    run_count: array(dtype=int),
    count: int,
    chunk: int,
):
    """Writes the runs that begin in a chunk, and the lengths of those that end there."""
    _ = kb.static(PROTOCOL)
    tile = kb.shared_array(PADDED, int)
    begins = kb.shared_array(TILE, int)
    sums = kb.shared_array(SLOTS, int)
    latest = kb.shared_array(1, int)
    own = kb.vector(length=ITEMS, dtype=int)
    t = kb.thread_idx()
    first = kb.block_idx() * chunk
    left = kb.min(count - first, chunk)
    if t == 0:
        latest[0] = -1
    number = 0
    last = -1
    for i in range(t, kb.block_idx(), BLOCK):
        number = number + heads[i]
        last = kb.max(last, lasts[i])
    sums[t] = number
    number = sum_of_block(sums)
    kb.atomic_max(latest, 0, last)
    kb.syncthreads()
    last = latest[0]
    done = 0
    while done < left:
        rest = left - done
        base = first + done
        for i in range(ITEMS):
            own[i] = 0
            if i * BLOCK + t < rest:
                own[i] = values[base + (i * BLOCK + t)]
        for i in range(ITEMS):
            tile[slot(i * BLOCK + t)] = own[i]
        kb.syncthreads()
        previous = 0
        if t > 0:
            previous = tile[slot(t * ITEMS - 1)]
        elif base > 0:
            previous = values[base - 1]
        found = 0
        for i in range(ITEMS):
            own[i] = 0
            if t * ITEMS + i < rest:
                x = tile[t * (ITEMS + 1) + i]
                if x != previous or base + (t * ITEMS + i) == 0:
                    own[i] = 1
                    found = found + 1
                previous = x
        sums[slot(t)] = found
        in_tile = scan_block(sums)
        place = sums[slot(t)]
        for i in range(ITEMS):
            if own[i] == 1:
                begins[place] = t * ITEMS + i
                place = place + 1
        kb.syncthreads()
        for k in range(t, in_tile, BLOCK):
            begin = begins[k]
            run_values[number + k] = tile[slot(begin)]
            if k > 0:
                run_lengths[number + k - 1] = begin - begins[k - 1]
            elif number > 0:
                run_lengths[number - 1] = base + begin - last
        if in_tile > 0:
            last = base + begins[in_tile - 1]
        number = number + in_tile
        kb.syncthreads()
        done = done + TILE
    if t == 0 and kb.block_idx() == kb.grid_dim() - 1:
        run_count[0] = number
        run_lengths[number - 1] = count - last
