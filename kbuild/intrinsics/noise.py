"""Gradient noise, in the kernel language: smooth random fields on a lattice of one unit, zero at its points.

Perlin, "An Image Synthesizer", SIGGRAPH 1985, with the fade curve of "Improving Noise", SIGGRAPH 2002, whose second
derivative is zero at the lattice points too. Gradients come from the hash of `random`. A state selects the field and is
not advanced. Divergence-free fields: Bridson, Hourihan and Nordenstam, "Curl-Noise for Procedural Fluid Flow", SIGGRAPH
2007.
"""

from __future__ import annotations

from typing import Any

from kbuild.intrinsics.overload import Overload, overload
from kbuild.intrinsics.random import pcg, unit
from kbuild.loader import builtins as kb
from kbuild.loader.types import func
from kbuild.loader.values import float32, int32, uint32, vec2, vec2i, vec3, vec3i, vec4, vec4i

# The bodies below are kernel code: their types are inferred while lowering, not by Python's type checker.
# mypy: ignore-errors


@func
def fade(t: float32):
    """0 at 0, 1 at 1, flat in first and second derivative at both."""
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


@func
def fade_slope(t: float32):
    """The derivative of `fade`."""
    return 30.0 * t * t * (t - 1.0) * (t - 1.0)


@func
def wrapped(cell: int32, period: int32):
    """The lattice point in 0 … period - 1 that stands for this one; itself without a period."""
    if period <= 0:
        return cell
    rest = cell % period
    return rest + period if rest < 0 else rest


@func
def signed(hash: uint32):
    """A number in [-1, 1) from a hash."""
    return 2.0 * unit(hash) - 1.0


@func
def line(state: uint32, x: float32, period: int32):
    """Noise along a line, between -0.5 and 0.5."""
    cell = int32(kb.floor(x))
    t = x - kb.floor(x)
    left = signed(pcg(state + uint32(wrapped(cell, period)))) * t
    right = signed(pcg(state + uint32(wrapped(cell + 1, period)))) * (t - 1.0)
    return left + (right - left) * fade(t)


@func
def field(state: uint32, p: Any, period: Any):
    """(noise, its gradient) at a point of two to four dimensions; a period of zero does not repeat."""
    value = p[0] - p[0]
    gradient = type(p)()
    t = type(p)()
    for axis in range(len(p)):
        t[axis] = p[axis] - kb.floor(p[axis])
    for corner in range(1 << len(p)):
        hash = state
        offset = type(p)()
        weight = type(p)()
        slope = type(p)()
        for axis in range(len(p)):
            bit = (corner >> axis) & 1
            hash = pcg(hash + uint32(wrapped(int32(kb.floor(p[axis])) + bit, period[axis])))
            offset[axis] = t[axis] - float32(bit)
            weight[axis] = fade(t[axis]) if bit == 1 else 1.0 - fade(t[axis])
            slope[axis] = fade_slope(t[axis]) if bit == 1 else -fade_slope(t[axis])
        direction = type(p)()
        for axis in range(len(p)):
            hash = pcg(hash)
            direction[axis] = signed(hash)
        direction = kb.normalize(direction)
        height = kb.dot(direction, offset)
        product = weight[0]
        for axis in range(1, len(p)):
            product *= weight[axis]
        value += product * height
        for axis in range(len(p)):
            others = slope[axis]
            for other in range(len(p)):
                if other != axis:
                    others *= weight[other]
            gradient[axis] = gradient[axis] + product * direction[axis] + others * height
    return value, gradient


@func
def noise1(state: uint32, x: float32):
    """Noise along a line."""
    return line(state, x, 0)


@func
def noise2(state: uint32, xy: vec2):
    """Noise in the plane."""
    value, _ = field(state, xy, vec2i())
    return value


@func
def noise3(state: uint32, xyz: vec3):
    """Noise in space."""
    value, _ = field(state, xyz, vec3i())
    return value


