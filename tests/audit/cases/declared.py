"""Launches and shapes that kernels declare: nothing else says how far their indices go."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case


@case("bounds", "own", At(100, block=64, data=100, out=100))
@kb.kernel(launch_dim="n")
def as_many_as_elements_good(data: kb.array(dtype=float, shape="n"), out: kb.array(dtype=float, shape="n")):
    i = kb.tid()
    out[i] = data[i] * 2.0


@case("bounds", "own", At(100, block=64, data=100, out=100))
@kb.kernel(launch_dim="n")
def as_many_as_elements_bad(data: kb.array(dtype=float, shape="n"), out: kb.array(dtype=float, shape="n")):
    i = kb.tid()
    out[i] = data[i + 1] * 2.0  # finds bounds


@case("bounds", "own", At(100, block=64, data=100, out=99))
@kb.kernel(launch_dim="n")
def as_many_as_elements_bad_other(data: kb.array(dtype=float, shape="n"), out: kb.array(dtype=float, shape=("m",))):
    i = kb.tid()
    kb.assume(out.shape[0] < data.shape[0])
    out[i] = data[i] * 2.0  # finds bounds


@case("bounds", "own", At(60, block=64, data=60, n=60))
@kb.kernel(launch_dim="n")
def as_a_scalar_says_good(data: kb.array(dtype=float, shape="n"), n: int):
    i = kb.tid()
    data[n - 1 - i] = 0.0


@case("bounds", "own", At(60, block=64, data=60, n=60))
@kb.kernel(launch_dim="n")
def as_a_scalar_says_bad(data: kb.array(dtype=float, shape="n"), n: int):
    i = kb.tid()
    data[n - i] = 0.0  # finds bounds


@case("bounds", "own", At((12, 20), block=64, data=(12, 20), out=(20, 12)))
@kb.kernel(launch_dim=("rows", "columns"))
def declared_turned_good(
    data: kb.array(dtype=float, shape=("rows", "columns")), out: kb.array(dtype=float, shape=("columns", "rows"))
):
    i, j = kb.tid()
    out[j, i] = data[i, j]


@case("bounds", "own", At((12, 20), block=64, data=(12, 20), out=(20, 12)))
@kb.kernel(launch_dim=("rows", "columns"))
def declared_turned_bad(
    data: kb.array(dtype=float, shape=("rows", "columns")), out: kb.array(dtype=float, shape=("columns", "rows"))
):
    i, j = kb.tid()
    out[i, j] = data[i, j]  # finds bounds


@case("bounds", "own", At((12, 3), block=64, points=(12, 3)))
@kb.kernel(launch_dim=("n", 3))
def declared_components_good(points: kb.array(dtype=float, shape=("n", 3))):
    i, axis = kb.tid()
    points[i, axis] = 0.0


@case("bounds", "own", At((12, 4), block=64, points=(12, 3)))
@kb.kernel(launch_dim=("n", 4))
def declared_components_bad(points: kb.array(dtype=float, shape=("n", 3))):
    i, axis = kb.tid()
    points[i, axis] = 0.0  # finds bounds


@case("global-races", "own", At(1, block=64, total=4))
@kb.kernel(launch_dim=1)
def a_thread_alone_good(total: kb.array(dtype=float, shape="n")):
    total[0] = total[0] + 1.0


@case("global-races", "own", At(4, block=64, total=4))
@kb.kernel(launch_dim="n")
def a_thread_alone_bad(total: kb.array(dtype=float, shape="n")):
    total[0] = total[0] + 1.0  # finds global-races


@case("bounds", "own", At(128, block=64, data=128, out=128))
@kb.kernel(launch_dim="n", block_dim=64)
def declared_whole_blocks_good(data: kb.array(dtype=float, shape="n"), out: kb.array(dtype=float, shape="n")):
    tile = kb.shared_array(64, float)
    i = kb.tid()
    tile[kb.thread_idx()] = data[i]
    kb.syncthreads()
    out[i] = tile[63 - kb.thread_idx()]


@case("bounds", "own", At(128, block=64, data=128, out=128))
@kb.kernel(launch_dim="n", block_dim=64)
def declared_whole_blocks_bad(data: kb.array(dtype=float, shape="n"), out: kb.array(dtype=float, shape="n")):
    tile = kb.shared_array(64, float)
    i = kb.tid()
    tile[kb.thread_idx()] = data[i]
    kb.syncthreads()
    out[i + 1] = tile[63 - kb.thread_idx()]  # finds bounds


@case("bounds", "own", At(30, block=64, data=30, weights=30))
@kb.kernel(launch_dim="n")
def weighed_where_there_are_weights_good(
    data: kb.array(dtype=float, shape="n"), weights: kb.array(dtype=float, shape="n")
):
    i = kb.tid()
    if weights:
        data[i] = data[i] * weights[i]


@case("bounds", "own", At(30, block=64, data=30, weights=30))
@kb.kernel(launch_dim="n")
def weighed_where_there_are_weights_bad(
    data: kb.array(dtype=float, shape="n"), weights: kb.array(dtype=float, shape="n")
):
    i = kb.tid()
    if weights:
        data[i] = data[i] * weights[2 * i]  # finds bounds
