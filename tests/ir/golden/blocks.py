import kbuild as kb


@kb.func
def swapped(plane: kb.array2d(dtype=kb.vec3), spare: kb.array(dtype=float)):
    mine = kb.shared_array((2, 3, 4), kb.int8)
    mine[1, 2, 3] = kb.int8(spare.shape[0])
    kb.syncthreads()
    return plane[0, 1] * spare[0]


@kb.kernel
def blocks(a: kb.array(dtype=float), lanes: kb.uint32):
    tile = kb.shared_array((4, kb.static(2 * 2)), kb.vec3)
    flags = kb.shared_array(8, kb.bool_)
    row = tile[kb.thread_idx().y]
    row[kb.lane_id()].x = a[kb.block_idx() * kb.block_dim() + kb.thread_idx()]
    flags[kb.grid_dim().z] = row[0].x > float(len(row) + tile.shape[1])
    kb.syncthreads()
    v = swapped(tile, a)
    kb.syncwarp(lanes & kb.uint32(0xFF))
    if flags[0]:
        kb.syncwarp()
        a[kb.tid()] = v.x + swapped(tile, a).y
