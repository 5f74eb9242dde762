"""The object of `--json` against its schema, and what people read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbuild.audit import report
from kbuild.audit.examples import in_words
from kbuild.audit.findings import CheckResult, Finding, KernelAudit
from kbuild.audit.judging import Judged, judge
from kbuild.audit.levels import Rules
from kbuild.audit.machine import changes
from kbuild.audit.sass import Access
from kbuild.pipeline.auditing import AuditResult
from tests.audit.test_machine import GOOD
from tests.audit.test_plain import AUDIT, EXAMPLE, FINDING, SPAN

SCHEMA = Path(__file__).parents[2] / "docs" / "audit.schema.json"

OPEN = Finding("KB401", "bounds", "unknown", "an access of 'a'", SPAN, "m:k", "a", "depends on contents of idx")
CHECKS = (
    CheckResult("bounds", "unknown", 7, 6),
    CheckResult("shared-races", "proved", 137, 137),
    CheckResult("global-races", "found", 3, 2),
    CheckResult("barriers", "proved", 0, 0),
    CheckResult("banks", "found", 4, 3),
    CheckResult("source", "proved", 5, 5),
)
KERNEL = replace(AUDIT, checks=CHECKS, findings=(FINDING, OPEN), declared=("n > 0",))
ASKED = ("bounds", "overflow", "shared-races", "global-races", "barriers", "banks", "source", "machine-code")


@pytest.fixture
def result() -> AuditResult:
    judged = judge([KERNEL], (), Rules(), ASKED)
    hidden = Judged(
        replace(FINDING, code="KB405", check="banks", example=None), "warning", "measured", "source", ("m:k",)
    )
    slower = replace(GOOD, registers=40)
    return AuditResult(
        (KERNEL,), (*judged, hidden), ASKED, ("sm_90",), (slower, replace(GOOD, target="sm_61", accesses=None)),
        changes([slower], [GOOD]), "the last build", ("m:in_cuda",), ("m.old: has no kernels",), 1.25,
    )  # fmt: skip


def validate(value: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(value, schema)


def test_the_object(result: AuditResult) -> None:
    found = json.loads(json.dumps(report.to_json(result)))
    validate(found)
    promised = {"code", "kind", "verdict", "kernel", "path", "line", "message", "example"}
    assert all(promised <= row.keys() for row in found["findings"])
    assert [(row["code"], row["verdict"]) for row in found["findings"]] == [
        ("KB401", "unknown"), ("KB403", "found"), ("KB405", "found"), (None, "proved"), (None, "proved"),
    ]  # fmt: skip
    assert [(row["declared"], row["assumptions"]) for row in found["kernels"]] == [(["n > 0"], list(AUDIT.assumptions))]
    proved = found["findings"][3]
    assert (proved["kind"], proved["message"], proved["line"]) == ("shared-races", "proved 137/137", 3)
    race = found["findings"][1]
    assert race["example"]["threads"][0]["values"] == [["i", 287]]
    assert found["findings"][2]["suppressed"] == {"by": "source", "reason": "measured"}
    assert found["machine_code"][1]["accesses"] is None
    assert found["changes"] == [
        {"kernel": "m:k", "target": "sm_90", "figure": "registers", "before": 32, "after": 40}
    ]  # fmt: skip


def test_an_empty_object() -> None:
    found = report.to_json(AuditResult((), (), (), ()))
    validate(found)
    assert found["findings"] == []


def test_the_table(result: AuditResult) -> None:
    headers, rows = report.summary(result)
    assert headers == ["kernel", "bounds", "shared-races", "global-races", "barriers", "banks", "source"]
    assert rows == [
        ["m:k", "don't know, proved 6/7", "proved 137/137", "found, proved 2/3", "nothing to prove", "found 1",
         "nothing found"],
        ["m:in_cuda", *["in CUDA C++"] * 6],
    ]  # fmt: skip
    assert report.not_analysed(result) == ["overflow"]


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (None, "not analysed"),
        (CheckResult("bounds", "found", 2, 0), "found, proved 0/2"),
        (CheckResult("source", "proved", 0, 0), "nothing to look at"),
        (CheckResult("banks", "unknown", 4, 3), "don't know 1/4"),
    ],
)
def test_cells(check: CheckResult | None, words: str) -> None:
    assert report.in_words(check) == words


def test_machine_code_in_words(result: AuditResult) -> None:
    rows = report.machine_rows(result.machines)
    assert rows[0][-1] == "ld 4×3, st 4×1"
    assert rows[1][-1] == "not decoded"
    assert len(rows[0]) == len(report.MACHINE_HEADERS)
    assert report.change_lines(result.changes) == ["m:k on sm_90: 32 → 40 registers"]


def test_memory_instructions_in_words() -> None:
    kinds = (("global", "load", 4, "readonly"), ("global", "load", 16, ""), ("global", "store", 8, "streaming"),
             ("generic", "load", 4, ""), ("local", "store", 4, ""), ("shared", "load", 16, ""))  # fmt: skip
    machine = replace(GOOD, accesses=tuple((Access(*one), n) for n, one in enumerate(kinds, 1)))
    (row,) = report.machine_rows([machine])
    assert row[-1] == "ld 4×1 readonly 16×2, st 8×3 streaming, generic ld 4×4, shared ld 16×6"
    found = report.to_json(AuditResult((), (), (), (), (machine,)))
    validate(found)
    rows = found["machine_code"][0]["accesses"]
    assert [tuple(one.values()) for one in rows] == [(*one, n) for n, one in enumerate(kinds, 1)]
    assert list(rows[0]) == ["memory", "what", "bytes", "modifier", "count"]


def test_the_last_line(result: AuditResult) -> None:
    line = report.closing(result)
    assert (
        line
        == "1 error, 1 not known, 1 suppressed; proved 145/147 (on what that counts: --verbose); 2 kernels in 1.2 s"
    )
    assert report.closing(AuditResult((), (), (), ())) == "no findings; nothing was to be proved; 0 kernels in 0.0 s"


def test_what_verbose_shows() -> None:
    declaring = replace(AUDIT, declared=("dim == a.shape[0] (launch_dim)",))
    assert report.reasoning_lines(declaring) == [
        "m:k, in blocks of 256 threads",
        "  declares: dim == a.shape[0] (launch_dim)",
        "  counts on: arrays do not overlap",
        "  line 3: bounds: is i below a.shape[0]: proved, by interval",
        "      0 <= i < n",
    ]


def test_an_example_in_words(result: AuditResult) -> None:
    shown = next(one for one in result.judged if one.finding.example is not None).diagnostic().render()
    launch = "a launch of dim 300 in blocks of 256, a.shape (3, 4), n = 3, x = 0.5, on = True, idx[3] = 4"
    assert f"note: found, with an example: {launch}\n" in shown
    assert "note: found, with an example: thread 31 of block 1, tid 287: i = 287\n" in shown
    assert "note: found, with an example: thread 0 of block (1, 2, 0)\n" in shown


def test_a_launch_in_whole_blocks_in_words() -> None:
    launch = "a launch of 4 blocks of 8×8×1 threads, a.shape (3, 4), n = 3, x = 0.5, on = True, idx[3] = 4"
    assert in_words(replace(EXAMPLE, grid=(4, 1, 1), block=(8, 8, 1)))[0] == launch


def test_an_audit_without_any_check() -> None:
    result = AuditResult((KernelAudit("m:k", None, 256, (), ()),), (), ("bounds",), ())
    assert report.summary(result) == (["kernel"], [["m:k"]])
    assert report.not_analysed(result) == ["bounds"]
