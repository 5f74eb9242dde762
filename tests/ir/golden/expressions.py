import kbuild as kb


@kb.kernel
def expressions(a: kb.array2d(dtype=float), m: kb.mat22, flag: bool, u: kb.uint8):
    i, j = kb.tid()
    x = -a[i, j] if flag and not i < j else m[0, 1]
    y = kb.float64(x) / 2.0
    v = m[1] * x + kb.vec2(1.0, 2.0)
    k = (i << 2) // ~j
    t = 0 < i < k or bool(u)
    a[i, j] = kb.sqrt(x) * float(a.shape[1]) + v.x
    a[i, k] = kb.fma(x, x, x) + float(y) + float(t)
