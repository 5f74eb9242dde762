"""Local names for functions, types and tuples; arguments with a star; what is known of local values."""

import kbuild as kb


@kb.func
def double(x: float):
    return x * 2.0


@kb.func
def two(x: float, y: float):
    return x, y


@kb.kernel
def right(a: kb.array(dtype=float), v: kb.vec2, m: kb.mat22):
    f = kb.static(double)
    kind = kb.types.vector(length=3, dtype=float)
    pair = two(*v)
    nothing = None
    a[0] = f(kind(*v, 1.0)[2]) + pair[1] + a.dtype(1) + v.dtype(2.5) + kb.vec4(*m[0], *m[1])[3] + two(*pair)[0]
    for i in range(kb.static(len(v) + m.shape[1])):
        a[i] = kb.static(m.dtype is kb.float32)  # E: KB120
    if nothing:
        a[1] = -1.0


@kb.kernel
def wrong(a: kb.array(dtype=float), n: int, flag: bool):
    f = kb.static(double)  # E: KB105 no value inside a kernel
    if n > 0:
        f = kb.static(two)  # E: KB105 no value inside a kernel
    a[0] = a.shape(0)  # E: KB111 no methods
    a[1] = n.dtype(0)  # E: KB142 no attribute 'dtype'
    t = (1.0, 2.0)  # E: KB111 a tuple is no value
    t = (3.0, 4.0)  # E: KB111 a tuple is no value
    a[2] = kb.sqrt(*n)  # E: KB111 int32 has no parts
    a[3] = kb.static(n + 1)  # E: KB181 cannot see 'n'
    a[4] = float(flag == 2)  # E: KB122
    a[5] = float(flag == 1)
    a[6] = float(len(kb.static(a.shape)))  # E: KB180 has no attribute 'shape'
