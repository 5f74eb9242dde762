"""Where in memory an expression points: arrays, indices, components, fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kbuild.ir.types import INT32, INT64, Type
from kbuild.sim.lockstep import memory, tree
from kbuild.sim.lockstep.affine import Affine
from kbuild.sim.lockstep.memory import Allocation, Space
from kbuild.sim.lockstep.tree import Descriptor
from kbuild.sim.values import Fault, OutOfBounds


@dataclass(frozen=True, slots=True)
class Location:
    """A place in memory for every lane: byte offset (a number for all, one a lane, or `Affine`), and a constant part.

    Without an allocation the offsets are addresses, in whatever allocation each lies.
    """

    memory: Allocation | None
    offset: Any
    type: Type
    delta: int = 0

    def inside(self, delta: int, type: Type) -> Location:
        """A part of it at a constant distance."""
        return Location(self.memory, self.offset, type, self.delta + delta)

    def moved(self, distance: Any, type: Type) -> Location:
        """A part of it, a number of bytes away that differs between lanes."""
        return Location(self.memory, plus(self.offset, distance), type, self.delta)

    def parts(self, space: Space, count: int) -> list[tuple[Allocation, Any, Any]]:
        """(allocation, positions of lanes or None for all, byte offsets) that make up all lanes."""
        if self.memory is not None:
            return [(self.memory, None, self.offset)]
        addresses = tree.spread(self.offset, count).astype(np.uint64)
        return [(found, positions, at) for found, positions, at in space.located(addresses)]


def plus(a: Any, b: Any) -> Any:
    """The sum of two offsets."""
    if isinstance(a, Affine) and isinstance(b, (int, np.generic)):
        return Affine(a.start + int(b), a.step, a.count, INT64)
    if isinstance(b, Affine) and isinstance(a, (int, np.generic)):
        return plus(b, a)
    if isinstance(a, Affine) and isinstance(b, Affine):
        return Affine(a.start + b.start, a.step + b.step, a.count, INT64)
    if isinstance(a, (int, np.generic)) and isinstance(b, (int, np.generic)):
        return int(a) + int(b)
    return tree.dense(a) + tree.dense(b)


def times(index: Any, stride: Any) -> Any:
    """The distance in bytes that an index makes."""
    if isinstance(stride, np.ndarray):
        index = tree.dense(index)
        return index.astype(np.int64) * stride.astype(np.int64)
    step = int(stride)
    if isinstance(index, Affine):
        return Affine(index.start * step, index.step * step, index.count, INT64)
    if isinstance(index, np.generic):
        return int(index) * step
    wide = index.astype(np.int64)
    return wide if step == 1 else wide * step


def checked(index: Any, extent: Any, wraps: bool, reason: Any) -> Any:
    """An index, counted from the beginning. `reason(position)` says what is wrong with a lane's. Raises OutOfBounds."""
    if isinstance(index, Affine) and isinstance(extent, np.generic) and index.low >= 0 and index.high < int(extent):
        return index
    index = tree.dense(index)
    if isinstance(index, np.generic) and isinstance(extent, np.generic):
        at, end = int(index), int(extent)
        if not (-end if wraps else 0) <= at < end:
            raise at_lane(OutOfBounds(reason(0)), 0)
        return index if at >= 0 else np.int64(at + end)
    if index.dtype.kind == "i":
        if index.dtype.itemsize < 4:
            index = index.astype(np.int32)  # whose negative numbers are larger than any extent
        if wraps and (index < 0).any():
            index = np.where(index < 0, index + extent, index)
        bad = index.view(_UNSIGNED[index.dtype.itemsize]) >= _unsigned(extent, index.dtype.itemsize)
    else:
        bad = index >= _unsigned(extent, index.dtype.itemsize)
    if bad.any():
        position = int(np.argmax(bad))
        raise at_lane(OutOfBounds(reason(position)), position)
    return index


_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _unsigned(extent: Any, size: int) -> Any:
    """An extent to hold indices of a size against: one that is larger than all of them stays larger."""
    return extent.astype(np.uint64) if size == 8 else extent.astype(np.uint32)


def at_lane(fault: Fault, position: int) -> Fault:
    """The fault, with the lane that it happened to."""
    fault.position = position
    return fault


class OfPart:
    """`with OfPart(positions):` faults of some lanes name them by their positions among all; None: they are all."""

    __slots__ = ("positions",)

    def __init__(self, positions: Any) -> None:
        self.positions = positions

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if self.positions is not None and isinstance(error, Fault) and error.span is None:
            error.position = int(self.positions[error.position or 0])


def element(array: Descriptor, indices: Sequence[Any], wraps: bool, space: Space, note: Any) -> tuple[Any, Any]:
    """(allocation, byte offset) of an element, or of the first one of what is left where indices are missing.

    `note` is told of reads of index arrays. Raises OutOfBounds.
    """
    base: Any
    if array.memory is not None:
        base = minus(array.address, array.memory.start)
    else:
        base = array.address if isinstance(array.address, np.ndarray) else int(array.address)
    for axis, index in enumerate(indices):
        index = checked(
            index, array.shape[axis], wraps, lambda at, axis=axis, index=index: _outside(array, axis, index, at)
        )
        if array.tables is not None:
            index = _through(array, axis, index, space, note)
        base = plus(base, times(index, array.strides[axis]))
    if array.memory is not None:
        return array.memory, base
    if not isinstance(base, (int, Affine)):
        return None, base
    if isinstance(base, int):
        found = space.find(base)
        if found is not None:
            return found, base - found.start
    return None, tree.dense(base) if isinstance(base, Affine) else np.int64(base)


def minus(address: Any, start: int) -> Any:
    """An address as an offset."""
    return int(address) - start if isinstance(address, np.generic) else address - start


def _outside(array: Descriptor, axis: int, index: Any, position: int) -> str:
    shape = tuple(tree.lane_of(array.shape, position))
    return f"index {tree.lane_of(index, position)} on axis {axis} of an array of shape {shape}"


def _through(array: Descriptor, axis: int, index: Any, space: Space, note: Any) -> Any:
    """The position in the array behind that an index array holds."""
    assert array.tables is not None
    assert array.whole is not None
    table = array.tables[axis]
    if isinstance(table, np.generic):
        if int(table) == 0:
            return index
        found = _read_table(Location(None, plus(int(table), times(index, 4)), INT32), space, note)
    else:
        raise Fault("index arrays that differ between threads")
    extent = array.whole[axis]
    bad = (found < 0) | (found >= extent)
    if bad.any():
        position = int(np.argmax(bad)) if isinstance(bad, np.ndarray) else 0
        given, end = tree.lane_of(found, position), tree.lane_of(extent, position)
        reason = f"the index array of axis {axis} holds {given} at {tree.lane_of(index, position)}"
        raise at_lane(OutOfBounds(f"{reason}, outside the {end} elements of the array behind it"), position)
    return found


def _read_table(location: Location, space: Space, note: Any) -> Any:
    offset = location.offset
    first = offset.start if isinstance(offset, Affine) else int(offset if isinstance(offset, int) else offset.flat[0])
    found = space.find(first)
    if found is None:
        raise Fault("an index array that is no argument of the launch")
    at = plus(offset, -found.start) if not isinstance(offset, np.ndarray) else offset - found.start
    note(Location(found, at, INT32))
    return memory.at(found, at, INT32)
