"""Structs: nested, with arrays inside, in arrays, as parameters, made and changed inside kernels."""

import kbuild as kb
from gpukernels.common import Inner, weighted


@kb.struct
class Outer:
    """One of everything."""

    flag: bool
    position: kb.vec3
    inner: Inner
    values: kb.array(dtype=float)
    grid: kb.array(dtype=kb.uint8, ndim=2)
    rotation: kb.mat22
    small: kb.int8
    large: kb.uint64
    half: kb.float16


@kb.struct
class Particle:
    """In arrays; 8-byte alignment with padding inside and at the end."""

    kind: kb.uint8
    mass: kb.float64
    velocity: kb.vec3
    inner: Inner
    tag: kb.int8


@kb.kernel
def read(outer: Outer, number: int, numbers: kb.array(dtype=kb.float64)):
    """Every field as a number."""
    numbers[0] = kb.float64(int(outer.flag))
    for axis in range(3):
        numbers[1 + axis] = kb.float64(outer.position[axis])
    numbers[4] = outer.inner.weight
    numbers[5] = kb.float64(outer.inner.index)
    numbers[6] = kb.float64(int(outer.inner.flag))
    numbers[7] = kb.float64(outer.values[number])
    numbers[8] = kb.float64(outer.values.shape[0])
    numbers[9] = kb.float64(outer.grid[1, 2])
    numbers[10] = kb.float64(outer.grid.shape[0] * 100 + outer.grid.shape[1])
    numbers[11] = kb.float64(outer.rotation[0, 1])
    numbers[12] = kb.float64(outer.rotation[1, 0])
    numbers[13] = kb.float64(outer.small)
    numbers[14] = kb.float64(outer.large)
    numbers[15] = kb.float64(outer.half)
    numbers[16] = weighted(outer.inner, kb.float64(2.0))
    outer.values[0] = 99.0
    outer.grid[0, 0] += kb.uint8(5)


@kb.kernel
def update(particles: kb.array(dtype=Particle), copies: kb.array2d(dtype=Particle)):
    """Fields of elements, whole elements, new structs."""
    i = kb.tid()
    particle = particles[i]
    particle.velocity = particle.velocity * 2.0
    particle.inner.index = kb.int16(i)
    copies[i % 2, i // 2] = particle
    particles[i].mass = particles[i].mass + kb.float64(1.0)
    particles[i].velocity.y = -1.0
    particles[i].inner = Inner(weight=kb.float64(i), index=kb.int16(-i), flag=i % 2 == 0)
    particles[i].tag = kb.int8(i)


@kb.kernel
def build(out: kb.array(dtype=Particle)):
    """Structs with every field, with some, with none, and by position."""
    out[0] = Particle()
    out[1] = Particle(kind=kb.uint8(7), tag=kb.int8(-7))
    out[2] = Particle(kb.uint8(1), kb.float64(2.0), kb.vec3(3.0, 4.0, 5.0), Inner(kb.float64(6.0)), kb.int8(8))


@kb.kernel
def count_atomically(
    particles: kb.array(dtype=Particle), total: kb.array(dtype=kb.vec3), sums: kb.array(dtype=kb.mat22)
):
    """`+=` and `-=` on fields, vectors, components and matrices of arrays."""
    i = kb.tid()
    particles[0].mass += kb.float64(1.0)
    particles[0].velocity.x += 2.0
    particles[0].inner.index += kb.int16(1)
    particles[0].tag -= kb.int8(1)
    total[0] += kb.vec3(1.0, 2.0, 3.0)
    total[0].z -= 1.0
    sums[0] += kb.mat22(1.0, 2.0, 3.0, 4.0)
    kb.atomic_max(total, 1, kb.vec3(float(i), float(-i), 1.0))


@kb.kernel
def pass_array(arrays: kb.array(dtype=Outer), out: kb.array(dtype=float)):
    """Arrays inside structs inside an array."""
    i = kb.tid()
    out[i] = arrays[i].values[i] + float(arrays[i].grid[0, i])
