"""What the lanes of a warp do together, loops over the grid, hints, and the order of atomics."""

import kbuild as kb

NARROW = 8


@kb.struct
class Holder:
    values: kb.array(dtype=float)


@kb.kernel
def shuffles(a: kb.array(dtype=float), n: int, x: kb.float64, holder: Holder):
    a[0] = kb.shfl(a[1], n)
    a[1] = kb.shfl_up(value=a[1], delta=1, width=NARROW)
    a[2] = kb.shfl_down(a[1], 1, width=kb.static(2 * NARROW))
    a[3] = kb.shfl_xor(a[1], mask=n)
    a[4] = kb.shfl(a[1])  # E: KB130 kb.shfl(value, lane, width) needs an argument for 'lane'
    #      ^^^^^^^^^^^^^
    a[5] = kb.shfl(a[1], n, 8, 9)  # E: KB130 kb.shfl(value, lane, width)
    a[6] = kb.shfl(a[1], delta=n)  # E: KB130 does not take 'delta' here
    a[7] = kb.shfl(a[1], n, lane=n)  # E: KB130 does not take 'lane' here
    a[8] = kb.shfl(*a)  # E: KB130 kb.shfl(value, lane, width)
    a[9] = kb.shfl(a[1], kb.int64(n))  # E: KB120 the lane of kb.shfl must be int32, not int64
    a[10] = kb.shfl(a[1], n, n)  # E: KB130 the width of kb.shfl is a constant, 1, 2, 4, 8, 16 or 32, not int32
    a[11] = kb.shfl(a[1], n, 12)  # E: KB130 16 or 32, not 12; leave it out for the whole warp
    a[12] = kb.shfl(a[1], n, 64)  # E: KB130 16 or 32, not 64
    a[13] = kb.shfl(a[1], n, True)  # E: KB130 16 or 32, not True
    a[14] = kb.shfl(x, n)  # E: KB120 the value must be float32, not float64
    b = kb.shfl(a, n)  # E: KB170 kb.shfl does not work on array1[float32]; pass numbers
    c = kb.shfl(holder, n)  # E: KB170 kb.shfl does not work on array1[float32]
    kb.shfl(a[1], n)


@kb.kernel
def votes(a: kb.array(dtype=kb.uint32), flags: kb.array(dtype=bool), f: float, n: int):
    a[0] = kb.ballot(f > 0.0)
    a[1] = kb.ballot(n)
    a[2] = kb.match_any(n)
    flags[0] = kb.any(flags[1]) and kb.all(condition=flags[2])
    a[3] = kb.match_any(f)  # E: KB170 kb.match_any compares integers, not float32
    a[4] = kb.ballot()  # E: KB130 kb.ballot(condition) needs an argument for 'condition'
    a[5] = kb.any(n)  # E: KB120 the value must be uint32, not bool
    a[6] = kb.ballot(kb.vec2(f, f))  # E: KB123 is no truth value
    a[7] = kb.uint32(kb.warp_id())
    a[8] = kb.warp_id(1)  # E: KB130 kb.warp_id takes no arguments, not 1
    a[9] = kb.warp_id().x  # E: KB142 kb.warp_id() has no attribute 'x'


@kb.kernel
def sums(a: kb.array(dtype=float), flags: kb.array(dtype=bool)):
    a[0] = kb.warp_sum(a[1]) + kb.block_scan_exclusive(a[2])
    flags[0] = kb.warp_sum(flags[1])  # E: KB130 kb.warp_sum takes (value: number) or (value: composite), not (bool)
    a[1] = kb.block_max(a)  # E: KB130 kb.block_max takes (value: number) or (value: composite)
    a[2] = kb.block_sum(a[1], a[2])  # E: KB130 kb.block_sum takes
    a[3] = kb.block_sum()  # E: KB130 kb.block_sum takes


