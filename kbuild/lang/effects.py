"""Which functions change memory, by the table of intrinsics."""

from __future__ import annotations

from kbuild.intrinsics.table import has_effects
from kbuild.ir import effects
from kbuild.ir.nodes import Function


def changes_memory(function: Function) -> bool:
    """The function, or one that it calls, stores to an array or works on one atomically."""
    return effects.changes_memory(function, has_effects)
