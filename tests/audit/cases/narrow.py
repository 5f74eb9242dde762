"""Vectors that are moved number by number, and numbers side by side that could be vectors."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

N = 128
FOUR = At(N, block=64, data=4 * N, out=N)
VECTORS = At(N, block=64, data=N, out=N)


@case("coalescing", "own", VECTORS)
@kb.kernel
def four_numbers_good(data: kb.array(dtype=kb.vec4), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        v = data[i]
        out[i] = v[0] + v[1] + v[2] + v[3]


@case("coalescing", "own", FOUR)
@kb.kernel
def four_numbers_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if 4 * i + 3 < data.shape[0] and i < out.shape[0]:
        out[i] = data[4 * i] + data[4 * i + 1] + data[4 * i + 2] + data[4 * i + 3]  # finds coalescing KB408


@case("coalescing", "own", FOUR)
@kb.kernel
def four_numbers_bad_loop(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if 4 * i + 3 < data.shape[0] and i < out.shape[0]:
        total = 0.0
        for k in range(4):
            total += data[4 * i + k]  # finds coalescing KB408
        out[i] = total


@case("coalescing", "own", At(N, block=64, data=2 * N, out=N))
@kb.kernel
def two_doubles_bad(data: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    if 2 * i + 1 < data.shape[0] and i < out.shape[0]:
        out[i] = data[2 * i] + data[2 * i + 1]  # finds coalescing KB408


@case("coalescing", "own", VECTORS)
@kb.kernel
def two_doubles_good(data: kb.array(dtype=kb.vec2d), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        v = data[i]
        out[i] = v[0] + v[1]


@case("coalescing", "own", VECTORS)
@kb.kernel
def met_once_good(data: kb.array(dtype=kb.vec4), out: kb.array(dtype=kb.vec4)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        v = data[i]
        out[i] = v * 2.0 + kb.cw_mul(v, v)


@case("coalescing", "own", VECTORS)
@kb.kernel
def met_once_bad(data: kb.array(dtype=kb.vec4), out: kb.array(dtype=kb.vec4)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] * 2.0 + kb.cw_mul(data[i], data[i])  # finds coalescing KB408


@case("coalescing", "own", VECTORS)
@kb.kernel
def parts_of_a_vector_good(data: kb.array(dtype=kb.vec3), out: kb.array(dtype=float)):
    """Three numbers have no word: nothing is to be gained."""
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i][0] + data[i][1] + data[i][2]


@case("coalescing", "own", VECTORS)
@kb.kernel
def parts_of_a_vector_bad(data: kb.array(dtype=kb.vec4), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i][0] + data[i][1] + data[i][2] + data[i][3]  # finds coalescing KB408


@case("coalescing", "own", VECTORS)
@kb.kernel
def put_together_good(data: kb.array(dtype=float), out: kb.array(dtype=kb.vec2)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        x = data[i]
        out[i] = kb.vec2(x, -x)


@case("coalescing", "own", VECTORS)
@kb.kernel
def put_together_bad(data: kb.array(dtype=float), out: kb.array(dtype=kb.vec2)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        x = data[i]
        out[i][0] = x  # finds coalescing KB408
        out[i][1] = -x


@case("coalescing", "own", VECTORS)
@kb.kernel
def with_a_hint_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = kb.load_readonly(data, i)


@case("coalescing", "own", VECTORS)
@kb.kernel
def with_a_hint_bad(data: kb.array(dtype=kb.vec4), out: kb.array(dtype=kb.vec4)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = kb.load_readonly(data, i)  # finds coalescing KB408


@case("coalescing", "own", At(N, block=64, data=4 * N, out=N))
@kb.kernel
def one_of_several_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i + 384 < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] + data[i + 128] + data[i + 256] + data[i + 384]


@case("coalescing", "own", FOUR)
@kb.kernel
def one_of_several_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if 4 * i + 3 < data.shape[0] and i < out.shape[0]:
        x, y = data[4 * i], data[4 * i + 1]  # finds coalescing KB408
        z, w = data[4 * i + 2], data[4 * i + 3]
        out[i] = kb.max(kb.max(x, y), kb.max(z, w))
