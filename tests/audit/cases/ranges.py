"""Positions that outgrow their integers, and elements and variables that nobody has stored to."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)

BLOCK = 64
ZERO = "a variable is zero until it is assigned"


@case("overflow", "own", At(64, block=64, data=64, first=65500), symbolic="any")
@kb.kernel
def start_of_a_row_good(data: Floats, first: int):
    row = kb.int64(first) + kb.int64(kb.tid())
    start = row * (row + kb.int64(1)) // kb.int64(2)
    if kb.int64(0) <= start and start < kb.int64(data.shape[0]):
        data[start] = 1.0  # may global-races


@case("overflow", "own", At(64, block=64, data=64, first=65500), symbolic="unknown")
@kb.kernel
def start_of_a_row_bad(data: Floats, first: int):
    row = first + kb.tid()
    start = row * (row + 1) // 2  # finds overflow
    if start >= 0 and start < data.shape[0]:
        data[start] = 1.0


@case("overflow", "own", At(128, block=64, seconds=[3000000, 5] * 64, out=128))
@kb.kernel
def microseconds_good(seconds: Ints, out: kb.array(dtype=kb.int64)):
    i = kb.tid()
    if i < seconds.shape[0] and i < out.shape[0]:
        out[i] = kb.int64(seconds[i]) * kb.int64(1000000)


@case("overflow", "own", At(128, block=64, seconds=[3000000, 5] * 64, out=128), symbolic="unknown")
@kb.kernel
def microseconds_bad(seconds: Ints, out: kb.array(dtype=kb.int64)):
    i = kb.tid()
    if i < seconds.shape[0] and i < out.shape[0]:
        out[i] = kb.int64(seconds[i] * 1000000)  # finds overflow


@case("overflow", "own", At((16, 4, 8), block=128, out=64), symbolic="unknown")
@kb.kernel
def voxel_of_a_fine_grid_good(out: Floats):
    z, y, x = kb.tid()
    voxel = (z * 1024 + y) * 1024 + x
    if voxel < out.shape[0]:
        out[voxel] = 1.0


@case("overflow", "own", At((16, 4, 8), block=128, out=64), symbolic="unknown")
@kb.kernel
def voxel_of_a_fine_grid_bad(out: Floats):
    z, y, x = kb.tid()
    voxel = (z * 16384 + y) * 16384 + x  # finds overflow
    if 0 <= voxel < out.shape[0]:
        out[voxel] = 1.0


@case("overflow", "own", At(32, block=32, out=32))
@kb.kernel
def mask_up_to_a_lane_good(out: kb.array(dtype=kb.uint32)):
    i = kb.tid()
    if i < out.shape[0]:
        out[i] = (kb.uint32(2) << kb.uint32(kb.lane_id())) - kb.uint32(1)


@case("overflow", "own", At(32, block=32, out=32))
@kb.kernel
def mask_up_to_a_lane_bad(out: kb.array(dtype=kb.uint32)):
    i = kb.tid()
    if i < out.shape[0]:
        out[i] = kb.uint32((1 << kb.lane_id()) - 1)  # finds overflow


@case("overflow", "own", At(grid=4, block=BLOCK, data=1000, chunk=300))
@kb.kernel(block_dim=BLOCK)
def chunk_of_a_block_good(data: Floats, chunk: int):
    if 0 < chunk < 1000000:
        first = kb.min(kb.int64(kb.block_idx()) * kb.int64(chunk), kb.int64(data.shape[0]))
        last = kb.min(first + kb.int64(chunk), kb.int64(data.shape[0]))
        k = first + kb.int64(kb.thread_idx())
        while k < last:
            data[k] = 2.0 * data[k]  # may global-races
            k += kb.int64(BLOCK)


@case("overflow", "own", At(grid=4, block=BLOCK, data=1000, chunk=900000000), symbolic="unknown")
@kb.kernel(block_dim=BLOCK)
def chunk_of_a_block_bad(data: Floats, chunk: int):
    if chunk > 0:
        first = kb.min(kb.block_idx() * chunk, data.shape[0])  # finds overflow
        last = kb.min(kb.int64(first) + kb.int64(chunk), kb.int64(data.shape[0]))
        k = kb.int64(first) + kb.int64(kb.thread_idx())
        while k < last and k >= kb.int64(0):
            data[k] = 2.0 * data[k]
            k += kb.int64(BLOCK)


@case("initialization", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def filled_in_strides_good(out: Floats):
    tile = kb.shared_array(200, float)
    t = kb.thread_idx()
    for k in range(t, 200, BLOCK):
        tile[k] = float(k)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[3 * t] + tile[199 - t]


@case("initialization", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def filled_in_strides_bad(out: Floats):
    tile = kb.shared_array(200, float)
    t = kb.thread_idx()
    for k in range(t, 200 - BLOCK, BLOCK):
        tile[k] = float(k)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[3 * t]  # finds initialization


@case("initialization", "own", At(grid=(1, 2), block=(8, 8), out=(8, 16)))
@kb.kernel
def frame_and_inside_good(out: kb.array2d(dtype=float)):
    tile = kb.shared_array((10, 10), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    n = y * 8 + x
    tile[y + 1, x + 1] = 1.0
    if n < 10:
        tile[0, n] = 0.0
        tile[9, n] = 0.0
    if n < 8:
        tile[n + 1, 0] = 0.0
        tile[n + 1, 9] = 0.0
    kb.syncthreads()
    i = kb.block_idx().y * 8 + y
    if x < out.shape[0] and i < out.shape[1]:
        out[x, i] = tile[y, x] + tile[y + 2, x + 2] + tile[y, x + 2]


@case("initialization", "own", At(grid=(1, 2), block=(8, 8), out=(8, 16)))
@kb.kernel
def frame_and_inside_bad(out: kb.array2d(dtype=float)):
    tile = kb.shared_array((10, 10), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    n = y * 8 + x
    tile[y + 1, x + 1] = 1.0
    if n < 8:
        tile[0, n + 1] = 0.0
        tile[9, n + 1] = 0.0
        tile[n + 1, 0] = 0.0
        tile[n + 1, 9] = 0.0
    kb.syncthreads()
    i = kb.block_idx().y * 8 + y
    if x < out.shape[0] and i < out.shape[1]:
        out[x, i] = tile[y, x] + tile[y + 2, x + 2] + tile[y, x + 2]  # finds initialization


@case("initialization", "own", At(2 * BLOCK, data=2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def sums_of_the_warps_there_good(data: Floats, out: Floats):
    parts = kb.shared_array(32, float)
    lane = kb.lane_id()
    own = kb.warp_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0.0)
    if lane == 0:
        parts[kb.warp_id()] = own
    kb.syncthreads()
    if kb.warp_id() == 0:
        total = kb.warp_sum(parts[lane] if lane < kb.block_dim() // 32 else 0.0)
        if lane == 0 and kb.block_idx() < out.shape[0]:
            out[kb.block_idx()] = total


@case("initialization", "own", At(2 * BLOCK, data=2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def sums_of_the_warps_there_bad(data: Floats, out: Floats):
    parts = kb.shared_array(32, float)
    lane = kb.lane_id()
    own = kb.warp_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0.0)
    if lane == 0:
        parts[kb.warp_id()] = own
    kb.syncthreads()
    if kb.warp_id() == 0:
        total = kb.warp_sum(parts[lane])  # finds initialization
        if lane == 0 and kb.block_idx() < out.shape[0]:
            out[kb.block_idx()] = total


@case("initialization", "own", At(16, block=16, data=16, out=16))
@kb.kernel
def nearest_of_all_good(data: Floats, out: Floats):
    i = kb.tid()
    best = 1.0e30
    for k in range(data.shape[0]):
        gap = kb.abs(data[k] - float(i))
        if gap < best:
            best = gap
    if i < out.shape[0]:
        out[i] = best


@case("initialization", "own", At(16, block=16, data=16, out=16), unseen=ZERO)
@kb.kernel
def nearest_of_all_bad(data: Floats, out: Floats):
    i = kb.tid()
    for k in range(data.shape[0]):
        gap = kb.abs(data[k] - float(i))
        if gap < 3.0:
            best = gap
    if i < out.shape[0]:
        out[i] = best  # finds initialization


@case("initialization", "own", At(2 * BLOCK, data=2 * BLOCK, out=32))
@kb.kernel(block_dim=BLOCK)
def all_bins_emptied_good(data: Floats, out: Ints):
    bins = kb.shared_array(96, int)
    t = kb.thread_idx()
    k = int(t)
    while k < 96:
        bins[k] = 0
        k += kb.block_dim()
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        kb.atomic_add(bins, kb.clamp(int(data[kb.tid()]), 0, 95), 1)  # may overflow
    kb.syncthreads()
    if t < 32 and t < out.shape[0]:
        kb.atomic_add(out, t, bins[t] + bins[t + 32] + bins[t + 64])  # may overflow


@case("initialization", "own", At(2 * BLOCK, data=2 * BLOCK, out=32))
@kb.kernel(block_dim=BLOCK)
def all_bins_emptied_bad(data: Floats, out: Ints):
    bins = kb.shared_array(96, int)
    t = kb.thread_idx()
    bins[t] = 0
    if t < 31:
        bins[BLOCK + t] = 0
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        kb.atomic_add(bins, kb.clamp(int(data[kb.tid()]), 0, 95), 1)  # finds initialization
    kb.syncthreads()
    if t < 32 and t < out.shape[0]:
        kb.atomic_add(out, t, bins[t] + bins[t + 32] + bins[t + 64])  # finds initialization
