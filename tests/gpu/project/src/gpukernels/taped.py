"""Kernels whose gradients are asked for."""

import kbuild as kb


@kb.struct
class Spring:
    rest: kb.array(dtype=float)
    stiffness: kb.array(dtype=float)


@kb.kernel
def double(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = 2.0 * x[i]


@kb.kernel
def times(x: kb.array(dtype=float), f: kb.array(dtype=float)):
    i = kb.tid()
    x[i] *= f[i]


@kb.kernel
def move(pos: kb.array(dtype=kb.vec3), vel: kb.array(dtype=kb.vec3), gravity: kb.vec3, dt: float):
    i = kb.tid()
    vel[i] = vel[i] + gravity * dt
    pos[i] = pos[i] + vel[i] * dt


@kb.kernel
def energy(pos: kb.array(dtype=kb.vec3), out: kb.array(dtype=float)):
    i = kb.tid()
    kb.atomic_add(out, 0, kb.length_sq(pos[i]))


@kb.kernel
def stretch(spring: Spring, x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    d = x[i] - spring.rest[i]
    out[i] = 0.5 * spring.stiffness[i] * d * d


@kb.kernel
def power(x: kb.array(dtype=float), n: kb.array(dtype=int), y: kb.array(dtype=float)):
    i = kb.tid()
    p = 1.0
    for _ in range(n[i]):
        p = p * x[i]
    y[i] = p


@kb.kernel(max_iterations=4)
def bounded(x: kb.array(dtype=float), n: kb.array(dtype=int), y: kb.array(dtype=float)):
    i = kb.tid()
    p = kb.vec4(1.0)
    q = kb.vec4(1.0)
    r = kb.vec4(1.0)
    s = kb.vec4(1.0)
    t = kb.vec4(1.0)
    for _ in range(n[i]):
        p = kb.cw_mul(p, p) * x[i]
        q = kb.cw_mul(p, q) + r
        r = kb.cw_mul(q, r) + s
        s = kb.cw_mul(r, s) * 0.5
        t = kb.cw_mul(s, t) + kb.vec4(x[i])
    y[i] = p[0] + q[0] + r[0] + s[0] + t[0]


@kb.kernel(enable_backward=False)
def without(x: kb.array(dtype=float)):
    i = kb.tid()
    x[i] = x[i] + 1.0