@kb.kernel
def loops(a: kb.array(dtype=float), n: int, m: kb.int64, f: float):
    for i in kb.grid_range(n):
        a[i] = 1.0
    for j in kb.grid_range(kb.int64(3), m, 2):
        a[j] = 1.0
    for k in kb.grid_range(f):  # E: KB130 kb.grid_range() takes integers, not float32
        a[k] = 1.0
    for k1 in kb.grid_range(n, m):  # E: KB120
        a[k1] = 1.0
    for k2 in kb.grid_range():  # E: KB130 kb.grid_range() takes 1 to 3 arguments, not 0
        a[k2] = 1.0
    for k3 in kb.grid_range(0, n, 0):  # E: KB130 kb.grid_range() with a step of zero
        a[k3] = 1.0
    for k4 in kb.grid_range(0, n, -2):  # E: KB130 kb.grid_range() with a step of -2; the step is one or more
        a[k4] = 1.0
    for k5 in kb.grid_range(stop=n):  # E: KB130 takes 1 to 3 plain arguments
        a[k5] = 1.0
    for k6 in reversed(kb.grid_range(n)):  # E: KB110 kernels loop over `range(…)` only
        a[k6] = 1.0
    k7 = kb.grid_range(n)  # E: KB131 kb.grid_range gives no value; loop over it
    for n in kb.grid_range(m):  # E: KB124 'n' is int32 before, and int64 as a loop variable
        a[0] = 1.0


@kb.kernel
def hints(a: kb.array2d(dtype=float), h: kb.array(dtype=Holder), n: int, v: kb.vec3):
    tile = kb.shared_array(4, float)
    tile[0] = kb.load_readonly(a, n, 1)
    kb.store_streaming(a, n, 0, kb.load_streaming(a, n, n))
    b = kb.load_readonly(a, n)  # E: KB140 1 index(es) for array2
    c = kb.load_readonly(tile, 0)  # E: KB170 not on one in shared memory; index it
    d = kb.load_streaming(v, 0)  # E: KB170 works on an array, not on vec3
    e = kb.load_streaming(a)  # E: KB130 kb.load_streaming(array, index …)
    f = kb.load_readonly(h, 0)  # E: KB170 does not work on elements of
    g = kb.load_readonly(a, i=0)  # E: KB130 positional arguments only
    x = kb.store_streaming(a, 0, 0, 1.0)  # E: KB131
    kb.store_streaming(a, 0)  # E: KB130 kb.store_streaming(array, index …, value)
    kb.store_streaming(a, 0, 1.0)  # E: KB140
    kb.store_streaming(a, 0, 0, n)  # E: KB120 the value of kb.store_streaming must be float32, not int32
    kb.load_readonly(a, 0, 0)  # E: KB110 this call does nothing
    kb.assume(n > 3)
    kb.assume()  # E: KB130 kb.assume(condition) takes one argument, not 0
    kb.assume(v)  # E: KB123 is no truth value
    y = kb.assume(n > 3)  # E: KB131


@kb.kernel
def orders(a: kb.array(dtype=int), n: int):
    kb.atomic_add(a, 0, 1, order="acquire", scope="block")
    a[1] = kb.atomic_cas(a[0], 1, 2, scope="system")
    kb.atomic_add(a, 0, 1, order="seq_cst")  # E: KB130 the order of kb.atomic_add is one of 'relaxed', 'acquire', 'release', 'acq_rel', not 'seq_cst'
    #                            ^^^^^^^^^
    kb.atomic_add(a, 0, 1, order="aquire")  # E: KB130 not 'aquire'; did you mean 'acquire'?
    kb.atomic_add(a, 0, 1, scope="grid")  # E: KB130 the scope of kb.atomic_add is one of 'device', 'block', 'system', not 'grid'
    kb.atomic_add(a, 0, 1, order=n)  # E: KB130 not int32
    kb.atomic_add(a, 0, value=1)  # E: KB130 positional arguments only, but for order and scope


@kb.func
def keeps(x: float):
    kept = kb.shared_array(None, float)
    kept[0] = x
    return kept[1]


@kb.kernel
def open_sizes(a: kb.array(dtype=float), n: int):
    tile = kb.shared_array((None, 4), float)
    wrong = kb.shared_array((4, None), float)  # E: KB194 only the first extent may be open
    tile[n, 4] = 1.0  # E: KB141 index 4 is outside 0 … 3
    tile[-1, -1] = float(tile.shape[0] + len(tile) + len(tile[0]))
    a[0] = tile[0.5, 0]  # E: KB122 an index must be int32


@kb.kernel
def two_open_sizes(a: kb.array(dtype=float)):  # E: KB195 and there is one such memory in a block; declare one, pass it
    tile = kb.shared_array(None, float)
    tile[0] = keeps(a[0])
