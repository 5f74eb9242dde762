"""Barriers: all threads of a block, or a cluster, are there, or none may be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kbuild.sim.blocks import WARP, Divergence
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.places import at_lane
from kbuild.sim.values import Fault


def check(lanes: Lanes, mask: Any, of_cluster: bool, ended: Any) -> None:
    """Raises Divergence where a thread is missing; `ended` says of each thread at hand whether it runs no more."""
    if mask is None:
        blocks = lanes.launch.cluster if of_cluster else 1
        _of_blocks(lanes, blocks, "the cluster" if of_cluster else "the block", ended)
    else:
        _of_lanes(lanes, tree.spread(mask, lanes.count).astype(np.int64), ended)


def _of_blocks(lanes: Lanes, blocks: int, what: str, ended: Any) -> None:
    """Of so many blocks all threads wait, or none."""
    if lanes.count == len(ended):
        return  # all threads at hand
    size = math.prod(lanes.launch.block) * blocks
    slots = lanes.slot // blocks
    here = np.bincount(slots)
    if not ((here == 0) | (here == size)).all():
        slot = int(np.argmax((here > 0) & (here < size)))
        position = int(np.argmax(slots == slot))
        missing = np.ones(size, bool)
        missing[(lanes.dense - lanes.origin)[slots == slot] - slot * size] = False
        raise _missing(what, lanes, slot * size + int(np.argmax(missing)), ended, position)


def _of_lanes(lanes: Lanes, mask: Any, ended: Any) -> None:
    lane = lanes.index % WARP
    if not (mask >> lane & 1).all():
        position = int(np.argmin(mask >> lane & 1))
        reason = f"lane {lane[position]} waits for the lanes 0x{mask[position]:x} and is none of them"
        raise at_lane(Fault(reason), position)
    size = math.prod(lanes.launch.block)
    running = np.flatnonzero(~ended)
    index = running % size
    warps = running // size * (-(-size // WARP)) + index // WARP
    first = lanes.origin // size * (-(-size // WARP))
    own = lanes.warp - first
    bits = np.zeros(int(warps.max()) + 1, np.int64)
    np.bitwise_or.at(bits, warps, np.int64(1) << (index % WARP))
    here = np.zeros_like(bits)
    np.bitwise_or.at(here, own, np.int64(1) << lane)
    # Threads that wait for other lanes of their warp are at this barrier too, and not with these.
    absent = mask & bits[own] & ~here[own]
    if absent.any():
        position = int(np.argmax(absent != 0))
        away = int(absent[position])
        number = int(lanes.dense[position]) - lanes.origin - int(lane[position]) + (away & -away).bit_length() - 1
        raise _missing(f"the lanes 0x{mask[position]:x}", lanes, number, ended, position)


def _missing(what: str, lanes: Lanes, number: int, ended: Any, position: int) -> Fault:
    """`number` is that of the missing thread among those at hand."""
    other = tuple(int(n) for n in np.unravel_index(lanes.origin + number, lanes.launch.dim))
    does = "has ended" if ended[number] else "is not there"
    return at_lane(Divergence(f"a barrier that not all threads of {what} reach: thread {other} {does}"), position)
