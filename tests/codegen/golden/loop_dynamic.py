import kbuild as kb


@kb.kernel
def loop_dynamic(a: kb.array(dtype=float), n: int):
    for i in range(n):
        a[i] = 1.0
    for i in range(n, a.shape[0]):
        a[i] = 2.0
