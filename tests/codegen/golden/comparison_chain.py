import kbuild as kb


@kb.kernel
def comparison_chain(a: kb.array(dtype=float), x: float):
    if 0.0 < x <= a[0] < 10.0:
        a[1] = x
