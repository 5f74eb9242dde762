"""Kernels whose threads work together, for many sizes of blocks, against plain Python."""

import itertools
import random

import pytest
from gpukernels import blocks

import kbuild as kb

pytestmark = pytest.mark.gpu

SIZES = (1, 2, 3, 31, 32, 33, 64, 100, 256, 1000, 1024)


def numbers(count, below, seed=1):
    source = random.Random(seed)
    return [source.randrange(below) for _ in range(count)]


@pytest.mark.parametrize("with_grid", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_sums_of_blocks(size, with_grid):
    count = 37
    data = [float(n) for n in numbers(count * size, 1000)]  # exact in every order
    sums, total = kb.zeros(count, dtype=kb.float64), kb.zeros(1, dtype=kb.float64)
    where = {"grid": count, "block": size} if with_grid else {"dim": count * size, "block_dim": size}
    kb.launch(blocks.block_sums, inputs=[kb.array(data, dtype=kb.float64), sums, total], **where)
    assert sums.tolist() == [sum(data[i * size : (i + 1) * size]) for i in range(count)]
    assert total.tolist() == [sum(data)]


@pytest.mark.parametrize("shape", [(1, 1), (32, 32), (33, 31), (100, 7), (7, 100), (257, 513)])
def test_transpose(shape):
    rows, columns = shape
    a = [[i * 10000 + j for j in range(columns)] for i in range(rows)]
    out = kb.full((columns, rows), -1, dtype=int)
    grid = (-(-columns // 32), -(-rows // 32))
    kb.launch(blocks.transpose, grid=grid, block=(32, 8), inputs=[kb.array(a, dtype=int), out])
    assert out.tolist() == [list(row) for row in zip(*a)]


@pytest.mark.parametrize("size", [1, 32, 96, 256, 1024])
@pytest.mark.parametrize("grid", [1, 13])
def test_histogram(size, grid):
    data = numbers(20001, blocks.BINS)
    counts, sums = kb.zeros(blocks.BINS, dtype=int), kb.zeros(blocks.BINS, dtype=float)
    kb.launch(blocks.histogram, grid=grid, block=size, inputs=[kb.array(data, dtype=int), counts, sums])
    wanted = [data.count(b) for b in range(blocks.BINS)]
    assert counts.tolist() == wanted
    assert sums.tolist() == [0.25 * n for n in wanted]


def test_structs_and_tickets():
    data = [float(n) for n in random.Random(2).sample(range(100000), 64 * 50)]
    out = kb.zeros(50, dtype=blocks.Extreme)
    kb.launch(blocks.smallest, dim=len(data), block_dim=64, inputs=[kb.array(data, dtype=float), out])
    for number, found in enumerate(out.tolist()):
        part = data[number * 64 : (number + 1) * 64]
        assert (found.value, found.at) == (min(part), number * 64 + part.index(min(part)))


@pytest.mark.parametrize("size", [32, 64, 1024])
def test_lanes_of_a_warp(size):
    data = numbers(3 * size, 1000)
    out = kb.zeros(len(data), dtype=int)
    kb.launch(blocks.warp_scan, dim=len(data), block_dim=size, inputs=[kb.array(data, dtype=int), out])
    wanted = []
    for start in range(0, len(data), 32):
        wanted += itertools.accumulate(data[start : start + 32])
    assert out.tolist() == wanted


@pytest.mark.parametrize(("dim", "size"), [((4, 16), 64), ((16, 16), 32), ((3, 40), 24), ((64, 64), 1024)])
def test_shared_memory_of_a_function_and_two_coordinates(dim, size):
    flat = numbers(dim[0] * dim[1], 1000)
    data = [flat[i * dim[1] : (i + 1) * dim[1]] for i in range(dim[0])]
    out = kb.zeros(dim, dtype=int)
    kb.launch(blocks.neighbours, dim=dim, block_dim=size, inputs=[kb.array(data, dtype=int), out])
    beside = [flat[i // size * size + (i + 1) % size] for i in range(len(flat))]
    assert [n for row in out.tolist() for n in row] == [n * 999 for n in beside]


@pytest.mark.parametrize(
    ("grid", "block"),
    [(5, 40), ((2, 3), (5, 7)), ((2, 1, 3), (3, 4, 5)), ((1, 1, 7), (1, 1, 64)), ((3, 500), 33), (1, (32, 32))],
)
def test_positions(grid, block):
    full_grid, full_block = (
        (*sizes, 1, 1)[:3]
        for sizes in (grid if isinstance(grid, tuple) else (grid,), block if isinstance(block, tuple) else (block,))
    )
    threads = 1
    for extent in (*full_grid, *full_block):
        threads *= extent
    out = kb.full((threads, 7), -1, dtype=int)
    kb.launch(blocks.positions, grid=grid, block=block, inputs=[out])

    def code(x, y, z):
        return x + 1000 * (y + 1000 * z)

    count = full_grid[0] * full_grid[1] * full_grid[2]
    wanted = []
    for bz, by, bx in itertools.product(*map(range, full_grid[::-1])):
        for index, (tz, ty, tx) in enumerate(itertools.product(*map(range, full_block[::-1]))):
            place = [code(tx, ty, tz), code(bx, by, bz), code(*full_block), code(*full_grid)]
            wanted.append([len(wanted), *place, index % 32, count])
    assert out.tolist() == wanted


def test_what_is_no_whole_block_is_refused():
    out = kb.zeros((100, 7), dtype=int)
    with pytest.raises(kb.LaunchError, match="runs in whole blocks, and dim=100 is 100 threads"):
        kb.launch(blocks.positions, dim=100, inputs=[out])
    kb.launch(blocks.positions, dim=100, block_dim=50, inputs=[out])
    assert [row[0] for row in out.tolist()] == list(range(100))
    with pytest.raises(kb.LaunchError, match="it runs in whole blocks"):
        kb.launch(blocks.neighbours, dim=(3, 5), block_dim=4, inputs=[out, out])


def test_ordinary_kernels_know_the_size_of_their_block():
    out = kb.zeros(70, dtype=int)
    kb.launch(blocks.sizes, dim=70, block_dim=48, inputs=[out])
    assert out.tolist() == [4800 + i % 48 % 32 for i in range(70)]
    kb.launch(blocks.sizes, grid=2, block=35, inputs=[out])
    assert out.tolist() == [3500 + i % 35 % 32 for i in range(70)]
