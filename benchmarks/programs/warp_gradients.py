"""The kernels of benchmarks/gradients.py on Warp: those of benchkernels.gradients, and robosim's `spring_forces`."""

import warp as wp

SHORTEST = wp.constant(1.0e-6)


@wp.struct
class Spring:
    first: int
    second: int
    length: float
    stiffness: float
    damping: float


@wp.kernel
def particles(
    pos: wp.array(dtype=wp.vec3),
    vel: wp.array(dtype=wp.vec3),
    gravity: wp.vec3,
    drag: float,
    dt: float,
    next_pos: wp.array(dtype=wp.vec3),
    next_vel: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    v = vel[i]
    v = v + (gravity - v * (drag * wp.length(v))) * dt
    next_vel[i] = v
    next_pos[i] = pos[i] + v * dt


@wp.kernel
def axpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    i = wp.tid()
    z[i] = a * x[i] + y[i]


@wp.kernel
def spring_forces(
    springs: wp.array(dtype=Spring),
    pos: wp.array(dtype=wp.vec3),
    vel: wp.array(dtype=wp.vec3),
    force: wp.array(dtype=wp.vec3),
):
    spring = springs[wp.tid()]
    along = pos[spring.second] - pos[spring.first]
    length = wp.length(along)
    if length < SHORTEST:
        return
    direction = along / length
    speed = wp.dot(vel[spring.second] - vel[spring.first], direction)
    pull = direction * (spring.stiffness * (length - spring.length) + spring.damping * speed)
    wp.atomic_add(force, spring.first, pull)
    wp.atomic_add(force, spring.second, -pull)


@wp.kernel
def move(
    pos: wp.array(dtype=wp.vec3),
    vel: wp.array(dtype=wp.vec3),
    force: wp.array(dtype=wp.vec3),
    dt: float,
    next_pos: wp.array(dtype=wp.vec3),
    next_vel: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    v = vel[i] + force[i] * dt
    next_vel[i] = v
    next_pos[i] = pos[i] + v * dt


@wp.kernel
def rollout(
    w: wp.mat44, b: wp.array(dtype=wp.vec4), start: wp.array(dtype=wp.vec4), trips: int, end: wp.array(dtype=wp.vec4)
):
    i = wp.tid()
    h = start[i]
    for _ in range(trips):
        u = w @ h + b[i]
        h = wp.vec4(wp.tanh(u[0]), wp.tanh(u[1]), wp.tanh(u[2]), wp.tanh(u[3]))
    end[i] = h
