"""`watch` follows variables of chosen lanes."""

from __future__ import annotations

import numpy as np
import pytest

import kbuild as kb
from tests.sim import looking_kernels as kernels


def watched(kernel, dim, inputs, **options) -> list[tuple]:
    return [(c.line, c.name, c.thread, c.old, c.new) for c in kb.sim.run(kernel, dim, inputs, **options).watched]


def arrays(n: int) -> list[np.ndarray]:
    return [np.arange(n, dtype=np.float32), np.zeros(n, np.float32)]


def test_a_variable_of_two_threads() -> None:
    zero, odd, even, loop = (kernels.line(m) for m in ("s is zero", "odd", "even", "in the loop"))
    assert watched(kernels.parts, 40, arrays(40), watch={"s": [5, (8,)]}) == [
        (zero, "s", (5,), None, 0.0),
        (zero, "s", (8,), None, 0.0),
        (even, "s", (8,), 0.0, 16.0),
        (odd, "s", (5,), 0.0, 4.0),
        # j is 0 in the first trip of both, which changes nothing
        (loop, "s", (5,), 4.0, 5.0),
        (loop, "s", (8,), 16.0, 17.0),
    ]


def test_counters_of_loops_have_their_trips() -> None:
    found = watched(kernels.parts, 6, arrays(6), watch="j", watch_threads=range(6))
    assert [(thread, new) for _, _, thread, _, new in found] == [
        ((1,), 0), ((2,), 0), ((4,), 0), ((5,), 0), ((2,), 1), ((5,), 1)
    ]  # fmt: skip


def test_variables_of_functions_and_vectors() -> None:
    assert watched(kernels.parts, 4, arrays(4), watch="w") == [
        (kernels.line("in twice"), "w", (0,), None, 0.0),
        (kernels.line("in twice"), "w", (2,), None, 4.0),
    ]
    found = watched(kernels.plane, (2, 3), [np.zeros((2, 3, 2), np.float32)], watch={"v": [(1, 2)]})
    assert [entry[3:] for entry in found] == [(None, [1.0, 2.0]), ([1.0, 2.0], [1.0, 4.0])]


def test_as_text() -> None:
    changes = kb.sim.run(kernels.twins, 2, arrays(2), watch={"b": None}).watched
    assert str(changes) == f"{kernels.SOURCE}:{kernels.line('otherwise') - 1}: thread (1,): b = 1.0 (was None)"


def test_a_nan_that_stays_is_no_change() -> None:
    @kb.kernel
    def keeps(x: kb.array(dtype=float)):
        v = x[0]
        for _ in range(3):
            v = v + 0.0
        x[0] = v

    assert len(watched(keeps, 1, [np.array([np.nan], np.float32)], watch="v")) == 1


def test_what_cannot_be_watched() -> None:
    with pytest.raises(LookupError, match=r"parts has no variable 'z': its variables are .*, s, v, w, x, y"):
        watched(kernels.parts, 4, arrays(4), watch="z")
    with pytest.raises(LookupError, match=r"4 is no thread of a launch over \(4,\)"):
        watched(kernels.parts, 4, arrays(4), watch={"s": [4]})
