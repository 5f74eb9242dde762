"""Findings go through JSON and come out the same."""

from __future__ import annotations

import dataclasses
import json

from kbuild.audit.findings import CheckResult, Example, Finding, KernelAudit, Options, Reasoning, Thread
from kbuild.audit.plain import decode
from kbuild.errors import Note, Span

SPAN = Span("/p/k.py", 3, 5, 3, 9)
THREADS = (
    Thread((1, 0, 0), (31, 0, 0), (287,), (("i", 287),)),
    Thread((1, 2, 0), (0, 0, 0), (), ()),
)
EXAMPLE = Example((300,), 256, (("a", (3, 4)),), (("n", 3), ("x", 0.5), ("on", True)), (("idx", (3,), 4),), THREADS)
FINDING = Finding(
    "KB403", "global-races", "found", "a race on 'a'", SPAN, "m:k", "a", help="use atomics",
    notes=(Note("the other access", Span("/p/k.py", 4, 5)), Note("no place")), example=EXAMPLE,
    figures=(("degree", 8.0),), target="sm_90",
)  # fmt: skip
AUDIT = KernelAudit(
    "m:k", SPAN, 256, (CheckResult("bounds", "proved", 7, 7),), (FINDING,), ("arrays do not overlap",),
    (Reasoning("bounds", SPAN, "is i below a.shape[0]", "proved", "interval", ("0 <= i < n",)),), (SPAN,), "digraph {}",
)  # fmt: skip


def test_an_audit() -> None:
    text = json.dumps(dataclasses.asdict(AUDIT))
    assert decode(KernelAudit, json.loads(text)) == AUDIT
    assert decode(KernelAudit, json.loads(text)).findings[0].example == EXAMPLE


def test_options() -> None:
    options = Options(("bounds", "source"), 128, (16, 8, 1), 0.5, True, True)
    assert decode(Options, json.loads(json.dumps(dataclasses.asdict(options)))) == options
