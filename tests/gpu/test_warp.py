"""The Warp dialect on a GPU: Warp's names and arguments, on the host and in kernels."""

import struct

import pytest
from gpukernels import warpish

import kbuild.warp as wp

pytestmark = pytest.mark.gpu


def as_float(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def test_struct_parameters_are_copies():
    geom = warpish.Geom(size=wp.vec3(1.0, 2.0, 3.0), margin=2.0, index=wp.array([7], dtype=int))
    out, sizes = wp.zeros(4, dtype=float), wp.zeros(4, dtype=wp.vec3)
    wp.launch(warpish.copies, dim=4, inputs=[geom], outputs=[out, sizes])
    assert out.tolist() == [2.0 + i + 2000.0 + 3.5 for i in range(4)]
    assert [tuple(v) for v in sizes.tolist()] == [(i * 1.0, i * 2.0, i * 3.0) for i in range(4)]
    assert geom.margin == 2.0


def test_fuse_fp_of_module_options():
    numbers = [as_float(1.0 + 2.0**-13 * k) for k in range(8)]
    a = wp.array(numbers, dtype=float)
    out = wp.zeros_like(a)
    wp.launch(warpish.unfused, dim=8, inputs=[a, out])
    assert out.tolist() == [as_float(as_float(x * x) - 1.0) for x in numbers]


def test_sparse_matrices():
    offsets, columns = [0, 2, 2, 5, 6], [1, 3, 0, 2, 3, 1]
    rows, found = wp.full(7, -7, dtype=int), wp.full((7, 4), -7, dtype=int)
    inputs = [wp.array(offsets, dtype=int), wp.array(columns, dtype=int), rows, found]
    wp.launch(warpish.sparse, dim=(7, 4), inputs=inputs)
    assert rows.tolist() == [0, 0, 2, 2, 2, 3, -1]
    stored = {(r, columns[i]): i for r in range(4) for i in range(offsets[r], offsets[r + 1])}
    assert found.tolist() == [[stored.get((row, column), -1) for column in range(4)] for row in rows.tolist()]


def test_eigenvalues():
    a = [
        wp.mat33d(2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 5.0),
        wp.mat33d(4.0, 1.0, -2.0, 1.0, 3.0, 0.5, -2.0, 0.5, 1.0),
    ]
    given = wp.array(a, dtype=wp.mat33d)
    p, d = wp.zeros_like(given), wp.zeros(2, dtype=wp.vec3d)
    wp.launch(warpish.eigen, dim=2, inputs=[given, p, d])
    assert sorted(d.tolist()[0]) == pytest.approx([1.0, 3.0, 5.0], abs=1e-12)
    for matrix, rows, values in zip(a, p.tolist(), d.tolist()):
        for i in range(3):
            for j in range(3):
                again = sum(rows[k][i] * values[k] * rows[k][j] for k in range(3))
                assert again == pytest.approx(matrix[i][j], abs=1e-12)


def test_rotations_between_vectors():
    a = [wp.vec3(1.0, 0.0, 0.0), wp.vec3(0.0, 0.0, 1.0), wp.vec3(0.6, 0.8, 0.0), wp.vec3(0.0, 1.0, 0.0)]
    b = [wp.vec3(0.0, 1.0, 0.0), wp.vec3(0.0, 0.0, -1.0), wp.vec3(-0.6, -0.8, 0.0), wp.vec3(0.0, 1.0, 0.0)]
    out = wp.zeros(4, dtype=wp.vec3)
    wp.launch(warpish.between, dim=4, inputs=[wp.array(a, dtype=wp.vec3), wp.array(b, dtype=wp.vec3), out])
    for found, wanted in zip(out.tolist(), b):
        assert tuple(found) == pytest.approx(tuple(wanted), abs=1e-6)


def test_vectors_by_another_name():
    a = wp.array([warpish.vec5(1.0, 2.0, 3.0, 4.0, 5.0), warpish.vec5()], dtype=warpish.vec5)
    out = wp.zeros(2, dtype=float)
    wp.launch(warpish.fives, dim=2, inputs=[a], outputs=[out])
    assert out.tolist() == [65.0, -1.0]
