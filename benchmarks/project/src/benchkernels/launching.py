"""What a launch is measured with: 1, 4 and 16 arguments. Every one of them counts in the result."""

import kbuild as kb


@kb.struct
class Settings:
    """Numbers that go together."""

    stiffness: float
    damping: float
    limit: int
    offset: kb.vec3


@kb.kernel
def args1(pos: kb.array(dtype=kb.vec3)):
    """An array."""
    i = kb.tid()
    pos[i] = pos[i] + kb.vec3(1.0, 2.0, 3.0)


@kb.kernel
def args4(pos: kb.array(dtype=kb.vec3), gravity: kb.vec3, dt: float, count: int):
    """An array, a vector and two scalars."""
    i = kb.tid()
    if i < count:
        pos[i] = pos[i] + gravity * dt


@kb.kernel
def args16(
    pos: kb.array(dtype=kb.vec3),
    vel: kb.array(dtype=kb.vec3),
    force: kb.array(dtype=kb.vec3),
    mass: kb.array(dtype=float),
    radius: kb.array(dtype=float),
    kind: kb.array(dtype=int),
    heights: kb.array2d(dtype=float),
    frames: kb.array(dtype=kb.mat33),
    settings: Settings,
    gravity: kb.vec3,
    turn: kb.mat33,
    count: int,
    kinds: int,
    dt: float,
    loss: float,
    scale: float,
):
    """Eight arrays, a struct, a vector, a matrix and five scalars."""
    i = kb.tid()
    if i < count:
        push = force[i] * mass[i] + settings.offset * settings.stiffness + turn @ gravity
        more = (radius[i] + heights[0, i] + settings.damping) * loss + scale
        index = float(kind[i] + kinds + settings.limit)
        pos[i] = pos[i] + (vel[i] + push + frames[i] @ gravity) * dt + kb.vec3(more, index, more)
