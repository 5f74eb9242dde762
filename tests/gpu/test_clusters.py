"""Kernels whose blocks run in clusters, against plain Python."""

import random

import pytest
from gpuclusters import kernels

import kbuild as kb

pytestmark = pytest.mark.gpu


def numbers(count, below, seed=1):
    source = random.Random(seed)
    return [source.randrange(below) for _ in range(count)]


def ints(values):
    return kb.array(values, dtype=int)


@pytest.mark.parametrize("block", [32, 100, 1024])
@pytest.mark.parametrize("size", kernels.SIZES)
def test_the_tile_of_the_next_block(size, block):
    count = 5 * size
    data = numbers(count * block, 1 << 30)
    out, ranks = kb.zeros(count * block, dtype=int), kb.zeros(count, dtype=int)
    kb.launch(kernels.ring(size), dim=count * block, block_dim=block, inputs=[ints(data), out, ranks])
    wanted = []
    for number in range(count):
        other = number - number % size + (number % size + 1) % size
        wanted += data[other * block : (other + 1) * block][::-1]
    assert out.tolist() == wanted
    assert ranks.tolist() == [number % size * 100 + size for number in range(count)]


@pytest.mark.parametrize("block", [64, 256])
@pytest.mark.parametrize("size", kernels.SIZES)
def test_atomics_on_other_blocks(size, block):
    clusters = 7
    each = size * block
    data = numbers(clusters * each, kernels.BINS, size)
    shape = (clusters, kernels.BINS)
    counts, sums = kb.zeros(shape, dtype=int), kb.zeros(shape, dtype=float)
    wide, most = kb.zeros(shape, dtype=kb.float64), kb.zeros(shape, dtype=kb.int16)
    tickets = kb.zeros(clusters * each, dtype=int)
    inputs = [ints(data), counts, sums, wide, most, tickets]
    kb.launch(kernels.histogram(size), dim=clusters * each, block_dim=block, inputs=inputs)
    parts = [data[i * each : (i + 1) * each] for i in range(clusters)]
    wanted = [[part.count(b) for b in range(kernels.BINS)] for part in parts]
    assert counts.tolist() == wanted
    assert sums.tolist() == [[0.25 * n for n in row] for row in wanted]  # exact in every order
    assert wide.tolist() == [[0.5 * n for n in row] for row in wanted]
    assert most.tolist() == [
        [max([(c * each + i) % 1000 for i, n in enumerate(part) if n == b], default=-1) for b in range(kernels.BINS)]
        for c, part in enumerate(parts)
    ]
    assert tickets.tolist() == [1] * (clusters * each), "every thread has drawn a ticket of its own"


@pytest.mark.parametrize("clusters", [1, 200])
def test_stores_into_other_blocks(clusters):
    count = clusters * 256
    data = numbers(count, 1000, 3)
    out = kb.zeros((count, 5), dtype=int)
    kb.launch(kernels.scattered, dim=count, inputs=[ints(data), out])
    wanted = []
    for i in range(count):
        cluster, block, t = i // 256, i // 64 % 4, i % 64
        source = data[cluster * 256 + (block - t) % 4 * 64 + t]
        wanted.append([source, 3 * source, source, source + 1 + source + 2 + source + 3, t])
    assert out.tolist() == wanted


@pytest.mark.parametrize("rows", [128, 1000, 24576])
def test_memory_that_the_launch_gives(rows):
    lists = 3
    data = numbers(lists * 2 * rows, 1000, 4)
    out = kb.zeros(len(data), dtype=int)
    kb.launch(kernels.large, grid=2 * lists, inputs=[ints(data), out], shared_memory=4 * rows)
    wanted = []
    for i in range(lists):
        wanted += [1000000 + n for n in data[i * 2 * rows : (i + 1) * 2 * rows][::-1]]
    assert out.tolist() == wanted


@pytest.mark.parametrize("count", [0, 1, 7, 200])
def test_many_barriers(count):
    blocks = 4 * 33
    data = numbers(32 * blocks, 1000, 5)
    values = ints(data)
    kb.launch(kernels.rounds, dim=32 * blocks, inputs=[values, count])
    wanted = []
    for block in range(blocks):
        source = block - block % 4 + (block - count) % 4
        wanted += [n + count for n in data[source * 32 : (source + 1) * 32]]
    assert values.tolist() == wanted


@pytest.mark.parametrize("grid", [2, 64, (2, 3), (4, 2, 3)])
def test_grids_with_several_axes(grid):
    count = 1
    for extent in grid if isinstance(grid, tuple) else (grid,):
        count *= extent
    out = kb.full((count, 2), -1, dtype=int)
    kb.launch(kernels.grids, grid=grid, block=(8, 4), inputs=[out])
    assert out.tolist() == [[number ^ 1, number % 2] for number in range(count)]


def test_what_makes_no_whole_clusters_is_refused():
    values = kb.zeros(32 * 12, dtype=int)
    with pytest.raises(kb.LaunchError, match="it runs in clusters of 4 blocks, and dim makes 6"):
        kb.launch(kernels.rounds, dim=32 * 6, inputs=[values, 1])
    with pytest.raises(kb.LaunchError, match="and the grid has 2 along x"):
        kb.launch(kernels.rounds, grid=(2, 6), inputs=[values, 1])
    kb.launch(kernels.rounds, dim=32 * 12, inputs=[values, 1])
    assert values.tolist() == [1] * (32 * 12)


def test_bound_launches():
    values = kb.zeros(32 * 8, dtype=int)
    step = kb.bind(kernels.rounds, dim=32 * 8, inputs=[values, 3])
    for _ in range(50):  # each begins while the one before it ends
        step()
    assert values.tolist() == [150] * (32 * 8)


def test_graphs():
    values = kb.zeros(32 * 8, dtype=int)
    kb.launch(kernels.rounds, dim=32 * 8, inputs=[values, 2])
    with kb.capture() as graph:
        for _ in range(10):
            kb.launch(kernels.rounds, dim=32 * 8, inputs=[values, 2])
    for _ in range(3):
        graph.launch()
    assert values.tolist() == [62] * (32 * 8)
