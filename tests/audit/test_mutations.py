"""Mutants of good kernels: each lacks one thing, is a kernel still, and is judged."""

from __future__ import annotations

from collections import Counter

import pytest

from kbuild.audit.findings import SAFETY
from kbuild.intrinsics.table import has_effects
from kbuild.ir.same import difference
from kbuild.ir.verify import verify
from tests.audit.cases import Case, cases
from tests.audit.mutations import Judged, judged, mutants

CASES = cases()
GOOD = [one for one in CASES.values() if one.kind == "good"]
SAMPLE = GOOD[::6]


def by_kind(name: str, kind: str) -> list[Judged]:
    return [one for one in judged(CASES[name]) if one.mutant.kind == kind]


def test_every_mutant_is_another_kernel() -> None:
    counts: Counter[str] = Counter()
    for case in GOOD:
        for mutant in mutants(case):
            verify(mutant.kernel, has_effects)
            assert difference(mutant.kernel, case.ir) is not None, mutant.name
            counts[mutant.kind] += 1
    assert counts["barrier"] > 80
    assert counts["guard"] > 400
    assert counts["atomic"] > 20


@pytest.mark.parametrize("case", [pytest.param(one, id=one.name) for one in SAMPLE])
def test_judgements(case: Case) -> None:
    for one in judged(case):
        assert (one.shown is None) == (one.judgement == "equivalent"), one.mutant.name
        if one.judgement == "faulty":
            assert one.shown is not None
            assert one.shown.check in SAFETY, one
            assert one.at.launch.block == one.mutant.case.launch.block


def test_each_barrier_of_a_tree_counts() -> None:
    found = by_kind("tree_good", "barrier")
    assert [one.judgement for one in found] == ["faulty", "faulty"]
    assert all(one.shown is not None and one.shown.check == "shared-races" for one in found)


def test_a_function_that_is_called_is_searched_too() -> None:
    found = by_kind("sums_in_a_loop_good", "barrier")
    assert [one.judgement for one in found] == ["faulty", "faulty"]


def test_conditions_of_a_guard_one_by_one() -> None:
    found = by_kind("left_neighbour_good", "guard")
    assert [one.mutant.what for one in found] == [
        "its guard",
        "condition 1 of its guard",
        "condition 2 of its guard",
        "condition 3 of its guard",
    ]
    assert all(one.judgement == "faulty" for one in found), found


def test_early_returns_and_alternatives_are_guards() -> None:
    assert [one.judgement for one in by_kind("leaves_early_good", "guard")] == ["faulty"]
    assert "its `if … else`" in {one.mutant.what for one in by_kind("tree_good", "guard")}


def test_atomics_become_a_load_and_a_store() -> None:
    assert [one.judgement for one in by_kind("largest_good", "atomic")] == ["faulty"]
    assert [one.judgement for one in by_kind("added_up_good", "atomic")] == ["equivalent"]  # an element of one's own


def test_equal_values_are_open() -> None:
    found = {one.mutant.line: one.judgement for one in by_kind("halo_stored_good", "guard")}
    assert "open" in found.values()  # all threads store a zero where one did
