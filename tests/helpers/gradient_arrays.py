"""Arrays of a launch as NumPy has them, as dual numbers, and as one vector of all their floating-point numbers.

An array of structs is a structured NumPy array, one of vectors or matrices has their axes behind its own. Parameters
that are structs with arrays in them are dictionaries by field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kbuild.ir.nodes import Symbol
from kbuild.ir.types import Array, Field, Matrix, Scalar, Struct, Type, Vector, is_float
from kbuild.sim.values import Memory, built, fetch
from tests.helpers.duals import Dual

Path = tuple[Any, ...]


def dtype_of(element: Type) -> np.dtype[Any]:
    """The layout of an element."""
    match element:
        case Scalar():
            return np.dtype(element.code)
        case Vector():
            return np.dtype((dtype_of(element.element), (element.length,)))
        case Matrix():
            return np.dtype((dtype_of(element.element), (element.rows, element.columns)))
        case Struct():
            fields: Sequence[Field] = element.fields
            return np.dtype(
                {
                    "names": [f.name for f in fields],
                    "formats": [dtype_of(f.type) for f in fields],
                    "offsets": [f.offset for f in fields],
                    "itemsize": element.size,
                }
            )
    raise AssertionError(f"no element: {element}")


def empty(type: Array, shape: tuple[int, ...]) -> np.ndarray:
    """An array of zeros."""
    return np.zeros(shape, dtype_of(type.element))


def leaves(element: Type) -> list[tuple[Path, Scalar]]:
    """The scalars of an element, and the ways to them."""
    match element:
        case Vector():
            return [((i,), element.element) for i in range(element.length)]
        case Matrix():
            return [((i, j), element.element) for i in range(element.rows) for j in range(element.columns)]
        case Struct():
            return [((f.name, *path), leaf) for f in element.fields for path, leaf in leaves(f.type)]
    assert isinstance(element, Scalar), element
    return [((), element)]


def leaf_view(array: np.ndarray, ndim: int, path: Path) -> np.ndarray:
    """One scalar of every element, in an array's own axes."""
    for step in path:
        array = array[step] if isinstance(step, str) else array[(slice(None),) * ndim + (step,)]
    return array


def arrays_in(parameter: Symbol) -> list[tuple[str, Array]]:
    """The arrays of a parameter by path."""
    return list(_arrays_in(parameter.name, parameter.type))


def _arrays_in(name: str, type: Type) -> Iterator[tuple[str, Array]]:
    if isinstance(type, Array):
        yield name, type
    elif isinstance(type, Struct):
        for field in type.fields:
            yield from _arrays_in(f"{name}.{field.name}", field.type)


def has_floats(type: Array) -> bool:
    return any(is_float(leaf) for _, leaf in leaves(type.element))


def numbers_of(array: np.ndarray, type: Array) -> np.ndarray:
    """All floating-point numbers of an array as a vector in double precision."""
    parts = [leaf_view(array, type.ndim, path).reshape(-1) for path, leaf in leaves(type.element) if is_float(leaf)]
    return np.concatenate([part.astype(np.float64) for part in parts]) if parts else np.zeros(0)


def put_numbers(array: np.ndarray, type: Array, numbers: np.ndarray | float) -> None:
    """The reverse: sets all floating-point numbers of an array."""
    position = 0
    for path, leaf in leaves(type.element):
        if is_float(leaf):
            view = leaf_view(array, type.ndim, path)
            if isinstance(numbers, float):
                view[...] = numbers
                continue
            view[...] = numbers[position : position + view.size].reshape(view.shape)
            position += view.size


def put_integers(array: np.ndarray, type: Array, number: int) -> None:
    """Sets all that is no floating-point number."""
    for path, leaf in leaves(type.element):
        if not is_float(leaf):
            view = leaf_view(array, type.ndim, path)
            view[...] = np.array(number).astype(view.dtype)


def to_memory(array: np.ndarray, type: Array, tangent: np.ndarray | None = None) -> Memory:
    """An array of dual numbers; `tangent` is a complex vector in the order of `numbers_of`."""
    shape = array.shape[: type.ndim]
    count = int(np.prod(shape))
    data = [built(type.element, lambda _: None) for _ in range(count)]
    position = 0
    for path, leaf in leaves(type.element):
        items = leaf_view(array, type.ndim, path).reshape(-1).tolist()
        if is_float(leaf):
            moves = [0j] * count if tangent is None else tangent[position : position + count].tolist()
            items = [Dual(value, complex(move)) for value, move in zip(items, moves, strict=True)]
            position += count
        if path:
            for element, item in zip(data, items, strict=True):
                fetch(element, path[:-1])[path[-1]] = item
        else:
            data = items
    return Memory(type.element, shape, data)


def tangents_of(memory: Memory) -> np.ndarray:
    """The tangents of an array of dual numbers as a complex vector."""
    return np.array([number.tangent for number in _duals_of(memory)], np.complex128)


def values_of(memory: Memory) -> np.ndarray:
    """Its values as a vector in double precision."""
    return np.array([number.value for number in _duals_of(memory)], np.float64)


def _duals_of(memory: Memory) -> Iterator[Dual]:
    for path, leaf in leaves(memory.element):
        if is_float(leaf):
            yield from (fetch(element, path) for element in memory.data)
