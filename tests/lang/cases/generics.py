"""Generic kernels and functions, and overloads."""

from typing import Any, TypeVar

import kbuild as kb

T = TypeVar("T")
Real = TypeVar("Real", kb.float32, kb.float64)


@kb.func
def pick(x: float):
    return x * 2.0


@kb.func
def pick(x: kb.vec3):  # noqa: F811
    return x[0]


@kb.func
def same(a: T, b: T):
    return a + b


@kb.func
def real(x: Real):
    return x


@kb.func
def first(v: kb.types.vector(length=Any, dtype=float)):
    return v[0]


@kb.func
def corner(m: kb.types.matrix(shape=(Any, Any), dtype=Any)):
    return m[0, 0]


@kb.func
def element(a: kb.array2d[Any], i: int):
    return a[i, i]


@kb.kernel
def good(a: kb.array(dtype=float), b: kb.array2d(dtype=kb.int64), v: kb.vec3, m: kb.mat22d):
    i = kb.tid()
    a[i] = pick(1) + pick(v) + same(a[i], 2) + first(v) + float(corner(m)) + float(element(b, i))


@kb.kernel
def overloads(a: kb.array(dtype=float), v: kb.vec2):
    a[0] = pick(v)  # E: KB130 no overload of cases.generics:pick takes (vec2[float32])
    #      ^^^^^^^
    a[1] = pick(a[0], 1.0)  # E: KB130 there are (x: float); (x: vec3)


@kb.kernel
def variables(a: kb.array(dtype=float), d: kb.array(dtype=kb.float64)):
    a[0] = same(a[1], d[0])  # E: KB120 'b' of cases.generics:same takes T, not float64
    #      ^^^^^^^^^^^^^^^^
    a[1] = float(real(kb.int64(3)))  # E: KB120 takes Real, not int64


@kb.kernel
def patterns(a: kb.array(dtype=float), d: kb.array(dtype=kb.float64), v: kb.vec3i):
    a[0] = first(v)  # E: KB120 'v' of cases.generics:first takes vecAny[float], not vec3[int32]
    a[1] = element(a, 0)  # E: KB120 takes array2[Any], not array1[float32]
    a[2] = corner(a[0])  # E: KB120 takes matAnyxAny[Any], not float32


@kb.kernel
def without_types(a: kb.array(dtype=Any), s: Any):  # E: KB211 generic, and no overload of it was named
    a[0] = s


@kb.kernel
def scale(a: kb.array(dtype=Any), s: Any):
    a[0] = a[0] * s  # E: KB120 float64
    #      ^^^^^^^^


kb.overload(scale, {"a": kb.array(dtype=float), "s": kb.float64})
kb.overload(scale, [kb.array(dtype=kb.vec3), float])
