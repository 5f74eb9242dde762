"""What lanes of a warp do together, atomics with an order, hints, and memory that the launch gives."""

import kbuild as kb


@kb.kernel
def together(a: kb.array(dtype=kb.int8), h: kb.array(dtype=kb.float16), masks: kb.array(dtype=kb.uint32), n: int):
    tile = kb.shared_array((None, 3), kb.int16)
    i = kb.tid()
    kb.assume(n > i)
    a[i] = kb.shfl(a[i], n) + kb.shfl_up(a[i], 1, width=8)
    h[i] = kb.shfl_xor(kb.load_readonly(h, i), 3)
    masks[i] = kb.ballot(kb.any(n > 3)) ^ kb.match_any(kb.int64(n))
    tile[len(tile) - 1, 2] = kb.int16(0)
    kb.atomic_add(masks, i, kb.uint32(1), order="acq_rel", scope="block")
    for k in kb.grid_range(n):
        kb.store_streaming(masks, k, kb.uint32(kb.warp_id()))
