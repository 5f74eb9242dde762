"""Who holds memory: the report, and what an error says that has none to give."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Tuple

    Entry = Tuple[str, int, Tuple[str, int]]  # the place's name, bytes, (file, line) of who asked

__all__ = ("MemoryReport", "memory_report")

_SHOWN = 5
_OWN = __name__.partition(".")[0] + "."

_live: dict[int, Entry] = {}  # by the allocation's address in Python
_peaks: dict[str, int] = {}
_totals: dict[str, int] = {}


def note(key: int, place: str, size: int) -> None:
    """Enters memory that is held from now on by whoever is calling the loader."""
    if key not in _live:
        _live[key] = (place, size, _caller())
        total = _totals[place] = _totals.get(place, 0) + size
        if total > _peaks.get(place, 0):
            _peaks[place] = total


def strike(key: int) -> None:
    """Crosses memory out that was given back."""
    entry = _live.pop(key, None)
    if entry is not None:
        _totals[entry[0]] = _totals.get(entry[0], 0) - entry[1]


def _caller() -> tuple[str, int]:
    """File and line of the first frame outside kbuild. Frames themselves are not kept: they hold variables."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and (frame.f_globals.get("__name__") or "").startswith(_OWN):
        frame = frame.f_back
    return ("?", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


class MemoryReport:
    """What arrays hold on a device, in bytes; `print` it.

    `in_use` by arrays, `pooled` beyond that by the pool, ready for the next ones, `peak` the most that was in use at a
    time, `waiting` by arrays that are gone and whose last use still runs; `holders`: (bytes, arrays, file, line) of the
    code that asked, largest first; `free` and `total` of the GPU itself, None on the host.
    """

    def __init__(self, device: str, in_use: int, peak: int, holders: Any) -> None:
        self.device, self.in_use, self.peak = device, in_use, max(peak, in_use)
        self.pooled = self.waiting = 0
        self.free: int | None = None
        self.total: int | None = None
        self.holders: list[tuple[int, int, str, int]] = holders

    def __str__(self) -> str:
        numbers = [("in use", self.in_use), ("pooled", self.pooled), ("waiting", self.waiting), ("peak", self.peak)]
        if self.free is not None and self.total is not None:
            numbers += [("free", self.free), ("of", self.total)]
        head = "%s: %s" % (self.device, ", ".join("%s %s" % (name, amount(size)) for name, size in numbers))
        return "\n".join([head, *self.lines()])

    __repr__ = __str__

    def lines(self) -> list[str]:
        """The largest holders, a line each."""
        return [
            "  %s in %d %s from %s:%d" % (amount(size), count, "array" if count == 1 else "arrays", file, line)
            for size, count, file, line in self.holders[:_SHOWN]
        ]


def summary(place: str) -> MemoryReport:
    """What the books say about one place of memory: `cuda:0`, `cpu`, `pinned`."""
    found: dict[tuple[str, int], list[int]] = {}
    for held_on, size, (file, line) in list(_live.values()):
        if held_on == place:
            sums = found.setdefault((file, line), [0, 0])
            sums[0] += size
            sums[1] += 1
    holders = [(size, count, file, line) for (file, line), (size, count) in found.items()]
    holders.sort(reverse=True)
    return MemoryReport(place, sum(size for size, _, _, _ in holders), _peaks.get(place, 0), holders)


def memory_report(device: Any = None) -> MemoryReport:
    """What kbuild's arrays hold on a device, and who asked for it. See `MemoryReport`."""
    from .. import context
    from . import allocation, pools

    allocation.sweep_all()
    if device == "pinned":
        return summary("pinned")
    place = context.get_device(device)
    report = summary(str(place))
    if place.kind == "cuda":
        report.free, report.total = place.free_memory, place.total_memory
        pool = pools.of(place)
        report.pooled = max(0, pool.reserved - pool.used) if pool is not None else 0
        report.waiting = allocation.waiting(place)
    return report


def amount(size: int) -> str:
    """`3.5 MiB`."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return "%.1f %s" % (size / (1 << power), unit)
    return "%d bytes" % size
