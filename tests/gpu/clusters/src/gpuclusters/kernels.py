"""Blocks in clusters: shared memory of other blocks, read, stored and changed by atomics, and their barrier."""

from functools import lru_cache

import kbuild as kb

SIZES = (1, 2, 3, 4, 5, 8)
MOST = 1024
BINS = 16


@kb.struct
class Cell:
    mass: float
    at: kb.vec3
    tag: kb.int16


@kb.func
def last(values: kb.array(dtype=int)):
    return values[len(values) - 1]


@lru_cache(maxsize=None)
def ring(size):
    """Every block reads the tile of the next one, backwards."""

    @kb.kernel(cluster_dim=size)
    def ring(data: kb.array(dtype=int), out: kb.array(dtype=int), ranks: kb.array(dtype=int)):
        tile = kb.shared_array(MOST, int)
        t = kb.thread_idx()
        tile[t] = data[kb.tid()]
        kb.cluster_sync()
        there = kb.cluster_array(tile, (kb.cluster_rank() + 1) % size)
        out[kb.tid()] = there[kb.block_dim() - 1 - t]
        if t == 0:
            ranks[kb.block_idx()] = kb.cluster_rank() * 100 + kb.cluster_dim()
        kb.cluster_sync()

    return ring


@lru_cache(maxsize=None)
def histogram(size):
    """Bins are shared out among the blocks of a cluster: bin b is in block b % size."""

    @kb.kernel(cluster_dim=size)
    def histogram(
        data: kb.array(dtype=int),
        counts: kb.array2d(dtype=int),
        sums: kb.array2d(dtype=float),
        wide: kb.array2d(dtype=kb.float64),
        most: kb.array2d(dtype=kb.int16),
        tickets: kb.array(dtype=int),
    ):
        bins = kb.shared_array(BINS, int)
        weights = kb.shared_array(BINS, float)
        doubles = kb.shared_array(BINS, kb.float64)
        small = kb.shared_array(BINS, kb.int16)
        ticket = kb.shared_array(1, kb.uint64)
        for b in range(kb.thread_idx(), BINS, kb.block_dim()):
            bins[b] = 0
            weights[b] = 0.0
            doubles[b] = kb.float64(0.0)
            small[b] = kb.int16(-1)
        if kb.thread_idx() == 0:
            ticket[0] = kb.uint64(0)
        kb.cluster_sync()
        value = data[kb.tid()]
        owner = value % size
        kb.atomic_add(kb.cluster_array(bins, owner), value, 1)
        kb.cluster_array(weights, owner)[value] += 0.25
        kb.cluster_array(doubles, owner)[value] += kb.float64(0.5)
        kb.atomic_max(kb.cluster_array(small, owner), value, kb.int16(kb.tid() % 1000))
        drawn = kb.atomic_add(kb.cluster_array(ticket, 0), 0, kb.uint64(1), order="acq_rel")
        tickets[kb.block_idx() // size * size * kb.block_dim() + int(drawn)] += 1
        kb.cluster_sync()
        for b in range(kb.thread_idx(), BINS, kb.block_dim()):
            if b % size == kb.cluster_rank():
                counts[kb.block_idx() // size, b] = bins[b]
                sums[kb.block_idx() // size, b] = weights[b]
                wide[kb.block_idx() // size, b] = doubles[b]
                most[kb.block_idx() // size, b] = small[b]

    return histogram


@kb.kernel(cluster_dim=4, block_dim=64)
def scattered(data: kb.array(dtype=int), out: kb.array2d(dtype=int)):
    """Each thread stores into another block: a row of a view there, a struct, and a part of one."""
    rows = kb.shared_array((2, 64), int)
    cells = kb.shared_array(64, Cell)
    t = kb.thread_idx()
    target = (kb.cluster_rank() + t) % 4  # differs from lane to lane
    kb.cluster_sync()
    there = kb.cluster_array(rows, target)
    row = there[1]
    row[t] = data[kb.tid()]
    kb.cluster_array(rows[0], target)[t] = 3 * data[kb.tid()]
    x = float(data[kb.tid()])
    cells_there = kb.cluster_array(cells, target)
    cells_there[t] = Cell(x, kb.vec3(x + 1.0, 0.0, 0.0), kb.int16(t))
    cells_there[t].at.y = x + 2.0
    kb.cluster_array(cells, target)[t].at[2] += x + 3.0
    kb.cluster_sync()
    out[kb.tid(), 0] = rows[1, t]
    out[kb.tid(), 1] = rows[0, t]
    out[kb.tid(), 2] = int(cells[t].mass)
    out[kb.tid(), 3] = int(cells[t].at.x + cells[t].at.y + cells[t].at.z)
    out[kb.tid(), 4] = int(cells[t].tag)


@kb.kernel(cluster_dim=2, block_dim=128)
def large(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    """Memory that the launch gives; the two blocks hold a list of twice its size together."""
    half = kb.shared_array(None, int)
    count = len(half)
    first = kb.block_idx() // 2 * 2 * count
    for i in range(kb.thread_idx(), count, kb.block_dim()):
        half[i] = data[first + kb.cluster_rank() * count + i]
    kb.cluster_sync()
    for i in range(kb.thread_idx(), count, kb.block_dim()):
        # The whole list backwards: each half is in the other block.
        position = 2 * count - 1 - (kb.cluster_rank() * count + i)
        there = kb.cluster_array(half, position // count)
        out[first + kb.cluster_rank() * count + i] = there[position % count] + 1000000 * int(last(there) >= 0)
    kb.cluster_sync()


@kb.kernel(cluster_dim=4, block_dim=32)
def rounds(values: kb.array(dtype=int), count: int):
    """A value goes round the blocks of a cluster, with a barrier between any two steps."""
    box = kb.shared_array((2, 32), int)
    t = kb.thread_idx()
    box[0, t] = values[kb.tid()]
    kb.cluster_sync()
    for i in range(count):
        there = kb.cluster_array(box, (kb.cluster_rank() + 1) % 4)
        there[(i + 1) % 2, t] = box[i % 2, t] + 1
        kb.cluster_sync()
    values[kb.tid()] = box[count % 2, t]


@kb.kernel(cluster_dim=2)
def grids(out: kb.array2d(dtype=int)):
    """Blocks of a grid with three axes."""
    mark = kb.shared_array(1, int)
    if kb.thread_idx() == 0:
        mark[0] = kb.block_idx()
    kb.cluster_sync()
    if kb.thread_idx() == 0:
        out[kb.block_idx(), 0] = kb.cluster_array(mark, 1 - kb.cluster_rank())[0]
        out[kb.block_idx(), 1] = kb.cluster_rank()
    kb.cluster_sync()


def build():
    """The instances in the bundle."""
    for size in SIZES:
        ring(size)
        histogram(size)
