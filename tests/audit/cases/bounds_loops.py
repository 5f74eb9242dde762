"""Loops with limits, strides and counters; indices that other arrays hold."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case


@case("bounds", "own", At(8, block=8, a=(8, 5), out=8))
@kb.kernel
def row_sums_good(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < a.shape[0] and i < out.shape[0]:
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j]
        out[i] = total


@case("bounds", "own", At(8, block=8, a=(8, 5), out=8))
@kb.kernel
def row_sums_bad(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < a.shape[0] and i < out.shape[0]:
        total = 0.0
        for j in range(a.shape[1] + 1):
            total += a[i, j]  # finds bounds
        out[i] = total


@case("bounds", "own", At(8, block=8, a=(8, 5), out=8))
@kb.kernel
def row_sums_bad_axis(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < a.shape[0] and i < out.shape[0]:
        total = 0.0
        for j in range(a.shape[0]):
            total += a[i, j]  # finds bounds
        out[i] = total


@case("bounds", "Indigo", At(64, block=32, data=1000))
@kb.kernel(block_dim=32)
def grid_stride_good(data: kb.array(dtype=float)):
    for i in kb.grid_range(data.shape[0]):
        data[i] = data[i] * 2.0


@case("bounds", "Indigo", At(64, block=32, data=1000))
@kb.kernel(block_dim=32)
def grid_stride_bad(data: kb.array(dtype=float)):
    for i in kb.grid_range(data.shape[0] + 1):
        data[i] = data[i] * 2.0  # finds bounds


@case("bounds", "Indigo", At(64, block=32, data=1000))
@kb.kernel(block_dim=32)
def stride_by_hand_good(data: kb.array(dtype=float)):
    i = kb.tid()
    step = kb.block_dim() * kb.grid_dim()
    while i < data.shape[0]:
        data[i] = 0.0
        i += step


@case("bounds", "Indigo", At(64, block=32, data=1000))
@kb.kernel(block_dim=32)
def stride_by_hand_bad(data: kb.array(dtype=float)):
    i = kb.tid()
    step = kb.block_dim() * kb.grid_dim()
    while i <= data.shape[0]:
        data[i] = 0.0  # finds bounds
        i += step


@case("bounds", "GPUVerify", At(16, block=16, data=64))
@kb.kernel
def four_each_good(data: kb.array(dtype=float)):
    t = kb.tid()
    if t < data.shape[0] // 4:
        for k in range(4):
            data[4 * t + k] = float(k)


@case("bounds", "GPUVerify", At(16, block=16, data=64))
@kb.kernel
def four_each_bad(data: kb.array(dtype=float)):
    t = kb.tid()
    if t < data.shape[0] // 4:
        for k in range(4):
            data[4 * t + k + 1] = float(k)  # finds bounds


@case("bounds", "own", At(32, block=32, data=40, out=32))
@kb.kernel
def window_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and i + 8 < data.shape[0]:
        total = 0.0
        for k in range(9):
            total += data[i + k]
        out[i] = total


@case("bounds", "own", At(32, block=32, data=39, out=32))
@kb.kernel
def window_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and i + 7 < data.shape[0]:
        total = 0.0
        for k in range(9):
            total += data[i + k]  # finds bounds
        out[i] = total


@case("bounds", "own", At(32, block=32, data=32, out=32))
@kb.kernel
def window_around_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0]:
        total = 0.0
        for k in range(-2, 3):
            if i + k >= 0 and i + k < data.shape[0]:
                total += data[i + k]
        out[i] = total


@case("bounds", "own", At(32, block=32, data=32, out=32))
@kb.kernel
def window_around_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0]:
        total = 0.0
        for k in range(-2, 3):
            if i + k >= -1 and i + k < data.shape[0]:
                total += data[i + k]  # finds bounds
        out[i] = total


@case("bounds", "own", At(16, block=16, data=16, out=16))
@kb.kernel
def backwards_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        total = 0.0
        for k in range(i, -1, -1):
            total += data[k]
        out[i] = total


@case("bounds", "own", At(16, block=16, data=16, out=16))
@kb.kernel
def backwards_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        total = 0.0
        for k in range(i, -2, -1):
            total += data[k]  # finds bounds
        out[i] = total


@case("bounds", "own", At(16, block=16, data=33, out=16))
@kb.kernel
def by_steps_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0]:
        total = 0.0
        for k in range(0, data.shape[0] - 1, 2):
            total += data[k] * data[k + 1]
        out[i] = total


@case("bounds", "own", At(16, block=16, data=33, out=16))
@kb.kernel
def by_steps_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0]:
        total = 0.0
        for k in range(0, data.shape[0], 2):
            total += data[k] * data[k + 1]  # finds bounds
        out[i] = total


@case("bounds", "own", At(16, block=16, sorted=50, wanted=16, out=16), symbolic="proved")
@kb.kernel
def bisection_good(sorted: kb.array(dtype=float), wanted: kb.array(dtype=float), out: kb.array(dtype=int)):
    i = kb.tid()
    if i < wanted.shape[0] and i < out.shape[0]:
        low = 0
        high = sorted.shape[0]
        while low < high:
            middle = low + (high - low) // 2
            if sorted[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@case("bounds", "own", At(16, block=16, sorted=50, wanted=[60.0] * 16, out=16))
@kb.kernel
def bisection_bad(sorted: kb.array(dtype=float), wanted: kb.array(dtype=float), out: kb.array(dtype=int)):
    i = kb.tid()
    if i < wanted.shape[0] and i < out.shape[0]:
        low = 0
        high = sorted.shape[0]
        while low <= high:
            middle = low + (high - low) // 2
            if sorted[middle] < wanted[i]:  # finds bounds
                low = middle + 1
            else:
                high = middle - 1
        out[i] = low


# Indices that arrays hold


@case("bounds", "Indigo", At(8, block=8, index=[3, 1, 0, 2, 7, 6, 5, 4], data=8, out=8), symbolic="unknown")
@kb.kernel
def gather_open(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < index.shape[0] and i < out.shape[0]:
        out[i] = data[index[i]]  # unknown bounds


@case("bounds", "Indigo", At(8, block=8, index=[3, 1, 0, 2, 7, 8, -5, 4], data=8, out=8))
@kb.kernel
def gather_good(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < index.shape[0] and i < out.shape[0]:
        j = index[i]
        if j >= 0 and j < data.shape[0]:
            out[i] = data[j]


@case("bounds", "Indigo", At(8, block=8, index=[3, 1, 0, 2, 7, 8, 5, 4], data=8, out=8))
@kb.kernel
def gather_bad(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < index.shape[0] and i < out.shape[0]:
        j = index[i]
        if j >= 0 and j <= data.shape[0]:
            out[i] = data[j]  # finds bounds


@case("bounds", "Indigo", At(8, block=8, index=[3, 1, 0, 2, 7, 6, 5], data=8, out=8))
@kb.kernel
def gather_bad_table(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i <= index.shape[0] and i < out.shape[0]:
        j = index[i]  # finds bounds
        if j >= 0 and j < data.shape[0]:
            out[i] = data[j]


@case("bounds", "Indigo", At(8, block=8, index=[3, 1, 0, 2, 7, 6, 5, 4], data=8, out=8))
@kb.kernel
def gather_clamped_good(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < index.shape[0] and i < out.shape[0] and data.shape[0] > 0:
        out[i] = data[kb.clamp(index[i], 0, data.shape[0] - 1)]


@case("bounds", "Indigo", At(8, block=8, index=[3, 1, 0, 2, 7, 9, 5, 4], data=8, out=8))
@kb.kernel
def gather_clamped_bad(index: kb.array(dtype=int), data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < index.shape[0] and i < out.shape[0] and data.shape[0] > 0:
        out[i] = data[kb.clamp(index[i], 0, data.shape[0])]  # finds bounds


@case("bounds", "own", At(8, block=8, key=[3, 1, 0, 2, 7, 9, 5, 4], table=4, out=8))
@kb.kernel
def masked_key_good(key: kb.array(dtype=int), table: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    kb.assume(table.shape[0] == 4)
    if i < key.shape[0] and i < out.shape[0]:
        out[i] = table[key[i] & 3]


@case("bounds", "own", At(8, block=8, key=[3, 1, 0, 2, 7, 9, 5, 4], table=4, out=8))
@kb.kernel
def masked_key_bad(key: kb.array(dtype=int), table: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    kb.assume(table.shape[0] == 4)
    if i < key.shape[0] and i < out.shape[0]:
        out[i] = table[key[i] & 4]  # finds bounds


@case("bounds", "Indigo", At(4, block=4, starts=[0, 2, 3, 3, 6], columns=[0, 1, 3, 2, 0, 3], x=4, out=4))
@kb.kernel
def sparse_rows_open(
    starts: kb.array(dtype=int), columns: kb.array(dtype=int), x: kb.array(dtype=float), out: kb.array(dtype=float)
):
    i = kb.tid()
    if i + 1 < starts.shape[0] and i < out.shape[0]:
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += x[columns[k]]  # unknown bounds
        out[i] = total


@case("bounds", "Indigo", At(5, block=5, starts=[0, 2, 3, 3, 6], columns=[0, 1, 3, 2, 0, 3], x=4, out=5))
@kb.kernel
def sparse_rows_bad(
    starts: kb.array(dtype=int), columns: kb.array(dtype=int), x: kb.array(dtype=float), out: kb.array(dtype=float)
):
    i = kb.tid()
    if i < starts.shape[0] and i < out.shape[0]:
        total = 0.0
        for k in range(kb.max(starts[i], 0), kb.min(starts[i + 1], columns.shape[0])):  # finds bounds
            j = columns[k]
            if 0 <= j < x.shape[0]:
                total += x[j]
        out[i] = total


@case("bounds", "Indigo", At(4, block=4, starts=[0, 2, 3, 3, 6], columns=[0, 1, 3, 2, 0, 9], x=4, out=4))
@kb.kernel
def sparse_rows_good(
    starts: kb.array(dtype=int), columns: kb.array(dtype=int), x: kb.array(dtype=float), out: kb.array(dtype=float)
):
    i = kb.tid()
    if i + 1 < starts.shape[0] and i < out.shape[0]:
        total = 0.0
        for k in range(kb.max(starts[i], 0), kb.min(starts[i + 1], columns.shape[0])):
            j = columns[k]
            if 0 <= j < x.shape[0]:
                total += x[j]
        out[i] = total
