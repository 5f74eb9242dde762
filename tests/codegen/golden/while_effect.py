import kbuild as kb


@kb.kernel
def while_effect(a: kb.array(dtype=int)):
    while kb.atomic_add(a, 0, 1) < 10:
        a[1] = a[0]
        if a[1] > 5:
            break
