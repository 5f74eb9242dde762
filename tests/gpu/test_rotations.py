"""Quaternions, rigid motions and spatial vectors beside the host's functions; matrices of odd shapes exactly."""

import random

import pytest
from gpukernels import rotations

import kbuild as kb

pytestmark = pytest.mark.gpu

COUNT = 500
# Results are of the size of 10; the last places of sine, cosine and arc functions differ from the host's.
NEAR = {"float32": 1e-4, "float64": 1e-13}


def made(type, seed):
    """COUNT random values; quaternions, and those of transforms, of length one."""
    source = random.Random(seed)
    kind, length = type._kb_type_.kind, type._kb_type_.length
    values = []
    while len(values) < COUNT:
        numbers = [source.uniform(-2.0, 2.0) for _ in range(length)]
        if kind != "vec":
            numbers[-4:] = kb.normalize(kb.quatd(numbers[-4:]))
        values.append(type(numbers))
    return values


def flat(value):
    return [number for item in value for number in flat(item)] if isinstance(value, (tuple, list)) else [value]


def check(found, wanted, near, what):
    for i, (one, other) in enumerate(zip(found, wanted)):
        a, b = flat(one), flat(other)
        assert len(a) == len(b)
        apart = max(abs(x - y) for x, y in zip(a, b))
        assert apart <= near * max(1.0, *map(abs, b)), "%s, row %d: %r, not %r" % (what, i, one, other)


def test_quaternions():
    a, b, v = made(kb.quat, 1), made(kb.quat, 2), made(kb.vec3, 3)
    x = [source.x for source in made(kb.vec2, 4)]
    q, w = kb.zeros((11, COUNT), dtype=kb.quat), kb.zeros((5, COUNT), dtype=kb.vec3)
    y, m = kb.zeros((3, COUNT), dtype=float), kb.zeros(COUNT, dtype=kb.mat33)
    inputs = [
        kb.array(a, dtype=kb.quat),
        kb.array(b, dtype=kb.quat),
        kb.array(v, dtype=kb.vec3),
        kb.array(x, dtype=float),
    ]
    kb.launch(rotations.quaternions, dim=COUNT, inputs=inputs, outputs=[q, w, y, m])
    rows = list(zip(a, b, v, x))
    wanted = {
        "*": [a * b for a, b, v, x in rows],
        "inverse": [kb.quat_inverse(a) for a, b, v, x in rows],
        "slerp": [kb.quat_slerp(a, b, x) for a, b, v, x in rows],
        "from_axis_angle": [kb.quat_from_axis_angle(v, x) for a, b, v, x in rows],
        "rpy": [kb.quat_rpy(*v) for a, b, v, x in rows],
        "from_euler": [kb.quat_from_euler(v, 2, 0, 1) for a, b, v, x in rows],
        "twist": [kb.quat_twist(kb.normalize(v), a) for a, b, v, x in rows],
        "from_matrix": [kb.quat_from_matrix(kb.quat_to_matrix(a)) for a, b, v, x in rows],
        "sums": [(a * 2.0 + b * x - a) / 4.0 for a, b, v, x in rows],
        "identity": [kb.quat_identity()] * COUNT,
        "between": [kb.quat_between_vectors(v, kb.quat_rotate(a, v)) for a, b, v, x in rows],
    }
    for (what, values), found in zip(wanted.items(), q.tolist()):
        check(found, values, NEAR["float32"], what)
    check(m.tolist(), [kb.quat_to_matrix(a) for a in a], NEAR["float32"], "to_matrix")
    found = w.tolist()
    check(found[0], [kb.quat_rotate(a, v) for a, b, v, x in rows], NEAR["float32"], "rotate")
    check(found[1], [kb.quat_rotate_inv(a, v) for a, b, v, x in rows], NEAR["float32"], "rotate_inv")
    check(found[2], [kb.quat_to_axis_angle(a)[0] for a in a], NEAR["float32"], "axis")
    # Near the poles of the angles a last place tips them; the rotation stays.
    again = [kb.quat_to_matrix(kb.quat_from_euler(e, 1, 2, 0)) for e in found[3]]
    check(again, [kb.quat_to_matrix(a) for a in a], NEAR["float32"], "to_euler")
    again = [kb.quat_to_matrix(kb.quat_rpy(*e)) for e in found[4]]
    check(again, [kb.quat_to_matrix(a) for a in a], NEAR["float32"], "to_rpy")
    found = y.tolist()
    check(found[0], [kb.quat_to_axis_angle(a)[1] for a in a], NEAR["float32"], "angle")
    # The arc cosine of a number near one is that far from exact.
    check(found[1], [kb.quat_twist_angle(kb.normalize(v), a) for a, b, v, x in rows], 2e-3, "twist_angle")
    check(found[2], [kb.quat_twist_angle_signed(kb.normalize(v), a) for a, b, v, x in rows], NEAR["float32"], "signed")


