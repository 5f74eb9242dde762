"""`static(…)`: evaluated while building; dead branches are not typed; loops whose variable it needs are unrolled."""

from __future__ import annotations

import enum
from typing import Any

import pytest

import kbuild as kb
from kbuild.errors import Report
from kbuild.intrinsics.table import has_effects
from kbuild.ir.contract import contract
from kbuild.ir.printer import print_kernel
from kbuild.ir.types import FLOAT32, INT32, Scalar
from kbuild.ir.verify import verify
from kbuild.lang.program import lower_kernel
from kbuild.lang.reach import reach
from kbuild.loader import types as runtime
from kbuild.sim.threads import run
from kbuild.sim.values import Memory

WEIGHTS = [0.25, 0.5, 0.25]
SETTINGS = {"offset": 3}
PAIR = (4, 5)


class Mode(enum.IntEnum):
    PLAIN = 0
    FANCY = 1


def triangular(n: int) -> int:
    return n * (n + 1) // 2


@kb.func
def double(x: int):
    return 2 * x


@kb.func
def negate(x: int):
    return -x


@kb.kernel
def values(out: kb.array(dtype=int)):
    out[0] = kb.static(triangular(4))
    out[1] = kb.static(SETTINGS["offset"] + len(WEIGHTS))
    out[2] = kb.static(double if SETTINGS["offset"] > 2 else negate)(21)
    a, b = kb.static(PAIR)
    out[3] = a * 10 + b
    out[4] = kb.static(kb.int32)(7.9)
    out[5] = PAIR[1]


@kb.kernel
def weighted(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    total = 0.0
    for k in range(3):
        if kb.static(WEIGHTS[k] > 0.3):
            total += kb.static(WEIGHTS[k]) * data[i + k] * 10.0
        else:
            total += kb.static(WEIGHTS[k]) * data[i + k]
    out[i] = total


def make(mode: Mode, op: Any, size: int) -> runtime.Kernel:
    @kb.kernel
    def made(out: kb.array(dtype=int)):
        i = kb.tid()
        if kb.static(mode == Mode.FANCY):
            out[i] = op(i) + size
        else:
            out[i] = nothing_of_that_name(i)  # noqa: F821

    return made


def lowered(kernel: runtime.Kernel) -> Any:
    report = Report()
    made = lower_kernel(kernel, True, report)
    assert [d.render() for d in report.diagnostics] == []
    assert made is not None
    return contract(verify(made, has_effects))


def array(type: Scalar, *items: float) -> Memory:
    return Memory(type, (len(items),), list(items))


def test_values() -> None:
    out = array(INT32, *[0] * 6)
    run(lowered(values), (1,), [out])
    assert out.data == [10, 6, 42, 45, 7, 5]


def test_an_unrolled_loop_has_its_variable_as_a_constant() -> None:
    out = array(FLOAT32, 0.0, 0.0)
    run(lowered(weighted), (2,), [array(FLOAT32, 1.0, 2.0, 3.0, 4.0), out])
    assert out.data == [0.25 + 10.0 + 0.75, 0.5 + 15.0 + 1.0]
    assert "for" not in print_kernel(lowered(weighted))


def test_a_branch_that_is_not_taken_is_not_typed() -> None:
    out = array(INT32, 0, 0)
    run(lowered(make(Mode.FANCY, double, 5)), (2,), [out])
    assert out.data == [5, 7]
    report = Report()
    assert lower_kernel(make(Mode.PLAIN, double, 5), True, report) is None
    assert [d.code for d in report.diagnostics] == ["KB103"]


def test_everything_that_static_captures_tells_instances_apart() -> None:
    plans = {}
    for mode, op, size in [
        (Mode.FANCY, double, 1),
        (Mode.FANCY, negate, 1),
        (Mode.FANCY, double, 2),
        (Mode.PLAIN, double, 1),
    ]:
        found = reach(make(mode, op, size))
        plans[found.identity()] = found.plan
    assert len(plans) == 4
    assert {"closure:mode", "closure:op", "closure:size"} <= set(next(iter(plans.values())))


def test_lists_and_dictionaries_are_captured_by_content(monkeypatch: pytest.MonkeyPatch) -> None:
    before = reach(values).key(), reach(weighted).key()
    monkeypatch.setitem(SETTINGS, "offset", 4)
    assert reach(values).key() != before[0]
    assert reach(weighted).key() == before[1]
    monkeypatch.setitem(weighted.function.__globals__, "WEIGHTS", [0.25, 0.75, 0.25])
    assert reach(weighted).key() != before[1]


def test_a_host_function_enters_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(part[0] == "host" and part[1] == "triangular" for part in reach(values).parts)
