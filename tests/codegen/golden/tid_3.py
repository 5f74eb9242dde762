import kbuild as kb


@kb.kernel
def tid_3(a: kb.array(dtype=float, ndim=3)):
    i, j, k = kb.tid()
    a[i, j, k] = float(i)
