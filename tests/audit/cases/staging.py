"""Shared memory that is filled, used and filled again: buffers in turn, halos, rows in a ring, queues, tasks."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)
Plane = kb.array2d(dtype=float)

BLOCK = 64
TRIPS = At(2 * BLOCK, data=1000, out=2 * BLOCK, trips=5)


@case("shared-races", "GPUVerify", TRIPS)
@kb.kernel(block_dim=BLOCK)
def buffers_in_turn_good(data: Floats, out: Floats, trips: int):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    total = 0.0
    for k in range(trips):
        i = k * BLOCK + t
        tile[k % 2, t] = data[i] if i < data.shape[0] else 0.0  # may overflow
        kb.syncthreads()
        total += tile[k % 2, (t + 1) % BLOCK]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("shared-races", "GPUVerify", TRIPS)
@kb.kernel(block_dim=BLOCK)
def buffers_in_turn_bad(data: Floats, out: Floats, trips: int):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    total = 0.0
    for k in range(trips):
        i = k * BLOCK + t
        tile[k // 2 % 2, t] = data[i] if i < data.shape[0] else 0.0  # finds shared-races
        kb.syncthreads()
        total += tile[k // 2 % 2, (t + 1) % BLOCK]  # finds shared-races
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("shared-races", "own", TRIPS)
@kb.kernel(block_dim=BLOCK)
def fetched_ahead_good(data: Floats, out: Floats, trips: int):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    tile[0, t] = data[t] if t < data.shape[0] else 0.0
    kb.syncthreads()
    total = 0.0
    now = 0
    for k in range(trips):
        i = (k + 1) * BLOCK + t
        if k + 1 < trips:
            tile[1 - now, t] = data[i] if i < data.shape[0] else 0.0
        total += tile[now, BLOCK - 1 - t]
        kb.syncthreads()
        now = 1 - now
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("shared-races", "own", TRIPS)
@kb.kernel(block_dim=BLOCK)
def fetched_ahead_bad(data: Floats, out: Floats, trips: int):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    tile[0, t] = data[t] if t < data.shape[0] else 0.0
    kb.syncthreads()
    total = 0.0
    now = 0
    for k in range(trips):
        i = (k + 1) * BLOCK + t
        if k + 1 < trips:
            tile[1 - now, t] = data[i] if i < data.shape[0] else 0.0  # finds shared-races
        now = 1 - now
        total += tile[now, BLOCK - 1 - t]  # finds shared-races
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


HALO = 4


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def ends_by_the_first_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK + 2 * HALO, float)
    t = kb.thread_idx()
    i = kb.tid()
    n = data.shape[0]
    tile[t + HALO] = data[i] if i < n else 0.0
    if t < HALO:
        tile[t] = data[i - HALO] if i >= HALO and i - HALO < n else 0.0
        tile[t + BLOCK + HALO] = data[i + BLOCK] if i + BLOCK < n else 0.0
    kb.syncthreads()
    total = 0.0
    for k in range(2 * HALO + 1):
        total += tile[t + k]
    if i < out.shape[0]:
        out[i] = total


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def ends_by_the_first_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK + 2 * HALO, float)
    t = kb.thread_idx()
    i = kb.tid()
    n = data.shape[0]
    tile[t + HALO] = data[i] if i < n else 0.0  # finds shared-races
    if t < HALO:
        tile[t] = data[i - HALO] if i >= HALO and i - HALO < n else 0.0
        tile[t + BLOCK] = data[i + BLOCK] if i + BLOCK < n else 0.0  # finds shared-races
        tile[t + BLOCK + HALO] = 0.0
    kb.syncthreads()
    total = 0.0
    for k in range(2 * HALO + 1):
        total += tile[t + k]
    if i < out.shape[0]:
        out[i] = total


@case("shared-races", "own", At(grid=(2, 2), block=256, a=(32, 32), out=(32, 32)))
@kb.kernel(block_dim=256)
def turned_by_a_row_of_threads_good(a: Plane, out: Plane):
    tile = kb.shared_array(16 * 17, float)
    x = kb.thread_idx() % 16
    y = kb.thread_idx() // 16
    row = kb.block_idx().y * 16
    column = kb.block_idx().x * 16
    if row + y < a.shape[0] and column + x < a.shape[1]:
        tile[y * 17 + x] = a[row + y, column + x]
    else:
        tile[y * 17 + x] = 0.0
    kb.syncthreads()
    if column + y < out.shape[0] and row + x < out.shape[1]:
        out[column + y, row + x] = tile[x * 17 + y]


@case("shared-races", "own", At(grid=(2, 2), block=256, a=(32, 32), out=(32, 32)))
@kb.kernel(block_dim=256)
def turned_by_a_row_of_threads_bad(a: Plane, out: Plane):
    tile = kb.shared_array(16 * 17, float)
    x = kb.thread_idx() % 16
    y = kb.thread_idx() // 16
    row = kb.block_idx().y * 16
    column = kb.block_idx().x * 16
    if row + y < a.shape[0] and column + x < a.shape[1]:
        tile[y * 15 + x] = a[row + y, column + x]  # finds shared-races
    else:
        tile[y * 15 + x] = 0.0
    kb.syncthreads()
    if column + y < out.shape[0] and row + x < out.shape[1]:
        out[column + y, row + x] = tile[x * 15 + y]


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def queue_of_a_block_good(data: Floats, out: Ints):
    queue = kb.shared_array(BLOCK, int)
    count = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == 0:
        count[0] = 0
    kb.syncthreads()
    if kb.tid() < data.shape[0] and data[kb.tid()] > 30.0:
        place = kb.atomic_add(count, 0, 1)
        if 0 <= place < BLOCK:
            queue[place] = kb.tid()  # may shared-races
    kb.syncthreads()
    n = count[0]
    if t < n and kb.tid() < out.shape[0]:
        out[kb.tid()] = queue[t]  # may initialization


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK), symbolic="any")
@kb.kernel(block_dim=BLOCK)
def queue_of_a_block_bad(data: Floats, out: Ints):
    queue = kb.shared_array(BLOCK, int)
    count = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == 0:
        count[0] = 0
    kb.syncthreads()
    if kb.tid() < data.shape[0] and data[kb.tid()] > 30.0:
        place = kb.atomic_add(count, 0, 1)  # finds shared-races
        if 0 <= place < BLOCK:
            queue[place] = kb.tid()  # finds shared-races
    n = count[0]  # finds shared-races
    if t < n and kb.tid() < out.shape[0]:
        out[kb.tid()] = queue[t]  # finds shared-races
    kb.syncthreads()


@case("shared-races", "own", At((3, BLOCK), image=(20, BLOCK), out=(20, BLOCK)), symbolic="any")
@kb.kernel(block_dim=BLOCK)
def rows_in_a_ring_good(image: Plane, out: Plane):
    rows = kb.shared_array((3, BLOCK), float)
    t = kb.thread_idx()
    if kb.block_idx() > 0:
        return
    rows[0, t] = 0.0
    rows[1, t] = image[0, t]
    for y in range(image.shape[0]):
        rows[(y + 2) % 3, t] = image[y + 1, t] if y + 1 < image.shape[0] else 0.0
        out[y, t] = rows[y % 3, t] + rows[(y + 1) % 3, t] + rows[(y + 2) % 3, t]


@case("shared-races", "own", At((3, BLOCK), image=(20, BLOCK), out=(20, BLOCK)), symbolic="any")
@kb.kernel(block_dim=BLOCK)
def rows_in_a_ring_bad(image: Plane, out: Plane):
    rows = kb.shared_array((3, BLOCK), float)
    t = kb.thread_idx()
    if kb.block_idx() > 0:
        return
    rows[0, t] = 0.0
    rows[1, t] = image[0, t]
    for y in range(image.shape[0]):
        rows[(y + 2) % 3, t] = image[y + 1, t] if y + 1 < image.shape[0] else 0.0  # finds shared-races
        kb.syncwarp()
        out[y, t] = rows[y % 3, t] + rows[(y + 1) % 3, (t + 1) % BLOCK]  # finds shared-races


@case("shared-races", "ScoR", At(2 * BLOCK, next=[0], data=9, out=9))
@kb.kernel(block_dim=BLOCK)
def tasks_told_to_all_good(next: Ints, data: Floats, out: Floats):
    task = kb.shared_array(1, int)
    t = kb.thread_idx()
    n = kb.min(data.shape[0], out.shape[0])
    k = 0
    while k < n:
        if t == 0:
            task[0] = kb.atomic_add(next, 0, 1) if next.shape[0] > 0 else n
        kb.syncthreads()
        k = task[0]
        kb.syncthreads()
        if t == 0 and 0 <= k < n:
            out[k] = 2.0 * data[k]  # may global-races


@case("shared-races", "ScoR", At(2 * BLOCK, next=[0], data=9, out=9))
@kb.kernel(block_dim=BLOCK)
def tasks_told_to_all_bad(next: Ints, data: Floats, out: Floats):
    task = kb.shared_array(1, int)
    t = kb.thread_idx()
    n = kb.min(data.shape[0], out.shape[0])
    k = 0
    while k < n:
        if t == 0:
            task[0] = kb.atomic_add(next, 0, 1) if next.shape[0] > 0 else n  # finds shared-races
        kb.syncthreads()
        k = task[0]  # finds shared-races
        if t == 0 and 0 <= k < n:
            out[k] = 2.0 * data[k]


@case("shared-races", "own", At(grid=(2, 3), block=(16, 8), rows=24, columns=32, out=(24, 32)))
@kb.kernel
def products_of_two_edges_good(rows: Floats, columns: Floats, out: Plane):
    left = kb.shared_array(8, float)
    top = kb.shared_array(16, float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    i = kb.block_idx().y * 8 + y
    j = kb.block_idx().x * 16 + x
    if x == 0:
        left[y] = rows[i] if i < rows.shape[0] else 0.0
    if y == 0:
        top[x] = columns[j] if j < columns.shape[0] else 0.0
    kb.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = left[y] * top[x]


@case("shared-races", "own", At(grid=(2, 3), block=(16, 8), rows=24, columns=32, out=(24, 32)))
@kb.kernel
def products_of_two_edges_bad(rows: Floats, columns: Floats, out: Plane):
    left = kb.shared_array(8, float)
    top = kb.shared_array(16, float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    i = kb.block_idx().y * 8 + y
    j = kb.block_idx().x * 16 + x
    if x == 0:
        left[y] = rows[i] if i < rows.shape[0] else 0.0
    if x < 8:
        top[x + y] = columns[j] if j < columns.shape[0] else 0.0  # finds shared-races
    kb.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = left[y] * top[x]


@kb.func
def swap_ends(tile: Floats, n: int):
    t = kb.thread_idx()
    if t < n // 2:
        kept = tile[t]
        tile[t] = tile[n - 1 - t]
        tile[n - 1 - t] = kept


@kb.func
def swap_ends_of_all(tile: Floats, n: int):
    t = kb.thread_idx()
    if t < n:
        kept = tile[t]  # finds shared-races
        tile[n - 1 - t] = kept  # finds shared-races


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def turned_by_half_of_them_good(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    kb.syncthreads()
    swap_ends(tile, BLOCK)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("shared-races", "own", At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def turned_by_half_of_them_bad(data: Floats, out: Floats):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()] if kb.tid() < data.shape[0] else 0.0
    kb.syncthreads()
    swap_ends_of_all(tile, BLOCK)
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[t]


@case("shared-races", "own", At(2 * BLOCK, shared=8 * BLOCK, data=2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def two_parts_of_the_launch_good(data: Floats, out: Floats):
    both = kb.shared_array(None, float)
    t = kb.thread_idx()
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    if both.shape[0] >= 2 * BLOCK:
        both[t] = x
        both[BLOCK + t] = -x
    kb.syncthreads()
    if i < out.shape[0] and both.shape[0] >= 2 * BLOCK:
        out[i] = both[BLOCK - 1 - t] + both[2 * BLOCK - 1 - t]


@case("shared-races", "own", At(2 * BLOCK, shared=8 * BLOCK, data=2 * BLOCK, out=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def two_parts_of_the_launch_bad(data: Floats, out: Floats):
    both = kb.shared_array(None, float)
    t = kb.thread_idx()
    i = kb.tid()
    x = data[i] if i < data.shape[0] else 0.0
    if both.shape[0] >= 2 * BLOCK:
        both[t] = x  # finds shared-races
        both[BLOCK // 2 + t] = -x  # finds shared-races
    kb.syncthreads()
    if i < out.shape[0] and both.shape[0] >= 2 * BLOCK:
        out[i] = both[BLOCK - 1 - t]
