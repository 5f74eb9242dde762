"""Quaternions and rigid motions in the kernel language. A quaternion is (x, y, z, w), of length one as a rotation.

A transform is a position p and a rotation q: it takes a point x to q x + p. Euler angles are read by axis: `e[0]` turns
about x whatever the order i, j, k, which are three different axes, turned about in that order, fixed in space.
"""

from __future__ import annotations

from kbuild.intrinsics.shapes import Float, Mat44, Quat, Rotation, Transform, Vec3
from kbuild.loader import builtins as kb
from kbuild.loader.own_gradients import adjoint, func_grad
from kbuild.loader.types import Function, func

# mypy: disable-error-code="no-untyped-call,no-any-return,misc,untyped-decorator"


@func
def quat_mul(a: Quat, b: Quat):  # type: ignore[no-untyped-def]
    """Hamilton's product: the rotation by b, then by a."""
    return type(a)(
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@func
def quat_inverse(q: Quat):  # type: ignore[no-untyped-def]
    """The conjugate: the inverse rotation where q has length one."""
    return type(q)(-q[0], -q[1], -q[2], q[3])


@func
def quat_rotate(q: Quat, v: Vec3):  # type: ignore[no-untyped-def]
    """v turned by q: (2 w² - 1) v + 2 (u · v) u + 2 w (u × v), u being the first three of q."""
    s = 2.0 * q[3] * q[3] - 1.0
    t = 2.0 * (q[0] * v[0] + q[1] * v[1] + q[2] * v[2])
    w = 2.0 * q[3]
    return type(v)(
        s * v[0] + t * q[0] + w * (q[1] * v[2] - q[2] * v[1]),
        s * v[1] + t * q[1] + w * (q[2] * v[0] - q[0] * v[2]),
        s * v[2] + t * q[2] + w * (q[0] * v[1] - q[1] * v[0]),
    )


@func
def quat_rotate_inv(q: Quat, v: Vec3):  # type: ignore[no-untyped-def]
    """v turned back by q."""
    return kb.quat_rotate(kb.quat_inverse(q), v)


@func
def quat_from_axis_angle(axis: Vec3, angle: Float):  # type: ignore[no-untyped-def]
    """The rotation by `angle` [rad] about an axis of any length."""
    half = 0.5 * angle
    u = kb.normalize(axis) * kb.sin(half)
    return kb.quaternion(u, kb.cos(half))


@func
def quat_to_axis_angle(q: Quat):  # type: ignore[no-untyped-def]
    """Axis of length one and angle [rad] from 0 to pi: `axis, angle = quat_to_axis_angle(q)`."""
    u = kb.vector(q[0], q[1], q[2])
    angle = 2.0 * kb.atan2(kb.length(u), kb.abs(q[3]))
    axis = kb.normalize(u)
    if q[3] < 0.0:
        axis = -axis
    return axis, angle


@func
def quat_from_matrix(m: Rotation):  # type: ignore[no-untyped-def]
    """The rotation of a matrix (the upper left 3 × 3 of a larger one), at length one."""
    # The largest of w, x, y, z is computed from the diagonal, the others from it (Shepperd, 1978).
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    if trace > 0.0:
        r = kb.sqrt(1.0 + trace)
        s = 0.5 / r
        q = kb.quaternion((m[2, 1] - m[1, 2]) * s, (m[0, 2] - m[2, 0]) * s, (m[1, 0] - m[0, 1]) * s, 0.5 * r)
    elif m[0, 0] >= m[1, 1] and m[0, 0] >= m[2, 2]:
        r = kb.sqrt(1.0 + m[0, 0] - m[1, 1] - m[2, 2])
        s = 0.5 / r
        q = kb.quaternion(0.5 * r, (m[0, 1] + m[1, 0]) * s, (m[0, 2] + m[2, 0]) * s, (m[2, 1] - m[1, 2]) * s)
    elif m[1, 1] >= m[2, 2]:
        r = kb.sqrt(1.0 + m[1, 1] - m[2, 2] - m[0, 0])
        s = 0.5 / r
        q = kb.quaternion((m[0, 1] + m[1, 0]) * s, 0.5 * r, (m[1, 2] + m[2, 1]) * s, (m[0, 2] - m[2, 0]) * s)
    else:
        r = kb.sqrt(1.0 + m[2, 2] - m[0, 0] - m[1, 1])
        s = 0.5 / r
        q = kb.quaternion((m[0, 2] + m[2, 0]) * s, (m[1, 2] + m[2, 1]) * s, 0.5 * r, (m[1, 0] - m[0, 1]) * s)
    return kb.normalize(q)


@func
def quat_to_matrix(q: Quat):  # type: ignore[no-untyped-def]
    """The matrix that turns as q does: its columns are the turned axes."""
    one = type(q[0])(1.0)
    zero = type(q[0])(0.0)
    return kb.matrix_from_cols(
        kb.quat_rotate(q, kb.vector(one, zero, zero)),
        kb.quat_rotate(q, kb.vector(zero, one, zero)),
        kb.quat_rotate(q, kb.vector(zero, zero, one)),
    )


@func
def quat_rpy(roll: Float, pitch: Float, yaw: Float):  # type: ignore[no-untyped-def]
    """The rotation by roll about x, then pitch about y, then yaw about z [rad], axes fixed in space."""
    return kb.quat_from_euler(kb.vector(roll, pitch, yaw), 0, 1, 2)


@func
def quat_to_rpy(q: Quat):  # type: ignore[no-untyped-def]
    """Roll, pitch, yaw [rad] as `quat_rpy` takes them."""
    return kb.quat_to_euler(q, 0, 1, 2)


@func
def quat_from_euler(e: Vec3, i: int, j: int, k: int):  # type: ignore[no-untyped-def]
    """The rotation by `e[i]` about axis i, then `e[j]` about j, then `e[k]` about k [rad]."""
    first = kb.quaternion(dtype=type(e[0]))
    second = kb.quaternion(dtype=type(e[0]))
    third = kb.quaternion(dtype=type(e[0]))
    first[i] = kb.sin(0.5 * e[i])
    first[3] = kb.cos(0.5 * e[i])
    second[j] = kb.sin(0.5 * e[j])
    second[3] = kb.cos(0.5 * e[j])
    third[k] = kb.sin(0.5 * e[k])
    third[3] = kb.cos(0.5 * e[k])
    return third * (second * first)


@func
def quat_to_euler(q: Quat, i: int, j: int, k: int):  # type: ignore[no-untyped-def]
    """The angles [rad] from which `quat_from_euler` makes q again, the one about j within ± pi/2."""
    # The last angle is taken from what the first one leaves of the rotation, so that together they are right even
    # where each alone is not determined (the one about j at ± pi/2).
    m = kb.quat_to_matrix(q)
    order = type(q[0])((i - j) * (j - k) * (k - i) // 2)
    a = kb.atan2(order * m[k, j], m[k, k])
    b = kb.atan2(-order * m[k, i], kb.length(kb.vector(m[k, j], m[k, k])))
    s = order * kb.sin(a)
    c = kb.atan2(order * (s * m[i, k] - kb.cos(a) * m[i, j]), kb.cos(a) * m[j, j] - s * m[j, k])
    angles = kb.vector(length=3, dtype=type(q[0]))
    angles[i] = a
    angles[j] = b
    angles[k] = c
    return angles


@func
def quat_part(q: Quat, t: Float):  # type: ignore[no-untyped-def]
    """The rotation about the axis of q, by t times its angle."""
    axis, angle = kb.quat_to_axis_angle(q)
    return kb.quat_from_axis_angle(axis, t * angle)


@func_grad(quat_part)
def adj_quat_part(q: Quat, t: Float, adj_ret: Quat):  # type: ignore[no-untyped-def]
    """Smooth where q is no rotation at all, though it has no axis there.

    With q = ±(u, w), w ≥ 0, n = |u| and a = atan2(n, w) the result is (u · sin(t a) / n, cos(t a)).
    """
    sign = kb.where(q[3] < 0.0, type(t)(-1.0), type(t)(1.0))
    w = sign * q[3]
    u = kb.vector(sign * q[0], sign * q[1], sign * q[2])
    g = kb.vector(adj_ret[0], adj_ret[1], adj_ret[2])
    n = kb.length(u)
    square = n * n + w * w
    if square == 0.0:
        return
    angle = kb.atan2(n, w)
    sine = kb.sin(t * angle)
    cosine = kb.cos(t * angle)
    ratio = t / w  # sin(t a) / n
    slope = 1.0 / w  # a / n
    if n > 0.0:
        ratio = sine / n
        slope = angle / n
    # What u · adj_u gets through n, over n²: a difference that vanishes with n, in place of which stands its limit.
    inner = -t * (2.0 + t * t) / (3.0 * w * w * w)
    if n * n > 1.0e-3 * w * w:
        inner = (t * cosine * w / square - ratio) / (n * n)
    along = kb.dot(u, g)
    adj_u = g * ratio + u * (along * inner - adj_ret[3] * t * ratio * w / square)
    adj_w = t * (adj_ret[3] * sine * n - cosine * along) / square
    adjoint[q] += sign * type(q)(adj_u[0], adj_u[1], adj_u[2], adj_w)
    adjoint[t] += along * cosine * slope - adj_ret[3] * sine * angle


@func
def quat_slerp(a: Quat, b: Quat, t: Float):  # type: ignore[no-untyped-def]
    """a at t = 0, b at t = 1, and between them at constant speed on the shorter way."""
    return a * quat_part(kb.quat_inverse(a) * b, t)


@func
def quat_between_vectors(a: Vec3, b: Vec3):  # type: ignore[no-untyped-def]
    """The shortest rotation that takes the direction of a to that of b; of opposite ones, half a turn across a."""
    u = kb.normalize(a)
    v = kb.normalize(b)
    w = 1.0 + u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    if w > 1.0e-6:
        return kb.normalize(kb.quaternion(kb.cross(u, v), w))
    if kb.abs(u[0]) > kb.abs(u[2]):
        return kb.quaternion(kb.normalize(type(a)(-u[1], u[0], 0.0)), 0.0)
    return kb.quaternion(kb.normalize(type(a)(0.0, -u[2], u[1])), 0.0)


@func
def quat_twist(axis: Vec3, q: Quat):  # type: ignore[no-untyped-def]
    """The part of q that turns about an axis of length one."""
    along = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    return kb.normalize(type(q)(along * axis[0], along * axis[1], along * axis[2], q[3]))


@func
def quat_twist_angle(axis: Vec3, q: Quat):  # type: ignore[no-untyped-def]
    """How far q turns about an axis of length one [rad], 0 to 2 pi, without the direction."""
    return 2.0 * kb.atan2(kb.abs(q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]), q[3])


@func
def quat_twist_angle_signed(axis: Vec3, q: Quat):  # type: ignore[no-untyped-def]
    """How far q turns about an axis of length one [rad], - 2 pi to 2 pi."""
    return 2.0 * kb.atan2(q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2], q[3])


