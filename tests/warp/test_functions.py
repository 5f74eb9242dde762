"""Functions of Warp's libraries that kernels call: what they compute, as the GPU would and in the interpreter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kbuild.warp as wp
from tests.helpers.both_ways import BothWays

SPARSE = """
import kbuild.warp as wp


@wp.kernel
def look(offsets: wp.array[int], columns: wp.array[int], rows: wp.array[int], found: wp.array2d[int]):
    block = wp.tid() / 4
    column = wp.tid() % 4
    row = wp.sparse.bsr_row_index(offsets, offsets.shape[0] - 1, block - 1)
    if column == 0:
        rows[block] = row
    found[block, column] = wp.sparse.bsr_block_index(row, column, offsets, columns)
"""


def test_blocks_of_a_sparse_matrix(tmp_path: Path) -> None:
    offsets = np.array([0, 2, 2, 5, 6], np.int32)
    columns = np.array([1, 3, 0, 2, 3, 1], np.int32)
    rows, found = np.full(8, -7, np.int32), np.full((8, 4), -7, np.int32)
    BothWays(tmp_path, SPARSE)(32, offsets, columns, rows, found)
    wanted = [-1, 0, 0, 2, 2, 2, 3, -1]
    assert rows.tolist() == wanted
    stored = {(row, columns[i]): i for row in range(4) for i in range(offsets[row], offsets[row + 1])}
    assert found.tolist() == [[stored.get((row, column), -1) for column in range(4)] for row in wanted]


EIGEN = """
import kbuild.warp as wp


matrix = wp.types.matrix((N, N), wp.float64)
vector = wp.types.vector(N, wp.float64)


@wp.kernel
def decompose(a: wp.array(dtype=matrix), p: wp.array(dtype=matrix), d: wp.array(dtype=vector)):
    i = wp.tid()
    values, vectors = wp.fem.linalg.symmetric_eigenvalues_qr(a[i], wp.float64(1.0e-14))
    d[i] = values
    p[i] = vectors
"""


@pytest.mark.parametrize("size", [2, 3, 6])
def test_eigenvalues_of_symmetric_matrices(tmp_path: Path, size: int) -> None:
    numbers = np.random.default_rng(size)
    a = numbers.normal(size=(12, size, size))
    a += a.transpose(0, 2, 1)
    a[0], a[1], a[2] = np.eye(size), 0.0, np.diag(np.arange(size))
    a[3] = np.outer(a[4][0], a[4][0])
    p, d = np.zeros_like(a), np.zeros((12, size))
    BothWays(tmp_path, EIGEN.replace("N", str(size)))(12, a, p, d)
    assert np.allclose(p @ p.transpose(0, 2, 1), np.eye(size), atol=1e-12)
    assert np.allclose(p.transpose(0, 2, 1) @ (d[:, :, None] * p), a, atol=1e-12)


def test_constants_of_finite_elements() -> None:
    import kbuild.warp as wp

    assert (wp.fem.NULL_ELEMENT_INDEX, wp.fem.NULL_NODE_INDEX, wp.fem.OUTSIDE) == (-1, 2**31 - 1, -1.0e8)


@wp.func
def divided(x: wp.float64):  # type: ignore[no-untyped-def]
    return x / wp.float64(2.0)


@wp.func
def turned(v: wp.vec3, s: float):  # type: ignore[no-untyped-def]
    return v * s


@wp.func
def applied(g: wp.Function, x: float):  # type: ignore[no-untyped-def]
    return g(x)


def test_wrong_arguments_on_the_host() -> None:
    for function, arguments in ((divided, (1.0,)), (turned, (1.0, 2.0)), (applied, (lambda x: x, 3.0))):
        message = f"^Error calling function '{function.__name__}', no overload found for arguments"
        with pytest.raises(RuntimeError, match=message):
            function(*arguments)
    assert divided(wp.float64(3.0)) == 1.5
    assert turned(wp.vec3(1.0), 2) == (2.0, 2.0, 2.0)
    assert applied(wp.sin, 0.0) == 0.0
