"""Calls of what kernels cannot call, and calls with wrong arguments."""

import math

import kbuild as kb


@kb.struct
class Listed:
    items: list


@kb.kernel
def makes_a_wrong_struct(a: kb.array(dtype=float)):
    listed = Listed()  # E: KB102 field 'items' of struct cases.calls:Listed: list is not a type that a kernel knows
    a[0] = listed.size


def plain(x):
    return x


class Maker:
    def __init__(self, x):
        self.x = x


@kb.kernel
def other_kernel(a: kb.array(dtype=float)):
    a[0] = 1.0


@kb.func
def scaled(x: float, factor: float, offset: float = 0.0):
    return x * factor + offset


@kb.func
def stores(a: kb.array(dtype=float), x: float):
    a[0] = x


@kb.struct
class Spring:
    rest: float
    stiffness: float


@kb.kernel
def python_functions(a: kb.array(dtype=float)):
    x = math.sin(a[0])  # E: KB112 write `kb.sin(…)`
    #   ^^^^^^^^^^^^^^
    y = plain(a[0])  # E: KB112 decorate it with @kb.func
    z = sorted(a)  # E: KB112 is a Python function
    w = round(a[0])  # E: KB112 write `kb.round(…)`
    v = Maker(a[0])  # E: KB112 Python function
    u = math.hypot(a[0], a[1])  # E: KB112 math.hypot is a Python function
    t = math.pi(1.0)  # E: KB112 3.14159
    s = str(a[0])  # E: KB112 is a Python function
    a[0] = x + y + z + w + v + u + t + s


@kb.kernel
def calls_kernel(a: kb.array(dtype=float)):
    other_kernel(a)  # E: KB112 make it a @kb.func


@kb.kernel
def methods(a: kb.array(dtype=float), v: kb.vec3):
    a.fill(0.0)  # E: KB111 kernels have no methods
    a[0] = v.length()  # E: KB111 kernels have no methods
    a[1] = "text".count("t")  # E: KB111 kernels have no methods


@kb.kernel
def unknown_function(a: kb.array(dtype=float)):
    a[0] = kb.sine(a[0])  # E: KB142 did you mean 'sin'?
    a[1] = kb.quaternion_of_everything(a[0])  # E: KB142 kbuild has no attribute


@kb.kernel
def argument_counts(a: kb.array(dtype=float)):
    x = scaled(a[0])  # E: KB130 needs an argument for 'factor'
    y = scaled(1.0, 2.0, 3.0, 4.0)  # E: KB130 takes 3 argument(s), not 4
    z = kb.sqrt()  # E: KB130 (x: Float) -> Float
    w = kb.sqrt(1.0, 2.0)  # E: KB130 takes 1 argument(s)
    v = kb.where(True, 1.0)  # E: KB130 takes 3 argument(s), not 2
    u = kb.dot(1.0)  # E: KB130 kb.dot(a, b) gets 1
    t = float(1.0, 2.0)  # E: KB130 takes one argument
    s = len()  # E: KB130 takes one argument
    r = type(1.0, 2.0)  # E: KB130 takes one argument
    q = kb.vec3(1.0, 2.0)  # E: KB130 takes 0, 1 or 3 numbers
    p = kb.mat22(1.0, 2.0, 3.0)  # E: KB130 takes 0, 1 or 4 numbers
    o = Spring(1.0, 2.0, 3.0)  # E: KB130 has 2 field(s), not 3
    n = kb.fma(1.0, 2.0)  # E: KB130 takes 3 argument(s)
    m = kb.max()  # E: KB130 takes arguments
    a[0] = x + y + z + w + v + u + t + s + r + q + p + o + n + m


@kb.kernel
def keywords(a: kb.array(dtype=float)):
    x = scaled(1.0, facter=2.0)  # E: KB130 did you mean 'factor'?
    y = scaled(1.0, 2.0, factor=3.0)  # E: KB130 gets 'factor' twice
    z = kb.sqrt(x=1.0) + kb.pow(y=2.0, x=3.0) + kb.sqrt(y=1.0)  # E: KB130 does not take 'y' here: kb.sqrt(x)
    w = kb.vec3(x=1.0)  # E: KB130 no keyword arguments
    v = Spring(rest=1.0, stifness=2.0)  # E: KB130 did you mean 'stiffness'?
    u = kb.atomic_add(a, 0, value=1.0)  # E: KB130 positional arguments only
    t = Spring(1.0, rest=2.0)  # E: KB130 gets 'rest' twice
    s = float(x=1.0)  # E: KB130 no keyword arguments
    r = kb.pow(y=2.0)  # E: KB130 needs an argument for 'x'
    a[0] = r + x + y + z + w + v.rest + u + t.rest + s


@kb.kernel
def argument_types(a: kb.array(dtype=float), i: int, d: kb.float64, v: kb.vec3):
    x = scaled(i, 2.0)  # E: KB120 argument 'x' of
    y = scaled(d, 2.0)  # E: KB120 convert it: `kb.float32(…)`
    z = kb.sqrt(i)  # E: KB130 must be a floating-point number
    w = kb.atan2(a[0], d)  # E: KB130 kernels never mix types silently
    u = kb.fma(i, i, i)  # E: KB121 takes float32 or float64
    t = kb.cw_mul(a[0], a[0])  # E: KB121 takes vectors or matrices
    s = kb.vec3(i, i, i)  # E: KB120 an element of vec3[float32]
    r = float(v)  # E: KB121 convert its elements
    q = len(a[0])  # E: KB121 has no length
    p = kb.where(v, 1.0, 2.0)  # E: KB123 is no truth value
    o = kb.where(True, 1.0, i)  # E: KB122 must be int32
    n = Spring(i, 1.0)  # E: KB120 field 'rest'
    a[0] = x + y + z + w + u + t + s + r + q + p + o + n


@kb.kernel
def nothing_returned(a: kb.array(dtype=float)):
    x = stores(a, 1.0)  # E: KB131 returns nothing
    a[1] = stores(a, 2.0)  # E: KB131 returns nothing
    a[2] = x


@kb.kernel
def arrays_are_not_made(a: kb.array(dtype=float)):
    x = kb.zeros(3)  # E: KB112
    y = kb.array(dtype=float)  # E: KB112
    a[0] = x[0] + y[0]
