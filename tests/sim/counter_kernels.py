"""Kernels of `tests.helpers.counter_data` in the kernel language, for profiles from end to end: `CASES`.

Each accesses memory as its namesake in CUDA C does, so that a profile of the simulated launch must show the H200's
counters of the launch that is named. Left out are kernels that the language cannot say alike: those that see one array
as two types, vectors that are loaded in one instruction (`float4`), and shuffles.

The arrays were allocations of their own, at multiples of 2 MiB: in another place lines lie in other tag banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import kbuild as kb

FLOATS = kb.array(dtype=float)
INTS = kb.array(dtype=int)
DOUBLES = kb.array(dtype=kb.float64)
BYTES = kb.array(dtype=kb.uint8)
VECTORS = kb.array(dtype=kb.vec3)


# ---- global memory


@kb.kernel
def add(out: FLOATS, a: FLOATS, b: FLOATS, n: int):
    i = kb.tid()
    if i < n:
        out[i] = a[i] + b[i]


@kb.kernel
def load_offset_1(out: FLOATS, a: FLOATS):
    i = kb.tid()
    out[i] = a[i + 1] * 2.0


@kb.kernel
def load_stride_2(out: FLOATS, a: FLOATS):
    i = kb.tid()
    out[i] = a[i * 2] * 2.0


@kb.kernel
def load_stride_32(out: FLOATS, a: FLOATS):
    i = kb.tid()
    out[i] = a[i * 32] * 2.0


@kb.kernel
def store_stride_3(out: FLOATS, a: FLOATS):
    i = kb.tid()
    out[i * 3] = a[i] * 2.0


@kb.kernel
def vec3_load(out: FLOATS, a: VECTORS):
    i = kb.tid()
    v = a[i]
    out[i] = v[0] + v[1] + v[2]


@kb.kernel
def vec3_store(out: VECTORS, a: FLOATS):
    i = kb.tid()
    f = a[i]
    out[i] = kb.vec3(f, f * 2.0, f * 3.0)


@kb.kernel
def vec3_x(out: FLOATS, a: VECTORS):
    i = kb.tid()
    out[i] = a[i][0] * 2.0


@kb.kernel
def soa_load(out: FLOATS, a: FLOATS, n: int):
    i = kb.tid()
    out[i] = a[i] + a[i + n] + a[i + 2 * n]


@kb.kernel
def copy_double(out: DOUBLES, a: DOUBLES):
    i = kb.tid()
    out[i] = a[i] * kb.float64(2.0)


@kb.kernel
def copy_byte(out: BYTES, a: BYTES):
    i = kb.tid()
    out[i] = a[i] + kb.uint8(1)


@kb.kernel
def rows(out: FLOATS, a: FLOATS, k: int):
    x = kb.block_idx().x * kb.block_dim().x + kb.thread_idx().x
    y = kb.block_idx().y * kb.block_dim().y + kb.thread_idx().y
    out[y * k + x] = a[y * k + x] * 2.0


@kb.kernel
def columns(out: FLOATS, a: FLOATS, k: int):
    x = kb.block_idx().x * kb.block_dim().x + kb.thread_idx().x
    y = kb.block_idx().y * kb.block_dim().y + kb.thread_idx().y
    out[y * k + x] = a[x * k + y] * 2.0


@kb.kernel
def broadcast(out: FLOATS, a: FLOATS, k: int):
    out[kb.tid()] = a[kb.block_idx() * 100 + k] * 2.0


@kb.kernel
def gather(out: FLOATS, a: FLOATS, idx: INTS):
    i = kb.tid()
    j = idx[i]
    r = 0.0
    if j >= 0:
        r = a[j]
    out[i] = r


@kb.kernel
def scatter(out: FLOATS, idx: INTS):
    i = kb.tid()
    j = idx[i]
    if j >= 0:
        out[j] = float(i)


@kb.kernel
def first_lanes(out: FLOATS, a: FLOATS, k: int):
    i = kb.tid()
    if (kb.thread_idx() & 31) < k:
        out[i] = a[i] * 2.0


@kb.kernel
def early_return(out: FLOATS, a: FLOATS, idx: INTS):
    i = kb.tid()
    if idx[i] != 0:
        return
    out[i] = a[i] * 2.0


@kb.kernel
def mandelbrot(out: FLOATS, n: int, k: int):
    x = kb.block_idx().x * 32 + kb.thread_idx().x
    y = kb.block_idx().y * 8 + kb.thread_idx().y
    cx = -2.0 + 3.0 * float(x) / float(k)
    cy = -1.5 + 3.0 * float(y) / float(k)
    zx = 0.0
    zy = 0.0
    it = 0
    while it < n and zx * zx + zy * zy < 4.0:
        t = zx * zx - zy * zy + cx
        zy = 2.0 * zx * zy + cy
        zx = t
        it += 1
    out[y * k + x] = float(it)


# ---- global atomics


@kb.kernel
def atomic_distinct(out: FLOATS):
    i = kb.tid()
    kb.atomic_add(out, i, float(i))


@kb.kernel
def atomic_count(out: INTS):
    kb.atomic_add(out, 0, 1)


@kb.kernel
def atomic_max_64(out: INTS):
    i = kb.tid()
    kb.atomic_max(out, i & 63, i)


@kb.kernel
def atomic_add_bins(out: INTS, idx: INTS):
    i = kb.tid()
    kb.atomic_add(out, idx[i], i)


@kb.kernel
def atomic_add_result(out: INTS, idx: INTS):
    i = kb.tid()
    out[i + 1000000] = kb.atomic_add(out, idx[i], i)


@kb.kernel
def atomic_add_floats(out: FLOATS, idx: INTS):
    kb.atomic_add(out, idx[kb.tid()], 1.5)


# ---- shared memory


@kb.kernel
def shared_load_2(out: FLOATS, a: FLOATS):
    s = kb.shared_array(8448, float)
    t = kb.thread_idx()
    for j in range(t, 8448, 256):
        s[j] = a[j]
    kb.syncthreads()
    out[kb.block_idx() * 256 + t] = s[t * 2]


@kb.kernel
def shared_load_33(out: FLOATS, a: FLOATS):
    s = kb.shared_array(8448, float)
    t = kb.thread_idx()
    for j in range(t, 8448, 256):
        s[j] = a[j]
    kb.syncthreads()
    out[kb.block_idx() * 256 + t] = s[t * 33]


@kb.kernel
def shared_store_8(out: FLOATS, a: FLOATS):
    s = kb.shared_array(8448, float)
    t = kb.thread_idx()
    s[t] = 0.0
    kb.syncthreads()
    s[t * 8] = a[t]
    kb.syncthreads()
    out[kb.block_idx() * 256 + t] = s[t * 8]


@kb.kernel
def shared_double_2(out: DOUBLES, a: FLOATS):
    d = kb.shared_array(4224, kb.float64)
    t = kb.thread_idx()
    d[t * 2] = kb.float64(a[t])
    kb.syncthreads()
    out[kb.block_idx() * 256 + t] = d[t * 2]


@kb.kernel
def shared_byte_4(out: FLOATS, a: FLOATS):
    d = kb.shared_array(33792, kb.uint8)
    t = kb.thread_idx()
    d[t * 4] = kb.uint8(a[t])
    kb.syncthreads()
    out[kb.block_idx() * 256 + t] = float(d[t * 4])


@kb.kernel
def tile_32(out: FLOATS, a: FLOATS):
    s = kb.shared_array((32, 32), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    for j in range(y, 32, 8):
        s[j, x] = a[j * 32 + x]
    kb.syncthreads()
    for j in range(y, 32, 8):
        out[kb.block_idx() * 1024 + j * 32 + x] = s[x, j]


@kb.kernel
def tile_33(out: FLOATS, a: FLOATS):
    s = kb.shared_array((32, 33), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    for j in range(y, 32, 8):
        s[j, x] = a[j * 32 + x]
    kb.syncthreads()
    for j in range(y, 32, 8):
        out[kb.block_idx() * 1024 + j * 32 + x] = s[x, j]


@kb.kernel
def shared_gather(out: FLOATS, a: FLOATS, idx: INTS):
    s = kb.shared_array(8448, float)
    t = kb.thread_idx()
    for j in range(t, 8448, 256):
        s[j] = a[j]
    kb.syncthreads()
    j = idx[kb.block_idx() * 256 + t]
    r = 0.0
    if j >= 0:
        r = s[j]
    out[kb.block_idx() * 256 + t] = r


@kb.kernel
def shared_count(out: FLOATS, idx: INTS):
    h = kb.shared_array(1024, int)
    t = kb.thread_idx()
    for j in range(t, 1024, 256):
        h[j] = 0
    kb.syncthreads()
    kb.atomic_add(h, idx[kb.block_idx() * 256 + t], 1)
    kb.syncthreads()
    out[kb.block_idx() * 256 + t] = float(h[t])


@kb.kernel
def shared_add_result(out: FLOATS, idx: INTS):
    h = kb.shared_array(1024, int)
    t = kb.thread_idx()
    for j in range(t, 1024, 256):
        h[j] = 0
    kb.syncthreads()
    r = kb.atomic_add(h, idx[kb.block_idx() * 256 + t], t)
    out[2048 + kb.block_idx() * 256 + t] = float(r)
    kb.syncthreads()
    out[kb.block_idx() * 256 + t] = float(h[t])


@kb.kernel
def shared_max(out: FLOATS, idx: INTS):
    h = kb.shared_array(1024, int)
    t = kb.thread_idx()
    for j in range(t, 1024, 256):
        h[j] = 0
    kb.syncthreads()
    kb.atomic_max(h, idx[kb.block_idx() * 256 + t], t)
    kb.syncthreads()
    out[kb.block_idx() * 256 + t] = float(h[t])


@kb.kernel
def reduce_near(out: FLOATS, a: FLOATS):
    s = kb.shared_array(256, float)
    t = kb.thread_idx()
    s[t] = a[kb.tid()]
    kb.syncthreads()
    o = kb.block_dim() // 2
    while o > 0:
        if t < o:
            s[t] = s[t] + s[t + o]
        kb.syncthreads()
        o = o // 2
    if t == 0:
        out[kb.block_idx()] = s[0]


@kb.kernel
def reduce_far(out: FLOATS, a: FLOATS):
    s = kb.shared_array(256, float)
    t = kb.thread_idx()
    s[t] = a[kb.tid()]
    kb.syncthreads()
    o = 1
    while o < kb.block_dim():
        q = 2 * o * t
        if q < kb.block_dim():
            s[q] = s[q] + s[q + o]
        kb.syncthreads()
        o *= 2
    if t == 0:
        out[kb.block_idx()] = s[0]


@kb.kernel
def stencil(out: FLOATS, a: FLOATS):
    s = kb.shared_array(258, float)
    i = kb.tid()
    t = kb.thread_idx()
    s[t + 1] = a[i + 1]
    if t == 0:
        s[0] = a[i]
    if t == 255:
        s[257] = a[i + 2]
    kb.syncthreads()
    out[i] = s[t] + s[t + 1] + s[t + 2]


@dataclass(frozen=True)
class Case:
    """A kernel, and the launch of `counter_data` (run/name) that it must agree with. The launch has the grid and the
    block, what `idx` holds, and n and k; `arguments` are names among them, "a" and "b" the array that is read (b is a),
    "out" the one that is written.
    """

    kernel: Any
    launch: str
    arguments: tuple[str, ...]


CASES = (
    Case(add, "1/vadd_aligned", ("out", "a", "b", "n")),
    Case(load_offset_1, "1/ld_off1", ("out", "a")),
    Case(load_stride_2, "1/ld_stride2", ("out", "a")),
    Case(load_stride_32, "1/ld_stride32", ("out", "a")),
    Case(store_stride_3, "1/st_stride3", ("out", "a")),
    Case(vec3_load, "1/aos_vec3_ld", ("out", "a")),
    Case(vec3_store, "1/aos_vec3_st", ("out", "a")),
    Case(vec3_x, "1/aos_vec3_x_only", ("out", "a")),
    Case(soa_load, "1/soa_vec3_ld", ("out", "a", "n")),
    Case(copy_double, "1/copy_double", ("out", "a")),
    Case(copy_byte, "1/copy_uchar", ("out", "a")),
    Case(rows, "1/row2d_32x8_p500", ("out", "a", "k")),
    Case(rows, "1/row2d_16x16", ("out", "a", "k")),
    Case(columns, "1/col2d_32x8", ("out", "a", "k")),
    Case(columns, "1/col2d_8x32", ("out", "a", "k")),
    Case(broadcast, "1/gl_broadcast", ("out", "a", "k")),
    Case(gather, "1/gather_b32_wide_full", ("out", "a", "idx")),
    Case(gather, "1/gather_b32_r1000_half", ("out", "a", "idx")),
    Case(scatter, "1/scatter_b32_r100_half", ("out", "idx")),
    Case(first_lanes, "1/gl_lane_lt8", ("out", "a", "k")),
    Case(early_return, "1/div_early_ret", ("out", "a", "idx")),
    Case(mandelbrot, "1/mandel", ("out", "n", "k")),
    Case(atomic_distinct, "1/ga_f32_distinct_noret", ("out",)),
    Case(atomic_count, "1/ga_int_same_noret", ("out",)),
    Case(atomic_max_64, "1/ga_int_max", ("out",)),
    Case(atomic_add_bins, "2/gi_add_bins32_s1", ("out", "idx")),
    Case(atomic_add_result, "2/gi_addret_bins4_s1", ("out", "idx")),
    Case(atomic_add_floats, "3/gr_two_dups_samesector", ("out", "idx")),
    Case(atomic_add_floats, "3/gr_triple", ("out", "idx")),
    Case(shared_load_2, "1/sld_f32_s2", ("out", "a")),
    Case(shared_load_33, "1/sld_f32_s33", ("out", "a")),
    Case(shared_store_8, "1/sst_f32_s8", ("out", "a")),
    Case(shared_double_2, "1/sst_f64_s2", ("out", "a")),
    Case(shared_byte_4, "1/sst_u8_s4", ("out", "a")),
    Case(tile_32, "1/tile32_col_ld", ("out", "a")),
    Case(tile_33, "1/tile33_col_ld", ("out", "a")),
    Case(shared_gather, "1/sgather_b32_rand8448_m50", ("out", "a", "idx")),
    Case(shared_count, "1/sa_inc_bins4_s1", ("out", "idx")),
    Case(shared_add_result, "1/sa_addret_bins8_s1", ("out", "idx")),
    Case(shared_max, "1/sa_max_bins32_s1", ("out", "idx")),
    Case(reduce_near, "1/block_reduce_seq", ("out", "a")),
    Case(reduce_far, "1/block_reduce_interleaved", ("out", "a")),
    Case(stencil, "1/stencil_shared", ("out", "a")),
)
