import kbuild as kb


@kb.kernel
def loop_constant(a: kb.array(dtype=float)):
    for i in range(4):
        a[i] = 1.0
    for i in range(10, 0, -3):
        a[i] = 2.0
    for i in range(1000):
        a[i] = 3.0
