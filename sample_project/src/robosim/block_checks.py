"""The kernels of `robosim.blocks` once each, and the same in plain Python; `device="sim"` runs them without a GPU."""

import random
import time

import kbuild as kb
from robosim import blocks, reference
from robosim.checks import Outcome, largest_error, random_vectors

BLOCKS = 24  # of launches whose blocks share the work out among them; no multiple of anything that matters


def centre_of_mass(device=None):
    """Particles of different masses; more than the threads of the launch."""
    numbers = random.Random(11)
    points = random_vectors(numbers, 20000, 10.0)
    masses = [kb.float32(numbers.uniform(0.1, 2.0)) for _ in points]
    parts, result = kb.zeros(BLOCKS, dtype=kb.vec4, device=device), kb.zeros(1, dtype=kb.vec3, device=device)
    places, weights = kb.array(points, dtype=kb.vec3, device=device), kb.array(masses, dtype=float, device=device)
    start = time.perf_counter()
    kb.launch(blocks.moments, grid=BLOCKS, inputs=[places, weights], outputs=[parts])
    kb.launch(blocks.centre, grid=1, inputs=[parts], outputs=[result])
    seconds = _waited(start, device)
    error = largest_error(result.tolist(), reference.centre_of_mass(points, masses))
    return Outcome(BLOCKS * blocks.BLOCK, seconds, error, 1e-5)


def matrix_product(device=None):
    """Sizes of which none is a multiple of the tile's."""
    rows, inner, columns = 70, 45, 90
    numbers = random.Random(12)
    a, b = (_matrix(numbers, *shape) for shape in ((rows, inner), (inner, columns)))
    product = kb.zeros((rows, columns), dtype=float, device=device)
    inputs = [kb.array(a, dtype=float, device=device), kb.array(b, dtype=float, device=device)]
    grid = (_parts(columns, blocks.TILE), _parts(rows, blocks.TILE))
    start = time.perf_counter()
    kb.launch(blocks.matrix_product, grid=grid, block=(blocks.TILE, blocks.TILE), inputs=inputs, outputs=[product])
    seconds = _waited(start, device)
    error = largest_error(product.tolist(), reference.matrix_product(a, b))
    return Outcome(grid[0] * grid[1] * blocks.TILE**2, seconds, error, 1e-5)


def blur(device=None):
    """An image of noise, in rows and then in columns, by weights that differ from left to right."""
    width, height = 90, 50
    numbers = random.Random(13)
    image = _matrix(numbers, height, width)
    weights = [kb.float32(numbers.uniform(0.05, 0.15)) for _ in range(2 * blocks.RADIUS + 1)]
    source, given = kb.array(image, dtype=float, device=device), kb.array(weights, dtype=float, device=device)
    half, whole = (kb.zeros((height, width), dtype=float, device=device) for _ in range(2))
    grid, block = (_parts(width, blocks.WIDE), _parts(height, blocks.HIGH)), (blocks.WIDE, blocks.HIGH)
    start = time.perf_counter()
    kb.launch(blocks.blur_rows, grid=grid, block=block, inputs=[source, given], outputs=[half])
    kb.launch(blocks.blur_columns, grid=grid, block=block, inputs=[half, given], outputs=[whole])
    seconds = _waited(start, device)
    error = largest_error(whole.tolist(), reference.blur(image, weights))
    return Outcome(grid[0] * grid[1] * blocks.WIDE * blocks.HIGH, seconds, error, 1e-5)


def voxels_in_blocks(device=None):
    """What `robosim.checks.count_voxels` counts, by blocks with counts of their own."""
    shape, size, origin = (8, 8, 4), 0.25, kb.vec3(-1.0, -1.0, 0.0)
    points = random_vectors(random.Random(14), 20000, 1.2)
    counts = kb.zeros(shape, dtype=int, device=device)
    inputs = [kb.array(points, dtype=kb.vec3, device=device), origin, size, kb.vec3i(*shape), counts.flatten()]
    start = time.perf_counter()
    kb.launch(blocks.count_voxels, grid=BLOCKS, inputs=inputs, shared_memory=4 * counts.size)
    seconds = _waited(start, device)
    error = largest_error(counts.tolist(), reference.count_voxels(points, origin, size, shape))
    return Outcome(BLOCKS * blocks.BLOCK, seconds, error, 0.0)


def near_points(device=None):
    """The points within a metre, packed in their order; more blocks than `place_blocks` has threads."""
    distance = 1.0
    points = random_vectors(random.Random(15), 33503, 1.5)
    count = _parts(len(points), blocks.BLOCK)
    places, total = (kb.zeros(size, dtype=int, device=device) for size in (count, 1))
    cloud, near = kb.array(points, dtype=kb.vec3, device=device), kb.zeros(len(points), dtype=kb.vec3, device=device)
    start = time.perf_counter()
    kb.launch(blocks.count_near, grid=count, inputs=[cloud, distance], outputs=[places])
    kb.launch(blocks.place_blocks, grid=1, inputs=[places, total])
    kb.launch(blocks.pick_near, grid=count, inputs=[cloud, distance, places], outputs=[near])
    seconds = _waited(start, device)
    error = largest_error(near.tolist()[: total.tolist()[0]], reference.near_points(points, distance))
    return Outcome(count * blocks.BLOCK, seconds, error, 0.0)


CHECKS = (centre_of_mass, matrix_product, blur, voxels_in_blocks, near_points)


def _matrix(numbers, rows, columns):
    return [[kb.float32(numbers.uniform(-1.0, 1.0)) for _ in range(columns)] for _ in range(rows)]


def _parts(whole, part):
    """How many parts there are, the last one perhaps smaller."""
    return (whole + part - 1) // part


def _waited(start, device):
    """Seconds until all launches are done."""
    kb.synchronize(device)
    return time.perf_counter() - start
