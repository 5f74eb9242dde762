"""Arrays seen through index arrays."""

from typing import Any

import kbuild as kb


@kb.struct
class Seen:
    values: kb.indexedarray(dtype=kb.vec3)


@kb.func
def first(row: Any):
    return row[0]


@kb.kernel
def indexed(a: kb.indexedarray2d[float], s: Seen, out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = first(a[i]) + float(a.shape[1])
    s.values[i].x = 1.0
    kb.atomic_max(a, i, 0, 2.0)
