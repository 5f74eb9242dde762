"""Random numbers, in the kernel language. A state is one uint32.

The generator is PCG-RXS-M-XS-32 used as a hash, by Jarzynski and Olano, "Hash Functions for GPU Rendering", Journal of
Computer Graphics Techniques 9(3), 2020, section 4.2: the next state is the hash of the state, and the number drawn. A
function in `STATEFUL` gives its value and the next state; the front end writes that back into the caller's variable.
"""

from __future__ import annotations

from kbuild.intrinsics.overload import Overload, overload
from kbuild.loader import builtins as kb
from kbuild.loader.array import array
from kbuild.loader.types import Function, func
from kbuild.loader.values import float32, int32, uint32, vec2, vec3

# The bodies below are kernel code: their types are inferred while lowering, not by Python's type checker.
# mypy: ignore-errors

TURN = 6.283185307179586


@func
def pcg(x: uint32):
    """The hash: one step of a linear congruential generator, and its output permuted."""
    state = x * 747796405 + 2891336453
    word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737
    return (word >> 22) ^ word


@func
def rand_init(seed: int32):
    """A state from a seed."""
    return pcg(uint32(seed))


@func
def rand_init_offset(seed: int32, offset: int32):
    """A state from a seed and, for instance, the number of a thread: streams that have nothing in common."""
    return pcg(uint32(seed) + pcg(uint32(offset)))


@func
def randi(state: uint32):
    """A uniform int32."""
    state = pcg(state)
    return int32(state), state


@func
def randi_range(state: uint32, low: int32, high: int32):
    """A uniform int32 in low … high - 1, by remainder: slightly uneven for very large ranges."""
    state = pcg(state)
    return int32(state % (uint32(high) - uint32(low))) + low, state


@func
def randu(state: uint32):
    """A uniform uint32."""
    state = pcg(state)
    return state, state


@func
def randu_range(state: uint32, low: uint32, high: uint32):
    """A uniform uint32 in low … high - 1, by remainder: slightly uneven for very large ranges."""
    state = pcg(state)
    return state % (high - low) + low, state


@func
def unit(x: uint32):
    """The upper 24 bits as a multiple of 2**-24 in [0, 1)."""
    return float32(x >> 8) * 5.9604644775390625e-08


@func
def randf(state: uint32):
    """A uniform float32 in [0, 1), a multiple of 2**-24."""
    state = pcg(state)
    return unit(state), state


@func
def randf_range(state: uint32, low: float32, high: float32):
    """A uniform float32 between low and high."""
    state = pcg(state)
    return low + (high - low) * unit(state), state


@func
def randn(state: uint32):
    """A number of the standard normal distribution, from two draws: Box and Muller, "A Note on the Generation of Random
    Normal Deviates", Annals of Mathematical Statistics 29(2), 1958.
    """
    first = pcg(state)
    second = pcg(first)
    radius = kb.sqrt(-2.0 * kb.log(kb.max(unit(first), 2.9802322387695312e-08)))
    return radius * kb.cos(TURN * unit(second)), second


@func
def log_factorial(k: float32):
    """log(k!) of a whole k: a sum below ten, then Stirling's series (Abramowitz and Stegun, 6.1.41)."""
    if k < 10.0:
        total = float32(0.0)
        for i in range(2, int32(k) + 1):
            total += kb.log(float32(i))
        return total
    x = k + 1.0
    return (x - 0.5) * kb.log(x) - x + 0.9189385332046727 + 1.0 / (12.0 * x) - 1.0 / (360.0 * x * x * x)


@func
def poisson_product(state: uint32, lam: float32):
    """For a small rate: how many uniform numbers can be multiplied before the product falls to exp(-lam).

    Knuth, "The Art of Computer Programming", volume 2, 3.4.1.
    """
    count = uint32(0)
    limit = kb.exp(-lam)
    state = pcg(state)
    product = unit(state)
    while product > limit:
        count += 1
        state = pcg(state)
        product *= unit(state)
    return count, state


