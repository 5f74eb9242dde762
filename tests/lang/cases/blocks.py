"""Arrays in shared memory, barriers, and positions in the grid."""

import kbuild as kb

SIZE = 16
LARGE = 4096


@kb.struct
class Holder:
    values: kb.array(dtype=float)


@kb.kernel
def declared_anywhere(a: kb.array(dtype=float), n: int):
    if n > 3:
        tile = kb.shared_array(SIZE, float)  # E: KB193 not to a branch or a loop
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        tile[0] = 1.0
    for i in range(n):
        row = kb.shared_array(SIZE, float)  # E: KB193 declare it at the top level of a function
        row[i] = 1.0
    while n > 4:
        while_row = kb.shared_array(SIZE, float)  # E: KB193 belongs to the whole block
    for k in range(3):
        unrolled = kb.shared_array(kb.static(k + 1), float)  # E: KB193 not to a branch or a loop
    first = second = kb.shared_array(4, int)  # E: KB193 gets one name
    a[0] = kb.shared_array(4, float)[0]  # E: KB193 is declared, not computed
    a[1], b = kb.shared_array(4, float), 1.0  # E: KB193 is declared, not computed
    a[2] = kb.shared_array(4, float)  # E: KB193 gets one name
    typed: kb.array(dtype=float) = kb.shared_array(4, float)  # E: KB102
    kb.shared_array(4, float)  # E: KB193 is declared, not computed


@kb.kernel
def names(a: kb.array(dtype=float)):
    a = kb.shared_array(4, float)  # E: KB193 'a' is a variable already
    tile = kb.shared_array(4, float)
    tile = kb.shared_array(4, float)  # E: KB193 'tile' is a variable already
    other = kb.shared_array(4, float)
    tile = other  # E: KB193 'tile' is an array in shared memory and cannot be assigned again
    tile = 1.0  # E: KB193 cannot be assigned again
    tile += 1.0  # E: KB121
    if tile and a is not None:
        tile[0] = other[0]


@kb.kernel
def shapes(a: kb.array(dtype=float), n: int):
    kb.syncthreads()
    t1 = kb.shared_array(n, float)  # E: KB194 must be constant integers, not int32
    #                    ^
    t2 = kb.shared_array((SIZE, a.shape[0]), float)  # E: KB194 must be constant integers
    t3 = kb.shared_array(0, float)  # E: KB194 0 is no extent
    t4 = kb.shared_array((4, -1), float)  # E: KB194 -1 is no extent
    t5 = kb.shared_array((1, 2, 3, 4, 5), float)  # E: KB194 1 to 4 dimensions, not 5
    t6 = kb.shared_array((), float)  # E: KB194 1 to 4 dimensions, not 0
    t7 = kb.shared_array(2.5, float)  # E: KB194 must be constant integers, not the number 2.5
    t8 = kb.shared_array(4, 7)  # E: KB194 must be a type, not the number 7
    t9 = kb.shared_array(4, list)  # E: KB194 no type of the kernel language
    t10 = kb.shared_array(4, kb.array(dtype=float))  # E: KB112
    t11 = kb.shared_array(4)  # E: KB130 kb.shared_array(shape, dtype) takes both
    t12 = kb.shared_array(4, float, 3)  # E: KB130 kb.shared_array(shape, dtype)
    t13 = kb.shared_array(4, shape=4)  # E: KB130 kb.shared_array(shape, dtype)
    t14 = kb.shared_array(shape=4, type=float)  # E: KB130 kb.shared_array(shape, dtype)
    t15 = kb.shared_array(*a)  # E: KB130 kb.shared_array(shape, dtype)
    t16 = kb.shared_array(True, float)  # E: KB194 must be constant integers, not bool
    t17 = kb.shared_array(1 << 31, float)  # E: KB194 is no extent
    t8[0] = 1.0


@kb.func
def takes_plane(plane: kb.array2d(dtype=float)):
    return plane[0, 0]


