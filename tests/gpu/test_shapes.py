"""Launches of one to four dimensions, beyond the limits of a grid, and arrays with strides."""

import os

import pytest
from gpukernels import shapes

import kbuild as kb

pytestmark = pytest.mark.gpu

INDEX = {1: shapes.index1, 2: shapes.index2, 3: shapes.index3, 4: shapes.index4}
SCALE = {1: 1, 2: 1000000, 3: 1000000, 4: 100000}
DIMS = (
    (1,),
    (255,),
    (256,),
    (1000003,),
    (7, 13),
    (1, 1),
    (1, 257),
    (257, 1),
    (3, 65537),
    (65537, 3),
    (3, 5, 7),
    (2, 3, 65537),
    (65537, 1, 2),
    (2, 3, 5, 7),
    (1, 2, 3, 65537),
    (1, 65537, 2, 1),
    (11, 1, 1, 13),
)


@pytest.mark.parametrize("dim", DIMS, ids=str)
def test_every_thread_finds_its_index(dim):
    """Threads write their index into their own element; one that is wrong leaves another unwritten."""
    out = kb.full(dim, -1, dtype=kb.int64)
    kb.launch(INDEX[len(dim)], dim=dim, inputs=[out])
    assert list(flat(out.tolist())) == list(encoded(dim, SCALE[len(dim)]))


def encoded(dim, scale):
    """The indices in row-major order, as the kernels encode them."""
    values = [0]
    for extent in dim:
        values = [value * scale + i for value in values for i in range(extent)]
    return values


def flat(nested):
    return (x for row in nested for x in (flat(row) if isinstance(row, list) else (row,)))


@pytest.mark.parametrize("dim", [(0,), (0, 5), (5, 0), (2, 0, 3), (1, 2, 3, 0)], ids=str)
def test_no_threads(dim):
    out = kb.full([2] * len(dim), -1, dtype=kb.int64)
    kb.launch(INDEX[len(dim)], dim=dim, inputs=[out])
    assert set(flat(out.tolist())) == {-1}


def test_missing_axes_are_one():
    out = kb.full((5, 1, 1), -1, dtype=kb.int64)
    kb.launch(shapes.index3, dim=5, inputs=[out])
    assert list(flat(out.tolist())) == [i * 10**12 for i in range(5)]


def test_one_index_over_several_axes():
    out = kb.full(35, -1, dtype=kb.int64)
    kb.launch(shapes.index1, dim=(5, 7), inputs=[out])
    assert out.tolist() == list(range(35))


@pytest.mark.parametrize("block_dim", [1, 31, 64, 1000, 1024])
def test_blocks_of_any_size(block_dim):
    out = kb.full(3001, -1, dtype=int)
    kb.launch(shapes.small_blocks, dim=3001, inputs=[out], block_dim=block_dim)
    assert out.tolist() == list(range(3001))


def test_threads_without_an_index():
    out = kb.zeros(1, dtype=int)
    kb.launch(shapes.no_threads, dim=(123, 7), inputs=[out])
    assert out.tolist() == [861]


def test_index_inside_a_function():
    out = kb.zeros((4, 9), dtype=int)
    kb.launch(shapes.through_function, dim=(4, 9), inputs=[out])
    assert out.tolist() == [[i * 100 + j for j in range(9)] for i in range(4)]


needs_speed = pytest.mark.skipif("KBUILD_EMULATED" in os.environ, reason="2^31 threads want a GPU")


@needs_speed
def test_more_threads_than_a_grid_takes():
    """2.24e9 threads: two driver launches, cut along the first axis."""
    rows, columns = 70000, 32000
    total, seen_rows = kb.zeros(1, dtype=kb.int64), kb.zeros(rows, dtype=int)
    seen_columns = kb.zeros(columns, dtype=int)
    kb.launch(shapes.count_threads2, dim=(rows, columns), inputs=[total, seen_rows, seen_columns], block_dim=1024)
    assert total.tolist() == [rows * columns]
    assert set(seen_rows.tolist()) == {1}
    assert set(seen_columns.tolist()) == {1}


