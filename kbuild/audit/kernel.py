"""Every analysis of a kernel's IR, together.

    audit(kernel, Options(checks=("bounds", "source")))   →   KernelAudit

A check that no analysis is for has no result in the audit; reports say so.
"""

from __future__ import annotations

import time
from typing import Final

from kbuild.audit import source
from kbuild.audit.findings import KernelAudit, Options
from kbuild.audit.parts import Analysis
from kbuild.ir import nodes

ANALYSES: Final[dict[str, Analysis]] = {"source": source.analyse}


def audit(kernel: nodes.Kernel, options: Options) -> KernelAudit:
    """What the analyses say of a contracted kernel, for those of the checks that read IR."""
    started = time.perf_counter()
    parts = [analyse(kernel, options) for check, analyse in ANALYSES.items() if check in options.checks]
    return KernelAudit(
        kernel.name,
        kernel.function.span,
        options.block_dim,
        tuple(result for part in parts for result in part.checks),
        tuple(finding for part in parts for finding in part.findings),
        tuple(dict.fromkeys(text for part in parts for text in part.assumptions)),
        tuple(step for part in parts for step in part.reasoning),
        seconds=time.perf_counter() - started,
    )
