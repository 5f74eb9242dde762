import kbuild as kb


@kb.func
def own():
    return kb.tid() * 2


@kb.kernel
def early_return(a: kb.array(dtype=int), n: int):
    i = kb.tid()
    if i >= n:
        return
    elif a[i] == 0:
        a[i] = own()
        return
    if n > 3:
        x = n
    a[i] = x
