"""Expressions of Python that kernels do not have."""

import kbuild as kb


@kb.kernel
def containers(a: kb.array(dtype=float)):
    x = [1.0, 2.0]  # E: KB111 lists
    #   ^^^^^^^^^^
    y = {"a": 1}  # E: KB111 use a struct, or an array parameter
    z = {1, 2}  # E: KB111 sets
    t = 1.0
    t = (1.0, 2.0)  # E: KB111 a tuple is no value
    a[0] = x[0] + y["a"] + z[0] + t


@kb.kernel
def comprehensions(a: kb.array(dtype=float)):
    x = [i for i in range(3)]  # E: KB111 write a `for … in range(…)` loop
    y = {i for i in range(3)}  # E: KB111 comprehensions
    z = {i: i for i in range(3)}  # E: KB111 comprehensions
    w = max(i for i in range(3))  # E: KB111 generators
    a[0] = x[0] + y + z + w


@kb.kernel
def functions(a: kb.array(dtype=float)):
    f = lambda x: x + 1.0  # E: KB111 define it at module level with @kb.func
    a[0] = f(a[0])
    a[1] = (lambda x: x)(1.0)  # E: KB111 this is no function
    a[2] = (yield)  # E: KB111 yield


@kb.kernel
def texts(a: kb.array(dtype=float)):
    x = f"{a[0]}"  # E: KB111 formatted strings
    y = "text"  # E: KB105 'text' is no value
    a[0] = x + y
    a[1] = b"bytes"  # E: KB105 no value
    a[2] = None  # E: KB105 None is no value
    a[3] = ...  # E: KB105 no value


@kb.kernel
def assigns_inside(a: kb.array(dtype=float)):
    if (n := a[0]) > 1.0:  # E: KB111 assign in a statement of its own
        #^^^^^^^^^
        a[1] = n


@kb.kernel
def slices(a: kb.array(dtype=float), b: kb.array2d(dtype=float)):
    x = a[1:2]  # E: KB111 index single elements
    y = b[0, :]  # E: KB111 slices
    a[:] = 0.0  # E: KB111 slices
    a[0] = x[0] + y[0]


@kb.kernel
def identity_and_membership(a: kb.array(dtype=float)):
    x = a[0] is a[1]  # E: KB111 compare with == or !=
    y = a[0] in a  # E: KB111 compare with == or !=
    z = 1 < a[0] is not a[1]  # E: KB111 compare with == or !=
    a[0] = float(x) + float(y) + float(z)


@kb.kernel
def complex_numbers(a: kb.array(dtype=float)):
    a[0] = 1.0 + 2.0j  # E: KB111 use kb.vec2
    #            ^^^^


@kb.func
def two(x: float):
    return x, x


@kb.kernel
def several_values(a: kb.array(dtype=float)):
    x = two(1.0)
    a[0] = two(1.0)  # E: KB111 unpack it
    a[1] = a.shape  # E: KB111 unpack it
    a[2] = x + 1.0  # E: KB111 a tuple is no value


@kb.kernel
def starred(a: kb.array(dtype=float)):
    x, *y = two(1.0)  # E: KB143 cannot be assigned to
    kb.sqrt(*a)  # E: KB111 array1[float32] has no parts
    a[0] = kb.sqrt(**a)  # E: KB111 write the arguments out


@kb.func
def two(x: float, y: float):
    return x + y


@kb.kernel
def unpacked(a: kb.array(dtype=float), n: int):
    x, y = a[0:2]
    a[0] = two(*a[1:3]) + x + y
    a[1] = two(*a[:n])  # E: KB140 the bounds of a slice must be constants
    a[2] = two(*a[1:])  # E: KB140 a slice of an array that is unpacked needs a stop
    a[3] = two(*a[:-3])  # E: KB141 a slice of an array that is unpacked counts from its start
    a[4] = two(*a[5:2:-1])  # E: KB141 a slice of an array that is unpacked has no step of -1
    a[5] = two(*a[5:2:0])  # E: KB141 a slice of an array that is unpacked has no step of 0
    a[6] = two(*a[0:100000])  # E: KB141 100000 elements are too many to unpack, at most 256 are
    x, y = a[0:3]  # E: KB132 3 value(s) for 2 target(s)
