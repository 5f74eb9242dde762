import kbuild as kb


@kb.kernel
def statements(a: kb.array(dtype=float), n: int):
    i = kb.tid()
    if i >= n:
        return
    elif a[i] > 1.0:
        a[i] = 0.0
    else:
        pass
    for j in range(0, n, 2):
        if j == 4:
            break
        a[j] += 1.0
    while a[i] < 10.0:
        a[i] = a[i] * 2.0
        continue
    for i in range(3):
        n = i
