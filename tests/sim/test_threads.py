"""Kernels run one thread after another: results, and faults with their line."""

from __future__ import annotations

from typing import Any

import pytest

import kbuild as kb
from kbuild.errors import Report
from kbuild.ir.contract import contract
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import FLOAT32, INT32, Vector
from kbuild.lang.program import lower_kernel
from kbuild.loader import types as runtime
from kbuild.sim.threads import TooLong, run
from kbuild.sim.values import Conflict, Memory, OutOfBounds

VEC3 = Vector(3, FLOAT32)


def lowered(kernel: runtime.Kernel) -> Kernel:
    made = lower_kernel(kernel, True, Report())
    assert made is not None
    return contract(made)


def ints(*values: int) -> Memory:
    return Memory(INT32, (len(values),), list(values))


@kb.func
def step_towards(value: int, target: int):
    if value == target:
        return value, False
    return value + (1 if value < target else -1), True


@kb.kernel
def walk(data: kb.array(dtype=int), target: int, steps: kb.array(dtype=int)):
    i = kb.tid()
    moving = True
    while moving:
        data[i], moving = step_towards(data[i], target)
        if moving:
            steps[i] += 1


@kb.kernel
def stencil(source: kb.array2d(dtype=float), out: kb.array2d(dtype=float)):
    i, j = kb.tid()
    total = 0.0
    for di in range(-1, 2):
        for dj in range(-1, 2):
            y = i + di
            x = j + dj
            if y < 0 or x < 0 or y >= source.shape[0] or x >= source.shape[1]:
                continue
            total += source[y, x]
    out[i, j] = total


@kb.kernel
def push(points: kb.array(dtype=kb.vec3), m: kb.mat33, total: kb.array(dtype=kb.vec3)):
    i = kb.tid()
    v = m @ points[i]
    v.x = v.x + 1.0
    points[i] = v
    points[i].z = 7.0
    total[0] += v


@kb.kernel
def beyond(data: kb.array(dtype=int)):
    i = kb.tid()
    data[i + 1] = 0


@kb.kernel
def neighbours(data: kb.array(dtype=int)):
    i = kb.tid()
    if i > 0:
        data[i] = data[i - 1]


@kb.kernel
def tickets(counter: kb.array(dtype=int), out: kb.array(dtype=int)):
    out[kb.tid()] = kb.atomic_add(counter, 0, 1)


@kb.kernel
def endless(data: kb.array(dtype=int)):
    while data[0] == 0:
        data[0] = 0


def test_loops_calls_and_several_results() -> None:
    data, steps = ints(3, -2, 5), ints(0, 0, 0)
    run(lowered(walk), (3,), [data, 4, steps])
    assert data.data == [4, 4, 4]
    assert steps.data == [1, 6, 1]


def test_two_dimensions() -> None:
    source = Memory(FLOAT32, (3, 4), [1.0] * 12)
    out = Memory(FLOAT32, (3, 4), [0.0] * 12)
    run(lowered(stencil), (3, 4), [source, out])
    assert out.data == [4.0, 6.0, 6.0, 4.0, 6.0, 9.0, 9.0, 6.0, 4.0, 6.0, 6.0, 4.0]


def test_vectors_matrices_and_a_sum_over_threads() -> None:
    points = Memory(VEC3, (2,), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    total = Memory(VEC3, (1,), [[0.0, 0.0, 0.0]])
    twice = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    outcome = run(lowered(push), (2,), [points, twice, total])
    assert points.data == [[3.0, 4.0, 7.0], [9.0, 10.0, 7.0]]
    assert total.data == [[12.0, 14.0, 18.0]]
    assert outcome.approximate  # the order of a sum of floats is not defined


@pytest.mark.parametrize(
    ("kernel", "arguments", "fault", "said"),
    [
        (beyond, [ints(1, 2)], OutOfBounds, "index 2 on axis 0"),
        (neighbours, [ints(1, 2, 3)], Conflict, "threads 1 and 2"),
        (tickets, [ints(0), ints(0, 0)], Conflict, "threads 0 and 1"),
        (endless, [ints(0)], TooLong, "more than 1000 steps"),
    ],
)
def test_faults_name_the_line_and_the_thread(
    kernel: runtime.Kernel, arguments: list[Any], fault: type[Exception], said: str
) -> None:
    with pytest.raises(fault, match=said) as caught:
        run(lowered(kernel), (arguments[-1].shape[0],), arguments, max_steps=1000)
    assert "test_threads.py:" in str(caught.value)
    assert "thread (" in str(caught.value)
