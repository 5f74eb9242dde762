"""Arguments on which float functions are measured: always the same, and found alike on every machine.

They are made of random bits, sums, products and integers alone: no function of the C library may round differently
elsewhere. Standard library only.

    columns("pow", "float32") → [patterns of x, patterns of y]
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from support.floats import FORMATS, Format

# Points of a function and type: about. Every float16 for a function of one.
COUNT = {"float16": 1 << 17, "float32": 120_000, "float64": 50_000}
BINARY = frozenset({"pow", "atan2", "copysign", "min", "max", "add", "sub", "mul", "div", "mod"})
TERNARY = frozenset({"fma"})

# π to 256 bits, by Machin's formula.
_ONE = 1 << 280


def _arctangent_of_inverse(n: int) -> int:
    total, term, k = 0, _ONE // n, 0
    while term:
        total += (-term if k & 1 else term) // (2 * k + 1)
        term //= n * n
        k += 1
    return total


PI = Fraction((4 * (4 * _arctangent_of_inverse(5) - _arctangent_of_inverse(239))) >> 24, 1 << 256)

# Where the interesting part of a function lies: intervals that are filled evenly, and centres that are approached from
# both sides by powers of two. A pair of intervals is for float32 and float64.
Interval = tuple[float, float]
_TRIGONOMETRIC: tuple[list[Interval], list[float]] = ([(-3.2, 3.2), (-100.0, 100.0), (-1e6, 1e6)], [])
_LOGARITHM: tuple[list[Interval], list[float]] = ([(0.5, 2.0), (0.95, 1.05), (0.0, 100.0)], [1.0, 2.0, 0.5, 10.0])
_ROOT: tuple[list[Interval], list[float]] = ([(0.0, 8.0), (0.5, 2.0)], [1.0, 4.0])
_WHOLE: tuple[list[Interval], list[float]] = (
    [(-3.0, 3.0), (-1000.0, 1000.0)],
    [0.5, -0.5, 1.5, 2.5, 1.0, -1.0, 8388608.0],
)
_ARC: tuple[list[Interval], list[float]] = ([(-1.0, 1.0), (-0.6, 0.6), (-1.1, 1.1)], [1.0, -1.0, 0.5, -0.5])
REGIONS: dict[str, tuple[list[Interval], list[float]]] = {
    "sqrt": _ROOT,
    "rsqrt": _ROOT,
    "cbrt": ([(-8.0, 8.0), (0.5, 2.0)], [1.0, 8.0, -1.0]),
    "exp": ([(-1.0, 1.0), (-20.0, 20.0)], [0.0]),
    "exp2": ([(-1.0, 1.0), (-20.0, 20.0)], [0.0, 1.0]),
    "log": _LOGARITHM,
    "log2": _LOGARITHM,
    "log10": _LOGARITHM,
    "sin": _TRIGONOMETRIC,
    "cos": _TRIGONOMETRIC,
    "tan": _TRIGONOMETRIC,
    "asin": _ARC,
    "acos": _ARC,
    "atan": ([(-10.0, 10.0), (-1.0, 1.0)], [1.0, -1.0]),
    "sinh": ([(-1.0, 1.0), (-20.0, 20.0)], [1.0]),
    "cosh": ([(-1.0, 1.0), (-20.0, 20.0)], [1.0]),
    "tanh": ([(-1.0, 1.0), (-10.0, 10.0), (-20.0, 20.0)], [0.55]),
    "erf": ([(-1.0, 1.0), (-4.0, 4.0), (-6.0, 6.0)], [1.0]),
    "erfc": ([(-1.0, 1.0), (-4.0, 10.1)], [1.0]),
    "erfinv": ([(-1.0, 1.0), (-0.1, 0.1)], [1.0, -1.0]),
    "erfcinv": ([(0.0, 2.0), (0.0, 0.1)], [1.0, 2.0]),
    "floor": _WHOLE,
    "ceil": _WHOLE,
    "trunc": _WHOLE,
    "round": _WHOLE,
    "rint": _WHOLE,
    "frac": _WHOLE,
}
# The whole range in which a result is neither zero nor infinite, by type.
SPANS: dict[str, dict[str, Interval]] = {
    "exp": {"float32": (-104.0, 89.0), "float64": (-746.0, 710.0)},
    "exp2": {"float32": (-150.5, 128.5), "float64": (-1075.5, 1024.5)},
    "sinh": {"float32": (-90.0, 90.0), "float64": (-711.0, 711.0)},
    "cosh": {"float32": (-90.0, 90.0), "float64": (-711.0, 711.0)},
    "erfc": {"float32": (8.0, 10.1), "float64": (8.0, 27.3)},
}
# Multiples of π/2 that come closest to a number of the type (Muller, Elementary Functions, on range reduction).
CLOSEST = {"float32": [16367173 << 72], "float64": [6381956970095103 << 797]}


def columns(function: str, type: str) -> list[list[int]]:
    """A list of patterns for each argument of a function."""
    format, numbers = FORMATS[type], random.Random(f"{function} {type}")
    if function in TERNARY:
        return _transposed(_triples(format, numbers))
    if function in BINARY:
        return _transposed(_pairs(function, format, numbers))
    if type == "float16":
        return [list(range(1 << 16))]
    return [list(_singles(function, format, numbers))]


def _transposed(rows: Iterator[tuple[int, ...]]) -> list[list[int]]:
    return [list(column) for column in zip(*rows, strict=True)]


def special(format: Format) -> list[int]:
    """Zeros, the ends of the subnormal and normal numbers, small whole numbers and halves, infinities, NaN."""
    one = format.round(Fraction(1))
    normal = 1 << (format.precision - 1)
    positive = [0, 1, 2, normal - 1, normal, one - 1, one, one + 1, format.infinity - 1, format.infinity]
    positive += [format.round(Fraction(n, 2)) for n in (1, 3, 4, 5, 6, 7, 20, 200)]
    positive.append(format.round(Fraction(2) ** format.precision))
    return [bits | sign for bits in positive for sign in (0, format.sign)] + [format.infinity | normal >> 1]


def _patterns(format: Format, numbers: random.Random, count: int) -> Iterator[int]:
    """Any pattern: every exponent is as frequent as another."""
    for _ in range(count):
        yield numbers.getrandbits(format.width)


def _subnormals(format: Format, numbers: random.Random, count: int) -> Iterator[int]:
    for _ in range(count):
        sign = format.sign if numbers.getrandbits(1) else 0
        yield sign | numbers.getrandbits(format.precision - 1) >> numbers.randrange(format.precision - 1)


def _even(format: Format, numbers: random.Random, interval: Interval, count: int) -> Iterator[int]:
    """Evenly in an interval."""
    low, high = Fraction(interval[0]), Fraction(interval[1])
    steps = 1 << 60
    base, width = low * steps, high - low
    for _ in range(count):
        scaled = base + width * numbers.getrandbits(60)  # steps times the number
        yield format.round_scaled(scaled < 0, abs(scaled.numerator), -60, scaled.denominator)


def _around(format: Format, numbers: random.Random, centre: float, count: int) -> Iterator[int]:
    """To both sides of a centre, at distances of every size down to the last place."""
    for _ in range(count):
        distance = Fraction((1 << 60) + numbers.getrandbits(60), 1 << 60)
        distance /= 1 << numbers.randint(1, format.precision + 2)
        yield format.round(Fraction(centre) + (distance if numbers.getrandbits(1) else -distance))


def _neighbours(format: Format, bits: int, count: int = 8) -> Iterator[int]:
    for step in range(-count, count + 1):
        yield (bits + step) % (1 << format.width)


def _near_multiples_of_half_pi(format: Format, numbers: random.Random, count: int) -> Iterator[int]:
    """The nearest numbers to multiples of π/2, small and large, and their neighbours."""
    for exact in CLOSEST[format.name]:
        yield from _neighbours(format, format.round(Fraction(exact)))
    for number in range(1, count // 3):
        k = number if number < count // 9 else numbers.getrandbits(numbers.randint(8, 60)) + 1
        bits = format.round(PI / 2 * k)
        yield from _neighbours(format, bits | (format.sign if number & 1 else 0), 1)


def _singles(function: str, format: Format, numbers: random.Random) -> Iterator[int]:
    count = COUNT[format.name]
    for bits in special(format):
        yield from _neighbours(format, bits)
    yield from _patterns(format, numbers, count // 3)
    yield from _subnormals(format, numbers, count // 25)
    intervals, centres = REGIONS.get(function, ([(-10.0, 10.0)], [1.0]))
    if function in SPANS:
        span = SPANS[function][format.name]
        intervals = [*intervals, span]
        for end in span:
            yield from _neighbours(format, format.round(Fraction(end)), 40)
    for interval in intervals:
        yield from _even(format, numbers, interval, count * 45 // 100 // len(intervals))
    for centre in centres:
        yield from _around(format, numbers, centre, count * 10 // 100 // len(centres))
    if function in ("sin", "cos", "tan"):
        yield from _near_multiples_of_half_pi(format, numbers, count * 15 // 100)


def _scaled(format: Format, numbers: random.Random, low: int, high: int) -> int:
    """A number of either sign between 2^low and 2^(high + 1), exponents evenly."""
    significand = (1 << (format.precision - 1)) | numbers.getrandbits(format.precision - 1)
    exponent = numbers.randint(low, high) - format.precision + 1
    return format.round_scaled(bool(numbers.getrandbits(1)), significand, exponent)


def _pairs(function: str, format: Format, numbers: random.Random) -> Iterator[tuple[int, int]]:
    count = COUNT[format.name]
    edges = special(format)
    yield from ((x, y) for x in edges for y in edges)
    yield from zip(_patterns(format, numbers, count // 4), _patterns(format, numbers, count // 4), strict=True)
    for _ in range(count // 4):  # of one size
        exponent = numbers.randint(format.least_exponent // 2, format.largest_exponent // 2)
        yield _scaled(format, numbers, exponent - 3, exponent + 3), _scaled(format, numbers, exponent - 3, exponent + 3)
    for _ in range(count // 20):
        yield next(_subnormals(format, numbers, 1)), next(_subnormals(format, numbers, 1))
    for _ in range(count // 10):  # nearly equal, and nearly opposite
        x = numbers.getrandbits(format.width)
        yield x, (x + numbers.randint(-4, 4)) % (1 << format.width) ^ (format.sign if numbers.getrandbits(1) else 0)
    if function == "pow":
        yield from _powers(format, numbers, count * 4 // 10)
    else:
        for _ in range(count * 35 // 100):
            yield _scaled(format, numbers, -8, 8), _scaled(format, numbers, -8, 8)


def _powers(format: Format, numbers: random.Random, count: int) -> Iterator[tuple[int, int]]:
    for number in range(count):
        way = number % 4
        if way == 0:  # any positive base, and an exponent that keeps the result finite
            y = _scaled(format, numbers, -8, 1)
            yield numbers.getrandbits(format.width - 1), y
        elif way == 1:  # a base near one, and a large exponent
            size = numbers.randint(1, format.precision - 1)
            distance = Fraction(numbers.choice((1, -1)) * numbers.randint(1 << 20, 1 << 21), 1 << (21 + size))
            reach = 10 if format.name == "float64" else 7
            yield format.round(1 + distance), _scaled(format, numbers, size - 3, size + reach)
        elif way == 2:  # a negative base, and a whole exponent
            x = _scaled(format, numbers, -2, 2)
            yield x, format.round(Fraction(numbers.randint(-60, 60)))
        else:
            yield _scaled(format, numbers, -4, 4) & ~format.sign, _scaled(format, numbers, -6, 6)


def _triples(format: Format, numbers: random.Random) -> Iterator[tuple[int, int, int]]:
    count = COUNT[format.name]
    edges = special(format)
    for _ in range(4000):
        yield numbers.choice(edges), numbers.choice(edges), numbers.choice(edges)
    random_patterns = [_patterns(format, numbers, count // 4) for _ in range(3)]
    yield from zip(*random_patterns, strict=True)
    for _ in range(count // 4):
        yield _scaled(format, numbers, -8, 8), _scaled(format, numbers, -8, 8), _scaled(format, numbers, -16, 16)
    for _ in range(count // 2):  # z is nearly the opposite of the product: the rest is what rounding would lose
        spread = format.largest_exponent // 2 - 2
        exponents = (numbers.randint(-spread, spread), numbers.randint(-spread, spread))
        x, y = (_scaled(format, numbers, exponent, exponent) for exponent in exponents)
        product = Fraction(format.value(x)) * Fraction(format.value(y))
        z = (format.round(-product) + numbers.randint(-1, 1)) % (1 << format.width)
        yield x, y, z
