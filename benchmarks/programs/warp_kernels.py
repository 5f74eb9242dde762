"""The measured kernels on Warp: those of benchkernels.launching, and robosim's `integrate`."""

import warp as wp


@wp.struct
class Settings:
    stiffness: float
    damping: float
    limit: int
    offset: wp.vec3


@wp.kernel(enable_backward=False)
def args1(pos: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    pos[i] = pos[i] + wp.vec3(1.0, 2.0, 3.0)


@wp.kernel(enable_backward=False)
def args4(pos: wp.array(dtype=wp.vec3), gravity: wp.vec3, dt: float, count: int):
    i = wp.tid()
    if i < count:
        pos[i] = pos[i] + gravity * dt


@wp.kernel(enable_backward=False)
def args16(
    pos: wp.array(dtype=wp.vec3),
    vel: wp.array(dtype=wp.vec3),
    force: wp.array(dtype=wp.vec3),
    mass: wp.array(dtype=float),
    radius: wp.array(dtype=float),
    kind: wp.array(dtype=int),
    heights: wp.array2d(dtype=float),
    frames: wp.array(dtype=wp.mat33),
    settings: Settings,
    gravity: wp.vec3,
    turn: wp.mat33,
    count: int,
    kinds: int,
    dt: float,
    loss: float,
    scale: float,
):
    i = wp.tid()
    if i < count:
        push = force[i] * mass[i] + settings.offset * settings.stiffness + turn @ gravity
        more = (radius[i] + heights[0, i] + settings.damping) * loss + scale
        index = float(kind[i] + kinds + settings.limit)
        pos[i] = pos[i] + (vel[i] + push + frames[i] @ gravity) * dt + wp.vec3(more, index, more)


@wp.kernel(enable_backward=False)
def integrate(pos: wp.array(dtype=wp.vec3), vel: wp.array(dtype=wp.vec3), gravity: wp.vec3, dt: float):
    i = wp.tid()
    vel[i] = vel[i] + gravity * dt
    pos[i] = pos[i] + vel[i] * dt
