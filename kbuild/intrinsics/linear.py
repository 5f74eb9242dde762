"""Norms, determinants, inverses and other linear algebra on vectors and matrices, in the kernel language."""

from __future__ import annotations

from typing import Any

from kbuild.intrinsics.overload import Overload, overload
from kbuild.loader import builtins as kb
from kbuild.loader.own_gradients import adjoint, func_grad
from kbuild.loader.types import Function, func
from kbuild.loader.values import float32, uint32, vec3

# The bodies below are kernel code: their types are inferred while lowering, not by Python's type checker.
# mypy: ignore-errors


@func
def norm_l1(v: Any):
    """Sum of the magnitudes of the elements."""
    total = kb.abs(v[0])
    for i in range(1, len(v)):
        total += kb.abs(v[i])
    return total


@func
def norm_l2(v: Any):
    """Euclidean length."""
    return kb.length(v)


@func
def norm_huber(v: Any, delta: Any = 1.0):
    """Half the squared length up to a length of delta, and growing in proportion to the length beyond.

    Huber, "Robust Estimation of a Location Parameter", Annals of Mathematical Statistics 35(1), 1964.
    """
    square = kb.dot(v, v)
    if square <= delta * delta:
        return 0.5 * square
    return delta * (kb.sqrt(square) - 0.5 * delta)


@func
def norm_pseudo_huber(v: Any, delta: Any = 1.0):
    """delta · √(1 + |v|² / delta²): smooth, delta at zero, and near the length far from it.

    Charbonnier et al., "Deterministic edge-preserving regularization in computed imaging", 1997.
    """
    return delta * kb.sqrt(1.0 + kb.dot(v, v) / (delta * delta))


@func
def smooth_normalize(v: Any, delta: Any = 1.0):
    """The vector over its pseudo-Huber norm: smooth at zero as well."""
    return v / kb.norm_pseudo_huber(v, delta)


@func
def ddot(a: Any, b: Any):
    """Sum of the products of the elements of two matrices."""
    total = kb.dot(a[0], b[0])
    for i in range(1, len(a)):
        total += kb.dot(a[i], b[i])
    return total


@func_grad(ddot)
def adj_ddot(a: Any, b: Any, adj_ret: Any):
    """Each matrix gets the other one."""
    adjoint[a] += b * adj_ret
    adjoint[b] += a * adj_ret


@func
def trace(m: Any):
    """Sum of the diagonal of a square matrix."""
    total = m[0, 0]
    for i in range(1, len(m)):
        total += m[i, i]
    return total


@func_grad(trace)
def adj_trace(m: Any, adj_ret: Any):
    """The diagonal gets all."""
    for i in range(len(m)):
        adjoint[m][i, i] += adj_ret


@func
def get_diag(m: Any):
    """The diagonal of a square matrix as a vector."""
    result = type(m[0])()
    for i in range(len(m)):
        result[i] = m[i, i]
    return result


@func_grad(get_diag)
def adj_get_diag(m: Any, adj_ret: Any):
    """The diagonal matrix."""
    adjoint[m] += kb.diag(adj_ret)


@func
def determinant2(m: Any):
    """Determinant of a 2 × 2 matrix."""
    return m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]


@func
def determinant3(m: Any):
    """Determinant of a 3 × 3 matrix: the volume that its rows span."""
    return kb.dot(m[0], kb.cross(m[1], m[2]))


@func
def minors(a: Any, b: Any):
    """The six 2 × 2 determinants of two rows of length four: columns 01, 02, 03, 12, 13, 23."""
    return (
        a[0] * b[1] - a[1] * b[0],
        a[0] * b[2] - a[2] * b[0],
        a[0] * b[3] - a[3] * b[0],
        a[1] * b[2] - a[2] * b[1],
        a[1] * b[3] - a[3] * b[1],
        a[2] * b[3] - a[3] * b[2],
    )


@func
def determinant4(m: Any):
    """Determinant of a 4 × 4 matrix: Laplace's expansion along its first two rows."""
    s0, s1, s2, s3, s4, s5 = minors(m[0], m[1])
    c0, c1, c2, c3, c4, c5 = minors(m[2], m[3])
    return s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0


@func
def inverse2(m: Any):
    """Inverse of a 2 × 2 matrix; zeros where its determinant is zero."""
    d = determinant2(m)
    if d == 0.0:
        return type(m)()
    return type(m)(m[1, 1], -m[0, 1], -m[1, 0], m[0, 0]) / d


@func
def inverse3(m: Any):
    """Inverse of a 3 × 3 matrix by its adjugate; zeros where its determinant is zero."""
    a = kb.cross(m[1], m[2])
    b = kb.cross(m[2], m[0])
    c = kb.cross(m[0], m[1])
    d = kb.dot(m[0], a)
    if d == 0.0:
        return type(m)()
    return type(m)(a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]) / d


