"""Linear algebra and sums."""

import kbuild as kb


@kb.kernel
def saxpy(a: float, x: kb.array(dtype=float), y: kb.array(dtype=float)):
    """y = a x + y."""
    i = kb.tid()
    y[i] = a * x[i] + y[i]


@kb.kernel
def matrix_product(a: kb.array2d(dtype=float), b: kb.array2d(dtype=float), c: kb.array2d(dtype=float)):
    """c = a b, one thread an element."""
    row, column = kb.tid()
    total = 0.0
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, column]
    c[row, column] = total


@kb.kernel
def total(values: kb.array(dtype=float), share: int, result: kb.array(dtype=float)):
    """Adds `share` values a thread, then one atomic."""
    first = kb.tid() * share
    last = kb.min(first + share, values.shape[0])
    mine = 0.0
    for i in range(first, last):
        mine += values[i]
    kb.atomic_add(result, 0, mine)


@kb.kernel
def transform(points: kb.array(dtype=kb.vec3), rotation: kb.mat33, offset: kb.vec3, moved: kb.array(dtype=kb.vec3)):
    """moved = rotation points + offset."""
    i = kb.tid()
    moved[i] = rotation @ points[i] + offset
