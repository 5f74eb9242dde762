"""Decompositions of small matrices, in the kernel language, for every floating-point type.

Rotations zero one element at a time: Jacobi (1846) for symmetric matrices, his one-sided form by Hestenes, "Inversion
of Matrices by Biorthogonalization and Related Results", Journal of SIAM 6(1), 1958, for singular values (which keeps
small ones accurate, since no square of the matrix is formed), and Givens (1958) for QR. Signs and order of the singular
value decomposition follow McAdams et al., "Computing the Singular Value Decomposition of 3x3 Matrices with Minimal
Branching and Elementary Floating Point Operations", 2011: both bases are rotations.
"""

from __future__ import annotations

from typing import Any

from kbuild.loader import builtins as kb
from kbuild.loader.types import Function, func

# The bodies below are kernel code: their types are inferred while lowering, not by Python's type checker.
# mypy: ignore-errors


@func
def jacobi_angle(difference: Any, twice: Any):
    """(cosine, sine) of the smaller rotation that makes a symmetric 2 × 2 matrix diagonal.

    `difference` of its diagonal elements, `twice` its other element. Golub and Van Loan, "Matrix Computations", 8.5.2.
    """
    zero = difference - difference
    if twice == 0.0:
        return zero + 1.0, zero
    tau = difference / twice
    tangent = kb.copysign(1.0, tau) / (kb.abs(tau) + kb.sqrt(1.0 + tau * tau))
    cosine = 1.0 / kb.sqrt(1.0 + tangent * tangent)
    return cosine, tangent * cosine


@func
def turned(m: Any, p: int, q: int, cosine: Any, sine: Any):
    """The matrix with columns p and q turned into each other."""
    result = m
    for i in range(len(m)):
        result[i, p] = cosine * m[i, p] - sine * m[i, q]
        result[i, q] = sine * m[i, p] + cosine * m[i, q]
    return result


@func
def column_product(m: Any, p: int, q: int):
    """Inner product of two columns."""
    total = m[0, p] * m[0, q]
    for i in range(1, len(m)):
        total += m[i, p] * m[i, q]
    return total


@func
def swapped(m: Any, p: int, q: int):
    """The matrix with columns p and q exchanged and one of them turned round: the determinant stays."""
    result = m
    for i in range(len(m)):
        result[i, p] = -m[i, q]
        result[i, q] = m[i, p]
    return result


@func
def unit_matrix(m: Any):
    """The identity of the matrix's type."""
    result = type(m)()
    for i in range(len(m)):
        result[i, i] = 1.0
    return result


@func
def eig3(A: Any):
    """(Q, d) with A = Q · diag(d) · Qᵀ for a symmetric 3 × 3 matrix: Q a rotation, eigenvalues in no promised order.

    Jacobi's cyclic method. Of a matrix that is not symmetric, (A + Aᵀ) / 2.
    """
    d = kb.get_diag(A)
    Q = unit_matrix(A)
    a = A
    for i in range(2):
        for j in range(i + 1, 3):
            a[i, j] = A[i, j] + 0.5 * (A[j, i] - A[i, j])
    for _sweep in range(12):
        if a[0, 1] == 0.0 and a[0, 2] == 0.0 and a[1, 2] == 0.0:
            break
        for k in range(3):
            p = 0 if k < 2 else 1
            q = 1 if k == 0 else 2
            r = 3 - p - q
            cosine, sine = jacobi_angle(a[q, q] - a[p, p], 2.0 * a[p, q])
            if sine != 0.0:
                shift = sine / cosine * a[p, q]
                low, high = kb.min(p, r), kb.max(p, r)
                first = a[low, high]
                last = a[kb.min(q, r), kb.max(q, r)]
                a[p, p] = a[p, p] - shift
                a[q, q] = a[q, q] + shift
                a[p, q] = 0.0
                a[low, high] = cosine * first - sine * last
                a[kb.min(q, r), kb.max(q, r)] = sine * first + cosine * last
                Q = turned(Q, p, q, cosine, sine)
    d = kb.get_diag(a)
    return Q, d


