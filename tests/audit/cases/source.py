"""What is written in a way that costs, or that means something else than it seems. No launch goes wrong by it."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

N = 128
LINE = At(N, block=64, data=N, out=N)
RIGHT = "nothing goes wrong by it"


@case("source", "own", At(N, block=64, data=N, factor=2.0))
@kb.kernel
def every_parameter_good(data: kb.array(dtype=float), factor: float):
    i = kb.tid()
    if i < data.shape[0]:
        data[i] = data[i] * factor


@case("source", "own", At(N, block=64, data=N, factor=2.0), unseen=RIGHT)
@kb.kernel
def every_parameter_bad(data: kb.array(dtype=float), factor: float):  # finds source KB416
    i = kb.tid()
    if i < data.shape[0]:
        data[i] = data[i] * 2.0


@case("source", "own", LINE)
@kb.kernel
def every_array_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i]


@case("source", "own", LINE, unseen=RIGHT)
@kb.kernel
def every_array_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):  # finds source KB416
    i = kb.tid()
    if i < data.shape[0]:
        data[i] = data[i] * 2.0


@case("source", "own", At(N, block=64, data=1000))
@kb.kernel(block_dim=64)
def one_after_another_good(data: kb.array(dtype=float)):
    for i in kb.grid_range(data.shape[0]):
        data[i] = data[i] * 2.0


@case("source", "own", At(1, block=1, data=1000), unseen=RIGHT)
@kb.kernel
def one_after_another_bad(data: kb.array(dtype=float)):
    for i in range(data.shape[0]):  # finds source KB410
        data[i] = data[i] * 2.0


@case("source", "own", At(N, block=64, data=1000), unseen=RIGHT)
@kb.kernel
def one_after_another_bad_first(data: kb.array(dtype=float)):
    if kb.tid() == 0:
        for i in range(data.shape[0]):  # finds source KB410
            data[i] = data[i] * 2.0


@case("source", "own", At(N, block=64, data=200, out=N))
@kb.kernel
def all_pairs_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < out.shape[0] and i < data.shape[0]:
        force = 0.0
        for k in range(data.shape[0]):
            force += data[k] - data[i]
        out[i] = force


@case("source", "own", At(N, block=64, data=200, out=N), unseen=RIGHT)
@kb.kernel
def all_pairs_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i == 0 and out.shape[0] > 0:
        force = 0.0
        for k in range(data.shape[0]):  # finds source KB410
            force += data[k]
        out[0] = force


@case("source", "own", At(N, block=64, data=100, out=1))
@kb.kernel(block_dim=64)
def sum_in_parts_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    total = 0.0
    for i in kb.grid_range(data.shape[0]):
        total += data[i]
    if out.shape[0] > 0:
        kb.atomic_add(out, 0, total)


@case("source", "own", At(1, block=64, data=100, out=1), unseen=RIGHT)
@kb.kernel
def sum_in_parts_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    total = 0.0
    for i in range(data.shape[0]):  # finds source KB410
        total += data[i]
    if out.shape[0] > 0:
        out[0] = total


@case("source", "own", LINE)
@kb.kernel
def narrow_all_the_way_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] * 0.1


@case("source", "own", LINE, unseen=RIGHT)
@kb.kernel
def narrow_all_the_way_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = float(kb.float64(data[i]) * kb.float64(0.1))  # finds source KB413


@case("source", "own", At(N, block=64, data=N, out=N))
@kb.kernel
def narrow_all_the_way_good_wide(data: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = data[i] * 0.1


@case("source", "own", At((8, 16), block=64, a=(8, 16)))
@kb.kernel
def rows_and_columns_good(a: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] = a[i, j] * 2.0


@case("source", "own", At(1, block=1, a=(8, 16)), unseen=RIGHT)
@kb.kernel
def rows_and_columns_bad(a: kb.array2d(dtype=float)):
    for i in range(a.shape[0]):  # finds source KB410
        for j in range(a.shape[1]):  # finds source KB410
            a[i, j] = a[i, j] * 2.0


@case("source", "own", At(N, block=64, data=N, scale=2.0, offset=1.0))
@kb.kernel
def every_scalar_good(data: kb.array(dtype=float), scale: float, offset: float):
    i = kb.tid()
    if i < data.shape[0]:
        data[i] = kb.clamp(data[i] * scale, -offset, offset)


@case("source", "own", At(N, block=64, data=N, scale=2.0, offset=1.0), unseen=RIGHT)
@kb.kernel
def every_scalar_bad(data: kb.array(dtype=float), scale: float, offset: float):  # finds source KB416
    i = kb.tid()
    if i < data.shape[0]:
        data[i] = kb.clamp(data[i] * scale, -scale, scale)


@case("source", "own", At(8, block=8, a=(8, 16), out=8))
@kb.kernel
def row_of_each_good(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < a.shape[0] and i < out.shape[0]:
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j]
        out[i] = total


@case("source", "own", At(8, block=8, a=(8, 16), out=8), unseen=RIGHT)
@kb.kernel
def row_of_each_bad(a: kb.array2d(dtype=float), out: kb.array(dtype=float)):
    if kb.tid() == 0:
        for i in range(kb.min(a.shape[0], out.shape[0])):  # finds source KB410
            total = 0.0
            for j in range(a.shape[1]):  # finds source KB410
                total += a[i, j]
            out[i] = total
