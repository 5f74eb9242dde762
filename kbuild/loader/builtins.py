"""The functions of the kernel language as a host program sees them: `kb.sin`, `kb.dot`, `kb.atomic_add`.

Inside a kernel the name stands for the row of the same name in `kbuild.intrinsics`. On the host the mathematical ones
compute with Python numbers (double precision) and kbuild's vectors and matrices; the others say "inside kernels only".
"""

from __future__ import annotations

import math
import operator

from . import factories
from .values import Mat, Vec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Builtin:
    """One function of the kernel language."""

    __slots__ = ("_host", "name")
    _kb_builtin_ = True

    def __init__(self, name: str, host: Callable[..., Any] | None = None) -> None:
        self.name, self._host = name, host

    def __repr__(self) -> str:
        return "<kbuild function %s>" % self.name

    @property
    def is_on_host(self) -> bool:
        """It computes outside kernels too."""
        return self._host is not None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._host is None:
            raise TypeError("kb.%s works inside kernels only" % self.name)
        return self._host(*arguments, **named)


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    return then if condition else otherwise


def _dot(a: Any, b: Any) -> float:
    return math.fsum(x * y for x, y in zip(a, b))


def _length(v: Any) -> float:
    return math.sqrt(_dot(v, v))


def _normalize(v: Any) -> Any:
    length = _length(v)
    return type(v)(*(x / length for x in v)) if length > 0.0 else type(v)()


