"""What the threads of a block work out together in shared memory: sums, scans, counts, by trees and by warps."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)

BLOCK = 128
WARPS = BLOCK // 32
TWO = At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK)
SUMS = At(2 * BLOCK, data=2 * BLOCK, out=2)


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def barrier_first_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    half = int(BLOCK >> 1)
    while half >= 1:
        kb.syncthreads()
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        half >>= 1
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[0]


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def barrier_first_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    half = int(BLOCK >> 1)
    while half >= 1:
        kb.syncthreads()
        if t < half:
            tile[t] = tile[t] + tile[t + half]  # finds shared-races
        half >>= 1
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[0]  # finds shared-races


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def pairs_further_apart_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    kb.syncthreads()
    apart = 1
    while apart < BLOCK:
        first = 2 * apart * t
        if first < BLOCK:
            tile[first] = tile[first] + tile[first + apart]
        apart *= 2
        kb.syncthreads()
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def pairs_further_apart_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    kb.syncthreads()
    apart = 1
    while apart < BLOCK:
        first = apart * t
        if first + apart < BLOCK:
            tile[first] = tile[first] + tile[first + apart]  # finds shared-races
        apart *= 2
        kb.syncthreads()
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "own", SUMS)
@kb.kernel(block_dim=BLOCK)
def warps_then_one_warp_good(data: Floats, out: Floats):
    parts = kb.shared_array(WARPS, float)
    lane = kb.lane_id()
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    for k in range(5):
        x += kb.shfl_down(x, 16 >> k)
    if lane == 0:
        parts[kb.warp_id()] = x
    kb.syncthreads()
    if kb.warp_id() == 0:
        y = parts[lane] if lane < WARPS else 0.0
        y += kb.shfl_down(y, 2)
        y += kb.shfl_down(y, 1)
        if lane == 0 and kb.block_idx() < out.shape[0]:
            out[kb.block_idx()] = y


@case("shared-races", "own", SUMS)
@kb.kernel(block_dim=BLOCK)
def warps_then_one_warp_bad(data: Floats, out: Floats):
    parts = kb.shared_array(WARPS, float)
    lane = kb.lane_id()
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    for k in range(5):
        x += kb.shfl_down(x, 16 >> k)
    if lane == 0:
        parts[kb.warp_id()] = x  # finds shared-races
    kb.syncwarp()
    if kb.warp_id() == 0:
        y = parts[lane] if lane < WARPS else 0.0  # finds shared-races
        y += kb.shfl_down(y, 2)
        y += kb.shfl_down(y, 1)
        if lane == 0 and kb.block_idx() < out.shape[0]:
            out[kb.block_idx()] = y


@case("shared-races", "own", SUMS)
@kb.kernel(block_dim=BLOCK)
def smallest_and_largest_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    tile[t] = x
    kb.syncthreads()
    for k in range(7):
        if t < (64 >> k):
            tile[t] = kb.min(tile[t], tile[t + (64 >> k)])
        kb.syncthreads()
    smallest = tile[0]
    kb.syncthreads()
    tile[t] = x
    kb.syncthreads()
    for k in range(7):
        if t < (64 >> k):
            tile[t] = kb.max(tile[t], tile[t + (64 >> k)])
        kb.syncthreads()
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0] - smallest


@case("shared-races", "own", SUMS)
@kb.kernel(block_dim=BLOCK)
def smallest_and_largest_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    tile[t] = x
    kb.syncthreads()
    for k in range(7):
        if t < (64 >> k):
            tile[t] = kb.min(tile[t], tile[t + (64 >> k)])
        kb.syncthreads()
    smallest = tile[0]  # finds shared-races
    tile[t] = x  # finds shared-races
    kb.syncthreads()
    for k in range(7):
        if t < (64 >> k):
            tile[t] = kb.max(tile[t], tile[t + (64 >> k)])
        kb.syncthreads()
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0] - smallest


@case("shared-races", "own", At(2 * BLOCK, keys=[k * 7 % 16 for k in range(2 * BLOCK)], out=16))
@kb.kernel(block_dim=BLOCK)
def counts_of_each_warp_good(keys: Ints, out: Ints):
    bins = kb.shared_array((WARPS, 16), int)
    t = kb.thread_idx()
    for k in range(t, WARPS * 16, BLOCK):
        bins[k // 16, k % 16] = 0
    kb.syncthreads()
    if kb.tid() < keys.shape[0]:
        kb.atomic_add(bins, kb.warp_id(), keys[kb.tid()] & 15, 1)
    kb.syncthreads()
    if t < 16 and t < out.shape[0]:
        total = 0
        for w in range(WARPS):
            total += bins[w, t]  # may overflow
        kb.atomic_add(out, t, total)


@case("shared-races", "own", At(2 * BLOCK, keys=[k * 7 % 16 for k in range(2 * BLOCK)], out=16), symbolic="any")
@kb.kernel(block_dim=BLOCK)
def counts_of_each_warp_bad(keys: Ints, out: Ints):
    bins = kb.shared_array((WARPS, 16), int)
    t = kb.thread_idx()
    for k in range(t, WARPS * 16, BLOCK):
        bins[k // 16, k % 16] = 0
    kb.syncthreads()
    if kb.tid() < keys.shape[0]:
        key = keys[kb.tid()] & 15
        bins[kb.warp_id(), key] = bins[kb.warp_id(), key] + 1  # finds shared-races
    kb.syncthreads()
    if t < 16 and t < out.shape[0]:
        total = 0
        for w in range(WARPS):
            total += bins[w, t]
        kb.atomic_add(out, t, total)


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def scanned_by_warps_good(data: Floats, out: Floats):
    ends = kb.shared_array(WARPS, float)
    lane = kb.lane_id()
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    for k in range(5):
        below = kb.shfl_up(x, 1 << k)
        if lane >= (1 << k):
            x += below
    if lane == 31:
        ends[kb.warp_id()] = x
    kb.syncthreads()
    if kb.warp_id() == 0:
        y = ends[lane] if lane < WARPS else 0.0
        y = kb.warp_scan_inclusive(y)
        if lane < WARPS:
            ends[lane] = y
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = x + (ends[kb.warp_id() - 1] if kb.warp_id() > 0 else 0.0)


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def scanned_by_warps_bad(data: Floats, out: Floats):
    ends = kb.shared_array(WARPS, float)
    lane = kb.lane_id()
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    for k in range(5):
        below = kb.shfl_up(x, 1 << k)
        if lane >= (1 << k):
            x += below
    if lane == 31:
        ends[kb.warp_id()] = x
    kb.syncthreads()
    if kb.warp_id() == 0:
        y = ends[lane] if lane < WARPS else 0.0
        y = kb.warp_scan_inclusive(y)
        if lane < WARPS:
            ends[lane] = y  # finds shared-races
    if i < out.shape[0]:
        out[i] = x + (ends[kb.warp_id() - 1] if kb.warp_id() > 0 else 0.0)  # finds shared-races


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def place_of_the_largest_good(data: Floats, out: Ints):
    value = kb.shared_array(BLOCK, float)
    place = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    value[t] = data[kb.tid()] if kb.tid() < data.shape[0] else -1.0e30
    place[t] = kb.tid()
    kb.syncthreads()
    s = int(BLOCK // 2)
    while s > 0:
        if t < s and value[t + s] > value[t]:
            value[t] = value[t + s]
            place[t] = place[t + s]
        kb.syncthreads()
        s //= 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = place[0]


@case("shared-races", "own", At(2 * BLOCK, data=[float(k == 64) for k in range(256)], out=2), symbolic="any")
@kb.kernel(block_dim=BLOCK)
def place_of_the_largest_bad(data: Floats, out: Ints):
    value = kb.shared_array(BLOCK, float)
    place = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    value[t] = data[kb.tid()] if kb.tid() < data.shape[0] else -1.0e30
    place[t] = kb.tid()
    kb.syncthreads()
    s = int(BLOCK // 2)
    while s > 0:
        if t <= s and t + s < BLOCK and value[t + s] > value[t]:  # finds shared-races
            value[t] = value[t + s]  # finds shared-races
            place[t] = place[t + s]  # finds shared-races
        kb.syncthreads()
        s //= 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = place[0]


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def turned_within_warps_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    lane = kb.lane_id()
    first = kb.warp_id() * 32
    tile[first + lane] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    kb.syncwarp()
    x = tile[first + (lane + 1) % 32]
    kb.syncwarp()
    tile[first + lane] = x
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[first + (31 - lane)]


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def turned_within_warps_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    lane = kb.lane_id()
    first = kb.warp_id() * 32
    tile[first + lane] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0  # finds shared-races
    kb.syncwarp()
    x = tile[(first + lane + 1) % BLOCK]  # finds shared-races
    kb.syncwarp()
    tile[first + lane] = x  # finds shared-races
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[first + (31 - lane)]


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def each_half_its_own_good(data: Floats, out: Floats):
    low = kb.shared_array(BLOCK // 2, float)
    high = kb.shared_array(BLOCK // 2, float)
    t = kb.thread_idx()
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    if t < BLOCK // 2:
        low[t] = x
    else:
        high[t - BLOCK // 2] = x
    y = low[t] if t < BLOCK // 2 else high[t - BLOCK // 2]
    if i < out.shape[0]:
        out[i] = y


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def each_half_its_own_bad(data: Floats, out: Floats):
    low = kb.shared_array(BLOCK // 2, float)
    high = kb.shared_array(BLOCK // 2, float)
    t = kb.thread_idx()
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    if t < BLOCK // 2:
        low[t] = x
    else:
        high[BLOCK - 1 - t] = x  # finds shared-races
    y = low[t] if t < BLOCK // 2 else high[t - BLOCK // 2]  # finds shared-races
    if i < out.shape[0]:
        out[i] = y


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def set_by_the_last_good(data: Ints, out: Ints):
    most = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == kb.block_dim() - 1:
        most[0] = -1
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        kb.atomic_max(most, 0, data[kb.tid()])
    kb.syncthreads()
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = most[0]


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2), unseen="reads beside atomics are taken as meant")
@kb.kernel(block_dim=BLOCK)
def set_by_the_last_bad(data: Ints, out: Ints):
    most = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == kb.block_dim() - 1:
        most[0] = -1
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        kb.atomic_max(most, 0, data[kb.tid()])  # finds shared-races
    if t == kb.block_dim() - 1 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = most[0]  # finds shared-races
    kb.syncthreads()


SQUARE = At(grid=(2, 2), block=(16, 8), data=(16, 32), out=(2, 32))


@case("shared-races", "own", SQUARE)
@kb.kernel
def columns_summed_good(data: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    tile = kb.shared_array((8, 16), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    i = kb.block_idx().y * 8 + y
    j = kb.block_idx().x * 16 + x
    tile[y, x] = data[i, j] if i < data.shape[0] and j < data.shape[1] else 0.0
    kb.syncthreads()
    if y == 0:
        for k in range(1, 8):
            tile[0, x] = tile[0, x] + tile[k, x]
        if kb.block_idx().y < out.shape[0] and j < out.shape[1]:
            out[kb.block_idx().y, j] = tile[0, x]


@case("shared-races", "own", SQUARE)
@kb.kernel
def columns_summed_bad(data: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    tile = kb.shared_array((8, 16), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    i = kb.block_idx().y * 8 + y
    j = kb.block_idx().x * 16 + x
    tile[y, x] = data[i, j] if i < data.shape[0] and j < data.shape[1] else 0.0
    kb.syncthreads()
    if y <= 1:
        for k in range(1, 8):
            tile[0, x] = tile[0, x] + tile[k, x]  # finds shared-races
        if y == 0 and kb.block_idx().y < out.shape[0] and j < out.shape[1]:
            out[kb.block_idx().y, j] = tile[0, x]


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def neighbours_sorted_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    kb.syncthreads()
    for k in range(24):
        if t % 2 == k % 2 and t + 1 < BLOCK:
            a = tile[t]
            b = tile[t + 1]
            tile[t] = kb.min(a, b)
            tile[t + 1] = kb.max(a, b)
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def neighbours_sorted_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    kb.syncthreads()
    for k in range(24):
        if t % 2 <= k % 2 and t + 1 < BLOCK:
            a = tile[t]  # finds shared-races
            b = tile[t + 1]  # finds shared-races
            tile[t] = kb.min(a, b)  # finds shared-races
            tile[t + 1] = kb.max(a, b)  # finds shared-races
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK, counts=2))
@kb.kernel(block_dim=BLOCK)
def kept_by_ballot_good(data: Floats, out: Floats, counts: Ints):
    before = kb.shared_array(WARPS + 1, int)
    t = kb.thread_idx()
    lane = kb.lane_id()
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    bits = kb.ballot(x > 40.0)
    if lane == 0:
        before[kb.warp_id() + 1] = kb.bit_count(bits)
    if t == 0:
        before[0] = 0
    kb.syncthreads()
    if t == 0:
        for w in range(WARPS):
            before[w + 1] = before[w + 1] + before[w]  # may overflow
    kb.syncthreads()
    if t == 0 and kb.block_idx() < counts.shape[0]:
        counts[kb.block_idx()] = before[WARPS]
    if x > 40.0:
        below = bits & ((kb.uint32(1) << kb.uint32(lane)) - kb.uint32(1))
        k = kb.block_idx() * BLOCK + before[kb.warp_id()] + kb.bit_count(below)  # may overflow
        if 0 <= k < out.shape[0]:
            out[k] = x  # may global-races


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK, counts=2))
@kb.kernel(block_dim=BLOCK)
def kept_by_ballot_bad(data: Floats, out: Floats, counts: Ints):
    before = kb.shared_array(WARPS + 1, int)
    t = kb.thread_idx()
    lane = kb.lane_id()
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    bits = kb.ballot(x > 40.0)
    if lane == 0:
        before[kb.warp_id() + 1] = kb.bit_count(bits)
    if t == 0:
        before[0] = 0
    kb.syncthreads()
    if t == 0:
        for w in range(WARPS):
            before[w + 1] = before[w + 1] + before[w]  # finds shared-races
    if t == 0 and kb.block_idx() < counts.shape[0]:
        counts[kb.block_idx()] = before[WARPS]
    if x > 40.0:
        below = bits & ((kb.uint32(1) << kb.uint32(lane)) - kb.uint32(1))
        k = kb.block_idx() * BLOCK + before[kb.warp_id()] + kb.bit_count(below)  # finds shared-races
        if 0 <= k < out.shape[0]:
            out[k] = x
