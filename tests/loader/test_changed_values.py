"""Vectors and matrices of the host, changed in place."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from kbuild.loader import array as arrays
from kbuild.loader.factories import matrix, vector
from kbuild.loader.types import struct
from kbuild.loader.values import int8, mat33, quat, transform, vec2, vec3, vec3i, vec4  # type: ignore[attr-defined]


def test_components() -> None:
    v = vec3(1, 2, 3)
    v[0], v.y, v[-1] = 0.1, 5, 6
    assert v == (vec3(0.1)[0], 5.0, 6.0)
    v[1:] = (7, 8)
    assert (v[1:], type(v[1:]), v.z) == ((7, 8), vec2, 8.0)
    v += vec3(1)
    v *= 2.0
    assert v[1:] == [16, 18]
    q = quat(0, 0, 0, 1)
    q.w = 2
    assert q == (0, 0, 0, 2)


def test_rows_and_parts_of_matrices() -> None:
    m = matrix((2, 3), float)(1, 2, 3, 4, 5, 6)
    m[0] = (7, 8, 9)
    m[1, 2] = 0
    m[:, 0] = (1, 2)
    assert m == ((1, 8, 9), (2, 5, 0))
    m[0:2, 1:] = ((3, 4), (5, 6))
    assert (m[:, 1], m[0:2, 1:], m[-1]) == ((3, 5), ((3, 4), (5, 6)), (2, 5, 6))
    assert type(m[0:2, 1:]).__name__ == "mat22"
    row = m[0]
    row[0] = 99.0
    assert m[0, 0] == 1  # a row is a copy
    tall = matrix((3, 1), float)((1,), (2,), (3,))
    assert tall[1] == (2,)


def test_parts_of_transforms() -> None:
    t = transform()
    t.p, t.q = (1, 2, 3), quat(0, 0, 1, 0)
    assert t == (1, 2, 3, 0, 0, 1, 0)
    assert (transform((1, 2, 3)), type(t.p), type(t.q)) == ((1, 2, 3, 0, 0, 0, 1), vec3, quat)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda: vec3().__setitem__(3, 1.0), IndexError, "out of range"),
        (lambda: vec3().__setitem__(0, "1"), TypeError, "wanted float32, got str '1'"),
        (lambda: vec3().__setitem__(0, (1, 2)), TypeError, "wanted float32, got tuple"),
        (lambda: vec3i().__setitem__(0, 1.5), TypeError, "wanted int32, got float 1.5"),
        (lambda: vector(2, int8)().__setitem__(0, 128), OverflowError, "128 does not fit int8"),
        (lambda: vec3().__setitem__(slice(0, 2), (1, 2, 3)), ValueError, "2 components of a vec3 are set, to tuple"),
        (lambda: vec3().__setitem__(slice(0, 2), 1), ValueError, "2 components of a vec3 are set, to int 1"),
        (lambda: mat33().__setitem__((slice(None), 0), (1, 2)), ValueError, "3 rows of a mat33 are set, to tuple"),
        (lambda: mat33().__setitem__(0, (1, 2)), ValueError, "3 components of a vec3 are set"),
        (lambda: vec3().append(1), TypeError, "NoneType"),
        (lambda: vec3().clear(), TypeError, "NoneType"),
        (lambda: setattr(vec3(), "w", 1), AttributeError, "w"),
    ],
)
def test_refusals(change: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        change()


def test_a_change_that_fails_changes_nothing() -> None:
    m = mat33(1.0)
    with pytest.raises(ValueError, match="are set"):
        m[:, 0:2] = ((1, 2), (3, 4), (5,))
    assert m == mat33(1.0)


def test_equality_hash_and_copies() -> None:
    v = vec3(1, 2, 3)
    assert v == (1, 2, 3) == v
    assert v == [1, 2, 3]
    assert v != (1, 2)
    assert (hash(v), hash(mat33(2.0))) == (hash((1.0, 2.0, 3.0)), hash(((2.0,) * 3,) * 3))
    assert {(1.0, 2.0, 3.0): "found"}[v] == "found"
    for again in (pickle.loads(pickle.dumps(v)), copy.copy(v), copy.deepcopy(v), +v):
        assert (again, type(again)) == (v, vec3)
        assert again is not v
    m = mat33(1.0)
    other = +m
    other[0, 0] = 5.0
    assert m[0, 0] == 1.0
    assert (str(v), str(m[0:2, 0:2])) == ("[1.0, 2.0, 3.0]", "[[1.0, 1.0],\n [1.0, 1.0]]")


@struct
class Inner:
    at: vec3
    turn: mat33


@struct
class Outer:
    inner: Inner
    where: vec4
    numbers: arrays.array(dtype=int)


def test_fields_of_structs_are_copies() -> None:
    v, one = vec3(1, 2, 3), Inner()
    one.at = v
    v[0] = 9.0
    one.at[1] = 5.0
    assert (one.at, v) == ((1, 5, 3), (9, 2, 3))


def test_structs_inside_structs_come_back() -> None:
    one = Outer(inner=Inner(at=vec3(1, 2, 3)))
    (found,) = arrays.array([one], dtype=Outer, device="cpu").list()
    assert type(found.inner) is Inner
    assert found.inner.at == (1, 2, 3)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("where", 1.0, r"Outer.where: wanted vec4\[float32\], got float 1.0"),
        ("numbers", [1, 2], r"Outer.numbers: wanted array1\[int32\], got list"),
        ("numbers", arrays.zeros(2, float, device="cpu"), r"wanted array1\[int32\], got array1\[float32\]"),
        ("numbers", arrays.zeros((2, 2), int, device="cpu"), r"wanted array1\[int32\], got array2\[int32\]"),
    ],
)
def test_what_is_no_value_of_a_field(name: str, value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        setattr(Outer(), name, value)


def test_fills() -> None:
    flags = arrays.zeros(2, vector(2, bool), device="cpu")
    flags.fill_(17)
    assert flags.list() == [(True, True)] * 2
    flags.fill_([0, 3])
    assert flags.list() == [(False, True)] * 2
    matrices = arrays.zeros(1, matrix((2, 2), int), device="cpu")
    matrices.fill_([1, 2, 3, 4])
    assert matrices.list() == [((1, 2), (3, 4))]


def test_arrays_of_numpy_from_them() -> None:
    assert np.array(vec3(1, 2, 3)).tolist() == [1, 2, 3]
    assert np.array(mat33(1.0)).shape == (3, 3)
