"""What accesses cost: bank conflicts in shared memory, memory transactions of arrays, branches that split warps.

Addresses of a warp's lanes go to `kbuild.traffic`, whose rules an H200 confirms. Every warp of a block is looked at, in
a few trips of its loops; where the shape of a block is not known, a nominal one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from kbuild.audit.answers import PROVED, Answer, Judge
from kbuild.audit.lanes import Bools, Integers, Lanes, NoNumber, trip
from kbuild.audit.records import Access
from kbuild.audit.values import Memory
from kbuild.errors import Span
from kbuild.traffic import access as traffic
from kbuild.traffic.warps import Kind, WarpTraffic

WARP: Final = 32
TRIPS: Final = (0, 1, 2)  # of every loop
MOST_TRIPS: Final = 64  # of a loop whose lanes part ways
SECTOR: Final = 32
PADDINGS: Final = (1, 2, 4, 8)  # elements that a row may get to get rid of conflicts
FEW: Final = 2  # times as many memory transactions as it takes are told of
WELL_USED: Final = 0.7  # of the lanes of a loop's warps
BAD: Final = Answer("found", "lane by lane")
UNCLEAR: Final = Answer("unknown", "", "it depends on the contents of arrays")
MANY_SECTORS: Final = 4  # a request of 128 bytes side by side
_KINDS: Final[dict[str, Kind]] = {"read": "load", "write": "store", "atomic": "atomic"}
_WIDTHS: Final = (16, 8, 4, 2, 1)


@dataclass(frozen=True, slots=True)
class Banks:
    """The worst that a line does to an array in shared memory: `wavefronts` where `least` would do. `cure` says what
    removes it, having been tried."""

    memory: Memory
    span: Span | None
    kind: str
    wavefronts: int
    least: int
    cure: str | None
    answer: Answer

    @property
    def degree(self) -> int:
        """How many lanes wait for one bank."""
        return -(-self.wavefronts // max(self.least, 1))


def banks(judge: Judge) -> Iterator[Banks]:
    """Every line that accesses shared memory, by array."""
    sites: dict[tuple[int, Span | None, str], list[Access]] = defaultdict(list)
    for one in judge.records.accesses:
        if one.memory.space == "shared":
            sites[id(one.memory), one.span, one.kind].append(one)
    of_memory: dict[int, list[Access]] = defaultdict(list)
    for one in judge.records.accesses:
        if one.memory.space == "shared":
            of_memory[id(one.memory)].append(one)
    for (memory, span, kind), accesses in sites.items():
        worst = _worst(judge, accesses, None)
        if worst is None:
            yield Banks(accesses[0].memory, span, kind, 0, 0, None, UNCLEAR)
            continue
        is_bad = worst[0] > worst[1]
        cure = _cure(judge, of_memory[memory]) if is_bad else None
        yield Banks(accesses[0].memory, span, kind, *worst, cure, BAD if is_bad else PROVED)


def _worst(judge: Judge, accesses: list[Access], layout: _Layout | None) -> tuple[int, int] | None:
    """(wavefronts, least) of the warp that has most; None where no address is known."""
    worst: tuple[int, int] | None = None
    for access in accesses:
        for found in _of_warps(judge, access, layout or _PLAIN):
            if worst is None or found[0] - found[1] > worst[0] - worst[1]:
                worst = found
    return worst


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where an element lies: rows with `padding` elements more, or columns exchanged within a row (`is_swizzled`), or,
    of one dimension, an element left out after every 32 (`is_skewed`)."""

    padding: int = 0
    is_swizzled: bool = False
    is_skewed: bool = False

    def offsets(self, lanes: Lanes, access: Access) -> Integers:
        """In elements."""
        values = [lanes.term(index) for index in access.indices]
        extents = [int(lanes.term(extent)[0]) for extent in access.memory.extents]
        if self.is_swizzled and len(values) > 1:
            values[-1] = values[-1] ^ (values[-2] % WARP)
        total = np.zeros(len(lanes.numbers), np.int64)
        for axis, value in enumerate(values):
            total = total * (extents[axis] + (self.padding if axis == len(values) - 1 else 0)) + value
        return total + total // WARP if self.is_skewed else total


_PLAIN: Final = _Layout()


def _of_warps(judge: Judge, access: Access, layout: _Layout) -> Iterator[tuple[int, int]]:
    """(wavefronts, least) of every warp of a block, as far as addresses are known."""
    try:
        for found in traffic_of(judge, access, layout):
            for waves, conflicts in zip(found.wavefronts, found.conflicts, strict=True):
                yield int(waves), int(waves - conflicts)
    except NoNumber:
        return


def traffic_of(judge: Judge, access: Access, layout: _Layout = _PLAIN, block: int = 1) -> Iterator[WarpTraffic]:
    """What an access costs the warps of a block, in the first trips of its loops. Raises NoNumber."""
    size = access.memory.element.size
    numbers = np.arange(judge.place.blocks.size, dtype=np.int64)
    space: traffic.Space = "shared" if access.memory.space == "shared" else "global"
    for number in TRIPS if _has_trips(access) else TRIPS[:1]:
        lanes = Lanes(judge.place, judge.contracts, numbers, trip(number), block)
        offsets, active = layout.offsets(lanes, access), lanes.active(access.path)
        for part, width in _parts(access) if active.any() else ():
            addresses = (offsets * size + part)[active]
            yield traffic.traffic_per_warp(space, _KINDS[access.kind], addresses, numbers[active], width)


def _has_trips(access: Access) -> bool:
    return bool(access.loops)


