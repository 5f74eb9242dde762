"""Races in what people write with shared memory: sums, scans, stencils, tiles, pipelines."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

BLOCK = 64
TWO = At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK)
SUMS = At(2 * BLOCK, data=2 * BLOCK, out=2)
PRODUCT = At(grid=(2, 2), block=(8, 8), a=(16, 24), b=(24, 16), out=(16, 16))


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def tree_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    half = int(BLOCK // 2)
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        kb.syncthreads()
        half = half // 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def tree_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    half = int(BLOCK // 2)
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]  # finds shared-races
        half = half // 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def tree_bad_first(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0  # finds shared-races
    half = int(BLOCK // 2)
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]  # finds shared-races
        kb.syncthreads()
        half = half // 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def tree_bad_guard(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(2 * BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    tile[t + BLOCK] = 0.0
    kb.syncthreads()
    half = int(BLOCK // 2)
    while half > 0:
        if t <= half:
            tile[t] = tile[t] + tile[t + half]  # finds shared-races
        kb.syncthreads()
        half = half // 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def tree_last_warp_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        kb.syncwarp()
        half = half // 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def tree_last_warp_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    if t < 32:
        half = 32
        while half > 0:
            if t < half:
                tile[t] = tile[t] + tile[t + half]  # finds shared-races
            half = half // 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def tree_growing_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    step = 1
    while step < BLOCK:
        if t % (2 * step) == 0:
            tile[t] = tile[t] + tile[t + step]
        kb.syncthreads()
        step = step * 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "GPUVerify", SUMS)
@kb.kernel(block_dim=BLOCK)
def tree_growing_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    step = 1
    while step < BLOCK:
        if t % step == 0 and t + step < BLOCK:
            tile[t] = tile[t] + tile[t + step]  # finds shared-races
        kb.syncthreads()
        step = step * 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def scan_in_place_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    step = 1
    while step < BLOCK:
        x = tile[t - step] if t >= step else 0.0
        kb.syncthreads()
        tile[t] = tile[t] + x
        kb.syncthreads()
        step = step * 2
    if i < out.shape[0]:
        out[i] = tile[t]


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def scan_in_place_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    step = 1
    while step < BLOCK:
        x = tile[t - step] if t >= step else 0.0  # finds shared-races
        tile[t] = tile[t] + x  # finds shared-races
        kb.syncthreads()
        step = step * 2
    if i < out.shape[0]:
        out[i] = tile[t]


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def scan_in_place_bad_trailing(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    step = 1
    while step < BLOCK:
        x = tile[t - step] if t >= step else 0.0  # finds shared-races
        kb.syncthreads()
        tile[t] = tile[t] + x  # finds shared-races
        step = step * 2
    if i < out.shape[0]:
        out[i] = tile[t]


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def scan_two_buffers_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    i = kb.tid()
    now = 0
    tile[now, t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    step = 1
    while step < BLOCK:
        if t >= step:
            tile[1 - now, t] = tile[now, t] + tile[now, t - step]
        else:
            tile[1 - now, t] = tile[now, t]
        now = 1 - now
        kb.syncthreads()
        step = step * 2
    if i < out.shape[0]:
        out[i] = tile[now, t]


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def scan_two_buffers_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    i = kb.tid()
    now = 0
    tile[now, t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    step = 1
    while step < BLOCK:
        if t >= step:
            tile[1 - now, t] = tile[now, t] + tile[now, t - step]  # finds shared-races
        else:
            tile[1 - now, t] = tile[now, t]  # finds shared-races
        now = 1 - now
        step = step * 2
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = tile[now, t]


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def blurred_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK + 2, float)
    t = kb.thread_idx()
    i = kb.tid()
    n = data.shape[0]
    tile[t + 1] = data[i] if i < n else 0.0
    if t == 0:
        tile[0] = data[i - 1] if i > 0 and i - 1 < n else 0.0
    if t == BLOCK - 1:
        tile[BLOCK + 1] = data[i + 1] if i + 1 < n else 0.0
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def blurred_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK + 2, float)
    t = kb.thread_idx()
    i = kb.tid()
    n = data.shape[0]
    tile[t + 1] = data[i] if i < n else 0.0  # finds shared-races
    if t == 0:
        tile[0] = data[i - 1] if i > 0 and i - 1 < n else 0.0  # finds shared-races
    if t == BLOCK - 1:
        tile[BLOCK + 1] = data[i + 1] if i + 1 < n else 0.0  # finds shared-races
    if i < out.shape[0]:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]  # finds shared-races


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def blurred_bad_ends(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK + 2, float)
    t = kb.thread_idx()
    i = kb.tid()
    n = data.shape[0]
    tile[t + 1] = data[i] if i < n else 0.0
    kb.syncthreads()
    if t == 0:
        tile[0] = data[i - 1] if i > 0 and i - 1 < n else 0.0
    if t == 32:
        tile[BLOCK + 1] = data[i + 32] if i + 32 < n else 0.0  # finds shared-races
    if i < out.shape[0]:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]  # finds shared-races


@case("shared-races", "own", At(BLOCK, out=BLOCK, steps=4))
@kb.kernel(block_dim=BLOCK)
def diffusion_good(out: kb.array(dtype=float), steps: int):
    now = kb.shared_array(BLOCK, float)
    then = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    now[t] = float(t * t)
    kb.syncthreads()
    for _ in range(steps):
        left = now[kb.max(t - 1, 0)]
        right = now[kb.min(t + 1, BLOCK - 1)]
        then[t] = 0.25 * left + 0.5 * now[t] + 0.25 * right
        kb.syncthreads()
        now[t] = then[t]
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = now[t]


@case("shared-races", "own", At(BLOCK, out=BLOCK, steps=4))
@kb.kernel(block_dim=BLOCK)
def diffusion_bad(out: kb.array(dtype=float), steps: int):
    now = kb.shared_array(BLOCK, float)
    then = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    now[t] = float(t * t)
    kb.syncthreads()
    for _ in range(steps):
        left = now[kb.max(t - 1, 0)]  # finds shared-races
        right = now[kb.min(t + 1, BLOCK - 1)]  # finds shared-races
        then[t] = 0.25 * left + 0.5 * now[t] + 0.25 * right
        kb.syncthreads()
        now[t] = then[t]  # finds shared-races
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = now[t]


@case("shared-races", "own", At(BLOCK, data=8 * BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def pipeline_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    total = 0.0
    parts = data.shape[0] // BLOCK
    for k in range(parts):
        tile[k % 2, t] = data[k * BLOCK + t]
        kb.syncthreads()
        total += tile[k % 2, BLOCK - 1 - t]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("shared-races", "own", At(BLOCK, data=8 * BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def pipeline_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    total = 0.0
    parts = data.shape[0] // BLOCK
    for k in range(parts):
        tile[0, t] = data[k * BLOCK + t]  # finds shared-races
        kb.syncthreads()
        total += tile[0, BLOCK - 1 - t]  # finds shared-races
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("shared-races", "ScoR", PRODUCT)
@kb.kernel(block_dim=64)
def product_good(a: kb.array2d(dtype=float), b: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    left = kb.shared_array((8, 8), float)
    right = kb.shared_array((8, 8), float)
    x = kb.thread_idx() % 8
    y = kb.thread_idx() // 8
    i = kb.block_idx().y * 8 + y
    j = kb.block_idx().x * 8 + x
    total = 0.0
    for part in range(a.shape[1] // 8):
        k = part * 8
        left[y, x] = a[i, k + x] if i < a.shape[0] else 0.0
        right[y, x] = b[k + y, j] if k + y < b.shape[0] and j < b.shape[1] else 0.0
        kb.syncthreads()
        for m in range(8):
            total += left[y, m] * right[m, x]
        kb.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@case("shared-races", "ScoR", PRODUCT)
@kb.kernel(block_dim=64)
def product_bad(a: kb.array2d(dtype=float), b: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    left = kb.shared_array((8, 8), float)
    right = kb.shared_array((8, 8), float)
    x = kb.thread_idx() % 8
    y = kb.thread_idx() // 8
    i = kb.block_idx().y * 8 + y
    j = kb.block_idx().x * 8 + x
    total = 0.0
    for part in range(a.shape[1] // 8):
        k = part * 8
        left[y, x] = a[i, k + x] if i < a.shape[0] else 0.0  # finds shared-races
        right[y, x] = b[k + y, j] if k + y < b.shape[0] and j < b.shape[1] else 0.0  # finds shared-races
        kb.syncthreads()
        for m in range(8):
            total += left[y, m] * right[m, x]  # finds shared-races
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@case("shared-races", "ScoR", PRODUCT)
@kb.kernel(block_dim=64)
def product_bad_before(a: kb.array2d(dtype=float), b: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    left = kb.shared_array((8, 8), float)
    right = kb.shared_array((8, 8), float)
    x = kb.thread_idx() % 8
    y = kb.thread_idx() // 8
    i = kb.block_idx().y * 8 + y
    j = kb.block_idx().x * 8 + x
    total = 0.0
    for part in range(a.shape[1] // 8):
        k = part * 8
        left[y, x] = a[i, k + x] if i < a.shape[0] else 0.0  # finds shared-races
        right[y, x] = b[k + y, j] if k + y < b.shape[0] and j < b.shape[1] else 0.0  # finds shared-races
        for m in range(8):
            total += left[y, m] * right[m, x]  # finds shared-races
        kb.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@case("shared-races", "GPUVerify", At(grid=(2, 2), block=(16, 16), a=(32, 32), out=(32, 32)))
@kb.kernel(block_dim=256)
def transposing_good(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    tile = kb.shared_array((16, 17), float)
    x = kb.thread_idx() % 16
    y = kb.thread_idx() // 16
    i = kb.block_idx().y * 16 + y
    j = kb.block_idx().x * 16 + x
    if i < a.shape[0] and j < a.shape[1]:
        tile[y, x] = a[i, j]
    else:
        tile[y, x] = 0.0
    kb.syncthreads()
    i = kb.block_idx().x * 16 + y
    j = kb.block_idx().y * 16 + x
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = tile[x, y]


@case("shared-races", "GPUVerify", At(grid=(2, 2), block=(16, 16), a=(32, 32), out=(32, 32)))
@kb.kernel(block_dim=256)
def transposing_bad(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    tile = kb.shared_array((16, 17), float)
    x = kb.thread_idx() % 16
    y = kb.thread_idx() // 16
    i = kb.block_idx().y * 16 + y
    j = kb.block_idx().x * 16 + x
    if i < a.shape[0] and j < a.shape[1]:
        tile[y, x] = a[i, j]  # finds shared-races
    else:
        tile[y, x] = 0.0  # finds shared-races
    i = kb.block_idx().x * 16 + y
    j = kb.block_idx().y * 16 + x
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = tile[x, y]  # finds shared-races


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def sorted_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    keys = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    keys[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    size = 2
    while size <= BLOCK:
        step = size // 2
        while step > 0:
            other = t ^ step
            if other > t:
                a = keys[t]
                b = keys[other]
                if (a > b) == ((t & size) == 0):
                    keys[t] = b
                    keys[other] = a
            kb.syncthreads()
            step = step // 2
        size = size * 2
    if i < out.shape[0]:
        out[i] = keys[t]


@case("shared-races", "GPUVerify", TWO)
@kb.kernel(block_dim=BLOCK)
def sorted_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    keys = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    i = kb.tid()
    keys[t] = data[i] if i < data.shape[0] else 0.0
    kb.syncthreads()
    size = 2
    while size <= BLOCK:
        step = size // 2
        while step > 0:
            other = t ^ step
            if other > t:
                a = keys[t]  # finds shared-races
                b = keys[other]  # finds shared-races
                if (a > b) == ((t & size) == 0):
                    keys[t] = b  # finds shared-races
                    keys[other] = a  # finds shared-races
            step = step // 2
        kb.syncthreads()
        size = size * 2
    if i < out.shape[0]:
        out[i] = keys[t]


@case("shared-races", "own", SUMS)
@kb.kernel(block_dim=BLOCK)
def sums_of_warps_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    parts = kb.shared_array(2, float)
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    own = kb.warp_sum(x)
    if kb.lane_id() == 0:
        parts[kb.warp_id()] = own
    kb.syncthreads()
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = parts[0] + parts[1]


@case("shared-races", "own", SUMS)
@kb.kernel(block_dim=BLOCK)
def sums_of_warps_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    parts = kb.shared_array(2, float)
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    own = kb.warp_sum(x)
    if kb.lane_id() == 0:
        parts[kb.warp_id()] = own  # finds shared-races
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = parts[0] + parts[1]  # finds shared-races; may initialization


@case("shared-races", "own", SUMS)
@kb.kernel(block_dim=BLOCK)
def sums_of_warps_bad_slot(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    parts = kb.shared_array(2, float)
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    own = kb.warp_sum(x)
    if kb.lane_id() == 0:
        parts[0] = own  # finds shared-races
    kb.syncthreads()
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = parts[0]


@kb.func
def summed(x: float) -> float:
    parts = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    parts[t] = x
    kb.syncthreads()
    total = 0.0
    for k in range(BLOCK):
        total += parts[k]
    kb.syncthreads()
    return total


@kb.func
def summed_once(x: float) -> float:
    parts = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    parts[t] = x  # finds shared-races
    kb.syncthreads()
    total = 0.0
    for k in range(BLOCK):
        total += parts[k]  # finds shared-races
    return total


@case("shared-races", "own", At(BLOCK, data=8 * BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def sums_in_a_loop_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    total = 0.0
    for k in range(data.shape[0] // BLOCK):
        total += summed(data[k * BLOCK + kb.thread_idx()])
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = total


@case("shared-races", "own", At(BLOCK, data=8 * BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def sums_in_a_loop_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    total = 0.0
    for k in range(data.shape[0] // BLOCK):
        total += summed_once(data[k * BLOCK + kb.thread_idx()])  # finds shared-races
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = total


@case("shared-races", "own", At(BLOCK, data=8 * BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def sums_in_a_loop_good_own(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    total = 0.0
    for k in range(data.shape[0] // BLOCK):
        total += kb.block_sum(data[k * BLOCK + kb.thread_idx()])
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = total


@case("shared-races", "GPUVerify", At(BLOCK, data=BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def up_and_down_good(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0
    step = 1
    while step < BLOCK:
        kb.syncthreads()
        k = (t + 1) * step * 2 - 1
        if k < BLOCK:
            tile[k] = tile[k] + tile[k - step]  # may overflow
        step = step * 2
    kb.syncthreads()
    if t == 0:
        tile[BLOCK - 1] = 0
    step = int(BLOCK // 2)
    while step > 0:
        kb.syncthreads()
        k = (t + 1) * step * 2 - 1
        if k < BLOCK:
            x = tile[k - step]
            tile[k - step] = tile[k]
            tile[k] = tile[k] + x  # may overflow
        step = step // 2
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("shared-races", "GPUVerify", At(BLOCK, data=BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def up_and_down_bad(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0
    step = 1
    while step < BLOCK:
        kb.syncthreads()
        k = (t + 1) * step * 2 - 1
        if k < BLOCK:
            tile[k] = tile[k] + tile[k - step]
        step = step * 2
    kb.syncthreads()
    if t == 0:
        tile[BLOCK - 1] = 0
    step = int(BLOCK // 2)
    while step > 0:
        kb.syncthreads()
        k = (t + 1) * step * 2 - 1
        if k < BLOCK:
            x = tile[k - step]
            tile[k - step] = tile[k]  # finds shared-races
            tile[k] = tile[k] + x  # finds shared-races
        step = step // 2
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]  # finds shared-races
