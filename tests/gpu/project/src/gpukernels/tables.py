"""Tables of constants: every type, several axes, through functions and views, and with gradients."""

import kbuild as kb

BYTES = kb.constant([250, 3, 7, 9, 11], dtype=kb.uint8)
HALVES = kb.constant([0.5, -0.25, 1024.0], dtype=kb.float16)
DOUBLES = kb.constant([[0.1, 0.2], [0.3, 1e300]], dtype=kb.float64)
WIDE = kb.constant([1 << 40, -5], dtype=kb.int64)
GRID = kb.constant([[[float(16 * i + 4 * j + k) for k in range(4)] for j in range(4)] for i in range(3)])
CORNERS = kb.constant([kb.vec3(float(i & 1), float(i >> 1 & 1), float(i >> 2)) for i in range(8)])
TURNS = kb.constant([[[0.0, -1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]], dtype=kb.mat22)
WEIGHTS = kb.constant([0.25, 0.5, 0.25])
FULL = kb.constant([i * 7 % 1000 for i in range(16384)])  # 64 KiB


@kb.struct
class Knot:
    weight: kb.float64
    kind: kb.int8


@kb.struct
class Link:
    mass: float
    ends: kb.vec2i
    is_fixed: bool
    turn: kb.mat22
    knot: Knot


def _link(i):
    knot = Knot(weight=0.125 * i, kind=i - 3)
    turn = kb.mat22(1.0, 2.0, float(-i), float(i))
    return Link(mass=0.5 * i, ends=kb.vec2i(i, -7 * i), is_fixed=i % 2 == 1, turn=turn, knot=knot)


LINKS = kb.constant([[_link(5 * j + i) for i in range(5)] for j in range(2)])


@kb.func
def total(values: kb.array(dtype=float)):
    found = 0.0
    for i in range(len(values)):
        found += values[i]
    return found


@kb.kernel
def numbers(
    small: kb.array(dtype=kb.uint8),
    half: kb.array(dtype=kb.float16),
    double: kb.array(dtype=kb.float64),
    wide: kb.array(dtype=kb.int64),
):
    i = kb.tid()
    small[i] = BYTES[i % len(BYTES)]
    half[i] = HALVES[i % 3]
    double[i] = DOUBLES[i % 2, 1 - i % 2]
    wide[i] = WIDE[i % 2]


@kb.kernel
def shapes(out: kb.array2d(dtype=float)):
    i = kb.tid()
    plane = GRID[i % 3]
    row = plane[i % 4]
    out[i, 0] = total(row)
    out[i, 1] = row[i % 4]
    out[i, 2] = CORNERS[i % 8][0] + 2.0 * CORNERS[i % 8].y + 4.0 * CORNERS[i % 8][2]
    turned = TURNS[i % 2] * kb.vec2(1.0, 2.0)
    out[i, 3] = 10.0 * turned[0] + turned[1]


@kb.kernel
def all_of_it(out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = FULL[i]


@kb.kernel
def blurred(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    found = 0.0
    for k in range(len(WEIGHTS)):
        found += WEIGHTS[(i + k) % 3] * x[i + k]
    out[i] = found


@kb.func
def heaviness(links: kb.array(dtype=Link), i: int):
    return links[i].mass + float(links[i].ends[1]) + float(len(links))


@kb.kernel
def structs(out: kb.array2d(dtype=float)):
    i = kb.tid()
    one = LINKS[i // 5 % 2, i % 5]
    row = LINKS[i // 5 % 2]
    turned = one.turn * kb.vec2(1.0, 0.5)
    out[i, 0] = one.mass + turned[0] + 10.0 * turned[1]
    out[i, 1] = heaviness(row, i % 5)
    out[i, 2] = float(one.knot.weight) + float(row[i % 5].knot.kind) + float(LINKS[1, 2].ends.x)
    out[i, 3] = 1.0 if row[i % 5].is_fixed else -1.0


@kb.kernel
def weighed(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    link = LINKS[i // 5 % 2, i % 5]
    out[i] = link.mass * x[i] * x[i] + link.turn[1, 1] * x[i]
