import kbuild as kb

SIZE = 16


@kb.func
def block_sum(tile: kb.array(dtype=float)):
    t = kb.thread_idx()
    s = len(tile) // 2
    while s > 0:
        if t < s:
            tile[t] = tile[t] + tile[t + s]
        kb.syncthreads()
        s = s // 2
    return tile[0]


@kb.kernel(block_dim=64)
def reduce(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(64, float)
    tile[kb.thread_idx()] = data[kb.tid()]
    kb.syncthreads()
    total = block_sum(tile)
    if kb.thread_idx() == 0:
        out[kb.block_idx()] = total


@kb.kernel
def transpose(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    tile = kb.shared_array((SIZE, SIZE + 1), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    row = tile[y]
    row[x] = a[kb.block_idx().y * SIZE + y, kb.block_idx().x * SIZE + x]
    kb.syncthreads()
    out[kb.block_idx().x * SIZE + y, kb.block_idx().y * SIZE + x] = tile[x, y]


@kb.kernel
def count(data: kb.array2d(dtype=int), counts: kb.array(dtype=int), lanes: kb.uint32):
    bins = kb.shared_array(shape=32, dtype=int)
    i, j = kb.tid()
    bins[kb.lane_id()] = 0
    kb.syncwarp()
    kb.atomic_add(bins, data[i, j] % 32, 1)
    kb.syncwarp(lanes)
    counts[kb.lane_id()] += bins[kb.lane_id()] + kb.grid_dim() * kb.block_dim()