@func
def transform_get_translation(t: Transform):  # type: ignore[no-untyped-def]
    """The position: `t.p`."""
    return t.p


@func
def transform_get_rotation(t: Transform):  # type: ignore[no-untyped-def]
    """The rotation: `t.q`."""
    return t.q


@func
def transform_multiply(a: Transform, b: Transform):  # type: ignore[no-untyped-def]
    """The motion by b, then by a: `a * b`."""
    return kb.transformation(kb.quat_rotate(a.q, b.p) + a.p, a.q * b.q)


@func
def transform_point(t: Transform, x: Vec3):  # type: ignore[no-untyped-def]
    """A point, turned and moved."""
    return kb.quat_rotate(t.q, x) + t.p


@func
def transform_vector(t: Transform, v: Vec3):  # type: ignore[no-untyped-def]
    """A direction, turned."""
    return kb.quat_rotate(t.q, v)


@func
def transform_inverse(t: Transform):  # type: ignore[no-untyped-def]
    """The motion back."""
    q = kb.quat_inverse(t.q)
    return kb.transformation(-kb.quat_rotate(q, t.p), q)


@func
def transform_compose(position: Vec3, rotation: Quat, scale: Vec3):  # type: ignore[no-untyped-def]
    """The 4 × 4 matrix that scales along the axes, then turns, then moves."""
    r = kb.quat_to_matrix(rotation)
    m = kb.matrix(shape=(4, 4), dtype=type(scale[0]))
    for i in range(3):
        for j in range(3):
            m[i, j] = r[i, j] * scale[j]
        m[i, 3] = position[i]
    m[3, 3] = type(scale[0])(1.0)
    return m


