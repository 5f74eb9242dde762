import kbuild as kb


@kb.func
def take(a: kb.array(dtype=int), i: int):
    a[i] -= 1
    return a[i] > 0


@kb.kernel
def short_circuit(a: kb.array(dtype=int), n: int):
    if n > 0 and take(a, n):
        a[0] = 1
    b = n > 1 or n < -1
    c = take(a, 1) if b else n > 3
    a[2] = int(c)
