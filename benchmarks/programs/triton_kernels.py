"""The measured kernels on Triton. It knows numbers, pointers and tuples of them: a vector is three numbers here."""

import triton
import triton.language as tl


@triton.jit
def args1(pos, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    for k in tl.static_range(3):
        tl.store(pos + 3 * i + k, tl.load(pos + 3 * i + k, inside) + (1.0 + k), inside)


@triton.jit
def args4(pos, gravity, dt, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    for k in tl.static_range(3):
        tl.store(pos + 3 * i + k, tl.load(pos + 3 * i + k, inside) + gravity[k] * dt, inside)


@triton.jit
def args16(
    pos, vel, force, mass, radius, kind, heights, frames, settings, gravity, turn, count, kinds, dt, loss, scale,
    BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    stiffness, damping, limit, ox, oy, oz = settings
    offset = (ox, oy, oz)
    more = (tl.load(radius + i, inside) + tl.load(heights + i, inside) + damping) * loss + scale
    index = (tl.load(kind + i, inside) + kinds + limit).to(tl.float32)
    for k in tl.static_range(3):
        total = tl.load(vel + 3 * i + k, inside) + tl.load(force + 3 * i + k, inside) * tl.load(mass + i, inside)
        total += offset[k] * stiffness
        for j in tl.static_range(3):
            total += (turn[3 * k + j] + tl.load(frames + 9 * i + 3 * k + j, inside)) * gravity[j]
        step = index if k == 1 else more
        tl.store(pos + 3 * i + k, tl.load(pos + 3 * i + k, inside) + total * dt + step, inside)


@triton.jit
def integrate(pos, vel, gravity, dt, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    for k in tl.static_range(3):
        v = tl.load(vel + 3 * i + k, inside) + gravity[k] * dt
        tl.store(vel + 3 * i + k, v, inside)
        tl.store(pos + 3 * i + k, tl.load(pos + 3 * i + k, inside) + v * dt, inside)
