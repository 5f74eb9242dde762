import kbuild as kb


@kb.func
def double(x: float):
    return 2.0 * x


@kb.kernel
def variables(a: kb.array(dtype=float), n: int, v: kb.vec3):
    once = 3
    a[0] = kb.static(once * 0.5)
    twice = 3
    twice = 4
    a[1] = kb.static(twice * 0.5)  # E: KB181 static() cannot see 'twice'
    a[2] = kb.static(len(a) * 0.5)  # E: KB180 the length of an array is known on the GPU only
    a[3] = kb.static(len(v) * 0.5)
    f = double  # E: KB105 is no value inside a kernel
    f = kb.sqrt  # E: KB105 is no value inside a kernel
    a[4] = float(once + twice)
    (p, q), r = (1.0, 2.0), 3.0
    a[5] = p + q + r
    kb.vec3(*n)  # E: KB111 has no parts to pass one by one
    n.dtype(1.0)  # E: KB142 int32 has no attribute 'dtype'