@func
def noise4(state: uint32, xyzt: vec4):
    """Noise in space and time."""
    value, _ = field(state, xyzt, vec4i())
    return value


@func
def pnoise1(state: uint32, x: float32, px: int32):
    """Noise along a line that repeats after px units."""
    return line(state, x, px)


@func
def pnoise2(state: uint32, xy: vec2, px: int32, py: int32):
    """Noise in the plane that repeats after whole periods, also where coordinates are negative."""
    value, _ = field(state, xy, vec2i(px, py))
    return value


@func
def pnoise3(state: uint32, xyz: vec3, px: int32, py: int32, pz: int32):
    """Noise in space that repeats after whole periods, also where coordinates are negative."""
    value, _ = field(state, xyz, vec3i(px, py, pz))
    return value


@func
def pnoise4(state: uint32, xyzt: vec4, px: int32, py: int32, pz: int32, pt: int32):
    """Noise in space and time that repeats after whole periods, also where coordinates are negative."""
    value, _ = field(state, xyzt, vec4i(px, py, pz, pt))
    return value


@func
def curlnoise2(state: uint32, xy: vec2, octaves: uint32 = 1, lacunarity: float32 = 2.0, gain: float32 = 0.5):
    """A field in the plane without divergence: the gradient of a sum of noises, turned by a right angle.

    Octave i has the frequency lacunarity**i and the weight gain**i.
    """
    result = vec2()
    frequency = float32(1.0)
    weight = float32(1.0)
    for _octave in range(int32(octaves)):
        _, slope = field(state, xy * frequency, vec2i())
        result += vec2(slope[1], -slope[0]) * (weight * frequency)
        frequency *= lacunarity
        weight *= gain
    return result


@func
def curl(a: Any, b: Any, c: Any):
    """The curl of a potential with these gradients of its components."""
    return vec3(c[1] - b[2], a[2] - c[0], b[0] - a[1])


@func
def curlnoise3(state: uint32, xyz: vec3, octaves: uint32 = 1, lacunarity: float32 = 2.0, gain: float32 = 0.5):
    """A field in space without divergence: the curl of three sums of noises; octaves as in the plane."""
    result = vec3()
    frequency = float32(1.0)
    weight = float32(1.0)
    second = pcg(state + 1)
    third = pcg(state + 2)
    for _octave in range(int32(octaves)):
        _, a = field(state, xyz * frequency, vec3i())
        _, b = field(second, xyz * frequency, vec3i())
        _, c = field(third, xyz * frequency, vec3i())
        result += curl(a, b, c) * (weight * frequency)
        frequency *= lacunarity
        weight *= gain
    return result


@func
def curlnoise4(state: uint32, xyzt: vec4, octaves: uint32 = 1, lacunarity: float32 = 2.0, gain: float32 = 0.5):
    """A field in space without divergence that moves with time, the fourth coordinate; octaves as in the plane."""
    result = vec3()
    frequency = float32(1.0)
    weight = float32(1.0)
    second = pcg(state + 1)
    third = pcg(state + 2)
    for _octave in range(int32(octaves)):
        _, a = field(state, xyzt * frequency, vec4i())
        _, b = field(second, xyzt * frequency, vec4i())
        _, c = field(third, xyzt * frequency, vec4i())
        result += curl(a, b, c) * (weight * frequency)
        frequency *= lacunarity
        weight *= gain
    return result


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "noise": (
        overload("integer number", noise1),
        overload("integer vec2", noise2),
        overload("integer vec3", noise3),
        overload("integer vec4", noise4),
    ),
    "pnoise": (
        overload("integer number integer", pnoise1),
        overload("integer vec2 integer integer", pnoise2),
        overload("integer vec3 integer integer integer", pnoise3),
        overload("integer vec4 integer integer integer integer", pnoise4),
    ),
    "curlnoise": (
        overload("integer vec2 integer number number", curlnoise2),
        overload("integer vec3 integer number number", curlnoise3),
        overload("integer vec4 integer number number", curlnoise4),
    ),
}
