import kbuild as kb

N = 20


class Opaque:
    size = 3


OPAQUE = Opaque()
LOCK = [OPAQUE]


@kb.kernel
def faults(a: kb.array(dtype=int), n: int):
    i = kb.tid()
    a[i] = kb.static(1 // 0)  # E: KB180 static(1 // 0) fails: ZeroDivisionError
    a[i] = kb.static(n + 1)  # E: KB181 static() cannot see 'n'
    a[i] = kb.static(len(LOCK))  # E: KB105 static() captures something without an exact value
    a[i] = kb.static()  # E: KB130 static() takes one expression
    a[i] = kb.static(OPAQUE.size)
    a[i] = kb.static(OPAQUE)  # E: KB105 static() captures something without an exact value


@kb.kernel
def loops(a: kb.array(dtype=int), n: int):
    for i in range(n):  # E: KB182 the range is not constant
        a[i] = kb.static(i * 2)
    for j in range(N):  # E: KB182 a loop of 20 trips is not unrolled
        a[j] = kb.static(j * 2)
    for k in range(3):
        if a[k] > 0:
            break  # E: KB183 an unrolled loop cannot be left early
        a[k] = kb.static(k * 2)
    m = 0
    for m in range(3):  # E: KB182 which is also an ordinary variable
        a[m] = kb.static(m * 2)
    a[m] = m
    for p in range(2):  # E: KB182 which is also an ordinary variable
        if a[0] > 0:
            for p in range(3):
                a[1] = 1
        a[p] = kb.static(p * 2)
