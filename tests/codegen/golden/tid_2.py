import kbuild as kb


@kb.kernel
def tid_2(a: kb.array(dtype=float, ndim=2)):
    i, j = kb.tid()
    a[i, j] = float(i)
