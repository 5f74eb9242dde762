"""What is known of a launch while a kernel is audited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Launch:
    """`dim`: its extents; `grid`: blocks along x, y, z, of kernels that run in whole blocks. `shapes` of arrays and
    values of `scalars`, by parameter. None, or nothing of a name: it is not known."""

    dim: tuple[int, ...] | None = None
    grid: tuple[int, int, int] | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    scalars: Mapping[str, int | float | bool] = field(default_factory=dict)


ANY: Final = Launch()
