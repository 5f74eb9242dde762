"""Atomic operations work on elements of arrays."""

import kbuild as kb


@kb.struct
class Cell:
    count: int
    active: bool


@kb.kernel
def misuse(a: kb.array(dtype=float), b: kb.array2d(dtype=int), v: kb.vec3, c: kb.array(dtype=Cell), n: int, f: kb.array(dtype=bool)):
    kb.atomic_add(n, 0, 1)  # E: KB170 works on an array, not on int32
    kb.atomic_add(a[0], 0, 1.0)  # E: KB170 pass the array and the indices
    kb.atomic_add(v, 0, 1.0)  # E: KB170 works on an array
    kb.atomic_add(v[0], 1.0)  # E: KB170 or the part of an element
    kb.atomic_add(n, 1)  # E: KB170 works on an array, not on int32
    kb.atomic_add(c[0].count, 1.0)  # E: KB122 must be int32
    kb.atomic_add(c[0].active, True)  # E: KB170 does not work on bool
    kb.atomic_max(c[0].count, 1)
    kb.atomic_cas(c[0].count, 1)  # E: KB130 compare, value
    kb.atomic_add(a, 1.0)  # E: KB130 kb.atomic_add(array, index …, value)
    kb.atomic_add(b, 0, 1)  # E: KB140 1 index(es) for array2
    kb.atomic_add(a, 0, 1, 1.0)  # E: KB140 2 index(es)
    kb.atomic_cas(a, 0, 1.0)  # E: KB130 compare, value
    kb.atomic_add(a, 0, n)  # E: KB120 the value of kb.atomic_add must be float32
    kb.atomic_max(b, 0, 0, 1.5)  # E: KB122 must be int32
    kb.atomic_add(c, 0, c[1])  # E: KB170 does not work on
    kb.atomic_add(f, 0, True)  # E: KB170 does not work on bool
    kb.atomic_add(*a)  # E: KB130 positional arguments only
    kb.atomic_add(3.0, 0, 1)  # E: KB170 works on an array
    kb.atomic_add(a, 0.5, 1.0)  # E: KB122 an index must be int32
    kb.atomic_add(a, -1, 1.0)


@kb.kernel
def vectors(p: kb.array(dtype=kb.vec3)):
    kb.atomic_add(p, 0, p[1])
    kb.atomic_cas(p, 0, p[1], p[2])  # E: KB170 does not work on vec3
    p[0] += 1  # E: KB122 must be vec3


@kb.kernel
def augmented(f: kb.array(dtype=bool), c: kb.array(dtype=Cell)):
    f[0] += True  # E: KB121 does not take bool
    c[0].active += True  # E: KB121 does not take bool
    c[0].count += 1
