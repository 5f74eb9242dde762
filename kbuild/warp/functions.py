"""Functions of Warp's that kernels call, in the kernel language: `warp.sparse`, `warp.fem.linalg`, parts of transforms.

Annotations are texts, so that nothing of `typing` is imported before a build asks for them.
"""

from __future__ import annotations

from typing import Any

from kbuild.loader import builtins as kb
from kbuild.loader.array import array
from kbuild.loader.reference import ref
from kbuild.loader.types import func

# mypy: disable-error-code="attr-defined,no-untyped-call,no-any-return,misc,untyped-decorator,valid-type"

SWEEPS = 24


@func
def bsr_row_index(offsets: array(dtype=int), row_count: int, block_index: int) -> int:
    """The row of a sparse matrix that holds a block; -1 for none."""
    if block_index < offsets[0] or block_index >= offsets[row_count]:
        return -1
    low = 0
    high = row_count
    while high - low > 1:  # offsets[low] <= block_index < offsets[high]
        middle = (low + high) // 2
        if offsets[middle] <= block_index:
            low = middle
        else:
            high = middle
    return low


@func
def bsr_block_index(row: int, col: int, bsr_offsets: array(dtype=int), bsr_columns: array(dtype=int)) -> int:
    """Where the block (row, col) of a sparse matrix is; -1 if it is not stored. Columns are sorted within a row."""
    if row < 0:
        return -1
    low = bsr_offsets[row]
    high = bsr_offsets[row + 1]
    while low < high:
        middle = (low + high) // 2
        if bsr_columns[middle] < col:
            low = middle + 1
        else:
            high = middle
    if low < bsr_offsets[row + 1] and bsr_columns[low] == col:
        return low
    return -1


@func
def inverse_qr(A: Any):  # type: ignore[no-untyped-def]
    """The inverse of a matrix of up to four rows."""
    return kb.inverse(A)


@func
def symmetric_eigenvalues_qr(A: Any, tol: Any):  # type: ignore[no-untyped-def]
    """Eigenvalues D, in no promised order, and eigenvectors P, one a row: A = Pᵀ diag(D) P, A being symmetric.

    By Jacobi's rotations: sweeps over all pairs until what is off the diagonal is below `tol` times the numbers on it,
    or below their precision.
    """
    m = A
    p = kb.identity(n=kb.static(len(A)), dtype=A.dtype)
    for _ in range(SWEEPS):
        rotations = 0
        for i in range(kb.static(len(A)) - 1):
            for j in range(i + 1, kb.static(len(A))):
                off = m[i, j]
                scale = kb.abs(m[i, i]) + kb.abs(m[j, j])
                if kb.abs(off) > tol * scale and scale + kb.abs(off) != scale:
                    rotations += 1
                    # The rotation by the smaller angle that makes m[i, j] zero.
                    theta = (m[j, j] - m[i, i]) / (off + off)
                    t = kb.sign(theta) / (kb.abs(theta) + kb.sqrt(theta * theta + A.dtype(1.0)))
                    c = A.dtype(1.0) / kb.sqrt(t * t + A.dtype(1.0))
                    s = t * c
                    for k in range(kb.static(len(A))):
                        x = m[k, i]
                        y = m[k, j]
                        m[k, i] = c * x - s * y
                        m[k, j] = s * x + c * y
                    for k in range(kb.static(len(A))):
                        x = m[i, k]
                        y = m[j, k]
                        m[i, k] = c * x - s * y
                        m[j, k] = s * x + c * y
                        u = p[i, k]
                        v = p[j, k]
                        p[i, k] = c * u - s * v
                        p[j, k] = s * u + c * v
        if rotations == 0:
            break
    return kb.get_diag(m), p


@func
def transform_set_translation(xform: ref[Any], p: Any) -> None:
    """Changes the position of a transform."""
    xform.p = p


@func
def transform_set_rotation(xform: ref[Any], q: Any) -> None:
    """Changes the rotation of a transform."""
    xform.q = q


for _function in (transform_set_translation, transform_set_rotation):
    _function.dialect = "warp"  # it has references
