"""Threads and arrays of one to four dimensions."""

import kbuild as kb
import kbuild.warp as wp


@kb.kernel
def index1(out: kb.array(dtype=kb.int64)):
    i = kb.tid()
    out[i] = kb.int64(i)


@kb.kernel
def index2(out: kb.array2d(dtype=kb.int64)):
    i, j = kb.tid()
    out[i, j] = kb.int64(i) * kb.int64(1000000) + kb.int64(j)


@kb.kernel
def index3(out: kb.array3d(dtype=kb.int64)):
    i, j, k = kb.tid()
    out[i, j, k] = (kb.int64(i) * kb.int64(1000000) + kb.int64(j)) * kb.int64(1000000) + kb.int64(k)


@kb.kernel
def index4(out: kb.array4d(dtype=kb.int64)):
    i, j, k, m = kb.tid()
    out[i, j, k, m] = ((kb.int64(i) * kb.int64(100000) + kb.int64(j)) * kb.int64(100000) + kb.int64(k)) * kb.int64(
        100000
    ) + kb.int64(m)


@kb.kernel
def count_threads2(total: kb.array(dtype=kb.int64), rows: kb.array(dtype=int), columns: kb.array(dtype=int)):
    """Every thread once; every row once by its first thread, every column once by its first."""
    i, j = kb.tid()
    kb.atomic_add(total, 0, kb.int64(1))
    if j == 0:
        kb.atomic_add(rows, i, 1)
    if i == 0:
        kb.atomic_add(columns, j, 1)


@kb.kernel
def count_threads3(total: kb.array(dtype=kb.int64), first: kb.array(dtype=kb.int64), middle: kb.array(dtype=int)):
    """Every thread once; the first threads of each plane and line."""
    i, j, k = kb.tid()
    kb.atomic_add(total, 0, kb.int64(1))
    if j == 0 and k == 0:
        kb.atomic_add(first, i, kb.int64(1))
    if k == 7:
        kb.atomic_add(middle, j, 1)


@kb.kernel
def shapes(a: kb.array4d(dtype=kb.uint8), b: kb.array2d(dtype=float), out: kb.array(dtype=int)):
    """Extents, by `.shape`, by unpacking, by `len`, and `.ndim`."""
    rows, columns = b.shape
    out[0] = a.shape[0]
    out[1] = a.shape[1]
    out[2] = a.shape[2]
    out[3] = a.shape[3]
    out[4] = rows
    out[5] = columns
    out[6] = len(b)
    out[7] = a.ndim


@kb.kernel
def copy2(source: kb.array2d(dtype=float), target: kb.array2d(dtype=float)):
    i, j = kb.tid()
    target[i, j] = source[i, j] + 1.0


@kb.kernel
def copy4(source: kb.array4d(dtype=kb.int16), target: kb.array4d(dtype=kb.int16)):
    i, j, k, m = kb.tid()
    target[i, j, k, m] = source[i, j, k, m] * kb.int16(2)


@kb.kernel
def scale_vectors(source: kb.array2d(dtype=kb.vec3), factor: float, target: kb.array2d(dtype=kb.vec3)):
    i, j = kb.tid()
    target[i, j] = source[i, j] * factor


@kb.kernel(block_dim=64)
def small_blocks(out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = i


@kb.kernel
def no_threads(out: kb.array(dtype=int)):
    """Without tid(): every thread does the same."""
    kb.atomic_add(out, 0, 1)


@kb.func
def where_am_i() -> int:
    """tid() inside a function."""
    i, j = kb.tid()
    return i * 100 + j


@kb.kernel
def through_function(out: kb.array2d(dtype=int)):
    i, j = kb.tid()
    out[i, j] = where_am_i()


@wp.kernel
def from_the_end(
    which: kb.array(dtype=int), a: kb.array(dtype=float), b: kb.array2d(dtype=float), out: kb.array2d(dtype=float)
):
    """Computed indices, some below zero, in Warp's dialect."""
    t = kb.tid()
    i = which[t]
    v = kb.vec3(1.0, 2.0, 3.0)
    out[t, 0] = a[i]
    out[t, 1] = b[i, -1]
    out[t, 2] = b[1][i]
    out[t, 3] = v[i]
    out[t][i] += 0.5
