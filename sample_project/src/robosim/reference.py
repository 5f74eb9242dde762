"""The kernels in plain Python, written from their description and not from their code.

Vectors are tuples, arrays are lists. Arithmetic is in double precision, except where a rounding decides a result that
is counted and not measured (`count_voxels`).
"""

import math
import struct


def integrate(pos, vel, gravity, dt):
    """Positions and velocities after one step: two lists of tuples."""
    new_vel = [tuple(v + g * dt for v, g in zip(velocity, gravity)) for velocity in vel]
    new_pos = [tuple(p + v * dt for p, v in zip(*pair)) for pair in zip(pos, new_vel)]
    return new_pos, new_vel


def spring_forces(springs, pos, vel):
    """The force on each particle; a spring is (first, second, length, stiffness, damping)."""
    force = [[0.0, 0.0, 0.0] for _ in pos]
    for first, second, rest, stiffness, damping in springs:
        along = [b - a for a, b in zip(pos[first], pos[second])]
        length = math.sqrt(sum(component * component for component in along))
        if length == 0.0:
            continue
        speed = sum((b - a) * c for a, b, c in zip(vel[first], vel[second], along)) / length
        tension = stiffness * (length - rest) + damping * speed
        for axis in range(3):
            force[first][axis] += tension * along[axis] / length
            force[second][axis] -= tension * along[axis] / length
    return [tuple(vector) for vector in force]


def nv12_to_rgb(frame, width, height, pitch, mean, scale):
    """The three planes, one after the other, as a flat list of 3 * height * width numbers."""
    planes = ([], [], [])
    for row in range(height):
        for column in range(width):
            pair = height * pitch + (row // 2) * pitch + (column - column % 2)
            color = _rgb(frame[row * pitch + column], frame[pair], frame[pair + 1])
            for plane, value, shift, factor in zip(planes, color, mean, scale):
                plane.append((value - shift) * factor)
    return [value for plane in planes for value in plane]


def _rgb(y, u, v):
    grey = (y - 16) / 219
    blue_difference, red_difference = (u - 128) / 224, (v - 128) / 224
    color = (
        grey + 1.5748 * red_difference,
        grey - 0.1873 * blue_difference - 0.4681 * red_difference,
        grey + 1.8556 * blue_difference,
    )
    return tuple(min(max(value, 0.0), 1.0) for value in color)


def depth_to_points(depth, width, camera):
    """A list of points; `depth` is the flat list of millimetres, `camera` is (fx, fy, cx, cy)."""
    fx, fy, cx, cy = camera
    points = []
    for index, millimetres in enumerate(depth):
        z = millimetres / 1000
        points.append(((index % width - cx) / fx * z, (index // width - cy) / fy * z, z))
    return points


def count_voxels(points, origin, size, shape):
    """The counts, as a flat list in row-major order; subtraction and division round to float32 as on the GPU."""
    counts = [0] * (shape[0] * shape[1] * shape[2])
    size = _float32(size)
    for point in points:
        offsets = [_float32(_float32(p) - _float32(o)) for p, o in zip(point, origin)]
        cells = [math.floor(_float32(offset / size)) for offset in offsets]
        if point[2] > 0 and all(0 <= index < extent for index, extent in zip(cells, shape)):
            counts[(cells[0] * shape[1] + cells[1]) * shape[2] + cells[2]] += 1
    return counts


def centre_of_mass(points, masses):
    """One vector, in a list."""
    whole = math.fsum(masses)
    sums = [math.fsum(point[axis] * mass for point, mass in zip(points, masses)) for axis in range(3)]
    return [tuple(moment / whole for moment in sums)]


def matrix_product(a, b):
    """Of lists of rows."""
    columns = list(zip(*b))
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def blur(image, weights):
    """A list of rows: each pixel with its neighbours in both directions, at once; the edges repeat."""
    reach = len(weights) // 2
    height, width = len(image), len(image[0])

    def weighted(pixel, place, extent):
        near = range(place - reach, place + reach + 1)
        return sum(weight * pixel(min(max(at, 0), extent - 1)) for weight, at in zip(weights, near))

    rows = [[weighted(row.__getitem__, x, width) for x in range(width)] for row in image]
    columns = list(zip(*rows))
    return [[weighted(columns[x].__getitem__, y, height) for x in range(width)] for y in range(height)]


def near_points(points, distance):
    """A list of those in front of the camera and not too far away; the length is rounded to float32 as on the GPU."""
    return [point for point in points if point[2] > 0 and _float32(math.hypot(*point)) <= _float32(distance)]


def _float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]
