import kbuild as kb


@kb.kernel
def turn(q: kb.array(dtype=kb.quat), t: kb.array(dtype=kb.transform), rate: kb.vec3):
    i = kb.tid()
    q[i] = q[i] * kb.quat(rate, 0.0) * 0.5 + q[i]
    t[i].p = t[i].p + rate
    rate[0:2] = rate[1:3]
    t[i][0:3] = rate
