"""Kernels whose finished machine code has something to be said of, on every target: pairs, compiled by
`tests/audit/test_machine_cases.py`. Their marks stand at the `def`, where findings about machine code do."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

N = 1024
LINE = At(N, data=N, out=N)
MATRICES = kb.array(dtype=kb.mat44)
Many = kb.types.vector(length=64, dtype=float)


@kb.func
def turned(data: MATRICES, out: MATRICES):
    """Nine matrices that all live at once: 144 registers."""
    i = kb.tid()
    a, b, c = data[9 * i], data[9 * i + 1], data[9 * i + 2]
    d, e, f = data[9 * i + 3], data[9 * i + 4], data[9 * i + 5]
    g, h, k = data[9 * i + 6], data[9 * i + 7], data[9 * i + 8]
    out[9 * i] = k * a[0, 0]
    out[9 * i + 1] = h * b[0, 0]
    out[9 * i + 2] = g * c[0, 0]
    out[9 * i + 3] = f * d[0, 0]
    out[9 * i + 4] = e * a[1, 1]
    out[9 * i + 5] = d * b[1, 1]
    out[9 * i + 6] = c * c[1, 1]
    out[9 * i + 7] = b * d[1, 1]
    out[9 * i + 8] = a * e[1, 1]


@case("machine-code", "own", At(64, data=576, out=576))
@kb.kernel(block_dim=64)
def many_registers_good(data: MATRICES, out: MATRICES):
    i = kb.tid()
    out[i] = data[i] * 2.0


@case("machine-code", "own", At(64, data=576, out=576))
@kb.kernel(block_dim=256, enable_backward=False)
def many_registers_bad(data: MATRICES, out: MATRICES):  # finds machine-code KB420
    turned(data, out)


@case("machine-code", "own", At(64, data=576, out=576))
@kb.kernel(block_dim=256, enable_backward=False)
def few_registers_good(data: MATRICES, out: MATRICES):
    i = kb.tid()
    out[i] = data[i] * 2.0


@case("machine-code", "own", At(64, data=576, out=576))
@kb.kernel(launch_bounds=(256, 4), enable_backward=False)
def few_registers_bad(data: MATRICES, out: MATRICES):  # finds machine-code KB421
    turned(data, out)


@case("machine-code", "own", At(N, data=64 * N, out=N, k=3))
@kb.kernel(enable_backward=False)
def indexed_by_a_variable_good(data: kb.array(dtype=float), out: kb.array(dtype=float), k: int):
    i = kb.tid()
    v = Many()
    for j in range(64):
        v[j] = data[64 * i + j]
    out[i] = v[3] * v[63] + float(k)


@case("machine-code", "own", At(N, data=64 * N, out=N, k=3))
@kb.kernel(enable_backward=False)
def indexed_by_a_variable_bad(  # finds machine-code KB422
    data: kb.array(dtype=float), out: kb.array(dtype=float), k: int
):
    i = kb.tid()
    v = Many()
    for j in range(64):
        v[j] = data[64 * i + j]
    total = 0.0
    for j in range(k):
        total += v[(7 * j + k) & 63]
    out[i] = total


@case("machine-code", "own", LINE)
@kb.kernel(block_dim=256)
def shared_memory_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(8192, float)
    tile[kb.thread_idx()] = data[kb.tid()]
    kb.syncthreads()
    out[kb.tid()] = tile[255 - kb.thread_idx()]


@case("machine-code", "own", LINE)
@kb.kernel(block_dim=256)
def shared_memory_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):  # finds machine-code KB423
    tile = kb.shared_array(9216, float)
    tile[kb.thread_idx()] = data[kb.tid()]
    kb.syncthreads()
    out[kb.tid()] = tile[255 - kb.thread_idx()]


@case("machine-code", "own", LINE)
@kb.kernel(block_dim=64)
def room_for_warps_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(1024, float)
    tile[kb.thread_idx()] = data[kb.tid()]
    kb.syncthreads()
    out[kb.tid()] = tile[63 - kb.thread_idx()]


@case("machine-code", "own", LINE)
@kb.kernel(block_dim=64)
def room_for_warps_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):  # finds machine-code KB423
    tile = kb.shared_array(8192, float)
    tile[kb.thread_idx()] = data[kb.tid()]
    kb.syncthreads()
    out[kb.tid()] = tile[63 - kb.thread_idx()]


@case("machine-code", "own", LINE)
@kb.kernel
def wide_instructions_good(data: kb.array(dtype=kb.vec4), out: kb.array(dtype=kb.vec4)):
    i = kb.tid()
    v = data[i]
    out[i] = v * 2.0 + kb.cw_mul(v, v)


@case("machine-code", "own", LINE)
@kb.kernel
def wide_instructions_bad(data: kb.array(dtype=kb.vec4), out: kb.array(dtype=float)):  # finds machine-code KB424
    i = kb.tid()
    out[i] = data[i][0] + data[i][1] + data[i][2] + data[i][3]
