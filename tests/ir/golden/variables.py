"""Scopes, live ranges and spaces of variables."""

import kbuild as kb


@kb.func
def scaled(x: float, unused: int):
    y = x * 2.0
    return y


@kb.kernel
def scopes(a: kb.array2d(dtype=float), n: int, v: kb.vec3):
    i = kb.tid()
    total = 0.0
    dead = 1
    for j in range(n):
        part = a[i, j]
        if part > 0.0:
            square = part * part
            total += square
        else:
            last = part
    kept = v
    row = a[i]
    kept[i] = scaled(total, dead)
    while total > 1.0:
        total = total * 0.5
        if total < 0.1:
            break
        before = total
        if n > 3:
            before = before + last
        row[0] = before
    if n == 0:
        _never = kept[1]
    m = kb.mat22(0.0)
    for k in range(2):
        m[k, k] = 1.0
    row[1] = kept[0] + m[1, 1]
