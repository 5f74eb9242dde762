"""Indices outside of what they index: in arrays of any dimension, views, vectors, matrices, and index arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kbuild as kb
import kbuild.warp as wp
from tests.helpers.faults import fault_of, line_of


@kb.kernel
def one(data: kb.array(dtype=float), step: int):
    i = kb.tid()
    x = float(i) * 0.5
    data[i * step] = x


@kb.kernel
def two(data: kb.array2d(dtype=float), step: int):
    i, j = kb.tid()
    data[i, j + step] = 1.0


@kb.kernel
def three(data: kb.array3d(dtype=float), out: kb.array(dtype=float), step: int):
    i, j, k = kb.tid()
    y = data[i, j + step, k]
    out[0] = y


@kb.kernel
def four(data: kb.array4d(dtype=kb.vec3), step: int):
    i, j, k, m = kb.tid()
    data[i, j, k, m + step] += kb.vec3(1.0)


@kb.kernel
def of_row(data: kb.array2d(dtype=int), places: kb.array(dtype=int)):
    i = kb.tid()
    row = data[i]
    row[places[i]] = i


@kb.kernel
def of_a_row_that_is_not_there(data: kb.array2d(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    row = data[i + 1]
    out[i] = row[0]


@kb.kernel
def of_vector(out: kb.array(dtype=float), places: kb.array(dtype=int)):
    i = kb.tid()
    v = kb.vec3(1.0, 2.0, 3.0)
    k = places[i]
    out[i] = v[k]


@kb.kernel
def to_vector(out: kb.array(dtype=float), places: kb.array(dtype=int)):
    i = kb.tid()
    v = kb.vec3(1.0, 2.0, 3.0)
    v[places[i]] = 7.0
    out[i] = v[0] + v[1] * 10.0 + v[2] * 100.0


@kb.kernel
def of_matrix(out: kb.array(dtype=float), places: kb.array(dtype=int)):
    i = kb.tid()
    m = kb.mat22(1.0, 2.0, 3.0, 4.0)
    out[i] = m[1, places[i]]


@kb.kernel
def of_vector_in_array(data: kb.array(dtype=kb.vec4), places: kb.array(dtype=int)):
    i = kb.tid()
    data[i][places[i]] = 1.0


@kb.kernel
def seen(data: kb.indexedarray(dtype=float), step: int):
    i = kb.tid()
    data[i + step] = 1.0


@kb.kernel
def atomically(data: kb.array(dtype=int), places: kb.array(dtype=int)):
    i = kb.tid()
    kb.atomic_add(data, places[i], 1)


@kb.kernel
def some_of_them(data: kb.array(dtype=int)):
    i = kb.tid()
    if i % 3 == 2:
        j = i * 2
        data[j] = i


@kb.kernel
def by_small_numbers(data: kb.array(dtype=int), short: kb.array(dtype=kb.int16), byte: kb.array(dtype=kb.int8)):
    i = kb.tid()
    data[short[i]] = i
    data[byte[i]] = i


@wp.kernel
def from_the_end(data: wp.array(dtype=int), places: wp.array(dtype=int)):
    i = wp.tid()
    data[places[i]] = i + 1


@wp.kernel
def vector_from_the_end(out: wp.array(dtype=float), places: wp.array(dtype=int)):
    i = wp.tid()
    v = wp.vec3(1.0, 2.0, 3.0)
    out[i] = v[places[i]]


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


def floats(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def test_one_dimension() -> None:
    data = floats(10)
    fault = fault_of(kb.sim.OutOfBounds, one, 6, [data, 2])
    assert fault.span.line == line_of(one, "data[i * step]")
    assert fault.thread == (5,)
    assert fault.variables == {"data": "array of float32, shape (10)", "step": 2, "i": 5, "x": 2.5}
    assert fault.reason == "index 10 on axis 0 of an array of shape (10,)"


@pytest.mark.parametrize("step", [-1, -(2**31) // 8])
def test_a_negative_index_is_outside(step: int) -> None:
    fault = fault_of(kb.sim.OutOfBounds, one, 6, [floats(10), step])
    assert fault.thread == (1,)
    assert fault.variables["i"] == 1
    assert fault.reason == f"index {step} on axis 0 of an array of shape (10,)"


def test_two_dimensions() -> None:
    fault = fault_of(kb.sim.OutOfBounds, two, (3, 4), [floats(3, 5), 2])
    assert (fault.span.line, fault.thread) == (line_of(two, "data[i, j"), (0, 3))
    assert (fault.variables["i"], fault.variables["j"]) == (0, 3)
    assert fault.reason == "index 5 on axis 1 of an array of shape (3, 5)"


def test_an_index_that_would_hit_the_next_row_is_outside() -> None:
    fault = fault_of(kb.sim.OutOfBounds, two, (1, 4), [floats(3, 4), -1])
    assert (fault.thread, fault.reason) == ((0, 0), "index -1 on axis 1 of an array of shape (3, 4)")


def test_three_dimensions() -> None:
    fault = fault_of(kb.sim.OutOfBounds, three, (2, 3, 4), [floats(2, 3, 4), floats(1), 1], races=False)
    assert (fault.span.line, fault.thread) == (line_of(three, "y = data"), (0, 2, 0))
    assert {name: fault.variables[name] for name in "ijk"} == {"i": 0, "j": 2, "k": 0}


def test_four_dimensions() -> None:
    fault = fault_of(kb.sim.OutOfBounds, four, (2, 1, 2, 3), [np.zeros((2, 1, 2, 3, 3), np.float32), 1])
    assert (fault.span.line, fault.thread) == (line_of(four, "data[i, j, k"), (0, 0, 0, 2))
    assert fault.variables["m"] == 2
    assert fault.reason == "index 3 on axis 3 of an array of shape (2, 1, 2, 3)"


def test_a_row() -> None:
    fault = fault_of(kb.sim.OutOfBounds, of_row, 3, [np.zeros((3, 4), np.int32), ints(3, 4, 0)])
    assert (fault.span.line, fault.thread) == (line_of(of_row, "row[places"), (1,))
    assert fault.variables["row"] == "array of int32, shape (4)"
    assert fault.reason == "index 4 on axis 0 of an array of shape (4,)"


def test_a_row_that_is_not_there() -> None:
    """Making the view is the fault, not what is done with it."""
    fault = fault_of(kb.sim.OutOfBounds, of_a_row_that_is_not_there, 3, [np.zeros((3, 4), np.int32), ints(0, 0, 0)])
    assert (fault.span.line, fault.thread) == (line_of(of_a_row_that_is_not_there, "row = data"), (2,))
    assert "row" not in fault.variables


@pytest.mark.parametrize(("kernel", "text"), [(of_vector, "out[i] = v[k]"), (to_vector, "v[places[i]] = 7.0")])
@pytest.mark.parametrize("index", [3, -1])
def test_components_of_vectors(kernel: Any, text: str, index: int) -> None:
    fault = fault_of(kb.sim.OutOfBounds, kernel, 3, [floats(3), ints(0, 2, index)])
    assert (fault.span.line, fault.thread) == (line_of(kernel, text), (2,))
    assert fault.variables["v"] == [1.0, 2.0, 3.0]
    assert f"index {index} in vec3" in fault.reason


def test_assigned_components_of_vectors() -> None:
    out = floats(3)
    kb.sim.run(to_vector, 3, [out, ints(0, 1, 2)])
    assert out.tolist() == [327.0, 371.0, 721.0]


def test_matrices() -> None:
    fault = fault_of(kb.sim.OutOfBounds, of_matrix, 2, [floats(2), ints(1, 2)])
    assert (fault.span.line, fault.thread) == (line_of(of_matrix, "m[1, places"), (1,))
    assert fault.variables["m"] == [1.0, 2.0, 3.0, 4.0]


def test_vectors_in_arrays() -> None:
    fault = fault_of(kb.sim.OutOfBounds, of_vector_in_array, 2, [np.zeros((2, 4), np.float32), ints(3, 4)])
    assert (fault.span.line, fault.thread) == (line_of(of_vector_in_array, "data[i]"), (1,))


def test_arrays_seen_through_indices() -> None:
    data = kb.array(np.zeros(6, np.float32), device="sim")
    rows = kb.array(ints(5, 0, 6), dtype=int, device="sim")
    indexed = kb.indexedarray(data, [rows])
    fault = fault_of(kb.sim.OutOfBounds, seen, 3, [indexed, 0])
    assert (fault.span.line, fault.thread) == (line_of(seen, "data[i + step]"), (2,))
    assert fault.reason == "the index array of axis 0 holds 6 at 2, outside the 6 elements of the array behind it"
    fault = fault_of(kb.sim.OutOfBounds, seen, 2, [indexed, 2])
    assert (fault.thread, fault.reason) == ((1,), "index 3 on axis 0 of an array of shape (3,)")


def test_atomics() -> None:
    fault = fault_of(kb.sim.OutOfBounds, atomically, 3, [ints(0, 0), ints(1, -1, 1)])
    assert (fault.span.line, fault.thread) == (line_of(atomically, "kb.atomic_add"), (1,))


def test_threads_of_a_branch() -> None:
    data = np.zeros(11, np.int32)
    fault = fault_of(kb.sim.OutOfBounds, some_of_them, 10, [data])
    assert (fault.span.line, fault.thread) == (line_of(some_of_them, "data[j] = i"), (8,))
    assert (fault.variables["i"], fault.variables["j"]) == (8, 16)
    kb.sim.run(some_of_them, 6, [data])
    assert data.tolist() == [0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 5]


def test_in_warp_s_dialect_negative_indices_count_from_the_end() -> None:
    data = np.zeros(4, np.int32)
    kb.sim.run(from_the_end, 3, [data, ints(-1, -4, 1)])
    assert data.tolist() == [2, 3, 0, 1]
    fault = fault_of(kb.sim.OutOfBounds, from_the_end, 3, [data, ints(-1, -5, 1)])
    assert (fault.span.line, fault.thread) == (line_of(from_the_end, "data[places"), (1,))
    assert fault.reason == "index -5 on axis 0 of an array of shape (4,)"
    out = floats(3)
    kb.sim.run(vector_from_the_end, 3, [out, ints(-1, -3, 1)])
    assert out.tolist() == [3.0, 1.0, 2.0]


def test_small_negative_indices_of_large_arrays() -> None:
    data, none = np.zeros(70_000, np.int32), np.zeros(3)
    right, wrong = np.array([1, 2, 3]), np.array([1, 2, -1])
    kb.sim.run(by_small_numbers, 3, [data, right.astype(np.int16), (right + 3).astype(np.int8)])
    assert data[:7].tolist() == [0, 0, 1, 2, 0, 1, 2]
    fault = fault_of(kb.sim.OutOfBounds, by_small_numbers, 3, [data, wrong.astype(np.int16), none.astype(np.int8)])
    assert (fault.span.line, fault.thread) == (line_of(by_small_numbers, "short[i]]"), (2,))
    fault = fault_of(kb.sim.OutOfBounds, by_small_numbers, 3, [data, right.astype(np.int16), wrong.astype(np.int8)])
    assert (fault.span.line, fault.thread) == (line_of(by_small_numbers, "byte[i]]"), (2,))
    assert fault.reason == "index -1 on axis 0 of an array of shape (70000,)"


def test_what_a_fault_says() -> None:
    text = str(fault_of(kb.sim.OutOfBounds, one, 6, [floats(10), 2])).splitlines()
    number = line_of(one, "data[i * step]")
    assert text == [
        f"{__file__}:{number}:5: index 10 on axis 0 of an array of shape (10,), thread (5,) of {one.name}",
        "    data[i * step] = x",
        "    data = 'array of float32, shape (10)'",
        "    step = 2",
        "    i = 5",
        "    x = 2.5",
    ]
