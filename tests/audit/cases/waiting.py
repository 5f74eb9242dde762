"""Barriers and operations of whole warps under conditions: which of them all threads come to."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)

BLOCK = 64
TWO = At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK)
SHORT = At(2 * BLOCK, data=100, out=2 * BLOCK)


@case("barriers", "GPUVerify", SHORT)
@kb.kernel(block_dim=BLOCK)
def idle_but_there_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    i = kb.tid()
    is_active = i < data.shape[0]
    tile[kb.thread_idx()] = data[i] if is_active else 0.0
    kb.syncthreads()
    if not is_active or i >= out.shape[0]:
        return
    out[i] = tile[BLOCK - 1 - kb.thread_idx()]


@case("barriers", "GPUVerify", SHORT)
@kb.kernel(block_dim=BLOCK)
def idle_but_there_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    i = kb.tid()
    is_active = i < data.shape[0]
    if not is_active or i >= out.shape[0]:
        return
    tile[kb.thread_idx()] = data[i]
    kb.syncthreads()  # finds barriers
    out[i] = tile[BLOCK - 1 - kb.thread_idx()]  # may initialization


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def trips_told_to_all_good(data: Floats, out: Floats):
    trips = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == 0:
        trips[0] = kb.clamp(int(data[0]), 0, 5) if data.shape[0] > 0 else 0  # may overflow
    kb.syncthreads()
    n = trips[0]
    for _ in range(n):
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = float(n)


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def trips_told_to_all_bad(data: Floats, out: Floats):
    trips = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == 0:
        trips[0] = 3
    kb.syncthreads()
    n = trips[0]
    if kb.tid() < data.shape[0] and data[kb.tid()] > 10.0:
        n += 1
    for _ in range(n):
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = float(n)


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def condition_of_a_warp_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    kb.syncwarp()
    if kb.warp_id() % 2 == 1:
        x = tile[t ^ 1]
        kb.syncwarp()
        tile[t] = x
        kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def condition_of_a_warp_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    kb.syncwarp()
    if kb.warp_id() % 2 == 1:
        x = tile[t ^ 1]
        kb.syncthreads()  # finds barriers
        tile[t] = x
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("barriers", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK, limit=50.0))
@kb.kernel(block_dim=BLOCK)
def until_nothing_changes_good(data: Floats, out: Floats, limit: float):
    changed = kb.shared_array(1, int)
    t = kb.thread_idx()
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    again = 1
    rounds = 0
    while again != 0:
        if t == 0:
            changed[0] = 0
        kb.syncthreads()
        if x < limit and rounds < 9:
            x = x + 20.0
            rounds += 1
            kb.atomic_or(changed, 0, 1)
        kb.syncthreads()
        again = changed[0]
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK, limit=50.0))
@kb.kernel(block_dim=BLOCK)
def until_nothing_changes_bad(data: Floats, out: Floats, limit: float):
    changed = kb.shared_array(1, int)
    t = kb.thread_idx()
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    again = 1
    rounds = 0
    while again != 0:
        if t == 0:
            changed[0] = 0
        kb.syncthreads()  # finds barriers
        again = 0
        if x < limit and rounds < 9:
            x = x + 20.0
            rounds += 1
            kb.atomic_or(changed, 0, 1)
            again = 1
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "own", At(2 * BLOCK, data=100, out=2))
@kb.kernel(block_dim=BLOCK)
def trips_rounded_up_good(data: Floats, out: Floats):
    total = 0.0
    for first in range(kb.block_idx() * BLOCK, data.shape[0], kb.grid_dim() * BLOCK):
        i = first + kb.thread_idx()
        total += kb.block_sum(data[i] if i < data.shape[0] else 0.0)
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = total


@case("barriers", "own", At(2 * BLOCK, data=100, out=2))
@kb.kernel(block_dim=BLOCK)
def trips_rounded_up_bad(data: Floats, out: Floats):
    total = 0.0
    for i in range(kb.tid(), data.shape[0], kb.grid_dim() * BLOCK):
        total += kb.block_sum(data[i])  # finds barriers
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = total


@case("barriers", "own", At(BLOCK, data=100, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def lanes_share_a_loop_good(data: Floats, out: Floats):
    lane = kb.lane_id()
    total = 0.0
    for first in range(0, data.shape[0], 32):
        x = data[first + lane] if first + lane < data.shape[0] else 0.0
        total += kb.shfl(x, 0) + kb.shfl_xor(x, 1)
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "own", At(BLOCK, data=100, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def lanes_share_a_loop_bad(data: Floats, out: Floats):
    total = 0.0
    for k in range(kb.lane_id(), data.shape[0], 32):
        total += kb.shfl_xor(data[k], 1)  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def broken_off_by_all_good(data: Floats, out: Floats):
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    for _ in range(10):
        if kb.block_max(x) > 200.0:
            break
        x = 2.0 * x + 1.0
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def broken_off_by_all_bad(data: Floats, out: Floats):
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    for _ in range(10):
        if kb.any(x > 200.0):
            break
        x = 2.0 * x + 1.0
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "GPUVerify", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK, skipped=2, trips=5))
@kb.kernel(block_dim=BLOCK)
def one_trip_left_out_good(data: Floats, out: Floats, skipped: int, trips: int):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    total = 0.0
    for k in range(trips):
        if k == skipped:
            continue
        tile[t] = data[kb.tid()] * float(k) if kb.tid() < data.shape[0] else 0.0
        kb.syncthreads()
        total += tile[BLOCK - 1 - t]
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK, skipped=2, trips=5))
@kb.kernel(block_dim=BLOCK)
def one_trip_left_out_bad(data: Floats, out: Floats, skipped: int, trips: int):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    total = 0.0
    for k in range(trips):
        if k == skipped * t:
            continue
        tile[t] = data[kb.tid()] * float(k) if kb.tid() < data.shape[0] else 0.0
        kb.syncthreads()  # finds barriers
        total += tile[BLOCK - 1 - t]
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@kb.func
def is_of_this_block(job: int) -> bool:
    return job % kb.grid_dim() == kb.block_idx()


@kb.func
def is_of_this_thread(job: int) -> bool:
    return job % kb.block_dim() == kb.thread_idx()


@case("barriers", "own", At(2 * BLOCK, out=2, jobs=7))
@kb.kernel(block_dim=BLOCK)
def jobs_of_a_block_good(out: Ints, jobs: int):
    done = 0
    for job in range(jobs):
        if is_of_this_block(job):
            done += kb.block_sum(1)  # may overflow
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = done


@case("barriers", "own", At(2 * BLOCK, out=2, jobs=7))
@kb.kernel(block_dim=BLOCK)
def jobs_of_a_block_bad(out: Ints, jobs: int):
    done = 0
    for job in range(jobs):
        if is_of_this_thread(job):
            done += kb.block_sum(1)  # finds barriers
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = done


@case("barriers", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def same_quotient_good(out: Ints):
    t = kb.thread_idx()
    if (t + BLOCK) // BLOCK == 1 and kb.tid() // BLOCK == kb.block_idx():
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = t


@case("barriers", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def same_quotient_bad(out: Ints):
    t = kb.thread_idx()
    if (t + BLOCK) // BLOCK == 1 and (kb.tid() + 1) // BLOCK == kb.block_idx():
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = t


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def mask_from_a_vote_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    is_low = kb.lane_id() < 16
    mask = kb.ballot(is_low)
    if is_low:
        tile[t] = x
        kb.syncwarp(mask)
        x = tile[t ^ 1]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def mask_from_a_vote_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    is_low = kb.lane_id() < 16
    mask = kb.ballot(not is_low)
    if is_low:
        tile[t] = x
        kb.syncwarp(mask)  # finds barriers
        x = tile[t ^ 1]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "own", At(grid=2, block=(16, 4), data=128, out=128))
@kb.kernel
def by_the_parameter_good(data: Floats, out: Floats):
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    if data.shape[0] > 10 and kb.block_dim() % 2 == 0:
        x = x + kb.block_max(x)
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "own", At(grid=2, block=(16, 4), data=128, out=128))
@kb.kernel
def by_the_parameter_bad(data: Floats, out: Floats):
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    if data.shape[0] > 10 and kb.thread_idx().y % 4 < 3:
        x = x + kb.block_max(x)  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x
