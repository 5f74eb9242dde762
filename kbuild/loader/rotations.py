"""Quaternions and rigid motions on the host: `kb.quat_rotate(q, v)` and its kin, in double precision.

What each means stands beside the function of the same name in `kbuild.intrinsics.library_rotations`.
"""

from __future__ import annotations

import math

from . import abi, factories
from .values import class_of, hamilton, rotated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _element(value: Any) -> abi.Scalar:
    element: abi.Scalar = value._kb_type_.element
    return element


def _vec3(element: abi.Scalar, numbers: Any) -> Any:
    return class_of(abi.Vector(3, element))(*numbers)  # type: ignore[operator]


def _quat(element: abi.Scalar, numbers: Any) -> Any:
    return class_of(abi.quaternion(element))(*numbers)  # type: ignore[operator]


def _transform(element: abi.Scalar, p: Any, q: Any) -> Any:
    return class_of(abi.transformation(element))(*p, *q)  # type: ignore[operator]


def _length(v: Any) -> float:
    return math.sqrt(math.fsum(x * x for x in v))


def _unit(v: Any) -> list[float]:
    length = _length(v)
    return [x / length if length > 0.0 else 0.0 for x in v]


def _conjugate(q: Any) -> list[float]:
    return [-q[0], -q[1], -q[2], q[3]]


def _added(a: Any, b: Any) -> list[float]:
    return [x + y for x, y in zip(a, b)]


def _along(axis: Any, q: Any) -> float:
    return math.fsum(x * y for x, y in zip(axis, q))


def quat_inverse(q: Any) -> Any:
    return type(q)(*_conjugate(q))


def quat_rotate(q: Any, v: Any) -> Any:
    return _vec3(_element(q), rotated(q, v))


def quat_rotate_inv(q: Any, v: Any) -> Any:
    return _vec3(_element(q), rotated(_conjugate(q), v))


def _from_axis_angle(axis: Any, angle: float) -> list[float]:
    return [x * math.sin(0.5 * angle) for x in _unit(axis)] + [math.cos(0.5 * angle)]


def quat_from_axis_angle(axis: Any, angle: float) -> Any:
    return _quat(_element(axis), _from_axis_angle(axis, angle))


def quat_between_vectors(a: Any, b: Any) -> Any:
    u, v = _unit(a), _unit(b)
    w = 1.0 + sum(x * y for x, y in zip(u, v))
    if w > 1.0e-6:
        across = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        return _quat(_element(a), _unit([*across, w]))
    across = [-u[1], u[0], 0.0] if abs(u[0]) > abs(u[2]) else [0.0, -u[2], u[1]]
    return _quat(_element(a), [*_unit(across), 0.0])


def _axis_angle(q: Any) -> tuple[list[float], float]:
    sign = -1.0 if q[3] < 0.0 else 1.0
    return [sign * x for x in _unit(q[:3])], 2.0 * math.atan2(_length(q[:3]), abs(q[3]))


def quat_to_axis_angle(q: Any) -> Any:
    axis, angle = _axis_angle(tuple(q))
    return _vec3(_element(q), axis), angle


def quat_from_matrix(m: Any) -> Any:
    return _quat(_element(m), _from_rows([tuple(row) for row in m]))


def _from_rows(m: Any) -> list[float]:
    """The largest of x, y, z, w from the diagonal, the others from it."""
    trace = m[0][0] + m[1][1] + m[2][2]
    if trace > 0.0:
        return _unit([m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], 1.0 + trace])
    i = max((0, 1, 2), key=lambda axis: m[axis][axis])
    j, k = (i + 1) % 3, (i + 2) % 3
    q = [0.0, 0.0, 0.0, m[k][j] - m[j][k]]
    q[i] = 1.0 + m[i][i] - m[j][j] - m[k][k]
    q[j], q[k] = m[i][j] + m[j][i], m[i][k] + m[k][i]
    return _unit(q)


