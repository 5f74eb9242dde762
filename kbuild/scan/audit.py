"""Kernels audited where their IR is: what each analysis says, as plain data.

An adjoint is not audited: it is made from its kernel by rules that are tested. Kernels in CUDA C++ have no IR; of them
there is the machine code alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kbuild.audit import kernel as analyses
from kbuild.audit.findings import KernelAudit, Options
from kbuild.audit.plain import decode
from kbuild.errors import Report
from kbuild.ir import nodes
from kbuild.loader.cuda_files import CudaKernel
from kbuild.scan.data import Request, ScannedKernel
from kbuild.scan.replaying import replayed
from kbuild.scan.units import Found, lower


def options_of(data: dict[str, Any]) -> Options:
    """Options that went through JSON."""
    return decode(Options, data)


def audit_kernels(
    found: Sequence[Found], names: Sequence[str], request: Request, options: Options
) -> list[KernelAudit]:
    """The audits of kernels by name. One that cannot be lowered has none: `check` says what is wrong with it."""
    wanted = set(names)
    audits = []
    for one in found:
        if one.row.name in wanted and not isinstance(one.kernel, CudaKernel):
            lowered = lower(one, request, Report())
            if lowered is not None:
                audits.append(audit_kernel(lowered, one.row, options))
    return audits


def audit_kernel(kernel: nodes.Kernel, row: ScannedKernel, options: Options) -> KernelAudit:
    """One kernel, at the block size that it says, else at the nominal one."""
    block = (row.block_dim, 1, 1) if row.is_block_dim_chosen else None
    block_dim = row.block_dim if block else options.block_dim
    made = analyses.audit(kernel, replace(options, block_dim=block_dim, block=block))
    findings = tuple(replace(one, kernel=row.name) for one in made.findings)
    if options.replays:
        findings = replayed(kernel, findings)
    return replace(made, kernel=row.name, span=row.span, findings=findings)
