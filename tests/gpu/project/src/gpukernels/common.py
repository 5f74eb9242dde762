"""Functions and structs that kernels of other modules use. The functions are plain Python on the host too."""

import kbuild as kb

FACTOR = 3


@kb.struct
class Inner:
    """Inside `structs.Outer`."""

    weight: kb.float64
    index: kb.int16
    flag: bool


@kb.func
def twice(x: int) -> int:
    return 2 * x


@kb.func
def divided(a: int, b: int):
    """Two results: quotient and remainder, towards zero; both from one call."""
    return a // b, a % b


@kb.func
def nested(x: int) -> int:
    """A function that calls functions."""
    q, r = divided(twice(x) + FACTOR, 5)
    return q * 10 + r


@kb.func
def weighted(inner: Inner, scale: kb.float64) -> kb.float64:
    if inner.flag:
        return inner.weight * scale
    return kb.float64(0.0)