@needs_speed
def test_planes_that_are_too_large_for_a_grid():
    """Each of two planes has more than 2^31 threads: cut along two axes."""
    dim = (2, 50000, 45000)
    total, first = kb.zeros(1, dtype=kb.int64), kb.zeros(2, dtype=kb.int64)
    middle = kb.zeros(dim[1], dtype=int)
    kb.launch(shapes.count_threads3, dim=dim, inputs=[total, first, middle], block_dim=1024)
    assert total.tolist() == [dim[0] * dim[1] * dim[2]]
    assert first.tolist() == [1, 1]
    assert set(middle.tolist()) == {2}


def test_extents():
    out = kb.zeros(8, dtype=int)
    inputs = [kb.zeros((2, 3, 4, 5), dtype=kb.uint8), kb.zeros((6, 7), dtype=float), out]
    kb.launch(shapes.shapes, dim=1, inputs=inputs)
    assert out.tolist() == [2, 3, 4, 5, 6, 7, 6, 4]


def matrix(rows, columns):
    return [[float(i * columns + j) for j in range(columns)] for i in range(rows)]


def test_strided_views_of_memory():
    """A transposed, a reversed and a spaced view of one block of memory."""
    memory = kb.array(matrix(6, 8), dtype=float)
    views = {
        "transposed": ((8, 6), (4, 32), 0, lambda i, j: j * 8 + i),
        "reversed": ((6, 8), (-32, -4), 47 * 4, lambda i, j: 47 - (i * 8 + j)),
        "every other": ((3, 4), (64, 8), 4, lambda i, j: 16 * i + 2 * j + 1),
        "one row for all": ((5, 8), (0, 4), 32, lambda i, j: 8 + j),
    }
    for name, (shape, strides, offset, value) in views.items():
        view = kb.array(ptr=memory.ptr + offset, shape=shape, strides=strides, dtype=float, owner=memory)
        target = kb.zeros(shape, dtype=float)
        kb.launch(shapes.copy2, dim=shape, inputs=[view, target])
        wanted = [[value(i, j) + 1.0 for j in range(shape[1])] for i in range(shape[0])]
        assert target.tolist() == wanted, name
        assert view.tolist() == [[w - 1.0 for w in row] for row in wanted], name


def test_writing_through_strides():
    memory = kb.zeros((4, 6), dtype=kb.int16)
    source = kb.array([[[[1, 2, 3]], [[4, 5, 6]]]], dtype=kb.int16)  # shape (1, 2, 1, 3)
    view = kb.array(ptr=memory.ptr + 2, shape=(1, 2, 1, 3), strides=(0, 24, 0, 4), dtype=kb.int16, owner=memory)
    kb.launch(shapes.copy4, dim=(1, 2, 1, 3), inputs=[source, view])
    assert memory.tolist() == [[0, 2, 0, 4, 0, 6], [0] * 6, [0, 8, 0, 10, 0, 12], [0] * 6]


def test_indices_below_zero_count_from_the_end():
    which, out = kb.array([-1, 0, -2, 1], dtype=int), kb.zeros((4, 6), dtype=float)
    a, b = kb.array([1.0, 2.0, 4.0, 8.0], dtype=float), kb.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], dtype=float)
    kb.launch(shapes.from_the_end, dim=4, inputs=[which, a, b, out])
    assert out.tolist() == [
        [8.0, 5.0, 5.0, 3.0, 0.0, 0.5],
        [1.5, 2.0, 3.0, 1.0, 0.0, 0.0],
        [4.0, 2.0, 4.0, 2.0, 0.5, 0.0],
        [2.0, 5.5, 4.0, 2.0, 0.0, 0.0],
    ]
