"""What the lanes of a warp do together, for all warps at once.

Lanes at hand stand in the order of their numbers, so that those of a warp that is there in full lie side by side.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kbuild.ir import nodes
from kbuild.sim.blocks import WARP, Divergence
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.places import at_lane


def apply(name: str, given: list[Any], lanes: Lanes, ended: Any) -> Any:
    """Every lane's result. Raises Divergence where a lane of a warp is not there."""
    _check(lanes, ended)
    values = [tree.spread(one, lanes.count) for one in given]
    lane = lanes.position("lane_id", None)
    first = np.arange(lanes.count) - lane  # where the lane 0 of each one's warp is
    if name in nodes.SHUFFLES:
        source = _source(name, lane, values[1] & np.int32(WARP - 1), int(values[2][0]))
        return values[0][first + np.where(source < _there(lanes), source, lane)]
    if name == "match_any":
        return _matches(values[0], first, _there(lanes))
    starts = np.flatnonzero(lane == 0)
    if name == "ballot":
        bits = np.where(values[0], np.uint32(1) << lane.astype(np.uint32), np.uint32(0))
        found = np.bitwise_or.reduceat(bits, starts)
    else:
        found = (np.logical_or if name == "any" else np.logical_and).reduceat(values[0], starts)
    return np.repeat(found, np.diff(np.append(starts, lanes.count)))


def _there(lanes: Lanes) -> Any:
    """How many lanes the block has in each one's warp."""
    return np.minimum(math.prod(lanes.launch.block) - lanes.index // WARP * WARP, WARP)


def _source(name: str, lane: Any, by: Any, width: int) -> Any:
    """The lane whose value each gets (see `ir.nodes`)."""
    first = lane & np.int32(-width)
    last = first + np.int32(width - 1)
    match name:
        case "shfl":
            return first + (by & np.int32(width - 1))
        case "shfl_up":
            found = lane - by
            return np.where(found >= first, found, lane)
        case "shfl_down":
            found = lane + by
        case _:
            found = lane ^ by
    return np.where(found <= last, found, lane)


def _matches(values: Any, first: Any, there: Any) -> Any:
    found = np.zeros(len(values), np.uint32)
    for other in range(WARP):
        at = np.where(other < there, first + other, first)
        found |= ((values[at] == values) & (other < there)).astype(np.uint32) << np.uint32(other)
    return found


def _check(lanes: Lanes, ended: Any) -> None:
    if lanes.count == len(ended) and not ended.any():
        return  # all threads at hand
    own = lanes.warp - lanes.warp[0]
    missing = np.bincount(own)[own] < _there(lanes)
    if not missing.any():
        return
    position = int(np.argmax(missing))
    here = lanes.index[own == own[position]] % WARP
    away = next(lane for lane in range(WARP) if lane not in here)
    number = int(lanes.dense[position]) - int(lanes.index[position]) % WARP + away
    other = tuple(int(n) for n in np.unravel_index(number, lanes.launch.dim))
    does = "has ended" if ended[number - lanes.origin] else "is not there"
    reason = f"an operation of the warp that not all of its lanes reach: thread {other} {does}"
    raise at_lane(Divergence(reason), position)
