"""What benchmarks/fast.py measures beside kernels of other modules: threads of a block or warp that work together."""

import kbuild as kb

BLOCK = 256
SIDE, HIGH = 32, 8  # of a tile that is turned, and of the block that turns it
MOST = 1024  # blocks of a scan, and threads of the one that adds up what they have found


@kb.kernel
def transpose(a: kb.array2d(dtype=float), turned: kb.array2d(dtype=float)):
    """turned[j, i] = a[i, j], any sizes; blocks of SIDE x HIGH threads."""
    tile = kb.shared_array((SIDE, SIDE + 1), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    row = kb.block_idx().y * SIDE + y
    column = kb.block_idx().x * SIDE + x
    for k in range(0, SIDE, HIGH):
        if row + k < a.shape[0] and column < a.shape[1]:
            tile[y + k, x] = a[row + k, column]
    kb.syncthreads()
    row = kb.block_idx().x * SIDE + y
    column = kb.block_idx().y * SIDE + x
    for k in range(0, SIDE, HIGH):
        if row + k < turned.shape[0] and column < turned.shape[1]:
            turned[row + k, column] = tile[x, y + k]


@kb.kernel(block_dim=BLOCK, launch_bounds="auto")
def reduction(values: kb.array(dtype=kb.vec4), parts: kb.array(dtype=float)):
    """The sum of what each block has, four numbers a trip; once more, with one block, the sum of these."""
    own = 0.0
    for i in kb.grid_range(len(values)):
        four = values[i]
        own += (four[0] + four[1]) + (four[2] + four[3])
    total = kb.block_sum(own)
    if kb.thread_idx() == 0:
        parts[kb.block_idx()] = total


@kb.func
def chunk(fours: int) -> int:
    """How many vectors of four each block of the launch has: one for each thread, so many times, the same for all."""
    tiles = (fours + BLOCK - 1) // BLOCK
    return (tiles + kb.grid_dim() - 1) // kb.grid_dim() * BLOCK


@kb.kernel(block_dim=BLOCK)
def scan_sums(values: kb.array(dtype=kb.vec4i), sums: kb.array(dtype=int)):
    """First of three launches of a prefix sum: the sum of each block's elements."""
    first = kb.block_idx() * chunk(len(values))
    last = kb.min(first + chunk(len(values)), len(values))
    own = 0
    for i in range(first + kb.thread_idx(), last, BLOCK):
        four = values[i]
        own += four[0] + four[1] + four[2] + four[3]
    total = kb.block_sum(own)
    if kb.thread_idx() == 0:
        sums[kb.block_idx()] = total


@kb.kernel(block_dim=MOST)
def scan_blocks(sums: kb.array(dtype=int)):
    """Second: what is before each block, in place. One block, with a thread for each."""
    i = kb.thread_idx()
    before = kb.block_scan_exclusive(sums[i] if i < len(sums) else 0)
    if i < len(sums):
        sums[i] = before


@kb.kernel(block_dim=BLOCK)
def scan_elements(values: kb.array(dtype=kb.vec4i), sums: kb.array(dtype=int), scanned: kb.array(dtype=kb.vec4i)):
    """Third: each element with all before it; as many blocks as in the first."""
    of_tile = kb.shared_array(1, int)
    t = kb.thread_idx()
    first = kb.block_idx() * chunk(len(values))
    last = kb.min(first + chunk(len(values)), len(values))
    before = sums[kb.block_idx()]
    for start in range(first, last, BLOCK):
        i = start + t
        four = kb.vec4i()
        if i < last:
            four = values[i]
        a = four[0]
        b = a + four[1]
        c = b + four[2]
        d = c + four[3]
        upto = kb.block_scan_inclusive(d)
        if t == BLOCK - 1:
            of_tile[0] = upto
        kb.syncthreads()
        own = before + upto - d
        if i < last:
            scanned[i] = kb.vec4i(own + a, own + b, own + c, own + d)
        before += of_tile[0]  # which the next trip's scan lets nobody overwrite before all have read it


@kb.kernel(block_dim=BLOCK)
def histogram(values: kb.array(dtype=kb.vec4ub), counts: kb.array(dtype=int)):
    """How many elements have each of 256 values, four a trip; each block counts in shared memory."""
    own = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    own[t] = 0
    kb.syncthreads()
    for i in kb.grid_range(len(values)):
        four = values[i]
        for k in range(4):
            kb.atomic_add(own, int(four[k]), 1)
    kb.syncthreads()
    if own[t] > 0:
        kb.atomic_add(counts, t, own[t])


@kb.kernel(block_dim=BLOCK)
def sparse_product(
    starts: kb.array(dtype=int),
    columns: kb.array(dtype=int),
    values: kb.array(dtype=float),
    x: kb.array(dtype=float),
    y: kb.array(dtype=float),
):
    """y = A x, the rows of A one after the other (CSR), row i from starts[i] on; a warp a row."""
    row = kb.tid() // 32
    if row < len(y):
        own = 0.0
        for k in range(starts[row] + kb.lane_id(), starts[row + 1], 32):
            own += values[k] * x[columns[k]]
        total = kb.warp_sum(own)
        if kb.lane_id() == 0:
            y[row] = total
