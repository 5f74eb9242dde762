"""Every analysis of a kernel's IR, together.

    audit(kernel, Options(checks=("bounds", "source")))   →   KernelAudit

A check that no analysis is for has no result in the audit; reports say so.
"""

from __future__ import annotations

import time
from typing import Final

from kbuild.audit import analysis, source
from kbuild.audit.findings import KernelAudit, Options
from kbuild.audit.graph import synchronization
from kbuild.audit.launches import ANY, Launch
from kbuild.audit.parts import Analysis
from kbuild.ir import nodes, stated
from kbuild.ir.traverse import callees

ANALYSES: Final[tuple[Analysis, ...]] = (analysis.analyse, source.analyse)


def audit(kernel: nodes.Kernel, options: Options, launch: Launch = ANY) -> KernelAudit:
    """What the analyses say of a contracted kernel, for those of the checks that read IR. Of the launch may be known
    more than the source says."""
    started = time.perf_counter()
    parts = [analyse(kernel, options, launch) for analyse in ANALYSES]
    declared = tuple(dict.fromkeys(one.said for one in stated.comparisons(kernel)))
    assumptions = dict.fromkeys(text for part in parts for text in part.assumptions)
    functions = [kernel.function, *callees(kernel.function)]
    return KernelAudit(
        kernel.name,
        kernel.function.span,
        options.block_dim,
        tuple(result for part in parts for result in part.checks),
        tuple(finding for part in parts for finding in part.findings),
        tuple(text for text in assumptions if text not in declared),
        tuple(step for part in parts for step in part.reasoning),
        tuple(one.span for one in functions if one.span is not None),
        synchronization(kernel) if options.graph else "",
        time.perf_counter() - started,
        declared,
    )
