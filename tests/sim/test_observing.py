"""`kb.sim.observe`: every launch of a block is looked at, those of a backward pass too."""

from __future__ import annotations

from pathlib import Path

import pytest

import kbuild as kb
from tests.helpers.kernels import load

SOURCE = """\
import kbuild as kb


@kb.kernel
def product(x: kb.array(dtype=float), n: int, y: kb.array(dtype=float)):
    i = kb.tid()
    s = 1.0
    for j in range(n):
        s *= x[j]
    y[i] = s


@kb.kernel
def twice(x: kb.array(dtype=float)):
    x[kb.tid()] *= 2.0
"""
LINE = 9  # s *= x[j]


@pytest.fixture
def module(tmp_path: Path):
    (tmp_path / "observed.py").write_text(SOURCE, encoding="utf-8")
    return load(tmp_path / "observed.py")[0]


def taped(module):
    x = kb.array([2.0, 3.0, 5.0], dtype=float, device="sim", requires_grad=True)
    y = kb.zeros(1, dtype=float, device="sim", requires_grad=True)
    tape = kb.Tape()
    with tape:
        kb.launch(module.product, dim=1, inputs=[x, 3], outputs=[y])
    return x, y, tape


def test_the_adjoint_of_a_variable_is_watched_line_by_line(module):
    x, y, tape = taped(module)
    with kb.sim.observe(watch="adj_s") as seen:
        tape.backward(loss=y)
    assert x.grad.tolist() == [15.0, 10.0, 6.0]
    # Backward through `y[i] = s`, three trips, and `s = 1.0`: taken, and then given to the s before.
    assert [(one.line, one.new) for one in seen.watched] == [
        (10, 1.0),
        (LINE, 0.0),
        (LINE, 5.0),
        (LINE, 0.0),
        (LINE, 15.0),
        (LINE, 0.0),
        (LINE, 30.0),
        (7, 0.0),
    ]


def test_both_sweeps_stop_at_a_line(module):
    _, y, tape = taped(module)
    found: list[tuple[float, float]] = []

    def look(state):
        variables = state.variables((0,))
        found.append((variables["s"], variables.get("adj_s", 0.0)))

    with kb.sim.observe(stop=kb.sim.Stop(line=LINE, when=lambda v: v["adj_s"] != 0.0), on_stop=look):
        tape.backward(loss=y)
    assert found == [(30.0, 1.0), (6.0, 5.0), (2.0, 15.0)]


def test_kernels_are_chosen_by_name(module):
    x = kb.array([1.0], dtype=float, device="sim")
    y = kb.zeros(1, dtype=float, device="sim")
    with kb.sim.observe(kernel="prod*", trace=True) as seen:
        kb.launch(module.product, dim=1, inputs=[x, 1], outputs=[y])
        kb.launch(module.twice, dim=1, inputs=[x])
    assert [event["kernel"] for event in seen.trace if event["event"] == "launch"] == ["observed:product"]


def test_a_stop_without_on_stop_ends_the_block(module):
    x = kb.array([1.0], dtype=float, device="sim")
    with kb.sim.observe(stop=kb.sim.Stop(line=15)) as seen:
        kb.launch(module.twice, dim=1, inputs=[x])
        raise AssertionError("not reached")
    assert seen.stopped is not None
    assert (seen.stopped.line, x.tolist()) == (15, [1.0])


def test_a_variable_that_no_kernel_has_is_told(module):
    x = kb.array([1.0], dtype=float, device="sim")
    message = "no kernel that was launched has a variable 'adj_t'"
    with pytest.raises(LookupError, match=message), kb.sim.observe(watch="adj_t"):
        kb.launch(module.twice, dim=1, inputs=[x])
    assert x.tolist() == [2.0]
