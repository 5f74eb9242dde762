"""Random programs, through the front end and back, and what is nearly a program: the same IR, or a diagnostic.

`KBUILD_DEEP=50` looks fifty times as long.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.codes import CODES
from kbuild.errors import Diagnostic
from kbuild.ir import nodes
from kbuild.ir.traverse import callees, walk
from tests.helpers import changed_programs, kernels, random_programs, rich_programs, round_trip

DEEP = int(os.environ.get("KBUILD_DEEP", "1"))
TESTS = Path(__file__).parents[1]
SMALL = [path.read_text(encoding="utf-8") for path in sorted(TESTS.glob("*/golden/*.py"))]
seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=8 * DEEP)
@given(seeds)
def test_rich_programs_come_back(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = tmp_path_factory.mktemp("rich")
    for kernel in kernels.lower_text(folder, rich_programs.make(seed, 2), asserts=True):
        round_trip.check(kernel, folder)


@settings(max_examples=8 * DEEP)
@given(seeds, st.booleans())
def test_programs_with_a_reference_come_back(tmp_path_factory: pytest.TempPathFactory, seed: int, fmad: bool) -> None:
    folder = tmp_path_factory.mktemp("random")
    text = random_programs.HELPERS + "\n".join(program.text() for program in random_programs.make(seed, 2))
    for kernel in kernels.lower_text(folder, text, fmad=fmad):
        round_trip.check(kernel, folder)


def test_rich_programs_have_every_kind_of_node(tmp_path: Path) -> None:
    seen: set[type] = set()
    for seed in range(10):
        for kernel in kernels.lower_text(tmp_path, rich_programs.make(seed, 4), asserts=True):
            for function in [kernel.function, *callees(kernel.function)]:
                seen |= {type(node) for node in walk(function.body)}
    assert seen == {*nodes.EXPRESSIONS, *nodes.STATEMENTS} - {
        nodes.Native,
        nodes.Elsewhere,
    }  # no Python, and of clusters


@pytest.mark.parametrize("seed", range(2 * DEEP))
def test_changed_programs_are_refused_or_lowered_and_come_back(tmp_path: Path, seed: int) -> None:
    """Nothing but a diagnostic with a code and a place, or IR that is emitted and printed back."""
    source = random.Random(seed)
    found: Counter[str] = Counter()
    for number in range(60):
        text = source.choice(SMALL)
        if number % 6 == 0:
            text = "import kbuild as kb\n" + rich_programs.make(source.randrange(1000), 1)
        found.update(
            _outcome(tmp_path / f"changed_{seed}_{number}.py", changed_programs.changed(text, source), tmp_path)
        )
    assert found["lowered"] > 4
    assert len([code for code in found if code.startswith("KB")]) > 5


def _outcome(path: Path, text: str, folder: Path) -> list[str]:
    path.write_text(text, encoding="utf-8")
    try:
        declared = kernels.load(path)[1]
    except Exception:
        return ["refused by Python at import"]
    try:
        lowered, diagnostics = kernels.diagnose(declared, asserts=True)
        if lowered:
            kernels.emit_kernels(lowered)
        for kernel in lowered:
            round_trip.check(kernel, folder)
    except Exception as error:
        raise AssertionError(f"neither refused nor right:\n{text}") from error
    return [*("lowered" for _ in lowered), *map(_checked, diagnostics)]


def _checked(diagnostic: Diagnostic) -> str:
    assert diagnostic.code in CODES
    assert diagnostic.kernel
    assert diagnostic.render()
    return diagnostic.code
