import kbuild as kb


@kb.kernel
def halves(h: kb.array(dtype=kb.float16), x: float, n: kb.int64):
    i = kb.tid()
    h[i] = h[i] * h[0] + kb.float16(x)
    h[1] = kb.sqrt(-h[2]) if h[3] < 0.5 else kb.float16(n)
    h[4] += 1.0
