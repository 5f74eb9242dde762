import kbuild as kb


@kb.kernel
def tid_4(a: kb.array(dtype=float, ndim=4)):
    i, j, k, m = kb.tid()
    a[i, j, k, m] = float(i)
