"""Lanes sorted into warps, and a row of counts for each warp.

Everything is counted in tables with a row of 32 lanes for each warp, in which inactive lanes hold more than any value.
NumPy sorts many short rows twenty times as fast as one long array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

LANES = 32

Integers: TypeAlias = NDArray[np.signedinteger[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Kind: TypeAlias = Literal["load", "store", "atomic", "increment"]
"""`atomic` with or without a result; `increment` is a shared atomic that adds 1 and whose result nobody uses, for which
NVIDIA's compiler has an instruction of its own (ATOMS.POPC.INC)."""


@dataclass(frozen=True, slots=True)
class WarpTraffic:
    """The counts of `access.Traffic` for each warp of `warps`; every one is one request."""

    warps: Integers
    sectors: Integers
    tags: Integers
    wavefronts: Integers
    conflicts: Integers


@dataclass(frozen=True, slots=True)
class Warps:
    """The warps of an event by number, and the place of each active lane in a table with a row for each of them: an
    array, or where they follow one another a slice. Some rows may have no lane.
    """

    numbers: Integers
    places: Integers | slice

    def table(self, values: Integers) -> Integers:
        """A row of values for each warp; values are from 0. In 32 bits if they fit."""
        dtype = np.int32 if int(values.max()) < np.iinfo(np.int32).max else np.int64
        lanes = len(self.numbers) * LANES
        if len(values) == lanes and isinstance(self.places, slice):
            return values.astype(dtype).reshape(-1, LANES)
        table = np.full(lanes, np.iinfo(dtype).max, dtype)
        table[self.places] = values
        return table.reshape(-1, LANES)


def group(lanes: Integers) -> Warps:
    """Sorts lanes by warp."""
    if len(lanes) == 0:
        return Warps(np.zeros(0, np.int64), slice(0, 0))
    first = int(lanes.min()) // LANES
    last = int(lanes.max()) // LANES
    if last - first < 4 * len(lanes):
        numbers = np.arange(first, last + 1, dtype=np.int64)
        start = int(lanes[0]) - first * LANES
        follow = int(lanes[-1] - lanes[0]) == len(lanes) - 1 and bool((lanes[1:] > lanes[:-1]).all())
        return Warps(numbers, slice(start, start + len(lanes)) if follow else lanes - first * LANES)
    numbers, rows = np.unique(lanes // LANES, return_inverse=True)
    return Warps(numbers, rows * LANES + lanes % LANES)


def is_active(table: Integers) -> Bools:
    """Where a table has a value."""
    active: Bools = table != np.iinfo(table.dtype).max
    return active


def starts(table: Integers) -> Bools:
    """Where a run of equal values begins in a row."""
    begins = np.empty(table.shape, np.bool_)
    begins[:, 0] = True
    np.not_equal(table[:, 1:], table[:, :-1], out=begins[:, 1:])
    return begins


def count(where: Bools) -> Integers:
    """How many are true in each row, which has at most 255."""
    counts: Integers = where.sum(axis=1, dtype=np.uint8).astype(np.int64)
    return counts


def fullest(bins: Integers, rows: int, width: int) -> Integers:
    """How many values are in the fullest of the `width` bins that each row has."""
    each = np.bincount(bins, minlength=rows * width)
    most: Integers = each.reshape(rows, width).max(axis=1)
    return most
