"""The kernels of benchmarks/fast.py on Warp, as its documentation writes such kernels: tiles where blocks cooperate."""

import warp as wp
from programs.warp_kernels import integrate  # noqa: F401  (one of the twelve)

SIDE, DEEP = wp.constant(64), wp.constant(16)  # of tiles of a product
TURNED = wp.constant(32)


@wp.struct
class Spring:
    first: int
    second: int
    length: float
    stiffness: float
    damping: float


@wp.kernel(enable_backward=False)
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel(enable_backward=False)
def spring_forces(
    springs: wp.array(dtype=Spring),
    pos: wp.array(dtype=wp.vec3),
    vel: wp.array(dtype=wp.vec3),
    force: wp.array(dtype=wp.vec3),
):
    spring = springs[wp.tid()]
    along = pos[spring.second] - pos[spring.first]
    length = wp.length(along)
    if length < 1.0e-6:
        return
    direction = along / length
    speed = wp.dot(vel[spring.second] - vel[spring.first], direction)
    pull = direction * (spring.stiffness * (length - spring.length) + spring.damping * speed)
    wp.atomic_add(force, spring.first, pull)
    wp.atomic_add(force, spring.second, -pull)


@wp.kernel(enable_backward=False)
def blur(source: wp.array2d(dtype=wp.uint8), target: wp.array2d(dtype=wp.uint8)):
    row, column = wp.tid()
    total = int(0)  # noqa: UP018, RUF046  (a variable to Warp)
    for down in range(-1, 2):
        for right in range(-1, 2):
            y = wp.clamp(row + down, 0, source.shape[0] - 1)
            x = wp.clamp(column + right, 0, source.shape[1] - 1)
            total += int(source[y, x])
    target[row, column] = wp.uint8((total + 4) // 9)


@wp.kernel(enable_backward=False, module="unique")  # compiled for a block size of its own
def transpose(a: wp.array2d(dtype=float), turned: wp.array2d(dtype=float)):
    i, j = wp.tid()
    tile = wp.tile_load(a, shape=(TURNED, TURNED), offset=(i * TURNED, j * TURNED))
    wp.tile_store(turned, wp.tile_transpose(tile), offset=(j * TURNED, i * TURNED))


@wp.kernel(enable_backward=False)
def histogram(values: wp.array(dtype=wp.uint8), counts: wp.array(dtype=int)):
    wp.atomic_add(counts, int(values[wp.tid()]), 1)


@wp.kernel(enable_backward=False, module="unique")  # compiled for a block size of its own
def matrix_product(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), product: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = wp.tile_zeros(shape=(SIDE, SIDE), dtype=float)
    for k in range((a.shape[1] + DEEP - 1) // DEEP):
        of_a = wp.tile_load(a, shape=(SIDE, DEEP), offset=(i * SIDE, k * DEEP))
        of_b = wp.tile_load(b, shape=(DEEP, SIDE), offset=(k * DEEP, j * SIDE))
        wp.tile_matmul(of_a, of_b, total)
    wp.tile_store(product, total, offset=(i * SIDE, j * SIDE))


@wp.kernel(enable_backward=False)
def attraction(pos: wp.array(dtype=wp.vec3), mass: wp.array(dtype=float), force: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    here = pos[i]
    total = wp.vec3(0.0, 0.0, 0.0)
    for j in range(pos.shape[0]):
        away = pos[j] - here
        inverse = 1.0 / wp.sqrt(wp.dot(away, away) + 0.0001)
        total += away * (mass[j] * inverse * inverse * inverse)
    force[i] = total


@wp.kernel(enable_backward=False)
def nv12_to_rgb(
    frame: wp.array(dtype=wp.uint8), pitch: int, mean: wp.vec3, scale: wp.vec3, rgb: wp.array3d(dtype=float)
):
    row, column = wp.tid()
    pair = (rgb.shape[1] + row // 2) * pitch + column // 2 * 2
    grey = (float(frame[row * pitch + column]) - 16.0) * (1.0 / 219.0)
    u = float(frame[pair]) - 128.0
    v = float(frame[pair + 1]) - 128.0
    red = wp.clamp(grey + v * (1.5748 / 224.0), 0.0, 1.0)
    green = wp.clamp(grey + u * (-0.1873 / 224.0) + v * (-0.4681 / 224.0), 0.0, 1.0)
    blue = wp.clamp(grey + u * (1.8556 / 224.0), 0.0, 1.0)
    rgb[0, row, column] = (red - mean[0]) * scale[0]
    rgb[1, row, column] = (green - mean[1]) * scale[1]
    rgb[2, row, column] = (blue - mean[2]) * scale[2]


@wp.kernel(enable_backward=False)
def sparse_product(
    starts: wp.array(dtype=int),
    columns: wp.array(dtype=int),
    values: wp.array(dtype=float),
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
):
    row = wp.tid()
    own = float(0.0)  # noqa: UP018  (a variable to Warp)
    for k in range(starts[row], starts[row + 1]):
        own += values[k] * x[columns[k]]
    y[row] = own
