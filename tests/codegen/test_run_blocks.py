"""Kernels whose threads work together: generated code run in fibers on the host, and by the interpreter, equal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbuild.loader.grids import Grid
from tests.helpers.both_ways import BothWays, filled, zeros

SUM = """
    @kb.func
    def block_sum(tile: kb.array(dtype=int)):
        t = kb.thread_idx()
        s = len(tile) // 2
        while s > 0:
            if t < s:
                tile[t] = tile[t] + tile[t + s]
            kb.syncthreads()
            s = s // 2
        return tile[0]

    N = {block}

    @kb.kernel
    def reduce(data: kb.array(dtype=int), out: kb.array(dtype=int)):
        tile = kb.shared_array(N, int)
        tile[kb.thread_idx()] = data[kb.tid()]
        kb.syncthreads()
        total = block_sum(tile)
        if kb.thread_idx() == 0:
            out[kb.block_idx()] = total
"""


@pytest.mark.parametrize("block", [1, 2, 32, 64, 256])
def test_block_reduction(tmp_path: Path, block: int) -> None:
    run = BothWays(tmp_path, SUM.format(block=block))
    data = np.arange(3 * block, dtype=np.int32) ** 2
    out = zeros(3, kind=np.int32)
    run(3 * block, data, out, block_dim=block)
    assert out.tolist() == data.reshape(3, block).sum(axis=1).tolist()
    out[:] = 0
    run(Grid(3, block), data, out)
    assert out.tolist() == data.reshape(3, block).sum(axis=1).tolist()


def test_transpose_through_a_padded_tile(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def transpose(a: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
            tile = kb.shared_array((8, 9), float)
            t = kb.thread_idx()
            x = kb.thread_idx().x
            y = kb.thread_idx().y
            i = kb.block_idx().y * 8 + y
            j = kb.block_idx().x * 8 + x
            row = tile[y]
            if i < a.shape[0] and j < a.shape[1]:
                row[x] = a[i, j]
            kb.syncthreads()
            i = kb.block_idx().x * 8 + y
            j = kb.block_idx().y * 8 + x
            if i < out.shape[0] and j < out.shape[1]:
                out[i, j] = tile[x, y] + float(t - (y * kb.block_dim().x + x))
        """,
    )
    a = filled(range(21 * 13)).reshape(21, 13)
    out = zeros(13, 21)
    run(Grid((2, 3), (8, 8)), a, out)
    assert (out == a.T).all()