@kb.kernel
def elements(a: kb.array(dtype=float), n: int):
    tile = kb.shared_array((4, SIZE), float)
    tile[4, 0] = 1.0  # E: KB141 index 4 is outside 0 … 3
    tile[0, 16] = 1.0  # E: KB141 index 16 is outside 0 … 15
    tile[n, -1] = 1.0
    tile[-5, 0] = 1.0  # E: KB141 index -5 is outside 0 … 3
    tile[0] = 1.0  # E: KB140 1 index(es) for shared
    tile[0, 0, 0] = 1.0  # E: KB140 3 index(es) for shared
    tile[0, 0] = kb.int32(1)  # E: KB120 the value must be float32
    tile.size = 3  # E: KB142 no attribute 'size'
    row = tile[1]
    row[SIZE] = 1.0  # E: KB141 index 16 is outside 0 … 15
    kb.atomic_add(tile, 0, 1.0)  # E: KB140
    a[0] = takes_plane(row)  # E: KB120 of cases.blocks:takes_plane must be array2[float32], not shared[float32, 16]
    holder = Holder(row)  # E: KB120 must be array1[float32], not shared[float32, 16]
    a[1] = holder.values[0]


@kb.kernel
def too_large(a: kb.array(dtype=float)):  # E: KB195 takes 65544 bytes of shared memory in each block (tile 65536, more 8), and CUDA allows 49152
    tile = kb.shared_array((4, LARGE), float)
    more = kb.shared_array(1, kb.float64)
    tile[0, 0] = float(more[0])


@kb.func
def needs_half(x: float):
    half = kb.shared_array(6145, float)
    half[0] = x
    return half[1]


@kb.kernel
def too_large_together(a: kb.array(dtype=float)):  # E: KB195 (half 24580, half 24580), and CUDA allows 49152; make the arrays smaller
    half = kb.shared_array(6145, float)
    half[0] = needs_half(a[0]) + needs_half(a[1])


@kb.kernel
def barriers(a: kb.array(dtype=float), n: int, lanes: kb.uint32):
    x = kb.syncthreads()  # E: KB131 kb.syncthreads gives no value; write it as a statement of its own
    #   ^^^^^^^^^^^^^^^^
    a[0] = a[1] + kb.syncwarp()  # E: KB131 kb.syncwarp gives no value
    kb.syncthreads(3)  # E: KB130 takes no arguments, not 1
    kb.syncwarp(lanes, lanes)  # E: KB130 takes one mask of lanes
    kb.syncwarp(lane=lanes)  # E: KB130 takes one mask of lanes
    kb.syncwarp(*a)  # E: KB130 takes one mask of lanes
    kb.syncwarp(n)  # E: KB120 the mask of kb.syncwarp must be uint32, not int32
    #           ^
    kb.syncwarp(-1)  # E: KB122 the mask of kb.syncwarp must be uint32
    kb.syncwarp(1 << 32)  # E: KB122 must be uint32
    kb.syncwarp(lanes)
    kb.syncwarp(mask=0xFF)
    kb.syncthreads  # E: KB110 does nothing


@kb.kernel
def positions(a: kb.array(dtype=int)):
    a[0] = kb.thread_idx(0)  # E: KB130 kb.thread_idx takes no arguments, not 1
    a[1] = kb.block_dim(axis=0)  # E: KB130 takes no arguments, not 1
    a[2] = kb.block_idx().w  # E: KB142 kb.block_idx() has no attribute 'w'; its parts are .x, .y and .z
    #      ^^^^^^^^^^^^^^^^
    a[3] = kb.lane_id().x  # E: KB142 kb.lane_id() has no attribute 'x'
    a[4] = kb.grid_dim().x.y  # E: KB142 kb.grid_dim().x has no attribute 'y'
    x, y = kb.thread_idx()  # E: KB132 int32 cannot be unpacked
    a[5] = kb.thread_idx()[0]  # E: KB140 int32 cannot be indexed
    kb.thread_idx()  # E: KB110 this call does nothing
    kb.thread_idx().x = 3  # E: KB143
