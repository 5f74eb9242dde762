"""The pass as a whole."""

from __future__ import annotations

from kbuild.autodiff.result import Adjoint, Undifferentiable
from kbuild.ir.nodes import Kernel


def adjoint(kernel: Kernel) -> Adjoint:
    """The adjoint of a contracted kernel. Raises Undifferentiable."""
    raise Undifferentiable("gradients are being built", kernel.function.span)
