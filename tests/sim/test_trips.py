"""Loops of arithmetic, whose trips are bound as a whole: what they keep is what they would compute anew."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Kernel
from kbuild.ir.traverse import walk
from kbuild.ir.types import BOOL, FLOAT32, INT32
from kbuild.sim import arithmetic
from kbuild.sim.blocks import over
from kbuild.sim.lockstep import going
from kbuild.sim.lockstep.run import Checks, Options
from kbuild.sim.lockstep.trips import Numbers, Trips
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.threads import run_launch
from kbuild.sim.values import Memory
from tests.helpers import kernels
from tests.helpers.lockstep import run_in_lockstep

HEAD = "import kbuild as kb\n\n@kb.kernel\ndef k(a: kb.array(dtype=float), b: kb.array(dtype=int), few: int):\n"
START = """    i = kb.tid()
    x = 0.25 * float(i % 7) - 0.5
    y = 0.0
    p = 0.125 * float(i)
    q = 1.5
    n = int(0)
    m = i % 5
"""
END = """    a[i] = x + 3.0 * y
    b[i] = 100 * n + m
"""
LANES = 50


class Values(Watcher):
    """While values are watched, nothing is kept and nobody lingers."""

    wants_values = True


def lowered(folder: Path, text: str) -> Kernel:
    (kernel,) = kernels.lower_text(folder, HEAD + text)
    return kernel


def loops(kernel: Kernel) -> list[nodes.For | nodes.While]:
    return [node for node in walk(kernel.function.body) if isinstance(node, (nodes.For, nodes.While))]


def results(kernel: Kernel, *watchers: Watcher) -> tuple[bytes, bytes]:
    arrays = np.zeros(LANES, np.float32), np.zeros(LANES, np.int32)
    run_in_lockstep(kernel, over((LANES,), 32), [*arrays, 3], Options(Checks.none(), watchers=watchers))
    a, b = arrays
    a[np.isnan(a)] = np.nan  # no two ways agree on the bits of a NaN
    return a.tobytes(), b.tobytes()


def one_after_the_other(kernel: Kernel) -> tuple[bytes, bytes]:
    memories = [Memory(p.type.element, (LANES,), [0] * LANES) for p in kernel.function.parameters[:2]]
    run_launch(kernel, over((LANES,), 32), [*memories, 3])
    a, b = (np.array(one.data, dtype) for one, dtype in zip(memories, (np.float32, np.int32), strict=True))
    a[np.isnan(a)] = np.nan
    return a.tobytes(), b.tobytes()


FLOATS = st.sampled_from(["x", "y", "p", "q", "0.5", "-0.0", "0.0", "1.25"])
INTEGERS = st.sampled_from(["n", "m", "i", "few", "2", "-3"])


def _float(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda e: f"({e[0]} {e[1]} {e[2]})"),
        inner.map(lambda e: f"({e} * {e})"),
        inner.map(lambda e: f"(-{e})"),
        st.tuples(inner, inner).map(lambda e: f"kb.min({e[0]}, {e[1]})"),
        st.tuples(inner, inner, inner).map(lambda e: f"({e[0]} if {e[1]} < {e[2]} else {e[0]} * {e[1]})"),
        INTEGERS.map(lambda e: f"float({e})"),
    )


def _integer(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(inner, st.sampled_from("+-*&"), inner).map(lambda e: f"({e[0]} {e[1]} {e[2]})")


FLOAT = st.recursive(FLOATS, _float, max_leaves=5)
INTEGER = st.recursive(INTEGERS, _integer, max_leaves=3)
STATEMENT = st.one_of(
    st.tuples(st.sampled_from("xy"), FLOAT).map(lambda s: f"{s[0]} = {s[1]}"), INTEGER.map(lambda e: f"m = {e}")
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A loop, perhaps entered twice, of statements that share what they compute."""
    parts = draw(st.lists(FLOAT, min_size=1, max_size=3))
    some = st.sampled_from(parts)
    shared = st.tuples(st.sampled_from("xy"), some, st.sampled_from("+-*"), some).map(
        lambda s: f"{s[0]} = {s[1]} {s[2]} {s[3]}"
    )
    body = draw(st.lists(STATEMENT | shared, min_size=1, max_size=5))
    goes_on = draw(st.sampled_from(["n < few", "n < i % 11", "n < few or n < i % 9"]))
    test = draw(st.sampled_from(["and n < 12", f"and {draw(some)} < 4.0", f"and (n < 2 or {draw(some)} > -1.0)"]))
    if draw(st.booleans()):
        lines = [f"for k in range({draw(st.sampled_from(['few', 'i % 7', 'm & 7']))}):", "    m = m + k"]
    else:
        lines = [f"while ({goes_on}) {test}:", "    n = n + 1"]
    lines[1:1] = [f"    {one}" for one in body]
    if draw(st.booleans()):
        lines = ["for again in range(2):", "    n = 0", "    q = q + p", *(f"    {one}" for one in lines)]
    return START + "".join(f"    {one}\n" for one in lines) + END


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts(), st.sampled_from([0, 2, 1 << 40]))
def test_trips_give_what_their_statements_give(tmp_path: Path, text: str, move: int) -> None:
    kernel = lowered(tmp_path, text)
    assert any(Trips().of(loop) is not None for loop in loops(kernel))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(going, "_MOVE", move)
        found = results(kernel)
    assert found == results(kernel, Values())
    assert found == one_after_the_other(kernel)


