import kbuild as kb


@kb.kernel
def augmented(a: kb.array(dtype=float), v: kb.array(dtype=kb.vec2), c: kb.array(dtype=kb.uint8)):
    i = kb.tid()
    a[i] += 1.0
    a[i + 1] -= a[i]
    a[i] *= 2.0
    v[i] += kb.vec2(1.0, 2.0)
    v[i].y -= 3.0
    c[i] += 1
