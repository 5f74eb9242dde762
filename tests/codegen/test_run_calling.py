"""Stars, `dtype`, tuples inside results, names for what is known while building: as the GPU would run them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.both_ways import BothWays

PROGRAM = """
from typing import Any

FACTOR = 3


@kb.func
def split(x: float):
    if x > 2.0:
        return -1, (x, (x + 1.0, 2.0))
    return 1, (0.5 * x, (3.0, x))


@kb.func
def zero_of(a: kb.array(dtype=Any)):
    return a.dtype(0) + a.dtype(0.0)


@kb.func
def total(v: kb.types.vector(length=Any, dtype=float)):
    result = v.dtype(0.0)
    for i in range(kb.static(len(v))):
        result += v[i]
    return result


@kb.kernel
def program(
    a: kb.array(dtype=float), v: kb.array(dtype=kb.vec3), flags: kb.array(dtype=kb.bool_), out: kb.array2d(dtype=float)
):
    i = kb.tid()
    n, (x, (y, z)) = split(a[i])
    out[i, 0] = float(n) + x * 10.0 + y * 100.0 + z * 1000.0
    q = kb.quat(*v[i], 1.0)
    s = kb.spatial_vector(*v[i], *q[0:3])
    out[i, 1] = total(s) + q.w
    out[i, 2] = v.dtype(v.dtype.dtype(0.0))[1] + zero_of(a) + kb.max(*v[i][1:3])
    WIDTH = kb.static(FACTOR * 2)
    half = kb.static(split)
    m, (b, _) = half(a[i])
    out[i, 3] = kb.static(WIDTH * 0.25) + float(WIDTH) + float(m) + b
    if flags[i] == 0:
        out[i, 4] = 1.0
    if flags[i] != 1:
        out[i, 4] = out[i, 4] + 2.0
    _ = (n, x)
"""


def test_a_program(tmp_path: Path) -> None:
    a = np.array([1.0, 3.0, 2.5], np.float32)
    v = np.arange(9, dtype=np.float32).reshape(3, 3)
    flags, out = np.array([0, 1, 0], np.bool_), np.zeros((3, 5), np.float32)
    BothWays(tmp_path, PROGRAM)(3, a, v, flags, out)
    for i, x in enumerate(a):
        n, inner = (-1, (x, (x + 1, 2))) if x > 2 else (1, (0.5 * x, (3, x)))
        assert out[i, 0] == pytest.approx(n + inner[0] * 10 + inner[1][0] * 100 + inner[1][1] * 1000)
        assert out[i, 1] == 2 * v[i].sum() + 1
        assert out[i, 2] == v[i, 1:].max()
        assert out[i, 3] == pytest.approx(1.5 + 6 + n + inner[0])
        assert out[i, 4] == (0 if flags[i] else 3)


BETWEEN = """
@kb.kernel
def between(
    a: kb.array(dtype=kb.vec3d),
    b: kb.array(dtype=kb.vec3d),
    out: kb.array(dtype=kb.vec3d),
    w: kb.array(dtype=kb.float64),
):
    i = kb.tid()
    q = kb.quat_between_vectors(a[i], b[i])
    out[i] = kb.quat_rotate(q, kb.normalize(a[i]))
    w[i] = kb.length(q)
"""


def test_the_rotation_between_vectors(tmp_path: Path) -> None:
    import kbuild as kb

    numbers = np.random.default_rng(1)
    a = numbers.normal(size=(40, 3))
    b = numbers.normal(size=(40, 3))
    b[:5], a[5:8], b[5:8] = -3.0 * a[:5], np.eye(3), -np.eye(3)
    out, w = np.zeros_like(a), np.zeros(40)
    BothWays(tmp_path, BETWEEN)(40, a, b, out, w)
    assert np.allclose(out, b / np.linalg.norm(b, axis=1, keepdims=True), atol=1e-9)
    assert np.allclose(w, 1.0)
    for one, other, turned in zip(a, b, out, strict=True):
        q = kb.quat_between_vectors(kb.vec3d(*one), kb.vec3d(*other))
        assert kb.quat_rotate(q, kb.normalize(kb.vec3d(*one))) == pytest.approx(tuple(turned), abs=1e-9)
