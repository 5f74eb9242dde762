"""Arrays seen through index arrays: elements, a view, one that may be None, also at an index."""

import kbuild as kb


@kb.kernel
def indexed(a: kb.indexedarray2d[float], b: kb.indexedarray(dtype=int)):
    i = kb.tid()
    row = a[i]
    row[0] = a[i, 1] + float(len(row))
    if b:
        b[i] += 1
    if row is not None:
        row[1] = 2.0
