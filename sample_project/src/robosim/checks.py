"""Each kernel once on the GPU, and the same in plain Python: how far apart are they?

Every check makes its own input from a fixed seed, rounded to float32 first, so that both start from the same numbers.
"""

import random
import time
from typing import NamedTuple

import kbuild as kb
from robosim import kernels, mapping, reference, vision
from robosim.geometry import Camera

WIDTH, HEIGHT, PITCH = 160, 120, 192  # a small picture; its rows are padded to 192 bytes, as cameras do


class Outcome(NamedTuple):
    """What one check found."""

    threads: int
    seconds: float  # first launch, with loading the machine code
    error: float  # largest difference, relative where the reference is larger than 1
    tolerance: float

    @property
    def is_good(self):
        return self.error <= self.tolerance


def integrate():
    """Particles under gravity."""
    count, dt = 20000, kb.float32(1.0 / 60.0)
    gravity = kb.vec3(0.0, -9.81, 0.0)
    numbers = random.Random(1)
    pos, vel = random_vectors(numbers, count, 10.0), random_vectors(numbers, count, 3.0)
    gpu_pos, gpu_vel = kb.array(pos, dtype=kb.vec3), kb.array(vel, dtype=kb.vec3)
    seconds = _launch(kernels.integrate, count, [gpu_pos, gpu_vel, gravity, dt])
    wanted = reference.integrate(pos, vel, gravity, dt)
    return Outcome(count, seconds, largest_error([gpu_pos.tolist(), gpu_vel.tolist()], wanted), 1e-6)


def spring_forces():
    """A chain of springs with a few across it, so that many pull at the same particle at once."""
    count = 2000
    numbers = random.Random(2)
    pos, vel = random_vectors(numbers, count, 1.0), random_vectors(numbers, count, 1.0)
    pairs = [(i, i + 1) for i in range(count - 1)] + [(0, i) for i in range(2, count, 7)]
    springs = [(a, b, kb.float32(0.7), kb.float32(numbers.uniform(50.0, 150.0)), 0.5) for a, b in pairs]
    names = ("first", "second", "length", "stiffness", "damping")
    gpu_springs = kb.array([kernels.Spring(**dict(zip(names, row))) for row in springs], dtype=kernels.Spring)
    force = kb.zeros(count, dtype=kb.vec3)
    inputs = [gpu_springs, kb.array(pos, dtype=kb.vec3), kb.array(vel, dtype=kb.vec3), force]
    seconds = _launch(kernels.spring_forces, len(springs), inputs)
    # Sums of hundreds of forces, in whatever order the threads come.
    return Outcome(
        len(springs), seconds, largest_error(force.tolist(), reference.spring_forces(springs, pos, vel)), 1e-4
    )


def nv12_to_rgb():
    """A camera frame of noise, padding bytes included."""
    frame = bytes(random.Random(3).choices(range(256), k=PITCH * HEIGHT * 3 // 2))
    mean, scale = kb.vec3(0.485, 0.456, 0.406), kb.vec3(4.367, 4.464, 4.444)
    rgb = kb.zeros((3, HEIGHT, WIDTH), dtype=float)
    inputs = [kb.array(frame, dtype=kb.uint8), PITCH, mean, scale, rgb]
    seconds = _launch(vision.nv12_to_rgb, (HEIGHT, WIDTH), inputs)
    wanted = reference.nv12_to_rgb(frame, WIDTH, HEIGHT, PITCH, mean, scale)
    return Outcome(WIDTH * HEIGHT, seconds, largest_error(rgb.tolist(), wanted), 1e-5)


def depth_to_points():
    """A depth image of up to eight metres, with holes in it."""
    numbers = random.Random(4)
    depth = [numbers.choice((0, numbers.randrange(200, 8000))) for _ in range(WIDTH * HEIGHT)]
    camera = (kb.float32(115.5), kb.float32(115.25), 79.5, 59.5)
    rows = [depth[start : start + WIDTH] for start in range(0, len(depth), WIDTH)]
    points = kb.zeros(len(depth), dtype=kb.vec3)
    inputs = [kb.array(rows, dtype=kb.uint16), Camera(**dict(zip(("fx", "fy", "cx", "cy"), camera))), points]
    seconds = _launch(vision.depth_to_points, (HEIGHT, WIDTH), inputs)
    return Outcome(
        len(depth), seconds, largest_error(points.tolist(), reference.depth_to_points(depth, WIDTH, camera)), 1e-5
    )


def count_voxels():
    """Points in and around a grid of 8 x 8 x 4 voxels; counts are equal or wrong."""
    shape, size, origin = (8, 8, 4), 0.25, kb.vec3(-1.0, -1.0, 0.0)
    points = random_vectors(random.Random(5), 20000, 1.2)
    counts = kb.zeros(shape, dtype=int)
    seconds = _launch(mapping.count_voxels, len(points), [kb.array(points, dtype=kb.vec3), origin, size, counts])
    wanted = reference.count_voxels(points, origin, size, shape)
    return Outcome(len(points), seconds, largest_error(counts.tolist(), wanted), 0.0)


CHECKS = (integrate, spring_forces, nv12_to_rgb, depth_to_points, count_voxels)


def random_vectors(numbers, count, extent):
    """A list of `count` tuples of three numbers of float32, each between -extent and extent."""

    def one():
        return kb.float32(numbers.uniform(-extent, extent))

    return [(one(), one(), one()) for _ in range(count)]


def _launch(kernel, dim, inputs):
    start = time.perf_counter()
    kb.launch(kernel, dim=dim, inputs=inputs)
    kb.synchronize()
    return time.perf_counter() - start


def largest_error(got, wanted):
    """Of two nests of lists, relative where what is wanted is larger than 1; infinite where one is not complete."""
    got, wanted = list(flat(got)), list(flat(wanted))
    errors = [abs(g - w) / max(1.0, abs(w)) for g, w in zip(got, wanted)]
    is_complete = len(got) == len(wanted) and all(error == error for error in errors)
    return max(errors) if is_complete else float("inf")


def flat(nested):
    """The numbers of nested lists and tuples."""
    for item in nested:
        if isinstance(item, (list, tuple)):
            yield from flat(item)
        else:
            yield item
