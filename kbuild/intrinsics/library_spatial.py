"""Spatial vectors in the kernel language: a twist (angular, linear velocity) or a wrench (torque, force), top first.

Frank & Park, "Modern Robotics", chapter 3; Featherstone, "Rigid Body Dynamics Algorithms", chapter 2.
"""

from __future__ import annotations

from kbuild.intrinsics.shapes import Mat33, Transform, Vec3, Vec6
from kbuild.loader import builtins as kb
from kbuild.loader.types import Function, func

# mypy: disable-error-code="no-untyped-call,no-any-return,misc,untyped-decorator"


@func
def spatial_top(s: Vec6):  # type: ignore[no-untyped-def]
    """The first three: angular velocity or torque."""
    return kb.vector(s[0], s[1], s[2])


@func
def spatial_bottom(s: Vec6):  # type: ignore[no-untyped-def]
    """The last three: linear velocity or force."""
    return kb.vector(s[3], s[4], s[5])


@func
def spatial_dot(a: Vec6, b: Vec6):  # type: ignore[no-untyped-def]
    """Sum of the products of the elements: the power of a wrench and a twist."""
    return kb.dot(a, b)


@func
def spatial_cross(a: Vec6, b: Vec6):  # type: ignore[no-untyped-def]
    """How a twist a changes a twist b that moves with it."""
    w, v = kb.spatial_top(a), kb.spatial_bottom(a)
    return type(a)(kb.cross(w, kb.spatial_top(b)), kb.cross(v, kb.spatial_top(b)) + kb.cross(w, kb.spatial_bottom(b)))


@func
def spatial_cross_dual(a: Vec6, b: Vec6):  # type: ignore[no-untyped-def]
    """How a twist a changes a wrench b that moves with it."""
    w, v = kb.spatial_top(a), kb.spatial_bottom(a)
    return type(a)(
        kb.cross(w, kb.spatial_top(b)) + kb.cross(v, kb.spatial_bottom(b)), kb.cross(w, kb.spatial_bottom(b))
    )


@func
def velocity_at_point(twist: Vec6, r: Vec3):  # type: ignore[no-untyped-def]
    """Linear velocity of the point r of a body: v + w × r."""
    return kb.spatial_bottom(twist) + kb.cross(kb.spatial_top(twist), r)


@func
def transform_twist(t: Transform, x: Vec6):  # type: ignore[no-untyped-def]
    """A twist seen from the frame that t leads to: w' = q w, v' = q v + p × w'."""
    w = kb.quat_rotate(t.q, kb.spatial_top(x))
    return type(x)(w, kb.quat_rotate(t.q, kb.spatial_bottom(x)) + kb.cross(t.p, w))


@func
def transform_wrench(t: Transform, x: Vec6):  # type: ignore[no-untyped-def]
    """A wrench seen from the frame that t leads to: f' = q f, torque' = q torque + p × f'."""
    f = kb.quat_rotate(t.q, kb.spatial_bottom(x))
    return type(x)(kb.quat_rotate(t.q, kb.spatial_top(x)) + kb.cross(t.p, f), f)


@func
def spatial_adjoint(r: Mat33, s: Mat33):  # type: ignore[no-untyped-def]
    """The 6 × 6 matrix [[r, 0], [s, r]]."""
    m = kb.matrix(shape=(6, 6), dtype=type(r[0, 0]))
    for i in range(3):
        for j in range(3):
            m[i, j] = r[i, j]
            m[i + 3, j] = s[i, j]
            m[i + 3, j + 3] = r[i, j]
    return m


FUNCTIONS: dict[str, Function] = {
    one.__name__: one
    for one in (
        spatial_adjoint,
        spatial_bottom,
        spatial_cross,
        spatial_cross_dual,
        spatial_dot,
        spatial_top,
        transform_twist,
        transform_wrench,
        velocity_at_point,
    )
}