def test_histogram_with_shared_atomics(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def histogram(data: kb.array(dtype=int), counts: kb.array(dtype=int), sums: kb.array(dtype=kb.vec2)):
            bins = kb.shared_array(kb.static(4 * 4), int)
            halves = kb.shared_array(dtype=kb.vec2, shape=(2,))
            t = kb.thread_idx()
            for i in range(t, len(bins), kb.block_dim()):
                bins[i] = 0
            if t < halves.shape[0]:
                halves[t] = kb.vec2(0.0, 0.0)
            kb.syncthreads()
            value = data[kb.tid()]
            kb.atomic_add(bins, value, 1)
            halves[value // 8] += kb.vec2(1.0, float(value))
            kb.syncthreads()
            for i in range(t, len(bins), kb.block_dim()):
                counts[i] += bins[i]
            if t < 2:
                sums[t] += halves[t]
        """,
    )
    data = np.array([(i * i + 3 * i) % 16 for i in range(96)], np.int32)
    counts, sums = zeros(16, kind=np.int32), zeros(2, 2)
    run(96, data, counts, sums, block_dim=24)
    assert counts.tolist() == np.bincount(data, minlength=16).tolist()
    assert sums.tolist() == [[(data < 8).sum(), data[data < 8].sum()], [(data >= 8).sum(), data[data >= 8].sum()]]


WORDS = """
    @kb.kernel(block_dim=64)
    def turned(
        a: kb.array(dtype=kb.vec4), m: kb.array(dtype=kb.mat22), n: kb.array(dtype=kb.vec4ub),
        h: kb.array(dtype=kb.vec4h), out: kb.array(dtype=kb.vec4), out_m: kb.array(dtype=kb.mat22),
        out_n: kb.array(dtype=kb.vec4ub), out_h: kb.array(dtype=kb.vec4h),
    ):
        odd = kb.shared_array(3, kb.uint8)
        four = kb.shared_array((8, 9), kb.vec4)
        more = kb.shared_array(1, float)
        two = kb.shared_array(64, kb.mat22)
        third = kb.shared_array(5, kb.uint8)
        bytes = kb.shared_array(64, kb.vec4ub)
        halves = kb.shared_array(64, kb.vec4h)
        t = kb.thread_idx()
        i = kb.tid()
        if t == 0:
            odd[2] = kb.uint8(1)
            more[0] = 2.0
            third[4] = kb.uint8(3)
        row = four[t // 8]
        row[t % 8] = a[i]
        two[t] = m[i]
        bytes[t] = n[i]
        halves[t] = h[i]
        kb.syncthreads()
        out[i] = four[t % 8, t // 8] * more[0] + kb.vec4(float(odd[2]), four[0, 1][2], 0.0, four[0, 1].w)
        out_m[i] = two[63 - t]
        out_n[i] = bytes[63 - t] + kb.vec4ub(third[4])
        out_h[i] = halves[63 - t]
"""


def test_vectors_in_shared_memory(tmp_path: Path) -> None:
    """Each array begins where its words may, whatever lies before it."""
    run = BothWays(tmp_path, WORDS)
    source = run.module.source
    for name, word in (("four", 16), ("two", 16), ("bytes", 4), ("halves", 8)):
        assert re.search(rf"__shared__ __align__\({word}\) [\w ]+ {name}_memory\[", source)
    assert re.search(r"kb_load\(four\(.*\), true\)", source)
    a, m = filled(range(512)).reshape(128, 4), filled(range(512)).reshape(128, 2, 2)
    n, h = (
        (np.arange(512).reshape(128, 4) % 250).astype(np.uint8),
        filled(range(512)).reshape(128, 4).astype(np.float16),
    )
    out, out_m, out_n, out_h = np.zeros_like(a), np.zeros_like(m), np.zeros_like(n), np.zeros_like(h)
    run(Grid(2, 64), a, m, n, h, out, out_m, out_n, out_h)
    tile = a.reshape(2, 8, 8, 4)
    extra = np.stack([np.array([1.0, one[0, 1, 2], 0.0, one[0, 1, 3]]) for one in tile])
    wanted = tile.transpose(0, 2, 1, 3).reshape(2, 64, 4) * 2.0 + extra[:, None, :]
    assert (out.reshape(2, 64, 4) == wanted).all()
    for one, copy, more in ((m, out_m, 0), (n, out_n, 3), (h, out_h, 0)):
        blocks, found = (x.reshape(2, 64, -1) for x in (one, copy))
        assert (found == blocks[:, ::-1] + one.dtype.type(more)).all()


POSITIONS = """
    @kb.func
    def where():
        return kb.block_idx() * kb.block_dim() + kb.thread_idx()

    @kb.kernel
    def positions(out: kb.array2d(dtype=int)):
        i = kb.tid()
        out[i, 0] = where()
        out[i, 1] = kb.thread_idx().x + 100 * kb.thread_idx().y + 10000 * kb.thread_idx().z
        out[i, 2] = kb.block_idx().x + 100 * kb.block_idx().y + 10000 * kb.block_idx().z
        out[i, 3] = kb.block_dim().x + 100 * kb.block_dim().y + 10000 * kb.block_dim().z
        out[i, 4] = kb.grid_dim().x + 100 * kb.grid_dim().y + 10000 * kb.grid_dim().z
        out[i, 5] = kb.lane_id()
        out[i, 6] = kb.grid_dim() * 10000 + kb.block_dim()
"""


@pytest.mark.parametrize(
    ("grid", "block"),
    [((5, 1, 1), (40, 1, 1)), ((2, 3, 1), (5, 7, 1)), ((2, 1, 3), (3, 4, 5)), ((1, 1, 1), (1, 1, 64))],
)
def test_positions(tmp_path: Path, grid: Any, block: Any) -> None:
    run = BothWays(tmp_path, POSITIONS)
    threads = int(np.prod(grid) * np.prod(block))
    out = zeros(threads, 7, kind=np.int32)
    run(Grid(grid, block), out)

    def code(x: int, y: int, z: int) -> int:
        return x + 100 * y + 10000 * z

    wanted = []
    for bz, by, bx in np.ndindex(*grid[::-1]):
        for index, (tz, ty, tx) in enumerate(np.ndindex(*block[::-1])):
            sizes = [code(*block), code(*grid), index % 32, int(np.prod(grid)) * 10000 + int(np.prod(block))]
            wanted.append([len(wanted), code(tx, ty, tz), code(bx, by, bz), *sizes])
    assert out.tolist() == wanted


def test_several_coordinates_in_whole_blocks(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def shift(a: kb.array2d(dtype=int), out: kb.array2d(dtype=int)):
            tile = kb.shared_array(16, int)
            i, j = kb.tid()
            tile[kb.thread_idx()] = a[i, j]
            kb.syncthreads()
            out[i, j] = tile[kb.block_dim() - 1 - kb.thread_idx()]
        """,
    )
    a = np.arange(96, dtype=np.int32).reshape(8, 12)
    out = zeros(8, 12, kind=np.int32)
    run((8, 12), a, out, block_dim=16)
    assert out.ravel().tolist() == a.reshape(-1, 16)[:, ::-1].ravel().tolist()


def test_lanes_of_a_warp_wait_for_each_other(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def scan(data: kb.array(dtype=int), out: kb.array(dtype=int)):
            tile = kb.shared_array((2, 32), int)
            lane = kb.lane_id()
            warp = kb.thread_idx() // 32
            tile[warp, lane] = data[kb.tid()]
            kb.syncwarp()
            d = 1
            while d < 32:
                before = 0
                if lane >= d:
                    before = tile[warp, lane - d]
                kb.syncwarp(mask=0xffffffff)
                tile[warp, lane] = tile[warp, lane] + before
                kb.syncwarp()
                d *= 2
            if lane < 16:
                kb.syncwarp(kb.uint32(0xffff))
            out[kb.tid()] = tile[warp, lane]
        """,
    )
    data = np.arange(128, dtype=np.int32)
    out = zeros(128, kind=np.int32)
    run(128, data, out, block_dim=64)
    assert out.tolist() == np.cumsum(data.reshape(4, 32), axis=1).ravel().tolist()


def test_elements_of_every_kind_and_functions_with_memory_of_their_own(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.struct
        class Cell:
            weight: float
            place: kb.vec3

        @kb.func
        def left_neighbour(value: float):
            # Of the function: every call works on the same four numbers.
            line = kb.shared_array(4, float)
            t = kb.thread_idx()
            line[t] = value
            kb.syncthreads()
            found = line[(t + 3) % 4]
            kb.syncthreads()
            return found

        @kb.kernel
        def mix(data: kb.array(dtype=float), out: kb.array(dtype=float)):
            cells = kb.shared_array(4, Cell)
            halves = kb.shared_array((1, 2, 2, 1), kb.float16)
            flags = kb.shared_array(4, kb.bool_)
            turns = kb.shared_array(4, kb.mat22)
            t = kb.thread_idx()
            i = kb.tid()
            cells[t] = Cell(data[i], kb.vec3(data[i], 1.0, 2.0))
            cells[t].place.y = 5.0
            halves[0, t // 2, t % 2, 0] = kb.float16(data[i])
            flags[t] = data[i] > 1.5
            turns[t] = kb.mat22(data[i], 0.0, 0.0, 1.0)
            kb.syncthreads()
            other = 3 - t
            total = cells[other].weight + cells[other].place.y + float(halves[0, other // 2, other % 2, 0])
            total += turns[other][0, 0]
            if flags[other]:
                total += 100.0
            out[i] = total + left_neighbour(data[i]) * 1000.0 + left_neighbour(total) * 10000.0
        """,
    )
    data = filled([0.5, 1.0, 2.0, 4.0, 8.0, 0.25, 3.0, 1.0])
    out = zeros(8)
    run(8, data, out, block_dim=4)
    wanted = []
    for block in data.reshape(2, 4):
        totals = [3 * block[3 - t] + 5 + (100 if block[3 - t] > 1.5 else 0) for t in range(4)]
        wanted += [totals[t] + block[t - 1] * 1000 + totals[t - 1] * 10000 for t in range(4)]
    np.testing.assert_array_equal(out, np.array(wanted, np.float32))


def test_a_function_of_the_language_takes_a_shared_array(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def search(sorted: kb.array(dtype=float), wanted: kb.array(dtype=float), out: kb.array(dtype=int)):
            cache = kb.shared_array(8, float)
            t = kb.thread_idx()
            cache[t] = sorted[t]
            kb.syncthreads()
            out[kb.tid()] = kb.lower_bound(cache, wanted[kb.tid()])
        """,
    )
    ordered, wanted = filled([1, 2, 4, 4, 5, 8, 9, 9]), filled(np.arange(16) * 0.75)
    out = zeros(16, kind=np.int32)
    run(16, ordered, wanted, out, block_dim=8)
    assert out.tolist() == np.searchsorted(ordered, wanted).tolist()


def test_block_size_and_lane_of_ordinary_kernels(tmp_path: Path) -> None:
    """They need no whole blocks: the last one may be short."""
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def sizes(out: kb.array(dtype=int)):
            i = kb.tid()
            out[i] = kb.block_dim() * 100 + kb.lane_id()
        """,
    )
    out = zeros(70, kind=np.int32)
    run(70, out, block_dim=48)
    assert out.tolist() == [4800 + i % 48 % 32 for i in range(70)]
