"""Mistakes that type checkers find: what a line ends with is the error that it gives, and no other line gives one."""

from __future__ import annotations

import kbuild as kb


@kb.kernel  # E: arg-type
def returns_a_value(a: kb.array[float]) -> float:
    return a[0]


@kb.kernel(block_size=3)  # E: call-overload untyped-decorator
def unknown_option(a: kb.array[float]) -> None: ...


@kb.func
def halved(x: float) -> float:
    return 0.5 * x


@kb.kernel
def wrong(a: kb.array[float], b: kb.array2d[kb.vec3], q: kb.quat, qd: kb.quatd, m: kb.mat33) -> None:
    v = b[0, 0]
    kb.sine(1.0)  # E: attr-defined
    kb.sin(v)  # E: arg-type
    kb.sin(1.0, 2.0)  # E: call-arg
    kb.dot(v, 1.0)  # E: arg-type
    kb.dot(v, m)  # E: arg-type
    kb.cross(v, kb.vec2())  # E: type-var
    kb.quat_rotate(qd, v)  # E: call-overload
    kb.determinant(v)  # E: call-overload
    kb.transform_point(q, v)  # E: call-overload
    kb.atomic_add(v, 0, 1.0)  # E: call-overload
    v.w = 1.0  # E: attr-defined
    kb.vec3(1.0, 2.0)  # E: call-overload
    w: kb.vec3 = kb.vec3d()  # E: assignment
    w = kb.vec3i(1, 2, 3)  # E: assignment
    v * v  # E: operator
    m @ kb.vec4()  # E: operator
    q * v  # E: operator
    q * qd  # E: operator
    x: kb.vec2 = b[0][0]  # E: assignment
    a[0] = v  # E: call-overload
    a[0, 0, 0, 0] = "text"  # E: index
    b[0, 0, 0]  # E: index
    halved(v)  # E: arg-type
    halved()  # E: call-arg
    kb.svd3(m)[3]  # E: misc
    n: int = kb.length(v)  # E: assignment


@kb.cuda_kernel("a.cu", arrays="view")  # E: arg-type
def views(n: int) -> None: ...


@kb.func_native(3)  # E: arg-type
def native(n: int) -> None: ...


def host(n: int) -> None:
    kb.lanch(wrong, dim=n)  # E: attr-defined
    kb.launch(wrong, n, streams=None)  # E: call-arg
    kb.zeros(n, dtype="float")  # E: call-overload
    wrong.lunch(n)  # E: attr-defined
    kb.sim.run()  # E: call-arg
    kb.sim.Faul  # E: attr-defined
    kb.sim.configure(races=False).race  # E: attr-defined
    device: int = kb.devices()[0]  # E: assignment
