"""The judge judged: dual numbers agree with differences, on every intrinsic and on random programs."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbuild.errors import CompileError
from kbuild.intrinsics import scalar
from kbuild.ir.types import FLOAT64, INT32, Array
from kbuild.sim import numbers
from kbuild.sim.values import Memory, indexed
from tests.helpers import duals, gradient_checks, gradient_programs, kernels, tangents
from tests.helpers.duals import Dual
from tests.helpers.gradient_arrays import tangents_of, to_memory, values_of

DEEP = int(os.environ.get("KBUILD_DEEP", "1"))
POINTS = {
    "rsqrt": [0.3, 2.0],
    "sqrt": [0.3, 2.0],
    "log": [0.3, 2.0],
    "log2": [0.3, 2.0],
    "log10": [0.3, 2.0],
    "asin": [-0.7, 0.2, 1.5],
    "acos": [-0.7, 0.2, -1.5],
    "erfinv": [-0.9, 0.3],
    "erfcinv": [0.2, 1.6],
    "pow": [0.4, 1.7],
}


@pytest.mark.parametrize("row", [r for r in scalar.ROWS if r.signature.result != "Bool"], ids=lambda r: r.name)
def test_partial_derivatives_are_those_of_the_function(row: Any) -> None:
    if row.name not in {*numbers.EXACT, *numbers.APPROXIMATE} or row.name in (
        "bit_count",
        "isnan",
        "isinf",
        "isfinite",
    ):
        return
    function = numbers.EXACT.get(row.name) or numbers.APPROXIMATE[row.name]
    count = len(row.signature.parameters)
    for x in POINTS.get(row.name, [-1.3, 0.4, 1.7]):
        at = [x, 0.8][:count]
        for place, slope in enumerate(tangents.partials(row.name, at)):
            up, down = list(at), list(at)
            up[place], down[place] = at[place] + 1e-6, at[place] - 1e-6
            difference = (float(function(*up)) - float(function(*down))) / 2e-6
            assert slope() == pytest.approx(difference, rel=1e-7, abs=1e-7), (row.name, at, place)


@pytest.mark.parametrize("profile", gradient_programs.PROFILES)
def test_random_programs_agree_with_differences(tmp_path: Path, profile: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(30 * DEEP):
        program = gradient_programs.make(10_000_000 + seed, profile)
        try:
            case = gradient_checks.prepare(program, tmp_path)
            found = gradient_checks.in_forward_mode(case)
            seen[gradient_checks.check_differences(case, found)] += not found.trace.kinks
        except gradient_checks.Skipped as skipped:
            seen[str(skipped)] += 1
        except CompileError:
            seen["refused"] += 1
        except gradient_checks.Wrong as wrong:
            pytest.fail(gradient_checks.text_of(program, str(wrong)))
    assert seen["agrees"] > 0.7 * seen.total(), seen


def run(folder: Path, text: str, *arguments: Any, threads: int = 1, order: list[int] | None = None) -> duals.Trace:
    (kernel,) = kernels.lower_text(folder, text)
    return duals.run(kernel, (threads,), arguments, order)


def floats(*items: float, moves: tuple[complex, ...] = ()) -> Memory:
    tangent = np.array(moves or [1.0] * len(items), np.complex128)
    return to_memory(np.array(items), Array(FLOAT64, 1), tangent)


def test_two_directions_at_once(tmp_path: Path) -> None:
    a = floats(2.0, 3.0, moves=(1.0, 1j))
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64)):
            a[0] = a[0] * a[0] * a[1]
    """
    run(tmp_path, text, a)
    assert values_of(a).tolist() == [12.0, 3.0]
    assert tangents_of(a).tolist() == [12.0 + 4.0j, 1j]


def test_the_winner_of_an_atomic_has_the_tangent_whatever_the_order(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64), m: kb.array(dtype=kb.float64)):
            kb.atomic_min(m, 0, a[kb.tid()])
            kb.atomic_max(m, 1, a[kb.tid()])
    """
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        m = floats(0.5, 9.0)
        trace = run(tmp_path, text, floats(3.0, -1.0, 2.0, moves=(1, 2, 3)), m, threads=3, order=order)
        assert (values_of(m).tolist(), tangents_of(m).tolist()) == ([-1.0, 9.0], [2, 1])
        assert trace.kinks == 0


@pytest.mark.parametrize(
    "expression",
    ["kb.abs(a[0] - a[1])", "kb.max(a[0], a[1])", "kb.sqrt(a[0] - a[1])", "kb.min(a[0] * 3.0, a[1] + 2.0)"],
)
def test_kinks_are_seen(tmp_path: Path, expression: str) -> None:
    text = f"""
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64)):
            a[2] = {expression}
    """
    assert run(tmp_path, text, floats(1.0, 1.0, 0.0, moves=(1, 2, 0))).kinks == 1
    assert run(tmp_path, text, floats(1.0, 1.0, 0.0, moves=(0, 0, 0))).kinks == ("sqrt" in expression)


def test_ties_that_rounding_decides_are_kinks(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64)):
            if a[0] > kb.lerp(a[0], a[1], 0.5):
                a[2] = 2.0 * a[0]
    """
    assert run(tmp_path, text, floats(0.3, 0.3, 0.0, moves=(1, 1, 0))).kinks == 1
    assert run(tmp_path, text, floats(0.3, 0.3, 0.0, moves=(0, 0, 0))).kinks == 0
    assert run(tmp_path, text, floats(0.3, 0.2, 0.0, moves=(1, 1, 0))).kinks == 0


def test_what_does_not_move_has_no_part(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64)):
            a[1] = kb.sqrt(a[1]) * a[0] + a[1] / a[1]
    """
    a = floats(2.0, 0.0, moves=(1, 0))
    run(tmp_path, text, a)
    assert tangents_of(a).tolist() == [1, 0]


def test_the_path_tells_runs_apart(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64)):
            n = int(a[0])
            for i in range(n):
                if a[1] > 0.0 and a[2] > 0.0:
                    break
                a[1] = a[1] + kb.abs(a[2]) + kb.floor(a[2])
    """
    starts = [(2.0, 1.0, 1.0), (2.0, 1.0, -1.0), (2.0, -1.0, -1.0), (3.0, 1.0, 1.0), (2.0, -1.0, 1.0), (2.0, 1.0, -2.5)]
    paths = [run(tmp_path, text, floats(*start)).path for start in starts]
    assert all(a != b for i, a in enumerate(paths) for b in paths[:i])
    assert paths[0] == run(tmp_path, text, floats(2.5, 1.5, 3.0)).path


def test_arrays_seen_through_index_arrays(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(a: kb.indexedarray(dtype=kb.float64), m: kb.array2d(dtype=kb.float64)):
            row = m[1]
            a[1] = a[0] * row[0] + a[-1]
    """
    a = floats(1.0, 2.0, 3.0, 4.0, moves=(1, 10, 100, 1000))
    table = Memory(INT32, (3,), [3, 0, 2])
    m = to_memory(np.array([[5.0], [7.0]]), Array(FLOAT64, 2), np.array([1.0, 1.0]))
    run(tmp_path, text, indexed(a, (table,)), m)
    assert tangents_of(a).tolist() == [7 * 1000 + 4 + 100, 10, 100, 1000]


def test_float32_values_are_rounded_and_tangents_are_not(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=kb.float32)):
            a[0] = a[0] / 3.0
    """
    memory = Memory(FLOAT64, (1,), [Dual(1.0, 1.0)])
    run(tmp_path, text, memory)
    assert memory.data[0].value == float(np.float32(1) / np.float32(3))
    assert memory.data[0].tangent == 1 / 3
