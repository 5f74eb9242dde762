"""Shared memory and variables that are read before anything is stored there."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

BLOCK = 64
TWO = At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK)
ZERO = "a variable is zero until it is assigned"


@case("initialization", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def all_stored_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = tile[BLOCK - 1 - t]


@case("initialization", "own", At(2 * BLOCK, data=100, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def all_stored_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    if i < data.shape[0]:
        tile[t] = data[i]
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = tile[BLOCK - 1 - t]  # finds initialization KB415


@case("initialization", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def halo_stored_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK + 1, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    if t == 0:
        tile[BLOCK] = 0.0
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t + 1]


@case("initialization", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def halo_stored_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK + 1, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t + 1]  # finds initialization KB415


@case("initialization", "own", At(2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def counter_cleared_good(out: kb.array(dtype=int)):
    count = kb.shared_array(1, int)
    if kb.thread_idx() == 0:
        count[0] = 0
    kb.syncthreads()
    kb.atomic_add(count, 0, 1)
    kb.syncthreads()
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = count[0]


@case("initialization", "own", At(2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def counter_cleared_bad(out: kb.array(dtype=int)):
    count = kb.shared_array(1, int)
    kb.atomic_add(count, 0, 1)  # finds initialization KB415
    kb.syncthreads()
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = count[0]  # finds initialization KB415


@case("initialization", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def bins_cleared_good(out: kb.array(dtype=int)):
    bins = kb.shared_array(128, int)
    t = kb.thread_idx()
    bins[t] = 0
    bins[t + BLOCK] = 0
    kb.syncthreads()
    kb.atomic_add(bins, 2 * t + 1, 1)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = bins[t]


@case("initialization", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def bins_cleared_bad(out: kb.array(dtype=int)):
    bins = kb.shared_array(128, int)
    t = kb.thread_idx()
    bins[t] = 0
    kb.syncthreads()
    kb.atomic_add(bins, 2 * t + 1, 1)  # finds initialization KB415
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = bins[t]


@case("initialization", "own", At(BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def other_buffer_good(out: kb.array(dtype=float)):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    tile[0, t] = float(t)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[0, BLOCK - 1 - t]


@case("initialization", "own", At(BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def other_buffer_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    tile[0, t] = float(t)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[1, BLOCK - 1 - t]  # finds initialization KB415


@case("initialization", "own", At(BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def never_stored_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = 0.0
    tile[t] = tile[t] + float(t)
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("initialization", "own", At(BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def never_stored_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = tile[t] + float(t)  # finds initialization KB415
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("initialization", "own", At(BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def stored_in_a_loop_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(256, float)
    t = kb.thread_idx()
    for k in range(t, 256, BLOCK):
        tile[k] = float(k)
    kb.syncthreads()
    total = 0.0
    for k in range(4):
        total += tile[4 * t + k]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("initialization", "own", At(BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def stored_in_a_loop_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(256, float)
    t = kb.thread_idx()
    for k in range(t, 255, BLOCK):
        tile[k] = float(k)
    kb.syncthreads()
    total = 0.0
    for k in range(4):
        total += tile[4 * t + k]  # finds initialization KB415
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("initialization", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def in_both_branches_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if data[i] > 3.0:
            x = data[i]
        else:
            x = 0.0
        out[i] = x


@case("initialization", "own", At(64, block=64, data=64, out=64), unseen=ZERO)
@kb.kernel
def in_both_branches_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if data[i] > 3.0:
            x = data[i]
        out[i] = x  # finds initialization KB415


@case("initialization", "own", At(64, block=64, out=64, n=0))
@kb.kernel
def before_the_loop_good(out: kb.array(dtype=float), n: int):
    i = kb.tid()
    last = 0.0
    for k in range(n):
        last = float(k)
    if i < out.shape[0]:
        out[i] = last


@case("initialization", "own", At(64, block=64, out=64, n=0), unseen=ZERO)
@kb.kernel
def before_the_loop_bad(out: kb.array(dtype=float), n: int):
    i = kb.tid()
    for k in range(n):
        last = float(k)
    if i < out.shape[0]:
        out[i] = last  # finds initialization KB415


@case("initialization", "own", At(64, block=64, out=64, mode=1))
@kb.kernel
def every_mode_good(out: kb.array(dtype=float), mode: int):
    i = kb.tid()
    if mode == 0:
        scale = 1.0
    elif mode == 1:
        scale = 2.0
    else:
        scale = 3.0
    if i < out.shape[0]:
        out[i] = scale


@case("initialization", "own", At(64, block=64, out=64, mode=2), unseen=ZERO)
@kb.kernel
def every_mode_bad(out: kb.array(dtype=float), mode: int):
    i = kb.tid()
    if mode == 0:
        scale = 1.0
    elif mode == 1:
        scale = 2.0
    if i < out.shape[0]:
        out[i] = scale  # finds initialization KB415


@case("initialization", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def same_guard_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0]:
        x = data[i] * 2.0
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = x


@case("initialization", "own", At(64, block=64, data=60, out=64), unseen=ZERO)
@kb.kernel
def same_guard_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0]:
        x = data[i] * 2.0
    if i < out.shape[0]:
        out[i] = x  # finds initialization KB415
