"""Quaternions, transforms, spatial vectors and types of any size on the host: values, functions, bytes."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbuild as kb
from kbuild.loader import (
    abi,
    describing,
    factories,
    host,
    identity,
    interface,
    pack,
    records,
    selftest,
    values,
)

UNIT = st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4).filter(lambda q: math.hypot(*q) > 0.1)
ORDERS = list(itertools.permutations(range(3)))


def unit(q: list[float]) -> Any:
    return kb.normalize(kb.quatd(q))


def matrix_of(q: Any) -> np.ndarray:
    """The rotation matrix of a quaternion, from the textbook."""
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_constructors() -> None:
    assert kb.quat() == (0.0, 0.0, 0.0, 0.0)
    assert kb.quat(kb.vec3(1, 2, 3), 4) == kb.quat(1, 2, 3, 4) == kb.quat((1, 2, 3, 4)) == (1, 2, 3, 4)
    assert kb.transform() == (0, 0, 0, 0, 0, 0, 1)
    assert kb.transform(0.0) == (0,) * 7
    assert kb.transform((1, 2, 3), (4, 5, 6, 7)) == kb.transform(*range(1, 8)) == tuple(range(1, 8))
    assert kb.transform(p=(1, 2, 3)) == (1, 2, 3, 0, 0, 0, 1)
    assert kb.transform(q=(1, 0, 0, 0)) == (0, 0, 0, 1, 0, 0, 0)
    assert kb.spatial_vector((1, 2, 3), (4, 5, 6)) == (1, 2, 3, 4, 5, 6)
    assert kb.spatial_vector is kb.spatial_vectorf is kb.types.vector(length=6, dtype=float)
    assert kb.spatial_matrixd is kb.types.matrix(shape=(6, 6), dtype=kb.float64)
    assert kb.quat is kb.quatf is kb.types.quaternion()
    assert kb.transformd is kb.types.transformation(dtype=kb.float64)
    q = kb.quatd(0.1, 0.2, 0.3, 0.4)
    assert (q.x, q.y, q.z, q.w) == (0.1, 0.2, 0.3, 0.4)
    t = kb.transform((1, 2, 3), q)
    assert type(t.p) is kb.vec3
    assert type(t.q) is kb.quat
    assert not hasattr(t, "x")
    assert kb.vector(1.0, 2.0) == kb.vec2(1, 2)
    assert type(kb.vector(1, 2, 3, dtype=kb.float64)) is kb.vec3d
    assert kb.vector(2.0, length=5) == (2.0,) * 5
    assert kb.vector(kb.vec3i(1, 2, 3)) == kb.vec3i(1, 2, 3)
    assert kb.vector(length=2, dtype=int) == kb.vec2i()
    assert kb.matrix(1, 2, 3, 4, 5, 6, shape=(2, 3)) == ((1, 2, 3), (4, 5, 6))
    assert kb.matrix_from_rows(kb.vec2(1, 2), kb.vec2(3, 4)) == kb.mat22(1, 2, 3, 4)
    assert kb.matrix_from_cols(kb.vec2(1, 2), kb.vec2(3, 4)) == kb.mat22(1, 3, 2, 4)
    assert type(kb.quaternion(1, 2, 3, 4, dtype=kb.float64)) is kb.quatd
    assert type(kb.quaternion(1, 2, 3, 4)) is kb.quat
    assert type(kb.transformation(kb.vec3d(), kb.quatd())) is kb.transformd
    assert type(kb.transformation(p=kb.vec3d())) is kb.transformd
    assert kb.quat_identity() == kb.quat(0, 0, 0, 1)
    assert type(kb.transform_identity(dtype=kb.float16)) is kb.transformh


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kb.quat(1.0), r"quat takes 4 numbers, parts of 3 and 1, or none; got 1"),
        (lambda: kb.transform((1, 2), (1, 2, 3, 4)), r"transform takes 7 numbers, parts of 3 and 4, one for all, or"),
        (lambda: kb.transform(r=1), "got an unexpected keyword argument 'r'"),
        (lambda: kb.vec2(1, 2, 3), "vec2 takes 2 numbers, one for all, or none; got 3"),
        (lambda: kb.types.vector(-1, float), "length must be a whole number from 1 to 9999, not -1"),
        (lambda: kb.types.vector(True, float), "length must be a whole number"),
        (lambda: kb.types.vector(3, kb.vec2), "made of numbers or truth values, not of vec2"),
        (lambda: kb.types.matrix(3, float), "shape of two numbers"),
        (lambda: kb.types.quaternion(int), "made of floating-point numbers, not of int32"),
        (lambda: kb.matrix_from_rows(kb.vec2(), kb.vec3()), "take vectors of one type"),
        (lambda: kb.quat(1, 2, 3, 4) * kb.vec3(), "unsupported operand"),
        (lambda: kb.quat(1, 2, 3, 4) * kb.transform(), "unsupported operand"),
        (lambda: kb.quat() + kb.vec4(), "can only concatenate|unsupported operand"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_products_of_any_shape() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    mat23, mat34 = kb.types.matrix((2, 3), float), kb.types.matrix((3, 4), float)
    m = mat23(*a.ravel()) @ mat34(*b.ravel())
    assert type(m) is kb.types.matrix((2, 4), float)
    assert (np.array(m) == a @ b).all()
    assert mat23(*a.ravel()) @ kb.vec3(1, 2, 3) == kb.vec2(*(a @ (1, 2, 3)))
    assert kb.vec2(1, 2) @ mat23(*a.ravel()) == kb.vec2(1, 2) * mat23(*a.ravel()) == kb.vec3(*((1, 2) @ a))
    assert kb.transpose(mat23(*a.ravel())) == tuple(map(tuple, a.T))
    for operands in ((mat34(), mat23()), (kb.vec3(), mat23()), (mat23(), kb.vec2()), (kb.mat22(), kb.mat22d())):
        with pytest.raises(TypeError):
            operands[0] @ operands[1]
    assert kb.types.matrix((12, 11), float).__name__ == "mat12x11"


@given(UNIT, UNIT)
def test_quaternions_are_rotations(p: list[float], q: list[float]) -> None:
    a, b, v = unit(p), unit(q), kb.vec3d(1.0, -2.0, 0.5)
    np.testing.assert_allclose(kb.quat_to_matrix(a), matrix_of(a), atol=1e-12)
    np.testing.assert_allclose(matrix_of(a * b), matrix_of(a) @ matrix_of(b), atol=1e-12)
    np.testing.assert_allclose(kb.quat_rotate(a, v), matrix_of(a) @ v, atol=1e-12)
    np.testing.assert_allclose(kb.quat_rotate_inv(a, kb.quat_rotate(a, v)), v, atol=1e-12)
    np.testing.assert_allclose(matrix_of(kb.quat_from_matrix(kb.quat_to_matrix(a))), matrix_of(a), atol=1e-12)
    axis, angle = kb.quat_to_axis_angle(a)
    assert 0.0 <= angle <= math.pi
    np.testing.assert_allclose(matrix_of(kb.quat_from_axis_angle(axis * 3.0, angle)), matrix_of(a), atol=1e-12)
    np.testing.assert_allclose(matrix_of(kb.quat_slerp(a, b, 0.0)), matrix_of(a), atol=1e-12)
    np.testing.assert_allclose(matrix_of(kb.quat_slerp(a, b, 1.0)), matrix_of(b), atol=1e-12)
    half = kb.quat_inverse(a) * kb.quat_slerp(a, b, 0.5)
    np.testing.assert_allclose(matrix_of(half * half), matrix_of(kb.quat_inverse(a) * b), atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@given(UNIT)
def test_euler_angles_come_back(order: tuple[int, int, int], q: list[float]) -> None:
    wanted = matrix_of(unit(q))
    angles = kb.quat_to_euler(unit(q), *order)
    assert abs(angles[order[1]]) <= math.pi / 2
    np.testing.assert_allclose(matrix_of(kb.quat_from_euler(angles, *order)), wanted, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_turn_about_fixed_axes_in_order(order: tuple[int, int, int]) -> None:
    angles = kb.vec3d(0.3, -0.7, 1.1)
    turns = [kb.quat_from_axis_angle(kb.vec3d(*(float(n == axis) for n in range(3))), angles[axis]) for axis in order]
    np.testing.assert_allclose(kb.quat_from_euler(angles, *order), turns[2] * turns[1] * turns[0], atol=1e-15)
    for middle in (math.pi / 2, -math.pi / 2):  # where the outer two turn about one axis
        locked = list(angles)
        locked[order[1]] = middle
        wanted = matrix_of(kb.quat_from_euler(kb.vec3d(locked), *order))
        again = kb.quat_to_euler(kb.quat_from_euler(kb.vec3d(locked), *order), *order)
        np.testing.assert_allclose(matrix_of(kb.quat_from_euler(again, *order)), wanted, atol=1e-12)


def test_twist() -> None:
    axis, other = kb.vec3d(0.0, 0.0, 1.0), kb.vec3d(1.0, 0.0, 0.0)
    for angle in (-3.0, -0.5, 0.0, 2.0, 4.0):
        turn = kb.quat_from_axis_angle(axis, angle)
        both = kb.quat_from_axis_angle(other, 0.7) * turn
        np.testing.assert_allclose(kb.quat_twist(axis, both), turn, atol=1e-12)
        assert kb.quat_twist_angle(axis, both) == pytest.approx(abs(angle))
        assert kb.quat_twist_angle_signed(axis, both) == pytest.approx(angle)
    np.testing.assert_allclose(kb.quat_to_rpy(kb.quat_rpy(0.1, 0.2, 0.3)), (0.1, 0.2, 0.3), atol=1e-6)


def homogeneous(t: Any) -> np.ndarray:
    m = np.eye(4)
    m[:3, :3], m[:3, 3] = matrix_of(t[3:]), t[:3]
    return m


@given(UNIT, UNIT)
def test_transforms_are_rigid_motions(p: list[float], q: list[float]) -> None:
    a, b = kb.transformd((1.0, 2.0, 3.0), unit(p)), kb.transformd((-1.0, 0.5, 2.0), unit(q))
    x = kb.vec3d(0.25, -1.0, 3.0)
    np.testing.assert_allclose(homogeneous(a * b), homogeneous(a) @ homogeneous(b), atol=1e-12)
    np.testing.assert_allclose(homogeneous(kb.transform_inverse(a)), np.linalg.inv(homogeneous(a)), atol=1e-12)
    np.testing.assert_allclose(kb.transform_point(a, x), (homogeneous(a) @ (*x, 1.0))[:3], atol=1e-12)
    np.testing.assert_allclose(kb.transform_vector(a, x), (homogeneous(a) @ (*x, 0.0))[:3], atol=1e-12)
    m = kb.transform_to_matrix(a)
    np.testing.assert_allclose(m, homogeneous(a), atol=1e-12)
    np.testing.assert_allclose(homogeneous(kb.transform_from_matrix(m)), homogeneous(a), atol=1e-12)
    np.testing.assert_allclose(kb.transform_point(m, x), kb.transform_point(a, x), atol=1e-12)
    np.testing.assert_allclose(kb.transform_vector(m, x), kb.transform_vector(a, x), atol=1e-12)
    scaled = kb.transform_compose(a.p, a.q, kb.vec3d(0.5, 2.0, 3.0))
    position, rotation, scale = kb.transform_decompose(scaled)
    np.testing.assert_allclose(scaled, homogeneous(a) @ np.diag((0.5, 2.0, 3.0, 1.0)), atol=1e-12)
    np.testing.assert_allclose((position, scale), (a.p, (0.5, 2.0, 3.0)), atol=1e-12)
    np.testing.assert_allclose(matrix_of(rotation), matrix_of(a.q), atol=1e-12)


def skew(v: Any) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def test_spatial_algebra() -> None:
    t = kb.transformd((1.0, 2.0, 3.0), unit([0.1, 0.2, 0.3, 0.9]))
    a, b = kb.spatial_vectord(1, 2, 3, 4, 5, 6), kb.spatial_vectord(-1, 0.5, 2, 0.25, -3, 1)
    r = kb.quat_to_matrix(t.q)
    adjoint = kb.spatial_adjoint(r, kb.matrix_from_rows(*map(kb.vec3d, skew(t.p) @ np.array(r))))
    np.testing.assert_allclose(adjoint @ a, kb.transform_twist(t, a), atol=1e-12)
    # A wrench and a twist keep their power in any frame.
    power = kb.spatial_dot(kb.transform_wrench(t, b), kb.transform_twist(t, a))
    assert power == pytest.approx(kb.spatial_dot(a, b))
    zero = np.zeros((3, 3))
    cross = np.block([[skew(a[:3]), zero], [skew(a[3:]), skew(a[:3])]])
    np.testing.assert_allclose(kb.spatial_cross(a, b), cross @ b)
    np.testing.assert_allclose(kb.spatial_cross_dual(a, b), -cross.T @ b)
    assert (kb.spatial_top(a), kb.spatial_bottom(a)) == (a[:3], a[3:])
    np.testing.assert_allclose(kb.velocity_at_point(a, kb.vec3d(1, 0, 0)), np.cross(a[:3], (1, 0, 0)) + a[3:])


MADE = [
    kb.quat(1, 2, 3, 4),
    kb.transformd(*range(7)),
    kb.spatial_vector(1),
    kb.types.matrix((12, 11), int)(3),
    kb.types.vector(128, float)(2.0),
]


@pytest.mark.parametrize("made", MADE, ids=lambda made: type(made).__name__)
def test_values_travel(made: Any) -> None:
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert other == made
        assert type(other) is type(made)
    assert type(made) in pack.SEQUENCES


@pytest.mark.parametrize("made", MADE, ids=lambda made: type(made).__name__)
def test_bytes(made: Any) -> None:
    type = made._kb_type_
    packing = pack.Packing()
    packing.add(type, made, "value")
    data = struct.pack("<" + pack.format_of(type), *packing.values)
    assert len(data) == type.size
    flat = np.array(made).ravel().tolist()
    assert list(records.unpack(type, data)) == flat
    encoded, shape, _ = host.encode([made, made], None)
    assert (bytes(encoded), shape) == (data * 2, (2,))
    assert host.decode(data, (1,), type, lambda of, items: values.class_of(of)(*items)) == [made]  # type: ignore[operator]
    assert host.to_numpy(bytearray(data), (1,), type).shape == (1, *np.array(made).shape)


@pytest.mark.parametrize("spelling", ["quat[float32]", "transform[float64]", "quat[float16]", "mat12x11[int32]"])
def test_spellings(spelling: str) -> None:
    type = abi.parse(spelling, {})
    assert type.spelling == spelling
    assert abi.parse(f"array2[{spelling}]", {}) == abi.Array(type, 2)


@pytest.mark.parametrize(
    "spelling", ["quat[int32]", "quat4[float32]", "transform[bool]", "quat[quat[float32]]", "quat"]
)
def test_spellings_of_nothing(spelling: str) -> None:
    with pytest.raises(ValueError, match="unknown type"):
        abi.parse(spelling, {})


@pytest.mark.parametrize(
    ("type", "inner"),
    [(kb.quat, (4,)), (kb.transform, (7,)), (kb.spatial_vector, (6,)), (kb.spatial_matrix, (6, 6))],
)
def test_foreign_arrays(type: Any, inner: tuple[int, ...]) -> None:
    described = {"shape": (5, *inner), "typestr": "<f4", "data": (4096, False), "version": 3}
    view = interface.read(described, type._kb_type_, 1)
    assert (view.shape, view.strides) == ((5,), (type._kb_type_.size,))
    assert describing.write(view, 1)["shape"] == (5, *inner)
    with pytest.raises(interface.Mismatch, match="foreign float32 array of shape"):
        interface.read({**described, "shape": (5, *inner[:-1], 3)}, type._kb_type_, 1)


def test_identity_tells_a_quaternion_from_a_vector() -> None:
    assert identity.encode(kb.quat(1, 2, 3, 4)) != identity.encode(kb.vec4(1, 2, 3, 4))
    assert identity.encode(kb.quat) == ["type", "quat[float32]"]
    assert identity.describe([kb.quat(1, 2, 3, 4)]) == ["quat quat(1.0, 2.0, 3.0, 4.0)"]


def test_selftest_makes_them() -> None:
    made = selftest.generate([("q", abi.quaternion(abi.FLOAT32)), ("t", abi.transformation(abi.FLOAT64))], 0)
    assert [len(made["q"]), len(made["t"])] == [4, 7]
    assert len(selftest.packed(abi.transformation(abi.FLOAT64), made["t"])) == 56


@kb.struct
class Body:
    pose: kb.transform
    spin: kb.spatial_vectord


def test_fields_start_at_zero() -> None:
    body = Body()
    assert body.pose == (0.0,) * 7
    assert type(body.pose) is kb.transform
    assert body.spin == (0.0,) * 6
    assert kb.types is factories
