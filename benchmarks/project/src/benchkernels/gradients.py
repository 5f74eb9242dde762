"""What benchmarks/gradients.py runs forward and backward. Every step reads arrays and writes others, as Warp wants it.

The kernels with a `shift` do the same; but what each thread looks at is no longer its own by the look of it, so that
their adjoints add atomically.
"""

import kbuild as kb


@kb.kernel(enable_backward=True)
def particles(
    pos: kb.array(dtype=kb.vec3),
    vel: kb.array(dtype=kb.vec3),
    gravity: kb.vec3,
    drag: float,
    dt: float,
    next_pos: kb.array(dtype=kb.vec3),
    next_vel: kb.array(dtype=kb.vec3),
):
    """A step under gravity and drag."""
    i = kb.tid()
    v = vel[i]
    v = v + (gravity - v * (drag * kb.length(v))) * dt
    next_vel[i] = v
    next_pos[i] = pos[i] + v * dt


@kb.kernel(enable_backward=True)
def particles_shifted(
    pos: kb.array(dtype=kb.vec3),
    vel: kb.array(dtype=kb.vec3),
    gravity: kb.vec3,
    drag: float,
    dt: float,
    next_pos: kb.array(dtype=kb.vec3),
    next_vel: kb.array(dtype=kb.vec3),
    shift: int,
):
    i = kb.tid() + shift
    v = vel[i]
    v = v + (gravity - v * (drag * kb.length(v))) * dt
    next_vel[i] = v
    next_pos[i] = pos[i] + v * dt


@kb.kernel(enable_backward=True)
def axpy(a: float, x: kb.array(dtype=float), y: kb.array(dtype=float), z: kb.array(dtype=float)):
    """z = a x + y."""
    i = kb.tid()
    z[i] = a * x[i] + y[i]


@kb.kernel(enable_backward=True)
def axpy_shifted(a: float, x: kb.array(dtype=float), y: kb.array(dtype=float), z: kb.array(dtype=float), shift: int):
    i = kb.tid() + shift
    z[i] = a * x[i] + y[i]


@kb.kernel(enable_backward=True)
def move(
    pos: kb.array(dtype=kb.vec3),
    vel: kb.array(dtype=kb.vec3),
    force: kb.array(dtype=kb.vec3),
    dt: float,
    next_pos: kb.array(dtype=kb.vec3),
    next_vel: kb.array(dtype=kb.vec3),
):
    """After robosim's `spring_forces`: a step of particles of 1 kg."""
    i = kb.tid()
    v = vel[i] + force[i] * dt
    next_vel[i] = v
    next_pos[i] = pos[i] + v * dt


@kb.kernel(enable_backward=True)
def rollout(
    w: kb.mat44, b: kb.array(dtype=kb.vec4), start: kb.array(dtype=kb.vec4), trips: int, end: kb.array(dtype=kb.vec4)
):
    """h = tanh(w h + b), as often as the launch says."""
    i = kb.tid()
    h = start[i]
    for _ in range(trips):
        u = w @ h + b[i]
        h = kb.vec4(kb.tanh(u[0]), kb.tanh(u[1]), kb.tanh(u[2]), kb.tanh(u[3]))
    end[i] = h
