"""Atomic operations of many lanes at once: in effect one after the other, in the order of lanes or in a given one."""

from __future__ import annotations

from typing import Any

import numpy as np

from kbuild.errors import InternalError
from kbuild.ir.types import Scalar
from kbuild.sim import arithmetic
from kbuild.sim.arithmetic import dtype_of
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.affine import Affine
from kbuild.sim.lockstep.memory import indexed
from kbuild.sim.lockstep.places import Location

_MANY = 32  # lanes at one element, from which on they are gone through element by element

_UFUNCS: dict[str, Any] = {
    "atomic_add": np.add,
    "atomic_sub": np.subtract,
    "atomic_and": np.bitwise_and,
    "atomic_or": np.bitwise_or,
    "atomic_xor": np.bitwise_xor,
}


def apply(name: str, at: Location, values: list[Any], count: int, is_used: bool, order: Any) -> tuple[Any, bool]:
    """(the values before, lane by lane; whether memory has changed). `order` is who comes first, second … ."""
    assert at.memory is not None
    assert isinstance(at.type, Scalar)
    kind, dtype = at.type, dtype_of(at.type)
    offset = tree.spread(np.int64(at.offset) if isinstance(at.offset, int) else at.offset, count)
    numbers, places = indexed(at.memory.typed(dtype), offset, at.delta)
    given = [tree.spread(value, count) for value in values]
    if name == "atomic_graph_condition":
        return numbers[places], False  # there is no graph
    if order is not None:
        places, given = places[order], [value[order] for value in given]
    ufunc = _ufunc(name, kind, numbers, places, given)
    if not is_used and ufunc is not None:
        ufunc.at(numbers, places, given[0])
        return np.zeros(count, dtype), True
    is_apart = isinstance(at.offset, Affine) and abs(at.offset.step) >= dtype.itemsize
    before = np.empty(count, dtype)
    for lanes in [np.arange(count)] if is_apart else _rounds(name, numbers, places, given, before, ufunc):
        seen = numbers[places[lanes]]
        before[lanes] = seen
        numbers[places[lanes]] = _after(name, seen, [value[lanes] for value in given], kind)
    has_changed = name != "atomic_cas" or bool((_bits(before) == _bits(given[0])).any())
    if order is None:
        return before, has_changed
    back = np.empty_like(before)
    back[order] = before
    return back, has_changed


def _ufunc(name: str, kind: Scalar, numbers: Any, places: Any, given: list[Any]) -> Any:
    """What NumPy has for an operation, if that is it to the last bit."""
    if name in ("atomic_min", "atomic_max"):
        if kind.kind != "float":
            return np.minimum if name == "atomic_min" else np.maximum
        if (given[0] == 0).any():
            return None  # NumPy does not tell the zeros apart
        return np.fmin if name == "atomic_min" else np.fmax
    return _UFUNCS.get(name)


def _rounds(name: str, numbers: Any, places: Any, given: list[Any], before: Any, ufunc: Any) -> Any:
    """Lanes of different elements, again and again until all had their turn; crowded elements are done here."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    is_first = np.empty(len(order), bool)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.append(starts, len(order)))
    for start, size in zip(starts[sizes > _MANY], sizes[sizes > _MANY], strict=True):
        lanes = order[start : start + size]
        _crowd(name, numbers, int(ordered[start]), lanes, given, before, ufunc)
    few = sizes <= _MANY
    starts, sizes = starts[few], sizes[few]
    for turn in range(int(sizes.max(initial=0))):
        yield order[starts[sizes > turn] + turn]


def _crowd(name: str, numbers: Any, place: int, lanes: Any, given: list[Any], before: Any, ufunc: Any) -> None:
    """Lanes at one element, one after the other."""
    values = given[0][lanes]
    if name == "atomic_exch":
        before[lanes[0]], before[lanes[1:]] = numbers[place], values[:-1]
        numbers[place] = values[-1]
    elif ufunc is not None:
        if name == "atomic_sub":
            values, ufunc = -values, np.add
        steps = ufunc.accumulate(np.concatenate([numbers[place : place + 1], values]), dtype=numbers.dtype)
        before[lanes], numbers[place] = steps[:-1], steps[-1]
    elif name == "atomic_cas":
        _swap(numbers, place, lanes, given, before)
    else:
        for lane in lanes:
            seen = numbers[place : place + 1].copy()
            before[lane] = seen[0]
            given_here = [value[lane : lane + 1] for value in given]
            numbers[place] = _after(name, seen, given_here, _kind_of(numbers.dtype))[0]


def _swap(numbers: Any, place: int, lanes: Any, given: list[Any], before: Any) -> None:
    """Compare-and-swap of many lanes at one element: from one that succeeds to the next."""
    wanted, start = _bits(given[0][lanes]), 0
    while start < len(lanes):
        now = numbers[place : place + 1]
        successes = np.flatnonzero(wanted[start:] == _bits(now))
        end = start + int(successes[0]) + 1 if len(successes) else len(lanes)
        before[lanes[start:end]] = now[0]
        if len(successes):
            numbers[place] = given[1][lanes[end - 1]]
        start = end


def _kind_of(dtype: Any) -> Scalar:
    kind = {"f": "float", "i": "int", "u": "uint", "b": "bool"}[dtype.kind]
    return Scalar(dtype.name, dtype.itemsize, "", kind)


def _after(name: str, before: Any, values: list[Any], kind: Scalar) -> Any:
    """What the element holds then."""
    match name:
        case "atomic_add" | "atomic_sub" | "atomic_and" | "atomic_or" | "atomic_xor":
            return arithmetic.binary(name.removeprefix("atomic_"), before, values[0], kind)
        case "atomic_min" | "atomic_max":
            return arithmetic.intrinsic(name.removeprefix("atomic_"), [before, values[0]], kind, kind)
        case "atomic_exch":
            return values[0]
        case "atomic_cas":
            return np.where(_bits(before) == _bits(values[0]), values[1], before)
    raise InternalError(f"no meaning for {name}")


def _bits(value: Any) -> Any:
    return np.ascontiguousarray(value).view(f"u{value.dtype.itemsize}")
