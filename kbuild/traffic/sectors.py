"""Global memory at the L1 cache: sectors of 32 bytes in lines of 128, looked up in four banks of tags.

A load or store touches each sector once that its lanes need. An atomic touches a sector as often as the lanes at its
busiest address. A pass through the tag stage looks up one line in each of the four banks; which bank a line is in are
two parities of its number's low bits. Measured on sm_90 (H200).
"""

from __future__ import annotations

import numpy as np

from kbuild.traffic.warps import LANES, Bools, Integers, Kind, Warps, WarpTraffic, count, fullest, is_active, starts

SECTOR = 32
LINE = 128
TAG_BANKS = 4
TAG_MASKS = (0b11101010110101, 0b01010111011010)
"""The bits of a line's number (address // 128) whose parities are bit 0 and 1 of its tag bank, found by a search over
GF(2). Bits above the 14th were constant in the measurements."""


def _tag_banks() -> Integers:
    bits = max(mask.bit_length() for mask in TAG_MASKS)
    banks = [sum((line & mask).bit_count() % 2 << i for i, mask in enumerate(TAG_MASKS)) for line in range(1 << bits)]
    return np.array(banks, np.int32)


_TAG_BANK = _tag_banks()


def tag_bank(lines: Integers) -> Integers:
    """The bank of tags that a line is looked up in, 0 to 3."""
    banks: Integers = _TAG_BANK[lines & (len(_TAG_BANK) - 1)]
    return banks


def tag_passes(lines: Integers, touched: Bools | None) -> Integers:
    """Passes for each row of different lines, those of `touched` if it is given."""
    banks = tag_bank(lines)
    counts = []
    for bank in range(TAG_BANKS):
        here = banks == bank
        counts.append(np.count_nonzero(here if touched is None else here & touched, axis=1))
    most: Integers = np.max(counts, axis=0)
    return most


def cost(kind: Kind, addresses: Integers, warps: Warps, size: int) -> WarpTraffic:
    """Sectors, lines and tag-stage wavefronts of an event in global memory; there are addresses."""
    first = int(addresses.min()) // LINE
    is_atomic = kind in ("atomic", "increment")
    unit = size if is_atomic else SECTOR
    table = np.sort(warps.table(addresses // unit - first * (LINE // unit)), axis=1)
    counts = _once(table, SECTOR // unit, first)
    if is_atomic:
        repeats = ((table[:, 1:] == table[:, :-1]) & is_active(table[:, 1:])).any(axis=1)
        if repeats.any():
            counts[:, repeats] = _in_turn(table[repeats], SECTOR // unit, first)
    occupied = counts[0] > 0
    sectors, lines, wavefronts = counts[:, occupied]
    return WarpTraffic(warps.numbers[occupied], sectors, lines, wavefronts, np.zeros_like(sectors))


def _once(table: Integers, per_sector: int, first: int) -> Integers:
    """Sectors, lines and wavefronts of warps whose lanes at one address are served together. From a table of which each
    row is sorted and counts from `first`, in units of which a sector has `per_sector`.
    """
    active = is_active(table)
    sectors = table >> (per_sector.bit_length() - 1)
    lines = sectors >> 2
    begins = starts(lines) & active
    places = np.flatnonzero(begins)
    bins = places // LANES * TAG_BANKS + tag_bank(lines.ravel()[places] + first)
    wavefronts = fullest(bins, len(lines), TAG_BANKS)
    return np.stack([count(starts(sectors) & active), count(begins), wavefronts])


def _in_turn(table: Integers, per_sector: int, first: int) -> Integers:
    """The same of warps whose lanes at one address take turns."""
    begins = starts(table)
    lanes = np.diff(np.flatnonzero(begins), append=table.size)
    units = table[begins]
    active = is_active(units)
    rows, units, lanes = np.nonzero(begins)[0][active], units[active], lanes[active]
    rows, units, lanes = _coarser(rows, units, lanes, per_sector)
    sectors = np.bincount(rows, lanes, minlength=len(table)).astype(np.int64)
    rows, lines, lanes = _coarser(rows, units, lanes, LINE // SECTOR)
    wavefronts = _rounds(rows, tag_bank(lines + first), lanes, len(table))
    return np.stack([sectors, np.bincount(rows, minlength=len(table)), wavefronts])


def _coarser(rows: Integers, units: Integers, most: Integers, ratio: int) -> tuple[Integers, Integers, Integers]:
    """Units that are `ratio` times as large, and the most of what each holds."""
    units = units // ratio
    begins = np.flatnonzero(_changes(rows) | _changes(units))
    return rows[begins], units[begins], np.maximum.reduceat(most, begins)


def _rounds(rows: Integers, bank: Integers, lanes: Integers, count: int) -> Integers:
    """Passes of an atomic: lines go in groups, the first of each bank and so on, and a group passes as often as there
    are lanes at one address in it. An approximation: no rule is known that is exact for random addresses.
    """
    queues = rows * TAG_BANKS + bank
    order = np.argsort(queues, kind="stable")
    here = np.arange(len(order))
    turn = here - np.maximum.accumulate(np.where(_changes(queues[order]), here, 0))
    groups = (rows[order] * LANES) + turn
    again = np.argsort(groups, kind="stable")
    groups, lanes = groups[again], lanes[order][again]
    begins = np.flatnonzero(_changes(groups))
    most = np.maximum.reduceat(lanes, begins)
    return np.bincount(groups[begins] // LANES, most, minlength=count).astype(np.int64)


def _changes(values: Integers) -> Bools:
    """Where a value differs from the one before it; the first does."""
    changes: Bools = starts(values[None, :])[0]
    return changes
