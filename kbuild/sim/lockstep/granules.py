"""The granules of memory that lanes touch: what checks keep their books by."""

from __future__ import annotations

from typing import Any

import numpy as np

from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.affine import Affine
from kbuild.sim.lockstep.places import Location
from kbuild.sim.lockstep.tree import Value


def granules(location: Location, delta: int, size: int, count: int) -> list[Any]:
    """For each granule of a number its index, lane by lane: an int64 array, or a slice where no two lanes share one."""
    memory = location.memory
    assert memory is not None
    width, offset = memory.granule, location.offset
    away = location.delta + delta
    parts = range(max(size // width, 1))
    if isinstance(offset, Affine):
        step, rest = divmod(offset.step, width)
        if step and not rest:
            start = (offset.start + away) // width
            return [_slice(start + i, step, offset.count) for i in parts]
        offset = offset.dense()
    if isinstance(offset, np.ndarray):
        moved = offset + away if away else offset
        # A power of two nearly always: all scalars' sizes are.
        first = moved >> (width.bit_length() - 1) if width & (width - 1) == 0 else moved // width
        return [first + i if i else first for i in parts]
    return [np.full(count, (int(offset) + away) // width + i) for i in parts]


def _slice(start: int, step: int, count: int) -> slice:
    stop = start + step * count
    return slice(start, stop if stop >= 0 else None, step)


def at(granule: Any, position: int) -> int:
    """The index of one lane's granule."""
    return granule.start + position * granule.step if isinstance(granule, slice) else int(granule[position])


def chosen(granule: Any, positions: Any) -> Any:
    """The indices of some lanes' granules."""
    return granule.start + positions * granule.step if isinstance(granule, slice) else granule[positions]


def flat(value: Value) -> list[Any]:
    """The leaves of a value that lie in memory, in order."""
    if isinstance(value, list):
        return [leaf for part in value for leaf in flat(part)]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in flat(part)]
    return [tree.dense(value)] if isinstance(value, (np.ndarray, np.generic, Affine)) else []
