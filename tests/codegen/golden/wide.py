import kbuild as kb


@kb.kernel
def wide(a: kb.array(dtype=kb.int64), d: kb.array(dtype=kb.float64), u: kb.uint64, n: int):
    i = kb.tid()
    a[i] = kb.int64(n) * a[i] // 3 + a[0] % a[1]
    d[i] = d[i] * d[0] + kb.float64(a[i])
    a[0] = kb.int64(d[1]) + kb.int64(u >> 40)
    a[1] = a[2] << a[3]
    a[4] = -9223372036854775808
