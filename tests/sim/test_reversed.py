"""Loops over `reversed(range(…))`."""

from __future__ import annotations

from itertools import product

import pytest

import kbuild as kb


@kb.kernel
def digits(start: int, stop: int, step: int, out: kb.array(dtype=kb.int64)):  # type: ignore[valid-type]
    for i in reversed(range(start, stop, step)):
        out[0] = out[0] * kb.int64(20) + kb.int64(i + 10)


@kb.kernel
def constant_steps(start: int, stop: int, out: kb.array(dtype=kb.int64)):  # type: ignore[valid-type]
    for i in reversed(range(start, stop, 3)):
        out[0] = out[0] * kb.int64(20) + kb.int64(i + 10)
    for i in reversed(range(stop, start, -2)):
        out[1] = out[1] * kb.int64(20) + kb.int64(i + 10)
    for i in reversed(range(stop)):
        out[2] = out[2] * kb.int64(20) + kb.int64(i + 10)
    for i in reversed(range(2, 9, 3)):
        out[3] = out[3] * kb.int64(20) + kb.int64(i + 10)


def wanted(trips: range) -> int:
    found = 0
    for i in reversed(trips):
        found = found * 20 + i + 10
    return found


@pytest.mark.parametrize(("start", "stop", "step"), list(product((-2, 0, 3), (-3, 0, 2, 5), (-3, -1, 1, 2, 4))))
def test_any_step(start: int, stop: int, step: int) -> None:
    out = kb.zeros(1, dtype=kb.int64, device="sim")
    kb.launch(digits, dim=1, inputs=[start, stop, step], outputs=[out])
    assert out.tolist() == [wanted(range(start, stop, step))]


@pytest.mark.parametrize(("start", "stop"), [(0, 7), (1, 7), (2, 7), (7, 0), (3, 3), (-4, 2)])
def test_steps_that_are_known(start: int, stop: int) -> None:
    out = kb.zeros(4, dtype=kb.int64, device="sim")
    kb.launch(constant_steps, dim=1, inputs=[start, stop], outputs=[out])
    trips = range(start, stop, 3), range(stop, start, -2), range(stop), range(2, 9, 3)
    assert out.tolist() == [wanted(one) for one in trips]
