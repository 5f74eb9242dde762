"""Gradients and replays that do not fit, and kb.adjoint where it has no meaning."""

from __future__ import annotations

import kbuild as kb


@kb.struct
class Body:
    mass: float
    count: int
    forces: kb.array(dtype=float)


@kb.func
def square(x: float, n: int):
    return x * x


@kb.func_grad(square)
def too_few(x: float, n: int):  # E: KB196 2 parameter(s), and as the gradient of cases.gradients:square it must have 3
    kb.adjoint[x] += 1.0


@kb.func
def cube(x: float):
    return x * x * x


@kb.func_grad(cube)
def other_type(x: kb.float64, adj_ret: float):  # E: KB196 'x' of cases.gradients:other_type must be float32 as in the function, not float64
    #          ^^^^^^^^^^^^^
    kb.adjoint[x] += 1.0


@kb.func
def root(x: float):
    return kb.sqrt(x)


@kb.func_grad(root)
def other_result(x: float, adj_ret: kb.vec3):  # E: KB196 'adj_ret' of cases.gradients:other_result must be float32 as the result, not vec3
    kb.adjoint[x] += 1.0


@kb.func
def work(x: float, n: int, body: Body, a: kb.array(dtype=float)):
    a[n] = x * body.mass


@kb.func_grad(work)
def adj_work(x: float, n: int, body: Body, a: kb.array(dtype=float)):
    kb.adjoint[n] += 1  # E: KB197 'n' is int32, which has no adjoint
    #^^^^^^^^^^^^^
    kb.adjoint[body.count] += 1  # E: KB197 this int32 is no part of a parameter with an adjoint
    kb.adjoint[body.forces][n] += 1.0  # E: KB197 the array 'forces' in a struct has no adjoint of its own
    y = x * 2.0
    kb.adjoint[y] += 1.0  # E: KB197 'y' is no parameter
    kb.adjoint[1.0] += 1.0  # E: KB197 the number 1.0 is no parameter
    kb.adjoint[x + 1.0] += 1.0  # E: KB197 float32 is no parameter, and has no adjoint
    kb.adjoint[x, y] += 1.0  # E: KB197 2 values is no parameter
    kb.adjoint[a] += 1.0  # E: KB143 this cannot be assigned to
    kb.adjoint = 1.0  # E: KB143 this cannot be assigned to
    return x  # E: KB196 a gradient returns nothing


@kb.func
def counted(a: kb.array(dtype=int), n: int):
    return kb.atomic_add(a, 0, n)


@kb.func_replay(counted)
def recounted(a: kb.array(dtype=int), n: int):  # E: KB196 and must be (array1[int32], int32) -> int32 as
    return 1.0


@kb.func
def stored(a: kb.array(dtype=int), n: int):
    return a[n]


@kb.func_replay(stored)
def restored(a: kb.array(dtype=int)):  # E: KB196 has 1 parameter(s), and as the replay of
    return a[0]


@kb.func
def elsewhere(x: float):
    kb.adjoint[x] += 1.0  # E: KB197 kb.adjoint has a meaning in gradients alone; it is for functions made with
    return x


@kb.func
def helped(x: float):
    return x


@kb.func_grad(helped)
def adj_helped(x: float, adj_ret: float):
    kb.adjoint[x] += adj_ret + unknown  # E: KB103 'unknown' is not defined


@kb.kernel
def calls(a: kb.array(dtype=float), ints: kb.array(dtype=int), body: Body, n: int):
    a[0] = square(a[1], n)
    a[1] = cube(a[1])
    a[2] = root(a[1])
    work(a[1], n, body, a)
    ints[1] = counted(ints, n)
    ints[2] = stored(ints, n)
    a[3] = elsewhere(a[1])
    a[4] = helped(a[1])
    a[5] = kb.adjoint  # E: KB105 the Python object kb.adjoint is no value inside a kernel


@kb.kernel(enable_backward=False)
def without(a: kb.array(dtype=float), n: int):
    a[0] = square(a[1], n) + helped(a[2])
