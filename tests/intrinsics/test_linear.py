"""Vectors and matrices: norms, determinants, inverses and their kin, against numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import and_, or_, xor
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.both_ways import BothWays, zeros

Body = Callable[[str, str], BothWays]
RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("suffix", ["f", "d"])
def test_norms(body: Body, suffix: str) -> None:
    kind = {"f": np.float32, "d": np.float64}[suffix]
    run = body(
        f"v: kb.array(dtype=kb.vec4{suffix}), out: kb.array2d(dtype={'float' if suffix == 'f' else 'kb.float64'}), "
        f"unit: kb.array(dtype=kb.vec4{suffix})",
        """
        out[i, 0] = kb.norm_l1(v[i])
        out[i, 1] = kb.norm_l2(v[i])
        out[i, 2] = kb.norm_huber(v[i])
        out[i, 3] = kb.norm_huber(v[i], 2.5)
        out[i, 4] = kb.norm_huber(v[i], delta=0.5)
        out[i, 5] = kb.norm_pseudo_huber(v[i])
        out[i, 6] = kb.norm_pseudo_huber(v[i], 2.5)
        unit[i] = kb.smooth_normalize(v[i], 2.0)
        """,
    )
    v = RANDOM.uniform(-1.5, 1.5, (30, 4)).astype(kind)
    out, unit = zeros(30, 7, kind=kind), zeros(30, 4, kind=kind)
    run(30, v, out, unit)
    for row, x, u in zip(out, v.astype(np.float64), unit, strict=True):
        length = math.sqrt((x**2).sum())
        huber = [0.5 * length**2 if length <= d else d * (length - 0.5 * d) for d in (1.0, 2.5, 0.5)]
        pseudo = [d * math.sqrt(1.0 + (length / d) ** 2) for d in (1.0, 2.5, 2.0)]
        wanted = [np.abs(x).sum(), length, *huber, *pseudo[:2]]
        assert row == pytest.approx(wanted, rel=1e-5 if suffix == "f" else 1e-13)
        assert u == pytest.approx(x / pseudo[2], rel=1e-5)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("suffix", ["f", "d"])
def test_square_matrices(body: Body, size: int, suffix: str) -> None:
    kind = {"f": np.float32, "d": np.float64}[suffix]
    scalar = "float" if suffix == "f" else "kb.float64"
    mat, vec = f"kb.mat{size}{size}{suffix}", f"kb.vec{size}{suffix}"
    run = body(
        f"m: kb.array(dtype={mat}), s: kb.array2d(dtype={scalar}), r: kb.array2d(dtype={mat}), "
        f"d: kb.array(dtype={vec})",
        f"""
        s[i, 0] = kb.determinant(m[i])
        s[i, 1] = kb.trace(m[i])
        s[i, 2] = kb.ddot(m[i], kb.transpose(m[i]))
        r[i, 0] = kb.inverse(m[i])
        r[i, 1] = kb.diag(kb.get_diag(m[i]))
        r[i, 2] = kb.identity({size}, {scalar}) + kb.identity(n={size}, dtype={scalar}) * 2.0
        r[i, 3] = kb.outer(m[i][0], m[i][1])
        r[i, 4] = kb.mul(m[i], m[i])
        d[i] = kb.get_diag(m[i]) + kb.mul(m[i], m[i][0])
        """,
    )
    m = RANDOM.uniform(-2.0, 2.0, (20, size, size)).astype(kind)
    m[0] = np.eye(size)
    m[1] = 0.0
    s, r, d = zeros(20, 3, kind=kind), zeros(20, 5, size, size, kind=kind), zeros(20, size, kind=kind)
    run(20, m, s, r, d)
    exact = m.astype(np.float64)
    bound = 2e-5 if suffix == "f" else 1e-12
    for i, x in enumerate(exact):
        det = np.linalg.det(x)
        assert s[i] == pytest.approx([det, np.trace(x), (x * x.T).sum()], abs=bound * 10)
        if i == 1:
            assert not r[i, 0].any()
        else:
            wanted = np.linalg.inv(x)
            assert np.abs(r[i, 0] - wanted).max() < bound * np.abs(wanted).max() * np.linalg.cond(x)
        assert np.array_equal(r[i, 1], np.diag(np.diag(m[i])))
        assert np.array_equal(r[i, 2], 3.0 * np.eye(size))
        assert r[i, 3] == pytest.approx(np.outer(x[0], x[1]), rel=1e-6)
        assert np.abs(r[i, 4] - x @ x).max() < bound
        assert np.abs(d[i] - np.diag(x) - x @ x[0]).max() < bound


def test_skew_is_the_cross_product(body: Body) -> None:
    run = body(
        "v: kb.array(dtype=kb.vec3)", "v[2] = kb.skew(v[0]) @ v[1] - kb.cross(v[0], v[1])\nv[3] = kb.skew(v[0])[0]"
    )
    v = np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 0.5], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0]], np.float32)
    run(1, v)
    assert v[2].tolist() == [0.0, 0.0, 0.0]
    assert v[3].tolist() == [0.0, -3.0, 2.0]


def test_one_value_of_a_vector(body: Body) -> None:
    run = body(
        "v: kb.array(dtype=kb.vec4), w: kb.array(dtype=kb.vec3i), out: kb.array2d(dtype=float), "
        "n: kb.array(dtype=kb.uint32)",
        """
        out[i, 0] = kb.min(v[i])
        out[i, 1] = kb.max(v[i])
        out[i, 2] = 1.0 if kb.isnan(v[i]) else 0.0
        out[i, 3] = 1.0 if kb.isinf(v[i]) else 0.0
        out[i, 4] = 1.0 if kb.isfinite(v[i]) else 0.0
        out[i, 5] = float(kb.max(w[i]) - kb.min(w[i]))
        out[i, 6] = kb.dot(kb.sign(v[i]), kb.vec4(1.0, 2.0, 4.0, 8.0))
        n[i] = kb.argmin(v[i]) * kb.uint32(10) + kb.argmax(v[i])
        """,
    )
    nan, inf = math.nan, math.inf
    v = np.array([[3, -1, 7, 7], [nan, 2, -5, 0], [1, inf, -inf, 0]], np.float32)
    w = np.array([[3, -4, 5], [0, 0, 0], [-7, -8, -9]], np.int32)
    out, n = zeros(3, 7), zeros(3, kind=np.uint32)
    run(3, v, w, out, n)
    assert out[:, :2].tolist() == [[-1.0, 7.0], [-5.0, 2.0], [-inf, inf]]
    assert out[:, 2:5].tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert out[:, 5].tolist() == [9.0, 0.0, 2.0]
    assert out[:, 6].tolist() == [11.0, 7.0, 7.0]
    assert n.tolist() == [12, 0, 21]


def test_matrices_have_signs_and_flags(body: Body) -> None:
    run = body(
        "m: kb.array(dtype=kb.mat22), out: kb.array(dtype=bool)",
        """
        out[0] = kb.isnan(m[0])
        out[1] = kb.isfinite(m[1])
        out[2] = kb.isinf(m[1])
        m[0] = kb.sign(m[1])
        """,
    )
    m = np.array([[[1, 2], [3, math.nan]], [[-1, 2], [0, -4]]], np.float32)
    out = np.zeros(3, np.bool_)
    run(1, m, out)
    assert out.tolist() == [True, True, False]
    assert m[0].tolist() == [[-1.0, 1.0], [1.0, -1.0]]


def closest(p1: np.ndarray, q1: np.ndarray, p2: np.ndarray, q2: np.ndarray) -> float:
    """The distance of two edges: the least over their ends and, where it lies inside, the common perpendicular."""

    def to_edge(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
        d = b - a
        t = np.clip(d @ (p - a) / (d @ d), 0, 1) if d @ d > 0 else 0.0
        return float(np.linalg.norm(a + t * d - p))

    found = [to_edge(p1, p2, q2), to_edge(q1, p2, q2), to_edge(p2, p1, q1), to_edge(q2, p1, q1)]
    both = np.stack([q1 - p1, p2 - q2], axis=1)
    (s, t), *_ = np.linalg.lstsq(both, p2 - p1, rcond=None)
    if 0 <= s <= 1 and 0 <= t <= 1:
        found.append(float(np.linalg.norm(p1 + s * (q1 - p1) - p2 - t * (q2 - p2))))
    return min(found)


def test_closest_points_of_edges(body: Body) -> None:
    run = body(
        "p: kb.array2d(dtype=kb.vec3), out: kb.array(dtype=kb.vec3)",
        "out[i] = kb.closest_point_edge_edge(p[i, 0], p[i, 1], p[i, 2], p[i, 3], 1.0e-6)",
    )
    p = RANDOM.uniform(-1.0, 1.0, (300, 4, 3)).astype(np.float32)
    p[0, 1] = p[0, 0]  # an edge that is a point
    p[1, 3] = p[1, 2]
    p[2, 1], p[2, 3] = p[2, 0], p[2, 2]
    p[3, 2:] = p[3, :2] + np.float32(1.0)  # parallel
    p[4, 2:] = p[4, :2]  # the same
    out = zeros(300, 3)
    run(300, p, out)
    for points, (s, t, distance) in zip(p.astype(np.float64), out.astype(np.float64), strict=True):
        p1, q1, p2, q2 = points
        assert 0.0 <= s <= 1.0
        assert 0.0 <= t <= 1.0
        assert distance == pytest.approx(np.linalg.norm(p1 + s * (q1 - p1) - p2 - t * (q2 - p2)), abs=1e-5)
        assert distance == pytest.approx(closest(p1, q1, p2, q2), abs=1e-4)


@pytest.mark.parametrize("kind", ["int", "float", "kb.uint8", "kb.float64"])
def test_lower_bound(body: Body, kind: str) -> None:
    dtype = {"int": np.int32, "float": np.float32, "kb.uint8": np.uint8, "kb.float64": np.float64}[kind]
    run = body(
        f"a: kb.array(dtype={kind}), values: kb.array(dtype={kind}), out: kb.array2d(dtype=int)",
        """
        out[i, 0] = kb.lower_bound(a, values[i])
        out[i, 1] = kb.lower_bound(a, 2, 5, values[i])
        out[i, 2] = kb.lower_bound(a, 3, 3, values[i])
        out[i, 3] = kb.lower_bound(a, 5)
        """,
    )
    a = np.array([1, 3, 3, 5, 8, 8, 9], dtype)
    values = np.array([0, 1, 2, 3, 5, 7, 8, 9, 10], dtype)
    out = zeros(len(values), 4, kind=np.int32)
    run(len(values), a, values, out)
    assert out[:, 0].tolist() == np.searchsorted(a, values).tolist()
    assert out[:, 1].tolist() == (2 + np.searchsorted(a[2:5], values)).tolist()
    assert set(out[:, 2].tolist()) == {3}
    assert set(out[:, 3].tolist()) == {3}


def test_lower_bound_of_nothing(body: Body) -> None:
    run = body("a: kb.array(dtype=int), out: kb.array(dtype=int)", "out[0] = kb.lower_bound(a, 3)")
    out = np.array([7], np.int32)
    run(1, zeros(0, kind=np.int32), out)
    assert out[0] == 0


OPERATORS = {
    "kb.add(a, b)": "a + b",
    "kb.sub(a, b)": "a - b",
    "kb.mul(a, b)": "a * b",
    "kb.div(a, b)": "a / b",
    "kb.floordiv(a, b)": "a // b",
    "kb.mod(a, b)": "a % b",
    "kb.neg(a)": "-a",
    "kb.pos(a)": "+a",
    "kb.select(a < b, 1, a)": "a if a < b else 1",
    "kb.where(kb.unot(a < b), 1, a)": "1 if not a < b else a",
    "kb.nonzero(a)": "type(a)(1) if a != 0 else type(a)(0)",
}
BITS = {
    "kb.lshift(a, b)": "a << b",
    "kb.rshift(a, b)": "a >> b",
    "kb.bit_and(a, b)": "a & b",
    "kb.bit_or(a, b)": "a | b",
    "kb.bit_xor(a, b)": "a ^ b",
    "kb.invert(a)": "~a",
}


@pytest.mark.parametrize("kind", ["int", "float"])
def test_operators_by_name(body: Body, kind: str) -> None:
    table = OPERATORS | (BITS if kind == "int" else {})
    lines = [f"out[{n}, 0] = {by_name}\nout[{n}, 1] = {sign}" for n, (by_name, sign) in enumerate(table.items())]
    run = body(f"a: {kind}, b: {kind}, out: kb.array2d(dtype={kind})", "\n".join(lines))
    for a, b in ((7, 2), (-7, 2), (0, 3), (2, 7)):
        out = zeros(len(table), 2, kind=np.int32 if kind == "int" else np.float32)
        run(1, a if kind == "int" else float(a), b if kind == "int" else float(b), out)
        assert out[:, 0].tolist() == out[:, 1].tolist()


def test_smoothstep_and_inverse_error_functions(body: Body) -> None:
    run = body(
        "x: kb.array(dtype=kb.float64), out: kb.array2d(dtype=kb.float64)",
        """
        out[i, 0] = kb.smoothstep(-0.5, 0.5, x[i])
        out[i, 1] = kb.erf(kb.erfinv(x[i]))
        out[i, 2] = kb.erfc(kb.erfcinv(1.0 - x[i]))
        """,
    )
    x = np.array([-1.0, -0.999, -0.5, -0.1, 0.0, 1e-9, 0.3, 0.75, 1.0])
    out = zeros(len(x), 3, kind=np.float64)
    run(len(x), x, out)
    t = np.clip(x + 0.5, 0, 1)
    assert out[:, 0] == pytest.approx(t * t * (3 - 2 * t), abs=1e-15)
    assert out[:, 1] == pytest.approx(x, rel=1e-12)
    assert out[:, 2] == pytest.approx(1.0 - x, rel=1e-12)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_bits_of_every_width(body: Body, kind: str) -> None:
    run = body(
        f"x: kb.array(dtype=kb.{kind}), out: kb.array(dtype=int), cells: kb.array(dtype=kb.{kind})",
        """
        out[i] = kb.bit_count(x[i])
        cells[0] &= x[i]
        cells[1] |= x[i]
        cells[2] ^= x[i]
        kb.atomic_and(cells, 3, x[i])
        kb.atomic_or(cells, 4, x[i])
        kb.atomic_xor(cells, 5, x[i])
        """,
    )
    dtype = np.dtype(kind)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([0, 1, 5, high, low, high // 3, 7], dtype)
    out, cells = zeros(len(x), kind=np.int32), np.array([high, 0, 5] * 2, dtype)
    run(len(x), x, out, cells)
    mask = (1 << 8 * dtype.itemsize) - 1
    assert out.tolist() == [bin(int(value) & mask).count("1") for value in x]
    values = [int(value) for value in x]
    wanted = [reduce(and_, values, high), reduce(or_, values, 0), reduce(xor, values, 5)]
    assert cells.tolist() == wanted * 2


@pytest.mark.parametrize("kind", ["float", "kb.float64", "kb.float16"])
def test_arc_functions_cut_their_argument(body: Body, kind: str) -> None:
    dtype = {"float": np.float32, "kb.float64": np.float64, "kb.float16": np.float16}[kind]
    run = body(
        f"x: kb.array(dtype={kind}), out: kb.array2d(dtype={kind})",
        "out[i, 0] = kb.acos(x[i])\nout[i, 1] = kb.asin(x[i])",
    )
    x = np.array([-7.0, -1.0, -0.5, 1.0, 1.25, math.inf, math.nan], dtype)
    out = zeros(len(x), 2, kind=dtype)
    run(len(x), x, out, tolerance=1e-3 if kind == "kb.float16" else 1e-5)
    cut = np.clip(x.astype(np.float64), -1.0, 1.0)
    np.testing.assert_allclose(out, np.stack([np.arccos(cut), np.arcsin(cut)], axis=1), rtol=2e-3, atol=2e-3)


def test_bits_of_vectors_are_atomic_too(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def one(v: kb.array(dtype=kb.vec2i)):
            v[0] |= kb.vec2i(1 << kb.tid(), 1)
            v[1].y ^= 1 << kb.tid()
        """,
    )
    v = zeros(2, 2, kind=np.int32)
    run(5, v)
    assert v.tolist() == [[31, 1], [0, 31]]
    assert "atomic_xor" in run.module.source
