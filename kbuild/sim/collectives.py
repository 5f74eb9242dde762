"""What the lanes of a warp do together, one lane after the other on Python's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbuild.ir import nodes
from kbuild.sim.blocks import WARP

ALL_LANES = (1 << WARP) - 1


def result(name: str, lane: int, offered: Mapping[int, tuple[Any, ...]]) -> Any:
    """A lane's result, from the arguments of every lane that is there."""
    value, *others = offered[lane]
    if name in nodes.SHUFFLES:
        by, width = others
        return offered.get(source(name, lane, by, width), offered[lane])[0]
    match name:
        case "ballot":
            return sum(1 << one for one, (holds,) in offered.items() if holds)
        case "any":
            return any(holds for (holds,) in offered.values())
        case "all":
            return all(holds for (holds,) in offered.values())
    assert name == "match_any"
    return sum(1 << one for one, (other,) in offered.items() if other == value)


def source(name: str, lane: int, by: int, width: int) -> int:
    """The lane whose value a lane gets: its own where the other is beyond the group."""
    first, last, by = lane // width * width, lane // width * width + width - 1, by % WARP
    match name:
        case "shfl":
            return first + by % width
        case "shfl_up":
            return lane - by if lane - by >= first else lane
        case "shfl_down":
            return lane + by if lane + by <= last else lane
    return lane ^ by if lane ^ by <= last else lane
