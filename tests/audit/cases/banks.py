"""Bank conflicts in shared memory: the degree is how many times as long an access takes as without them."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

BLOCK = 64
ONE = At(2 * BLOCK, out=2 * BLOCK)
WARP = At(64, out=64)


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def lane_number_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(256, float)
    lane = kb.thread_idx()
    tile[lane % 32] = float(lane)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane % 32]


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def lane_number_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(256, float)
    lane = kb.thread_idx()
    tile[(lane // 4) * 32 + lane % 4] = float(lane)  # finds banks 8
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[(lane // 4) * 32 + lane % 4]  # finds banks 8


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def stride_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(1024, float)
    lane = kb.thread_idx()
    tile[lane] = float(lane)
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane]


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def stride_good_three(out: kb.array(dtype=float)):
    tile = kb.shared_array(1024, float)
    lane = kb.thread_idx()
    tile[lane * 3] = float(lane)
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane * 3]


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def stride_bad_two(out: kb.array(dtype=float)):
    tile = kb.shared_array(1024, float)
    lane = kb.thread_idx()
    tile[lane * 2] = float(lane)  # finds banks 2
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane * 2]  # finds banks 2


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def stride_bad_four(out: kb.array(dtype=float)):
    tile = kb.shared_array(1024, float)
    lane = kb.thread_idx()
    tile[lane * 4] = float(lane)  # finds banks 4
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane * 4]  # finds banks 4


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def stride_bad_eight(out: kb.array(dtype=float)):
    tile = kb.shared_array(1024, float)
    lane = kb.thread_idx()
    tile[lane * 8] = float(lane)  # finds banks 8
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane * 8]  # finds banks 8


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def stride_bad_sixteen(out: kb.array(dtype=float)):
    tile = kb.shared_array(1024, float)
    lane = kb.thread_idx()
    tile[lane * 16] = float(lane)  # finds banks 16
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane * 16]  # finds banks 16


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def stride_bad_thirty_two(out: kb.array(dtype=float)):
    tile = kb.shared_array(1024, float)
    lane = kb.thread_idx()
    tile[lane * 32] = float(lane)  # finds banks 32
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane * 32]  # finds banks 32


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def stride_bad_six(out: kb.array(dtype=float)):
    tile = kb.shared_array(1024, float)
    lane = kb.thread_idx()
    tile[lane * 6 + 5] = float(lane)  # finds banks 2
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane * 6 + 5]  # finds banks 2


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def columns_good(out: kb.array(dtype=float)):
    tile = kb.shared_array((32, 33), float)
    lane = kb.thread_idx()
    for row in range(32):
        tile[row, lane] = float(row)
    kb.syncwarp()
    total = 0.0
    for k in range(32):
        total += tile[lane, k]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def columns_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array((32, 32), float)
    lane = kb.thread_idx()
    for row in range(32):
        tile[row, lane] = float(row)
    kb.syncwarp()
    total = 0.0
    for k in range(32):
        total += tile[lane, k]  # finds banks 32
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def columns_bad_padding(out: kb.array(dtype=float)):
    tile = kb.shared_array((32, 36), float)
    lane = kb.thread_idx()
    for row in range(32):
        tile[row, lane] = float(row)
    kb.syncwarp()
    total = 0.0
    for k in range(32):
        total += tile[lane, k]  # finds banks 4
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def mixed_by_xor_good(out: kb.array(dtype=float)):
    tile = kb.shared_array((32, 32), float)
    lane = kb.thread_idx()
    for row in range(32):
        tile[row, lane ^ row] = float(row)
    kb.syncwarp()
    total = 0.0
    for k in range(32):
        total += tile[lane, k ^ lane]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def mixed_by_xor_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array((32, 32), float)
    lane = kb.thread_idx()
    for row in range(32):
        tile[row, lane ^ row] = float(row)
    kb.syncwarp()
    total = 0.0
    for k in range(32):
        total += tile[lane, k ^ (lane & 3)]  # finds banks 8
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("banks", "own", At(grid=2, block=256, out=512))
@kb.kernel(block_dim=256)
def small_tile_good(out: kb.array(dtype=float)):
    tile = kb.shared_array((16, 16), float)
    x = kb.thread_idx() % 16
    y = kb.thread_idx() // 16
    tile[y, x ^ y] = float(x)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[x, y ^ x]


@case("banks", "own", At(grid=2, block=256, out=512))
@kb.kernel(block_dim=256)
def small_tile_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array((16, 16), float)
    x = kb.thread_idx() % 16
    y = kb.thread_idx() // 16
    tile[y, x] = float(x)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[x, y]  # finds banks 8


@case("banks", "own", At(grid=2, block=256, out=512))
@kb.kernel(block_dim=256)
def small_tile_bad_padding(out: kb.array(dtype=float)):
    tile = kb.shared_array((16, 17), float)
    x = kb.thread_idx() % 16
    y = kb.thread_idx() // 16
    tile[y, x] = float(x)  # finds banks 2
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[x, y]  # finds banks 2


@case("banks", "own", At(grid=2, block=256, out=512))
@kb.kernel(block_dim=256)
def small_tile_bad_even(out: kb.array(dtype=float)):
    tile = kb.shared_array((16, 18), float)
    x = kb.thread_idx() % 16
    y = kb.thread_idx() // 16
    tile[y, x] = float(x)  # finds banks 2
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[x, y]


@case("banks", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def read_by_all_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t // 32 * 7]


@case("banks", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def read_by_all_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(32 * BLOCK, float)
    t = kb.thread_idx()
    for k in range(32):
        tile[k * BLOCK + t] = float(t)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t % 16 * 32]  # finds banks 16


@case("banks", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def backwards_by_lane_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK + 1, float)
    t = kb.thread_idx()
    tile[BLOCK - t] = float(t)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[(t ^ 5) + 1]


@case("banks", "own", ONE)
@kb.kernel(block_dim=BLOCK)
def backwards_by_lane_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(2 * BLOCK + 1, float)
    t = kb.thread_idx()
    tile[2 * (BLOCK - t)] = float(t)  # finds banks 2
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[2 * (t ^ 5) + 2]  # finds banks 2


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def double_numbers_good(out: kb.array(dtype=kb.float64)):
    tile = kb.shared_array(64, kb.float64)
    lane = kb.thread_idx()
    tile[lane] = kb.float64(lane)
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane]


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def double_numbers_bad(out: kb.array(dtype=kb.float64)):
    tile = kb.shared_array(64, kb.float64)
    lane = kb.thread_idx()
    tile[2 * lane] = kb.float64(lane)  # finds banks 2
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[2 * lane]  # finds banks 2


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def bytes_good(out: kb.array(dtype=kb.uint8)):
    tile = kb.shared_array(128, kb.uint8)
    lane = kb.thread_idx()
    tile[lane] = kb.uint8(lane)
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane]


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def bytes_bad(out: kb.array(dtype=kb.uint8)):
    tile = kb.shared_array(4096, kb.uint8)
    lane = kb.thread_idx()
    tile[lane * 64] = kb.uint8(lane)  # finds banks 16
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane * 64]  # finds banks 16


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def points_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(32, kb.vec3)
    lane = kb.thread_idx()
    tile[lane] = kb.vec3(1.0, 2.0, float(lane))
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane][1]


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def points_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(32, kb.vec4)
    lane = kb.thread_idx()
    tile[lane] = kb.vec4(1.0, 2.0, float(lane), 0.0)  # as words, eight lanes at a time: no conflict
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane][1]  # finds banks 4


@case("banks", "own", At(64, out=64))
@kb.kernel(block_dim=32)
def quarters_of_a_warp_good(out: kb.array(dtype=kb.vec4)):
    tile = kb.shared_array(32, kb.vec4)
    lane = kb.thread_idx()
    tile[lane] = kb.vec4(1.0, 2.0, float(lane), 0.0)
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[31 - lane]


@case("banks", "own", At(64, out=64))
@kb.kernel(block_dim=32)
def quarters_of_a_warp_bad(out: kb.array(dtype=kb.vec4)):
    tile = kb.shared_array(64, kb.vec4)
    lane = kb.thread_idx()
    tile[2 * lane] = kb.vec4(1.0, 2.0, float(lane), 0.0)  # finds banks 2
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[2 * lane]  # finds banks 2


@case("banks", "own", At(64, out=64))
@kb.kernel(block_dim=32)
def halves_of_a_warp_good(out: kb.array(dtype=kb.vec2)):
    tile = kb.shared_array((2, 32), kb.vec2)
    lane = kb.thread_idx()
    tile[0, lane] = kb.vec2(1.0, float(lane))
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[0, lane]


@case("banks", "own", At(64, out=64))
@kb.kernel(block_dim=32)
def halves_of_a_warp_bad(out: kb.array(dtype=kb.vec2)):
    tile = kb.shared_array((32, 4), kb.vec2)
    lane = kb.thread_idx()
    tile[lane, 0] = kb.vec2(1.0, float(lane))  # finds banks 4
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane, 0]  # finds banks 4


@case("banks", "own", At(64, out=64))
@kb.kernel(block_dim=32)
def matrices_bad(out: kb.array(dtype=kb.mat44)):
    tile = kb.shared_array(32, kb.mat44)
    lane = kb.thread_idx()
    tile[lane] = kb.mat44(float(lane))  # finds banks 4
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane]  # finds banks 4


@case("banks", "own", At(64, out=64))
@kb.kernel(block_dim=32)
def matrices_good(out: kb.array(dtype=kb.mat22)):
    tile = kb.shared_array(32, kb.mat22)
    lane = kb.thread_idx()
    tile[lane] = kb.mat22(float(lane))
    kb.syncwarp()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[lane]


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def fields_apart_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(256, float)
    lane = kb.thread_idx()
    for k in range(8):
        tile[k * 32 + lane] = float(k)
    kb.syncwarp()
    total = 0.0
    for k in range(8):
        total += tile[k * 32 + lane]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("banks", "own", WARP)
@kb.kernel(block_dim=32)
def fields_apart_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(256, float)
    lane = kb.thread_idx()
    for k in range(8):
        tile[lane * 8 + k] = float(k)  # finds banks 8
    kb.syncwarp()
    total = 0.0
    for k in range(8):
        total += tile[lane * 8 + k]  # finds banks 8
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("banks", "own", At(128, out=2))
@kb.kernel(block_dim=BLOCK)
def tree_of_neighbours_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    kb.syncthreads()
    half = int(BLOCK // 2)
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        kb.syncthreads()
        half = half // 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("banks", "own", At(128, out=2))
@kb.kernel(block_dim=BLOCK)
def tree_of_neighbours_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    kb.syncthreads()
    step = 1
    while step < BLOCK:
        k = 2 * step * t
        if k + step < BLOCK:
            tile[k] = tile[k] + tile[k + step]  # finds banks
        kb.syncthreads()
        step = step * 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("banks", "own", At(64, data=[k * 37 % 64 for k in range(64)], out=64))
@kb.kernel(block_dim=32)
def looked_up_open(data: kb.array(dtype=int), out: kb.array(dtype=float)):
    tile = kb.shared_array(64, float)
    lane = kb.thread_idx()
    tile[lane] = float(lane)
    tile[lane + 32] = float(lane)
    kb.syncwarp()
    if kb.tid() < out.shape[0] and kb.tid() < data.shape[0]:
        out[kb.tid()] = tile[data[kb.tid()] & 63]  # unknown banks


@case("banks", "own", At(128, out=128, n=32), symbolic="unknown")
@kb.kernel(block_dim=32)
def pitch_of_the_launch_bad(out: kb.array(dtype=float), n: int):
    tile = kb.shared_array(1056, float)
    lane = kb.thread_idx()
    if n >= 0 and n <= 33:
        tile[lane * n] = 1.0  # finds banks 32
        kb.syncwarp()
        if kb.tid() < out.shape[0]:
            out[kb.tid()] = tile[lane * n]  # finds banks 32


@case("banks", "own", At(128, out=128, n=33), symbolic="unknown")
@kb.kernel(block_dim=32)
def pitch_of_the_launch_good(out: kb.array(dtype=float), n: int):
    tile = kb.shared_array(1056, float)
    lane = kb.thread_idx()
    if n >= 1 and n <= 33:
        tile[lane * n] = 1.0
        kb.syncwarp()
        if kb.tid() < out.shape[0]:
            out[kb.tid()] = tile[lane * n]
