"""Audits of kernels in a text, in this process."""

from __future__ import annotations

from pathlib import Path

from kbuild.audit.captured import Captures
from kbuild.audit.findings import Finding, KernelAudit, Options
from kbuild.audit.judging import Judged, judge
from kbuild.audit.levels import Rules
from kbuild.errors import Report
from kbuild.pipeline.analyses import with_findings
from kbuild.scan.audit import audit_kernel
from kbuild.scan.units import lower
from tests.helpers import kernels


def audit(folder: Path, text: str, *checks: str, graph: bool = False) -> list[KernelAudit]:
    """The audits of the kernels in a text, by these checks."""
    path = kernels.write(folder, text)
    _, declared = kernels.load(path)
    found = kernels.find_all(declared)
    options = Options(checks, graph=graph)
    made = []
    for one in found:
        report = Report()
        lowered = lower(one, kernels.request(), report)
        assert lowered is not None, report.diagnostics
        made.append(audit_kernel(lowered, one.row, options))
    captures = Captures({path.stem: str(path)})
    return [
        with_findings(one, *captures.changing(one.kernel, one.functions)) if "source" in checks else one for one in made
    ]


def judged(folder: Path, text: str, *checks: str, rules: Rules | None = None) -> tuple[Judged, ...]:
    """What is said of the kernels in a text, suppressed or not."""
    return judge(audit(folder, text, *checks), (), rules or Rules(), checks)


def findings(folder: Path, text: str, *checks: str) -> list[Finding]:
    """What the checks find in a text, before anybody judges it."""
    return [found for one in audit(folder, text, *checks) for found in one.findings]
