"""The score of audits whose answers are known."""

from __future__ import annotations

import json
from collections.abc import Callable

from kbuild.audit.findings import CHECKS, CheckResult, Example, Finding, KernelAudit, Verdict
from kbuild.errors import Span
from kbuild.ir.nodes import Kernel
from tests.audit import on_sim
from tests.audit.cases import Case, Reading, cases
from tests.audit.mutations import judged
from tests.audit.score import Known, known, score, score_mutants, table

CASES = cases()
SOME = [one for one in CASES.values() if one.module in ("shared_races", "banks", "repeats", "overflow", "orders")]
OF_KERNEL = {id(one.ir): one for one in SOME}
Says = Callable[[Case, str, Reading], Verdict]


def auditing(says: Says, shift: int = 0, figure: float = 0.0, code: str = "") -> Callable[[Kernel, Known], KernelAudit]:
    """An audit that knows the labels. Its findings are `shift` lines too low, its figures too large by `figure`; they
    have this `code`, or else the label's."""

    def audit(kernel: Kernel, told: Known) -> KernelAudit:
        case = OF_KERNEL[id(kernel)]
        reading: Reading = "symbolic" if told.dim is None else "launch"
        verdicts = {check: says(case, check, reading) for check in CHECKS}
        findings = [
            Finding(
                code or mark.code or "KB405",
                mark.check,
                "found",
                "something",
                Span("", mark.line + shift),
                case.name,
                figures=figures,
            )
            for mark in case.marks
            if verdicts[mark.check] == mark.verdict == "found"
            for figures in [tuple(("degree", one + figure) for one in mark.figure)]
        ]
        results = tuple(CheckResult(check, verdict, 1, int(verdict == "proved")) for check, verdict in verdicts.items())
        return KernelAudit(case.name, None, told.block_dim, results, tuple(findings))

    return audit


def right(case: Case, check: str, reading: Reading) -> Verdict:
    return case.expected(check, reading) or ("found" if case.lines(check) else "unknown")


def test_who_is_right_has_all_of_it() -> None:
    found = score(auditing(right), SOME)
    assert found.misses == []
    assert found.rates() == {"found": 1.0, "false alarms": 0.0, "don't know": 0.0}
    assert found.rates("symbolic")["found"] == 1.0
    assert found.figures > 20
    assert found.wrong_figures == []
    assert "launch: found 100.0% of the bad cases, a false alarm on 0.0% of the good ones" in table(found)
    assert json.loads(json.dumps(found.to_json()))["cases"] == len({one.case for one in found.answers})


def test_who_proves_everything_misses_everything() -> None:
    found = score(auditing(lambda case, check, reading: "proved"), SOME, ["launch"])
    assert found.rates() == {"found": 0.0, "false alarms": 0.0, "don't know": 0.0}
    assert {one.outcome for one in found.misses} == {"missed", "overclaimed"}
    assert {one.expected for one in found.misses if one.outcome == "overclaimed"} == {"unknown"}


def test_who_never_knows() -> None:
    found = score(auditing(lambda case, check, reading: "unknown"), SOME, ["launch"])
    assert found.rates() == {"found": 0.0, "false alarms": 0.0, "don't know": 1.0}
    assert all(one.expected != "unknown" for one in found.misses)


def test_a_finding_elsewhere_is_none() -> None:
    found = score(auditing(right, shift=1000), SOME, ["launch"])
    assert found.rates()["found"] == 0.0
    assert {one.outcome for one in found.misses} == {"elsewhere"}
    assert "line 10" in found.misses[0].text


def test_a_finding_of_another_code_is_none() -> None:
    found = score(auditing(right, code="KB406"), SOME, ["launch"])
    wrong = {one.case for one in found.misses}
    assert wrong == {case.name for case in SOME if any(mark.code for mark in case.marks)} != set()


def test_figures_are_compared() -> None:
    found = score(auditing(right, figure=1.0), SOME, ["launch"])
    assert len(found.wrong_figures) == found.figures > 20


def test_alarms_on_good_ones() -> None:
    def audit(kernel: Kernel, told: Known) -> KernelAudit:
        finding = Finding("KB400", "bounds", "found", "a mistake", Span("", 1), kernel.name)
        return KernelAudit(kernel.name, None, 64, (), (finding,))

    found = score(audit, [CASES["reversed_good"]], ["launch"])
    assert found.rates()["false alarms"] == 1.0
    assert {one.check: one.outcome for one in found.answers}["bounds"] == "false alarm"
    assert "false alarm bounds         reversed_good: expected proved; line 1: a mistake" in table(found)


def test_what_is_known() -> None:
    case = CASES["gather_good"]
    told = known(case)
    assert (told.block, told.grid, told.dim) == ((8, 1, 1), (1, 1, 1), (8,))
    assert told.shapes == {"index": (8,), "data": (8,), "out": (8,)}
    assert told.contents == {"index": [3, 1, 0, 2, 7, 8, -5, 4]}
    assert known(case, "symbolic") == Known((256, 1, 1))
    assert known(CASES["reversed_good"], "symbolic").block_dim == 64


def test_examples_are_replayed() -> None:
    case = CASES["count_given_bad"]
    (line,) = case.lines("bounds")

    def audit(dim: int) -> Callable[[Kernel, Known], KernelAudit]:
        example = Example((dim,), 32, (("data", (10,)),), (("n", 10),))
        finding = Finding("KB400", "bounds", "found", "", Span("", line), case.name, example=example)
        return lambda kernel, told: KernelAudit(case.name, None, 32, (), (finding,))

    found = score(audit(11), [case], ["launch"])
    assert (found.replayed, found.not_shown) == (1, [])
    found = score(audit(10), [case], ["launch"])
    assert found.not_shown == [f"count_given_bad, line {line}, bounds: None"]


def test_an_example_may_say_what_arrays_hold() -> None:
    kernel = CASES["gather_open"].ir
    shapes = (("index", (4,)), ("data", (4,)), ("out", (4,)))
    inside = tuple(("index", (i,), 0) for i in range(3))
    assert on_sim.replayed(kernel, Example((4,), 4, shapes, (), (*inside, ("index", (3,), 3))), "bounds") is None
    shown = on_sim.replayed(kernel, Example((4,), 4, shapes, (), (*inside, ("index", (3,), 4))), "bounds")
    assert shown is not None
    assert shown.check == "bounds"
    shown = on_sim.replayed(kernel, Example((4,), 4, shapes, (), (("index", (4,), 0),)), "bounds")
    assert shown is not None
    assert shown.text == "index has no element (4,)"


def test_mutants_must_turn() -> None:
    found = list(judged(CASES["tree_good"]))
    turns = sum(one.judgement == "faulty" for one in found)
    same = sum(one.judgement == "equivalent" for one in found)

    def audit(verdict: Verdict) -> Callable[[Kernel, Known], KernelAudit]:
        results = tuple(CheckResult(check, verdict, 1, 0) for check in CHECKS)
        return lambda kernel, told: KernelAudit(kernel.name, None, told.block_dim, results, ())

    assert score_mutants(audit("unknown"), found) == {"counts": {"don't know": turns + same}, "wrong": []}
    blind = score_mutants(audit("proved"), found)
    assert blind["counts"]["not turned"] == turns == len(blind["wrong"])
