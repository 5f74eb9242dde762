"""What costs and does nothing wrong: bank conflicts, scattered accesses, parted warps, loops that all repeat."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)
Plane = kb.array2d(dtype=float)

BLOCK = 64
RIGHT = "nothing goes wrong by it"
TWO = At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK)


@case("banks", "own", At(grid=(1, 1), block=(32, 8), out=(32, 32)))
@kb.kernel
def column_of_a_warp_good(out: Plane):
    tile = kb.shared_array((32, 33), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    for k in range(4):
        tile[y + 8 * k, x] = float(x)
    kb.syncthreads()
    for k in range(4):
        if x < out.shape[1] and y + 8 * k < out.shape[0]:
            out[y + 8 * k, x] = tile[x, y + 8 * k]


@case("banks", "own", At(grid=(1, 1), block=(32, 8), out=(32, 32)))
@kb.kernel
def column_of_a_warp_bad(out: Plane):
    tile = kb.shared_array((32, 34), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    for k in range(4):
        tile[y + 8 * k, x] = float(x)
    kb.syncthreads()
    for k in range(4):
        if x < out.shape[1] and y + 8 * k < out.shape[0]:
            out[y + 8 * k, x] = tile[x, y + 8 * k]  # finds banks 2


@case("banks", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def numbers_of_three_good(out: Floats):
    tile = kb.shared_array(3 * BLOCK, float)
    t = kb.thread_idx()
    for c in range(3):
        tile[3 * t + c] = float(c)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[3 * t] + tile[3 * t + 1] + tile[3 * t + 2]


@case("banks", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def numbers_of_three_bad(out: Floats):
    tile = kb.shared_array(4 * BLOCK, float)
    t = kb.thread_idx()
    for c in range(3):
        tile[4 * t + c] = float(c)  # finds banks 4
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[4 * t] + tile[4 * t + 1] + tile[4 * t + 2]  # finds banks 4


@case("banks", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def bits_turned_good(out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t ^ 21] = float(t)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[BLOCK - 1 - t]


@case("banks", "own", At(2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def bits_turned_bad(out: Floats):
    tile = kb.shared_array(8 * BLOCK, float)
    t = kb.thread_idx()
    tile[(t << 3) ^ 21] = float(t)  # finds banks 8
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[((BLOCK - 1 - t) << 3) ^ 21]  # finds banks 8


@case("coalescing", "own", At((32, 64), block=64, a=(32, 64), out=(32, 64)))
@kb.kernel
def last_axis_fastest_good(a: Plane, out: Plane):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1] and i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j]


@case("coalescing", "own", At((32, 64), block=64, a=(64, 32), out=(32, 64)))
@kb.kernel
def last_axis_fastest_bad(a: Plane, out: Plane):
    i, j = kb.tid()
    if j < a.shape[0] and i < a.shape[1] and i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[j, i]  # finds coalescing 32 of 4


@case("coalescing", "own", At(512, block=128, colours=3 * 512, out=512))
@kb.kernel
def planes_apart_good(colours: Floats, out: Floats):
    i = kb.tid()
    n = out.shape[0]
    if i < n and i + 2 * n < colours.shape[0] and n <= 1000000:
        out[i] = colours[i] + colours[i + n] + colours[i + 2 * n]


@case("coalescing", "own", At(512, block=128, colours=3 * 512, out=512))
@kb.kernel
def planes_apart_bad(colours: Floats, out: Floats):
    i = kb.tid()
    n = out.shape[0]
    if i < n and 3 * i + 2 < colours.shape[0] and n <= 1000000:
        out[i] = colours[3 * i] + colours[3 * i + 1] + colours[3 * i + 2]  # finds coalescing 12 of 4


@case("coalescing", "own", At(64, block=64, data=64 * 16, out=64))
@kb.kernel(block_dim=64)
def chunk_of_each_good(data: Floats, out: Floats):
    i = kb.tid()
    total = 0.0
    for k in range(16):
        if k * 64 + i < data.shape[0]:
            total += data[k * 64 + i]
    if i < out.shape[0]:
        out[i] = total


@case("coalescing", "own", At(64, block=64, data=64 * 16, out=64))
@kb.kernel(block_dim=64)
def chunk_of_each_bad(data: Floats, out: Floats):
    i = kb.tid()
    total = 0.0
    for k in range(16):
        if i * 16 + k < data.shape[0]:
            total += data[i * 16 + k]  # finds coalescing 32 of 4
    if i < out.shape[0]:
        out[i] = total


@case("divergence", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def two_roles_good(data: Floats, out: Floats):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if kb.thread_idx() < BLOCK // 2:
            out[i] = kb.sin(data[i]) + kb.cos(2.0 * data[i])
        else:
            out[i] = kb.exp(-data[i]) * kb.sqrt(data[i])


@case("divergence", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def two_roles_bad(data: Floats, out: Floats):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if kb.thread_idx() % 3 == 1:  # finds divergence
            out[i] = kb.sin(data[i]) + kb.cos(2.0 * data[i])
        else:
            out[i] = kb.exp(-data[i]) * kb.sqrt(data[i])


@case("divergence", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def work_of_a_warp_good(data: Floats, out: Floats):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        x = data[i]
        for _ in range(4 + 2 * kb.warp_id()):
            x = 0.5 * (x + 1.0 / x)
        out[i] = x


@case("divergence", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def work_of_a_warp_bad(data: Floats, out: Floats):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        x = data[i]
        for _ in range(4 + 2 * kb.lane_id()):  # finds divergence
            x = 0.5 * (x + 1.0 / x)
        out[i] = x


@case("source", "own", At(8 * 32, data=1000, out=8))
@kb.kernel(block_dim=32)
def sum_by_a_warp_good(data: Floats, out: Floats):
    total = 0.0
    for k in range(kb.lane_id(), data.shape[0], 32):
        total += data[k]
    total = kb.warp_sum(total)
    if kb.lane_id() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = total


@case("source", "own", At(8 * 32, data=1000, out=8), unseen=RIGHT)
@kb.kernel(block_dim=32)
def sum_by_a_warp_bad(data: Floats, out: Floats):
    total = 0.0
    for k in range(data.shape[0]):  # finds source
        total += data[k]
    if kb.lane_id() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = total


@case("source", "own", At(128, block=64, data=128, gain=2.0))
@kb.kernel
def gain_as_it_is_good(data: Floats, gain: float):
    i = kb.tid()
    if i < data.shape[0]:
        data[i] = data[i] * gain


@case("source", "own", At(128, block=64, data=128, gain=2.0), unseen=RIGHT)
@kb.kernel
def gain_as_it_is_bad(data: Floats, gain: float):
    i = kb.tid()
    if i < data.shape[0]:
        data[i] = float(kb.float64(data[i]) * 0.1) * gain  # finds source
