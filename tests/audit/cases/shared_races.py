"""Two threads of a block at one element of shared memory: the small ones, one mistake each."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

BLOCK = 64
ONE = At(BLOCK, out=BLOCK)
TWO = At(2 * BLOCK, out=2 * BLOCK)


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def reversed_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[BLOCK - 1 - t]


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def reversed_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = float(t)  # finds shared-races
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[BLOCK - 1 - t]  # finds shared-races


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def all_to_one_good(out: kb.array(dtype=int)):
    last = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == 0:
        last[0] = t
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = last[0]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def all_to_one_bad(out: kb.array(dtype=int)):
    last = kb.shared_array(1, int)
    t = kb.thread_idx()
    last[0] = t  # finds shared-races
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = last[0]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def equal_values_open(out: kb.array(dtype=int)):
    flag = kb.shared_array(1, int)
    flag[0] = 1  # may shared-races
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = flag[0]


@case("shared-races", "GPUVerify", At(BLOCK, data=BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def any_of_them_open(data: kb.array(dtype=float), out: kb.array(dtype=int)):
    flag = kb.shared_array(1, int)
    if kb.thread_idx() == 0:
        flag[0] = 0
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        if data[kb.tid()] > 10.0:
            flag[0] = 1  # may shared-races
    kb.syncthreads()
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = flag[0]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def first_of_each_warp_good(out: kb.array(dtype=int)):
    found = kb.shared_array(2, int)
    t = kb.thread_idx()
    if t % 32 == 0:
        found[t // 32] = t
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = found[0] + found[1]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def first_of_each_warp_bad(out: kb.array(dtype=int)):
    found = kb.shared_array(2, int)
    t = kb.thread_idx()
    if t % 16 == 0:
        found[t // 32] = t  # finds shared-races
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = found[0] + found[1]


@case("shared-races", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def within_a_warp_good(out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = t
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t ^ 1]


@case("shared-races", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def within_a_warp_bad(out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = t  # finds shared-races
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t ^ 1]  # finds shared-races


@case("shared-races", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def across_warps_good(out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = t
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t ^ 32]


@case("shared-races", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def across_warps_bad(out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = t  # finds shared-races
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t ^ 32]  # finds shared-races


@case("shared-races", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def exchange_orders_nothing_good(out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = t
    kb.syncwarp()
    found = kb.shfl_xor(tile[t ^ 1], 1)
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = found


@case("shared-races", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def exchange_orders_nothing_bad(out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = t  # finds shared-races
    other = kb.shfl_xor(t, 1)
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[other]  # finds shared-races


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def shifted_in_place_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK + 1, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    if t == 0:
        tile[BLOCK] = 0.0
    kb.syncthreads()
    x = tile[t + 1]
    kb.syncthreads()
    tile[t] = x
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def shifted_in_place_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK + 1, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    if t == 0:
        tile[BLOCK] = 0.0
    kb.syncthreads()
    x = tile[t + 1]  # finds shared-races
    tile[t] = x  # finds shared-races
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def two_each_good(out: kb.array(dtype=int)):
    tile = kb.shared_array(2 * BLOCK, int)
    t = kb.thread_idx()
    tile[2 * t] = t
    tile[2 * t + 1] = -t
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[2 * t] + tile[2 * t + 1]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def two_each_bad(out: kb.array(dtype=int)):
    tile = kb.shared_array(2 * BLOCK + 1, int)
    t = kb.thread_idx()
    tile[2 * t] = t  # finds shared-races
    tile[2 * t + 2] = -t - 1  # finds shared-races
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[2 * t]  # finds shared-races


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def halves_good(out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    if t < 32:
        tile[t] = t
    else:
        tile[t] = -t
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[(t + 1) % BLOCK]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def halves_bad(out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    if t < 32:
        tile[t] = t  # finds shared-races
    else:
        tile[BLOCK - 1 - t] = -t  # finds shared-races
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t % 32]


@case("shared-races", "Indigo", At(BLOCK, data=BLOCK, out=8))
@kb.kernel(block_dim=BLOCK)
def counts_good(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    bins = kb.shared_array(8, int)
    t = kb.thread_idx()
    if t < 8:
        bins[t] = 0
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        kb.atomic_add(bins, data[kb.tid()] & 7, 1)
    kb.syncthreads()
    if t < 8 and t < out.shape[0]:
        kb.atomic_add(out, t, bins[t])


@case("shared-races", "Indigo", At(BLOCK, data=BLOCK, out=8))
@kb.kernel(block_dim=BLOCK)
def counts_bad(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    bins = kb.shared_array(8, int)
    t = kb.thread_idx()
    if t < 8:
        bins[t] = 0
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        b = data[kb.tid()] & 7
        bins[b] = bins[b] + 1  # finds shared-races
    kb.syncthreads()
    if t < 8 and t < out.shape[0]:
        kb.atomic_add(out, t, bins[t])


@case("shared-races", "Indigo", At(BLOCK, data=BLOCK, out=8))
@kb.kernel(block_dim=BLOCK)
def counts_bad_first(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    bins = kb.shared_array(8, int)
    t = kb.thread_idx()
    if t < 8:
        bins[t] = 0  # finds shared-races
    if kb.tid() < data.shape[0]:
        kb.atomic_add(bins, data[kb.tid()] & 7, 1)  # finds shared-races; may initialization
    kb.syncthreads()
    if t < 8 and t < out.shape[0]:
        kb.atomic_add(out, t, bins[t])


@case("shared-races", "Indigo", At(BLOCK, data=BLOCK, out=8), unseen="reads beside atomics are taken as meant")
@kb.kernel(block_dim=BLOCK)
def counts_bad_last(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    bins = kb.shared_array(8, int)
    t = kb.thread_idx()
    if t < 8:
        bins[t] = 0
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        kb.atomic_add(bins, data[kb.tid()] & 7, 1)  # finds shared-races
    if t < 8 and t < out.shape[0]:
        kb.atomic_add(out, t, bins[t])  # finds shared-races


@case("shared-races", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def one_total_good(out: kb.array(dtype=int)):
    total = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == 0:
        total[0] = 0
    kb.syncthreads()
    kb.atomic_add(total, 0, t)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total[0]


@case("shared-races", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def one_total_bad(out: kb.array(dtype=int)):
    total = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == 0:
        total[0] = 0
    kb.syncthreads()
    total[0] = total[0] + t  # finds shared-races
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total[0]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def last_used_again_good(out: kb.array(dtype=int)):
    found = kb.shared_array(1, int)
    t = kb.thread_idx()
    for k in range(3):
        if t == k:
            found[0] = 10 * k
        kb.syncthreads()
        if kb.tid() < out.shape[0]:
            kb.atomic_add(out, kb.tid(), found[0])
        kb.syncthreads()


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def last_used_again_bad(out: kb.array(dtype=int)):
    found = kb.shared_array(1, int)
    t = kb.thread_idx()
    for k in range(3):
        if t == k:
            found[0] = 10 * k  # finds shared-races
        kb.syncthreads()
        if kb.tid() < out.shape[0]:
            kb.atomic_add(out, kb.tid(), found[0])  # finds shared-races


@kb.func
def total_of(tile: kb.array(dtype=float), t: int) -> float:
    half = len(tile) // 2
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        kb.syncthreads()
        half = half // 2
    return tile[0]


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def function_twice_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    kb.syncthreads()
    first = total_of(tile, t)
    kb.syncthreads()
    tile[t] = float(t * t)
    kb.syncthreads()
    second = total_of(tile, t)
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = first + second


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def function_twice_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    kb.syncthreads()
    first = total_again(tile, t)
    tile[t] = float(t * t)  # finds shared-races
    kb.syncthreads()
    second = total_again(tile, t)
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = first + second


@kb.func
def total_again(tile: kb.array(dtype=float), t: int) -> float:
    half = len(tile) // 2
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        kb.syncthreads()
        half = half // 2
    return tile[0]  # finds shared-races


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def vectors_apart_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, kb.vec3)
    t = kb.thread_idx()
    tile[t] = kb.vec3(1.0, 2.0, float(t))
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[(t + 1) % BLOCK][2]


@case("shared-races", "GPUVerify", ONE)
@kb.kernel(block_dim=BLOCK)
def vectors_apart_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, kb.vec3)
    t = kb.thread_idx()
    tile[t // 2] = kb.vec3(1.0, 2.0, float(t))  # finds shared-races
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t // 4][2]
