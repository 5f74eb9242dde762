"""Arrays of which every thread touches a part of its own, as elementwise kernels do: no two can meet there.

As long as all accesses are at `start + step * thread`, and reach no further from the least to the last byte than one
step, books are a list of what was done. The first one that is elsewhere has the list written into `Books`, granule by
granule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kbuild.ir.types import INT64
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.affine import Affine
from kbuild.sim.lockstep.lanes import Lanes
from kbuild.sim.lockstep.places import Location

_HELD = 1 << 19  # lanes of accesses that are held one by one, before books of granules are smaller


@dataclass(slots=True)
class Entry:
    """An access as it was made."""

    kind: str
    location: Location
    lanes: Lanes
    event: int


class Owned:
    """The books of an allocation as long as it is so."""

    def __init__(self) -> None:
        self._step = self._low = self._high = 0  # bytes a thread; what the thread 0 has touched, or would have
        self._log: dict[Any, Entry] = {}
        self._held = 0

    def entries(self) -> Iterator[Entry]:
        """What was done, in order. Of accesses of one place by the same threads the last one stands for all: in the
        books it takes the place of those before."""
        return iter(self._log.values())

    def takes(self, kind: str, location: Location, lanes: Lanes, event: int, site: int) -> bool:
        """Notes an access, if it is another of the kind."""
        found = _line(location.offset, lanes, self._step)
        if found is None:
            return False
        start, step = found
        low = start + location.delta
        high = low + location.type.size
        if self._step:
            low, high = min(low, self._low), max(high, self._high)
        if (self._step and step != self._step) or high - low > abs(step):
            return False
        self._step, self._low, self._high = step, low, high
        numbers, offset = lanes.numbers, location.offset
        if isinstance(numbers, Affine):
            # Without the arrays that these may hold.
            numbers = Affine(numbers.start, numbers.step, numbers.count, INT64)
            offset = Affine(start + step * numbers.start, step * numbers.step, numbers.count, INT64)
            key: Any = kind, site, start, location.delta, location.type.size, numbers.start, numbers.step, numbers.count
            self._log.pop(key, None)
        else:
            key = len(self._log)
            self._held += lanes.count
            if self._held > _HELD:
                return False
        at = Location(location.memory, offset, location.type, location.delta)
        self._log[key] = Entry(kind, at, Lanes(lanes.launch, numbers, lanes.count, lanes.origin), event)
        return True


def _line(offset: Any, lanes: Lanes, step: int) -> tuple[int, int] | None:
    """(start, step) where every lane is at `start + step * its number`; `step` is what others had, or 0."""
    numbers = lanes.numbers
    if isinstance(offset, Affine) and isinstance(numbers, Affine) and numbers.step:
        step, rest = divmod(offset.step, numbers.step)
        return None if rest or not step else (offset.start - step * numbers.start, step)
    places, threads = tree.spread(np.int64(offset) if isinstance(offset, int) else offset, lanes.count), lanes.dense
    if lanes.count > 1:
        step = int(places[-1] - places[0]) // int(threads[-1] - threads[0])
    if not step:
        return None
    start = int(places[0]) - step * int(threads[0])
    return (start, step) if np.array_equal(places, threads * step + start) else None