def test_what_is_computed_twice_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: Counter[str] = Counter()

    def counted(name: str) -> Any:
        function = arithmetic._FLOAT[name]

        def count(*operands: Any) -> Any:
            made[name] += 1
            return function(*operands)

        return count

    for name in ("mul", "div"):
        monkeypatch.setitem(arithmetic._FLOAT, name, counted(name))
    loop = """    while n < 10 and x * x < 9.0:
        x = x * x
        y = x * x
        x = x / q + p / 3.0
        n = n + 1
"""
    uniform = START.replace("0.25 * float(i % 7) - 0.5", "0.25").replace("0.125 * float(i)", "0.125")
    results(lowered(tmp_path, uniform + loop + END))
    assert made["mul"] == 2 * 10  # x * x of the x before a trip, and of the one in it
    assert made["div"] == 10 + 1  # p / 3.0 once


@pytest.mark.parametrize(
    "body",
    {
        "whoever could go on again": """
    while n < 9 and (n + i) & 3 != 3:
        x = x + q
        n = n + 1
""",
        "a test that is not always made": """
    for again in range(3):
        n = 0
        while n < 2 or (x * x < 3.0 and n < 6):
            x = x * x + q
            y = y + x * x
            n = n + 1
        x = 0.25 * float(again)
""",
        "a variable that is assigned twice": """
    while n < 5:
        y = x * q
        x = y + 0.5
        y = x * q
        x = x * q + y
        n = n + 1
""",
        "what has changed outside": """
    for again in range(4):
        n = 0
        q = q + 1.0
        while n < 3:
            x = x + kb.min(p * q, 9.0)
            n = n + 1
""",
        "two loops": """
    while n < 5:
        x = x + kb.min(p * q, 9.0)
        n = n + 1
    while n < 9:
        y = y - kb.min(p - q, 9.0)
        n = n + 1
""",
        "signs": """
    while n < 1 + i % 6:
        x = x - p * q
        y = x * p - y
        x = -(x * y) - p
        n = n + 1
""",
    }.items(),
    ids=lambda item: item[0],
)
def test_kept_as_long_as_it_holds(tmp_path: Path, body: tuple[str, str]) -> None:
    kernel = lowered(tmp_path, START + body[1].lstrip("\n") + END)
    assert any(Trips().of(loop) is not None for loop in loops(kernel))
    assert results(kernel) == results(kernel, Values()) == one_after_the_other(kernel)


def test_numbers_of_what_only_looks_the_same() -> None:
    x = nodes.Symbol("x", FLOAT32)
    square = nodes.Binary("mul", nodes.Read(x, FLOAT32), nodes.Read(x, FLOAT32), FLOAT32)
    zeros = [nodes.Const(*one) for one in ((0.0, FLOAT32), (-0.0, FLOAT32), (0, INT32), (False, BOOL))]
    assign = nodes.Assign(nodes.Read(x, FLOAT32), square)
    numbers = Numbers(nodes.While(nodes.Const(True, BOOL), (assign, assign)))
    assert len({*map(numbers.of, zeros)}) == 4
    before = numbers.of(square)
    again = nodes.Binary("mul", nodes.Read(x, FLOAT32), nodes.Read(x, FLOAT32), FLOAT32, Span("a.py", 1, 1, 1, 2))
    assert numbers.of(again) == before
    numbers.assign(x)
    assert numbers.of(square) != before
    assert numbers.of(square) == numbers.of(again)
    assert numbers.varies(before)
    assert not numbers.varies(numbers.of(zeros[0]))


@pytest.mark.parametrize("leaving", [1, 3, 20])
def test_those_who_wait_cost_no_more_than_moving_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leaving: int
) -> None:
    """Trips that are computed for nothing, and lanes that are moved, against trips that are needed."""
    seen: Counter[str] = Counter()
    stay, behind = going.Going.stay, going.Going.leave_behind

    def staying(self: going.Going, stays: Any) -> bool:
        there = stay(self, stays)
        if there and self.alive is not None:
            seen["idle"] += self.frame.lanes.count - np.count_nonzero(self.alive)
        return there

    def moving(self: going.Going) -> None:
        behind(self)
        seen["moved"] += self.frame.lanes.count
        seen["times"] += 1

    monkeypatch.setattr(going.Going, "stay", staying)
    monkeypatch.setattr(going.Going, "leave_behind", moving)
    body = f"    while n < (i + 1) * {leaving}:\n        x = x + q\n        n = n + 1\n"
    kernel = lowered(tmp_path, START + body + END)
    assert results(kernel) == one_after_the_other(kernel)
    assert seen["times"] > 1
    assert seen["idle"] <= going._MOVE * seen["moved"] + LANES * math.ceil(going._MOVE * seen["times"])
