"""Functions of the kernel language that are written in it: typed, contracted and compiled like a user's own.

`Any` takes the argument's type, so one text serves every length and element type. Only what a kernel reaches is
compiled. Loops here run over constant bounds, which the compiler unrolls.

Some functions have a gradient of their own (`adj_…`): a closed form where the steps of the function have no derivative
and the whole has one, or where it costs less. A function with a gradient is called once more where its value is needed
again, while what a loop leaves in variables would have to be saved.
"""

from __future__ import annotations

from typing import Any

from kbuild.intrinsics import (
    collectives,
    decompositions,
    library_rotations,
    library_spatial,
    linear,
    noise,
    random,
    searching,
)
from kbuild.intrinsics import (
    decomposition_gradients as decomposition_gradients,  # it gives the decompositions theirs
)
from kbuild.intrinsics.overload import Overload, overload
from kbuild.loader import builtins as kb
from kbuild.loader.own_gradients import adjoint, func_grad
from kbuild.loader.types import Function, func

# The bodies below are kernel code: their types are inferred while lowering, not by Python's type checker.
# mypy: disable-error-code="no-untyped-call,no-any-return,misc,untyped-decorator"


@func
def dot(a: Any, b: Any):  # type: ignore[no-untyped-def]
    """Sum of the products of the elements, from the first to the last."""
    total = a[0] * b[0]
    for i in range(1, len(a)):
        total += a[i] * b[i]
    return total


@func_grad(dot)
def adj_dot(a: Any, b: Any, adj_ret: Any):  # type: ignore[no-untyped-def]
    """Each vector gets the other one."""
    adjoint[a] += b * adj_ret
    adjoint[b] += a * adj_ret


@func
def length_sq(v: Any):  # type: ignore[no-untyped-def]
    """Square of the Euclidean length."""
    return kb.dot(v, v)


@func
def length(v: Any):  # type: ignore[no-untyped-def]
    """Euclidean length."""
    return kb.sqrt(kb.dot(v, v))


@func_grad(length)
def adj_length(v: Any, adj_ret: Any):  # type: ignore[no-untyped-def]
    """Nothing at zero, where every direction is as good as another."""
    size = kb.length(v)
    if size > 0.0:
        adjoint[v] += v * (adj_ret / size)


@func
def normalize(v: Any):  # type: ignore[no-untyped-def]
    """The vector at length one; zero stays zero."""
    size = kb.sqrt(kb.dot(v, v))
    if size > 0.0:
        return v / size
    return type(v)()


@func_grad(normalize)
def adj_normalize(v: Any, adj_ret: Any):  # type: ignore[no-untyped-def]
    """What is across the vector, over its length; nothing at zero."""
    size = kb.length(v)
    if size > 0.0:
        unit = v / size
        adjoint[v] += (adj_ret - unit * kb.dot(unit, adj_ret)) / size


