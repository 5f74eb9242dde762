"""The definition that kernels are held against, held against itself and `struct`. Needs no GPU."""

import math
import random
import struct
from fractions import Fraction

import pytest

from tests.gpu import meaning, samples
from tests.gpu.meaning import Number, evaluate, number


@pytest.mark.parametrize("type", ["float16", "float32", "float64"])
def test_exact_rounding_is_the_rounding_of_struct(type):
    code = {"float16": "<e", "float32": "<f", "float64": "<d"}[type]
    numbers = random.Random(1)
    for _ in range(2000):
        value = math.ldexp(numbers.uniform(-2.0, 2.0), numbers.randint(-30, 14))
        assert meaning.same(
            meaning.round_exact(type, Fraction(value)), struct.unpack(code, struct.pack(code, value))[0]
        )


def test_ties_go_to_even():
    assert meaning.round_exact("float16", Fraction(2049)) == 2048.0
    assert meaning.round_exact("float16", Fraction(2051)) == 2052.0
    assert meaning.round_exact("float16", Fraction(65519)) == 65504.0
    assert meaning.round_exact("float16", Fraction(65520)) == math.inf
    assert meaning.same(meaning.round_exact("float32", Fraction(-1, 2**200)), -0.0)


def test_fma_rounds_once():
    x = number("float32", 1.0 + 2.0**-12)
    product = number("float32", x.value * x.value)
    assert meaning.fma(x, x, -product).value == 2.0**-24
    big = number("float64", 1e300)
    assert meaning.fma(big, big, number("float64", -math.inf)).value == -math.inf
    zero, negative = number("float32", 0.0), number("float32", -0.0)
    assert meaning.same(meaning.fma(negative, x, negative).value, -0.0)
    assert meaning.same(meaning.fma(zero, x, negative).value, 0.0)


@pytest.mark.parametrize(
    ("expression", "x", "y", "wanted"),
    [
        ("x + y", 127, 1, -128),
        ("x / y", -128, -1, -128),
        ("x % y", -128, -1, 0),
        ("x / y", 5, 0, 0),
        ("x % y", 5, 0, 5),
        ("x / y", -7, 2, -3),
        ("x % y", -7, 2, -1),
        ("x << y", 1, 8, 0),
        ("x >> y", -5, 9, -1),
        ("x >> y", -5, -1, -1),
        ("x << y", 1, -1, 0),
        ("kb.abs(x)", -128, 0, -128),
        ("-x", -128, 0, -128),
    ],
)
def test_integers(expression, x, y, wanted):
    assert evaluate(expression, {"x": number("int8", x), "y": number("int8", y)}).value == wanted


@pytest.mark.parametrize(
    ("target", "source", "value", "wanted"),
    [
        ("int8", "float32", 300.7, 44),
        ("int32", "float32", -3e9, -(2**31)),
        ("uint8", "float64", -5.0, 0),
        ("int64", "float64", math.nan, 0),
        ("uint64", "float32", math.inf, 2**64 - 1),
        ("bool", "float64", math.nan, True),
        ("int8", "int32", 200, -56),
        ("float32", "int64", 2**62 + 2**38 + 1, float(2**62 + 2**39)),
        ("float16", "uint64", 2**63, math.inf),
    ],
)
def test_conversions(target, source, value, wanted):
    assert meaning.same(meaning.convert(target, Number(source, value)).value, wanted)


def test_samples_hold_what_they_say():
    for type in ("int8", "uint64"):
        assert all(meaning.wrap(type, value) == value for value in samples.integers(type))
    for type in ("float16", "float32"):
        values = samples.floats(type) + samples.random_floats(type, 100)
        assert all(meaning.same(meaning.round_to(type, value), value) for value in values)
    assert len(samples.every("float16")) == 65536
