"""Arrays seen through index arrays: elements, parts, atomics, views, structs, functions, generics, None."""

from typing import Any

import kbuild as kb
import kbuild.warp as wp


@kb.kernel
def exchange1(a: kb.indexedarray(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    out[i] = a[i]
    a[i] = -1.0


@kb.kernel
def exchange2(a: kb.indexedarray2d[kb.float64], out: kb.array2d[kb.float64]):
    i, j = kb.tid()
    out[i, j] = a[i, j]
    a[i, j] = -1.0


@kb.kernel
def exchange3(a: kb.indexedarray3d[kb.float64], out: kb.array3d[kb.float64]):
    i, j, k = kb.tid()
    out[i, j, k] = a[i, j, k]
    a[i, j, k] = -1.0


@kb.kernel
def exchange4(a: kb.indexedarray4d[kb.float64], out: kb.array4d[kb.float64]):
    i, j, k, m = kb.tid()
    out[i, j, k, m] = a[i, j, k, m]
    a[i, j, k, m] = -1.0


@kb.kernel
def extents(a: kb.indexedarray(dtype=kb.uint8), b: kb.indexedarray4d[float], out: kb.array(dtype=int)):
    out[0] = a.shape[0]
    out[1] = len(b)
    out[2] = b.shape[1]
    out[3] = b.shape[2]
    out[4] = b.shape[3]
    out[5] = len(b[0, 0])
    out[6] = int(a[-1])
    out[7] = b.ndim


@kb.kernel
def count(bins: kb.indexedarray(dtype=int), which: kb.array(dtype=int), before: kb.array(dtype=int)):
    """Many threads on few elements."""
    i = kb.tid()
    bins[which[i]] += 1
    kb.atomic_max(bins, 4, i)
    before[kb.atomic_add(bins, 5, 1)] = 1


@kb.kernel
def all_atomics(n: kb.indexedarray(dtype=int), out: kb.array(dtype=int)):
    out[0] = kb.atomic_add(n, 0, 5)
    out[1] = kb.atomic_sub(n, 1, 5)
    out[2] = kb.atomic_min(n, 0, 2)
    out[3] = kb.atomic_max(n, 1, 2)
    out[4] = kb.atomic_and(n, 0, 3)
    out[5] = kb.atomic_or(n, 1, 8)
    out[6] = kb.atomic_xor(n, 0, 1)
    out[7] = kb.atomic_exch(n, 1, 40)
    out[8] = kb.atomic_cas(n, 0, 3, 50)


@kb.struct
class Selection:
    scale: float
    positions: kb.indexedarray(dtype=kb.vec3)
    table: kb.indexedarray2d[float]


@kb.func
def total(row: kb.indexedarray(dtype=float)):
    result = 0.0
    for i in range(row.shape[0]):
        result += row[i]
    return result


@kb.func
def twice(a: Any, i: int):
    return a[i] + a[i]


@kb.kernel
def of_struct(s: Selection, out: kb.array2d[float]):
    """Parts of elements, views as arguments, functions of any array."""
    i = kb.tid()
    s.positions[i].y = s.positions[i].x * s.scale
    s.positions[i] += kb.vec3(1.0, 0.0, 0.0)
    out[i, 0] = total(s.table[i])
    row = s.table[i]
    out[i, 1] = twice(row, 0) + twice(out[i], 2)
    row[1] = -out[i, 0]


@kb.kernel
def of_struct_array(selections: kb.array(dtype=Selection), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = total(selections[i].table[1]) * selections[i].scale


@kb.kernel
def if_there(a: kb.indexedarray2d[float], s: Selection, out: kb.array(dtype=float)):
    out[0] = -1.0
    if a:
        out[0] = a[0, 0]
    out[1] = 1.0
    if s.positions is None:
        out[1] = 2.0
    row = a[1]
    out[2] = 3.0
    if row:
        out[2] = row[0]


@kb.kernel
def halve(a: Any):
    """One definition for arrays of both kinds."""
    i = kb.tid()
    a[i] = a[i] / a.dtype(2)


kb.overload(halve, {"a": kb.array(dtype=float)})
kb.overload(halve, {"a": kb.indexedarray(dtype=float)})
kb.overload(halve, {"a": kb.indexedarray(dtype=int)})


@wp.kernel
def from_the_end(
    which: kb.array(dtype=int), a: wp.indexedarray[float], b: wp.indexedarray2d[float], out: wp.array2d[float]
):
    """Computed indices, some below zero, in Warp's dialect: counted from the end of what is seen."""
    t = wp.tid()
    i = which[t]
    out[t, 0] = a[i]
    out[t, 1] = b[i, -1]
    out[t, 2] = b[1][i]
