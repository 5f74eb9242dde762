"""Values on which kernels are tried: where types end, where meanings change, and many in between. Always the same."""

from __future__ import annotations

import itertools
import math
import random
import struct

from kbuild.loader.abi import SCALARS
from tests.gpu.meaning import LARGEST, PRECISION, round_to


def integers(type):
    """Edges of an integer type, small numbers, powers of two and their neighbours."""
    bits = 8 * SCALARS[type].size
    is_signed = SCALARS[type].kind == "int"
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    near = [low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 8, 9, 100, bits - 1, bits, bits + 1]
    near += [1 << shift for shift in (bits // 2 - 1, bits // 2, bits - 2)]
    near += [-1, -2, -7, -8, -100, -bits] if is_signed else [high // 3, high // 2 + 1]
    numbers = random.Random(type)
    near += [numbers.randint(low, high) for _ in range(6)]
    return sorted({value for value in near if low <= value <= high})


def every(type):
    """All values of a type of 8 or 16 bits."""
    code = SCALARS[type].code
    size = SCALARS[type].size
    return [struct.unpack("<" + code, bits.to_bytes(size, "little"))[0] for bits in range(1 << 8 * size)]


def floats(type):
    """Special values, both signs: zeros, subnormal and the largest numbers, halves, ends of integers, inf, NaN."""
    bits, least = PRECISION[type]
    smallest = math.ldexp(1.0, least)
    normal = math.ldexp(1.0, least + bits - 1)
    epsilon = math.ldexp(1.0, 1 - bits)
    near = [0.0, smallest, 3 * smallest, normal - smallest, normal, 0.25, 0.5 - epsilon / 4, 0.5, 0.5 + epsilon / 2]
    near += [1.0 - epsilon / 2, 1.0, 1.0 + epsilon, 1.5, 2.0, 2.5, 3.0, 7.0, 10.0, 100.0, 127.5, 255.75, 1000.0]
    near += [LARGEST[type] / 2, LARGEST[type], math.inf]
    near += [float(1 << power) for power in (10, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64)]
    near += [2.0**31 - 0.5, 2.0**31 - 128.0, 2.0**32 - 256.0, 2.0**63 - 1024.0, 2.0**64 - 2048.0, 1e9 + 0.5]
    rounded = dict.fromkeys(round_to(type, value) for value in near)
    return [sign * value for value in rounded for sign in (1.0, -1.0)] + [math.nan]


def random_floats(type, count, seed=1, spread=None):
    """Numbers of every size: exponents evenly spread over the type's, or over `spread` to both sides of one."""
    low, high = (PRECISION[type][1], {"float16": 15, "float32": 127, "float64": 1023}[type])
    if spread is not None:
        low, high = -spread, spread
    numbers = random.Random("%s %d" % (type, seed))
    return [
        round_to(type, math.ldexp(numbers.choice((1.0, -1.0)) * numbers.uniform(1.0, 2.0), numbers.randint(low, high)))
        for _ in range(count)
    ]


def of(type):
    """Edge values of any scalar type."""
    kind = SCALARS[type].kind
    return [False, True] if kind == "bool" else floats(type) if kind == "float" else integers(type)


def triples(type):
    """Rows (x, y, z): every pair of edge values with a third one, and random rows for floats."""
    values = of(type)
    thirds = itertools.cycle(values[::-1] + values[3:])
    rows = [(x, y, next(thirds)) for x in values for y in values]
    if SCALARS[type].kind == "float":
        spread = 6 if type == "float16" else 20
        columns = [random_floats(type, 3000, seed, spread) for seed in range(3)]
        rows += zip(*columns)
        rows += _cancelling(type, *columns[:2])
    return rows


def _cancelling(type, xs, ys):
    """Rows in which the rounding of a product shows: z is nearly its negative."""
    for x, y in zip(xs, ys):
        product = round_to(type, x * y)
        if math.isfinite(product):
            yield x, y, -product
            yield -product, x, y
