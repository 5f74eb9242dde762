"""Arrays seen through index arrays: in kernels they are arrays, and yet no `kb.array`."""

from typing import Any

import kbuild as kb


@kb.func
def of_array(a: kb.array(dtype=float)):
    return a[0]


@kb.func
def of_indexed(a: kb.indexedarray(dtype=float)):
    return a[0]


@kb.func
def of_any_array(a: kb.array(dtype=Any)):
    return a[0]


@kb.func
def of_any_indexed(a: kb.indexedarray(dtype=Any)):
    return a[0]


@kb.func
def of_anything(a: Any):
    return a[0]


@kb.kernel
def which(a: kb.array(dtype=float), b: kb.indexedarray(dtype=float), c: kb.indexedarray2d[float]):
    x = of_array(b)  # E: KB120 must be array1[float32], not indexedarray1[float32]
    y = of_indexed(a)  # E: KB120 must be indexedarray1[float32], not array1[float32]
    z = of_any_array(b)  # E: KB120 takes array1[Any], not indexedarray1[float32]
    w = of_any_indexed(a)  # E: KB120 takes indexedarray1[Any], not array1[float32]
    a[0] = x + y + z + w
    a[1] = of_array(a) + of_indexed(b) + of_any_array(a) + of_any_indexed(b) + of_anything(a) + of_anything(b)
    a[2] = of_indexed(c[0]) + of_any_indexed(c[1]) + of_anything(c)[1]
    a[3] = of_array(c[0])  # E: KB120 must be array1[float32], not indexedarray1[float32]
    a[4] = of_any_indexed(c)  # E: KB120 takes indexedarray1[Any], not indexedarray2[float32]


@kb.kernel
def shared_memory(a: kb.array(dtype=float)):
    tile = kb.shared_array(32, float)
    a[0] = of_array(tile)
    a[1] = of_indexed(tile)  # E: KB120 must be indexedarray1[float32], not shared[float32, 32]


@kb.kernel
def elements(b: kb.indexedarray(dtype=float), c: kb.indexedarray2d[kb.vec3], i: int):
    b[0, 1] = 1.0  # E: KB140 2 index(es) for indexedarray1[float32]
    c[0] = 1.0  # E: KB140 index every one of them
    b[1.0] = 1.0  # E: KB122 an index must be int32
    b[i] = b.strides[0]  # E: KB142 arrays in kernels have no attribute 'strides'
    b[i] = c[i, i].x + float(c.shape[1] + len(b) + b.ndim) + b.dtype(i)
    c[i, i].y += 2.0
    c[i][i] += kb.vec3(1.0)
    kb.atomic_add(c, i, 1.0)  # E: KB140 index every one of them
    b = c[i]  # E: KB124 'b' is indexedarray1[float32] (since line 54) and cannot become


@kb.kernel
def nested(a: kb.indexedarray(dtype=kb.array(dtype=float))):  # E: KB102 elements cannot be arrays
    a[0] = 1.0


@kb.kernel
def without_a_type(a: kb.indexedarray):  # E: KB102 write indexedarray(dtype=float) or indexedarray[float]
    a[0] = 1.0