@func
def inverse4(m: Any):
    """Inverse of a 4 × 4 matrix by Laplace's expansion; zeros where its determinant is zero."""
    s0, s1, s2, s3, s4, s5 = minors(m[0], m[1])
    c0, c1, c2, c3, c4, c5 = minors(m[2], m[3])
    d = s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0
    if d == 0.0:
        return type(m)()
    adjugate = type(m)(
        m[1, 1] * c5 - m[1, 2] * c4 + m[1, 3] * c3,
        -m[0, 1] * c5 + m[0, 2] * c4 - m[0, 3] * c3,
        m[3, 1] * s5 - m[3, 2] * s4 + m[3, 3] * s3,
        -m[2, 1] * s5 + m[2, 2] * s4 - m[2, 3] * s3,
        -m[1, 0] * c5 + m[1, 2] * c2 - m[1, 3] * c1,
        m[0, 0] * c5 - m[0, 2] * c2 + m[0, 3] * c1,
        -m[3, 0] * s5 + m[3, 2] * s2 - m[3, 3] * s1,
        m[2, 0] * s5 - m[2, 2] * s2 + m[2, 3] * s1,
        m[1, 0] * c4 - m[1, 1] * c2 + m[1, 3] * c0,
        -m[0, 0] * c4 + m[0, 1] * c2 - m[0, 3] * c0,
        m[3, 0] * s4 - m[3, 1] * s2 + m[3, 3] * s0,
        -m[2, 0] * s4 + m[2, 1] * s2 - m[2, 3] * s0,
        -m[1, 0] * c3 + m[1, 1] * c1 - m[1, 2] * c0,
        m[0, 0] * c3 - m[0, 1] * c1 + m[0, 2] * c0,
        -m[3, 0] * s3 + m[3, 1] * s1 - m[3, 2] * s0,
        m[2, 0] * s3 - m[2, 1] * s1 + m[2, 2] * s0,
    )
    return adjugate / d


@func_grad(inverse2)
@func_grad(inverse3)
@func_grad(inverse4)
def adj_inverse(m: Any, adj_ret: Any):
    """- m⁻ᵀ · adj_ret · m⁻ᵀ: nothing for a singular matrix, whose inverse is zero here.

    Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation", 2008, 2.2.3.
    """
    t = kb.transpose(kb.inverse(m))
    adjoint[m] -= t @ adj_ret @ t


@func
def argmin(v: Any):
    """Position of the smallest element, the first of equal ones; a NaN is never smaller."""
    best = uint32(0)
    least = v[0]
    for i in range(1, len(v)):
        if v[i] < least:
            least = v[i]
            best = uint32(i)
    return best


@func
def argmax(v: Any):
    """Position of the largest element, the first of equal ones; a NaN is never larger."""
    best = uint32(0)
    most = v[0]
    for i in range(1, len(v)):
        if v[i] > most:
            most = v[i]
            best = uint32(i)
    return best


@func
def closest_point_edge_edge(p1: vec3, q1: vec3, p2: vec3, q2: vec3, epsilon: float32):
    """(s, t, distance): how far along p1 → q1 and p2 → q2 [0 … 1] their closest points lie, and their distance.

    A squared length of at most epsilon makes an edge a point. Ericson, "Real-Time Collision Detection", 2005, 5.1.9.
    """
    d1 = q1 - p1
    d2 = q2 - p2
    r = p1 - p2
    a = kb.dot(d1, d1)
    e = kb.dot(d2, d2)
    f = kb.dot(d2, r)
    s = float32(0.0)
    t = float32(0.0)
    if a <= epsilon and e > epsilon:
        t = kb.clamp(f / e, 0.0, 1.0)
    elif a > epsilon:
        c = kb.dot(d1, r)
        if e <= epsilon:
            s = kb.clamp(-c / a, 0.0, 1.0)
        else:
            b = kb.dot(d1, d2)
            denominator = a * e - b * b
            if denominator > 0.0:
                s = kb.clamp((b * f - c * e) / denominator, 0.0, 1.0)
            t = (b * s + f) / e
            if t < 0.0:
                t = 0.0
                s = kb.clamp(-c / a, 0.0, 1.0)
            elif t > 1.0:
                t = 1.0
                s = kb.clamp((b - c) / a, 0.0, 1.0)
    return vec3(s, t, kb.length((p1 + d1 * s) - (p2 + d2 * t)))


FUNCTIONS: tuple[Function, ...] = (
    closest_point_edge_edge,
    ddot,
    get_diag,
    norm_huber,
    norm_l1,
    norm_l2,
    norm_pseudo_huber,
    smooth_normalize,
    trace,
)
OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "argmax": (overload("vector", argmax),),
    "argmin": (overload("vector", argmin),),
    "determinant": (overload("mat22", determinant2), overload("mat33", determinant3), overload("mat44", determinant4)),
    "inverse": (overload("mat22", inverse2), overload("mat33", inverse3), overload("mat44", inverse4)),
}
