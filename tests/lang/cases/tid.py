"""tid(): one to four results, the same number everywhere."""

import kbuild as kb


@kb.kernel
def two_numbers(a: kb.array2d(dtype=float)):
    i, j = kb.tid()
    a[i, j] = 1.0
    k = kb.tid()  # E: KB160 tid() has 1 result(s) here and 2 elsewhere
    a[k, 0] = 1.0


@kb.func
def own_index():
    return kb.tid()  # E: KB160 tid() has 1 result(s) here and 2 elsewhere in cases.tid:helper_disagrees


@kb.kernel
def helper_disagrees(a: kb.array2d(dtype=float)):
    i, j = kb.tid()
    a[i, j] = float(own_index())


@kb.kernel
def five(a: kb.array(dtype=float)):
    i, j, k, l, m = kb.tid()  # E: KB161 one to four results, not 5
    a[i + j + k + l + m] = 1.0


@kb.kernel
def arguments(a: kb.array(dtype=float)):
    i = kb.tid(0)  # E: KB161 an axis and the number of coordinates
    j = kb.tid(2, 2)  # E: KB161 two constants, as in kb.tid(0, 2)
    k = kb.tid(0, 5)  # E: KB161 two constants
    l = kb.tid(int(a[0]), 2)  # E: KB161 two constants
    a[i] = 1.0
    kb.tid = 3  # E: KB143
    a[kb.tid] = 1.0  # E: KB105 is no value