@func
def orthogonal_columns(A: Any):
    """(B, V) with B = A · V: V a rotation, the columns of B orthogonal and of falling length. One-sided Jacobi."""
    B = A
    V = unit_matrix(A)
    for _sweep in range(12):
        rotations = 0
        for p in range(len(A) - 1):
            for q in range(p + 1, len(A)):
                alpha = column_product(B, p, p)
                beta = column_product(B, q, q)
                gamma = column_product(B, p, q)
                if gamma * gamma > 1.0e-32 * alpha * beta:
                    cosine, sine = jacobi_angle(beta - alpha, 2.0 * gamma)
                    if sine != 0.0:
                        rotations += 1
                        B = turned(B, p, q, cosine, sine)
                        V = turned(V, p, q, cosine, sine)
        if rotations == 0:
            break
    for last in range(len(A) - 1):
        for p in range(len(A) - 1 - last):
            if column_product(B, p, p) < column_product(B, p + 1, p + 1):
                B = swapped(B, p, p + 1)
                V = swapped(V, p, p + 1)
    return B, V


@func
def givens(a: Any, b: Any):
    """(cosine, sine) that turn (a, b) into (length, 0). Golub and Van Loan, 5.1.8: nothing overflows."""
    zero = a - a
    if b == 0.0:
        return (zero + 1.0 if a >= 0.0 else zero - 1.0), zero
    scale = kb.max(kb.abs(a), kb.abs(b))
    x = a / scale
    y = b / scale
    length = kb.sqrt(x * x + y * y)
    return x / length, y / length


@func
def triangular(A: Any):
    """(Q, R) with A = Q · R: Q a rotation, R upper triangular, its diagonal not negative but for the last element."""
    R = A
    T = unit_matrix(A)
    for j in range(len(A) - 1):
        for i in range(len(A) - 1, j, -1):
            cosine, sine = givens(R[j, j], R[i, j])
            upper = R[j] * cosine + R[i] * sine
            lower = R[i] * cosine - R[j] * sine
            R[j] = upper
            R[i] = lower
            R[i, j] = 0.0
            upper = T[j] * cosine + T[i] * sine
            lower = T[i] * cosine - T[j] * sine
            T[j] = upper
            T[i] = lower
    return kb.transpose(T), R


@func
def scale_of(A: Any):
    """The largest magnitude in a matrix, 1 for a matrix of zeros."""
    largest = kb.max(kb.abs(A[0]))
    for i in range(1, len(A)):
        largest = kb.max(largest, kb.max(kb.abs(A[i])))
    return largest if largest > 0.0 else largest + 1.0


@func
def svd(A: Any):
    """(U, sigma, V) with A = U · diag(sigma) · Vᵀ; scaled, so that no square overflows."""
    scale = scale_of(A)
    B, V = orthogonal_columns(A / scale)
    U, R = triangular(B)
    return U, kb.get_diag(R) * scale, V


@func
def svd3(A: Any):
    """(U, sigma, V) with A = U · diag(sigma) · Vᵀ for a 3 × 3 matrix.

    U and V are rotations, sigma falls in magnitude; its last element is negative where the determinant of A is.
    """
    U, sigma, V = svd(A)
    return U, sigma, V


@func
def svd2(A: Any):
    """(U, sigma, V) with A = U · diag(sigma) · Vᵀ for a 2 × 2 matrix.

    U and V are rotations, sigma falls in magnitude; its last element is negative where the determinant of A is.
    """
    U, sigma, V = svd(A)
    return U, sigma, V


@func
def qr3(A: Any):
    """(Q, R) with A = Q · R for a 3 × 3 matrix: Q a rotation, R upper triangular, by Givens' rotations."""
    Q, R = triangular(A)
    return Q, R


FUNCTIONS: tuple[Function, ...] = (eig3, qr3, svd2, svd3)
# How many results each has, which may be given variables after the argument.
OUTPUTS: dict[str, int] = {"eig3": 2, "qr3": 2, "svd2": 3, "svd3": 3}
