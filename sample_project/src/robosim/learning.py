"""What learns: a ball that is thrown, a chain of particles that is pulled, and Adam, which improves what goes in."""

import kbuild as kb

GRAVITY = -9.81  # [m/s²]
AIR = 0.02  # drag of the air at 1 m/s [1/s]
HAND = 1.0  # height at which a ball is thrown [m]

MOST_STEPS = 400  # of a throw: in a captured graph the room for what its adjoint saves must be known before

FORGET_MEAN = 0.9
FORGET_SQUARE = 0.999
LEAST = 1.0e-8


@kb.struct
class Moments:
    """What Adam remembers of one number: averages of its gradient and of the square, and how much of them is their
    beginning at zero.
    """

    mean: float
    square: float
    early_mean: float
    early_square: float


@kb.kernel(max_iterations=MOST_STEPS)
def throw(
    angle: kb.array(dtype=float), speed: kb.array(dtype=float), dt: float, steps: int, landed: kb.array(dtype=float)
):
    """Throws balls at an angle [rad] and a speed [m/s]: how far they are [m] when they meet the ground.

    The path is followed in steps dt [s], `steps` at most, and where it meets the ground in a step is interpolated: so
    the distance depends on angle and speed without jumps.
    """
    i = kb.tid()
    position = kb.vec2(0.0, HAND)
    velocity = speed[i] * kb.vec2(kb.cos(angle[i]), kb.sin(angle[i]))
    for _ in range(steps):
        velocity = velocity * (1.0 - AIR * dt * kb.length(velocity)) + kb.vec2(0.0, GRAVITY * dt)
        next = position + velocity * dt
        if next[1] < 0.0:
            position = position + (next - position) * (position[1] / (position[1] - next[1]))
            break
        position = next
    landed[i] = position[0]


@kb.kernel
def miss(
    landed: kb.array(dtype=float),
    target: kb.array(dtype=float),
    speed: kb.array(dtype=float),
    weight: float,
    loss: kb.array(dtype=float),
):
    """Adds to the loss the square of each distance to a target [m²], and what its speed costs."""
    i = kb.tid()
    off = landed[i] - target[i]
    kb.atomic_add(loss, 0, off * off + weight * speed[i] * speed[i])


@kb.kernel
def advance(
    pos: kb.array(dtype=kb.vec3),
    vel: kb.array(dtype=kb.vec3),
    force: kb.array(dtype=kb.vec3),
    control: kb.array2d(dtype=float),
    target: kb.array(dtype=kb.vec3),
    step: int,
    dt: float,
    next_pos: kb.array(dtype=kb.vec3),
    next_vel: kb.array(dtype=kb.vec3),
    loss: kb.array(dtype=float),
):
    """Moves particles of 1 kg one step dt [s]. The first is pulled by `control[step]` [N], the last is held to target.

    Positions [m], velocities [m/s] and forces [N] have shape [particles]; the next ones go into arrays of their own.
    """
    i = kb.tid()
    push = force[i]
    if i == 0:
        push = push + kb.vec3(control[step, 0], control[step, 1], control[step, 2])
    velocity = vel[i] + push * dt
    position = pos[i] + velocity * dt
    next_vel[i] = velocity
    next_pos[i] = position
    if i == pos.shape[0] - 1:
        kb.atomic_add(loss, 0, kb.length_sq(position - target[step]) * dt)


@kb.kernel
def effort(control: kb.array2d(dtype=float), weight: float, loss: kb.array(dtype=float)):
    """Adds to the loss what the control costs; one thread a number."""
    step, axis = kb.tid()
    kb.atomic_add(loss, 0, weight * control[step, axis] * control[step, axis])


@kb.kernel(enable_backward=False)
def adam(values: kb.array(dtype=float), gradient: kb.array(dtype=float), moments: kb.array(dtype=Moments), rate: float):
    """One step of Adam (Kingma and Ba, ICLR 2015) for each value; the gradient is zero afterwards."""
    i = kb.tid()
    g = gradient[i]
    m = moments[i]
    m.mean = FORGET_MEAN * m.mean + (1.0 - FORGET_MEAN) * g
    m.square = FORGET_SQUARE * m.square + (1.0 - FORGET_SQUARE) * g * g
    m.early_mean = m.early_mean * FORGET_MEAN
    m.early_square = m.early_square * FORGET_SQUARE
    mean = m.mean / (1.0 - m.early_mean)
    square = m.square / (1.0 - m.early_square)
    values[i] = values[i] - rate * mean / (kb.sqrt(square) + LEAST)
    moments[i] = m
    gradient[i] = 0.0
