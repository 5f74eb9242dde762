"""Gradients of the decompositions, in closed form: an iteration until nothing changes is no way to a derivative.

Townsend, "Differentiating the Singular Value Decomposition", 2016; Giles, "Collected matrix derivative results for
forward and reverse mode algorithmic differentiation", 2008; Walter and Lehmann, "On evaluating higher-order derivatives
of the QR decomposition of tall matrices with full column rank", 2018. Bases are rotations, so their derivatives are
the basis times an antisymmetric matrix, whose elements have gaps between eigenvalues or singular values as divisors.
Where a gap is no more than rounding error, the bases are not determined, and how they turn into each other is left out.
"""

from __future__ import annotations

from typing import Any

from kbuild.intrinsics.decompositions import eig3, qr3, svd, svd2, svd3
from kbuild.loader import builtins as kb
from kbuild.loader.own_gradients import adjoint, func_grad
from kbuild.loader.types import func

# The bodies below are kernel code: their types are inferred while lowering, not by Python's type checker.
# mypy: ignore-errors


@func
def over_gap(x: Any, gap: Any, scale: Any):
    """x / gap, but 0 where the gap is below some 32 units in the last place of numbers as large as `scale`."""
    if scale + gap / 64.0 == scale:
        return x - x
    return x / gap


@func_grad(eig3)
def adj_eig3(A: Any, adj_Q: Any, adj_d: Any):
    """Q · P · Qᵀ, the diagonal of P being adj_d."""
    Q, d = kb.eig3(A)
    X = kb.transpose(Q) @ adj_Q
    scale = kb.max(kb.abs(d))
    P = kb.diag(adj_d)
    for i in range(2):
        for j in range(i + 1, 3):
            P[i, j] = over_gap(0.5 * (X[i, j] - X[j, i]), d[j] - d[i], scale)
            P[j, i] = P[i, j]
    adjoint[A] += Q @ P @ kb.transpose(Q)


@func_grad(svd2)
@func_grad(svd3)
def adj_svd(A: Any, adj_U: Any, adj_sigma: Any, adj_V: Any):
    """U · P · Vᵀ, the diagonal of P being adj_sigma.

    The divisors σj² - σi² are taken apart into σj - σi, which belongs to what turns U and V alike, and σj + σi, which
    belongs to what turns them against each other. So what depends on U · Vᵀ alone, the rotation in A, has its gradient
    where singular values are equal, too.
    """
    U, sigma, V = svd(A)
    X = kb.transpose(U) @ adj_U
    Y = kb.transpose(V) @ adj_V
    scale = kb.abs(sigma[0])
    P = kb.diag(adj_sigma)
    for i in range(len(A) - 1):
        for j in range(i + 1, len(A)):
            x = 0.5 * (X[i, j] - X[j, i])
            y = 0.5 * (Y[i, j] - Y[j, i])
            alike = over_gap(x + y, sigma[j] - sigma[i], scale)
            against = over_gap(x - y, sigma[j] + sigma[i], scale)
            P[i, j] = alike + against
            P[j, i] = alike - against
    adjoint[A] += U @ P @ kb.transpose(V)


@func_grad(qr3)
def adj_qr3(A: Any, adj_Q: Any, adj_R: Any):
    """(adj_Q + Q · M) · R⁻ᵀ with M symmetric, its lower triangle that of R · adj_Rᵀ - adj_Qᵀ · Q.

    Of the last column only Q · adj_R is left, since the others determine the last of a rotation: R may be singular
    there. A zero before that on the diagonal of R leaves Q undetermined, and gives nothing.
    """
    Q, R = kb.qr3(A)
    turn = kb.transpose(adj_Q) @ Q
    M = type(A)()
    for i in range(3):
        for j in range(i + 1):
            total = -turn[i, j]
            for k in range(i, 3):
                total += R[i, k] * adj_R[j, k]
            M[i, j] = total
            M[j, i] = total
    W = adj_Q + Q @ M
    G = type(A)()
    scale = kb.max(kb.abs(R[0]))
    for i in range(3):
        G[i, 2] = Q[i, 0] * adj_R[0, 2] + Q[i, 1] * adj_R[1, 2] + Q[i, 2] * adj_R[2, 2]
        G[i, 1] = over_gap(W[i, 1] - G[i, 2] * R[1, 2], R[1, 1], scale)
        G[i, 0] = over_gap(W[i, 0] - G[i, 1] * R[0, 1] - G[i, 2] * R[0, 2], R[0, 0], scale)
    adjoint[A] += G
