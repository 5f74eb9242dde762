"""Which bytes of memory an array has, and whether two arrays have any in common."""

from __future__ import annotations

from bisect import bisect_left, insort
from math import gcd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..array_class import array


def span(one: array) -> tuple[int, int]:
    """The first byte of an array's memory, and the one after the last; equal where it has no elements."""
    low = high = one.ptr
    if 0 in one.shape:
        return low, high
    for extent, stride in zip(one.shape, one.strides):
        if stride < 0:
            low += (extent - 1) * stride
        else:
            high += (extent - 1) * stride
    return low, high + one._type.element.size


def meet(a: array, b: array) -> bool:
    """Whether two arrays of one device share a byte; True where that is not certain.

    Rows and columns of one array, and other elements at equal steps, are told apart.
    """
    (low, high), (other_low, other_high) = span(a), span(b)
    if low >= other_high or other_low >= high or low == high or other_low == other_high:
        return False
    step = 0
    for one in (a, b):
        for extent, stride in zip(one.shape, one.strides):
            step = gcd(step, stride) if extent > 1 else step
    if not step:
        return True
    distance = (b.ptr - a.ptr) % step  # every element of `b` lies so far behind a step of `a`'s
    return not (a._type.element.size <= distance and b._type.element.size <= step - distance)


class Ranges:
    """Things with a range of bytes on a device, by where they lie."""

    def __init__(self) -> None:
        self._of: dict[Any, list[tuple[int, int, int, Any]]] = {}  # by device: low, number, high, thing
        self._longest: dict[Any, int] = {}
        self._count = 0

    def add(self, device: Any, low: int, high: int, thing: Any) -> None:
        """Adds a thing; what lies in the same place stays."""
        self._count += 1
        insort(self._of.setdefault(device, []), (low, self._count, high, thing))
        self._longest[device] = max(self._longest.get(device, 0), high - low)

    def remove(self, device: Any, low: int, thing: Any) -> None:
        """Takes a thing away."""
        known = self._of.get(device, [])
        for place in range(bisect_left(known, (low,)), len(known)):
            if known[place][3] is thing:
                del known[place]
                return

    def within(self, device: Any, low: int, high: int) -> Iterator[Any]:
        """The things that have a byte in a range, lowest first."""
        known = self._of.get(device)
        if not known or low >= high:
            return
        first = bisect_left(known, (low - self._longest[device],))
        for start, _, end, thing in known[first : bisect_left(known, (high,))]:
            if end > low and start < high:
                yield thing

    def __iter__(self) -> Iterator[Any]:
        return iter([thing for known in self._of.values() for _, _, _, thing in known])

    def __len__(self) -> int:
        return sum([len(known) for known in self._of.values()])
