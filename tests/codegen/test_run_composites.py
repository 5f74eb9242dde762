"""Vectors and matrices of every size, quaternions, transforms and spatial vectors, beside NumPy and the host's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.ir.types import FLOAT32, Type, Vector
from kbuild.loader import abi
from kbuild.sim.threads import run as simulate
from kbuild.sim.values import Memory
from tests.helpers import kernels
from tests.helpers.host_gpu import HostModule, device

Run = Callable[..., None]


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[[str], Run]:
    """`compiled(text)` gives `run(*arrays)` for the one kernel in the text; one thread, simulated too."""

    def make(text: str) -> Run:
        (kernel,) = kernels.lower_text(tmp_path, text)
        module = HostModule([kernel], tmp_path)

        def run(*arrays: np.ndarray) -> None:
            memories = [memory(p.type, a) for p, a in zip(kernel.function.parameters, arrays, strict=True)]
            simulate(kernel, (1,), memories)
            module.launch(kernel.name, 1, [device(a) for a in arrays])
            for simulated, array in zip(memories, arrays, strict=True):
                np.testing.assert_allclose(
                    np.array(simulated.data, array.dtype), array, rtol=2e-3 if array.itemsize == 2 else 1e-5, atol=1e-6
                )

        return run

    return make


def memory(type: Type, array: np.ndarray) -> Memory:
    assert isinstance(type, abi.Array)
    return Memory(type.element, (len(array),), array.tolist())


def numbers(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2.0, 2.0, shape).astype(dtype)


TYPES = """
mat23 = kb.types.matrix(shape=(2, 3), dtype=float)
mat34 = kb.types.matrix((3, 4), float)
mat24 = kb.types.matrix((2, 4), float)
mat32 = kb.types.matrix((3, 2), float)
"""


def test_products_of_all_fitting_shapes(compiled: Any) -> None:
    run = compiled(
        TYPES
        + """
@kb.kernel
def products(a: kb.array(dtype=mat23), b: kb.array(dtype=mat34), v: kb.array(dtype=kb.vec3), u: kb.array(dtype=kb.vec2),
             ab: kb.array(dtype=mat24), t: kb.array(dtype=mat32)):
    ab[0] = a[0] @ b[0]
    ab[1] = a[0] * b[0]
    u[1] = a[0] @ v[0]
    u[2] = a[0] * v[0]
    v[1] = u[0] @ a[0]
    v[2] = u[0] * a[0]
    t[0] = kb.transpose(a[0])
    v[3] = a[0][1]
    u[3] = kb.vec2(a[0][0, 2], a[0][-1, -1])
    i = kb.tid()
"""
    )
    a, b, v, u, ab, t = (
        numbers(1, 2, 3),
        numbers(1, 3, 4),
        numbers(4, 3),
        numbers(4, 2),
        numbers(2, 2, 4),
        numbers(1, 3, 2),
    )
    run(a, b, v, u, ab, t)
    for product in ab:
        np.testing.assert_allclose(product, a[0] @ b[0], rtol=1e-5, atol=1e-6)
    for column in u[1:3]:
        np.testing.assert_allclose(column, a[0] @ v[0], rtol=1e-5, atol=1e-6)
    for row in v[1:3]:
        np.testing.assert_allclose(row, u[0] @ a[0], rtol=1e-5, atol=1e-6)
    assert (t[0] == a[0].T).all()
    assert (v[3] == a[0][1]).all()
    assert u[3].tolist() == [a[0, 0, 2], a[0, 1, 2]]


def test_constructors(compiled: Any) -> None:
    run = compiled(
        TYPES
        + """
