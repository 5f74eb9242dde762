"""Reverse mode: from the typed, contracted IR of a kernel to the kernel that propagates its adjoints.

    adjoint(kernel) → Adjoint, or Undifferentiable with the line that is in the way

The adjoint kernel runs the kernel forward once more, thread by thread, recording what its reverse sweep will need, and
then backward. See `docs/design/gradients.md` for the method.
"""

from kbuild.autodiff.result import Adjoint, Undifferentiable
from kbuild.autodiff.transform import adjoint

__all__ = ["Adjoint", "Undifferentiable", "adjoint"]