@func
def transform_decompose(m: Mat44):  # type: ignore[no-untyped-def]
    """Position, rotation and scale of a 4 × 4 matrix; a scale is the length of a column, so never negative."""
    x = kb.vector(m[0, 0], m[1, 0], m[2, 0])
    y = kb.vector(m[0, 1], m[1, 1], m[2, 1])
    z = kb.vector(m[0, 2], m[1, 2], m[2, 2])
    rotation = kb.quat_from_matrix(kb.matrix_from_cols(kb.normalize(x), kb.normalize(y), kb.normalize(z)))
    return kb.vector(m[0, 3], m[1, 3], m[2, 3]), rotation, kb.vector(kb.length(x), kb.length(y), kb.length(z))


@func
def transform_from_matrix(m: Mat44):  # type: ignore[no-untyped-def]
    """The rigid motion of a 4 × 4 matrix without scale."""
    return kb.transformation(kb.vector(m[0, 3], m[1, 3], m[2, 3]), kb.quat_from_matrix(m))


@func
def transform_to_matrix(t: Transform):  # type: ignore[no-untyped-def]
    """The 4 × 4 matrix of a rigid motion."""
    one = type(t[0])(1.0)
    return kb.transform_compose(t.p, t.q, kb.vector(one, one, one))


@func
def matrix_point(m: Mat44, x: Vec3):  # type: ignore[no-untyped-def]
    """A point moved by a 4 × 4 matrix."""
    return type(x)(
        m[0, 0] * x[0] + m[0, 1] * x[1] + m[0, 2] * x[2] + m[0, 3],
        m[1, 0] * x[0] + m[1, 1] * x[1] + m[1, 2] * x[2] + m[1, 3],
        m[2, 0] * x[0] + m[2, 1] * x[1] + m[2, 2] * x[2] + m[2, 3],
    )


@func
def matrix_vector(m: Mat44, v: Vec3):  # type: ignore[no-untyped-def]
    """A direction turned and scaled by a 4 × 4 matrix."""
    return type(v)(
        m[0, 0] * v[0] + m[0, 1] * v[1] + m[0, 2] * v[2],
        m[1, 0] * v[0] + m[1, 1] * v[1] + m[1, 2] * v[2],
        m[2, 0] * v[0] + m[2, 1] * v[1] + m[2, 2] * v[2],
    )


# Functions that take a matrix in place of a transform, by the name of the one that takes a transform.
OF_MATRIX: dict[str, Function] = {"transform_point": matrix_point, "transform_vector": matrix_vector}

FUNCTIONS: dict[str, Function] = {
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
