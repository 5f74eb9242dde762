"""Elements of arrays: guards, neighbours, several dimensions, tails."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case


@case("bounds", "GPUVerify", At(1024, block=256, data=1000, out=1000))
@kb.kernel
def tail_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] * 2.0


@case("bounds", "GPUVerify", At(1024, block=256, data=1000, out=1000), symbolic="unknown")
@kb.kernel
def tail_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = data[i] * 2.0  # finds bounds


@case("bounds", "GPUVerify", At(1024, block=256, data=1000, n=1000), symbolic="unknown")
@kb.kernel
def count_given_good(data: kb.array(dtype=float), n: int):
    i = kb.tid()
    if i < n:
        data[i] = data[i] + 1.0


@case("bounds", "GPUVerify", At(1024, block=256, data=1000, n=1000), symbolic="unknown")
@kb.kernel
def count_given_bad(data: kb.array(dtype=float), n: int):
    i = kb.tid()
    if i <= n:
        data[i] = data[i] + 1.0  # finds bounds


@case("bounds", "GPUVerify", At(1024, block=256, data=1000, n=1000))
@kb.kernel
def count_promised_good(data: kb.array(dtype=float), n: int):
    i = kb.tid()
    kb.assume(n <= data.shape[0])
    if i < n:
        data[i] = data[i] + 1.0


@case("bounds", "GPUVerify", At(1024, block=256, data=1000, n=1000))
@kb.kernel
def count_promised_bad(data: kb.array(dtype=float), n: int):
    i = kb.tid()
    kb.assume(n <= data.shape[0])
    if i <= n:
        data[i] = data[i] + 1.0  # finds bounds


@case("bounds", "Indigo", At(128, block=64, data=100))
@kb.kernel
def extent_itself_good(data: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0]:
        data[i] = 0.0


@case("bounds", "Indigo", At(128, block=64, data=100))
@kb.kernel
def extent_itself_bad(data: kb.array(dtype=float)):
    i = kb.tid()
    if i <= data.shape[0]:
        data[i] = 0.0  # finds bounds


@case("bounds", "Indigo", At(128, block=64, data=100))
@kb.kernel
def leaves_early_good(data: kb.array(dtype=float)):
    i = kb.tid()
    if i >= data.shape[0]:
        return
    data[i] = 0.0


@case("bounds", "Indigo", At(128, block=64, data=100))
@kb.kernel
def leaves_early_bad(data: kb.array(dtype=float)):
    i = kb.tid()
    if i > data.shape[0]:
        return
    data[i] = 0.0  # finds bounds


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def left_neighbour_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i >= 1 and i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] - data[i - 1]


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def left_neighbour_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i >= 0 and i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] - data[i - 1]  # finds bounds


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def right_neighbour_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i + 1 < data.shape[0] and i < out.shape[0]:
        out[i] = data[i + 1] - data[i]


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def right_neighbour_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i + 1] - data[i]  # finds bounds


@case("bounds", "own", At(66, block=33, data=66, out=66))
@kb.kernel
def both_neighbours_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < out.shape[0]:
        if 0 < i < n - 1:
            out[i] = (data[i - 1] + data[i] + data[i + 1]) / 3.0


@case("bounds", "own", At(66, block=33, data=66, out=66))
@kb.kernel
def both_neighbours_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < out.shape[0]:
        if 0 < i < n:
            out[i] = (data[i - 1] + data[i] + data[i + 1]) / 3.0  # finds bounds


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def clamped_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and data.shape[0] > 0:
        j = kb.min(i + 3, data.shape[0] - 1)
        out[i] = data[j]


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def clamped_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and data.shape[0] > 0:
        j = kb.min(i + 3, data.shape[0])
        out[i] = data[j]  # finds bounds


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def clamped_below_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and i < data.shape[0]:
        j = kb.max(i - 2, 0)
        out[i] = data[j]


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def clamped_below_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and i < data.shape[0]:
        j = kb.max(i - 2, -1)
        out[i] = data[j]  # finds bounds


@case("bounds", "GPUVerify", At(64, block=64, data=64, out=64))
@kb.kernel
def turned_round_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < n and i < out.shape[0]:
        out[i] = data[n - 1 - i]


@case("bounds", "GPUVerify", At(64, block=64, data=64, out=64))
@kb.kernel
def turned_round_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < n and i < out.shape[0]:
        out[i] = data[n - i]  # finds bounds


@case("bounds", "GPUVerify", At(64, block=64, data=128))
@kb.kernel
def every_second_good(data: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] // 2:
        data[2 * i + 1] = data[2 * i]


@case("bounds", "GPUVerify", At(64, block=64, data=127))
@kb.kernel
def every_second_bad(data: kb.array(dtype=float)):
    i = kb.tid()
    if i < (data.shape[0] + 1) // 2:
        data[2 * i + 1] = data[2 * i]  # finds bounds


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def around_the_end_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < n and i < out.shape[0]:
        out[i] = data[(i + 1) % n]


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def around_the_end_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < n and i < out.shape[0]:
        out[i] = data[(i + 1) % (n + 1)]  # finds bounds


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def remainder_of_a_negative_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < n and i < out.shape[0]:
        out[i] = data[(i - 1 + n) % n]


@case("bounds", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def remainder_of_a_negative_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < n and i < out.shape[0]:
        out[i] = data[(i - 1) % n]  # finds bounds


@case("bounds", "GPUVerify", At((8, 12), block=32, a=(8, 12), out=(8, 12)))
@kb.kernel
def plane_good(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1] and i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j]


@case("bounds", "GPUVerify", At((8, 12), block=32, a=(8, 12), out=(8, 12)), symbolic="found")
@kb.kernel
def plane_bad(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1] and i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[j, i]  # finds bounds


@case("bounds", "own", At((8, 12), block=32, a=(8, 12), out=(12, 6)))
@kb.kernel
def transposed_good(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1]:
        if j < out.shape[0] and i < out.shape[1]:
            out[j, i] = a[i, j]


@case("bounds", "own", At((8, 12), block=32, a=(8, 12), out=(12, 6)))
@kb.kernel
def transposed_bad(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1]:
        if j < out.shape[0] and i <= out.shape[1]:
            out[j, i] = a[i, j]  # finds bounds


@case("bounds", "own", At((6, 10), block=60, a=(6, 10), out=(6, 10)))
@kb.kernel
def five_points_good(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i > 0 and j > 0 and i < a.shape[0] - 1 and j < a.shape[1] - 1:
        if i < out.shape[0] and j < out.shape[1]:
            sides = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
            out[i, j] = sides - 4.0 * a[i, j]


@case("bounds", "own", At((6, 10), block=60, a=(6, 10), out=(6, 10)))
@kb.kernel
def five_points_bad(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i > 0 and j > 0 and i < a.shape[0] - 1 and j < a.shape[1]:
        if i < out.shape[0] and j < out.shape[1]:
            sides = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]  # finds bounds
            out[i, j] = sides - 4.0 * a[i, j]


@case("bounds", "own", At(96, block=96, a=96, rows=8, columns=12), symbolic="unknown")
@kb.kernel
def flat_plane_good(a: kb.array(dtype=float), rows: int, columns: int):
    t = kb.tid()
    i = t // columns
    j = t % columns
    if i < rows:
        a[i * columns + j] = 1.0


@case("bounds", "own", At(96, block=96, a=96, rows=8, columns=12), symbolic="unknown")
@kb.kernel
def flat_plane_bad(a: kb.array(dtype=float), rows: int, columns: int):
    t = kb.tid()
    i = t // columns
    j = t % columns
    if i < rows:
        a[i * columns + j + 1] = 1.0  # finds bounds


@case("bounds", "own", At((3, 4, 5), block=60, a=(3, 4, 5)))
@kb.kernel
def cells_good(a: kb.array3d(dtype=float)):
    i, j, k = kb.tid()
    if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
        a[i, j, k] = 0.0


@case("bounds", "own", At((3, 4, 5), block=60, a=(3, 4, 5)))
@kb.kernel
def cells_bad(a: kb.array3d(dtype=float)):
    i, j, k = kb.tid()
    if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
        a[i, k, j] = 0.0  # finds bounds


@case("bounds", "own", At((3, 4, 4), block=48, a=(3, 4, 5), out=(3, 4, 4)))
@kb.kernel
def cells_ahead_good(a: kb.array3d(dtype=float), out: kb.array3d(dtype=float)):
    i, j, k = kb.tid()
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        if i < a.shape[0] and j < a.shape[1] and k + 1 < a.shape[2]:
            out[i, j, k] = a[i, j, k + 1] - a[i, j, k]


@case("bounds", "own", At((3, 4, 4), block=48, a=(3, 4, 4), out=(3, 4, 4)))
@kb.kernel
def cells_ahead_bad(a: kb.array3d(dtype=float), out: kb.array3d(dtype=float)):
    i, j, k = kb.tid()
    if i < out.shape[0] and j < out.shape[1] and k < out.shape[2]:
        if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
            out[i, j, k] = a[i, j, k + 1] - a[i, j, k]  # finds bounds


@case("bounds", "own", At(24, block=8, a=(24, 5)))
@kb.kernel
def row_as_view_good(a: kb.array2d(dtype=float)):
    i = kb.tid()
    if i < a.shape[0]:
        row = a[i]
        for j in range(row.shape[0]):
            row[j] = 1.0


@case("bounds", "own", At(24, block=8, a=(24, 5)))
@kb.kernel
def row_as_view_bad(a: kb.array2d(dtype=float)):
    i = kb.tid()
    if i < a.shape[0]:
        row = a[i]
        for j in range(a.shape[0]):
            row[j] = 1.0  # finds bounds


@case("bounds", "own", At(32, block=32, a=(24, 5)))
@kb.kernel
def view_itself_good(a: kb.array2d(dtype=float)):
    i = kb.tid()
    if i < a.shape[0] and a.shape[1] > 0:
        row = a[i]
        row[0] = 1.0


@case("bounds", "own", At(32, block=32, a=(24, 5)))
@kb.kernel
def view_itself_bad(a: kb.array2d(dtype=float)):
    i = kb.tid()
    if i <= a.shape[0] and a.shape[1] > 0:
        row = a[i]  # finds bounds
        row[0] = 1.0  # finds bounds


@kb.func
def element(a: kb.array(dtype=float), i: int) -> float:
    if i < 0 or i > a.shape[0]:
        return 0.0
    return a[i]  # finds bounds


@kb.func
def element_checked(a: kb.array(dtype=float), i: int) -> float:
    if i < 0 or i >= a.shape[0]:
        return 0.0
    return a[i]


@case("bounds", "GPUVerify", At(64, block=64, data=60, out=64))
@kb.kernel
def inside_a_function_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0]:
        out[i] = element_checked(data, i)


@case("bounds", "GPUVerify", At(64, block=64, data=60, out=64))
@kb.kernel
def inside_a_function_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0]:
        out[i] = element(data, i)


@case("bounds", "own", At(128, grid=2, block=64, a=128))
@kb.kernel(block_dim=64)
def own_tile_good(a: kb.array(dtype=float)):
    i = kb.block_idx() * kb.block_dim() + kb.thread_idx()
    if i < a.shape[0]:
        a[i] = 0.0


@case("bounds", "own", At(128, grid=2, block=64, a=128))
@kb.kernel(block_dim=64)
def own_tile_bad(a: kb.array(dtype=float)):
    i = (kb.block_idx() + 1) * kb.block_dim() + kb.thread_idx()
    if i - 1 < a.shape[0]:
        a[i] = 0.0  # finds bounds


@case("bounds", "own", At(grid=(2, 2), block=(8, 4), a=(8, 16)))
@kb.kernel
def blocks_of_a_plane_good(a: kb.array2d(dtype=float)):
    i = kb.block_idx().y * 4 + kb.thread_idx().y
    j = kb.block_idx().x * 8 + kb.thread_idx().x
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] = 0.0


@case("bounds", "own", At(grid=(2, 2), block=(8, 4), a=(8, 16)), symbolic="unknown")
@kb.kernel
def blocks_of_a_plane_bad(a: kb.array2d(dtype=float)):
    i = kb.block_idx().y * 8 + kb.thread_idx().y
    j = kb.block_idx().x * 8 + kb.thread_idx().x
    if j < a.shape[1]:
        a[i, j] = 0.0  # finds bounds


@case("bounds", "GPUVerify", At(64, block=64, data=1, out=64))
@kb.kernel
def first_alone_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if data.shape[0] > 0 and i < out.shape[0]:
        out[i] = data[0]


@case("bounds", "GPUVerify", At(64, block=64, data=1, out=64))
@kb.kernel
def first_alone_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if data.shape[0] > 0 and i < out.shape[0]:
        out[i] = data[1]  # finds bounds
