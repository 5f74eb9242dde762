"""Variables keep their type; values are unpacked one for one."""

import kbuild as kb


@kb.func
def pair(x: float):
    return x, 1


@kb.kernel
def changes_type(a: kb.array(dtype=float), n: int, v: kb.vec3):
    x = 0
    x = a[0]  # E: KB124 'x' is int32 (since line 13) and cannot become float32
    y = a[0]
    y = n  # E: KB124 'y' is float32
    n = a[0]  # E: KB124 'n' is int32
    y = v  # E: KB124 cannot become vec3[float32]
    a = v  # E: KB124 'a' is array1[float32]
    z = 0
    z += 0.5  # E: KB122 the right side
    w = a[0]
    for w in range(n):  # E: KB124 as a loop variable
        pass
    if n > 1:
        u = 1
    else:
        u = 1.5  # E: KB122 'u' must be int32
    a[0] = w


@kb.kernel
def unpacks(a: kb.array(dtype=float), v: kb.vec3, b: kb.array2d(dtype=float)):
    x, y = v  # E: KB132 vec3[float32] cannot be unpacked
    x, y, z = pair(1.0)  # E: KB132 2 value(s) for 3 target(s)
    h, w, c = b.shape  # E: KB132 2 value(s) for 3
    p, q = 1.0  # E: KB132 the number 1.0 cannot be unpacked
    r, s = 1.0, 2.0, 3.0  # E: KB132 3 value(s) for 2
    a[0] = x + y + z
    a[1] = h + w + c + p + q + r + s


@kb.kernel
def annotated(a: kb.array(dtype=float), n: int):
    x: float = n  # E: KB120 'x' must be float32, not int32
    y: int = 1.5  # E: KB122 'y' must be int32
    z: float  # E: KB110 gets a type but no value
    w: list = 1.0  # E: KB102 no type of the kernel language
    v: "undefined" = 1.0  # E: KB103 'undefined' is not defined
    a[0]: float = 1.0  # E: KB143 only a variable can be annotated
    u: n = 1.0  # E: KB102 no type of the kernel language
    a[0] = x + y + z + w + v + u
