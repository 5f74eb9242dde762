"""Threads that part and meet: loops with trips of their own, early ends, functions; and what stops a launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kbuild as kb
from tests.helpers.faults import fault_of, line_of


@kb.kernel
def collatz(start: kb.array(dtype=int), steps: kb.array(dtype=int)):
    i = kb.tid()
    n = start[i]
    count = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
    steps[i] = count


@kb.func
def first_divisor(n: int):
    if n < 2:
        return 0
    k = 2
    while k * k <= n:
        if n % k == 0:
            return k
        k += 1
    return n


@kb.func
def position(grid: kb.array2d(dtype=int), wanted: int):
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            if grid[i, j] == wanted:
                return i, j
    return -1, -1


@kb.kernel
def divisors(out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = first_divisor(i)


@kb.kernel
def found(grid: kb.array2d(dtype=int), out: kb.array2d(dtype=int)):
    k = kb.tid()
    i, j = position(grid, k)
    out[k, 0] = i
    out[k, 1] = j


@kb.kernel
def nested(limits: kb.array(dtype=int), out: kb.array(dtype=int)):
    t = kb.tid()
    total = 0
    for i in range(limits[t]):
        if i == 3:
            continue
        j = 0
        while True:
            j += 1
            if j > i:
                break
            if (i + j) % 4 == 0:
                continue
            if i * j > 40:
                out[t] = -total
                return
            total += i * j
        if total > 500:
            break
    out[t] = total


def nested_in_python(limit: int) -> int:
    total = 0
    for i in range(limit):
        if i == 3:
            continue
        for j in range(1, i + 1):
            if (i + j) % 4 == 0:
                continue
            if i * j > 40:
                return -total
            total += i * j
        if total > 500:
            break
    return total


@kb.kernel
def steps_of_their_own(bounds: kb.array2d(dtype=int), out: kb.array(dtype=int)):
    t = kb.tid()
    for k in range(bounds[t, 0], bounds[t, 1], bounds[t, 2]):
        if k == 13:
            break
        out[t] = out[t] * 3 + k


@kb.kernel
def last_value(limits: kb.array(dtype=int), out: kb.array(dtype=int)):
    t = kb.tid()
    last = -1
    for k in range(limits[t]):
        last = k
        if k == 4:
            break
    out[t] = last


@kb.kernel
def counter_behind(limits: kb.array(dtype=int), out: kb.array(dtype=int)):
    t = kb.tid()
    k = 70
    for k in range(limits[t]):
        if k == 4:
            break
    out[t] = k


@kb.kernel
def with_temporaries(limits: kb.array(dtype=int), out: kb.array(dtype=int)):
    t = kb.tid()
    t1 = 5
    out[t], rest = limits[t], first_divisor(t)
    for k in range(limits[t]):
        t1 += k
    x = out[t] if t > 0 and limits[t] > 1 else first_divisor(t1)
    out[t + t1] = x + rest


@kb.kernel
def spins(lock: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    while kb.atomic_cas(lock, 0, 0, 1) == 1:
        pass
    out[0] = out[0] + 1 + i
    kb.atomic_exch(lock, 0, 0)


@kb.kernel
def waits_for_another(flag: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    if i == 0:
        while flag[0] == 0:
            pass
        out[0] = 1
    else:
        kb.atomic_exch(flag, 0, 1)


@kb.kernel
def counts_for_long(out: kb.array(dtype=int)):
    i = kb.tid()
    n = 0
    while n < 100000 + i:
        n += 1
    out[i] = n


@kb.kernel
def lock_free_maximum(best: kb.array(dtype=int), values: kb.array(dtype=int)):
    i = kb.tid()
    seen = best[0]
    while seen < values[i]:
        before = kb.atomic_cas(best, 0, seen, values[i])
        if before == seen:
            break
        seen = before


@kb.kernel
def divided(a: kb.array(dtype=int), b: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    if a[i] > 0:
        quotient = a[i] // b[i]
        out[i] = quotient


@kb.kernel
def remainder(a: kb.array(dtype=kb.uint8), b: kb.array(dtype=kb.uint8)):
    i = kb.tid()
    a[i] = a[i] % b[i]


@kb.kernel
def guarded(a: kb.array(dtype=int), b: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = a[i] // b[i] if b[i] != 0 else -1
    if b[i] != 0 and a[i] % b[i] == 0:
        out[i] += 100


@kb.func
def positive(x: float):
    assert x > 0.0, "only of positive numbers"
    return kb.sqrt(x)


@kb.kernel
def roots(data: kb.array(dtype=float)):
    i = kb.tid()
    data[i] = positive(data[i])


@kb.kernel
def tells(data: kb.array2d(dtype=float)):
    i, j = kb.tid()
    if data[i, j] > 1.0:
        kb.printf("%d,%d has %.1f\n", i, j, data[i, j])
        print(i, data[i, j] > 2.0, kb.vec2(1.0, 2.5))


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


def test_while_with_trips_of_its_own() -> None:
    start, steps = ints(1, 2, 3, 7, 27, 6), np.zeros(6, np.int32)
    kb.sim.run(collatz, 6, [start, steps])
    assert steps.tolist() == [0, 1, 7, 16, 111, 8]


def test_functions_that_return_early() -> None:
    out = np.zeros(40, np.int32)
    kb.sim.run(divisors, 40, [out])
    assert out.tolist() == [0, 0, *[min(k for k in range(2, n + 1) if n % k == 0) for n in range(2, 40)]]


def test_several_results_out_of_nested_loops() -> None:
    grid, out = np.array([[5, 2, 0], [1, 4, 2]], np.int32), np.zeros((6, 2), np.int32)
    kb.sim.run(found, 6, [grid, out])
    assert out.tolist() == [[0, 2], [1, 0], [0, 1], [-1, -1], [1, 1], [0, 0]]


def test_nested_loops_with_break_continue_and_return() -> None:
    limits = np.arange(24, dtype=np.int32)
    out = np.zeros(24, np.int32)
    kb.sim.run(nested, 24, [limits, out])
    assert out.tolist() == [nested_in_python(limit) for limit in range(24)]
    assert min(out) < 0 < max(out)


def test_ranges_with_bounds_and_steps_of_their_own() -> None:
    bounds = [(0, 5, 1), (5, 0, 1), (9, 0, -3), (0, 20, 13), (3, 3, -1), (-2, 7, 4), (14, 12, -1), (0, 5, 0)]
    out = np.zeros(len(bounds), np.int32)
    kb.sim.run(steps_of_their_own, len(bounds), [np.array(bounds, np.int32), out])
    wanted = []
    for start, stop, step in bounds:
        total = 0
        for k in range(start, stop, step) if step else ():
            if k == 13:
                break
            total = total * 3 + k
        wanted.append(total)
    assert out.tolist() == wanted


def test_what_a_loop_leaves_behind() -> None:
    out = np.zeros(5, np.int32)
    kb.sim.run(last_value, 5, [ints(0, 1, 4, 5, 9), out])
    assert out.tolist() == [-1, 0, 3, 4, 4]


def test_the_counter_of_a_loop_that_is_over() -> None:
    """It has what the last trip had, as in Python, in threads with fewer trips than others too."""
    out = np.zeros(5, np.int32)
    kb.sim.run(counter_behind, 5, [ints(0, 1, 4, 5, 9), out])
    assert out.tolist() == [70, 0, 3, 4, 4]


def test_variables_are_those_that_the_kernel_names() -> None:
    fault = fault_of(kb.sim.OutOfBounds, with_temporaries, 3, [ints(1, 3, 2), np.zeros(6, np.int32)])
    assert fault.thread == (1,)
    assert list(fault.variables) == ["limits", "out", "t", "t1", "rest", "k", "x"]
    assert (fault.variables["t1"], fault.variables["k"], fault.variables["x"]) == (8, 2, 3)


# Deadlocks


def test_a_spin_lock() -> None:
    """Who has the lock would wait for those that want it; so threads run one after the other."""
    lock, out = ints(0), ints(0)
    kb.sim.run(spins, 4, [lock, out])
    assert (lock.tolist(), out.tolist()) == ([0], [4 + 6])


def test_waiting_for_the_other_side_of_a_branch() -> None:
    fault = fault_of(kb.sim.Deadlock, waits_for_another, 3, [ints(0), ints(0)])
    assert (fault.span.line, fault.thread) == (line_of(waits_for_another, "while flag"), (0,))


def test_one_thread_may_lock() -> None:
    out = ints(0)
    kb.sim.run(spins, 1, [ints(0), out])
    assert out.tolist() == [1]


def test_long_loops_are_no_deadlock() -> None:
    out = np.zeros(3, np.int32)
    kb.sim.run(counts_for_long, 3, [out])
    assert out.tolist() == [100000, 100001, 100002]


def test_loops_around_a_compare_and_swap_end() -> None:
    values = np.random.default_rng(1).permutation(1000).astype(np.int32)
    best = ints(0)
    kb.sim.run(lock_free_maximum, 1000, [best, values])
    assert best.tolist() == [999]


# Division by zero


def test_division_by_zero() -> None:
    a, b, out = ints(4, 0, 9, 5), ints(2, 0, -3, 0), np.zeros(4, np.int32)
    fault = fault_of(kb.sim.DividedByZero, divided, 4, [a, b, out])
    assert (fault.span.line, fault.thread) == (line_of(divided, "quotient = "), (3,))
    assert fault.variables["i"] == 3
    assert fault.reason == "division of integers by zero"
    kb.sim.run(divided, 4, [a, b, out], divisions=False)
    assert out.tolist() == [2, 0, -3, 0]


def test_remainder_of_a_division_by_zero() -> None:
    a, b = np.array([7, 8], np.uint8), np.array([2, 0], np.uint8)
    fault = fault_of(kb.sim.DividedByZero, remainder, 2, [a, b])
    assert (fault.span.line, fault.thread) == (line_of(remainder, "% b[i]"), (1,))
    assert fault.reason == "remainder of a division of integers by zero"
    kb.sim.run(remainder, 2, [a, b], divisions=False)
    assert a.tolist() == [1, 8]


def test_what_is_not_evaluated_is_not_divided() -> None:
    out = np.zeros(4, np.int32)
    kb.sim.run(guarded, 4, [ints(7, 8, 0, 9), ints(2, 0, 0, 3), out])
    assert out.tolist() == [3, -1, -1, 103]


# Asserts and printing


def test_an_assert() -> None:
    fault = fault_of(kb.sim.AssertFailed, roots, 4, [np.array([4, 1, -2, -3], np.float32)])
    assert (fault.span.line, fault.thread) == (line_of(positive, "assert x"), (2,))
    assert fault.variables == {"x": -2.0}
    assert "the assertion `x > 0.0: only of positive numbers` fails" in fault.reason
    data = np.array([4, 1], np.float32)
    kb.sim.run(roots, 2, [data])
    assert data.tolist() == [2.0, 1.0]


def test_printing() -> None:
    data = np.array([[1, 2], [3, 0]], np.float32)
    printed = kb.sim.run(tells, (2, 2), [data]).printed
    assert printed == "0,1 has 2.0\n1,0 has 3.0\n0 False 1 2.5\n1 True 1 2.5\n"


def test_printing_with_the_thread() -> None:
    data = np.array([[1, 2], [3, 0]], np.float32)
    printed = kb.sim.run(tells, (2, 2), [data], threads=True).printed
    assert printed.splitlines() == [
        "[0, 1] 0,1 has 2.0",
        "[1, 0] 1,0 has 3.0",
        "[0, 1] 0 False 1 2.5",
        "[1, 0] 1 True 1 2.5",
    ]


def test_a_launch_prints_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    data = np.array([[0, 2]], np.float32)
    kb.launch(tells, dim=(1, 2), inputs=[data], device="sim")
    assert capsys.readouterr().out == "0,1 has 2.0\n0 False 1 2.5\n"


def test_what_was_printed_before_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    data = np.array([[0, 2]], np.float32)
    with pytest.raises(kb.sim.OutOfBounds):
        kb.launch(tells, dim=(2, 2), inputs=[data], device="sim")
    assert capsys.readouterr().out == ""  # both conditions are evaluated before anything is printed
