"""Bodies in motion."""

import kbuild as kb


@kb.kernel
def step(pos: kb.array(dtype=kb.vec3), gravity: kb.vec3, dt: float, count: int):
    """An array, a vector and two scalars: what a launch is measured with."""
    i = kb.tid()
    if i < count:
        pos[i] = pos[i] + gravity * dt


@kb.kernel
def attraction(pos: kb.array(dtype=kb.vec3), mass: kb.array(dtype=float), force: kb.array(dtype=kb.vec3)):
    """Every body pulls at every other; softened, so that a body does not pull at itself."""
    i = kb.tid()
    here = pos[i]
    total = kb.vec3(0.0, 0.0, 0.0)
    for j in range(pos.shape[0]):
        away = pos[j] - here
        inverse = kb.rsqrt(kb.dot(away, away) + 0.0001)
        total += away * (mass[j] * inverse * inverse * inverse)
    force[i] = total


@kb.kernel
def bounce(pos: kb.array(dtype=kb.vec3), vel: kb.array(dtype=kb.vec3), radius: float, loss: float):
    """Reflects what left a ball around the origin, and puts it back onto its surface."""
    i = kb.tid()
    distance = kb.length(pos[i])
    if distance <= radius:
        return
    normal = pos[i] / distance
    speed = kb.dot(vel[i], normal)
    if speed > 0.0:
        vel[i] = vel[i] - normal * (speed * (1.0 + loss))
    pos[i] = normal * radius


@kb.kernel
def pendulum(angle: kb.array(dtype=float), rate: kb.array(dtype=float), length: float, dt: float, steps: int):
    """Many pendulums, many small steps each."""
    i = kb.tid()
    a = angle[i]
    w = rate[i]
    for _ in range(steps):
        w -= kb.sin(a) * (9.81 / length) * dt
        a += w * dt
    angle[i] = a
    rate[i] = w
