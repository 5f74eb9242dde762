"""Arithmetic of the interpreter against the C library and exact fractions."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import struct
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kbuild.intrinsics.table import ROWS
from kbuild.ir.types import FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, SCALARS, UINT8, UINT32, UINT64, Scalar
from kbuild.sim import numbers

libm = ctypes.CDLL(ctypes.util.find_library("m"))
libm.fmaf.argtypes, libm.fmaf.restype = [ctypes.c_float] * 3, ctypes.c_float
libm.fma.argtypes, libm.fma.restype = [ctypes.c_double] * 3, ctypes.c_double

singles = st.floats(width=32)
halves = st.floats(width=16)
INTEGERS = [t for t in SCALARS.values() if t.kind in ("int", "uint")]


def bits(value: float) -> bytes:
    return b"nan" if math.isnan(value) else struct.pack("d", value)


@given(singles, singles, singles)
@example(1.000244140625, 1.000244140625, 2.0**-80)  # in double precision this rounds twice
@example(1.0, -1.0, 1.0)
@example(2.0**-126, 2.0**-20, 2.0**-149)
def test_single_fma_is_that_of_the_c_library(a: float, b: float, c: float) -> None:
    assert bits(numbers.fma(a, b, c, FLOAT32)) == bits(libm.fmaf(a, b, c))


@given(st.floats(), st.floats(), st.floats())
@example(2.0**600, 2.0**600, -math.inf)
def test_double_fma_is_that_of_the_c_library(a: float, b: float, c: float) -> None:
    assert bits(numbers.fma(a, b, c, FLOAT64)) == bits(libm.fma(a, b, c))


@given(halves, halves, st.sampled_from(["add", "sub", "mul", "div"]))
def test_half_arithmetic_rounds_the_exact_result(a: float, b: float, op: str) -> None:
    result = numbers.binary(op, a, b, FLOAT16)
    if not (math.isfinite(a) and math.isfinite(b)) or (op == "div" and b == 0.0):
        return
    x, y = Fraction(a), Fraction(b)
    exact = {"add": x + y, "sub": x - y, "mul": x * y}.get(op) if op != "div" else x / y
    assert exact is not None
    assert result == (numbers.round_fraction(exact, FLOAT16) if exact else 0.0)


@given(st.sampled_from(INTEGERS), st.integers(), st.integers(), st.sampled_from(sorted(numbers._INTEGER)))
def test_integers_stay_in_their_type(type: Scalar, a: int, b: int, op: str) -> None:
    x, y = numbers.wrap(a, type), numbers.wrap(b, type)
    result = numbers.binary(op, x, y, type)
    assert result == numbers.wrap(int(result), type)
    if op in ("add", "sub", "mul"):
        exact = {"add": x + y, "sub": x - y, "mul": x * y}[op]
        assert (result - exact) % (1 << 8 * type.size) == 0


@pytest.mark.parametrize(
    ("op", "a", "b", "type", "expected"),
    [
        ("div", 7, -2, INT32, -3),
        ("mod", 7, -2, INT32, 1),
        ("mod", -7, 2, INT32, -1),
        ("div", 5, 0, INT32, 0),
        ("mod", 5, 0, INT32, 5),
        ("div", -(2**31), -1, INT32, -(2**31)),
        ("mod", -(2**31), -1, INT32, 0),
        ("shl", 1, 31, INT32, -(2**31)),
        ("shl", 1, 32, INT32, 0),
        ("shl", 1, -1, INT32, 0),
        ("shr", -5, 40, INT32, -1),
        ("shr", 5, -1, UINT32, 0),
        ("add", 127, 1, INT8, -128),
        ("mul", 255, 255, UINT8, 1),
        ("sub", 0, 1, UINT64, 2**64 - 1),
        ("floordiv", -7.0, 2.0, FLOAT32, -4.0),
        ("mod", -7.0, 2.0, FLOAT32, -1.0),
        ("div", 1.0, -0.0, FLOAT32, -math.inf),
    ],
)
def test_defined_where_c_is_not(op: str, a: float, b: float, type: Scalar, expected: float) -> None:
    assert numbers.binary(op, a, b, type) == expected


def test_floor_of_a_quotient_keeps_the_sign_of_zero() -> None:
    assert bits(float(numbers.binary("floordiv", -0.0, 2.0, FLOAT32))) == bits(-0.0)


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (3e9, FLOAT32, INT32, 2**31 - 1),
        (-3e9, FLOAT32, INT32, -(2**31)),
        (-1.0, FLOAT32, UINT32, 0),
        (math.nan, FLOAT64, INT64, 0),
        (math.inf, FLOAT32, UINT64, 2**64 - 1),
        (300.0, FLOAT32, UINT8, 44),
        (-1.5, FLOAT32, INT16, -1),
        (2**24 + 1, INT32, FLOAT32, 2.0**24),
        (2**53 + 1, INT64, FLOAT64, 2.0**53),
        (65519.99, FLOAT64, FLOAT16, 65504.0),
        (65520.0, FLOAT64, FLOAT16, math.inf),
        (2049, INT32, FLOAT16, 2048.0),
        (-1, INT8, UINT64, 2**64 - 1),
    ],
)
def test_conversions(value: float, source: Scalar, target: Scalar, expected: float) -> None:
    assert numbers.convert(value, source, target) == expected


def test_every_pure_intrinsic_has_a_meaning() -> None:
    pure = {name for name, row in ROWS.items() if not row.has_effects}
    assert pure == numbers.EXACT.keys() | numbers.APPROXIMATE.keys()


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("min", [math.nan, 1.0], 1.0),
        ("max", [1.0, math.nan], 1.0),
        ("min", [0.0, -0.0], -0.0),
        ("round", [2.5], 3.0),
        ("round", [-0.5], -1.0),
        ("round", [0.49999997], 0.0),
        ("rint", [2.5], 2.0),
        ("floor", [-0.5], -1.0),
        ("ceil", [-0.5], -0.0),
        ("trunc", [-0.5], -0.0),
        ("sqrt", [-1.0], math.nan),
        ("log", [0.0], -math.inf),
        ("exp", [1000.0], math.inf),
        ("sinh", [-1000.0], -math.inf),
        ("rsqrt", [-0.0], -math.inf),
        ("pow", [0.0, -1.0], math.inf),
        ("pow", [-0.0, -3.0], -math.inf),
        ("pow", [-0.0, -2.5], math.inf),
        ("pow", [-1e38, 9.0], -math.inf),
        ("pow", [-1e38, 10.0], math.inf),
        ("pow", [-2.0, 0.5], math.nan),
    ],
)
def test_intrinsics_at_their_edges(name: str, arguments: list[float], expected: float) -> None:
    assert bits(float(numbers.intrinsic(name, list(arguments), FLOAT32, FLOAT32))) == bits(expected)
