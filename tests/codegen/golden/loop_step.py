import kbuild as kb


@kb.kernel
def loop_step(a: kb.array(dtype=float), n: int, step: int):
    for i in range(0, n, 2):
        a[i] = 1.0
    for i in range(n, -1, -1):
        a[i] = 2.0
    for i in range(0, n, step):
        a[i] = 3.0
