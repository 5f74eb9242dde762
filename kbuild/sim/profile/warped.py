"""Which warps some lanes are in, and what an access of theirs costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from kbuild.sim.blocks import WARP
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.affine import Affine
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.places import Location
from kbuild.traffic.access import Space, Traffic, affine_traffic, traffic
from kbuild.traffic.sectors import SECTOR
from kbuild.traffic.warps import Kind


@dataclass(frozen=True)
class Warped:
    """`numbers` of lanes as `access` wants them: every block begins a new warp. `starts` are the positions of the first
    lane of each warp, `active` how many lanes each has, `partial` how many warps lack some of their threads. `in_turn`
    says that the numbers are one after the other, from a multiple of 32 on.
    """

    numbers: Any
    starts: Any
    active: Any
    partial: int
    in_turn: bool

    def ideal(self, size: int) -> int:
        """Sectors that accesses of a size would fill if each warp's lay side by side."""
        return int((-(-self.active * size // SECTOR)).sum())


def warped(lanes: Lanes) -> Warped:
    """How lanes make up warps."""
    found: Warped = lanes.remembered("warped", lambda: _warped(lanes))
    return found


def _warped(lanes: Lanes) -> Warped:
    size = math.prod(lanes.launch.block)
    warps = -(-size // WARP)
    numbers = lanes.dense if size % WARP == 0 else lanes.block * (warps * WARP) + lanes.index
    in_turn = size % WARP == 0 and isinstance(lanes.numbers, Affine) and lanes.numbers.start % WARP == 0
    if in_turn:
        starts = np.arange(0, lanes.count, WARP)
        numbered = starts // WARP + lanes.numbers.start // WARP
    else:
        of_lanes = numbers >> 5
        starts = np.flatnonzero(np.diff(of_lanes, prepend=-1))  # lanes are in the order of their numbers
        numbered = of_lanes[starts]
    active = np.diff(starts, append=lanes.count)
    block, warp = np.divmod(numbered, warps)
    whole = np.minimum(WARP, size - warp * WARP)
    whole = np.minimum(whole, lanes.launch.count - (block * size + warp * WARP))
    return Warped(numbers, starts, active, int((active < whole).sum()), in_turn)


def cost(kind: Kind, location: Location, delta: int, size: int, lanes: Lanes) -> Traffic:
    """What one memory instruction of these lanes costs; it accesses `size` bytes, `delta` from the location."""
    assert location.memory is not None
    offset, delta = location.offset, location.delta + delta
    space = cast(Space, location.memory.space)
    seen = warped(lanes)
    if isinstance(offset, Affine):
        if seen.in_turn:
            return _along(space, kind, offset.start + delta, offset.step, seen, size)
        offset = offset.dense()
    if np.ndim(offset) == 0:
        if seen.in_turn:
            return _along(space, kind, int(offset) + delta, 0, seen, size)
        offset = np.full(lanes.count, int(offset), np.int64)
    if location.memory.stride and seen.in_turn:
        block = math.prod(lanes.launch.block)
        one = offset[:block]
        if lanes.count > block and lanes.count % block == 0 and _repeats(offset, one, location.memory.stride):
            return traffic(space, kind, one + delta, seen.numbers[:block], size) * (lanes.count // block)
    return traffic(space, kind, offset + delta if delta else offset, seen.numbers, size)


def is_aligned(location: Location, size: int) -> bool:
    """Every lane's address is a multiple of a size."""
    assert location.memory is not None
    offset, start = location.offset, location.memory.start + location.delta
    if isinstance(offset, Affine):
        return (start + offset.start) % size == 0 and offset.step % size == 0
    return bool(np.all((start + offset) % size == 0))


def cost_together(location: Location, size: int, lanes: Lanes, only_full: bool) -> Traffic:
    """What an atomic costs at an address that is all lanes', where one lane does it for its warp; `only_full`: in warps
    of which no lane is missing.
    """
    assert location.memory is not None
    seen = warped(lanes)
    single = Traffic(1, 0, 0, 1, 0) if location.memory.space == "shared" else Traffic(1, 1, 1, 1, 0)
    if not only_full:
        return single * len(seen.starts)
    is_full = seen.active == WARP
    (others,) = np.nonzero(~np.repeat(is_full, seen.active))
    found = single * int(is_full.sum())
    if len(others) == 0:
        return found
    offset = tree.take(np.int64(location.offset) if isinstance(location.offset, int) else location.offset, others)
    return found + cost("atomic", replace(location, offset=offset), 0, size, lanes.take(others))


def _along(space: Space, kind: Kind, base: int, step: int, seen: Warped, size: int) -> Traffic:
    """Addresses that go up by one step from lane to lane."""
    full, rest = divmod(len(seen.numbers), WARP)
    found = affine_traffic(space, kind, base, step, full, size)
    if rest:
        last = np.arange(full * WARP, full * WARP + rest)
        found += traffic(space, kind, base + step * last, last, size)
    return found


def _repeats(offset: Any, one: Any, stride: int) -> bool:
    """Every block of the lanes accesses the same of its shared memory."""
    blocks = offset.reshape(-1, len(one))
    return bool((blocks - one == stride * np.arange(len(blocks))[:, None]).all())
