"""Kernels with Warp's spellings: `import kbuild.warp as wp` is all that a program changes."""

import kbuild.warp as wp


class vec5(wp.types.vector(length=5, dtype=wp.float32)):
    pass


@wp.struct
class Geom:
    size: wp.vec3
    margin: float
    index: wp.array(dtype=int)


@wp.func
def grown(geom: Geom, by: float):
    geom.margin = geom.margin + by  # of the copy
    return geom.margin, (geom.size * by, geom.index[0])


@wp.kernel(enable_backward=False, module="unique")
def copies(geom: Geom, out: wp.array(dtype=wp.float32), sizes: wp.array(dtype=wp.vec3f)):
    i = wp.tid()
    margin, (size, index) = grown(geom, float(i))
    out[i] = margin + 1000.0 * geom.margin + 0.5 * float(index)
    sizes[i] = size


@wp.kernel(module_options={"fuse_fp": False})
def unfused(a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a[i] * a[i] - 1.0


@wp.kernel
def sparse(
    offsets: wp.array(dtype=int),
    columns: wp.array(dtype=int),
    rows: wp.array(dtype=int),
    found: wp.array2d(dtype=int),
):
    block, column = wp.tid()
    row = wp.sparse.bsr_row_index(offsets, offsets.shape[0] - 1, block)
    if column == 0:
        rows[block] = row
    found[block, column] = wp.sparse.bsr_block_index(row, column, offsets, columns)


@wp.kernel
def eigen(a: wp.array(dtype=wp.mat33d), p: wp.array(dtype=wp.mat33d), d: wp.array(dtype=wp.vec3d)):
    i = wp.tid()
    values, vectors = wp.fem.linalg.symmetric_eigenvalues_qr(a[i], wp.float64(1.0e-14))
    d[i] = values
    p[i] = vectors


@wp.kernel
def between(a: wp.array(dtype=wp.vec3), b: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    out[i] = wp.quat_rotate(wp.quat_between_vectors(a[i], b[i]), a[i])


@wp.kernel
def fives(a: wp.array(dtype=vec5), out: wp.array(dtype=float)):
    i = wp.tid()
    WIDTH = wp.static(len(vec5()))
    total = a.dtype.dtype(0.0) + float(wp.static(WIDTH * 10))
    for k in range(wp.static(WIDTH)):
        total += a[i][k]
    if a[i] == vec5():
        total = -1.0
    out[i] = total


@wp.kernel
def countdown(left: wp.array(dtype=int), out: wp.array(dtype=int)):
    left[0] = left[0] - 1
    out[0] = out[0] + 1
