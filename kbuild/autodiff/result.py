"""What reverse mode makes of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kbuild.errors import Span
from kbuild.ir.nodes import Kernel


class Undifferentiable(Exception):
    """A kernel has no adjoint; `reason` says why and what helps, `span` where."""

    def __init__(self, reason: str, span: Span | None, help: str = "") -> None:
        super().__init__(reason)
        self.reason, self.span, self.help = reason, span, help


@dataclass(frozen=True)
class Adjoint:
    """A kernel's adjoint, and what a launch of it needs. Arrays are named by path: `x`, or `model.mass` in a struct.

    Parameters of `kernel`, in order: those of the kernel itself; for each parameter with an array of floating-point
    numbers (or of structs of them) in it its adjoint, `adj_NAME`, of the same type, whose arrays may all be None; then,
    where something is saved whose amount is not known while building, for each type in `saved` an array
    `saved_TYPE[word, thread of a driver launch]`, then `saved_words` (an int32 array with a number for each of them,
    in their order) and `counting`, a bool.

    With `counting` nothing is changed but the arrays in `scratch`, and `saved_words`, which becomes the largest number
    of words that a thread saves of each type. Without it, a thread that finds its column of `saved_TYPE` too short puts
    the number that it needs there, too, and propagates nothing.

    - `read`, `written`: arrays that the kernel itself loads from, and stores to (atomics do one or both)
    - `accumulated`: of the written, those that are only added to atomically (what was there before still counts)
    - `before`: arrays whose contents before the launch the adjoint kernel loads
    - `after`: arrays whose contents after it the adjoint kernel loads
    - `scratch`: arrays that the adjoint kernel stores to; they are among `before`, and end in any state
    - `owned`: arrays whose adjoints it adds to without atomic operations, since each thread has elements of its own:
      such an adjoint must not overlap with any other
    - `saved`: words for each thread by scalar type; None where only a run can tell
    """

    kernel: Kernel
    read: tuple[str, ...]
    written: tuple[str, ...]
    accumulated: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    scratch: tuple[str, ...]
    saved: Mapping[str, int | None]
    owned: tuple[str, ...] = ()