@func
def poisson_rejection(state: uint32, lam: float32):
    """For a rate of ten or more: Hörmann, "The transformed rejection method for generating Poisson random variables",
    Insurance: Mathematics and Economics 12(1), 1993, algorithm PTRS.
    """
    spread = kb.sqrt(lam)
    b = 0.931 + 2.53 * spread
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    inner = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        state = pcg(state)
        u = unit(state) - 0.5
        state = pcg(state)
        v = unit(state)
        us = 0.5 - kb.abs(u)
        k = kb.floor((2.0 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= inner:
            return uint32(k), state
        if k >= 0.0 and (us >= 0.013 or v <= us):
            density = k * kb.log(lam) - lam - log_factorial(k)
            if kb.log(v) + kb.log(scale) - kb.log(a / (us * us) + b) <= density:
                return uint32(k), state


@func
def poisson(state: uint32, lam: float32):
    """A count of the Poisson distribution with this rate; a rate of zero gives zero and draws nothing."""
    if not lam > 0.0:
        return uint32(0), state
    if lam < 10.0:
        count, last = poisson_product(state, lam)
        return count, last
    count, last = poisson_rejection(state, lam)
    return count, last


@func
def sample_cdf(state: uint32, cdf: array(dtype=float32)):
    """The first position whose entry is not below a uniform number: `cdf` rises to 1.0 at its end."""
    state = pcg(state)
    return kb.min(kb.lower_bound(cdf, unit(state)), len(cdf) - 1), state


@func
def sample_triangle(state: uint32):
    """A uniform point of a triangle as the first two barycentric coordinates.

    Osada, Funkhouser, Chazelle and Dobkin, "Shape Distributions", ACM Transactions on Graphics 21(4), 2002, 4.2.
    """
    first = pcg(state)
    second = pcg(first)
    r = kb.sqrt(unit(first))
    return vec2(1.0 - r, unit(second) * r), second


@func
def sample_unit_ring(state: uint32):
    """A uniform point of the unit circle."""
    state = pcg(state)
    angle = TURN * unit(state)
    return vec2(kb.cos(angle), kb.sin(angle)), state


@func
def sample_unit_disk(state: uint32):
    """A uniform point inside the unit circle."""
    first = pcg(state)
    second = pcg(first)
    r, angle = kb.sqrt(unit(first)), TURN * unit(second)
    return vec2(r * kb.cos(angle), r * kb.sin(angle)), second


@func
def on_sphere(z: float32, turn: float32):
    """The point of the unit sphere at this height and angle: equal heights cut equal areas (Archimedes)."""
    r, angle = kb.sqrt(kb.max(1.0 - z * z, 0.0)), TURN * turn
    return vec3(r * kb.cos(angle), r * kb.sin(angle), z)


@func
def sample_unit_sphere_surface(state: uint32):
    """A uniform point of the unit sphere."""
    first = pcg(state)
    second = pcg(first)
    return on_sphere(1.0 - 2.0 * unit(first), unit(second)), second


@func
def sample_unit_sphere(state: uint32):
    """A uniform point inside the unit sphere."""
    first = pcg(state)
    second = pcg(first)
    third = pcg(second)
    return on_sphere(1.0 - 2.0 * unit(first), unit(second)) * kb.cbrt(unit(third)), third


@func
def sample_unit_hemisphere_surface(state: uint32):
    """A uniform point of the unit sphere with z at or above zero."""
    first = pcg(state)
    second = pcg(first)
    return on_sphere(unit(first), unit(second)), second


@func
def sample_unit_hemisphere(state: uint32):
    """A uniform point inside the unit sphere with z at or above zero."""
    first = pcg(state)
    second = pcg(first)
    third = pcg(second)
    return on_sphere(unit(first), unit(second)) * kb.cbrt(unit(third)), third


@func
def sample_unit_square(state: uint32):
    """A uniform point of [-0.5, 0.5)²."""
    first = pcg(state)
    second = pcg(first)
    return vec2(unit(first) - 0.5, unit(second) - 0.5), second


@func
def sample_unit_cube(state: uint32):
    """A uniform point of [-0.5, 0.5)³."""
    first = pcg(state)
    second = pcg(first)
    third = pcg(second)
    return vec3(unit(first) - 0.5, unit(second) - 0.5, unit(third) - 0.5), third


FUNCTIONS: tuple[Function, ...] = (
    poisson,
    randn,
    sample_cdf,
    sample_triangle,
    sample_unit_cube,
    sample_unit_disk,
    sample_unit_hemisphere,
    sample_unit_hemisphere_surface,
    sample_unit_ring,
    sample_unit_sphere,
    sample_unit_sphere_surface,
    sample_unit_square,
)
OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "rand_init": (overload("integer", rand_init), overload("integer integer", rand_init_offset)),
    "randi": (overload("integer", randi), overload("integer integer integer", randi_range)),
    "randu": (overload("integer", randu), overload("integer integer integer", randu_range)),
    "randf": (overload("integer", randf), overload("integer number number", randf_range)),
}
# Their first argument is a state that the call advances.
STATEFUL = frozenset({*(one.__name__ for one in FUNCTIONS), "randi", "randu", "randf"})
