"""Statements of Python that kernels do not have."""

import contextlib

import kbuild as kb


@kb.kernel
def tries(a: kb.array(dtype=float)):
    try:  # E: KB110 cannot be caught
        a[0] = 1.0
    except ValueError:
        a[0] = 2.0


@kb.kernel
def raises(a: kb.array(dtype=float)):
    if a[0] > 0.0:
        raise ValueError("no")  # E: KB110 write a status into an array
        #^^^^^^^^^^^^^^^^^^^^^^


@kb.kernel
def with_block(a: kb.array(dtype=float)):
    with contextlib.suppress(ValueError):  # E: KB110 no context managers
        a[0] = 1.0


@kb.kernel
def defines(a: kb.array(dtype=float)):
    def inner(x: float):  # E: KB110 define it at module level with @kb.func
        return x

    a[0] = inner(1.0)


@kb.kernel
def class_inside(a: kb.array(dtype=float)):
    class Thing:  # E: KB110 define a @kb.struct at module level
        x: float


@kb.kernel
def imports(a: kb.array(dtype=float)):
    import math  # E: KB110 import at module level
    from math import pi  # E: KB110 import at module level

    a[0] = pi + math.pi


counter = 0


@kb.kernel
def global_variable(a: kb.array(dtype=float)):
    global counter  # E: KB110 write results into an array
    a[0] = 1.0


def make():
    count = 0

    @kb.kernel
    def nonlocal_variable(a: kb.array(dtype=float)):
        nonlocal count  # E: KB110 write results into an array
        a[0] = 1.0

    return nonlocal_variable, lambda: count


nonlocal_kernel = make()


@kb.kernel
def deletes(a: kb.array(dtype=float)):
    x = a[0]
    del x  # E: KB110 variables of a kernel end with it


@kb.kernel
def matches(a: kb.array(dtype=int)):
    match a[0]:  # E: KB110 write if / elif / else
        case 1:
            a[0] = 2


@kb.kernel
def for_else(n: int, a: kb.array(dtype=float)):
    for i in range(n):
        a[i] = 1.0
    else:
        a[0] = 2.0  # E: KB110 set a flag before


@kb.kernel
def while_else(a: kb.array(dtype=float)):
    while a[0] > 1.0:
        a[0] = a[0] - 1.0
    else:
        a[0] = 2.0  # E: KB110 set a flag before


@kb.kernel
def loops_over_values(a: kb.array(dtype=float)):
    for x in a:  # E: KB110 range
        a[0] = x
    for i in [1, 2]:  # E: KB110 range
        a[i] = 1.0
    for i, x in enumerate(a):  # E: KB110 single name
        a[i] = x
    for a[0] in range(3):  # E: KB110 single name
        pass


@kb.kernel
def nothing_happens(a: kb.array(dtype=float)):
    a[0]  # E: KB110 does nothing
    a[0] == 1.0  # E: KB110 does nothing
    kb.sin(a[0])  # E: KB110 this call does nothing
    1.0  # E: KB110 does nothing
    kb.atomic_add(a, 0, 1.0) if a[0] > 0.0 else a[1]  # E: KB110 does nothing
