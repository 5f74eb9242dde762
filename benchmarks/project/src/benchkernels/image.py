"""Images of one byte a pixel."""

import kbuild as kb


@kb.kernel
def blur(source: kb.array2d(dtype=kb.uint8), target: kb.array2d(dtype=kb.uint8)):
    """The mean of 3 x 3 pixels, rounded; edges repeat."""
    row, column = kb.tid()
    total = 0
    for down in range(-1, 2):
        for right in range(-1, 2):
            y = kb.clamp(row + down, 0, source.shape[0] - 1)
            x = kb.clamp(column + right, 0, source.shape[1] - 1)
            total += int(source[y, x])
    target[row, column] = kb.uint8((total + 4) // 9)


@kb.kernel
def histogram(image: kb.array2d(dtype=kb.uint8), counts: kb.array(dtype=int)):
    """How many pixels have each of 256 values."""
    row, column = kb.tid()
    kb.atomic_add(counts, int(image[row, column]), 1)


@kb.kernel
def threshold(source: kb.array2d(dtype=kb.uint8), level: int, target: kb.array2d(dtype=kb.uint8)):
    """255 where a pixel is at least `level`, else 0."""
    row, column = kb.tid()
    target[row, column] = kb.uint8(255) if int(source[row, column]) >= level else kb.uint8(0)


@kb.kernel
def mandelbrot(x0: float, y0: float, step: float, limit: int, counts: kb.array2d(dtype=int)):
    """How long z * z + c stays near the origin."""
    row, column = kb.tid()
    re = x0 + float(column) * step
    im = y0 + float(row) * step
    x = 0.0
    y = 0.0
    n = 0
    while n < limit and x * x + y * y < 4.0:
        next_x = x * x - y * y + re
        y = 2.0 * x * y + im
        x = next_x
        n += 1
    counts[row, column] = n
