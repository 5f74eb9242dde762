"""What the tests of gradients differentiate. Most of it is exact: sums, products, quotients and roots."""

from typing import Any

import kbuild as kb


@kb.struct
class Joint:
    """In arrays; an index among the numbers."""

    gain: float
    axis: kb.vec3
    parent: int


@kb.struct
class Model:
    """A struct of arrays."""

    mass: kb.array(dtype=float)
    joints: kb.array(dtype=Joint)
    scale: float


@kb.kernel
def product(x: kb.array(dtype=float), n: kb.array(dtype=int), y: kb.array(dtype=float)):
    """A power by a loop whose trips only a run can tell."""
    i = kb.tid()
    p = 1.0
    for _ in range(n[i]):
        p = p * x[i]
    y[i] = p


@kb.kernel(max_iterations=8)
def bounded(x: kb.array(dtype=float), n: kb.array(dtype=int), y: kb.array(dtype=float)):
    """As `product`, with a bound that is declared."""
    i = kb.tid()
    p = 1.0
    for _ in range(n[i]):
        p = p * x[i]
    y[i] = p


@kb.kernel
def scale_by(a: kb.array(dtype=float), b: kb.array(dtype=float), c: kb.array(dtype=float)):
    """In place, twice, and looked at in between."""
    i = kb.tid()
    a[i] *= b[i]
    a[i] /= c[i]
    a[i] = a[i] * a[i]


@kb.kernel
def wander(x: kb.array(dtype=float), limit: kb.array(dtype=int), y: kb.array(dtype=float)):
    """`while`, `continue` and `break`, with numbers that go from trip to trip."""
    i = kb.tid()
    v = x[i]
    total = 0.0
    k = 0
    while k < limit[i]:
        k += 1
        if k % 3 == 0:
            continue
        v = v * 0.75 + 0.125 * total
        total += v * v
        if total > 50.0:
            break
    y[i] = total


@kb.kernel
def nested(x: kb.array(dtype=float), rows: kb.array(dtype=int), y: kb.array2d(dtype=float)):
    """Loops in loops, the inner as long as the outer says; two coordinates."""
    i, j = kb.tid()
    v = x[i]
    for row in range(rows[i]):
        w = v
        for column in range(row + j):
            if column % 2 == 0:
                w = w * x[i] + 0.5
            else:
                w = w - 0.25 * v
        v = v * 0.5 + w * 0.125
    y[i, j] = v


@kb.kernel
def torque(model: Model, angles: kb.array(dtype=float), out: kb.array(dtype=kb.vec3)):
    """Structs of arrays, and arrays of structs; parents give to several children."""
    i = kb.tid()
    joint = model.joints[i]
    pull = joint.axis * (joint.gain * angles[i] * model.scale)
    if joint.parent >= 0:
        pull = pull + model.joints[joint.parent].axis * model.mass[joint.parent]
    out[i] = pull * model.mass[i]


@kb.kernel
def turn(
    m: kb.array(dtype=kb.mat33), q: kb.array(dtype=kb.quat), v: kb.array(dtype=kb.vec3), out: kb.array(dtype=kb.vec3)
):
    """Matrices, quaternions and vectors; components that are assigned more than once."""
    i = kb.tid()
    w = kb.transpose(m[i]) @ v[i]
    w[1] = w[0] * w[2]
    w[0] = w[1] - w[0]
    w[1] = w[1] * w[1]
    u = kb.quat_rotate(q[i], w)
    out[i] = kb.cross(u, v[i]) / (1.0 + kb.dot(w, w)) + kb.normalize(u) * kb.length(v[i])


@kb.kernel
def scatter(x: kb.array(dtype=float), to: kb.array(dtype=int), out: kb.array(dtype=float)):
    """Sums and differences of many threads in few places."""
    i = kb.tid()
    kb.atomic_add(out, to[i], x[i] * x[i])
    kb.atomic_sub(out, to[i] + 1, x[i])


@kb.kernel
def extremes(x: kb.array(dtype=float), low: kb.array(dtype=float), high: kb.array(dtype=float)):
    """The smallest and the largest: their adjoints go to who gave them."""
    i = kb.tid()
    kb.atomic_min(low, 0, x[i] * 2.0)
    kb.atomic_max(high, 0, x[i] * x[i])


@kb.kernel
def early(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    """Threads that leave at three places."""
    i = kb.tid()
    if x[i] < 0.0:
        return
    y[i] = x[i] * x[i]
    for k in range(10):
        y[i] = y[i] + x[i] * float(k)
        if y[i] > 20.0:
            return
    y[i] = y[i] / x[i]


@kb.func
def clipped(x: float) -> float:
    return kb.clamp(x, -1.0, 1.0)


@kb.func_grad(clipped)
def clipped_gradient(x: float, adj_result: float):
    kb.adjoint[x] += adj_result * 3.0


@kb.kernel
def custom(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    """A function with a gradient of its own: three, also where it is flat."""
    i = kb.tid()
    y[i] = clipped(x[i]) * 2.0


@kb.kernel
def powers(x: kb.array(dtype=Any), n: int, y: kb.array(dtype=Any)):
    """For two types of numbers."""
    i = kb.tid()
    p = x[i]
    for _ in range(n):
        p = p * x[i] + x.dtype(0.5)
    y[i] = p / x[i]


kb.overload(powers, {"x": kb.array(dtype=float), "y": kb.array(dtype=float)})
kb.overload(powers, {"x": kb.array(dtype=kb.float64), "y": kb.array(dtype=kb.float64)})


@kb.kernel
def smooth(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    """Approximate functions."""
    i = kb.tid()
    v = x[i]
    for _ in range(3):
        v = kb.sin(v) * kb.exp(-v) + kb.tanh(v * 2.0) + kb.pow(kb.abs(v) + 1.0, 1.5)
        v = kb.log(v + 2.0) + kb.sqrt(v + 1.0)
    y[i] = v


@kb.kernel
def step(pos: kb.array(dtype=kb.vec3), vel: kb.array(dtype=kb.vec3), force: kb.array(dtype=kb.vec3), dt: float):
    """In place: what several launches in a row overwrite."""
    i = kb.tid()
    vel[i] = vel[i] + (force[i] - 0.5 * vel[i] * kb.dot(vel[i], vel[i])) * dt
    pos[i] = pos[i] + vel[i] * dt


@kb.kernel
def energy(pos: kb.array(dtype=kb.vec3), loss: kb.array(dtype=float)):
    """A sum over all threads."""
    i = kb.tid()
    kb.atomic_add(loss, 0, kb.dot(pos[i], pos[i]))