def _cross(a: Any, b: Any) -> Any:
    return type(a)(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _elementwise(one: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*values: Any) -> Any:
        if isinstance(values[0], (Vec, Mat)):
            return type(values[0])(*(one(*items) for items in zip(*values)))
        return one(*values)

    return apply


def _smaller(a: Any, b: Any) -> Any:
    if a == 0.0 == b:
        return a if str(a)[0] == "-" else b  # zeros have an order here
    return b if b < a or a != a else a


def _larger(a: Any, b: Any) -> Any:
    if a == 0.0 == b:
        return b if str(a)[0] == "-" else a
    return b if b > a or a != a else a


def _any_count(two: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function of two values as one of two or more."""

    def apply(first: Any, *others: Any) -> Any:
        for other in others:
            first = two(first, other)
        return first

    return apply


def _transpose(m: Any) -> Any:
    return factories.make_matrix_from_cols(*m)


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    """A rounding function with a float as its result; infinities, NaN and the sign of zero stay."""

    def apply(x: float) -> float:
        return math.copysign(float(function(x)), x) if math.isfinite(x) else x

    return apply


def _away_from_zero(x: float) -> int:
    whole = math.trunc(x)
    return whole + (1 if x > 0.0 else -1) if abs(x - whole) >= 0.5 else whole


def _ieee(function: Callable[..., float], pole: float | None = None) -> Callable[..., float]:
    """A function as IEEE has it where Python raises: NaN outside its domain, `pole` at zero, else an infinity."""

    def apply(*arguments: float) -> float:
        try:
            return function(*arguments)
        except (ValueError, ZeroDivisionError):
            return pole if pole is not None and arguments[0] == 0.0 else math.nan
        except OverflowError:
            return math.inf

    return apply


def _clamped(x: float) -> float:
    """Cut to -1 … 1; a NaN stays."""
    return x if x != x else min(max(x, -1.0), 1.0)


def _sinh(x: float) -> float:
    return math.copysign(_ieee(math.sinh)(abs(x)), x)


def _divide(a: Any, b: Any) -> Any:
    """C's division of integers: towards zero."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a / b


def _remainder(a: Any, b: Any) -> Any:
    return a - _divide(a, b) * b if isinstance(a, int) and isinstance(b, int) else math.fmod(a, b)


def _floor_divide(a: Any, b: Any) -> Any:
    return _divide(a, b) if isinstance(a, int) and isinstance(b, int) else a // b


def _multiply(a: Any, b: Any) -> Any:
    """The product; of a matrix with a matrix or vector the matrix product."""
    is_product = isinstance(a, Mat) and isinstance(b, (Mat, Vec))
    return a @ b if is_product else a * b


def _smoothstep(a: float, b: float, x: float) -> float:
    t = min(max((x - a) / (b - a), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def _bit_count(x: int) -> int:
    if x < 0:
        raise ValueError("kb.bit_count of a negative number has no width on the host")
    return bin(x).count("1")


def _printf(format: str, *values: Any) -> None:
    """Writes to stdout; Python knows C's conversions, but for their length modifiers."""
    import re  # for programs that print alone
    import sys

    plain = re.sub("%%|(%[-+ #0]*[0-9]*(?:[.][0-9]*)?)(?:hh?|ll?|j|z|t|L|q)", lambda m: m[1] or m[0], format)
    sys.stdout.write(plain % values)


def _numbers(value: Any) -> list[Any]:
    """Of a vector, a matrix or a number."""
    return [x for one in value for x in _numbers(one)] if hasattr(value, "__iter__") else [value]


def _expected(name: str, is_so: bool, *words: Any) -> None:
    """Says on stdout what is not as it should be, as kernels do."""
    if not is_so:
        print("kb.%s failed: %s" % (name, " ".join(map(str, words))))


def _expect_near(a: Any, b: Any, tolerance: float = 1e-6) -> None:
    pairs = zip(_numbers(a), _numbers(b))
    is_near = len(_numbers(a)) == len(_numbers(b)) and all(x == y or abs(x - y) <= tolerance for x, y in pairs)
    _expected("expect_near", is_near, a, "is not near", b)


HOST: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "bit_and": operator.and_,
    "bit_count": _bit_count,
    "bit_or": operator.or_,
    "bit_xor": operator.xor,
    "div": _divide,
    "expect_eq": lambda a, b: _expected("expect_eq", a == b, a, "is not", b),
    "expect_near": _expect_near,
    "expect_neq": lambda a, b: _expected("expect_neq", a != b, "both are", a),
    "floordiv": _floor_divide,
    "invert": operator.invert,
    "lshift": operator.lshift,
    "mod": _remainder,
    "mul": _multiply,
    "neg": operator.neg,
    "nonzero": lambda x: type(x)(x != 0),
    "pos": operator.pos,
    "print": print,
    "printf": _printf,
    "rshift": operator.rshift,
    "select": lambda condition, otherwise, then: then if condition else otherwise,
    "smoothstep": _smoothstep,
    "sub": operator.sub,
    "unot": operator.not_,
    "abs": _elementwise(abs),
    "acos": lambda x: math.acos(_clamped(x)),
    "asin": lambda x: math.asin(_clamped(x)),
    "atan": math.atan,
    "atan2": math.atan2,
    "cbrt": lambda x: math.copysign(abs(x) ** (1.0 / 3.0), x),
    "ceil": _whole(math.ceil),
    "clamp": lambda x, low, high: min(max(x, low), high),
    "copysign": math.copysign,
    "cos": _ieee(math.cos),
    "cosh": _ieee(math.cosh),
    "cross": _cross,
    "cw_div": _elementwise(lambda a, b: a / b),
    "cw_mul": _elementwise(lambda a, b: a * b),
    "degrees": math.degrees,
    "dot": _dot,
    "erf": math.erf,
    "erfc": math.erfc,
    "exp": _ieee(math.exp),
    "exp2": _ieee(lambda x: 2.0**x),
    "floor": _whole(math.floor),
    "frac": lambda x: x - _whole(math.trunc)(x),
    "isfinite": math.isfinite,
    "isinf": math.isinf,
    "isnan": math.isnan,
    "length": _length,
    "length_sq": lambda v: _dot(v, v),
    "lerp": lambda a, b, t: a * (1.0 - t) + b * t,
    "log": _ieee(math.log, -math.inf),
    "log10": _ieee(math.log10, -math.inf),
    "log2": _ieee(math.log2, -math.inf),
    "max": _any_count(_elementwise(_larger)),
    "min": _any_count(_elementwise(_smaller)),
    "normalize": _normalize,
    "pow": _ieee(math.pow, math.inf),
    "radians": math.radians,
    "rint": _whole(round),
    "round": _whole(_away_from_zero),
    "rsqrt": _ieee(lambda x: 1.0 / math.sqrt(x), math.inf),
    "sign": lambda x: -1.0 if x < 0.0 else 1.0,
    "sin": _ieee(math.sin),
    "sinh": _sinh,
    "sqrt": _ieee(math.sqrt),
    "static": lambda value: value,
    "step": lambda x: 1.0 if x < 0.0 else 0.0,
    "tan": _ieee(math.tan),
    "tanh": math.tanh,
    "transpose": _transpose,
    "trunc": _whole(math.trunc),
    "where": _where,
    **factories.HOST,
}


def _late(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that is imported when it is first called."""

    def apply(*arguments: Any, **named: Any) -> Any:
        from . import host_calls

        return host_calls.find(module, name)(*arguments, **named)

    return apply


# What host programs need rarely, by the module that has it.
_LATE_NAMES = {
    "host_math": """
        argmax argmin ddot diag erfcinv erfinv fma get_diag identity lower_bound norm_huber norm_l1 norm_l2
        norm_pseudo_huber outer skew smooth_normalize trace
    """,
    "host_library": """
        determinant eig3 inverse qr3 quat_between_vectors quat_from_axis_angle quat_from_euler quat_from_matrix
        quat_inverse quat_rotate quat_rotate_inv quat_rpy quat_slerp quat_to_axis_angle quat_to_euler quat_to_matrix
        quat_to_rpy quat_twist quat_twist_angle quat_twist_angle_signed spatial_adjoint spatial_bottom spatial_cross
        spatial_cross_dual spatial_dot spatial_top svd2 svd3 transform_compose transform_decompose
        transform_from_matrix transform_get_rotation transform_get_translation transform_inverse transform_multiply
        transform_point transform_to_matrix transform_twist transform_vector transform_wrench velocity_at_point
    """,
    "host_random": """
        closest_point_edge_edge curlnoise noise pnoise poisson rand_init randf randi randn randu sample_cdf
        sample_triangle sample_unit_cube sample_unit_disk sample_unit_hemisphere sample_unit_hemisphere_surface
        sample_unit_ring sample_unit_sphere sample_unit_sphere_surface sample_unit_square
    """,
}
HOST.update((name, _late(module, name)) for module, names in _LATE_NAMES.items() for name in names.split())

_KERNEL_NAMES = """
all any assume atomic_add atomic_and atomic_cas atomic_exch atomic_max atomic_min atomic_or atomic_sub atomic_xor ballot
block_dim block_idx block_max block_min block_scan_exclusive block_scan_inclusive block_sum cluster_array cluster_dim
cluster_rank cluster_sync expect_eq expect_near expect_neq grid_dim grid_range lane_id load_readonly load_streaming
match_any shared_array shfl shfl_down shfl_up shfl_xor store_streaming syncthreads syncwarp thread_idx tid warp_id
warp_max warp_min warp_scan_exclusive warp_scan_inclusive warp_sum
"""
_KERNEL_ONLY: tuple[str, ...] = tuple(_KERNEL_NAMES.split())

TABLE: dict[str, Builtin] = {name: Builtin(name, HOST.get(name)) for name in sorted([*HOST, *_KERNEL_ONLY])}


def __getattr__(name: str) -> Builtin:
    try:
        return TABLE[name]
    except KeyError:
        raise AttributeError("module %r has no attribute %r" % (__name__, name)) from None
