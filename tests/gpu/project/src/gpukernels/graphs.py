"""What the tests of graphs run."""

import kbuild as kb


@kb.kernel
def advance(pos: kb.array(dtype=float), vel: kb.array(dtype=float), dt: float):
    """Not the same in another order, so that a missing dependency shows."""
    i = kb.tid()
    vel[i] = vel[i] - pos[i] * dt
    pos[i] = pos[i] + vel[i] * dt


@kb.kernel
def count_down(left: kb.array(dtype=int), rounds: kb.array(dtype=int)):
    """A loop's body: one round less to do."""
    left[0] = left[0] - 1
    rounds[0] = rounds[0] + 1


@kb.kernel
def is_odd(number: kb.array(dtype=int), answer: kb.array(dtype=int)):
    answer[0] = number[0] % 2


@kb.kernel
def step_collatz(number: kb.array(dtype=int), is_odd: kb.array(dtype=int), steps: kb.array(dtype=int)):
    """Halves, or triples and adds one."""
    if is_odd[0] != 0:
        number[0] = 3 * number[0] + 1
    else:
        number[0] = number[0] // 2
    steps[0] = steps[0] + 1


@kb.kernel
def is_more_than_one(number: kb.array(dtype=int), answer: kb.array(dtype=int)):
    answer[0] = int(number[0] > 1)


@kb.kernel
def first(out: kb.array(dtype=float), value: float):
    """Launched nowhere else: its code is loaded inside a capture."""
    out[kb.tid()] = value


@kb.kernel
def second(out: kb.array(dtype=float), value: float):
    """As `first`, for another library's capture."""
    out[kb.tid()] = value + 1.0


@kb.kernel
def third(out: kb.array(dtype=float), value: float):
    """As `first`, for a thread."""
    out[kb.tid()] = value + 2.0
