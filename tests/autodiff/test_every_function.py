"""The adjoint of every function of the language, at every signature and element type, beside differences.

Of doubles beside central differences in the simulator, of float32 and float16 beside that of doubles for the same
numbers. The functions are those of the compiler's own table: a new one is looked at, or fails, without being named
here. `test_every_operator` has what is no plain call.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.errors import CompileError
from kbuild.intrinsics.catalogue import entry
from kbuild.intrinsics.described import LINES
from kbuild.intrinsics.table import ROWS
from kbuild.loader.builtins import TABLE
from tests.helpers import operator_cases
from tests.helpers.function_calls import BY_HAND, REFUSED, Call, calls
from tests.helpers.function_checks import APART, STEPS, Case, case_of, differentiated, failures, lowered
from tests.helpers.function_points import CLEAR, DOMAINS
from tests.helpers.slopes import adjoint_of

NAMES = sorted({*LINES, *ROWS})
DIFFERENTIABLE = [name for name in NAMES if entry(name).derivative != "no" and name not in BY_HAND]
WITHOUT = [name for name in NAMES if entry(name).derivative == "no" and name not in BY_HAND]


def right_calls(name: str) -> list[Call]:
    return [call for call in calls(name) if call.title not in REFUSED]


def test_every_function_is_looked_at() -> None:
    """By its signatures, or where it is spelled out."""
    assert {*DIFFERENTIABLE, *WITHOUT, *BY_HAND} == set(TABLE)
    assert not [name for name in (*DIFFERENTIABLE, *WITHOUT) if not right_calls(name)]
    text = operator_cases.everything()
    assert not [name for name in BY_HAND if f"kb.{name}(" not in text]


def test_how_many_there_are() -> None:
    """For each of these there are up to three element types."""
    assert len(DIFFERENTIABLE) > 100
    assert sum(len(right_calls(name)) for name in DIFFERENTIABLE) > 400


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_adjoints_are_slopes(name: str, tmp_path: Path) -> None:
    wrong = [text for call in right_calls(name) for text in failures(tmp_path, case_of(call))]
    assert not wrong, "\n".join(wrong)


def test_exceptions_are_of_something() -> None:
    assert {*APART, *STEPS} <= set(DIFFERENTIABLE)
    assert {*DOMAINS, *CLEAR} <= {*DIFFERENTIABLE, *WITHOUT}


@pytest.mark.parametrize("name", WITHOUT)
def test_nothing_flows_back_where_there_is_no_derivative(name: str, tmp_path: Path) -> None:
    flows = [text for call in right_calls(name) for text in flowing(tmp_path, case_of(call))]
    assert not flows, "\n".join(flows)


@pytest.mark.parametrize("case", operator_cases.cases("without"), ids=lambda case: case.title)
def test_nothing_flows_back_where_there_is_no_derivative_by_hand(case: Case, tmp_path: Path) -> None:
    assert not flowing(tmp_path, case)


def flowing(folder: Path, case: Case) -> list[str]:
    """Arrays whose adjoint is another than the weights that it came with, or, where the kernel stores to them, than 0.

    At every element type, since there is nothing to round.
    """
    found = []
    for element in ["float64", *case.elements]:
        made = differentiated(folder, case, element)
        written = adjoint_of(made.kernel).written
        for name, one in made.found.items():
            wanted = np.zeros(one.shape) if name in written else made.weights[name]
            if not np.array_equal(one, wanted):
                found.append(f"{case.title}, {element}, {name}")
    return found


def test_what_is_refused_is_no_call(tmp_path: Path) -> None:
    """Nothing is left out that would compile."""
    left_out = [call for name in NAMES if name not in BY_HAND for call in calls(name) if call.title in REFUSED]
    assert len(left_out) == len(REFUSED)
    for call in left_out:
        with pytest.raises(CompileError):
            lowered(tmp_path, case_of(call), "float64")
    for name, limits in APART.items():
        for element in [element for element, limit in limits.items() if limit is None]:
            for call in right_calls(name):
                with pytest.raises(CompileError):
                    lowered(tmp_path, case_of(call), element)