def _columns(q: Any) -> list[list[float]]:
    return [rotated(q, axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]


def quat_to_matrix(q: Any) -> Any:
    return factories.matrix((3, 3), _element(q))(*zip(*_columns(q)))


def quat_rpy(roll: float, pitch: float, yaw: float) -> Any:
    return _quat(abi.FLOAT32, _from_euler((roll, pitch, yaw), 0, 1, 2))


def quat_to_rpy(q: Any) -> Any:
    return quat_to_euler(q, 0, 1, 2)


def _from_euler(e: Any, i: int, j: int, k: int) -> list[float]:
    turns = []
    for axis in (i, j, k):
        turn = [0.0, 0.0, 0.0, math.cos(0.5 * e[axis])]
        turn[axis] = math.sin(0.5 * e[axis])
        turns.append(turn)
    return hamilton(turns[2], hamilton(turns[1], turns[0]))


def quat_from_euler(e: Any, i: int, j: int, k: int) -> Any:
    return _quat(_element(e), _from_euler(e, i, j, k))


def quat_to_euler(q: Any, i: int, j: int, k: int) -> Any:
    m = list(zip(*_columns(q)))
    order = (i - j) * (j - k) * (k - i) // 2
    angles = [0.0, 0.0, 0.0]
    angles[i] = a = math.atan2(order * m[k][j], m[k][k])
    angles[j] = math.atan2(-order * m[k][i], math.hypot(m[k][j], m[k][k]))
    s, c = order * math.sin(a), math.cos(a)
    angles[k] = math.atan2(order * (s * m[i][k] - c * m[i][j]), c * m[j][j] - s * m[j][k])
    return _vec3(_element(q), angles)


def quat_slerp(a: Any, b: Any, t: float) -> Any:
    axis, angle = _axis_angle(hamilton(_conjugate(a), b))
    return type(a)(*hamilton(a, _from_axis_angle(axis, t * angle)))


def _twist(axis: Any, q: Any) -> list[float]:
    along = _along(axis, q)
    return _unit([along * x for x in axis] + [q[3]])


def quat_twist(axis: Any, q: Any) -> Any:
    return type(q)(*_twist(axis, q))


def quat_twist_angle(axis: Any, q: Any) -> float:
    return 2.0 * math.acos(min(max(_twist(axis, q)[3], -1.0), 1.0))


def quat_twist_angle_signed(axis: Any, q: Any) -> float:
    return 2.0 * math.atan2(_along(axis, q), q[3])


def transform_get_translation(t: Any) -> Any:
    return t.p


def transform_get_rotation(t: Any) -> Any:
    return t.q


def transform_multiply(a: Any, b: Any) -> Any:
    return a * b


def transform_point(t: Any, x: Any) -> Any:
    if len(t) == 4:
        return type(x)(*(_along(row[:3], x) + row[3] for row in map(tuple, t[:3])))
    return type(x)(*_added(rotated(t[3:], x), t[:3]))


def transform_vector(t: Any, v: Any) -> Any:
    if len(t) == 4:
        return type(v)(*(_along(row[:3], v) for row in map(tuple, t[:3])))
    return type(v)(*rotated(t[3:], v))


def transform_inverse(t: Any) -> Any:
    q = _conjugate(t[3:])
    return type(t)(*(-x for x in rotated(q, t[:3])), *q)


def transform_compose(position: Any, rotation: Any, scale: Any) -> Any:
    rows = zip(*([x * s for x in column] for column, s in zip(_columns(rotation), scale)))
    numbers = [number for row, p in zip(rows, position) for number in (*row, p)]
    return factories.matrix((4, 4), _element(rotation))(*numbers, 0.0, 0.0, 0.0, 1.0)


def transform_decompose(m: Any) -> Any:
    element, columns = _element(m), list(zip(*map(tuple, m[:3])))
    rotation = _from_rows(list(zip(*map(_unit, columns[:3]))))
    return _vec3(element, columns[3]), _quat(element, rotation), _vec3(element, map(_length, columns[:3]))


def transform_from_matrix(m: Any) -> Any:
    return _transform(_element(m), (row[3] for row in m[:3]), _from_rows([tuple(row) for row in m]))


def transform_to_matrix(t: Any) -> Any:
    return transform_compose(t.p, t.q, (1.0, 1.0, 1.0))


HOST: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        quat_between_vectors,
        quat_from_axis_angle,
        quat_from_euler,
        quat_from_matrix,
        quat_inverse,
        quat_rotate,
        quat_rotate_inv,
        quat_rpy,
        quat_slerp,
        quat_to_axis_angle,
        quat_to_euler,
        quat_to_matrix,
        quat_to_rpy,
        quat_twist,
        quat_twist_angle,
        quat_twist_angle_signed,
        transform_compose,
        transform_decompose,
        transform_from_matrix,
        transform_get_rotation,
        transform_get_translation,
        transform_inverse,
        transform_multiply,
        transform_point,
        transform_to_matrix,
        transform_vector,
    )
}
