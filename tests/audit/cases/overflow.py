"""Integers of indices that grow out of their type."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case


@case("overflow", "own", At(64, block=64, data=64, pitch=67108864))
@kb.kernel
def row_times_pitch_good(data: kb.array(dtype=float), pitch: int):
    i = kb.tid()
    k = kb.int64(i) * kb.int64(pitch)
    if k >= kb.int64(0) and k < kb.int64(data.shape[0]):
        data[k] = 1.0


@case("overflow", "own", At(64, block=64, data=64, pitch=67108864), symbolic="unknown")
@kb.kernel
def row_times_pitch_bad(data: kb.array(dtype=float), pitch: int):
    i = kb.tid()
    k = i * pitch  # finds overflow KB414
    if k >= 0 and k < data.shape[0]:
        data[k] = 1.0 + float(i)  # may global-races


@case("overflow", "own", At((4, 4, 8), block=128, data=64, rows=65536, columns=65536), symbolic="unknown")
@kb.kernel
def cell_number_bad(data: kb.array(dtype=float), rows: int, columns: int):
    z, y, x = kb.tid()
    k = (z * rows + y) * columns + x  # finds overflow KB414
    if k > 0 and k < data.shape[0]:
        kb.atomic_add(data, k, 1.0)


@case("overflow", "own", At((4, 4, 8), block=128, data=64, rows=65536, columns=65536), symbolic="unknown")
@kb.kernel
def cell_number_good(data: kb.array(dtype=float), rows: int, columns: int):
    z, y, x = kb.tid()
    k = (kb.int64(z) * kb.int64(rows) + kb.int64(y)) * kb.int64(columns) + kb.int64(x)
    if k > kb.int64(0) and k < kb.int64(data.shape[0]):
        kb.atomic_add(data, k, 1.0)


@case("overflow", "own", At(32, block=32, out=32))
@kb.kernel
def bit_of_lane_good(out: kb.array(dtype=kb.uint32)):
    i = kb.tid()
    if i < out.shape[0] and i < 32:
        out[i] = kb.uint32(1) << kb.uint32(i)


@case("overflow", "own", At(32, block=32, out=32))
@kb.kernel
def bit_of_lane_bad(out: kb.array(dtype=int)):
    i = kb.tid()
    if i < out.shape[0] and i < 32:
        out[i] = 1 << i  # finds overflow KB414


@case("overflow", "own", At(65536, block=256, out=65536))
@kb.kernel
def square_good(out: kb.array(dtype=int)):
    i = kb.tid()
    if i < out.shape[0] and i < 46341:
        out[i] = i * i


@case("overflow", "own", At(65536, block=256, out=65536))
@kb.kernel
def square_bad(out: kb.array(dtype=int)):
    i = kb.tid()
    if i < out.shape[0] and i < 46342:
        out[i] = i * i  # finds overflow KB414


@case("overflow", "own", At(64, block=64, counts=64))
@kb.kernel
def cell_hash_good(counts: kb.array(dtype=int)):
    i = kb.tid()
    h = (kb.uint32(i) * kb.uint32(73856093)) & kb.uint32(63)
    if counts.shape[0] == 64:
        kb.atomic_add(counts, int(h), 1)


@case("overflow", "own", At(64, block=64, counts=64))
@kb.kernel
def cell_hash_bad(counts: kb.array(dtype=int)):
    i = kb.tid()
    h = (i * 73856093) & 63  # finds overflow KB414
    if counts.shape[0] == 64:
        kb.atomic_add(counts, h, 1)


@case("overflow", "own", At(64, block=64, data=64, low=2000000000, high=2100000000))
@kb.kernel
def middle_good(data: kb.array(dtype=int), low: int, high: int):
    i = kb.tid()
    kb.assume(low >= 0 and low <= high)
    if i < data.shape[0]:
        data[i] = low + (high - low) // 2


@case("overflow", "own", At(64, block=64, data=64, low=2000000000, high=2100000000))
@kb.kernel
def middle_bad(data: kb.array(dtype=int), low: int, high: int):
    i = kb.tid()
    kb.assume(low >= 0 and low <= high)
    if i < data.shape[0]:
        data[i] = (low + high) // 2  # finds overflow KB414


@case("overflow", "own", At(32, block=32, out=32, n=2147483647), symbolic="unknown")
@kb.kernel
def last_stride_bad(out: kb.array(dtype=int), n: int):
    i = kb.tid()
    trips = 0
    k = i * 1000
    while k < n:
        trips += 1
        k += 1000000000  # finds overflow KB414
    if i < out.shape[0]:
        out[i] = trips


@case("overflow", "own", At(32, block=32, out=32, n=2147483647))
@kb.kernel
def last_stride_good(out: kb.array(dtype=int), n: int):
    i = kb.tid()
    trips = 0
    k = kb.int64(i) * kb.int64(1000)
    while k < kb.int64(n):
        trips += 1
        k += kb.int64(1000000000)
    if i < out.shape[0]:
        out[i] = trips


@case("overflow", "own", At(32, block=32, out=32))
@kb.kernel
def powers_good(out: kb.array(dtype=int)):
    i = kb.tid()
    x = 1
    for _ in range(19):
        x = x * 3
    if i < out.shape[0]:
        out[i] = x + i


@case("overflow", "own", At(32, block=32, out=32), symbolic="found")
@kb.kernel
def powers_bad(out: kb.array(dtype=int)):
    i = kb.tid()
    x = 1
    for _ in range(20):
        x = x * 3  # finds overflow KB414
    if i < out.shape[0]:
        out[i] = x + i


@case("overflow", "own", At(64, block=64, data=192, first=1000000000))
@kb.kernel
def three_numbers_each_good(data: kb.array(dtype=float), first: int):
    i = kb.tid()
    kb.assume(first >= 0 and first <= 1000000000 and i < 1000000)
    k = kb.int64(first + i) * kb.int64(3)
    if k < kb.int64(data.shape[0]):
        data[k] = 0.0


@case("overflow", "own", At(64, block=64, data=192, first=1000000000))
@kb.kernel
def three_numbers_each_bad(data: kb.array(dtype=float), first: int):
    i = kb.tid()
    kb.assume(first >= 0 and first <= 1000000000 and i < 1000000)
    k = (first + i) * 3  # finds overflow KB414
    if k >= 0 and k < data.shape[0]:
        data[k] = 0.0
