"""Mistakes behind calls, structs, loops in loops, and threads that have different tasks."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

BLOCK = 64
TWO = At(2 * BLOCK, data=2 * BLOCK, out=2 * BLOCK)


@kb.func
def moved(data: kb.array(dtype=float), i: int, by: int) -> float:
    return data[i + by]


@kb.func
def moved_here(data: kb.array(dtype=float), i: int, by: int) -> float:
    return data[i + by]  # finds global-races


@case("global-races", "GPUVerify", At(96, block=32, data=128, by=0))
@kb.kernel
def offset_of_a_call_good(data: kb.array(dtype=float), by: int):
    i = kb.tid()
    kb.assume(by == 0)
    if i < data.shape[0]:
        data[i] = data[i] + moved(data, i, by)


@case("global-races", "GPUVerify", At(96, block=32, data=128, by=1))
@kb.kernel
def offset_of_a_call_bad(data: kb.array(dtype=float), by: int):
    i = kb.tid()
    kb.assume(by == 1)
    if i + 1 < data.shape[0]:
        data[i] = data[i] + moved_here(data, i, by)  # finds global-races


@kb.func
def store_pair(out: kb.array(dtype=float), i: int, x: float):
    out[2 * i] = x
    out[2 * i + 1] = -x


@kb.func
def store_neighbours(out: kb.array(dtype=float), i: int, x: float):
    out[i] = x  # finds global-races
    out[i + 1] = -x  # finds global-races


@case("global-races", "GPUVerify", At(64, block=32, data=64, out=128))
@kb.kernel
def stores_of_a_call_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and 2 * i + 1 < out.shape[0]:
        store_pair(out, i, data[i])


@case("global-races", "GPUVerify", At(64, block=32, data=64, out=128))
@kb.kernel
def stores_of_a_call_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and 2 * i + 1 < out.shape[0]:
        store_neighbours(out, i, data[i])  # finds global-races


@kb.func
def clamped_index(i: int, n: int) -> int:
    return kb.min(kb.max(i, 0), n - 1)


@kb.func
def clamped_late(i: int, n: int) -> int:
    return kb.min(kb.max(i, 0), n)


@case("bounds", "GPUVerify", At(64, block=32, data=64, out=64))
@kb.kernel
def index_of_a_call_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < out.shape[0] and n > 0:
        out[i] = data[clamped_index(i + 5, n)]


@case("bounds", "GPUVerify", At(64, block=32, data=64, out=64))
@kb.kernel
def index_of_a_call_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < out.shape[0] and n > 0:
        out[i] = data[clamped_late(i + 5, n)]  # finds bounds


@kb.struct
class Window:
    first: int
    count: int


@case("bounds", "GPUVerify", At(64, block=32, data=64, out=64))
@kb.kernel
def fields_of_a_struct_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < out.shape[0] and i < n:
        window = Window(i, kb.min(4, n - i))
        total = 0.0
        for k in range(window.count):
            total += data[window.first + k]
        out[i] = total


@case("bounds", "GPUVerify", At(64, block=32, data=64, out=64))
@kb.kernel
def fields_of_a_struct_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    n = data.shape[0]
    if i < out.shape[0] and i < n:
        window = Window(i, kb.min(4, n))
        total = 0.0
        for k in range(window.count):
            total += data[window.first + k]  # finds bounds
        out[i] = total


@case("shared-races", "GPUVerify", At(grid=2, block=(8, 4, 2), out=128))
@kb.kernel(block_dim=64)
def cube_of_threads_good(out: kb.array(dtype=int)):
    tile = kb.shared_array((2, 4, 8), int)
    t = kb.thread_idx()
    x = t % 8
    y = t // 8 % 4
    z = t // 32
    tile[z, y, x] = t
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[1 - z, 3 - y, 7 - x]


@case("shared-races", "GPUVerify", At(grid=2, block=(8, 4, 2), out=128))
@kb.kernel(block_dim=64)
def cube_of_threads_bad(out: kb.array(dtype=int)):
    tile = kb.shared_array((2, 4, 8), int)
    t = kb.thread_idx()
    x = t % 8
    y = t // 8 % 4
    z = t // 32
    tile[0, y, x] = t  # finds shared-races
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[0, 3 - y, 7 - x] + z


@case("shared-races", "ScoR", At(BLOCK, data=8 * BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def two_tasks_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    box = kb.shared_array(32, float)
    t = kb.thread_idx()
    total = 0.0
    for k in range(data.shape[0] // 32):
        if t < 32:
            box[t] = data[32 * k + t]
        kb.syncthreads()
        if t >= 32:
            total += box[t - 32]
        kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("shared-races", "ScoR", At(BLOCK, data=8 * BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def two_tasks_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    box = kb.shared_array(32, float)
    t = kb.thread_idx()
    total = 0.0
    for k in range(data.shape[0] // 32):
        if t < 32:
            box[t] = data[32 * k + t]  # finds shared-races
        kb.syncthreads()
        if t >= 32:
            total += box[t - 32]  # finds shared-races
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("shared-races", "ScoR", At(2 * BLOCK, cells=2 * BLOCK, steps=4))
@kb.kernel(block_dim=BLOCK)
def automaton_good(cells: kb.array(dtype=int), steps: int):
    now = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    i = kb.tid()
    now[t] = cells[i] & 1 if i < cells.shape[0] else 0
    kb.syncthreads()
    for _ in range(steps):
        left = now[(t + BLOCK - 1) % BLOCK]
        own = now[t]
        right = now[(t + 1) % BLOCK]
        kb.syncthreads()
        now[t] = (own | right) & (1 - (left & own & right))
        kb.syncthreads()
    if i < cells.shape[0]:
        cells[i] = now[t]


@case("shared-races", "ScoR", At(2 * BLOCK, cells=2 * BLOCK, steps=4))
@kb.kernel(block_dim=BLOCK)
def automaton_bad(cells: kb.array(dtype=int), steps: int):
    now = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    i = kb.tid()
    now[t] = cells[i] & 1 if i < cells.shape[0] else 0
    kb.syncthreads()
    for _ in range(steps):
        left = now[(t + BLOCK - 1) % BLOCK]  # finds shared-races
        own = now[t]
        right = now[(t + 1) % BLOCK]  # finds shared-races
        now[t] = (own | right) & (1 - (left & own & right))  # finds shared-races
        kb.syncthreads()
    if i < cells.shape[0]:
        cells[i] = now[t]


@case("global-races", "ScoR", At(2 * BLOCK, cells=2 * BLOCK, then=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def automaton_of_blocks_good(cells: kb.array(dtype=int), then: kb.array(dtype=int)):
    i = kb.tid()
    n = cells.shape[0]
    if i < n and i < then.shape[0]:
        then[i] = cells[(i + 1) % n] ^ cells[i]


@case("global-races", "ScoR", At(2 * BLOCK, cells=2 * BLOCK, then=2 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def automaton_of_blocks_bad(cells: kb.array(dtype=int), then: kb.array(dtype=int)):
    i = kb.tid()
    n = cells.shape[0]
    if i < n and i < then.shape[0]:
        x = cells[(i + 1) % n] ^ then[i]  # finds global-races
        cells[i] = x  # finds global-races


@case("barriers", "GPUVerify", At(2 * BLOCK, out=2 * BLOCK, rows=3, columns=4))
@kb.kernel(block_dim=BLOCK)
def loop_in_a_loop_good(out: kb.array(dtype=int), rows: int, columns: int):
    total = 0
    for i in range(rows):
        for j in range(columns):
            if (i + j) % 2 == 0:
                kb.syncthreads()
            total += j
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", At(2 * BLOCK, out=2 * BLOCK, rows=3, columns=4))
@kb.kernel(block_dim=BLOCK)
def loop_in_a_loop_bad(out: kb.array(dtype=int), rows: int, columns: int):
    t = kb.thread_idx()
    total = 0
    for i in range(rows):
        for j in range(columns):
            if (t + j) % 2 == 0:
                kb.syncthreads()  # finds barriers
            total += i
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", At(2 * BLOCK, out=2 * BLOCK, rows=3))
@kb.kernel(block_dim=BLOCK)
def loop_to_the_outer_good(out: kb.array(dtype=int), rows: int):
    total = 0
    for i in range(rows):
        for j in range(i + 1):
            kb.syncthreads()
            total += j
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "GPUVerify", At(2 * BLOCK, out=2 * BLOCK, rows=3))
@kb.kernel(block_dim=BLOCK)
def loop_to_the_outer_bad(out: kb.array(dtype=int), rows: int):
    total = 0
    for i in range(rows):
        for j in range(i + kb.warp_id()):
            kb.syncthreads()  # finds barriers
            total += j
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = total


@case("barriers", "own", At(2 * BLOCK, out=2 * BLOCK, limit=4.0))
@kb.kernel(block_dim=BLOCK)
def until_near_good(out: kb.array(dtype=float), limit: float):
    error = 64.0
    while error > limit:
        kb.syncthreads()
        error = error * 0.5 - 1.0
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = error


@case("barriers", "own", At(2 * BLOCK, out=2 * BLOCK, limit=4.0))
@kb.kernel(block_dim=BLOCK)
def until_near_bad(out: kb.array(dtype=float), limit: float):
    error = 64.0 + float(kb.thread_idx())
    while error > limit:
        kb.syncthreads()  # finds barriers
        error = error * 0.5 - 1.0
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = error


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def kept_by_some_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    places = kb.shared_array(BLOCK, float)
    i = kb.tid()
    t = kb.thread_idx()
    x = data[i] if i < data.shape[0] else 0.0
    places[t] = 0.0
    kb.syncthreads()
    place = kb.block_scan_exclusive(int(x > 20.0))
    if x > 20.0 and 0 <= place < BLOCK:
        places[place] = x  # may shared-races
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = places[t]  # may initialization


@case("shared-races", "own", TWO)
@kb.kernel(block_dim=BLOCK)
def kept_by_some_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    places = kb.shared_array(BLOCK, float)
    i = kb.tid()
    t = kb.thread_idx()
    x = data[i] if i < data.shape[0] else 0.0
    places[t] = 0.0  # finds shared-races
    kb.syncthreads()
    place = kb.block_scan_exclusive(int(x > 20.0))
    if x > 20.0 and 0 <= place < BLOCK:
        places[place] = x  # finds shared-races
    if i < out.shape[0]:
        out[i] = places[t]  # finds shared-races


@case("shared-races", "own", At(BLOCK, a=(BLOCK, 8), out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def rows_as_views_good(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array((BLOCK, 8), float)
    t = kb.thread_idx()
    row = tile[t]
    for k in range(8):
        row[k] = a[t, k] if t < a.shape[0] and k < a.shape[1] else 0.0
    kb.syncthreads()
    other = tile[BLOCK - 1 - t]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = other[3]


@case("shared-races", "own", At(BLOCK, a=(BLOCK, 8), out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def rows_as_views_bad(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array((BLOCK, 8), float)
    t = kb.thread_idx()
    row = tile[t]
    for k in range(8):
        row[k] = a[t, k] if t < a.shape[0] and k < a.shape[1] else 0.0  # finds shared-races
    other = tile[BLOCK - 1 - t]
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = other[3]  # finds shared-races


@case("initialization", "own", At(2 * BLOCK, out=2 * BLOCK, n=1))
@kb.kernel(block_dim=BLOCK)
def stored_where_asked_good(out: kb.array(dtype=float), n: int):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    if n > 1:
        tile[t] = 1.0
    else:
        tile[t] = 2.0
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[BLOCK - 1 - t]


@case("initialization", "own", At(2 * BLOCK, out=2 * BLOCK, n=1))
@kb.kernel(block_dim=BLOCK)
def stored_where_asked_bad(out: kb.array(dtype=float), n: int):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    if n > 1:
        tile[t] = 1.0
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[BLOCK - 1 - t]  # finds initialization


@case("overflow", "own", At(64, block=64, out=64, n=2000000000))
@kb.kernel
def behind_a_guard_good(out: kb.array(dtype=int), n: int):
    i = kb.tid()
    if i < out.shape[0]:
        if n >= 0 and n < 1000000000:
            out[i] = n + n
        else:
            out[i] = i


@case("overflow", "own", At(64, block=64, out=64, n=2000000000))
@kb.kernel
def behind_a_guard_bad(out: kb.array(dtype=int), n: int):
    i = kb.tid()
    if i < out.shape[0]:
        if n >= 0 and n <= 2000000000:
            out[i] = n + n  # finds overflow
        else:
            out[i] = i


@case("overflow", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def kept_small_good(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        x = 1
        for _ in range(40):
            x = (x * 3 + (data[i] & 7)) % 1000
        out[i] = x


@case("overflow", "own", At(64, block=64, data=64, out=64))
@kb.kernel
def kept_small_bad(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        x = 1
        for _ in range(40):
            x = x * 3 + (data[i] & 7)  # finds overflow
        out[i] = x % 1000


@case("overflow", "own", At((2, 3, 4), block=24, data=24, rows=3, columns=4), symbolic="unknown")
@kb.kernel
def volume_by_hand_good(data: kb.array(dtype=float), rows: int, columns: int):
    z, y, x = kb.tid()
    k = (z * rows + y) * columns + x
    if k >= 0 and k < data.shape[0]:
        data[k] = 1.0  # may global-races


@case("overflow", "own", At((2, 3, 4), block=24, data=24, rows=1500000000, columns=4), symbolic="unknown")
@kb.kernel
def volume_by_hand_bad(data: kb.array(dtype=float), rows: int, columns: int):
    z, y, x = kb.tid()
    k = (z * rows + y) * columns + x  # finds overflow
    if k >= 0 and k < data.shape[0]:
        data[k] = 1.0  # may global-races
