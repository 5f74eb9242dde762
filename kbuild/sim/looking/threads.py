"""Threads as a user names them: by coordinates in `dim`, or by number in the launch."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from kbuild.sim.lockstep.lanes import Lanes


def number(thread: Any, dim: tuple[int, ...]) -> int:
    """The number in the launch. Raises LookupError for what is no thread of it."""
    if _is_number(thread) and 0 <= thread < math.prod(dim):
        return int(thread)
    if isinstance(thread, (tuple, list)) and len(thread) == len(dim) and all(map(_is_number, thread)):
        is_inside = all(0 <= one < extent for one, extent in zip(thread, dim, strict=True))
        if is_inside:
            return int(np.ravel_multi_index(tuple(thread), dim))
    raise LookupError(
        f"{thread!r} is no thread of a launch over {dim}: name one by its coordinates, as {tuple(n - 1 for n in dim)}, "
        f"or by its number, below {math.prod(dim)}"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def numbers(threads: Iterable[Any] | None, dim: tuple[int, ...], is_strict: bool = True) -> Any:
    """The numbers of several, in order; None is all. Raises LookupError, or leaves out what is no thread."""
    if threads is None:
        return None
    found = []
    for one in threads:
        try:
            found.append(number(one, dim))
        except LookupError:
            if is_strict:
                raise
    return np.unique(np.array(found, np.int64))


def chosen(lanes: Lanes, wanted: Any) -> Any:
    """Positions of the lanes that are among the wanted numbers; None where that is all of them."""
    if wanted is None:
        return None
    found = np.minimum(np.searchsorted(lanes.dense, wanted), lanes.count - 1)
    positions = found[lanes.dense[found] == wanted]
    return None if len(positions) == lanes.count else positions


def position(lanes: Lanes, number: int) -> int | None:
    """Where a thread stands among lanes, which are in order."""
    found = int(np.searchsorted(lanes.dense, number))
    return found if found < lanes.count and int(lanes.dense[found]) == number else None


def coordinates(number: int, dim: tuple[int, ...]) -> tuple[int, ...]:
    """A thread's coordinates."""
    return tuple(int(one) for one in np.unravel_index(number, dim))
