"""Parameters need types that kernels know."""

from typing import Any, Optional

import kbuild as kb


class Plain:
    x: float


@kb.kernel
def untyped(a: kb.array(dtype=float), n):  # E: KB101 write `n: float`
    #                                 ^
    a[0] = float(n)
    a[1] = missing  # E: KB103 'missing' is not defined


@kb.kernel
def not_types(
    a: kb.array(dtype=float),
    b: list,  # E: KB102 the type of 'b' cannot be used
    #  ^^^^
    c: "no_such_type",  # E: KB102 no_such_type
    d: Optional[int],  # E: KB102 the type of 'd'
    e: 3,  # E: KB102 the type of 'e'
    f: Plain,  # E: KB102 decorate it with @struct
    g: kb.array,  # E: KB102 needs an element type
    h: "1 +",  # E: KB102 the type of 'h'
):
    a[0] = b


@kb.kernel
def many(a: kb.array(dtype=float), *rest: float):  # E: KB106 kernels have no `*rest`
    a[0] = rest[0]
    a[1] = missing  # E: KB103 'missing' is not defined


@kb.kernel
def named(a: kb.array(dtype=float), **rest: float):  # E: KB106 kernels have no `**rest`
    a[0] = 1.0


@kb.kernel
def anything(a: Any):  # E: KB211 no overload of it was named
    a[0] = 1.0


@kb.func
def untyped_helper(x, y: float):  # E: KB101 parameter 'x' has no type
    return x + y


@kb.kernel
def calls_helper(a: kb.array(dtype=float)):
    a[0] = untyped_helper(1.0, 2.0)


@kb.struct
class Holder:
    values: list


@kb.kernel
def bad_struct(h: Holder):  # E: KB102 field 'values'
    pass
