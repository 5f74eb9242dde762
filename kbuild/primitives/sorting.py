"""Sorting by keys, digit after digit from the least significant one, each pass stable.

A pass counts the digits of every tile, turns the counts into places, and moves each tile's pairs there. Satish, Harris
and Garland, "Designing efficient sorting algorithms for manycore GPUs" (IPDPS 2009); Merrill and Grimshaw, "High
performance and scalable radix sorting" (Parallel Processing Letters 21(2), 2011). Lanes with the same digit find each
other by a word of bits in shared memory, one a warp and digit. No block waits for another.

Keys are worked on as the bits of unsigned numbers, made to ascend as the keys do: `digit_of`.
"""

from typing import Any

from kbuild.loader import builtins as kb
from kbuild.loader.array import array, array2d
from kbuild.loader.types import Kernel, func
from kbuild.loader.values import int32, uint32, uint64
from kbuild.primitives.kernels import BLOCK, ITEMS, PROTOCOL, SLOTS, TILE, WARPS, kernel, scan_block, slot

# mypy: disable-error-code="no-untyped-call,no-any-return,untyped-decorator,no-untyped-def,valid-type,attr-defined"

DIGITS = BLOCK  # values of a digit, one for each thread
BITS = 8


def items_of(key: Any, value: Any) -> int:
    """Pairs of a thread: as many as 48 KiB of shared memory have room for."""
    sizes = {uint32: 4, uint64: 8}
    return {8: 12, 12: 8, 16: 6}[sizes[key] + sizes[value]]


@func
def digit_of(key: Any, low: Any, high: Any, alone: Any, shift: int, mask: int):
    """The digit of a key, larger for larger keys.

    `low`, `high` and `alone` are what to turn round in a key whose highest bit is not set, is set, and is set alone, so
    that the bits ascend as the keys do (Herf, "Radix tricks", 2001).
    """
    ones = ~type(key)(0)
    top = ones ^ (ones >> type(key)(1))
    flip = low
    if key > top:
        flip = high
    if key == top:
        flip = alone
    return int32(((key ^ flip) >> type(key)(shift)) & type(key)(mask))


def make_count(key: Any, items: int) -> Kernel:
    """How often each digit comes in each tile: `counts[digit, tile]`."""

    @kernel
    def count_digits(
        keys: array(dtype=key),
        counts: array2d(dtype=int),
        count: int,
        low: key,
        high: key,
        alone: key,
        shift: int,
        mask: int,
    ):
        _ = kb.static(PROTOCOL)
        found = kb.shared_array(DIGITS, int)
        own = kb.vector(length=items, dtype=key)
        t = kb.thread_idx()
        found[t] = 0
        base = kb.block_idx() * (BLOCK * items)
        rest = count - base
        for i in range(items):
            if i * BLOCK + t < rest:
                own[i] = keys[base + (i * BLOCK + t)]
        kb.syncthreads()
        for i in range(items):
            if i * BLOCK + t < rest:
                found[digit_of(own[i], low, high, alone, shift, mask)] += 1
        kb.syncthreads()
        counts[t, kb.block_idx()] = found[t]

    return count_digits


@kernel
def place_digits(counts: array2d(dtype=int), totals: array(dtype=int)):
    """Block d scans the counts of digit d over the tiles, and notes their sum."""
    _ = kb.static(PROTOCOL)
    sums = kb.shared_array(SLOTS, int)
    own = kb.vector(length=ITEMS, dtype=int)
    t = kb.thread_idx()
    digit = kb.block_idx()
    tiles = counts.shape[1]
    carry = 0
    done = 0
    while done < tiles:
        first = done + t * ITEMS
        total = 0
        for i in range(ITEMS):
            own[i] = 0
            if first + i < tiles:
                own[i] = counts[digit, first + i]
        for i in range(ITEMS):
            total = total + own[i]
        sums[slot(t)] = total
        found = scan_block(sums)
        running = carry + sums[slot(t)]
        for i in range(ITEMS):
            if first + i < tiles:
                counts[digit, first + i] = running
            running = running + own[i]
        carry = carry + found
        done = done + TILE
    if t == 0:
        totals[digit] = carry


def make_move(key: Any, value: Any, items: int) -> Kernel:
    """Moves the pairs of a tile to their places, in the order in which they stand where digits are equal.

    A tile is sorted in shared memory first, so that pairs of one digit are written side by side. With a single tile
    (`tiles` 1) counts and totals are not looked at.
    """

    @kernel
    def move_pairs(
        keys: array(dtype=key),
        values: array(dtype=value),
        counts: array2d(dtype=int),
        totals: array(dtype=int),
        to_keys: array(dtype=key),
        to_values: array(dtype=value),
        count: int,
        tiles: int,
        low: key,
        high: key,
        alone: key,
        shift: int,
        mask: int,
    ):
        _ = kb.static(PROTOCOL)
        key_tile = kb.shared_array(BLOCK * items, key)
        value_tile = kb.shared_array(BLOCK * items, value)
        seen = kb.shared_array((WARPS, DIGITS), int)
        same = kb.shared_array((WARPS, DIGITS), uint32)
        starts = kb.shared_array(SLOTS, int)
        places = kb.shared_array(SLOTS, int)
        own = kb.vector(length=items, dtype=key)
        moved = kb.vector(length=items, dtype=value)
        ranks = kb.vector(length=items, dtype=int)
        t = kb.thread_idx()
        warp = t // 32
        bit = uint32(1) << uint32(kb.lane_id())
        base = kb.block_idx() * (BLOCK * items)
        rest = count - base
        first = warp * (32 * items) + kb.lane_id()
        for i in range(items):
            if first + i * 32 < rest:
                own[i] = keys[base + (first + i * 32)]
        for w in range(WARPS):
            seen[w, t] = 0
            same[w, t] = uint32(0)
        kb.syncthreads()
        for i in range(items):
            digit = mask  # past the end: behind all others
            if first + i * 32 < rest:
                digit = digit_of(own[i], low, high, alone, shift, mask)
            kb.atomic_or(same, warp, digit, bit)
            kb.syncwarp()
            peers = same[warp, digit]
            before = seen[warp, digit]
            kb.syncwarp()
            lower = kb.bit_count(peers & (bit - uint32(1)))
            if lower == 0:
                seen[warp, digit] = before + kb.bit_count(peers)
                same[warp, digit] = uint32(0)
            kb.syncwarp()
            ranks[i] = (digit << 16) | (before + lower)
        kb.syncthreads()
        total = 0
        for w in range(WARPS):
            of_warp = seen[w, t]
            seen[w, t] = total
            total = total + of_warp
        starts[slot(t)] = total
        scan_block(starts)
        for i in range(items):
            digit = ranks[i] >> 16
            ranks[i] = (ranks[i] & 65535) + seen[warp, digit] + starts[slot(digit)]
            key_tile[ranks[i]] = own[i]
        for i in range(items):
            if first + i * 32 < rest:
                moved[i] = values[base + (first + i * 32)]
        for i in range(items):
            value_tile[ranks[i]] = moved[i]
        places[slot(t)] = starts[slot(t)]
        if tiles > 1:
            places[slot(t)] = totals[t]
            scan_block(places)
            places[slot(t)] = places[slot(t)] + counts[t, kb.block_idx()]
        places[slot(t)] = places[slot(t)] - starts[slot(t)]
        kb.syncthreads()
        for i in range(items):
            k = i * BLOCK + t
            if k < rest:
                x = key_tile[k]
                place = places[slot(digit_of(x, low, high, alone, shift, mask))] + k
                to_keys[place] = x
                to_values[place] = value_tile[k]

    return move_pairs
