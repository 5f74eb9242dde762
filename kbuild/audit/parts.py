"""What one analysis hands in about a kernel, and the shape of an analysis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kbuild.audit.findings import CheckResult, Finding, Options, Reasoning, Verdict
from kbuild.audit.launches import Launch
from kbuild.ir import nodes


@dataclass(frozen=True, slots=True)
class Part:
    """The results of some checks, with everything that belongs to them."""

    checks: tuple[CheckResult, ...]
    findings: tuple[Finding, ...] = ()
    assumptions: tuple[str, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()


Analysis: TypeAlias = Callable[[nodes.Kernel, Options, Launch], Part]


def looked_at(check: str, places: int, findings: tuple[Finding, ...]) -> CheckResult:
    """The result of a check that proves nothing: so many places were looked at, and so many of them are clean."""
    verdict: Verdict = "found" if findings else "proved"
    return CheckResult(check, verdict, places, places - min(places, len(findings)))
