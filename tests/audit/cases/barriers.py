"""Barriers that not all threads of a block, or lanes of a warp, come to."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

BLOCK = 64
TWO = At(2 * BLOCK, out=2 * BLOCK)
GIVEN = At(2 * BLOCK, out=2 * BLOCK, n=1)


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def in_a_branch_good(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if t < 40 and kb.tid() < out.shape[0]:
        out[kb.tid()] = t
    kb.syncthreads()


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def in_a_branch_bad(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if t < 40 and kb.tid() < out.shape[0]:
        out[kb.tid()] = t
        kb.syncthreads()  # finds barriers


@case("barriers", "GPUVerify", GIVEN)
@kb.kernel(block_dim=BLOCK)
def asked_by_the_launch_good(out: kb.array(dtype=int), n: int):
    t = kb.thread_idx()
    if n > 0:
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = t


@case("barriers", "GPUVerify", GIVEN)
@kb.kernel(block_dim=BLOCK)
def asked_by_the_launch_bad(out: kb.array(dtype=int), n: int):
    t = kb.thread_idx()
    if n + t > 1:
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = t


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def one_block_alone_good(out: kb.array(dtype=int)):
    if kb.block_idx() == 0:
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = 1


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def one_block_alone_bad(out: kb.array(dtype=int)):
    if kb.tid() <= BLOCK:
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = 1


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def a_whole_warp_good(out: kb.array(dtype=int)):
    if kb.warp_id() == 0:
        kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = 1


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def a_whole_warp_bad(out: kb.array(dtype=int)):
    if kb.warp_id() == 0:
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = 1


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def half_a_warp_good(out: kb.array(dtype=int)):
    if kb.lane_id() < 16:
        kb.syncwarp(mask=0xFFFF)
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = 1


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def half_a_warp_bad(out: kb.array(dtype=int)):
    if kb.lane_id() < 16:
        kb.syncwarp()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = 1


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def half_a_warp_bad_mask(out: kb.array(dtype=int)):
    if kb.lane_id() < 15:
        kb.syncwarp(mask=0xFFFF)  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = 1


@case("barriers", "Indigo", At(2 * BLOCK, out=100))
@kb.kernel(block_dim=BLOCK)
def past_the_end_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    i = kb.tid()
    t = kb.thread_idx()
    tile[t] = out[i] if i < out.shape[0] else 0.0
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = tile[BLOCK - 1 - t]


@case("barriers", "Indigo", At(2 * BLOCK, out=100))
@kb.kernel(block_dim=BLOCK)
def past_the_end_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    i = kb.tid()
    t = kb.thread_idx()
    if i >= out.shape[0]:
        return
    tile[t] = out[i]
    kb.syncthreads()  # finds barriers
    out[i] = tile[kb.max(t - 1, 0)]


@case("barriers", "Indigo", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def block_leaves_good(out: kb.array(dtype=float)):
    if (kb.block_idx() + 1) * BLOCK > out.shape[0]:
        return
    kb.syncthreads()
    out[kb.tid()] = 1.0


@case("barriers", "Indigo", At(2 * BLOCK, out=2 * BLOCK - 1))
@kb.kernel(block_dim=BLOCK)
def block_leaves_bad(out: kb.array(dtype=float)):
    if kb.tid() + 1 > out.shape[0]:
        return
    kb.syncthreads()  # finds barriers
    out[kb.tid()] = 1.0


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def own_trips_good(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    total = 0
    for k in range(BLOCK):
        if k < t:
            total += k
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def own_trips_bad(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    total = 0
    for k in range(t):
        total += k
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", GIVEN)
@kb.kernel(block_dim=BLOCK)
def trips_of_the_launch_good(out: kb.array(dtype=int), n: int):
    total = 0
    for k in range(n):
        total += k
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", At(2 * BLOCK, out=2 * BLOCK, n=100))
@kb.kernel(block_dim=BLOCK)
def trips_of_the_launch_bad(out: kb.array(dtype=int), n: int):
    total = 0
    for k in range(kb.thread_idx(), n, BLOCK):
        total += k
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", At(2 * BLOCK, out=2 * BLOCK, trips=[3] * BLOCK), symbolic="unknown")
@kb.kernel(block_dim=BLOCK)
def trips_of_an_array_open(out: kb.array(dtype=int), trips: kb.array(dtype=int)):
    total = 0
    if trips.shape[0] == BLOCK:
        for k in range(trips[kb.thread_idx()]):
            total += k
            kb.syncthreads()  # unknown barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", At(2 * BLOCK, out=2 * BLOCK, trips=[3]))
@kb.kernel(block_dim=BLOCK)
def trips_of_an_array_good(out: kb.array(dtype=int), trips: kb.array(dtype=int)):
    total = 0
    if trips.shape[0] == 1:
        for k in range(trips[0]):
            total += k  # may overflow
            kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", GIVEN)
@kb.kernel(block_dim=BLOCK)
def leaves_the_loop_good(out: kb.array(dtype=int), n: int):
    k = 0
    while k < 10:
        kb.syncthreads()
        if k == n:
            break
        k += 1
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = k


@case("barriers", "GPUVerify", GIVEN)
@kb.kernel(block_dim=BLOCK)
def leaves_the_loop_bad(out: kb.array(dtype=int), n: int):
    k = 0
    while k < 10:
        kb.syncthreads()  # finds barriers
        if k == n + kb.thread_idx():
            break
        k += 1
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = k


@case("barriers", "GPUVerify", GIVEN)
@kb.kernel(block_dim=BLOCK)
def skips_a_trip_good(out: kb.array(dtype=int), n: int):
    total = 0
    k = 0
    while k < 4:
        k += 1
        if k == n:
            continue
        total += k
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", GIVEN)
@kb.kernel(block_dim=BLOCK)
def skips_a_trip_bad(out: kb.array(dtype=int), n: int):
    total = 0
    k = 0
    while k < 4:
        k += 1
        if k == kb.thread_idx():
            continue
        total += k
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total + n


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def one_in_each_branch_good(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    total = 0
    if kb.block_idx() % 2 == 0:
        total = t
        kb.syncthreads()
    else:
        total = -t
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def one_in_each_branch_bad(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    total = 0
    if t % 2 == 0:
        total = t
        kb.syncthreads()  # finds barriers
    else:
        total = -t
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def same_for_all_good(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if t < BLOCK:
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = t


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def same_for_all_bad(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if t < BLOCK - 1:
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = t


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def told_by_shared_memory_good(out: kb.array(dtype=int)):
    told = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == 0:
        told[0] = kb.block_idx()
    kb.syncthreads()
    x = told[0]
    if x > 0:
        kb.syncthreads()  # may barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def told_by_shared_memory_bad(out: kb.array(dtype=int)):
    told = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    told[t] = t
    kb.syncthreads()
    x = told[t]
    if t > 3:
        kb.syncthreads()  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def exchanged_by_all_good(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    x = kb.shfl_down(t, 1)
    if t % 2 == 0 and kb.tid() < out.shape[0]:
        out[kb.tid()] = x


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def exchanged_by_all_bad(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if t % 2 == 0 and kb.tid() < out.shape[0]:
        x = kb.shfl_down(t, 1)  # finds barriers
        out[kb.tid()] = x


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def vote_of_all_good(out: kb.array(dtype=kb.uint32)):
    t = kb.thread_idx()
    bits = kb.ballot(t % 3 == 0)
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = bits


@case("barriers", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def vote_of_all_bad(out: kb.array(dtype=kb.uint32)):
    t = kb.thread_idx()
    if t % 32 == 31:
        return
    bits = kb.ballot(t % 3 == 0)  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = bits


@kb.func
def waited(x: int) -> int:
    kb.syncthreads()  # finds barriers
    return x + 1


@kb.func
def waited_by_all(x: int) -> int:
    kb.syncthreads()
    return x + 1


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def inside_a_call_good(out: kb.array(dtype=int)):
    t = waited_by_all(kb.thread_idx())
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = t


@case("barriers", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def inside_a_call_bad(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if t > 10:
        t = waited(t)  # finds barriers
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = t


@case("barriers", "own", At(2 * BLOCK, data=2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def sum_of_all_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    total = kb.block_sum(x)
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = total


@case("barriers", "own", At(2 * BLOCK, data=2 * BLOCK - 32, out=2))
@kb.kernel(block_dim=BLOCK)
def sum_of_all_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0]:
        total = kb.block_sum(data[i])  # finds barriers
        if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
            out[kb.block_idx()] = total