@kb.kernel
def made(a: kb.array(dtype=mat23), t: kb.array(dtype=mat32), v: kb.array(dtype=kb.vec3), d: kb.array(dtype=kb.vec3d),
         s: kb.array(dtype=kb.spatial_vector), o: kb.array(dtype=kb.vector_of_one)):
    x, y = v[0], v[1]
    a[0] = kb.matrix_from_rows(x, y)
    t[0] = kb.matrix_from_cols(x, y)
    a[1] = mat23(1.0)
    a[2] = mat23(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    a[3] = kb.matrix(x[0], x[1], x[2], 4, 5, 6, shape=(2, 3))
    a[4] = kb.types.matrix(shape=(2, 3), dtype=float)()
    a[5] = kb.matrix(shape=(2, 3), dtype=float)
    v[2] = kb.vector(x[0], 2, 3)
    v[3] = kb.vector(7.0, length=3)
    v[4] = kb.vector(x)
    d[0] = kb.vec3d(x)
    d[1] = kb.vector(1, 2, 3, dtype=kb.float64)
    s[0] = kb.spatial_vector(x, y)
    s[1] = kb.spatial_vector(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    o[0] = kb.vector(5.0)
    i = kb.tid()
""".replace("kb.vector_of_one", "kb.types.vector(length=1, dtype=float)")
    )
    a, t, v, d = numbers(6, 2, 3), numbers(1, 3, 2), numbers(5, 3), numbers(2, 3, dtype=np.float64)
    s, o = numbers(2, 6), numbers(1, 1)
    run(a, t, v, d, s, o)
    assert (a[0] == v[:2]).all()
    assert (t[0] == v[:2].T).all()
    assert (a[1] == 1.0).all()
    assert a[2].tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert a[3].tolist() == [v[0].tolist(), [4.0, 5.0, 6.0]]
    assert (a[4:] == 0.0).all()
    assert v[2].tolist() == [v[0, 0], 2.0, 3.0]
    assert (v[3] == 7.0).all()
    assert (v[4] == v[0]).all()
    assert (d[0] == v[0]).all()
    assert d[1].tolist() == [1.0, 2.0, 3.0]
    assert (s[0] == v[:2].ravel()).all()
    assert s[1].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert o.tolist() == [[5.0]]


def test_slices(compiled: Any) -> None:
    run = compiled(
        TYPES
        + """
vec5i = kb.types.vector(5, int)
vec3i = kb.types.vector(3, int)
LAST = 5

@kb.kernel
def sliced(five: kb.array(dtype=vec5i), three: kb.array(dtype=vec3i), m: kb.array(dtype=mat34),
           a: kb.array(dtype=mat23), u: kb.array(dtype=kb.vec4), w: kb.array(dtype=kb.vec2)):
    v = five[0]
    three[0] = v[1:4]
    three[1] = five[0][2:LAST]
    three[2] = v[::2]
    three[3] = v[:-2]
    three[4] = v[4:1:-1]
    a[0] = m[0][0:2, 1:]
    u[0] = m[0][2, :]
    k = three[0][0] % 3
    w[0] = m[0][0:2, k]
    a[1] = m[0][0:2][:, 0:3]
    v[0:3] = v[1:4]
    five[1] = v
    five[2][1:4] = three[0]
    a[2][:, 0] = w[0]
    a[3] = m[0][0:2, 1:]
    a[3][0:1, 0:2] = kb.matrix(8.0, shape=(1, 2))
    i = kb.tid()
"""
    )
    five = np.arange(15, dtype=np.int32).reshape(3, 5)
    three, m, a = np.zeros((5, 3), np.int32), numbers(1, 3, 4), numbers(4, 2, 3, seed=1)
    u, w, before = numbers(1, 4), numbers(1, 2), five[0].copy()
    untouched = a[2].copy()
    run(five, three, m, a, u, w)
    assert three.tolist() == [[1, 2, 3], [2, 3, 4], [0, 2, 4], [0, 1, 2], [4, 3, 2]]
    assert (a[0] == m[0][0:2, 1:]).all()
    assert (u[0] == m[0][2]).all()
    assert (w[0] == m[0][0:2, 1]).all()
    assert (a[1] == m[0][0:2, 0:3]).all()
    assert five[1].tolist() == [1, 2, 3, 3, 4]
    assert five[2].tolist() == [10, 1, 2, 3, 14]
    assert (five[0] == before).all()
    assert (a[2] == np.column_stack([w[0], untouched[:, 1:]])).all()
    assert a[3].tolist() == [[8.0, 8.0, m[0, 0, 3]], m[0, 1, 1:].tolist()]


def test_an_index_may_change_what_is_sliced(compiled: Any) -> None:
    run = compiled(
        TYPES
        + """
@kb.func
def changes(m: kb.array(dtype=mat23)):
    m[0][0, 1] = 9.0
    return 1

@kb.kernel
def sliced(m: kb.array(dtype=mat23), u: kb.array(dtype=kb.vec2)):
    u[0] = m[0][:, changes(m)]
    u[1] = m[0][:, 1]
    m[1][0:1, changes(m)] = kb.vector(4.0)
    i = kb.tid()
"""
    )
    m, u = numbers(2, 2, 3), numbers(2, 2)
    before = m.copy()
    run(m, u)
    assert u.tolist() == [before[0, :, 1].tolist(), [9.0, before[0, 1, 1]]]
    assert m[1, 0].tolist() == [before[1, 0, 0], 4.0, before[1, 0, 2]]


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 7), (5, 4), (6, 6), (12, 11), (128, 1)])
def test_any_size(compiled: Any, rows: int, columns: int) -> None:
    run = compiled(f"""
big = kb.types.matrix(shape=({rows}, {columns}), dtype=float)

@kb.kernel
def large(m: kb.array(dtype=big)):
    a, b = m[0], m[1]
    m[2] = a + b
    m[3] = a * 2.0 - b
    m[4] = -a
    m[5] = big(3.0)
    m[6] = big()
    m[7] = kb.cw_mul(a, b)
    m[8] = kb.transpose(kb.transpose(a))
    m[9] += a
    i = kb.tid()
""")
    m = numbers(10, rows, columns)
    before = m.copy()
    run(m)
    a, b = before[:2]
    wanted = [a + b, a * 2 - b, -a, np.full_like(a, 3.0), np.zeros_like(a), a * b, a, before[9] + a]
    np.testing.assert_allclose(m[2:], wanted, rtol=1e-6, atol=1e-6)


def test_large_composites_are_loops(tmp_path: Path) -> None:
    text = """
big = kb.types.matrix(shape=(30, 30), dtype=float)

@kb.kernel
def large(m: kb.array(dtype=big), v: kb.array(dtype=kb.types.vector(128, float))):
    m[0] = (m[1] + m[2]) * 2.0 - big() - big(1.0) @ m[1]
    v[0] = v[1] - v[2]
    i = kb.tid()
"""
    source = kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source
    assert len(source) < 8000


def test_they_go_wherever_values_go(compiled: Any) -> None:
    """Captured, in structs, through functions and tuples, chosen, kept over a loop, added to atomically."""
    run = compiled("""
HOME = kb.transform((1.0, 2.0, 3.0), (0.0, 0.0, 1.0, 0.0))
TURN = kb.quat(1.0, 0.0, 0.0, 0.0)
WEIGHTS = kb.types.matrix(shape=(1, 3), dtype=float)(0.5, 1.5, 2.5)

@kb.struct
class Body:
    pose: kb.transform
    spin: kb.quat

@kb.func
def moved(body: Body, by: kb.transform):
    return by * body.pose, body.spin

@kb.kernel
def journey(t: kb.array(dtype=kb.transform), q: kb.array(dtype=kb.quat), v: kb.array(dtype=kb.vec3),
            yes: kb.array(dtype=int)):
    body = Body(t[0], TURN)
    t[1], q[1] = moved(body, HOME)
    body.pose.p = v[0]
    body.spin.w = 5.0
    t[2] = body.pose
    q[2] = body.spin
    t[3] = HOME if yes[0] > 0 else t[0]
    pose = kb.transform_identity()
    for k in range(4):
        pose = pose * HOME
    t[4] = pose
    t[5] += HOME
    kb.atomic_sub(t, 6, t[0])
    v[1] = (WEIGHTS * 2.0)[0]
    q[3] = kb.where(yes[0] == 0, TURN, -TURN)
    q[4] = Body().spin
    i = kb.tid()
""")
    t, q, v = numbers(7, 7), numbers(5, 4), numbers(2, 3)
    before, yes = t.copy(), np.ones(1, np.int32)
    home, first = kb.transform((1, 2, 3), (0, 0, 1, 0)), kb.transform(t[0].tolist())
    run(t, q, v, yes)
    np.testing.assert_allclose(t[1], home * first, rtol=1e-5)
    assert q[1:].tolist() == [[1, 0, 0, 0], [1, 0, 0, 5], [-1, 0, 0, 0], [0, 0, 0, 0]]
    assert t[2].tolist() == [*v[0].tolist(), *before[0, 3:].tolist()]
    assert t[3].tolist() == list(home)
    np.testing.assert_allclose(t[4], home * home * home * home, atol=1e-5)
    np.testing.assert_allclose(t[5], before[5] + np.array(home, np.float32), rtol=1e-6)
    np.testing.assert_allclose(t[6], before[6] - before[0], rtol=1e-6)
    assert v[1].tolist() == [1.0, 3.0, 5.0]


def test_nests_of_loops_unroll_up_to_a_limit(tmp_path: Path) -> None:
    """A product of 6 × 6 matrices unrolls; one of 12 × 12 keeps its outer loop, or it would take seconds to compile."""
    for size, pragmas in ((6, ["unroll"] * 3), (12, ["unroll 1", "unroll", "unroll"])):
        text = f"""
big = kb.types.matrix(shape=({size}, {size}), dtype=float)

@kb.kernel
def product(m: kb.array(dtype=big)):
    m[0] = m[1] @ m[2]
    i = kb.tid()
"""
        source = kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source
        assert re.findall(r'_Pragma\("(.*?)"\)', source.partition("namespace")[2]) == pragmas


RIGID = """
@kb.kernel
def rigid(q: kb.array(dtype=kb.quat), t: kb.array(dtype=kb.transform), v: kb.array(dtype=kb.vec3),
          s: kb.array(dtype=kb.spatial_vector), m: kb.array(dtype=kb.mat33), f: kb.array(dtype=kb.mat44),
          g: kb.array(dtype=kb.spatial_matrix), x: kb.array(dtype=float)):
    a, b = q[0], q[1]
    p, r = v[0], v[1]
    q[2] = a * b
    q[3] = kb.quat_inverse(a)
    q[4] = kb.quat_slerp(a, b, x[0])
    q[5] = kb.quat_from_axis_angle(p, x[0])
    q[6] = kb.quat_rpy(p[0], p[1], p[2])
    q[7] = kb.quat_from_euler(p, 2, 0, 1)
    q[8] = kb.quat_twist(kb.normalize(r), a)
    q[9] = kb.quat_from_matrix(m[0])
    q[10] = a * 2 + b * 0.5 - a / 4
    q[11] = kb.quat_identity(dtype=ELEMENT)
    q[12] = kb.quat(p, x[0])
    q[13] = kb.quaternion(a.x, a.y, a.z, a.w)
    v[2] = kb.quat_rotate(a, p)
    v[3] = kb.quat_rotate_inv(a, p)
    v[4], x[1] = kb.quat_to_axis_angle(a)
    v[5] = kb.quat_to_euler(a, 1, 2, 0)
    v[6] = kb.quat_to_rpy(b)
    m[1] = kb.quat_to_matrix(a)
    x[2] = kb.quat_twist_angle(kb.normalize(r), a)
    x[3] = kb.quat_twist_angle_signed(kb.normalize(r), b)
    y = kb.transform(p, a)
    z = kb.transform(p=r, q=b)
    t[0] = y * z
    t[1] = kb.transform_inverse(y)
    t[2] = kb.transform_identity(dtype=ELEMENT)
    t[3] = y + z * 2.0
    t[4] = kb.transformation(y.p, z.q)
    t[5] = kb.transform_multiply(z, y)
    z.p = kb.transform_get_translation(y)
    z.q = kb.transform_get_rotation(y)
    t[6] = z
    t[7] = kb.transform_from_matrix(kb.transform_to_matrix(y))
    t[8].p = p
    t[9] = kb.transform()
    v[7] = kb.transform_point(y, r)
    v[8] = kb.transform_vector(y, r)
    f[0] = kb.transform_compose(p, a, kb.cw_mul(r, r) + kb.vec3(0.5))
    f[1] = kb.transform_to_matrix(y)
    v[9], q[14], v[10] = kb.transform_decompose(f[0])
    v[11] = kb.transform_point(f[0], r)
    v[12] = kb.transform_vector(f[0], r)
    s[2] = kb.spatial_vector(p, r)
    s[3] = kb.spatial_cross(s[0], s[1])
    s[4] = kb.spatial_cross_dual(s[0], s[1])
    s[5] = kb.transform_twist(y, s[0])
    s[6] = kb.transform_wrench(y, s[0])
    x[4] = kb.spatial_dot(s[0], s[1])
    v[13] = kb.spatial_top(s[0])
    v[14] = kb.spatial_bottom(s[0])
    v[15] = kb.velocity_at_point(s[0], r)
    g[0] = kb.spatial_adjoint(m[0], m[1])
    s[7] = g[0] @ s[0]
    i = kb.tid()
"""
_NAMES = ("quat", "transform", "vec3", "spatial_vector", "mat33", "mat44", "spatial_matrix")


def named(text: str, suffix: str) -> str:
    """The kernel in another precision."""
    element = {"h": "kb.float16", "f": "float", "d": "kb.float64"}[suffix]
    for name in _NAMES:
        for end in "()":
            text = text.replace(f"kb.{name}{end}", f"kb.{name}{suffix}{end}")
    return text.replace("dtype=float)", f"dtype={element})").replace("ELEMENT", element)


def on_the_host(q: Any, v: Any, s: Any, m: Any, x: float) -> dict[str, list[Any]]:
    """What the kernel writes, computed by the host's functions; `(row, value)` by array."""
    a, b, p, r = q[0], q[1], v[0], v[1]
    unit, y, z = kb.normalize(r), transform(p, a), transform(r, b)
    axis, angle = kb.quat_to_axis_angle(a)
    f = kb.transform_compose(p, a, kb.cw_mul(r, r) + type(r)(0.5))
    position, rotation, scale = kb.transform_decompose(f)
    half = kb.quat_to_matrix(a)
    return {
        "q": [
            a * b,
            kb.quat_inverse(a),
            kb.quat_slerp(a, b, x),
            kb.quat_from_axis_angle(p, x),
            kb.quat_from_euler(p, 0, 1, 2),
            kb.quat_from_euler(p, 2, 0, 1),
            kb.quat_twist(unit, a),
            kb.quat_from_matrix(m),
            a * 2 + b * 0.5 - a / 4,
            (0, 0, 0, 1),
            type(a)(p, x),
            a,
            rotation,
        ],
        "v": [
            kb.quat_rotate(a, p),
            kb.quat_rotate_inv(a, p),
            axis,
            kb.quat_to_euler(a, 1, 2, 0),
            kb.quat_to_rpy(b),
            kb.transform_point(y, r),
            kb.transform_vector(y, r),
            position,
            scale,
            kb.transform_point(f, r),
            kb.transform_vector(f, r),
            kb.spatial_top(s[0]),
            kb.spatial_bottom(s[0]),
            kb.velocity_at_point(s[0], r),
        ],
        "t": [
            y * z,
            kb.transform_inverse(y),
            type(y)(),
            y + z * 2.0,
            transform(y.p, z.q),
            kb.transform_multiply(z, y),
            y,
            kb.transform_from_matrix(kb.transform_to_matrix(y)),
        ],
        "s": [
            type(s[0])(p, r),
            kb.spatial_cross(s[0], s[1]),
            kb.spatial_cross_dual(s[0], s[1]),
            kb.transform_twist(y, s[0]),
            kb.transform_wrench(y, s[0]),
            kb.spatial_adjoint(m, half) @ s[0],
        ],
        "x": [angle, kb.quat_twist_angle(unit, a), kb.quat_twist_angle_signed(unit, b), kb.spatial_dot(s[0], s[1])],
        "m": [half],
        "f": [f, kb.transform_to_matrix(y)],
        "g": [kb.spatial_adjoint(m, half)],
    }


def transform(p: Any, q: Any) -> Any:
    return kb.types.transformation(dtype=p._kb_type_.element)(p, q)


@pytest.mark.parametrize(
    ("suffix", "dtype", "near"), [("f", np.float32, 2e-6), ("d", np.float64, 1e-14), ("h", np.float16, 2e-2)]
)
def test_rotations_are_what_the_host_computes(compiled: Any, suffix: str, dtype: Any, near: float) -> None:
    run = compiled(named(RIGID, suffix))
    q, v, s = numbers(15, 4, dtype=dtype), numbers(16, 3, dtype=dtype, seed=1), numbers(8, 6, dtype=dtype, seed=2)
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    t, f, g = np.zeros((10, 7), dtype), np.zeros((2, 4, 4), dtype), np.zeros((1, 6, 6), dtype)
    m, x = np.zeros((2, 3, 3), dtype), np.full(5, 0.375, dtype)
    quat, vec3, vec6, mat33 = (getattr(kb, name + suffix) for name in ("quat", "vec3", "spatial_vector", "mat33"))
    m[0] = kb.quat_to_matrix(quat(q[5].tolist()))
    wanted = on_the_host(
        [quat(row.tolist()) for row in q[:2]],
        [vec3(row.tolist()) for row in v[:2]],
        [vec6(row.tolist()) for row in s[:2]],
        mat33(*m[0].ravel().tolist()),
        0.375,
    )
    run(q, t, v, s, m, f, g, x)
    starts = {"q": q[2:], "v": v[2:], "t": t, "s": s[2:], "x": x[1:], "m": m[1:], "f": f, "g": g}
    for name, values in wanted.items():
        for row, value in enumerate(values):
            np.testing.assert_allclose(
                starts[name][row], np.array(value, dtype), rtol=near, atol=8 * near, err_msg=f"{name}[{row}]"
            )
    assert t[8].tolist() == [*v[0].tolist(), 0.0, 0.0, 0.0, 0.0]
    assert t[9].tolist() == t[2].tolist() == [0.0] * 6 + [1.0]


def test_a_type_of_its_own() -> None:
    assert Vector(4, FLOAT32, "quat") != Vector(4, FLOAT32)


@pytest.mark.nvrtc
@pytest.mark.parametrize("suffix", ["h", "f", "d"])
def test_compilers_take_it(tmp_path: Path, accept: Any, suffix: str) -> None:
    accept(
        kernels.emit_kernels(kernels.lower_text(tmp_path, named(RIGID, suffix))).source, "sm_90", "jetson-xavier-jp5"
    )


ALL_SUFFIXES = """
@kb.kernel
def vectors_{0}(a: kb.array(dtype=kb.vec2{0}), b: kb.array(dtype=kb.vec3{0}), c: kb.array(dtype=kb.vec4{0})):
    i = kb.tid()
    a[i] = kb.vec2{0}(b[i].x, b[i].y) + a[i] * a[i].x
    b[i] = kb.vector(c[i].x, c[i].y, c[i].w) - b[i]
    c[i] = -c[i] * c[i].z
"""
SUFFIXES = ("h", "f", "d", "b", "ub", "s", "us", "i", "ui", "l", "ul")


def test_every_suffix(tmp_path: Path) -> None:
    lowered = kernels.lower_text(tmp_path, "".join(map(ALL_SUFFIXES.format, SUFFIXES)))
    module = HostModule(lowered, tmp_path)
    assert len(lowered) == len(SUFFIXES)
    for kernel in lowered:
        suffix = kernel.name.rpartition("_")[2]
        dtype = np.dtype(getattr(kb, f"vec2{suffix}")._kb_type_.element.spelling)
        a, b, c = (np.arange(1, n + 1).reshape(1, n).astype(dtype) for n in (2, 3, 4))
        module.launch(kernel.name, 1, [device(x) for x in (a, b, c)])
        assert a.tolist() == [[2, 4]]
        assert b.tolist() == [[0, 0, 1]]
        assert c[0].tolist() == np.array([-3, -6, -9, -12]).astype(dtype).tolist()
