import kbuild as kb


@kb.kernel
def matrices(m: kb.array(dtype=kb.mat22), v: kb.vec2):
    i = kb.tid()
    a = m[i]
    a[0, 1] = v.x
    m[i] = a @ a * 2.0 - a
    m[i + 1][1] = a @ v + v
