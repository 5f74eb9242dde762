"""Loops and vectors over arrays of every layout: with gaps and without, backwards, at any address, beyond 4 GB."""

import kbuild as kb


@kb.kernel
def rows(a: kb.array2d[float], b: kb.array(dtype=float), out: kb.array2d[float], first: int, last: int):
    """Loops that have a version of their own for arrays without gaps, and a column, which has none."""
    i = kb.tid()
    for j in range(first, last):
        out[i, 0] = out[i, 0] + a[i, j] * b[j]
    for j in range(first + i, last - 1, 3):
        out[i, 1] = out[i, 1] + a[i, j + 1] - b[j]
    for j in range(last - 1, first - 1, -1):
        out[i, 2] = 0.5 * out[i, 2] + a[i, j]
    for j in range(a.shape[0]):
        out[i, 3] = out[i, 3] + a[j, first]


@kb.kernel
def vectors(
    a: kb.array(dtype=kb.vec4),
    m: kb.array2d[kb.mat22],
    n: kb.array(dtype=kb.vec4ub),
    s: kb.array(dtype=kb.vec2),
    out: kb.array(dtype=kb.vec4),
):
    """Elements of 16, 8 and 4 bytes, loaded and stored whole and in parts, in loops and out of them."""
    i = kb.tid()
    for j in range(len(a)):
        out[i] = out[i] + a[j] * float(i + j)
    out[i].w = float(int(n[i][1]) + int(n[i][3]))
    m[0, i] = m[0, i] + kb.mat22(1.0, 2.0, 3.0, 4.0)
    s[i] = kb.vec2(s[i].y, s[i].x)


@kb.kernel
def doubled(a: kb.array(dtype=kb.vec4), out: kb.array(dtype=kb.vec4)):
    for i in kb.grid_range(len(a)):
        out[i] = a[i] * 2.0


@kb.kernel
def far(a: kb.array2d[kb.uint8], row: kb.array(dtype=int), out: kb.array(dtype=int), count: int):
    """The number of a row times its stride does not fit into 32 bits."""
    i = kb.tid()
    for j in range(count):
        out[i] = out[i] + int(a[row[i], j])
    a[row[i], count] = kb.uint8(out[i])


@kb.kernel
def strided(a: kb.array(dtype=int), start: int, stop: int, step: int, out: kb.array(dtype=int)):
    """`range` and `grid_range` with a start and a step of their own."""
    for i in kb.grid_range(start, stop, step):
        kb.atomic_add(out, 0, a[i])
    for i in kb.grid_range(stop):
        kb.atomic_add(out, 1, a[i])


@kb.kernel
def sums(data: kb.array(dtype=float), out: kb.array2d[float]):
    """Sums and scans, whose order of additions depends on the size of the block."""
    i = kb.tid()
    x = data[i]
    out[i, 0] = kb.warp_sum(x)
    out[i, 1] = kb.block_sum(x)
    out[i, 2] = kb.block_scan_inclusive(x)
    out[i, 3] = kb.block_scan_exclusive(x)
    out[i, 4] = kb.block_max(x)
    out[i, 5] = kb.block_min(x)


@kb.kernel(block_dim=64, enable_backward=False)
def turned_in_shared(
    a: kb.array(dtype=kb.vec4),
    m: kb.array(dtype=kb.mat22),
    n: kb.array(dtype=kb.vec4ub),
    h: kb.array(dtype=kb.vec4h),
    out: kb.array(dtype=kb.vec4),
    out_m: kb.array(dtype=kb.mat22),
    out_n: kb.array(dtype=kb.vec4ub),
    out_h: kb.array(dtype=kb.vec4h),
):
    """Vectors in shared memory, behind arrays that end anywhere; whole, in parts, and as rows."""
    odd = kb.shared_array(3, kb.uint8)
    four = kb.shared_array((8, 9), kb.vec4)
    more = kb.shared_array(1, float)
    two = kb.shared_array(64, kb.mat22)
    third = kb.shared_array(5, kb.uint8)
    small = kb.shared_array(64, kb.vec4ub)
    halves = kb.shared_array(64, kb.vec4h)
    t = kb.thread_idx()
    i = kb.tid()
    if t == 0:
        odd[2] = kb.uint8(1)
        more[0] = 2.0
        third[4] = kb.uint8(3)
    row = four[t // 8]
    row[t % 8] = a[i]
    two[t] = m[i]
    small[t] = n[i]
    halves[t] = h[i]
    kb.syncthreads()
    out[i] = four[t % 8, t // 8] * more[0] + kb.vec4(float(odd[2]), four[0, 1][2], 0.0, four[0, 1].w)
    out_m[i] = two[63 - t]
    out_n[i] = small[63 - t] + kb.vec4ub(third[4])
    out_h[i] = halves[63 - t]


@kb.kernel(block_dim=64, enable_backward=False)
def turned_in_given(a: kb.array(dtype=kb.vec4), out: kb.array(dtype=kb.vec4)):
    """The same in memory that the launch gives, behind an array that ends anywhere."""
    odd = kb.shared_array(7, kb.uint8)
    given = kb.shared_array(None, kb.vec4)
    t = kb.thread_idx()
    if t < 7:
        odd[t] = kb.uint8(t)
    given[t] = a[kb.tid()]
    kb.syncthreads()
    out[kb.tid()] = given[63 - t] + kb.vec4(float(odd[t % 7]))
