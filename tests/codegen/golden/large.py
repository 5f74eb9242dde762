import kbuild as kb

mat55 = kb.types.matrix(shape=(5, 5), dtype=float)


@kb.kernel
def damped(m: kb.array(dtype=mat55), v: kb.array(dtype=kb.types.vector(length=32, dtype=int))):
    i = kb.tid()
    m[i] = mat55(1.0) - m[i] * 0.5
    v[i] = v[i] + v[i]
