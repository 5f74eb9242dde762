"""What benchmarks/simulator.py runs on kbuild's simulator."""

from __future__ import annotations

import kbuild as kb

BLOCK = 256
TRIPS = 256
FLOATS = kb.array(dtype=float)
INTS = kb.array(dtype=int)
VECTORS = kb.array(dtype=kb.vec3)


@kb.kernel
def saxpy(x: FLOATS, y: FLOATS, a: float):
    """One product, one sum."""
    i = kb.tid()
    y[i] = a * x[i] + y[i]


@kb.kernel
def particles(position: VECTORS, velocity: VECTORS, gravity: kb.vec3, dt: float):
    """A step of free fall."""
    i = kb.tid()
    velocity[i] = velocity[i] + gravity * dt
    position[i] = position[i] + velocity[i] * dt


@kb.kernel
def springs(position: VECTORS, force: VECTORS, first: INTS, second: INTS, rest: FLOATS, stiffness: float):
    """Forces of springs on their ends: six atomic additions."""
    i = kb.tid()
    a = first[i]
    b = second[i]
    d = position[b] - position[a]
    length = kb.length(d)
    f = d * (stiffness * (length - rest[i]) / length)
    force[a] += f
    force[b] -= f


@kb.kernel(block_dim=BLOCK)
def reduction(data: FLOATS, out: FLOATS):
    """The sum of each block's elements, by halves."""
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()]
    kb.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        kb.syncthreads()
        half = half // 2
    if t == 0:
        out[kb.block_idx()] = tile[0]


@kb.kernel
def mandelbrot(out: kb.array2d(dtype=int), left: float, top: float, step: float):
    """Trips until a point escapes."""
    i, j = kb.tid()
    x = left + step * float(j)
    y = top + step * float(i)
    u = 0.0
    v = 0.0
    n = 0
    while n < TRIPS and u * u + v * v <= 4.0:
        w = u * u - v * v + x
        v = 2.0 * u * v + y
        u = w
        n = n + 1
    out[i, j] = n
