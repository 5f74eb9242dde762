import kbuild as kb


@kb.func
def halves(n: int):
    return n // 2, n % 2


@kb.kernel
def several_results(a: kb.array(dtype=int)):
    i = kb.tid()
    q, r = halves(a[i])
    a[i], a[q] = a[r], q
