import kbuild as kb


@kb.kernel
def names(a: kb.array(dtype=int)):
    for i in range(2):
        a[i] = 1
    for i in range(3):
        a[i] += 2
