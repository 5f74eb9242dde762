"""Returns: one type on every way, nothing from a kernel."""

import kbuild as kb


@kb.func
def two_types(x: float):
    if x > 0.0:
        return x
    return 1  # fits float32


@kb.func
def differs(x: float, n: int):
    if x > 0.0:
        return x
    return n  # E: KB150 returns int32 here and float32 before


@kb.func
def other_count(x: float):
    if x > 0.0:
        return x, x
    return x  # E: KB150 returns float32 here and tuple[float32, float32] before


@kb.func
def sometimes(x: float):  # E: KB151 returns float32 on some ways through
    if x > 0.0:
        return x


@kb.func
def after_loop(x: float):  # E: KB151 add a `return` at its end
    for i in range(3):
        return x + float(i)


@kb.func
def bare_return(x: float):
    if x > 0.0:
        return
    return x  # E: KB150 returns float32 here and void before


@kb.func
def breaks_out(x: float):  # E: KB151 on some ways through
    while True:
        if x > 0.0:
            break
        return x


@kb.func
def never_ends_otherwise(x: float):
    while True:
        x += 1.0
        for i in range(10):
            if i > 3:
                break
        if x > 10.0:
            return x


@kb.kernel
def calls_them(a: kb.array(dtype=float)):
    a[0] = two_types(a[0])
    a[1] = differs(a[0], 1)
    x, y = other_count(a[0])
    a[2] = sometimes(a[0])
    a[3] = after_loop(a[0])
    a[4] = bare_return(a[0])
    a[5] = breaks_out(a[0])
    a[6] = never_ends_otherwise(a[0])
    a[7] = x + y


@kb.func
def other_form(x: float):
    if x > 0.0:
        return (x, x), x
    return x, (x, x)  # E: KB150 returns tuples of another form here than before


@kb.kernel
def uses_other_form(a: kb.array(dtype=float)):
    (x, y), z = other_form(a[0])
    a[0] = x + y + z


@kb.kernel
def returns_value(a: kb.array(dtype=float)):
    if a[0] > 0.0:
        return a[0]  # E: KB152 write the result into an array
        #^^^^^^^^^^
    return None
