"""The labels of the cases, held against the simulator: it must show what is bad, where it is said to be, and nothing of
what is good; and its profile must have the figures."""

from __future__ import annotations

import pytest

from kbuild.audit.findings import CHECKS, SAFETY
from kbuild.sim.profile.counts import Line
from tests.audit import on_sim
from tests.audit.cases import MODULES, Case, cases, pairs

CASES = cases()
# A profile has figures of each instruction; the audit counts parts of an element together, which `narrow` is about.
WITH_FIGURES = [
    one
    for one in CASES.values()
    if one.about in ("banks", "coalescing") and one.kind != "open" and one.module != "narrow"
]
# Cases that use what an atomic gives back: run in turn, that is a conflict, since the order of threads shows.
ORDER_SHOWS = {
    "atomics_and_a_read_good",
    "places_handed_out_good",
    "levels_good",
    "queue_of_a_block_good",
    "tasks_told_to_all_good",
    "handed_over_good",
    "waited_for_good",
    "locked_by_block_good",
    "last_one_adds_good",
    "place_from_a_counter_good",
    "chained_sums_good",
    "taken_once_good",
    "only_by_atomics_good",
    "next_of_a_worklist_good",
    "contacts_kept_good",
    "contacts_kept_bad",
}
# Lanes that have ended keep no others waiting: run in turn, those that do not come have. In lockstep they have not.
ENDED_LANES = {"half_a_warp_bad", "half_a_warp_bad_mask"}
MOST = 4  # sectors of a request that are no finding, however few would do


def named(found: list[Case]) -> list[object]:
    return [pytest.param(one, id=one.name) for one in found]


def test_there_are_enough_in_pairs() -> None:
    assert len(CASES) >= 150
    assert {one.about for one in CASES.values()} == set(CHECKS) - {"machine-code"}
    assert {one.module for one in CASES.values()} == set(MODULES)
    for pair, found in pairs().items():
        kinds = {one.kind for one in found}
        assert kinds == {"open"} or ("good" in kinds and len(kinds) > 1), pair
        for one in found:
            assert one.pair == pair
            assert bool(one.lines(one.about)) == (one.kind == "bad"), one.name
            assert not (one.kind == "good" and any(mark.verdict == "found" for mark in one.marks)), one.name
            assert not (one.unseen and one.kind != "bad"), one.name


def test_labels_of_both_readings() -> None:
    case = CASES["count_given_bad"]
    assert case.expected("bounds") == "found"
    assert case.expected("bounds", "symbolic") == "unknown"
    assert case.expected("global-races") is None  # of a bad case nothing else is said
    assert CASES["count_given_good"].expected("global-races") == "proved"
    assert CASES["count_given_good"].expected("coalescing") is None
    assert CASES["flag_set_open"].expected("global-races") is None
    assert CASES["message_open"].expected("global-races") == "unknown"
    assert CASES["inside_a_function_bad"].lines("bounds")
    assert CASES["lane_number_bad"].marks[0].figure == (8.0,)
    assert CASES["rows_bad"].marks[0].figure == (32.0, 4.0)
    assert CASES["product_good"].launch.block == (8, 8, 1)
    assert CASES["product_good"].shapes == {"a": (16, 24), "b": (24, 16), "out": (16, 16)}
    assert CASES["flat_plane_good"].scalars == {"rows": 8, "columns": 12}


@pytest.mark.parametrize("case", named([one for one in CASES.values() if one.kind == "good"]))
def test_a_good_case_runs_clean(case: Case) -> None:
    assert on_sim.shown(case.ir, case.launch, case.arguments()) is None
    in_turn = on_sim.shown_in_turn(case.ir, case.launch, case.arguments())
    if case.name in ORDER_SHOWS:
        assert in_turn is not None
        assert in_turn.check == "races"
    else:
        assert in_turn is None


@pytest.mark.parametrize("case", named([one for one in CASES.values() if one.kind == "bad" and not one.unseen]))
def test_a_bad_case_shows_its_fault(case: Case) -> None:
    shown = on_sim.shown(case.ir, case.launch, case.arguments())
    if case.about not in SAFETY:
        assert shown is None  # it costs, and does nothing wrong
        return
    assert shown is not None
    assert set(shown.lines) & set(case.lines(shown.check)), shown
    if case.about == "overflow":
        return  # its results are defined, and in turn nobody watches for it
    in_turn = on_sim.shown_in_turn(case.ir, case.launch, case.arguments())
    if case.name in ENDED_LANES:
        assert in_turn is None
        return
    assert in_turn is not None
    # A barrier that is missing may show as memory that nobody has stored to yet.
    in_turn_shows = {"races", "initialization"} if "races" in case.about else {case.about}
    assert in_turn.check in (in_turn_shows | {"races"} if case.name in ORDER_SHOWS else in_turn_shows)


@pytest.mark.parametrize("case", named([one for one in CASES.values() if one.unseen]))
def test_what_is_unseen_is(case: Case) -> None:
    """The day the simulator shows it, the label may say so."""
    assert on_sim.shown(case.ir, case.launch, case.arguments()) is None


@pytest.mark.parametrize("case", named([one for one in CASES.values() if one.kind == "open"]))
def test_an_open_case_ends(case: Case) -> None:
    shown = on_sim.shown(case.ir, case.launch, case.arguments())
    assert shown is None or shown.check == case.about


@pytest.mark.parametrize("case", named(WITH_FIGURES))
def test_figures_are_those_of_the_profile(case: Case) -> None:
    lines = on_sim.profiled(case.ir, case.launch, case.arguments()).lines
    measured = _degree if case.about == "banks" else _sectors
    found = {line.line: figure for line in lines if (figure := measured(line)) is not None}
    marks = [mark for mark in case.marks if mark.check == case.about and mark.verdict == "found"]
    marked = {mark.line: mark.figure for mark in marks if mark.code != "KB407"}  # a load costs what it did before
    assert found.keys() == marked.keys()
    for line, figure in marked.items():
        assert not figure or figure == found[line], f"line {line}"


def _degree(line: Line) -> tuple[float, ...] | None:
    """Of the conflicts of a line; None without any."""
    found = line.accesses("shared")
    return (found.wavefronts / (found.wavefronts - found.conflicts),) if found.conflicts else None


def _sectors(line: Line) -> tuple[float, ...] | None:
    """Of the worst access of a line, and how many would do; None where it is well."""
    accesses = [one for (space, _), one in line.memory.items() if space == "global"]
    figures = [(one.sectors / one.requests, one.ideal / one.requests) for one in accesses]
    return max((one for one in figures if one[0] >= 2 * one[1] and one[0] > MOST), default=None)


@pytest.mark.parametrize(
    "case", named([one for one in CASES.values() if one.about == "divergence" and one.kind != "open"])
)
def test_warps_part_where_they_are_said_to(case: Case) -> None:
    lines = on_sim.profiled(case.ir, case.launch, case.arguments()).lines
    parting = [line.line for line in lines if line.partial]
    marked = case.lines("divergence")
    assert bool(parting) == bool(marked)
    # A loop's own tests are in part; of a branch, what lies in it.
    assert not marked or min(parting) in {line + below for line in marked for below in (0, 1)}
