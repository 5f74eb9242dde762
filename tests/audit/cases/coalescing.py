"""Accesses of a warp to arrays that touch more sectors of 32 bytes than their numbers fill.

What a request needs at least is its bytes; twice as much, and more than four sectors, is a finding. An array begins at
the beginning of a line.
"""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

N = 512
LINE = At(N, block=128, data=N, out=N)


@case("coalescing", "own", LINE, symbolic="proved")
@kb.kernel
def one_after_the_other_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i]


@case("coalescing", "own", At(N, block=128, data=2 * N, out=N))
@kb.kernel
def one_after_the_other_bad_two(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if 2 * i < data.shape[0] and i < out.shape[0]:
        out[i] = data[2 * i]  # finds coalescing 8 of 4


@case("coalescing", "own", At(N, block=128, data=4 * N, out=N))
@kb.kernel
def one_after_the_other_bad_four(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if 4 * i < data.shape[0] and i < out.shape[0]:
        out[i] = data[4 * i]  # finds coalescing 16 of 4


@case("coalescing", "own", At(N, block=128, data=N, out=32 * N))
@kb.kernel
def one_after_the_other_bad_line(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and 32 * i < out.shape[0]:
        out[32 * i] = data[i]  # finds coalescing 32 of 4


@case("coalescing", "own", At(N, block=128, data=N + 1, out=N))
@kb.kernel
def one_after_the_other_good_moved(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i + 1 < data.shape[0] and i < out.shape[0]:
        out[i] = data[i + 1]


@case("coalescing", "own", LINE)
@kb.kernel
def one_after_the_other_good_reversed(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < n and i < out.shape[0]:
        out[i] = data[n - 1 - i]


@case("coalescing", "own", LINE)
@kb.kernel
def one_after_the_other_good_broadcast(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and data.shape[0] > 3:
        out[i] = data[3]


@case("coalescing", "own", LINE)
@kb.kernel
def swapped_in_pairs_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if (i ^ 1) < data.shape[0] and i < out.shape[0]:
        out[i] = data[i ^ 1]


@case("coalescing", "own", At(N, block=128, data=8 * N, out=N))
@kb.kernel
def swapped_in_pairs_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if 8 * (i ^ 1) < data.shape[0] and i < out.shape[0]:
        out[i] = data[8 * (i ^ 1)]  # finds coalescing 32 of 4


@case("coalescing", "own", At((64, 64), block=128, a=(64, 64), out=(64, 64)), symbolic="any")
@kb.kernel
def rows_good(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1] and i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j]


@case("coalescing", "own", At((64, 64), block=128, a=(64, 64), out=(64, 64)), symbolic="any")
@kb.kernel
def rows_bad(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if j < a.shape[0] and i < a.shape[1] and i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[j, i]  # finds coalescing 32 of 4


@case("coalescing", "own", At((64, 64), block=128, a=(64, 64), out=(64, 64)), symbolic="any")
@kb.kernel
def rows_bad_store(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1] and j < out.shape[0] and i < out.shape[1]:
        out[j, i] = a[i, j]  # finds coalescing 32 of 4


@case("coalescing", "own", At(64, block=32, a=(40, 64), out=64), symbolic="any")
@kb.kernel
def column_of_each_good(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < a.shape[1] and i < out.shape[0]:
        total = 0.0
        for k in range(a.shape[0]):
            total += a[k, i]
        out[i] = total


@case("coalescing", "own", At(64, block=32, a=(64, 40), out=64), symbolic="any")
@kb.kernel
def column_of_each_bad(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < a.shape[0] and i < out.shape[0]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k]  # finds coalescing 32 of 4
        out[i] = total


@case("coalescing", "own", At(128, block=128, data=512, out=128))
@kb.kernel(block_dim=128)
def parts_of_four_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    t = kb.tid()
    total = 0.0
    for k in range(4):
        if k * 128 + t < data.shape[0]:
            total += data[k * 128 + t]
    if t < out.shape[0]:
        out[t] = total


@case("coalescing", "own", At(128, block=128, data=512, out=128))
@kb.kernel(block_dim=128)
def parts_of_four_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    t = kb.tid()
    total = 0.0
    for k in range(4):
        if 4 * t + k < data.shape[0]:
            total += data[4 * t + k]  # finds coalescing 16 of 4
    if t < out.shape[0]:
        out[t] = total


@case("coalescing", "own", At(N, block=128, points=N, out=N))
@kb.kernel
def two_components_open(points: kb.array(dtype=kb.vec2), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < points.shape[0] and i < out.shape[0]:
        out[i] = points[i][0] + points[i][1]  # may coalescing


@case("coalescing", "own", At(N, block=128, points=N, out=N))
@kb.kernel
def component_of_its_own_bad_vector(points: kb.array(dtype=kb.vec4), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < points.shape[0] and i < out.shape[0]:
        out[i] = points[i][2]  # finds coalescing 16 of 4


@case("coalescing", "own", At(N, block=128, rows=(4, N), out=N))
@kb.kernel
def component_of_its_own_good(rows: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if rows.shape[0] > 2 and i < rows.shape[1] and i < out.shape[0]:
        out[i] = rows[2, i]


@case("coalescing", "own", At(N, block=128, rows=(N, 4), out=N), symbolic="any")
@kb.kernel
def component_of_its_own_bad(rows: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if rows.shape[1] > 2 and i < rows.shape[0] and i < out.shape[0]:
        out[i] = rows[i, 2]  # finds coalescing 16 of 4


@case("coalescing", "own", At(N, block=128, data=N, out=N))
@kb.kernel
def wide_numbers_good(data: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i]


@case("coalescing", "own", At(N, block=128, data=4 * N, out=N))
@kb.kernel
def wide_numbers_bad(data: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    if 4 * i < data.shape[0] and i < out.shape[0]:
        out[i] = data[4 * i]  # finds coalescing 32 of 8


@case("coalescing", "own", At(N, block=128, data=N, out=N))
@kb.kernel
def narrow_numbers_good(data: kb.array(dtype=kb.uint8), out: kb.array(dtype=kb.uint8)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i]


@case("coalescing", "own", At(N, block=128, data=16 * N, out=N))
@kb.kernel
def narrow_numbers_bad(data: kb.array(dtype=kb.uint8), out: kb.array(dtype=kb.uint8)):
    i = kb.tid()
    if 16 * i < data.shape[0] and i < out.shape[0]:
        out[i] = data[16 * i]  # finds coalescing 16 of 1


@case("coalescing", "own", At(grid=8, block=64, a=(8, 64), out=512), symbolic="any")
@kb.kernel(block_dim=64)
def row_of_a_block_good(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    t = kb.thread_idx()
    b = kb.block_idx()
    if b < a.shape[0] and t < a.shape[1] and kb.tid() < out.shape[0]:
        out[kb.tid()] = a[b, t]


@case("coalescing", "own", At(grid=8, block=64, a=(64, 8), out=512), symbolic="any")
@kb.kernel(block_dim=64)
def row_of_a_block_bad(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    t = kb.thread_idx()
    b = kb.block_idx()
    if t < a.shape[0] and b < a.shape[1] and kb.tid() < out.shape[0]:
        out[kb.tid()] = a[t, b]  # finds coalescing 32 of 4


@case("coalescing", "own", At(64, block=32, index=[k * 37 % 64 for k in range(64)], data=64, out=64))
@kb.kernel
def anywhere_open(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < index.shape[0] and i < out.shape[0]:
        j = index[i]
        if 0 <= j < data.shape[0]:
            out[i] = data[j]  # unknown coalescing


@case("coalescing", "own", At(N, block=128, data=N))
@kb.kernel
def added_up_good(data: kb.array(dtype=int)):
    i = kb.tid()
    if i < data.shape[0]:
        kb.atomic_add(data, i, 1)


@case("coalescing", "own", At(N, block=128, data=8 * N))
@kb.kernel
def added_up_bad(data: kb.array(dtype=int)):
    i = kb.tid()
    if 8 * i < data.shape[0]:
        kb.atomic_add(data, 8 * i, 1)  # finds coalescing 32 of 4


@case("coalescing", "own", At(N, block=128, data=9 * N, out=N, pitch=9), symbolic="unknown")
@kb.kernel
def rows_of_a_pitch_bad(data: kb.array(dtype=float), out: kb.array(dtype=float), pitch: int):
    i = kb.tid()
    if i * pitch < data.shape[0] and i < out.shape[0] and pitch >= 0:
        out[i] = data[i * pitch]  # finds coalescing 32 of 4


@case("coalescing", "own", At(N, block=128, data=N, out=N, pitch=1), symbolic="unknown")
@kb.kernel
def rows_of_a_pitch_good(data: kb.array(dtype=float), out: kb.array(dtype=float), pitch: int):
    i = kb.tid()
    if i * pitch < data.shape[0] and i < out.shape[0] and pitch >= 0:
        out[i] = data[i * pitch]


@case("coalescing", "own", At(grid=(2, 2), block=(16, 16), a=(32, 32), out=(32, 32)), symbolic="any")
@kb.kernel
def square_of_a_plane_good(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i = kb.block_idx().y * 16 + kb.thread_idx().y
    j = kb.block_idx().x * 16 + kb.thread_idx().x
    if i < a.shape[0] and j < a.shape[1] and i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j]


@case("coalescing", "own", At(grid=(2, 2), block=(16, 16), a=(32, 32), out=(32, 32)), symbolic="any")
@kb.kernel
def square_of_a_plane_bad(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i = kb.block_idx().y * 16 + kb.thread_idx().x
    j = kb.block_idx().x * 16 + kb.thread_idx().y
    if i < a.shape[0] and j < a.shape[1] and i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j]  # finds coalescing 16 of 4


@case("coalescing", "own", At(128, block=64, data=1000))
@kb.kernel(block_dim=64)
def turns_of_the_grid_good(data: kb.array(dtype=float)):
    for i in kb.grid_range(data.shape[0]):
        data[i] = data[i] * 2.0


@case("coalescing", "own", At(128, block=64, data=1024))
@kb.kernel(block_dim=64)
def turns_of_the_grid_bad(data: kb.array(dtype=float)):
    each = data.shape[0] // 128
    if kb.tid() < 128:
        for k in range(each):
            data[kb.tid() * each + k] = 2.0  # finds coalescing 32 of 4
