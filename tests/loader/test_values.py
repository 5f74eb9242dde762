"""Numbers, vectors and matrices on the host behave as in a kernel."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild.loader import abi, factories, values
from kbuild.loader.values import (
    float16,
    float32,
    int8,
    int32,
    int64,
    mat22,
    mat33d,
    uint8,
    uint32,
    vec2,
    vec3,
    vec3i,
    vec4d,
)


@given(st.floats())
def test_float32_rounds(number: float) -> None:
    with np.errstate(over="ignore"):
        wanted = float(np.float32(number))
    assert repr(float32(number)) == repr(wanted)


@given(st.integers(-(2**40), 2**40))
def test_integers_wrap(number: int) -> None:
    assert int8(number) == int(np.int64(number).astype(np.int8))
    assert uint32(number) == number % 2**32


@pytest.mark.parametrize(
    ("convert", "number", "wanted"),
    [
        (int32, 1e20, 2**31 - 1),
        (int32, -1e20, -(2**31)),
        (int32, math.nan, 0),
        (int32, -1.9, -1),
        (uint32, -5.0, 0),
        (uint8, 300.7, 44),
        (int64, math.inf, 2**63 - 1),
        (float16, 1e9, math.inf),
        (values.bool_, 5, True),
    ],
)
def test_conversions_as_a_gpu_does(convert: object, number: float, wanted: float) -> None:
    assert convert(number) == wanted  # type: ignore[operator]


def test_vectors() -> None:
    v = vec3(1.0, 2.0, 3.0)
    assert (v.x, v.y, v.z) == tuple(v) == (1.0, 2.0, 3.0)
    assert v + vec3(1.0) == (2.0, 3.0, 4.0)
    assert v - v == vec3()
    assert 2 * v == v * 2.0 == (2.0, 4.0, 6.0)
    assert -v == (-1.0, -2.0, -3.0)
    assert v / 2.0 == (0.5, 1.0, 1.5)
    assert repr(v / 0.0) == "vec3(inf, inf, inf)"
    assert type(v + v) is vec3
    assert vec3((1, 2, 3)) == v
    assert vec3(0.1).x == float32(0.1)
    assert vec4d(0.1).w == 0.1
    assert vec3._kb_type_ == abi.Vector(3, abi.FLOAT32)


def test_integer_vectors_wrap_and_refuse_fractions() -> None:
    assert vec3i(2**31 - 1, 0, 0) + vec3i(1, 0, 0) == (-(2**31), 0, 0)
    with pytest.raises(TypeError, match=r"wanted int32, got float 0.5"):
        vec3i(0.5, 0, 0)
    with pytest.raises(OverflowError, match="does not fit int32"):
        vec3i(2**31, 0, 0)


@given(*[st.floats(-1e6, 1e6, width=32)] * 4)
def test_arithmetic_rounds_to_the_element_type(a: float, b: float, c: float, d: float) -> None:
    added, scaled = vec2(a, b) + vec2(c, d), vec2(a, b) * c
    assert added == (float(np.float32(a) + np.float32(c)), float(np.float32(b) + np.float32(d)))
    assert scaled == (float(np.float32(a) * np.float32(c)), float(np.float32(b) * np.float32(c)))


def test_matrices() -> None:
    m = mat22(1.0, 2.0, 3.0, 4.0)
    assert m == mat22((1, 2), (3, 4)) == ((1.0, 2.0), (3.0, 4.0))
    assert m[1, 0] == m[1][0] == m[1].x == 3.0
    assert m @ m == m * m == ((7.0, 10.0), (15.0, 22.0))
    assert m @ vec2(1.0, 1.0) == m * vec2(1.0, 1.0) == (3.0, 7.0)
    assert 2.0 * m == m * 2.0 == m + m
    assert m - m == mat22()
    assert -m / 2.0 == ((-0.5, -1.0), (-1.5, -2.0))
    assert repr(m) == "mat22((1.0, 2.0), (3.0, 4.0))"
    assert mat33d._kb_type_.spelling == "mat3x3[float64]"


@pytest.mark.parametrize("made", [vec3(1, 2, 3), mat22(1, 2, 3, 4), vec3i(1, 2, 3)])
def test_values_travel(made: object) -> None:
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert other == made
        assert type(other) is type(made)
    assert hash(made) == hash(copy.copy(made))


@pytest.mark.parametrize("arguments", [(1, 2), (1, 2, 3, 4), ((1, 2),)])
def test_wrong_number_of_components(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="vec3 takes 3 numbers"):
        vec3(*arguments)
    with pytest.raises(TypeError, match="mat33d takes 9 numbers, 3 rows"):
        mat33d(*arguments)


def test_quotients_and_remainders() -> None:
    """As kernels have them: integers divide towards zero, and by zero give 0 and themselves."""
    assert vec3i(7, -7, 1) / 2 == (3, -3, 0)
    assert 7 / vec3i(2, -2, 0) == (3, -3, 0)
    assert vec3i(7, -7, 5) % vec3i(4, 4, 0) == (3, -3, 5)
    assert 1.0 / vec3(2.0, 4.0, 0.0) == (0.5, 0.25, math.inf)
    assert vec3(5.5, -5.5, 1.0) % vec3(2.0) == (1.5, -1.5, 1.0)
    assert math.isnan((vec3(1.0) % vec3(0.0))[0])
    matrix = mat22(1.0, 2.0, 4.0, 8.0)
    assert (8.0 / matrix, matrix % mat22(3.0), +matrix) == (((8, 4), (2, 1)), ((1, 2), (1, 2)), matrix)
    for operation in (lambda: vec3i(1) / "2", lambda: "2" / vec3(1), lambda: vec3(1) % 2.0, lambda: matrix % 2.0):
        with pytest.raises(TypeError):
            operation()


def test_vectors_of_truth_values() -> None:
    kind = factories.vector(3, bool)
    assert kind(True, False, True) == (True, False, True)
    assert kind() == (False, False, False)
    assert factories.make_vector(True, False)._kb_type_.spelling == "vec2[bool]"
    assert factories.matrix((2, 2), bool)(True) == ((True, True), (True, True))
    assert (kind._length_, kind._shape_, mat22._shape_, mat22._length_) == (3, (3,), (2, 2), 4)
    assert mat22._wp_scalar_type_ is float32
    assert factories.vector(0, float)() == ()


def test_unlike_things_do_not_mix() -> None:
    for operation in (lambda: vec3(1) - (1, 2, 3), lambda: vec3(1) + vec2(1), lambda: vec3(1) * vec3(1)):
        with pytest.raises(TypeError):
            operation()
    with pytest.raises(TypeError):
        mat22(1) @ vec3(1)


def test_every_public_name_resolves() -> None:
    for name in values.__all__:
        assert isinstance(getattr(values, name)._kb_type_, abi.Type)
        assert values.class_of(getattr(values, name)._kb_type_) is getattr(values, name)
    with pytest.raises(AttributeError, match="vec5"):
        values.vec5  # noqa: B018


def test_numbers_below_zero_in_vectors_without_sign() -> None:
    made = values.vec3ub(1, -2, 3)
    assert made == (1, 254, 3)
    assert -made == (255, 2, 253)
    for wrong in (256, -129):
        with pytest.raises(OverflowError):
            values.vec3ub(wrong)


def test_parts_of_transforms_by_place_and_by_name() -> None:
    assert values.transform((1.0, 2.0, 3.0), q=(4.0, 5.0, 6.0, 7.0)) == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'pos'"):
        values.transform(pos=(1.0, 2.0, 3.0))
    with pytest.raises(TypeError, match="or p= and q="):
        values.transform((1.0, 2.0, 3.0), p=(1.0, 2.0, 3.0))
