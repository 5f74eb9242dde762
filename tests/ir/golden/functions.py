import kbuild as kb


@kb.struct
class Pair:
    first: float
    second: kb.vec2


@kb.func
def split(p: Pair):
    return p.first, p.second[1]


@kb.func
def store(a: kb.array(dtype=float), i: int, x: float):
    a[i] = x
    return x


@kb.kernel
def functions(a: kb.array(dtype=float), p: Pair):
    x, y = split(p)
    z = a[0] + store(a, 1, x) * 2.0
    q = Pair(z, kb.vec2(y))
    q.second.x = 3.0
    old = kb.atomic_max(a, 2, q.first)
    a[3] = old