@func
def cross(a: Any, b: Any):  # type: ignore[no-untyped-def]
    """Vector product of two vectors of length three."""
    return type(a)(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@func
def transpose(m: Any):  # type: ignore[no-untyped-def]
    """The matrix with rows and columns exchanged."""
    result = kb.matrix(shape=(len(m[0]), len(m)), dtype=type(m[0, 0]))
    for i in range(len(m[0])):
        for j in range(len(m)):
            result[i, j] = m[j, i]
    return result


@func_grad(transpose)
def adj_transpose(m: Any, adj_ret: Any):  # type: ignore[no-untyped-def]
    """The transpose."""
    adjoint[m] += kb.transpose(adj_ret)


@func
def matvec(m: Any, v: Any):  # type: ignore[no-untyped-def]
    """Matrix times vector: `m @ v`."""
    result = kb.vector(length=len(m), dtype=type(m[0, 0]))
    for i in range(len(m)):
        result[i] = kb.dot(m[i], v)
    return result


@func_grad(matvec)
def adj_matvec(m: Any, v: Any, adj_ret: Any):  # type: ignore[no-untyped-def]
    """Of r = m · v."""
    adjoint[m] += kb.outer(adj_ret, v)
    adjoint[v] += adj_ret @ m


@func
def vecmat(v: Any, m: Any):  # type: ignore[no-untyped-def]
    """Vector, as a row, times matrix: `v @ m`."""
    result = kb.vector(length=len(m[0]), dtype=type(m[0, 0]))
    for j in range(len(m[0])):
        total = v[0] * m[0, j]
        for i in range(1, len(m)):
            total += v[i] * m[i, j]
        result[j] = total
    return result


@func_grad(vecmat)
def adj_vecmat(v: Any, m: Any, adj_ret: Any):  # type: ignore[no-untyped-def]
    """Of r = v · m."""
    adjoint[v] += m @ adj_ret
    adjoint[m] += kb.outer(v, adj_ret)


@func
def matmul(a: Any, b: Any):  # type: ignore[no-untyped-def]
    """Product of two matrices: `a @ b`."""
    result = kb.matrix(shape=(len(a), len(b[0])), dtype=type(a[0, 0]))
    for i in range(len(a)):
        for j in range(len(b[0])):
            total = a[i, 0] * b[0, j]
            for k in range(1, len(b)):
                total += a[i, k] * b[k, j]
            result[i, j] = total
    return result


@func_grad(matmul)
def adj_matmul(a: Any, b: Any, adj_ret: Any):  # type: ignore[no-untyped-def]
    """Of r = a · b."""
    adjoint[a] += adj_ret @ kb.transpose(b)
    adjoint[b] += kb.transpose(a) @ adj_ret


@func
def clamp(x: Any, low: Any, high: Any):  # type: ignore[no-untyped-def]
    """x, but not below low nor above high; high wins where they cross."""
    return kb.min(kb.max(x, low), high)


@func
def lerp(a: Any, b: Any, t: Any):  # type: ignore[no-untyped-def]
    """a at t = 0, b at t = 1, a straight line between and beyond."""
    return a * (1.0 - t) + b * t


@func
def sign(x: Any):  # type: ignore[no-untyped-def]
    """-1 below zero, else 1."""
    return -type(x)(1) if x < 0 else type(x)(1)


@func
def step(x: Any):  # type: ignore[no-untyped-def]
    """1 below zero, else 0."""
    return type(x)(1) if x < 0 else type(x)(0)


@func
def frac(x: Any):  # type: ignore[no-untyped-def]
    """What is left of x without its whole part."""
    return x - kb.trunc(x)


@func
def degrees(x: Any):  # type: ignore[no-untyped-def]
    """Radians as degrees."""
    return x * 57.29577951308232


@func
def radians(x: Any):  # type: ignore[no-untyped-def]
    """Degrees as radians."""
    return x * 0.017453292519943295


@func
def cw_abs(v: Any):  # type: ignore[no-untyped-def]
    """`abs` of every element."""
    result = type(v)()
    for i in range(len(v)):
        result[i] = kb.abs(v[i])
    return result


@func
def cw_min(a: Any, b: Any):  # type: ignore[no-untyped-def]
    """`min` of every pair of elements."""
    result = type(a)()
    for i in range(len(a)):
        result[i] = kb.min(a[i], b[i])
    return result


@func
def cw_max(a: Any, b: Any):  # type: ignore[no-untyped-def]
    """`max` of every pair of elements."""
    result = type(a)()
    for i in range(len(a)):
        result[i] = kb.max(a[i], b[i])
    return result


@func
def cw_sign(v: Any):  # type: ignore[no-untyped-def]
    """-1 for every element below zero, 1 for the others."""
    result = type(v)()
    for i in range(len(v)):
        result[i] = kb.sign(v[i])
    return result


@func
def nonzero(x: Any):  # type: ignore[no-untyped-def]
    """0 for zero, else 1."""
    return type(x)(0) if x == 0 else type(x)(1)


@func
def smoothstep(a: Any, b: Any, x: Any):  # type: ignore[no-untyped-def]
    """0 up to a, 1 from b on, and Hermite's cubic between them."""
    t = kb.clamp((x - a) / (b - a), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


@func
def smallest(v: Any):  # type: ignore[no-untyped-def]
    """The smallest element; a NaN loses."""
    result = v[0]
    for i in range(1, len(v)):
        result = kb.min(result, v[i])
    return result


@func
def largest(v: Any):  # type: ignore[no-untyped-def]
    """The largest element; a NaN loses."""
    result = v[0]
    for i in range(1, len(v)):
        result = kb.max(result, v[i])
    return result


@func
def any_nan(v: Any):  # type: ignore[no-untyped-def]
    """Some element is not a number."""
    result = kb.isnan(v[0])
    for i in range(1, len(v)):
        result = result or kb.isnan(v[i])
    return result


@func
def any_inf(v: Any):  # type: ignore[no-untyped-def]
    """Some element is an infinity."""
    result = kb.isinf(v[0])
    for i in range(1, len(v)):
        result = result or kb.isinf(v[i])
    return result


@func
def all_finite(v: Any):  # type: ignore[no-untyped-def]
    """Every element is neither an infinity nor NaN."""
    result = kb.isfinite(v[0])
    for i in range(1, len(v)):
        result = result and kb.isfinite(v[i])
    return result


# Scalar intrinsics that also take vectors and matrices, element by element. (Rows of a matrix are its elements here.)
ELEMENTWISE: dict[str, Function] = {"abs": cw_abs, "min": cw_min, "max": cw_max}
# Scalar intrinsics that make one value of a vector or matrix given alone.
REDUCTIONS: dict[str, tuple[Overload, ...]] = {
    "min": (overload("vector", smallest),),
    "max": (overload("vector", largest),),
    "isnan": (overload("composite", any_nan),),
    "isinf": (overload("composite", any_inf),),
    "isfinite": (overload("composite", all_finite),),
}

FUNCTIONS: dict[str, Function] = {
    one.__name__: one
    for one in (
        clamp,
        cross,
        degrees,
        dot,
        frac,
        length,
        length_sq,
        lerp,
        nonzero,
        normalize,
        radians,
        smoothstep,
        step,
        transpose,
        *decompositions.FUNCTIONS,
        *linear.FUNCTIONS,
        *random.FUNCTIONS,
    )
}
FUNCTIONS |= library_rotations.FUNCTIONS | library_spatial.FUNCTIONS
# Names with several functions, told apart by the arguments.
OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "sign": (overload("number", sign), overload("composite", cw_sign)),
    **collectives.OVERLOADS,
    **linear.OVERLOADS,
    **noise.OVERLOADS,
    **random.OVERLOADS,
    **searching.OVERLOADS,
}
# Functions with several results that also take variables for them after their argument: how many.
OUTPUTS = {**decompositions.OUTPUTS, "quat_to_axis_angle": 2}
STATEFUL = random.STATEFUL
