"""Quaternions, rigid motions, spatial vectors, and matrices that are neither square nor small."""

import kbuild as kb

mat23 = kb.types.matrix(shape=(2, 3), dtype=float)
mat34 = kb.types.matrix(shape=(3, 4), dtype=float)
mat24 = kb.types.matrix(shape=(2, 4), dtype=float)
mat77 = kb.types.matrix(shape=(7, 7), dtype=kb.float64)
vec20 = kb.types.vector(length=20, dtype=int)


@kb.kernel
def quaternions(
    a: kb.array(dtype=kb.quat),
    b: kb.array(dtype=kb.quat),
    v: kb.array(dtype=kb.vec3),
    x: kb.array(dtype=float),
    q: kb.array2d(dtype=kb.quat),
    w: kb.array2d(dtype=kb.vec3),
    y: kb.array2d(dtype=float),
    m: kb.array(dtype=kb.mat33),
):
    i = kb.tid()
    q[0, i] = a[i] * b[i]
    q[1, i] = kb.quat_inverse(a[i])
    q[2, i] = kb.quat_slerp(a[i], b[i], x[i])
    q[3, i] = kb.quat_from_axis_angle(v[i], x[i])
    q[4, i] = kb.quat_rpy(v[i].x, v[i].y, v[i].z)
    q[5, i] = kb.quat_from_euler(v[i], 2, 0, 1)
    q[6, i] = kb.quat_twist(kb.normalize(v[i]), a[i])
    m[i] = kb.quat_to_matrix(a[i])
    q[7, i] = kb.quat_from_matrix(m[i])
    q[8, i] = (a[i] * 2.0 + b[i] * x[i] - a[i]) / 4.0
    q[9, i] = kb.quat_identity()
    q[10, i] = kb.quat_between_vectors(v[i], kb.quat_rotate(a[i], v[i]))
    w[0, i] = kb.quat_rotate(a[i], v[i])
    w[1, i] = kb.quat_rotate_inv(a[i], v[i])
    w[2, i], y[0, i] = kb.quat_to_axis_angle(a[i])
    w[3, i] = kb.quat_to_euler(a[i], 1, 2, 0)
    w[4, i] = kb.quat_to_rpy(a[i])
    y[1, i] = kb.quat_twist_angle(kb.normalize(v[i]), a[i])
    y[2, i] = kb.quat_twist_angle_signed(kb.normalize(v[i]), a[i])


@kb.kernel
def motions(
    s: kb.array(dtype=kb.transformd),
    t: kb.array(dtype=kb.transformd),
    v: kb.array(dtype=kb.vec3d),
    r: kb.array2d(dtype=kb.transformd),
    w: kb.array2d(dtype=kb.vec3d),
    m: kb.array2d(dtype=kb.mat44d),
):
    i = kb.tid()
    r[0, i] = s[i] * t[i]
    r[1, i] = kb.transform_inverse(s[i])
    r[2, i] = s[i] + t[i] * 2.0
    r[3, i].p = v[i]
    r[3, i].q = kb.transform_get_rotation(s[i])
    r[5, i] = kb.transform_multiply(kb.transform_from_matrix(kb.transform_to_matrix(s[i])), t[i])
    w[4, i] = kb.transform_get_translation(s[i])
    w[0, i] = kb.transform_point(s[i], v[i])
    w[1, i] = kb.transform_vector(s[i], v[i])
    m[0, i] = kb.transform_compose(s[i].p, s[i].q, kb.vec3d(0.5, 2.0, 3.0))
    m[1, i] = kb.transform_to_matrix(t[i])
    w[2, i] = kb.transform_point(m[0, i], v[i])
    position, rotation, scale = kb.transform_decompose(m[0, i])
    w[3, i] = scale
    r[4, i] = kb.transformation(position, rotation)


@kb.kernel
def twists(
    t: kb.array(dtype=kb.transform),
    a: kb.array(dtype=kb.spatial_vector),
    b: kb.array(dtype=kb.spatial_vector),
    s: kb.array2d(dtype=kb.spatial_vector),
    x: kb.array(dtype=float),
    w: kb.array(dtype=kb.vec3),
    m: kb.array(dtype=kb.spatial_matrix),
):
    i = kb.tid()
    s[0, i] = kb.spatial_cross(a[i], b[i])
    s[1, i] = kb.spatial_cross_dual(a[i], b[i])
    s[2, i] = kb.transform_twist(t[i], a[i])
    s[3, i] = kb.transform_wrench(t[i], b[i])
    s[4, i] = kb.spatial_vector(kb.spatial_bottom(a[i]), kb.spatial_top(b[i]))
    x[i] = kb.spatial_dot(a[i], b[i])
    w[i] = kb.velocity_at_point(a[i], t[i].p)
    rotation = kb.quat_to_matrix(t[i].q)
    m[i] = kb.spatial_adjoint(rotation, kb.transpose(rotation))
    s[5, i] = m[i] @ a[i]


@kb.kernel
def shapes(
    a: kb.array(dtype=mat23),
    b: kb.array(dtype=mat34),
    c: kb.array(dtype=mat24),
    d: kb.array(dtype=mat77),
    v: kb.array(dtype=vec20),
    u: kb.array(dtype=kb.vec2),
    w: kb.array(dtype=kb.vec3),
):
    """One thread: whole numbers, so that every result is exact."""
    i = kb.tid()
    c[i] = a[i] @ b[i]
    u[i] = a[i] @ w[i]
    w[i] = u[i] @ a[i]
    d[1] = d[0] @ kb.transpose(d[0]) + mat77(1.0)
    v[1] = v[0] + v[0]
    v[1][0:3] = v[0][17:20]
    b[i][0:2, 1:4] = a[i]
