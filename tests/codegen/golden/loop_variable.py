import kbuild as kb


@kb.kernel
def loop_variable(a: kb.array(dtype=int), n: int):
    for i in range(n):
        a[i] = i
    a[n] = i
    for j in range(n):
        j = j * 2
        a[j] = j
