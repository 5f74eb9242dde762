"""Variables by name, of one lane or of many, as Python and NumPy have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kbuild.ir.nodes import Symbol
from kbuild.ir.types import Array, Matrix, Scalar, Struct, Type, Vector
from kbuild.sim.arithmetic import dtype_of
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.tracked import Tracked
from kbuild.sim.lockstep.tree import Descriptor, Value


def visible(frame: Frame) -> dict[str, Symbol]:
    """The variables of a frame's lanes that a source names; of two of one name that which was assigned last."""
    latest: dict[str, tuple[int, Symbol]] = {}
    at: Frame | None = frame
    while at is not None:
        assert isinstance(at, Tracked)
        for symbol, moment in at.moments.items():
            if symbol.span is not None and moment >= latest.get(symbol.name, (-1, symbol))[0]:
                latest[symbol.name] = moment, symbol
        at = at.parent
    return {name: symbol for name, (_, symbol) in latest.items()}


def held(frame: Frame, symbol: Symbol) -> Value:
    """What a variable holds in a frame's lanes; changes nothing."""
    found = frame.values.get(symbol)
    if found is not None:
        return found
    if frame.parent is None:
        return tree.zero(symbol.type)
    return tree.take(held(frame.parent, symbol), frame.positions)


def of_lane(value: Value, type: Type, position: int) -> Any:
    """One lane's value: a number, a list, a dict, or a NumPy array that shows the memory as it is."""
    if isinstance(value, Descriptor):
        seen = _seen(value, type, position)
        return tree.lane_of(value, position) if seen is None else seen
    if isinstance(type, Matrix):
        flat = tree.lane_of(value, position)
        return [flat[row * type.columns : (row + 1) * type.columns] for row in range(type.rows)]
    if isinstance(type, Struct):
        return {field.name: of_lane(value[field.name], field.type, position) for field in type.fields}
    return tree.lane_of(value, position)


def of_lanes(value: Value, type: Type, count: int) -> Any:
    """The values of all lanes: an array whose first axis is the lane, of a struct a dict. Raises TypeError."""
    match type:
        case Scalar():
            return np.array(tree.spread(value, count))
        case Vector():
            return np.stack([tree.spread(part, count) for part in value], axis=-1)
        case Matrix():
            flat = np.stack([tree.spread(part, count) for part in value], axis=-1)
            return flat.reshape(count, type.rows, type.columns)
        case Struct():
            return {field.name: of_lanes(value[field.name], field.type, count) for field in type.fields}
    raise TypeError(f"a value of type {type} differs in shape from lane to lane: look at one thread's variables")


def _seen(array: Descriptor, type: Type, position: int) -> Any:
    """An array's memory, not to be written to; None for what NumPy has no form for."""
    dtype = _dtype(array.element)
    if array.memory is None or array.tables is not None or dtype is None or not isinstance(type, Array):
        return None
    address, shape, strides = (tree.lane_of(one, position) for one in (array.address, array.shape, array.strides))
    if 0 in shape:
        return np.zeros(shape, dtype)
    seen = np.ndarray(shape, dtype, array.memory.data, address - array.memory.start, strides)
    seen.flags.writeable = False
    return seen


def _dtype(element: Type) -> Any:
    if isinstance(element, Scalar):
        return dtype_of(element)
    if isinstance(element, Vector):
        return np.dtype((dtype_of(element.element), (element.length,)))
    if isinstance(element, Matrix):
        return np.dtype((dtype_of(element.element), (element.rows, element.columns)))
    return None
