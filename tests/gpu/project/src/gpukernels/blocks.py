"""Threads of a block that work together: shared memory, barriers, positions in the grid."""

import kbuild as kb

TILE = 32
ROWS = 8
BINS = 100


@kb.struct
class Extreme:
    value: float
    at: int


@kb.func
def block_sum(tile: kb.array(dtype=kb.float64), t: int):
    """The sum of one element a thread, for blocks of any size, in every thread."""
    n = kb.block_dim()
    while n > 1:
        half = (n + 1) // 2
        if t < n - half:
            tile[t] = tile[t] + tile[t + half]
        kb.syncthreads()
        n = half
    return tile[0]


@kb.kernel
def block_sums(data: kb.array(dtype=kb.float64), sums: kb.array(dtype=kb.float64), total: kb.array(dtype=kb.float64)):
    tile = kb.shared_array(1024, kb.float64)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()]
    kb.syncthreads()
    found = block_sum(tile, t)
    if t == 0:
        sums[kb.block_idx()] = found
    if t == kb.block_dim() - 1:
        total[0] += found


@kb.kernel
def transpose(a: kb.array2d(dtype=int), out: kb.array2d(dtype=int)):
    """Blocks of 32 × 8 threads move tiles of 32 × 32; the 33rd column keeps a column's elements in different banks."""
    tile = kb.shared_array((TILE, TILE + 1), int)
    x = kb.thread_idx().x
    j = kb.block_idx().x * TILE + x
    for k in range(0, TILE, ROWS):
        i = kb.block_idx().y * TILE + kb.thread_idx().y + k
        if i < a.shape[0] and j < a.shape[1]:
            tile[kb.thread_idx().y + k, x] = a[i, j]
    kb.syncthreads()
    j = kb.block_idx().y * TILE + x
    for k in range(0, TILE, ROWS):
        i = kb.block_idx().x * TILE + kb.thread_idx().y + k
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = tile[x, kb.thread_idx().y + k]


@kb.kernel
def histogram(data: kb.array(dtype=int), counts: kb.array(dtype=int), sums: kb.array(dtype=float)):
    bins = kb.shared_array(BINS, int)
    weights = kb.shared_array(BINS, float)
    for b in range(kb.thread_idx(), BINS, kb.block_dim()):
        bins[b] = 0
        weights[b] = 0.0
    kb.syncthreads()
    for i in range(kb.tid(), data.shape[0], kb.block_dim() * kb.grid_dim()):
        kb.atomic_add(bins, data[i], 1)
        weights[data[i]] += 0.25
    kb.syncthreads()
    for b in range(kb.thread_idx(), BINS, kb.block_dim()):
        counts[b] += bins[b]
        sums[b] += weights[b]


@kb.kernel
def smallest(data: kb.array(dtype=float), out: kb.array(dtype=Extreme)):
    """Structs in shared memory, atomics that give a ticket, a row as a view."""
    best = kb.shared_array((2, 64), Extreme)
    done = kb.shared_array(1, kb.uint32)
    t = kb.thread_idx()
    i = kb.tid()
    now = best[0]
    now[t] = Extreme(data[i], i)
    if t == 0:
        done[0] = kb.uint32(0)
    kb.syncthreads()
    s = 32
    while s > 0:
        if t < s and best[0, t + s].value < best[0, t].value:
            best[0, t] = best[0, t + s]
        kb.syncthreads()
        s //= 2
    ticket = kb.atomic_add(done, 0, kb.uint32(1))
    kb.syncthreads()
    if ticket == kb.uint32(63) and done[0] == kb.uint32(64):
        out[kb.block_idx()] = best[0, 0]


@kb.kernel
def warp_scan(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    """Sums up to each lane, for every warp by itself."""
    tile = kb.shared_array((32, 32), int)
    lane = kb.lane_id()
    row = tile[kb.thread_idx() // 32]
    row[lane] = data[kb.tid()]
    kb.syncwarp()
    d = 1
    while d < 32:
        before = 0
        if lane >= d:
            before = row[lane - d]
        kb.syncwarp()
        row[lane] = row[lane] + before
        kb.syncwarp()
        d *= 2
    if lane < 16:
        kb.syncwarp(mask=0xFFFF)
    out[kb.tid()] = row[lane]


@kb.func
def neighbour(value: int):
    """Shared memory of a function: every call works on the same elements."""
    line = kb.shared_array(1024, int)
    t = kb.thread_idx()
    line[t] = value
    kb.syncthreads()
    found = line[(t + 1) % kb.block_dim()]
    kb.syncthreads()
    return found


@kb.kernel
def neighbours(data: kb.array2d(dtype=int), out: kb.array2d(dtype=int)):
    i, j = kb.tid()
    out[i, j] = neighbour(data[i, j]) * 1000 + neighbour(-data[i, j])


@kb.kernel
def positions(out: kb.array2d(dtype=int)):
    i = kb.tid()
    out[i, 0] = kb.block_idx() * kb.block_dim() + kb.thread_idx()
    out[i, 1] = kb.thread_idx().x + 1000 * (kb.thread_idx().y + 1000 * kb.thread_idx().z)
    out[i, 2] = kb.block_idx().x + 1000 * (kb.block_idx().y + 1000 * kb.block_idx().z)
    out[i, 3] = kb.block_dim().x + 1000 * (kb.block_dim().y + 1000 * kb.block_dim().z)
    out[i, 4] = kb.grid_dim().x + 1000 * (kb.grid_dim().y + 1000 * kb.grid_dim().z)
    out[i, 5] = kb.lane_id()
    out[i, 6] = kb.grid_dim()


@kb.kernel
def sizes(out: kb.array(dtype=int)):
    """An ordinary kernel: its last block may be short."""
    out[kb.tid()] = kb.block_dim() * 100 + kb.lane_id()
