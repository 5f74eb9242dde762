"""Values of composite types, lane by lane.

A vector is a list of its components, a matrix the list of all its elements (row-major), a struct a dict, several
results a list, an array a `Descriptor`. The leaves are arrays with one number a lane, an `Affine`, or one NumPy number
for all. None is ever changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kbuild.ir.types import Array, IndexedArray, Matrix, Scalar, Struct, Tuple, Type, Vector
from kbuild.sim.arithmetic import dtype_of
from kbuild.sim.lockstep.affine import Affine

Value = Any


class Descriptor:
    """An array as a kernel sees it: address, extents and strides (bytes), each a leaf.

    `memory` is the allocation where all lanes have the same, or None where the address must tell. `tables` and `whole`
    are those of an array seen through index arrays: for each axis the address of its positions (0: plain), and the
    extents of the array behind.
    """

    __slots__ = ("_offset", "address", "element", "memory", "shape", "strides", "tables", "whole")

    def __init__(
        self,
        element: Type,
        address: Any,
        shape: list[Any],
        strides: list[Any],
        memory: Any = None,
        tables: list[Any] | None = None,
        whole: list[Any] | None = None,
    ) -> None:
        self.element, self.address, self.shape, self.strides = element, address, shape, strides
        self.memory, self.tables, self.whole = memory, tables, whole
        self._offset: Any = None

    @property
    def offset(self) -> Any:
        """Where it begins in its allocation: a number for all lanes, or one for each."""
        if self._offset is None:
            distance = self.address - self.memory.start
            self._offset = int(distance) if isinstance(distance, np.generic) else distance
        return self._offset

    def mapped(self, function: Callable[..., Any], *others: Descriptor) -> Descriptor:
        """The leaves through a function."""
        memory = self.memory if all(one.memory is self.memory for one in others) else None
        return Descriptor(
            self.element,
            function(self.address, *[one.address for one in others]),
            mapped(function, self.shape, *[one.shape for one in others]),
            mapped(function, self.strides, *[one.strides for one in others]),
            memory,
            None if self.tables is None else mapped(function, self.tables, *[one.tables for one in others]),
            None if self.whole is None else mapped(function, self.whole, *[one.whole for one in others]),
        )


def mapped(function: Callable[..., Any], value: Value, *others: Value) -> Value:
    """A value of the same shape, with every leaf through a function, together with those in its place in others."""
    if isinstance(value, list):
        return [mapped(function, *parts) for parts in zip(value, *others, strict=True)]
    if isinstance(value, dict):
        return {name: mapped(function, part, *[one[name] for one in others]) for name, part in value.items()}
    if isinstance(value, Descriptor):
        return value.mapped(function, *others)
    return function(value, *others)


def dense(leaf: Any) -> Any:
    """A leaf as NumPy has it."""
    return leaf.dense() if isinstance(leaf, Affine) else leaf


def take(value: Value, positions: Any) -> Value:
    """The value of some of the lanes."""
    if isinstance(value, np.ndarray):
        return value.take(positions)
    if isinstance(value, np.generic):
        return value
    return mapped(lambda leaf: leaf if isinstance(leaf, np.generic) else dense(leaf).take(positions), value)


def put(value: Value, pieces: Sequence[tuple[Any, Value]], count: int) -> Value:
    """The value of `count` lanes, with those of some of them replaced: pieces are (positions, their value)."""

    def replaced(leaf: Any, *news: Any) -> Any:
        if isinstance(leaf, np.generic) and all(isinstance(new, np.generic) and _is_same(leaf, new) for new in news):
            return leaf
        whole = spread(leaf, count).copy()
        for (positions, _), new in zip(pieces, news, strict=True):
            whole[positions] = dense(new)
        return whole

    return mapped(replaced, value, *[piece for _, piece in pieces])


def join(count: int, positions: Any, part: Value, others: Any, rest: Value) -> Value:
    """The value of `count` lanes from those of two parts that make up all of them."""

    def joined(one: Any, two: Any) -> Any:
        if isinstance(one, np.generic) and isinstance(two, np.generic) and _is_same(one, two):
            return one
        one, two = dense(one), dense(two)
        whole = np.empty(count, one.dtype)
        whole[positions], whole[others] = one, two
        return whole

    return mapped(joined, part, rest)


def _is_same(a: Any, b: Any) -> bool:
    return a is b or (a.dtype == b.dtype and a.tobytes() == b.tobytes())


def spread(leaf: Any, count: int) -> Any:
    """One number for each lane, perhaps not to be written to."""
    leaf = dense(leaf)
    return np.broadcast_to(leaf, (count,)) if leaf.ndim == 0 else leaf


def chosen(condition: Any, then: Value, otherwise: Value) -> Value:
    """Lane by lane one of the two."""
    return mapped(lambda a, b: np.where(condition, dense(a), dense(b)), then, otherwise)


def zero(type: Type) -> Value:
    """The zero of a type."""
    match type:
        case Scalar():
            return dtype_of(type).type(0)
        case Vector():
            return [zero(type.element)] * type.length
        case Matrix():
            return [zero(type.element)] * (type.rows * type.columns)
        case Struct():
            return {field.name: zero(field.type) for field in type.fields}
        case Array():
            none = [np.int32(0)] * type.ndim
            indexed = isinstance(type, IndexedArray)
            tables, whole = ([np.int64(0)] * type.ndim, none) if indexed else (None, None)
            return Descriptor(type.element, np.int64(0), none, none, None, tables, whole)
        case Tuple():
            return [zero(item) for item in type.items]
    return None  # the result of a function without one


def lane_of(value: Value, position: int) -> Value:
    """The value of one lane, as Python's numbers; an array as its shape."""

    def one(leaf: Any) -> Any:
        leaf = dense(leaf)
        return (leaf if leaf.ndim == 0 else leaf[position]).item()

    if isinstance(value, Descriptor):
        extents = ", ".join(str(one(extent)) for extent in value.shape)
        return f"array of {value.element}, shape ({extents})"
    if isinstance(value, list):
        return [lane_of(part, position) for part in value]
    if isinstance(value, dict):
        return {name: lane_of(part, position) for name, part in value.items()}
    return None if value is None else one(value)
