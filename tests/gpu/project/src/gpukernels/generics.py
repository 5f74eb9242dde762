"""Generic kernels and functions, factories that differ in types, arrays that may be None, names for tuples."""

from typing import Any, TypeVar

import kbuild as kb

T = TypeVar("T")
BIG = kb.int64(2**40 + 1)


@kb.func
def double(x: float):
    return x * 2.0


@kb.func
def double(x: int):  # noqa: F811
    return x + x + 1


@kb.func
def first_of(v: kb.types.vector(length=Any, dtype=Any)):
    return v[0]


@kb.func
def same(a: T, b: T):
    return a + b


@kb.kernel
def scale(x: kb.array(dtype=Any), s: Any):
    """One definition for several types."""
    i = kb.tid()
    x[i] = x[i] * s


SCALE_DOUBLE = kb.overload(scale, {"x": kb.array(dtype=kb.float64), "s": kb.float64})
kb.overload(scale, [kb.array(dtype=float), float])
kb.overload(scale, [kb.array(dtype=kb.vec3), float])


@kb.kernel
def overloaded(out: kb.array2d(dtype=float), v: kb.vec2d):
    """Functions of one name, and generic ones."""
    i = kb.tid()
    out[i, 0] = double(float(i))
    out[i, 1] = float(double(i))
    out[i, 2] = float(first_of(v)) + first_of(kb.vec4(float(i), 0.0, 0.0, 0.0))
    pair = (float(i), i * i)
    out[i, -1] = same(pair[0], 1) + float(same(pair[1], 1))


def make(dtype):
    """The same kernel for arrays of another type."""

    @kb.kernel
    def kernel(data: kb.array(dtype=dtype), out: kb.array(dtype=kb.float64)):
        i = kb.tid()
        out[i] = kb.float64(data[i] / data.dtype(2))

    return kernel


TYPES = [kb.float16, kb.float32, kb.float64, kb.int32, kb.uint8]


def build():
    """Called while building."""
    for dtype in TYPES:
        make(dtype)


@kb.struct
class Model:
    mass: kb.array(dtype=float)
    mask: kb.array2d(dtype=float)


@kb.func
def row_or(row: kb.array(dtype=float), i: int, default: float):
    if row:
        return row[i]
    return default


@kb.kernel
def optional(out: kb.array2d(dtype=float), a: kb.array(dtype=float), b: kb.array2d(dtype=float), model: Model):
    """Arrays that a launch may leave out."""
    i = kb.tid()
    if a is not None:
        out[i, 0] = a[i]
    else:
        out[i, 0] = -1.0
    out[i, 1] = row_or(b[i], 1, -2.0)
    if model.mask:
        out[i, 2] = row_or(model.mask[i], 0, -3.0)
    else:
        out[i, 2] = row_or(model.mass, i, -4.0)


@kb.kernel
def wide(out: kb.array(dtype=kb.int64), u: kb.array(dtype=kb.vec3), flags: kb.array(dtype=kb.bool_)):
    """Constants with a type, whole vectors compared, bools beside numbers."""
    i = kb.tid()
    out[i] = BIG * kb.int64(i)
    if u[i] == kb.vec3(1.0, 2.0, 3.0) and flags[i] == 1:
        out[i] += kb.int64(7)
