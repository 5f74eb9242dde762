"""Hundreds of places that are not known are one note; few are shown each, and so is what a project wants to see."""

from __future__ import annotations

from collections.abc import Sequence

from kbuild.audit.findings import Finding, Verdict
from kbuild.audit.folding import MOST_LISTED, MOST_SINGLE, folded
from kbuild.audit.judging import Judged
from kbuild.errors import Span


def open_ones(count: int, kernel: str = "m:k", verdict: Verdict = "unknown", level: str = "note") -> list[Judged]:
    return [
        Judged(
            Finding("KB401", "bounds", verdict, "reads", Span("m.py", 10 + i), kernel, reason=f"contents of a{i % 2}"),
            level,
        )
        for i in range(count)
    ]


def texts(judged: Sequence[Judged]) -> list[str]:
    return [one.message for one in folded(judged)]


def test_few_are_shown_each() -> None:
    assert len(texts(open_ones(MOST_SINGLE))) == MOST_SINGLE


def test_many_are_one() -> None:
    (one,) = folded(open_ones(20))
    assert one.message == "don't know in 20 places of m:k whether an element is there"
    assert (one.code, one.severity, one.span) == ("KB401", "note", Span("m.py", 10))
    assert [note.message for note in one.notes] == [
        "contents of a0 (10)",
        "contents of a1 (10)",
        f"the lines are 10, 11, 12, 13, 14, 15, 16, 17 and {20 - MOST_LISTED} more",
    ]
    assert one.help == "`--verbose` shows each"


def test_each_kernel_has_its_own() -> None:
    assert len(texts([*open_ones(5), *open_ones(5, "m:other")])) == 2


def test_what_was_found_and_what_a_project_wants_to_see_is_never_folded() -> None:
    assert len(texts(open_ones(9, verdict="found", level="error"))) == 9
    assert len(texts(open_ones(9, level="warning"))) == 9
    suppressed = [Judged(one.finding, "note", "known", "source") for one in open_ones(9)]
    assert len(texts(suppressed)) == 9
