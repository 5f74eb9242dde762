"""Lanes of a warp and threads of a block that work together, beside plain shared memory and barriers (blocks.py)."""

from typing import Any

import kbuild as kb

# Columns of what `shuffled` writes: operation and width.
SHUFFLES = [(name, width) for name in ("shfl", "shfl_up", "shfl_down", "shfl_xor") for width in (32, 8)]
COLLECTED = ["sum", "min", "max", "scan_inclusive", "scan_exclusive"]  # of the warp, then of the block


@kb.func
def shuffle(i: int, x: Any, by: int, out: Any):
    out[i, 0] = kb.shfl(x, by)
    out[i, 1] = kb.shfl(x, by, 8)
    out[i, 2] = kb.shfl_up(x, by)
    out[i, 3] = kb.shfl_up(x, by, 8)
    out[i, 4] = kb.shfl_down(x, by)
    out[i, 5] = kb.shfl_down(x, by, 8)
    out[i, 6] = kb.shfl_xor(x, by)
    out[i, 7] = kb.shfl_xor(x, by, 8)


@kb.kernel
def shuffled_bool(data: kb.array(dtype=bool), by: kb.array(dtype=int), out: kb.array2d(dtype=bool)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_int8(data: kb.array(dtype=kb.int8), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.int8)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_uint16(data: kb.array(dtype=kb.uint16), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.uint16)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_int32(data: kb.array(dtype=kb.int32), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.int32)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_int64(data: kb.array(dtype=kb.int64), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.int64)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_uint64(data: kb.array(dtype=kb.uint64), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.uint64)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_float16(data: kb.array(dtype=kb.float16), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.float16)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_float32(data: kb.array(dtype=kb.float32), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.float32)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_float64(data: kb.array(dtype=kb.float64), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.float64)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_int16(data: kb.array(dtype=kb.int16), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.int16)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_uint8(data: kb.array(dtype=kb.uint8), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.uint8)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def shuffled_uint32(data: kb.array(dtype=kb.uint32), by: kb.array(dtype=int), out: kb.array2d(dtype=kb.uint32)):
    i = kb.tid()
    shuffle(i, data[i], by[i], out)


@kb.kernel
def matched_int8(data: kb.array(dtype=kb.int8), out: kb.array(dtype=kb.uint32)):
    out[kb.tid()] = kb.match_any(data[kb.tid()])


@kb.kernel
def matched_int16(data: kb.array(dtype=kb.int16), out: kb.array(dtype=kb.uint32)):
    out[kb.tid()] = kb.match_any(data[kb.tid()])


@kb.kernel
def matched_int32(data: kb.array(dtype=kb.int32), out: kb.array(dtype=kb.uint32)):
    out[kb.tid()] = kb.match_any(data[kb.tid()])


@kb.kernel
def matched_int64(data: kb.array(dtype=kb.int64), out: kb.array(dtype=kb.uint32)):
    out[kb.tid()] = kb.match_any(data[kb.tid()])


@kb.kernel
def matched_uint8(data: kb.array(dtype=kb.uint8), out: kb.array(dtype=kb.uint32)):
    out[kb.tid()] = kb.match_any(data[kb.tid()])


@kb.kernel
def matched_uint16(data: kb.array(dtype=kb.uint16), out: kb.array(dtype=kb.uint32)):
    out[kb.tid()] = kb.match_any(data[kb.tid()])


@kb.kernel
def matched_uint32(data: kb.array(dtype=kb.uint32), out: kb.array(dtype=kb.uint32)):
    out[kb.tid()] = kb.match_any(data[kb.tid()])


@kb.kernel
def matched_uint64(data: kb.array(dtype=kb.uint64), out: kb.array(dtype=kb.uint32)):
    out[kb.tid()] = kb.match_any(data[kb.tid()])


@kb.struct
class Hit:
    at: kb.vec3
    frame: kb.mat22d
    near: bool


@kb.kernel
def structs(points: kb.array(dtype=kb.vec3), out: kb.array2d(dtype=float)):
    i = kb.tid()
    hit = Hit(points[i], kb.mat22d(kb.float64(i)), i % 3 == 0)
    other = kb.shfl_xor(hit, 5)
    out[i, 0] = other.at.x + 2.0 * other.at.y + 3.0 * other.at.z
    out[i, 1] = float(other.frame[1, 1])
    out[i, 2] = float(other.near)


@kb.kernel
def votes(
    data: kb.array(dtype=int), wide: kb.array(dtype=kb.uint64), masks: kb.array2d(dtype=kb.uint32),
    truths: kb.array2d(dtype=bool),
):  # fmt: skip
    i = kb.tid()
    masks[i, 0] = kb.ballot(data[i] > 1)
    masks[i, 1] = kb.match_any(data[i])
    masks[i, 2] = kb.match_any(wide[i])
    masks[i, 3] = kb.uint32(kb.warp_id())
    truths[i, 0] = kb.any(data[i] == 3)
    truths[i, 1] = kb.all(data[i] < 3)
    if kb.warp_id() % 2 == 1:  # a warp goes a way of its own
        masks[i, 4] = kb.ballot(True)


@kb.func
def collect(i: int, x: Any, out: Any):
    out[i, 0] = kb.warp_sum(x)
    out[i, 1] = kb.warp_min(x)
    out[i, 2] = kb.warp_max(x)
    out[i, 3] = kb.warp_scan_inclusive(x)
    out[i, 4] = kb.warp_scan_exclusive(x)
    out[i, 5] = kb.block_sum(x)
    out[i, 6] = kb.block_min(x)
    out[i, 7] = kb.block_max(x)
    out[i, 8] = kb.block_scan_inclusive(x)
    out[i, 9] = kb.block_scan_exclusive(x)


@kb.kernel
def collected_int8(data: kb.array(dtype=kb.int8), out: kb.array2d(dtype=kb.int8)):
    collect(kb.tid(), data[kb.tid()], out)


@kb.kernel
def collected_int32(data: kb.array(dtype=kb.int32), out: kb.array2d(dtype=kb.int32)):
    collect(kb.tid(), data[kb.tid()], out)


@kb.kernel
def collected_uint64(data: kb.array(dtype=kb.uint64), out: kb.array2d(dtype=kb.uint64)):
    collect(kb.tid(), data[kb.tid()], out)


@kb.kernel
def collected_float16(data: kb.array(dtype=kb.float16), out: kb.array2d(dtype=kb.float16)):
    collect(kb.tid(), data[kb.tid()], out)


@kb.kernel
def collected_float32(data: kb.array(dtype=kb.float32), out: kb.array2d(dtype=kb.float32)):
    collect(kb.tid(), data[kb.tid()], out)


@kb.kernel
def collected_float64(data: kb.array(dtype=kb.float64), out: kb.array2d(dtype=kb.float64)):
    collect(kb.tid(), data[kb.tid()], out)


@kb.kernel
def collected_vectors(data: kb.array(dtype=kb.vec3), out: kb.array2d(dtype=kb.vec3)):
    collect(kb.tid(), data[kb.tid()], out)


@kb.kernel
def repeated(data: kb.array(dtype=int), out: kb.array(dtype=int), rounds: int):
    """Calls that use the same shared memory, one after the other."""
    total = data[kb.tid()]
    for _ in range(rounds):
        total = kb.block_scan_exclusive(total) % 1000 - kb.block_sum(total % 7) + kb.block_max(total)
    out[kb.tid()] = total


@kb.kernel
def weighted(x: kb.array(dtype=float), w: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = (kb.warp_sum(x[i] * x[i]) + 2.0 * kb.block_sum(x[i])) * w[i]


@kb.kernel
def strided(counts: kb.array(dtype=int), n: int, some: kb.array(dtype=int), first: kb.int64, last: kb.int64):
    for i in kb.grid_range(n):
        counts[i] += kb.tid() + 1
    for j in kb.grid_range(first, last, 3):
        if j % kb.int64(2) == kb.int64(0):
            continue
        some[j - first] += 1


@kb.kernel
def last_block(
    data: kb.array(dtype=int), parts: kb.array(dtype=int), tickets: kb.array(dtype=int), out: kb.array(dtype=int)
):
    """The sum of everything in one launch: the last block adds up what the others have released."""
    is_last = kb.shared_array(1, int)
    own = kb.block_sum(data[kb.tid()])
    if kb.thread_idx() == 0:
        parts[kb.block_idx()] = own
        ticket = kb.atomic_add(tickets, 0, 1, order="acq_rel")
        is_last[0] = int(ticket == kb.grid_dim() - 1)
    kb.syncthreads()
    if is_last[0] != 0:
        total = 0
        for i in range(kb.thread_idx(), kb.grid_dim(), kb.block_dim()):
            total += parts[i]
        total = kb.block_sum(total)
        if kb.thread_idx() == 0:
            out[0] = total


@kb.func
def change(tile: Any, t: int, value: Any):
    """Every thread adds, compares …; of those whose result depends on order, thread 0 alone."""
    kb.atomic_add(tile, 0, value, scope="block")
    kb.atomic_sub(tile, 1, value, order="release", scope="block")
    kb.atomic_min(tile, 2, value, order="acquire")
    kb.atomic_max(tile, 3, value, order="acq_rel", scope="system")
    if t == 0:
        kb.atomic_exch(tile, 4, value, scope="block")
        kb.atomic_cas(tile, 5, type(value)(1), type(value)(9), order="acq_rel", scope="block")
        kb.atomic_cas(tile, 6, type(value)(2), type(value)(9), scope="system")


@kb.func
def change_in_a_block(data: Any, out: Any, start: Any):
    """The same in shared memory and, from place 8 on, in global memory."""
    tile = kb.shared_array(7, type(start))
    t = kb.thread_idx()
    if t < 7:
        tile[t] = start
    kb.syncthreads()
    change(tile, t, data[t])
    kb.syncthreads()
    if t < 7:
        out[0, t] = tile[t]
    change(out[1], t, data[t])


@kb.kernel
def changed_int8(data: kb.array(dtype=kb.int8), out: kb.array2d(dtype=kb.int8)):
    change_in_a_block(data, out, kb.int8(1))


@kb.kernel
def changed_uint16(data: kb.array(dtype=kb.uint16), out: kb.array2d(dtype=kb.uint16)):
    change_in_a_block(data, out, kb.uint16(1))


@kb.kernel
def changed_int32(data: kb.array(dtype=kb.int32), out: kb.array2d(dtype=kb.int32)):
    change_in_a_block(data, out, kb.int32(1))


@kb.kernel
def changed_uint32(data: kb.array(dtype=kb.uint32), out: kb.array2d(dtype=kb.uint32)):
    change_in_a_block(data, out, kb.uint32(1))


@kb.kernel
def changed_int64(data: kb.array(dtype=kb.int64), out: kb.array2d(dtype=kb.int64)):
    change_in_a_block(data, out, kb.int64(1))


@kb.kernel
def changed_uint64(data: kb.array(dtype=kb.uint64), out: kb.array2d(dtype=kb.uint64)):
    change_in_a_block(data, out, kb.uint64(1))


@kb.kernel
def changed_float16(data: kb.array(dtype=kb.float16), out: kb.array2d(dtype=kb.float16)):
    change_in_a_block(data, out, kb.float16(1.0))


@kb.kernel
def changed_float32(data: kb.array(dtype=kb.float32), out: kb.array2d(dtype=kb.float32)):
    change_in_a_block(data, out, kb.float32(1.0))


@kb.kernel
def changed_float64(data: kb.array(dtype=kb.float64), out: kb.array2d(dtype=kb.float64)):
    change_in_a_block(data, out, kb.float64(1.0))


@kb.kernel
def narrow(out: kb.array(dtype=int), x: kb.int8, y: kb.uint16):
    """Arrays that are smaller than the word that their atomics swap."""
    one = kb.shared_array(1, kb.int8)
    two = kb.shared_array(1, kb.uint16)
    if kb.thread_idx() == 0:
        one[0] = x
        two[0] = y
        kb.atomic_xor(one, 0, kb.int8(3))
        out[0] = int(one[0])
        kb.atomic_or(one, 0, kb.int8(64))
        out[1] = int(one[0])
        kb.atomic_and(two, 0, kb.uint16(0xFF0))
        out[2] = int(two[0])
        kb.atomic_max(two, 0, kb.uint16(60000))
        out[3] = int(two[0])


@kb.kernel
def hinted(
    v: kb.array2d(dtype=kb.vec3), h: kb.array(dtype=kb.float16), d: kb.array(dtype=kb.vec2d), b: kb.array(dtype=bool),
    out: kb.array(dtype=kb.vec3), out_h: kb.array(dtype=kb.float16), out_d: kb.array(dtype=kb.vec2d),
    out_b: kb.array(dtype=bool),
):  # fmt: skip
    i = kb.tid()
    kb.assume(i >= 0 and i < v.shape[1])
    kb.store_streaming(out, i, kb.load_readonly(v, 1, i) + kb.load_streaming(v, 0, i))
    kb.store_streaming(out_h, i, kb.load_readonly(h, i))
    kb.store_streaming(out_d, i, kb.load_streaming(d, i))
    kb.store_streaming(out_b, i, not kb.load_readonly(b, i))


@kb.kernel
def reversed_rows(data: kb.array(dtype=int), out: kb.array(dtype=int), sizes: kb.array(dtype=int)):
    """Each block turns its elements round, in memory that the launch gives, behind some that it declares."""
    beside = kb.shared_array(3, kb.int8)
    rows = kb.shared_array((None, 2), int)
    t = kb.thread_idx()
    count = len(rows)
    if t == 0:
        beside[2] = kb.int8(5)
        sizes[kb.block_idx()] = count
    for i in range(t, count, kb.block_dim()):
        rows[i, 0] = i
        rows[i, 1] = 0
    kb.syncthreads()
    rows[t, 1] = data[kb.tid()]
    kb.syncthreads()
    out[kb.tid()] = rows[kb.block_dim() - 1 - t, 1] * 8 + int(beside[2]) + rows[-1, 0] - count
