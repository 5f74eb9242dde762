"""Suppressions: where they stand, what they cover, and what is told of those that are wrong or idle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kbuild.audit.findings import Finding, KernelAudit
from kbuild.audit.judging import Judged, judge
from kbuild.audit.levels import KernelRule, Rules
from kbuild.errors import Note, Span
from tests.helpers.audits import audit, judged

LOSING = """
{above_all}
@kb.kernel{on_decorator}
def kernel(d: kb.array(dtype=kb.float64), n: int):{on_def}
    x = 0.1{on_x}
    {above}
    d[n] = kb.float64(x){on_line}
"""
REASON = "the sensor gives no more digits"


def losing(**where: str) -> str:
    comments = dict.fromkeys(("on_decorator", "on_def", "on_x", "on_line"), "")
    comments |= {name: f"  # {text}" for name, text in where.items() if name.startswith("on_")}
    above = {name: f"# {where[name]}" if name in where else "pass" for name in ("above", "above_all")}
    return LOSING.format(**comments, **above)


def said(folder: Path, text: str) -> list[tuple[str, str]]:
    """(code, reason of its suppression) of what is said."""
    return [(one.finding.code, one.reason) for one in judged(folder, text, "source")]


@pytest.mark.parametrize("place", ["on_line", "above", "on_def", "on_decorator", "above_all"])
def test_where_one_may_stand(tmp_path: Path, place: str) -> None:
    assert said(tmp_path, losing(**{place: f"kbuild: ignore[KB413] {REASON}"})) == [("KB413", REASON)]


@pytest.mark.parametrize("text", [f"kbuild:ignore[kb413]: {REASON}", f"kbuild: ignore[KB410, KB413] — {REASON}"])
def test_how_one_may_be_written(tmp_path: Path, text: str) -> None:
    found = said(tmp_path, losing(on_line=text))
    assert ("KB413", REASON) in found
    assert [code for code, _ in found] == (["KB413", "KB430"] if "KB410" in text else ["KB413"])


@pytest.mark.parametrize(
    ("place", "text", "wanted"),
    [
        ("on_line", "kbuild: ignore[KB413]", "gives no reason, and so suppresses nothing"),
        ("on_line", "kbuild: ignore", "does not say which finding it is for"),
        ("on_line", "kbuild: ignore[] because", "does not say which finding it is for"),
        ("on_line", "kbuild: ignore[KB931] because", "'KB931' is no code of a finding"),
        ("on_line", "kbuild: ignore[KB430] because", "'KB430' is no code of a finding"),
        ("on_line", "kbuild: ignore[bounds] because", "'BOUNDS' is no code of a finding"),
        ("on_x", "kbuild: ignore[KB413] because", "this suppresses nothing: there is no KB413 here"),
        ("on_line", "kbuild: ignore[KB410] because", "this suppresses nothing: there is no KB410 here"),
    ],
)
def test_what_is_wrong_with_one(tmp_path: Path, place: str, text: str, wanted: str) -> None:
    found = judged(tmp_path, losing(**{place: text}), "source")
    by_code = {one.finding.code: one for one in found}
    assert set(by_code) == {"KB413", "KB430"}
    assert not by_code["KB413"].is_suppressed
    complaint = by_code["KB430"].finding
    assert wanted in complaint.message
    assert complaint.help
    assert complaint.span is not None
    shown = by_code["KB430"].diagnostic().render()
    assert "^" * 5 in shown
    assert f"# {text}" in shown


def test_a_comment_of_somebody_else_is_none(tmp_path: Path) -> None:
    assert said(tmp_path, losing(on_line="noqa: the kbuild way")) == [("KB413", "")]


def test_one_for_a_check_that_was_not_asked_for_is_not_idle(tmp_path: Path) -> None:
    text = losing(on_line="kbuild: ignore[KB402] ordered by the launch", on_x="kbuild: ignore[KB413] so be it")
    assert [one.finding.code for one in judged(tmp_path, text, "source")] == ["KB430", "KB413"]
    both = judged(tmp_path, text, "source", "shared-races")
    assert [one.finding.code for one in both].count("KB430") == 2


def test_a_kernels_own_covers_the_functions_that_it_calls_and_no_other_kernel(tmp_path: Path) -> None:
    text = """
    @kb.func
    def widened():
        x = 0.1
        return kb.float64(x)

    @kb.kernel  # kbuild: ignore[KB413] known
    def one(d: kb.array(dtype=kb.float64), n: int):
        d[n] = widened()

    @kb.kernel
    def two(d: kb.array(dtype=kb.float64), n: int):
        d[n] = widened()
    """
    found = judged(tmp_path, text, "source")
    assert [(one.kernels[0].partition(":")[2], one.reason) for one in found] == [("one", "known"), ("two", "")]


def test_several_above_one_line(tmp_path: Path) -> None:
    text = losing(above=f"kbuild: ignore[KB413] {REASON}\n    # kbuild: ignore[KB410] nor this")
    assert said(tmp_path, text) == [("KB430", ""), ("KB413", REASON)]


def test_the_second_line_of_a_race_counts_too(tmp_path: Path) -> None:
    (made,) = audit(tmp_path, losing(on_x="kbuild: ignore[KB403] one thread only"), "source")
    assert made.span is not None
    at = Span(made.span.path, made.span.line + 3)
    note = Note("the other access", Span(made.span.path, made.span.line + 1))
    race = Finding("KB403", "global-races", "found", "a race", at, made.kernel, notes=(note,))
    (found,) = judge([replace(made, findings=(race,))], (), Rules(), ("global-races",))
    assert (found.reason, found.by) == ("one thread only", "source")


# Levels


def made_up(**fields: object) -> Finding:
    usual = {"code": "KB405", "check": "banks", "verdict": "found", "message": "a conflict", "span": Span("/p/k.py", 3)}
    return Finding(**{**usual, "kernel": "m:k[1a2b3c4d]", **fields})  # type: ignore[arg-type]


def judged_by(rules: Rules, *findings: Finding) -> tuple[Judged, ...]:
    audits = [KernelAudit("m:k[1a2b3c4d]", None, 256, (), findings)]
    return judge(audits, (), rules, ("banks",))


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (Rules(), "warning"),
        (Rules((("banks", "error"),)), "error"),
        (Rules((("KB405", "note"), ("banks", "error"))), "note"),
        (Rules((("coalescing", "error"),)), "warning"),
        (Rules(kernels=(KernelRule(("m:k",), (("banks", "note"),), "measured"),)), "note"),
        (Rules(kernels=(KernelRule(("m:*",), (("banks", "note"),), "measured"),)), "note"),
        (Rules(kernels=(KernelRule(("m:k[1a2b3c4d]",), (("banks", "note"),), "measured"),)), "note"),
        (Rules(kernels=(KernelRule(("m:other",), (("banks", "note"),), "measured"),)), "warning"),
    ],
)
def test_levels(rules: Rules, expected: str) -> None:
    (one,) = judged_by(rules, made_up())
    assert (one.level, one.is_suppressed) == (expected, False)


def test_off_is_off_and_with_a_reason_it_is_shown() -> None:
    assert judged_by(Rules((("banks", "off"),)), made_up()) == ()
    (one,) = judged_by(Rules(kernels=(KernelRule(("m:k",), (("KB405", "off"),), "measured"),)), made_up())
    assert (one.level, one.by, one.reason) == ("warning", "configuration", "measured")
    assert "note: suppressed in the configuration: measured" in one.diagnostic().render()


def test_what_is_not_known() -> None:
    open_one = made_up(verdict="unknown", reason="depends on contents of idx")
    (one,) = judged_by(Rules((("banks", "error"),)), open_one)
    assert one.level == "note"
    assert "note: don't know: a conflict: depends on contents of idx [KB405]" in one.diagnostic().render()
    assert judged_by(Rules(unknown="error"), open_one)[0].level == "error"
    assert judged_by(Rules((("banks", "off"),), unknown="error"), open_one) == ()
    assert judged_by(Rules(unknown="off"), open_one) == ()


def test_checks_that_cannot_say_anything_are_not_run() -> None:
    checks = ("banks", "source", "coalescing")
    assert Rules((("banks", "off"), ("KB406", "off"))).wanted(checks) == ("source", "coalescing")
    assert Rules((("coalescing", "off"),)).wanted(checks) == ("banks", "source")
    rule = KernelRule(("m:k",), (("banks", "error"),), "here it matters")
    assert Rules((("banks", "off"),), (rule,)).wanted(checks) == checks


def test_the_same_in_several_instances_is_told_once() -> None:
    findings = [made_up(), made_up(kernel="m:k[99999999]"), made_up(message="another")]
    judged = judged_by(Rules(), *findings)
    assert sorted(one.kernels for one in judged) == [("m:k[1a2b3c4d]",), ("m:k[1a2b3c4d]", "m:k[99999999]")]
    (shown,) = [one.diagnostic().render() for one in judged if len(one.kernels) == 2]
    assert "note: it is the same in m:k[99999999]" in shown
