"""What memory instructions cost the memory system, as an H200 counts it.

In: one *access event*, the same instruction executed by many lanes: the byte address of each active lane, the lane's
number in the launch (its warp is number // 32, its lane in the warp number % 32; no number twice, and where blocks are
not of whole warps the next begins at a multiple of 32), the width of the access, its kind. Out: `Traffic`, the sum over
the warps, or `WarpTraffic`, a row for each warp with an active lane.

    traffic("shared", "load", addresses, lanes, 4).conflicts
    affine_traffic("global", "store", base, stride, warps, 4).sectors

Addresses are multiples of the access's width, as hardware demands. Global ones are absolute: sectors, lines and the
hash of the tag stage depend on them. Shared ones count from the start of the block's shared memory, or from anything
that is a multiple of 128 bytes away from it. `banks` and `sectors` hold the rules, and this module what is quick:
where every warp is full and addresses go up by one stride, a few warps stand for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from kbuild.errors import InternalError
from kbuild.traffic import banks, sectors
from kbuild.traffic.warps import LANES, Integers, Kind, WarpTraffic, group

Space: TypeAlias = Literal["shared", "global"]

SIZES = (1, 2, 4, 8, 16)
ARCHITECTURE = "sm_90"  # what the rules were measured on; docs/design/access-model.md has the scores


@dataclass(frozen=True, slots=True)
class Traffic:
    """Sums over warps. `requests` are warp instructions with an active lane; `sectors` of 32 bytes and `tags` (lines of
    128 bytes) belong to global memory, `conflicts` (wavefronts that bank conflicts add) to shared memory. `wavefronts`
    are passes through the shared memory's banks, or through the tag stage of the L1 cache.
    """

    requests: int = 0
    sectors: int = 0
    tags: int = 0
    wavefronts: int = 0
    conflicts: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.requests + other.requests,
            self.sectors + other.sectors,
            self.tags + other.tags,
            self.wavefronts + other.wavefronts,
            self.conflicts + other.conflicts,
        )

    def __mul__(self, times: int) -> Traffic:
        return Traffic(
            self.requests * times,
            self.sectors * times,
            self.tags * times,
            self.wavefronts * times,
            self.conflicts * times,
        )


def traffic(space: Space, kind: Kind, addresses: Integers, lanes: Integers, size: int) -> Traffic:
    """The sums of one access event."""
    full = _full_warps(lanes)
    stride = _stride(addresses[: full * LANES]) if full else None
    if stride is None:
        return _total(traffic_per_warp(space, kind, addresses, lanes, size))
    head = affine_traffic(space, kind, int(addresses[0]), stride, full, size)
    rest = full * LANES
    return head + _total(traffic_per_warp(space, kind, addresses[rest:], lanes[rest:], size))


def traffic_per_warp(space: Space, kind: Kind, addresses: Integers, lanes: Integers, size: int) -> WarpTraffic:
    """A row for each warp that has an active lane, by the warp's number."""
    if size not in SIZES:
        raise InternalError(f"an access of {size} bytes")
    if len(addresses) == 0:
        none = np.zeros(0, np.int64)
        return WarpTraffic(none, none, none, none, none)
    warps = group(lanes)
    cost = banks.cost if space == "shared" else sectors.cost
    return cost(kind, addresses, warps, size)


def affine_traffic(space: Space, kind: Kind, base: int, stride: int, warps: int, size: int) -> Traffic:
    """The sums over full warps whose lanes access `base`, `base + stride`, … one after another [bytes]."""
    if warps == 0:
        return Traffic()
    if space == "shared":
        # A warp is the one before it moved by a multiple of 32 bytes times the width or, narrower than a word, of 32
        # bytes: the banks turn, and how many lanes meet in one stays.
        return _one_warp(space, kind, base, stride, size) * warps
    return _affine_global(kind, base, stride, warps, size)


def _affine_global(kind: Kind, base: int, stride: int, warps: int, size: int) -> Traffic:
    """In global memory a line's place in the tag banks depends on its number, so that each warp is looked at, but only
    at its lines: those from the first to the last, or one of each lane.
    """
    if kind in ("atomic", "increment") and abs(stride) < size:
        return _one_warp("global", kind, base, stride, size) * warps
    first = base + stride * LANES * np.arange(warps, dtype=np.int64)
    low = first if stride >= 0 else first + stride * (LANES - 1)
    step, reach = abs(stride), abs(stride) * (LANES - 1)
    count = _count_steps(low, step, reach, sectors.SECTOR)
    lines, wavefronts = _lines(low, step, reach)
    return Traffic(warps, count, lines, wavefronts)


def _count_steps(low: Integers, step: int, reach: int, unit: int) -> int:
    """How many units of memory lanes touch that are `step` bytes apart."""
    if step >= unit:
        return len(low) * LANES
    return int(((low + reach) // unit - low // unit + 1).sum())


def _lines(low: Integers, step: int, reach: int) -> tuple[int, int]:
    """Lines, and passes through the tag stage."""
    if step >= sectors.LINE:
        lines = (low[:, None] + step * np.arange(LANES)) // sectors.LINE
        return lines.size, int(sectors.tag_passes(lines, None).sum())
    first, last = low // sectors.LINE, (low + reach) // sectors.LINE
    lines = first[:, None] + np.arange(int((last - first).max()) + 1)
    touched = lines <= last[:, None]
    return int(touched.sum()), int(sectors.tag_passes(lines, touched).sum())


def _one_warp(space: Space, kind: Kind, base: int, stride: int, size: int) -> Traffic:
    lanes = np.arange(LANES, dtype=np.int64)
    return _total(traffic_per_warp(space, kind, base + stride * lanes, lanes, size))


def _full_warps(lanes: Integers) -> int:
    """How many warps at the start of the event are full, if all its lanes follow one another."""
    if len(lanes) < LANES or lanes[0] % LANES or lanes[-1] - lanes[0] != len(lanes) - 1:
        return 0
    return len(lanes) // LANES if bool((np.diff(lanes) == 1).all()) else 0


def _stride(addresses: Integers) -> int | None:
    """The bytes from each address to the next, None if they differ."""
    stride = int(addresses[1] - addresses[0])
    # Most gathers differ at once.
    if int(addresses[-1] - addresses[0]) != stride * (len(addresses) - 1):
        return None
    return stride if bool((np.diff(addresses) == stride).all()) else None


def _total(rows: WarpTraffic) -> Traffic:
    return Traffic(
        len(rows.warps),
        int(rows.sectors.sum()),
        int(rows.tags.sum()),
        int(rows.wavefronts.sum()),
        int(rows.conflicts.sum()),
    )
