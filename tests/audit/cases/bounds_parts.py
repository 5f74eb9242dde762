"""Components of vectors and matrices, tables, shared memory, arrays of vectors."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

WEIGHTS = kb.constant([0.25, 0.5, 0.25])

vec8 = kb.types.vector(length=8, dtype=float)


@case("bounds", "GPUVerify", At(32, block=32, out=32))
@kb.kernel
def component_good(out: kb.array(dtype=float)):
    i = kb.tid()
    v = kb.vec3(1.0, 2.0, 3.0)
    if i < out.shape[0]:
        out[i] = v[i % 3]


@case("bounds", "GPUVerify", At(32, block=32, out=32))
@kb.kernel
def component_bad(out: kb.array(dtype=float)):
    i = kb.tid()
    v = kb.vec3(1.0, 2.0, 3.0)
    if i < out.shape[0]:
        out[i] = v[i % 4]  # finds bounds


@case("bounds", "own", At(32, block=32, out=32))
@kb.kernel
def component_counted_good(out: kb.array(dtype=float)):
    i = kb.tid()
    v = vec8()
    for k in range(8):
        v[k] = float(k * i)
    total = 0.0
    for k in range(7):
        total += v[k + 1] - v[k]
    if i < out.shape[0]:
        out[i] = total


@case("bounds", "own", At(32, block=32, out=32))
@kb.kernel
def component_counted_bad(out: kb.array(dtype=float)):
    i = kb.tid()
    v = vec8()
    for k in range(8):
        v[k] = float(k * i)
    total = 0.0
    k = 0
    while k < 8:
        total += v[k + 1] - v[k]  # finds bounds
        k += 1
    if i < out.shape[0]:
        out[i] = total


@case("bounds", "own", At(32, block=32, out=32, n=8))
@kb.kernel
def stack_good(out: kb.array(dtype=float), n: int):
    i = kb.tid()
    stack = vec8()
    top = 0
    for k in range(n):
        if top < 8:
            stack[top] = float(k)
            top += 1
    if i < out.shape[0] and top > 0:
        out[i] = stack[top - 1]


@case("bounds", "own", At(32, block=32, out=32, n=9))
@kb.kernel
def stack_bad(out: kb.array(dtype=float), n: int):
    i = kb.tid()
    stack = vec8()
    top = 0
    for k in range(n):
        if top <= 8:
            stack[top] = float(k)  # finds bounds
            top += 1
    if i < out.shape[0] and top > 0:
        out[i] = stack[kb.min(top - 1, 7)]


@case("bounds", "own", At(9, block=9, out=9))
@kb.kernel
def matrix_good(out: kb.array(dtype=float)):
    i = kb.tid()
    m = kb.mat33(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
    if i < out.shape[0] and i < 9:
        out[i] = m[i // 3, i % 3]


@case("bounds", "own", At(9, block=9, out=9))
@kb.kernel
def matrix_bad(out: kb.array(dtype=float)):
    i = kb.tid()
    m = kb.mat33(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
    if i < out.shape[0] and i < 9:
        out[i] = m[i // 2, i % 3]  # finds bounds


@case("bounds", "own", At(16, block=16, points=16, axis=3, out=16))
@kb.kernel
def chosen_axis_good(points: kb.array(dtype=kb.vec3), axis: int, out: kb.array(dtype=float)):
    i = kb.tid()
    if i < points.shape[0] and i < out.shape[0]:
        if axis >= 0 and axis < 3:
            out[i] = points[i][axis]


@case("bounds", "own", At(16, block=16, points=16, axis=3, out=16))
@kb.kernel
def chosen_axis_bad(points: kb.array(dtype=kb.vec3), axis: int, out: kb.array(dtype=float)):
    i = kb.tid()
    if i < points.shape[0] and i < out.shape[0]:
        if axis >= 0 and axis <= 3:
            out[i] = points[i][axis]  # finds bounds


@case("bounds", "own", At(32, block=32, data=34, out=32))
@kb.kernel
def table_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and i + 2 < data.shape[0]:
        total = 0.0
        for k in range(len(WEIGHTS)):
            total += WEIGHTS[k] * data[i + k]
        out[i] = total


@case("bounds", "own", At(32, block=32, data=36, out=32))
@kb.kernel
def table_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and i + 3 < data.shape[0]:
        total = 0.0
        k = 0
        while k <= len(WEIGHTS):
            total += WEIGHTS[k] * data[i + k]  # finds bounds
            k += 1
        out[i] = total


@case("bounds", "own", At(128, grid=2, block=64, data=128, out=128))
@kb.kernel(block_dim=64)
def shared_halo_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(66, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t + 1] = data[i] if i < data.shape[0] else 0.0
    if t == 0:
        tile[0] = data[i - 1] if i > 0 and i - 1 < data.shape[0] else 0.0
    if t == 63:
        tile[t + 2] = data[i + 1] if i + 1 < data.shape[0] else 0.0
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]


@case("bounds", "own", At(128, grid=2, block=64, data=128, out=128))
@kb.kernel(block_dim=64)
def shared_halo_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(65, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t + 1] = data[i] if i < data.shape[0] else 0.0
    if t == 0:
        tile[0] = data[i - 1] if i > 0 and i - 1 < data.shape[0] else 0.0
    if t == 63:
        tile[t + 2] = data[i + 1] if i + 1 < data.shape[0] else 0.0  # finds bounds
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]  # finds bounds


@case("bounds", "own", At(128, grid=2, block=64, data=128, out=128))
@kb.kernel(block_dim=64)
def shared_halo_bad_first(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(66, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t + 1] = data[i] if i < data.shape[0] else 0.0
    if t == 0:
        tile[0] = data[i - 1] if i - 1 < data.shape[0] else 0.0  # finds bounds
    if t == 63:
        tile[t + 2] = data[i + 1] if i + 1 < data.shape[0] else 0.0
    kb.syncthreads()
    if i < out.shape[0]:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]


@case("bounds", "GPUVerify", At(128, grid=2, block=64, out=2))
@kb.kernel(block_dim=64)
def tree_upper_half_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(64, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    kb.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        kb.syncthreads()
        half = half // 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("bounds", "GPUVerify", At(128, grid=2, block=64, out=2))
@kb.kernel(block_dim=64)
def tree_upper_half_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(64, float)
    t = kb.thread_idx()
    tile[t] = float(t)
    kb.syncthreads()
    half = 32
    while half > 0:
        if t <= half:
            tile[t] = tile[t] + tile[t + half]  # finds bounds; finds shared-races
        kb.syncthreads()
        half = half // 2
    if t == 0 and kb.block_idx() < out.shape[0]:
        out[kb.block_idx()] = tile[0]


@case("bounds", "own", At(64, block=64, out=64))
@kb.kernel(block_dim=64)
def declared_smaller_good(out: kb.array(dtype=float)):
    tile = kb.shared_array(64, float)
    t = kb.thread_idx()
    tile[t] = 1.0
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[63 - t]


@case("bounds", "own", At(64, block=64, out=64))
@kb.kernel(block_dim=64)
def declared_smaller_bad(out: kb.array(dtype=float)):
    tile = kb.shared_array(32, float)
    t = kb.thread_idx()
    tile[t] = 1.0  # finds bounds
    kb.syncthreads()
    if kb.tid() < out.shape[0]:
        out[kb.tid()] = tile[63 - t]  # finds bounds


@case("bounds", "own", At(grid=2, block=(16, 16), out=(32, 16)), symbolic="unknown")
@kb.kernel
def shared_plane_good(out: kb.array2d(dtype=float)):
    tile = kb.shared_array((16, 17), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    tile[y, x] = float(x)
    kb.syncthreads()
    row = kb.block_idx() * 16 + y
    if row < out.shape[0] and x < out.shape[1]:
        out[row, x] = tile[x, y]


@case("bounds", "own", At(grid=2, block=(16, 16), out=(32, 16)), symbolic="unknown")
@kb.kernel
def shared_plane_bad(out: kb.array2d(dtype=float)):
    tile = kb.shared_array((15, 17), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    tile[y, x] = float(x)  # finds bounds
    kb.syncthreads()
    row = kb.block_idx() * 16 + y
    if row < out.shape[0] and x < out.shape[1]:
        out[row, x] = tile[x, y]  # finds bounds


@case("bounds", "own", At(64, block=64, data=[3, 70, -2, 9] * 16, counts=16))
@kb.kernel(block_dim=64)
def bins_good(data: kb.array(dtype=int), counts: kb.array(dtype=int)):
    bins = kb.shared_array(16, int)
    t = kb.thread_idx()
    if t < 16:
        bins[t] = 0
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        kb.atomic_add(bins, kb.clamp(data[kb.tid()], 0, 15), 1)
    kb.syncthreads()
    if t < 16 and t < counts.shape[0]:
        kb.atomic_add(counts, t, bins[t])


@case("bounds", "own", At(64, block=64, data=[3, 70, -2, 9] * 16, counts=16))
@kb.kernel(block_dim=64)
def bins_bad(data: kb.array(dtype=int), counts: kb.array(dtype=int)):
    bins = kb.shared_array(16, int)
    t = kb.thread_idx()
    if t < 16:
        bins[t] = 0
    kb.syncthreads()
    if kb.tid() < data.shape[0]:
        kb.atomic_add(bins, kb.clamp(data[kb.tid()], 0, 16), 1)  # finds bounds
    kb.syncthreads()
    if t < 16 and t < counts.shape[0]:
        kb.atomic_add(counts, t, bins[t])
