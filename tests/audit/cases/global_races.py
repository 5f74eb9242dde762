"""Two threads of a launch at one element of an array."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

BLOCK = 64
TWO = At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK)
PLAIN = At(100, block=32, data=100, out=100)


@case("global-races", "GPUVerify", PLAIN)
@kb.kernel
def own_element_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i]
        data[i] = 0.0


@case("global-races", "GPUVerify", PLAIN)
@kb.kernel
def own_element_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i + 1 < data.shape[0] and i < out.shape[0]:
        out[i] = data[i + 1]  # finds global-races
        data[i] = 0.0  # finds global-races


@case("global-races", "GPUVerify", At(100, block=32, out=100))
@kb.kernel
def one_writer_good(out: kb.array(dtype=int)):
    i = kb.tid()
    if i == 7 and out.shape[0] > 0:
        out[0] = i


@case("global-races", "GPUVerify", At(100, block=32, out=100))
@kb.kernel
def one_writer_bad(out: kb.array(dtype=int)):
    i = kb.tid()
    if i >= 7 and out.shape[0] > 0:
        out[0] = i  # finds global-races


@case("global-races", "Indigo", At(100, block=32, out=100))
@kb.kernel
def flag_set_open(out: kb.array(dtype=int)):
    i = kb.tid()
    if i >= 7 and out.shape[0] > 0:
        out[0] = 1  # may global-races


@case("global-races", "Indigo", PLAIN)
@kb.kernel
def pairs_written_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if 2 * i + 1 < out.shape[0] and i < data.shape[0]:
        out[2 * i] = data[i]
        out[2 * i + 1] = -data[i]


@case("global-races", "Indigo", PLAIN)
@kb.kernel
def pairs_written_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i + 1 < out.shape[0] and i < data.shape[0]:
        out[i] = data[i]  # finds global-races
        out[i + 1] = -data[i]  # finds global-races


@case("global-races", "own", At(100, block=32, data=100, out=100))
@kb.kernel
def smoothed_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i > 0 and i + 1 < data.shape[0] and i < out.shape[0]:
        out[i] = 0.5 * data[i] + 0.25 * (data[i - 1] + data[i + 1])


@case("global-races", "own", At(100, block=32, data=100, out=100))
@kb.kernel
def smoothed_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i > 0 and i + 1 < data.shape[0] and i < out.shape[0]:
        data[i] = 0.5 * out[i] + 0.25 * (data[i - 1] + data[i + 1])  # finds global-races


@case("global-races", "own", At((10, 12), block=32, a=(10, 12), out=(10, 12)))
@kb.kernel
def relaxed_plane_good(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i > 0 and j > 0 and i + 1 < a.shape[0] and j + 1 < a.shape[1]:
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


@case("global-races", "own", At((10, 12), block=32, a=(10, 12), out=(10, 12)))
@kb.kernel
def relaxed_plane_bad(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i > 0 and j > 0 and i + 1 < a.shape[0] and j + 1 < a.shape[1]:
        if i < out.shape[0] and j < out.shape[1]:
            a[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]  # finds global-races


@case("global-races", "own", At((10, 12), block=32, a=(10, 12)))
@kb.kernel
def every_second_cell_good(a: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i > 0 and i + 1 < a.shape[0] and j < a.shape[1] and i % 2 == 0:
        a[i, j] = 0.5 * (a[i - 1, j] + a[i + 1, j])


@case("global-races", "own", At((10, 12), block=32, a=(10, 12)))
@kb.kernel
def every_second_cell_bad(a: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i > 0 and i + 1 < a.shape[0] and j < a.shape[1] and j % 2 == 0:
        a[i, j] = 0.5 * (a[i - 1, j] + a[i + 1, j])  # finds global-races


@case("global-races", "Indigo", PLAIN)
@kb.kernel
def total_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and out.shape[0] > 0:
        kb.atomic_add(out, 0, data[i])


@case("global-races", "Indigo", PLAIN)
@kb.kernel
def total_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and out.shape[0] > 0:
        out[0] = out[0] + data[i]  # finds global-races


@case("global-races", "Indigo", PLAIN)
@kb.kernel
def largest_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and out.shape[0] > 0:
        kb.atomic_max(out, 0, data[i])


@case("global-races", "Indigo", PLAIN)
@kb.kernel
def largest_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and out.shape[0] > 0:
        if data[i] > out[0]:  # finds global-races
            out[0] = data[i]  # finds global-races


@case("global-races", "own", At((10, 12), block=32, a=(10, 12), out=10))
@kb.kernel
def row_totals_good(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1] and i < out.shape[0]:
        out[i] += a[i, j]


@case("global-races", "own", At((10, 12), block=32, a=(10, 12), out=10))
@kb.kernel
def row_totals_bad(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1] and i < out.shape[0]:
        out[i] = out[i] + a[i, j]  # finds global-races


@case("global-races", "Indigo", At(64, block=32, data=64, out=8))
@kb.kernel
def keys_counted_good(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    if i < data.shape[0] and out.shape[0] == 8:
        kb.atomic_add(out, data[i] & 7, 1)


@case("global-races", "Indigo", At(64, block=32, data=64, out=8))
@kb.kernel
def keys_counted_bad(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    if i < data.shape[0] and out.shape[0] == 8:
        b = data[i] & 7
        out[b] = out[b] + 1  # finds global-races


@case("global-races", "Indigo", At(8, block=8, index=[3, 1, 0, 2, 7, 6, 5, 4], data=8, out=8))
@kb.kernel
def scattered_open(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < index.shape[0] and i < data.shape[0]:
        j = index[i]
        if 0 <= j < out.shape[0]:
            out[j] = data[i]  # unknown global-races


@case("global-races", "Indigo", At(8, block=8, index=[3, 1, 0, 2, 7, 6, 5, 4], data=8, out=8))
@kb.kernel
def scattered_good(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < index.shape[0] and i < data.shape[0]:
        j = index[i]
        if 0 <= j < out.shape[0]:
            kb.atomic_add(out, j, data[i])


@case("global-races", "Indigo", At(8, block=8, index=[3, 1, 0, 2, 7, 6, 5, 4], data=8, out=8))
@kb.kernel
def scattered_bad(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < index.shape[0] and i < data.shape[0]:
        j = index[i // 2]
        if 0 <= j < out.shape[0]:
            out[j] = data[i]  # finds global-races


@case("global-races", "own", At(64, block=32, data=64))
@kb.kernel
def halves_swapped_good(data: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < n // 2:
        x = data[i]
        data[i] = data[n - 1 - i]
        data[n - 1 - i] = x


@case("global-races", "own", At(64, block=32, data=64))
@kb.kernel
def halves_swapped_bad(data: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < n:
        x = data[i]
        data[i] = data[n - 1 - i]  # finds global-races
        data[n - 1 - i] = x  # finds global-races


@case("global-races", "ScoR", TWO)
@kb.kernel(block_dim=BLOCK)
def through_memory_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    t = kb.thread_idx()
    first = kb.block_idx() * BLOCK
    if first + BLOCK <= data.shape[0] and i < out.shape[0]:
        data[i] = float(t)
        kb.syncthreads()
        out[i] = data[first + BLOCK - 1 - t]


@case("global-races", "ScoR", TWO)
@kb.kernel(block_dim=BLOCK)
def through_memory_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    t = kb.thread_idx()
    first = kb.block_idx() * BLOCK
    if first + BLOCK <= data.shape[0] and i < out.shape[0]:
        data[i] = float(t)  # finds global-races
        kb.syncwarp()
        out[i] = data[first + BLOCK - 1 - t]  # finds global-races


@case("global-races", "ScoR", TWO)
@kb.kernel(block_dim=BLOCK)
def other_block_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        data[i] = float(i)  # finds global-races
    kb.syncthreads()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[data.shape[0] - 1 - i]  # finds global-races


@case("global-races", "ScoR", TWO)
@kb.kernel(block_dim=BLOCK)
def other_block_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        data[i] = float(i)
    kb.syncthreads()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i]


@case("global-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def one_of_a_block_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    total = kb.block_sum(x)
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = total


@case("global-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def one_of_a_block_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    x = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    total = kb.block_sum(x)
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:
        out[0] = total  # finds global-races


@case("global-races", "ScoR", At(2 * BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def counted_by_all_good(out: kb.array(dtype=int)):
    if kb.thread_idx() == 0 and out.shape[0] > 0:
        kb.atomic_add(out, 0, 1, scope="device")


@case("global-races", "ScoR", At(2 * BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def counted_by_all_bad(out: kb.array(dtype=int)):
    if kb.thread_idx() == 0 and out.shape[0] > 0:
        kb.atomic_add(out, 0, 1, scope="block")  # finds global-races


@case("global-races", "ScoR", At(2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def counted_by_a_block_good(out: kb.array(dtype=int)):
    if kb.block_idx() < out.shape[0]:
        kb.atomic_add(out, kb.block_idx(), 1, scope="block")


@case("global-races", "ScoR", At(2 * BLOCK, out=2))
@kb.kernel(block_dim=BLOCK)
def counted_by_a_block_bad(out: kb.array(dtype=int)):
    if kb.block_idx() < out.shape[0]:
        kb.atomic_add(out, kb.block_idx() // 2, 1, scope="block")  # finds global-races


@case("global-races", "ScoR", At(2 * BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def one_scope_for_all_good(out: kb.array(dtype=int)):
    if out.shape[0] > 0:
        if kb.block_idx() == 0:
            kb.atomic_max(out, 0, kb.tid())
        else:
            kb.atomic_max(out, 0, kb.tid() + 1)


@case("global-races", "ScoR", At(2 * BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def one_scope_for_all_bad(out: kb.array(dtype=int)):
    if out.shape[0] > 0:
        if kb.block_idx() == 0:
            kb.atomic_max(out, 0, kb.tid(), scope="block")  # finds global-races
        else:
            kb.atomic_max(out, 0, kb.tid() + 1)  # finds global-races


@case("global-races", "ScoR", At(2 * BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def atomics_and_a_write_bad(out: kb.array(dtype=int)):
    if out.shape[0] > 0:
        if kb.tid() == 0:
            out[0] = 100  # finds global-races
        else:
            kb.atomic_add(out, 0, 1)  # finds global-races


@case("global-races", "ScoR", At(2 * BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def atomics_and_a_write_good(out: kb.array(dtype=int)):
    if out.shape[0] > 0:
        if kb.tid() == 0:
            kb.atomic_add(out, 0, 100)
        else:
            kb.atomic_add(out, 0, 1)


@case("global-races", "ScoR", At(BLOCK, out=BLOCK, count=1), unseen="reads beside atomics are taken as meant")
@kb.kernel(block_dim=BLOCK)
def atomics_and_a_read_bad(count: kb.array(dtype=int), out: kb.array(dtype=int)):
    if count.shape[0] > 0 and kb.tid() < out.shape[0]:
        kb.atomic_add(count, 0, 1)  # finds global-races
        out[kb.tid()] = count[0]  # finds global-races


@case("global-races", "ScoR", At(BLOCK, out=BLOCK, count=1))
@kb.kernel(block_dim=BLOCK)
def atomics_and_a_read_good(count: kb.array(dtype=int), out: kb.array(dtype=int)):
    if count.shape[0] > 0 and kb.tid() < out.shape[0]:
        out[kb.tid()] = kb.atomic_add(count, 0, 1)


@case("global-races", "own", At(64, block=32, data=64, kept=64, count=1))
@kb.kernel
def places_handed_out_good(data: kb.array(dtype=float), kept: kb.array(dtype=float), count: kb.array(dtype=int)):
    i = kb.tid()
    if i < data.shape[0] and count.shape[0] > 0:
        if data[i] > 10.0:
            k = kb.atomic_add(count, 0, 1)
            if 0 <= k < kept.shape[0]:
                kept[k] = data[i]  # may global-races


@case("global-races", "own", At(64, block=32, data=64, kept=64, count=1))
@kb.kernel
def places_handed_out_bad(data: kb.array(dtype=float), kept: kb.array(dtype=float), count: kb.array(dtype=int)):
    i = kb.tid()
    if i < data.shape[0] and count.shape[0] > 0:
        if data[i] > 10.0:
            k = count[0]  # finds global-races
            count[0] = k + 1  # finds global-races
            if 0 <= k < kept.shape[0]:
                kept[k] = data[i]  # finds global-races


@case("global-races", "GPUVerify", At(16, block=16, data=64))
@kb.kernel
def blocks_of_four_good(data: kb.array(dtype=float)):
    t = kb.tid()
    for k in range(4):
        if 4 * t + k < data.shape[0]:
            data[4 * t + k] = float(t)


@case("global-races", "GPUVerify", At(16, block=16, data=64))
@kb.kernel
def blocks_of_four_bad(data: kb.array(dtype=float)):
    t = kb.tid()
    for k in range(4):
        if 3 * t + k < data.shape[0]:
            data[3 * t + k] = float(t)  # finds global-races


@case("global-races", "Indigo", At(64, block=32, data=1000))
@kb.kernel(block_dim=32)
def shared_out_good(data: kb.array(dtype=float)):
    for i in kb.grid_range(data.shape[0]):
        data[i] = data[i] + float(kb.tid())


@case("global-races", "Indigo", At(64, block=32, data=1000))
@kb.kernel(block_dim=32)
def shared_out_bad(data: kb.array(dtype=float)):
    for i in range(kb.thread_idx(), data.shape[0], kb.block_dim()):
        data[i] = data[i] + float(kb.tid())  # finds global-races


@case("global-races", "GPUVerify", At(100, block=32, points=100))
@kb.kernel
def components_good(points: kb.array(dtype=kb.vec3)):
    i = kb.tid()
    if i < points.shape[0]:
        points[i][1] = points[i][0] + float(i)


@case("global-races", "GPUVerify", At(100, block=32, points=100))
@kb.kernel
def components_bad(points: kb.array(dtype=kb.vec3)):
    i = kb.tid()
    if i < points.shape[0]:
        points[i // 3][i % 2] = float(i)  # finds global-races


@case("global-races", "own", At((6, 8), block=48, a=(6, 8)))
@kb.kernel
def row_by_row_good(a: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1]:
        row = a[i]
        row[j] = float(i + j)


@case("global-races", "own", At((6, 8), block=48, a=(6, 8)))
@kb.kernel
def row_by_row_bad(a: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1]:
        row = a[i]
        row[0] = float(i + j)  # finds global-races