def _parts(access: Access) -> Iterator[tuple[int, int]]:
    """(begin, width) of the loads or stores that an access becomes: words, else numbers."""
    begin, size, align = access.offset, access.size, access.memory.element.align
    width = access.word or next(one for one in _WIDTHS if align >= one and begin % one == 0 and size % one == 0)
    for part in range(begin, begin + size, width):
        yield part, width


def _cure(judge: Judge, accesses: list[Access]) -> str | None:
    """A layout with which no access of the array has a conflict."""
    memory = accesses[0].memory
    if len(memory.extents) > 1:
        for padding in PADDINGS:
            if _is_free(judge, accesses, _Layout(padding=padding)):
                rows = ", ".join(map(str, memory.extents[:-1]))
                return (
                    f"declare {memory.name} as ({rows}, {memory.extents[-1] + padding}): no access of it conflicts then"
                )
        last = memory.extents[-1]
        if last.is_constant and last.constant % WARP == 0 and _is_free(judge, accesses, _Layout(is_swizzled=True)):
            return f"index columns of {memory.name} with `column ^ (row % 32)`: no access of it conflicts then"
        return None
    if _is_free(judge, accesses, _Layout(is_skewed=True)):
        return f"index {memory.name} with `i + i // 32`, and make it so much larger: no access of it conflicts then"
    return None


def _is_free(judge: Judge, accesses: list[Access], layout: _Layout) -> bool:
    worst = _worst(judge, accesses, layout)
    return worst is not None and worst[0] <= worst[1]


@dataclass(frozen=True, slots=True)
class Sectors:
    """What the accesses of a line to an array take: `sectors` of 32 bytes for a warp, where `least` would hold all that
    is used. `is_element`: lanes use only part of elements that lie side by side. `stride` between lanes [bytes]."""

    memory: Memory
    span: Span | None
    kind: str
    sectors: int
    least: int
    stride: int | None
    answer: Answer


def sectors(judge: Judge) -> Iterator[Sectors]:
    """Every element that a line accesses in an array; parts of one element that others use count together."""
    groups: dict[tuple[Any, ...], list[Access]] = defaultdict(list)
    for one in judge.records.accesses:
        if one.memory.space == "global":
            groups[id(one.memory), one.indices].append(one)
    for accesses in groups.values():
        yield _sectors(judge, accesses)


def _sectors(judge: Judge, accesses: list[Access]) -> Sectors:
    first = accesses[0]
    size = first.memory.element.size
    used = sorted({byte for one in accesses for byte in range(one.offset, one.offset + one.size)})
    numbers = np.arange(min(WARP, judge.place.blocks.size), dtype=np.int64)
    lanes = Lanes(judge.place, judge.contracts, numbers, trip(0), block=0)
    try:
        offsets = _PLAIN.offsets(lanes, first)
    except NoNumber:
        return Sectors(first.memory, first.span, first.kind, 0, 0, None, UNCLEAR)
    active = np.logical_or.reduce([lanes.active(one.path) for one in accesses])
    elements = np.unique(offsets[active])
    touched = np.unique((elements[:, None] * size + np.asarray(used)[None, :]) // SECTOR)
    least = -(-len(elements) * len(used) // SECTOR)
    is_bad = active.sum() > 1 and len(touched) >= FEW * least and len(touched) > MANY_SECTORS
    answer = BAD if is_bad else PROVED
    return Sectors(first.memory, first.span, first.kind, len(touched), least, _stride(offsets, size), answer)


def _stride(offsets: Integers, size: int) -> int | None:
    steps = np.unique(np.diff(offsets))
    return int(steps[0]) * size if len(steps) == 1 else None


@dataclass(frozen=True, slots=True)
class Split:
    """A branch or loop that splits warps: `warps` of `of`. `lanes` take it at most, of 32 in a split warp; `used` is
    the part of lanes that do something while their warp does."""

    span: Span | None
    is_loop: bool
    warps: int
    of: int
    lanes: int
    used: float
    answer: Answer


def splits(judge: Judge) -> Iterator[Split]:
    """Conditions that the lanes of most warps see differently."""
    size = judge.place.blocks.size
    numbers = np.arange(size, dtype=np.int64)
    for branch in judge.records.branches:
        is_clear = True
        counts: list[tuple[int, int]] = []  # (lanes that take it, lanes there are), of the warps of each trip
        split, most, warps, trips, parting = 0, 0, 0, 0, 0
        for number in range(MOST_TRIPS if branch.is_loop else 1):
            lanes = Lanes(judge.place, judge.contracts, numbers, trip(number))
            try:
                taken = lanes.condition(branch.condition)
            except NoNumber:
                is_clear = False
                break
            of_trip = list(_of_trip(taken, lanes.active(branch.path)))
            parted = [inside for inside, there in of_trip if 0 < inside < there]
            split, most, warps = max(split, len(parted)), max(most, *parted, 0), max(warps, len(of_trip))
            counts += [one for one in of_trip if one[0]]
            trips, parting = trips + any(inside for inside, _ in of_trip), parting + bool(parted)
            if not any(inside for inside, _ in of_trip):
                break
        used = sum(inside for inside, _ in counts) / max(1, sum(there for _, there in counts))
        if branch.is_loop:
            is_bad = 2 * parting > trips and used < WELL_USED
        else:
            is_bad = most > 1 and (2 * split > warps or (branch.has_else and 2 * split == warps))
        answer = BAD if is_bad else PROVED if is_clear else UNCLEAR
        yield Split(branch.span, branch.is_loop, split, warps, most, used, answer)


def _of_trip(taken: Bools, active: Bools) -> Iterator[tuple[int, int]]:
    """(lanes that take it, lanes that could) of every warp."""
    for start in range(0, len(taken), WARP):
        here = active[start : start + WARP]
        if here.any():
            yield int((taken[start : start + WARP] & here).sum()), int(here.sum())
