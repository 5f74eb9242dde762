"""Ten kernels of simulation and robotics, as both kbuild and Warp read them: aot.py changes the line of the import."""

import kbuild as wp


@wp.kernel
def integrate(
    pos: wp.array(dtype=wp.vec3),
    vel: wp.array(dtype=wp.vec3),
    force: wp.array(dtype=wp.vec3),
    inverse_mass: wp.array(dtype=float),
    gravity: wp.vec3,
    dt: float,
):
    i = wp.tid()
    w = inverse_mass[i]
    v = vel[i] + (force[i] * w + gravity * wp.nonzero(w)) * dt
    vel[i] = v
    pos[i] = pos[i] + v * dt


@wp.kernel
def springs(
    pos: wp.array(dtype=wp.vec3),
    vel: wp.array(dtype=wp.vec3),
    ends: wp.array(dtype=int, ndim=2),
    rest: wp.array(dtype=float),
    stiffness: float,
    damping: float,
    force: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    a = ends[i, 0]
    b = ends[i, 1]
    d = pos[a] - pos[b]
    length = wp.length(d)
    direction = d / wp.max(length, 1.0e-6)
    speed = wp.dot(direction, vel[a] - vel[b])
    f = direction * (stiffness * (length - rest[i]) + damping * speed)
    wp.atomic_sub(force, a, f)
    wp.atomic_add(force, b, f)


@wp.kernel
def bodies(
    pose: wp.array(dtype=wp.transform),
    linear: wp.array(dtype=wp.vec3),
    angular: wp.array(dtype=wp.vec3),
    inertia: wp.array(dtype=wp.mat33),
    torque: wp.array(dtype=wp.vec3),
    dt: float,
):
    i = wp.tid()
    x = wp.transform_get_translation(pose[i])
    q = wp.transform_get_rotation(pose[i])
    w = wp.quat_rotate_inv(q, angular[i])
    t = wp.quat_rotate_inv(q, torque[i])
    m = inertia[i]
    w = w + wp.inverse(m) * (t - wp.cross(w, m * w)) * dt
    turned = wp.quat_rotate(q, w)
    q = wp.normalize(q + wp.quat(turned * 0.5, 0.0) * q * dt)
    angular[i] = turned
    pose[i] = wp.transform(x + linear[i] * dt, q)


@wp.kernel
def heat(field: wp.array(dtype=float, ndim=2), out: wp.array(dtype=float, ndim=2), rate: float):
    i, j = wp.tid()
    rows = field.shape[0]
    columns = field.shape[1]
    up = field[wp.max(i - 1, 0), j]
    down = field[wp.min(i + 1, rows - 1), j]
    left = field[i, wp.max(j - 1, 0)]
    right = field[i, wp.min(j + 1, columns - 1)]
    out[i, j] = field[i, j] + rate * (up + down + left + right - 4.0 * field[i, j])


@wp.kernel
def energy(
    pos: wp.array(dtype=wp.vec3),
    vel: wp.array(dtype=wp.vec3),
    mass: wp.array(dtype=float),
    gravity: wp.vec3,
    total: wp.array(dtype=float),
):
    i = wp.tid()
    v = vel[i]
    wp.atomic_add(total, 0, 0.5 * mass[i] * wp.dot(v, v) - mass[i] * wp.dot(gravity, pos[i]))


@wp.kernel
def bounds(pos: wp.array(dtype=wp.vec3), low: wp.array(dtype=wp.vec3), high: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    wp.atomic_min(low, 0, pos[i])
    wp.atomic_max(high, 0, pos[i])


@wp.func
def contact(x: wp.vec3, v: wp.vec3, normal: wp.vec3, offset: float, stiffness: float, friction: float):
    depth = wp.dot(x, normal) - offset
    if depth >= 0.0:
        return wp.vec3(0.0, 0.0, 0.0)
    push = -depth * stiffness
    along = v - normal * wp.dot(v, normal)
    return normal * push - wp.normalize(along) * wp.min(friction * push, wp.length(along))


@wp.kernel
def contacts(
    pos: wp.array(dtype=wp.vec3),
    vel: wp.array(dtype=wp.vec3),
    planes: wp.array(dtype=wp.vec4),
    stiffness: float,
    friction: float,
    force: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    f = wp.vec3(0.0, 0.0, 0.0)
    for p in range(planes.shape[0]):
        plane = planes[p]
        normal = wp.vec3(plane[0], plane[1], plane[2])
        f = f + contact(pos[i], vel[i], normal, plane[3], stiffness, friction)
    wp.atomic_add(force, i, f)


@wp.kernel
def neighbours(pos: wp.array(dtype=wp.vec3), radius: float, count: wp.array(dtype=int), nearest: wp.array(dtype=float)):
    i = wp.tid()
    x = pos[i]
    found = int(0)
    best = float(1.0e10)
    for j in range(pos.shape[0]):
        if j != i:
            d = wp.length(x - pos[j])
            if d < radius:
                found += 1
            best = wp.min(best, d)
    count[i] = found
    nearest[i] = best


@wp.kernel
def chain(angles: wp.array(dtype=float, ndim=2), lengths: wp.array(dtype=float), tips: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    place = wp.vec3(0.0, 0.0, 0.0)
    turn = wp.quat_identity()
    for joint in range(lengths.shape[0]):
        axis = wp.vec3(0.0, 0.0, 1.0)
        if joint % 2 == 1:
            axis = wp.vec3(0.0, 1.0, 0.0)
        turn = turn * wp.quat_from_axis_angle(axis, angles[i, joint])
        place = place + wp.quat_rotate(turn, wp.vec3(lengths[joint], 0.0, 0.0))
    tips[i] = place


@wp.kernel
def lidar(
    ranges: wp.array(dtype=float, ndim=2),
    origin: wp.vec3,
    step: float,
    size: float,
    grid: wp.array(dtype=int, ndim=2),
):
    scan, beam = wp.tid()
    r = ranges[scan, beam]
    angle = step * float(beam)
    x = origin[0] + r * wp.cos(angle)
    y = origin[1] + r * wp.sin(angle)
    i = int(wp.floor(x / size))
    j = int(wp.floor(y / size))
    if i >= 0 and j >= 0 and i < grid.shape[0] and j < grid.shape[1]:
        wp.atomic_add(grid, i, j, 1)
