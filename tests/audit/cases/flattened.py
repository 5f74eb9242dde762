"""Positions worked out by hand: planes and volumes laid out flat, rings, strides, packed bits and triangles."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)
Plane = kb.array2d(dtype=float)

RING = 16
RADIUS = 3


@case(
    "bounds",
    "GPUVerify",
    At((4, 6, 10), block=48, field=240, out=240, depth=4, height=6, width=10),
    symbolic="any",
)
@kb.kernel
def slope_along_z_good(field: Floats, out: Floats, depth: int, height: int, width: int):
    z, y, x = kb.tid()
    here = (z * height + y) * width + x
    slope = 0.0
    if z + 1 < depth:
        slope = field[here + height * width] - field[here]
    out[here] = slope


@case(
    "bounds",
    "GPUVerify",
    At((4, 6, 10), block=48, field=240, out=240, depth=4, height=6, width=10),
    symbolic="any",
)
@kb.kernel
def slope_along_z_bad(field: Floats, out: Floats, depth: int, height: int, width: int):
    z, y, x = kb.tid()
    here = (z * height + y) * width + x
    slope = 0.0
    if y + 1 < height and z < depth:
        slope = field[here + height * width] - field[here]  # finds bounds
    out[here] = slope


@case("bounds", "own", At(16, block=16, ring=16, out=16, head=3))
@kb.kernel
def newest_first_good(ring: Floats, out: Floats, head: int):
    i = kb.tid()
    n = ring.shape[0]
    if i < n and i < out.shape[0] and 0 <= head < n:
        out[i] = ring[(head - 1 - i + n) % n]


@case("bounds", "own", At(16, block=16, ring=16, out=16, head=3))
@kb.kernel
def newest_first_bad(ring: Floats, out: Floats, head: int):
    i = kb.tid()
    n = ring.shape[0]
    if i < n and i < out.shape[0] and 0 <= head < n:
        out[i] = ring[(head - 1 - i) % n]  # finds bounds


@case("bounds", "own", At(40, block=40, ring=RING, out=40, head=5), symbolic="any")
@kb.kernel
def ring_by_mask_good(ring: Floats, out: Floats, head: int):
    i = kb.tid()
    if i < out.shape[0]:
        out[i] = ring[(head + i) & (RING - 1)]


@case("bounds", "own", At(40, block=40, ring=RING, out=40, head=5), symbolic="any")
@kb.kernel
def ring_by_mask_bad(ring: Floats, out: Floats, head: int):
    i = kb.tid()
    if i < out.shape[0]:
        out[i] = ring[(head + i) & RING]  # finds bounds


@case("bounds", "own", At(100, block=50, marks=100, words=4))
@kb.kernel
def bits_packed_good(marks: Floats, words: kb.array(dtype=kb.uint32)):
    i = kb.tid()
    if i < marks.shape[0] and (marks.shape[0] + 31) // 32 <= words.shape[0]:
        if marks[i] > 5.0:
            kb.atomic_or(words, i >> 5, kb.uint32(1) << kb.uint32(i & 31))


@case("bounds", "own", At(100, block=50, marks=100, words=4))
@kb.kernel
def bits_packed_bad(marks: Floats, words: kb.array(dtype=kb.uint32)):
    i = kb.tid()
    if i < marks.shape[0] and (marks.shape[0] + 31) // 32 <= words.shape[0]:
        if marks[i] > 5.0:
            kb.atomic_or(words, (i + 31) >> 5, kb.uint32(1) << kb.uint32(i & 31))  # finds bounds


@case("bounds", "own", At((8, 8), block=64, packed=36, full=(8, 8), n=8), symbolic="any")
@kb.kernel
def upper_triangle_good(packed: Floats, full: Plane, n: int):
    row, column = kb.tid()
    low = kb.min(row, column)
    high = kb.max(row, column)
    full[row, column] = packed[low * (2 * n - low - 1) // 2 + high]


@case("bounds", "own", At((8, 8), block=64, packed=36, full=(8, 8), n=8), symbolic="any")
@kb.kernel
def upper_triangle_bad(packed: Floats, full: Plane, n: int):
    row, column = kb.tid()
    low = kb.min(row, column)
    high = kb.max(row, column)
    full[row, column] = packed[low * (2 * n - low + 1) // 2 + high]  # finds bounds


@case("bounds", "own", At((4, 4), block=16, raw=(7, 8), grey=(4, 4)))
@kb.kernel
def quads_averaged_good(raw: Plane, grey: Plane):
    y, x = kb.tid()
    if y < raw.shape[0] // 2 and x < raw.shape[1] // 2 and y < grey.shape[0] and x < grey.shape[1]:
        grey[y, x] = raw[2 * y, 2 * x] + raw[2 * y + 1, 2 * x] + raw[2 * y, 2 * x + 1] + raw[2 * y + 1, 2 * x + 1]


@case("bounds", "own", At((4, 4), block=16, raw=(7, 8), grey=(4, 4)))
@kb.kernel
def quads_averaged_bad(raw: Plane, grey: Plane):
    y, x = kb.tid()
    if y < (raw.shape[0] + 1) // 2 and x < (raw.shape[1] + 1) // 2 and y < grey.shape[0] and x < grey.shape[1]:
        above = raw[2 * y, 2 * x]
        grey[y, x] = above + raw[2 * y + 1, 2 * x]  # finds bounds


@case("bounds", "GPUVerify", At(8, block=8, data=12, out=8))
@kb.kernel
def thirds_from_the_end_good(data: Floats, out: Floats):
    i = kb.tid()
    n = len(data)
    if 3 * i < n and i < len(out):
        out[i] = data[n - 1 - 3 * i]


@case("bounds", "GPUVerify", At(8, block=8, data=12, out=8))
@kb.kernel
def thirds_from_the_end_bad(data: Floats, out: Floats):
    i = kb.tid()
    n = len(data)
    if 3 * i <= n and i < len(out):
        out[i] = data[n - 1 - 3 * i]  # finds bounds


@case("bounds", "own", At(20, block=20, colours=50, grey=20))
@kb.kernel
def colours_interleaved_good(colours: Floats, grey: Floats):
    p = kb.tid()
    if p < len(colours) // 3 and p < len(grey):
        total = 0.0
        for c in range(3):
            total += colours[3 * p + c]
        grey[p] = total / 3.0


@case("bounds", "own", At(20, block=20, colours=50, grey=20))
@kb.kernel
def colours_interleaved_bad(colours: Floats, grey: Floats):
    p = kb.tid()
    if 3 * p < len(colours) and p < len(grey):
        total = 0.0
        for c in range(3):
            total += colours[3 * p + c]  # finds bounds
        grey[p] = total / 3.0


@case("bounds", "own", At(30, block=30, data=30, out=30))
@kb.kernel
def mean_around_good(data: Floats, out: Floats):
    i = kb.tid()
    n = data.shape[0]
    if i >= n or i >= out.shape[0]:
        return
    first = kb.max(i - RADIUS, 0)
    last = kb.min(i + RADIUS, n - 1)
    total = 0.0
    for j in range(first, last + 1):
        total += data[j]
    out[i] = total / float(last - first + 1)


@case("bounds", "own", At(30, block=30, data=30, out=30))
@kb.kernel
def mean_around_bad(data: Floats, out: Floats):
    i = kb.tid()
    n = data.shape[0]
    if i >= n or i >= out.shape[0]:
        return
    first = kb.max(i - RADIUS, 0)
    last = kb.min(i + RADIUS, n)
    total = 0.0
    for j in range(first, last + 1):
        total += data[j]  # finds bounds
    out[i] = total / float(last - first + 1)


@case("bounds", "own", At((8, 8), block=64, curve=16, out=(8, 8)), symbolic="any")
@kb.kernel
def bits_interleaved_good(curve: Floats, out: Plane):
    y, x = kb.tid()
    place = (x & 1) | ((y & 1) << 1) | ((x & 2) << 1) | ((y & 2) << 2)
    out[y, x] = curve[place]


@case("bounds", "own", At((8, 8), block=64, curve=16, out=(8, 8)), symbolic="any")
@kb.kernel
def bits_interleaved_bad(curve: Floats, out: Plane):
    y, x = kb.tid()
    place = (x & 1) | ((y & 1) << 1) | ((x & 4) << 1) | ((y & 4) << 2)
    out[y, x] = curve[place]  # finds bounds


@case("bounds", "own", At(grid=3, block=32, data=250, out=250))
@kb.kernel(block_dim=32)
def walked_by_all_good(data: Floats, out: Floats):
    k = kb.tid()
    n = kb.min(len(data), len(out))
    while k < n:
        out[k] = 2.0 * data[k]
        k += kb.grid_dim() * kb.block_dim()


@case("bounds", "own", At(grid=3, block=32, data=250, out=250))
@kb.kernel(block_dim=32)
def walked_by_all_bad(data: Floats, out: Floats):
    k = kb.tid()
    n = kb.min(len(data), len(out))
    while k <= n:
        out[k] = 2.0 * data[k]  # finds bounds
        k += kb.grid_dim() * kb.block_dim()


@case("bounds", "own", At(64, block=64, levels=128, n=64, level=3), symbolic="any")
@kb.kernel
def level_of_a_pyramid_good(levels: Floats, n: int, level: int):
    i = kb.tid()
    start = 0
    size = int(n)
    for _ in range(level):
        start += size
        size = size // 2
    if i < size:
        levels[start + i] = 0.0


@case("bounds", "own", At(64, block=64, levels=128, n=64, level=3), symbolic="any")
@kb.kernel
def level_of_a_pyramid_bad(levels: Floats, n: int, level: int):
    i = kb.tid()
    start = 0
    size = int(n)
    for _ in range(level):
        start += size
        size = size // 2
    if i < n:
        levels[start + i] = 0.0  # finds bounds


@case("bounds", "GPUVerify", At((6, 10), block=20, flat=60, turned=60, height=6, width=10), symbolic="any")
@kb.kernel
def turned_flat_good(flat: Floats, turned: Floats, height: int, width: int):
    y, x = kb.tid()
    turned[x * height + y] = flat[y * width + x]


@case("bounds", "GPUVerify", At((6, 10), block=20, flat=60, turned=60, height=6, width=10), symbolic="any")
@kb.kernel
def turned_flat_bad(flat: Floats, turned: Floats, height: int, width: int):
    y, x = kb.tid()
    turned[x * width + y] = flat[y * width + x]  # finds bounds


@case("bounds", "own", At(64, block=64, data=250))
@kb.kernel
def four_or_what_is_left_good(data: Floats):
    first = 4 * kb.tid()
    n = len(data)
    if first + 3 < n:
        for k in range(4):
            data[first + k] = 2.0 * data[first + k]
    else:
        for k in range(first, n):
            data[k] = 2.0 * data[k]


@case("bounds", "own", At(64, block=64, data=250))
@kb.kernel
def four_or_what_is_left_bad(data: Floats):
    first = 4 * kb.tid()
    n = len(data)
    if first + 2 < n or first < n - 1:
        for k in range(4):
            data[first + k] = 2.0 * data[first + k]  # finds bounds
    else:
        for k in range(first, n):
            data[k] = 2.0 * data[k]


@case("bounds", "own", At(60, block=20, flat=60, out=60, width=10))
@kb.kernel
def taken_apart_again_good(flat: Floats, out: Floats, width: int):
    i = kb.tid()
    if i < len(flat) and i < len(out) and width > 0:
        row = i // width
        column = i % width
        mirrored = row * width + (width - 1 - column)
        out[i] = flat[mirrored] if mirrored < len(flat) else 0.0


@case("bounds", "own", At(60, block=20, flat=60, out=60, width=10), symbolic="any")
@kb.kernel
def taken_apart_again_bad(flat: Floats, out: Floats, width: int):
    i = kb.tid()
    if i < len(flat) and i < len(out) and width > 0:
        row = i // width
        column = i % width
        mirrored = row * width + (width - column)
        out[i] = flat[mirrored]  # finds bounds
