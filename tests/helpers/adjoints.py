"""A pass that differentiates kernels named `double…`, `y[i] = 2 * x[i]`, by an adjoint written by hand, and no others.

What carries adjoints to bundles and tapes is tested with it, whatever the real pass can do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import kbuild as kb
from kbuild.autodiff import Adjoint, Undifferentiable
from kbuild.errors import Report
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.contract import contract
from kbuild.ir.verify import verify
from kbuild.lang.program import lower_kernel

KERNELS = """
import kbuild as kb

@kb.kernel
def double(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = 2.0 * x[i]

@kb.kernel
def crooked(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = kb.floor(x[i])

@kb.kernel(enable_backward=False)
def plain(x: kb.array(dtype=float)):
    x[kb.tid()] = 1.0
"""

# For `sitecustomize`, in every Python process of a build.
SITE = """
import kbuild.autodiff
from tests.helpers import adjoints
kbuild.autodiff.adjoint = adjoints.adjoint
"""


@kb.kernel
def backward(
    x: kb.array(dtype=float),
    y: kb.array(dtype=float),
    adj_x: kb.array(dtype=float),
    adj_y: kb.array(dtype=float),
):
    i = kb.tid()
    adj = adj_y[i]
    adj_y[i] = 0.0
    kb.atomic_add(adj_x, i, 2.0 * adj)


def adjoint(kernel: nodes.Kernel) -> Adjoint:
    """Stands for `kbuild.autodiff.adjoint`."""
    if ":double" not in kernel.name:
        raise Undifferentiable("it does not double", kernel.function.body[-1].span)
    report = Report()
    lowered = lower_kernel(backward, True, report, False)
    assert lowered is not None, report.diagnostics
    made = contract(verify(lowered, has_effects))
    return Adjoint(
        kernel=replace(made, name=f"{kernel.name}:adjoint"),
        read=("x",),
        written=("y",),
        accumulated=(),
        before=(),
        after=(),
        scratch=(),
        saved={},
    )


def use(monkeypatch: Any) -> None:
    """Puts it in the place of the real pass, in this process."""
    from kbuild.scan import adjoints

    monkeypatch.setattr(adjoints, "adjoint", adjoint)
