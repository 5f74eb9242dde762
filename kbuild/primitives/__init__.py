"""Functions over whole arrays, with kernels of kbuild's own: sums, prefix sums, sorting, runs, conversions.

    [tool.kbuild]
    primitives = ["array_scan", "radix_sort_pairs"]      # or true, for all

puts their kernels into the bundle of a project, next to its own, and

    kb.array_scan(counts, starts, inclusive=False)

finds them there (`finding`). The functions are in `functions` and `sums`; kernels, which a build compiles, in the
modules that this one's `kernels_of` knows. Python 3.8: what a deployed program imports.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from kbuild.loader.types import Kernel

NAMES = (
    "array_cast",
    "array_inner",
    "array_scan",
    "array_sum",
    "capture_if",
    "capture_while",
    "copy",
    "radix_sort_pairs",
    "runlength_encode",
)


def kernels_of(names: Iterable[str]) -> list[Kernel]:
    """The kernels that functions launch, of all types that they take; each once. `names` are of `NAMES`."""
    from kbuild.primitives import catalogue

    found: dict[int, Any] = {}
    for name in names:
        found.update((id(one), one) for one in catalogue.KERNELS[name]())
    return list(found.values())
