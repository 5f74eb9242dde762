"""Who holds memory: the report, and what an error says that has none to give."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, Optional, Tuple

    # The place's name, bytes; the code that asked and how far it was, None where nobody is known.
    Entry = Tuple[str, int, Optional[CodeType], int]

__all__ = ("MemoryReport", "memory_report")

_SHOWN = 5
_OWN = __name__.partition(".")[0] + "."

_NEAREST = 3  # how far the caller of `allocation.allocate` is from `note`, at least

_live: dict[int, Entry] = {}  # by the allocation's address in Python
_peaks: dict[str, int] = {}
_totals: dict[str, int] = {}


def note(key: int, place: str, size: int) -> None:
    """Enters memory that is held from now on by whoever is calling the loader.

    Of the caller its code and the instruction are kept: a line is looked up for a report alone, and a frame would hold
    variables.
    """
    if key not in _live:
        frame: FrameType | None = sys._getframe(_NEAREST)
        while frame is not None and (frame.f_globals.get("__name__") or "").startswith(_OWN):
            frame = frame.f_back
        _live[key] = (place, size, None, 0) if frame is None else (place, size, frame.f_code, frame.f_lasti)
        total = _totals[place] = _totals.get(place, 0) + size
        if total > _peaks.get(place, 0):
            _peaks[place] = total


def strike(key: int) -> None:
    """Crosses memory out that was given back."""
    entry = _live.pop(key, None)
    if entry is not None:
        _totals[entry[0]] = _totals.get(entry[0], 0) - entry[1]


def _source(code: CodeType | None, instruction: int) -> tuple[str, int]:
    """File and line of an instruction."""
    if code is None:
        return "?", 0
    from dis import findlinestarts

    lines = [line for start, line in findlinestarts(code) if start <= instruction and line is not None]
    return code.co_filename, lines[-1] if lines else code.co_firstlineno


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
    sources: dict[tuple[CodeType | None, int], tuple[str, int]] = {}
    for held_on, size, code, instruction in list(_live.values()):
        if held_on == place:
            key = (code, instruction)
            sums = found.setdefault(sources.get(key) or sources.setdefault(key, _source(*key)), [0, 0])
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
