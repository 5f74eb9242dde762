"""Shared memory: 32 banks of 4-byte words, one wavefront a pass over them.

A pass serves a group of lanes; each bank hands out one word in it, to as many lanes as want that word. So a group costs
as many wavefronts as the busiest bank has different words to give. A warp is one group where lanes access up to 4
bytes, two halves at 8 and four quarters at 16: then a group at full width is as wide as the banks. Loads of 8 and 16
bytes use half as many groups if lanes agree in pairs. Atomics take turns at a bank. Measured on sm_90 (H200) in 296
launches, of which none is off; atomics of 8 bytes were not measured, and are taken to go in halves like the rest.
"""

from __future__ import annotations

import numpy as np

from kbuild.traffic.warps import LANES, Bools, Integers, Kind, Warps, WarpTraffic, fullest, is_active, starts

BANKS = 32
BANK_BYTES = 4


def cost(kind: Kind, addresses: Integers, warps: Warps, size: int) -> WarpTraffic:
    """Wavefronts and bank conflicts of an event in shared memory; there are addresses."""
    unit = max(size, BANK_BYTES)
    groups = unit // BANK_BYTES
    shift = unit.bit_length() - 1
    table = warps.table((addresses >> shift) - (int(addresses.min()) >> shift))
    width = BANKS // groups
    wavefronts, least = _passes(kind, table, groups, width)
    if kind == "load" and groups > 1:
        together = _agree_in_pairs(table)
        wavefronts[together], least[together] = _passes(kind, table[together], groups // 2, width)
    occupied = wavefronts > 0
    wavefronts, least = wavefronts[occupied], least[occupied]
    none = np.zeros_like(wavefronts)
    return WarpTraffic(warps.numbers[occupied], none, none, wavefronts, wavefronts - least)


def _passes(kind: Kind, table: Integers, groups: int, width: int) -> tuple[Integers, Integers]:
    """Wavefronts by warp, and how many they would be without conflicts. `width` accesses of this size lie side by side
    in the banks.
    """
    lanes = LANES // groups
    rows = np.sort(table.reshape(-1, lanes), axis=1)
    taking = is_active(rows)
    if kind != "atomic":
        taking &= starts(rows)  # lanes at one word take it together
    places = np.flatnonzero(taking)
    # A group has at least as many lanes as banks that it can tell apart: bank b is bin b of its lanes'.
    bins = (places & -lanes) | (rows.ravel()[places] & (width - 1))
    busiest = fullest(bins, len(rows), lanes).reshape(-1, groups)
    return busiest.sum(axis=1), np.count_nonzero(busiest, axis=1)


def _agree_in_pairs(table: Integers) -> Bools:
    """The warps in which each active lane's neighbour is inactive or at the same address: all with the lane whose
    number differs in bit 0, or all with the one that differs in bit 1.
    """
    agree = np.zeros(len(table), np.bool_)
    for step in (1, 2):
        split = table.reshape(len(table), -1, 2, step)
        one, other = split[:, :, 0, :], split[:, :, 1, :]
        agree |= ((one == other) | ~is_active(one) | ~is_active(other)).all(axis=(1, 2))
    return agree
