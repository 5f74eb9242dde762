"""Faults of lanes that run apart from others name the right thread: in conditions, choices and several allocations."""

from __future__ import annotations

from typing import Any

import numpy as np

import kbuild as kb
from tests.helpers.faults import fault_of, line_of


@kb.kernel
def in_a_condition(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    k = i
    while data[k] != 0:
        k += i
    out[i] = k


@kb.kernel
def in_a_choice(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = data[i + 1] if i % 2 == 1 else 0


@kb.kernel
def behind_and(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    if i > 2 and data[i] > 0:
        out[i] = 1


@kb.kernel
def in_one_of_two(a: kb.array2d(dtype=int), b: kb.array2d(dtype=int), n: int):
    i = kb.tid()
    row = a[i] if i % 2 == 0 else b[i]
    row[i % n] = i


@kb.kernel
def race_in_one_of_two(a: kb.array2d(dtype=int), b: kb.array2d(dtype=int)):
    i = kb.tid()
    row = a[i] if i % 2 == 0 else b[i // 6]
    row[i % 2] = i


@kb.func
def looked_up(data: kb.array(dtype=int), k: int):
    return data[k]


@kb.kernel
def in_a_function_of_a_choice(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = looked_up(data, i + 1) if i > 1 else 5


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


def test_the_condition_of_a_loop_that_some_have_left() -> None:
    fault = fault_of(kb.sim.OutOfBounds, in_a_condition, 4, [ints(0, 0, 1, 1, 1, 1, 1), np.zeros(4, np.int32)])
    assert fault.span.line == line_of(in_a_condition, "while data[k]")
    assert (fault.thread, fault.variables["i"], fault.variables["k"]) == ((3,), 3, 9)


def test_one_side_of_a_choice() -> None:
    fault = fault_of(kb.sim.OutOfBounds, in_a_choice, 6, [np.zeros(6, np.int32), np.zeros(6, np.int32)])
    assert fault.span.line == line_of(in_a_choice, "out[i] = data")
    assert (fault.thread, fault.variables["i"]) == ((5,), 5)
    kb.sim.run(in_a_choice, 5, [np.zeros(5, np.int32), np.zeros(5, np.int32)])


def test_the_right_side_of_and() -> None:
    fault = fault_of(kb.sim.OutOfBounds, behind_and, 6, [np.zeros(4, np.int32), np.zeros(6, np.int32)])
    assert fault.span.line == line_of(behind_and, "if i > 2")
    assert (fault.thread, fault.variables["i"]) == ((4,), 4)


def test_a_function_that_some_call() -> None:
    fault = fault_of(kb.sim.OutOfBounds, in_a_function_of_a_choice, 6, [np.zeros(6, np.int32), np.zeros(6, np.int32)])
    assert fault.span.line == line_of(looked_up, "return data[k]")
    assert (fault.thread, fault.variables["k"]) == ((5,), 6)


def test_arrays_that_differ_between_threads() -> None:
    a, b = np.zeros((6, 3), np.int32), np.zeros((6, 4), np.int32)
    kb.sim.run(in_one_of_two, 6, [a, b, 3])
    assert [a[i, i % 3] if i % 2 == 0 else b[i, i % 3] for i in range(6)] == list(range(6))
    fault = fault_of(kb.sim.OutOfBounds, in_one_of_two, 6, [a, b, 6])
    assert fault.span.line == line_of(in_one_of_two, "row[i % n]")
    assert (fault.thread, fault.reason) == ((4,), "index 4 on axis 0 of an array of shape (3,)")
    assert fault.variables["row"] == "array of int32, shape (3)"


def test_races_in_arrays_that_differ_between_threads() -> None:
    race = fault_of(kb.sim.Race, race_in_one_of_two, 6, [np.zeros((6, 2), np.int32), np.zeros((1, 2), np.int32)])
    assert race.span.line == line_of(race_in_one_of_two, "row[i % 2]")
    assert {race.thread[0], race.other_thread[0]} < {1, 3, 5}
    assert race.variables["i"] == race.thread[0]