def test_motions():
    s, t, v = made(kb.transformd, 1), made(kb.transformd, 2), made(kb.vec3d, 3)
    r, w = kb.zeros((6, COUNT), dtype=kb.transformd), kb.zeros((5, COUNT), dtype=kb.vec3d)
    m = kb.zeros((2, COUNT), dtype=kb.mat44d)
    inputs = [kb.array(s, dtype=kb.transformd), kb.array(t, dtype=kb.transformd), kb.array(v, dtype=kb.vec3d)]
    kb.launch(rotations.motions, dim=COUNT, inputs=inputs, outputs=[r, w, m])
    scale, near = kb.vec3d(0.5, 2.0, 3.0), NEAR["float64"]
    composed = [kb.transform_compose(s.p, s.q, scale) for s in s]
    parts = [kb.transform_decompose(m) for m in composed]
    found = r.tolist()
    check(found[0], [a * b for a, b in zip(s, t)], near, "*")
    check(found[1], [kb.transform_inverse(s) for s in s], near, "inverse")
    check(found[2], [a + b * 2.0 for a, b in zip(s, t)], near, "+")
    check(found[3], [kb.transformd(v, s.q) for s, v in zip(s, v)], 0.0, "parts")
    again = [kb.transform_from_matrix(kb.transform_to_matrix(s)) for s in s]
    check(found[5], [a * b for a, b in zip(again, t)], near, "from_matrix")
    check(found[4], [kb.transformd(position, rotation) for position, rotation, _ in parts], near, "decompose")
    found = w.tolist()
    check(found[0], [kb.transform_point(s, v) for s, v in zip(s, v)], near, "point")
    check(found[1], [kb.transform_vector(s, v) for s, v in zip(s, v)], near, "vector")
    check(found[2], [kb.transform_point(m, v) for m, v in zip(composed, v)], near, "matrix and point")
    check(found[3], [scale] * COUNT, near, "scale")
    check(found[4], [s.p for s in s], 0.0, "translation")
    found = m.tolist()
    check(found[0], composed, near, "compose")
    check(found[1], [kb.transform_to_matrix(t) for t in t], near, "to_matrix")


def test_twists():
    t, a, b = made(kb.transform, 1), made(kb.spatial_vector, 2), made(kb.spatial_vector, 3)
    s, x = kb.zeros((6, COUNT), dtype=kb.spatial_vector), kb.zeros(COUNT, dtype=float)
    w, m = kb.zeros(COUNT, dtype=kb.vec3), kb.zeros(COUNT, dtype=kb.spatial_matrix)
    inputs = [kb.array(t, dtype=kb.transform), *(kb.array(v, dtype=kb.spatial_vector) for v in (a, b))]
    kb.launch(rotations.twists, dim=COUNT, inputs=inputs, outputs=[s, x, w, m])
    near = NEAR["float32"]
    turns = [kb.quat_to_matrix(t.q) for t in t]
    adjoints = [kb.spatial_adjoint(r, kb.transpose(r)) for r in turns]
    found = s.tolist()
    check(found[0], [kb.spatial_cross(a, b) for a, b in zip(a, b)], near, "cross")
    check(found[1], [kb.spatial_cross_dual(a, b) for a, b in zip(a, b)], near, "cross_dual")
    check(found[2], [kb.transform_twist(t, a) for t, a in zip(t, a)], near, "twist")
    check(found[3], [kb.transform_wrench(t, b) for t, b in zip(t, b)], near, "wrench")
    check(found[4], [(*a[3:], *b[:3]) for a, b in zip(a, b)], 0.0, "top and bottom")
    check(found[5], [m @ a for m, a in zip(adjoints, a)], near, "matrix and vector")
    check(x.tolist(), [kb.spatial_dot(a, b) for a, b in zip(a, b)], near, "dot")
    check(w.tolist(), [kb.velocity_at_point(a, t.p) for t, a in zip(t, a)], near, "velocity_at_point")
    check(m.tolist(), adjoints, near, "adjoint")


def test_shapes():
    mat23, mat34, mat77, vec20 = rotations.mat23, rotations.mat34, rotations.mat77, rotations.vec20
    a, b, d = mat23(*range(6)), mat34(*range(12)), mat77(*range(49))
    v, w = vec20(*range(20)), kb.vec3(1.0, 2.0, 3.0)
    given = [
        kb.array([a], dtype=mat23),
        kb.array([b], dtype=mat34),
        kb.zeros(1, dtype=rotations.mat24),
        kb.array([d, d], dtype=mat77),
        kb.array([v, v], dtype=vec20),
        kb.zeros(1, dtype=kb.vec2),
        kb.array([w], dtype=kb.vec3),
    ]
    kb.launch(rotations.shapes, dim=1, inputs=given)
    _, b_after, c, d_after, v_after, u, w_after = (array.tolist() for array in given)
    assert c == [a @ b]
    assert u == [a @ w]
    assert w_after == [(a @ w) @ a]
    assert d_after[1] == d @ kb.transpose(d) + mat77(1.0)
    assert v_after[1] == (17, 18, 19, *(2 * i for i in range(3, 20)))
    assert b_after[0] == mat34(0, 0, 1, 2, 4, 3, 4, 5, 8, 9, 10, 11)
