"""Particles and springs: one step of a mass-spring system is `spring_forces`, then `integrate`."""

import kbuild as kb

SHORTEST = 1.0e-6  # [m] a spring shorter than this has no direction, and pulls nowhere


@kb.struct
class Spring:
    """A spring with a damper between the particles `first` and `second`."""

    first: int
    second: int
    length: float  # at rest [m]
    stiffness: float  # [N/m]
    damping: float  # [N s/m]


@kb.kernel
def integrate(pos: kb.array(dtype=kb.vec3), vel: kb.array(dtype=kb.vec3), gravity: kb.vec3, dt: float):
    """Moves particles one step dt [s]: positions [m] and velocities [m/s], shape [particles], in place."""
    i = kb.tid()
    vel[i] = vel[i] + gravity * dt
    pos[i] = pos[i] + vel[i] * dt


@kb.kernel
def spring_forces(
    springs: kb.array(dtype=Spring),
    pos: kb.array(dtype=kb.vec3),
    vel: kb.array(dtype=kb.vec3),
    force: kb.array(dtype=kb.vec3),
):
    """Adds each spring's pull [N] to `force` at both its ends; one thread a spring, many springs a particle."""
    spring = springs[kb.tid()]
    along = pos[spring.second] - pos[spring.first]
    length = kb.length(along)
    if length < SHORTEST:
        return
    direction = along / length
    speed = kb.dot(vel[spring.second] - vel[spring.first], direction)
    pull = direction * (spring.stiffness * (length - spring.length) + spring.damping * speed)
    kb.atomic_add(force, spring.first, pull)
    kb.atomic_add(force, spring.second, -pull)
