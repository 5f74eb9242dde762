"""The memory access model against an H200's counters, and against the rules written out lane by lane."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.errors import InternalError
from kbuild.traffic.access import SIZES, Traffic, affine_traffic, traffic, traffic_per_warp
from tests.helpers import golden
from tests.helpers.counter_data import cycles, launches
from tests.helpers.counter_scores import lane_mismatches, scores, table

# (exact, of) for each prediction. docs/design/access-model.md says what is known of those that are not all exact.
EXPECTED = {
    "shared load wavefronts": (285, 285),
    "shared store wavefronts": (296, 296),
    "shared atomic wavefronts": (44, 44),
    "shared load conflicts": (84, 84),
    "shared store conflicts": (70, 70),
    "shared atomic conflicts": (35, 35),
    "global load requests": (497, 497),
    "global store requests": (418, 418),
    "global RED requests": (90, 90),
    "global ATOM requests": (10, 10),
    "global load sectors": (497, 497),
    "global store sectors, patched SASS": (418, 418),
    "global store sectors, hardware": (382, 418),
    "global RED sectors": (74, 90),
    "global ATOM sectors": (9, 10),
    "tags": (508, 508),
    "load set accesses": (497, 497),
    "tag-stage wavefronts, loads": (497, 497),
    "tag-stage wavefronts, stores": (418, 418),
    "tag-stage wavefronts, RED": (68, 90),
    "tag-stage wavefronts, ATOM": (6, 10),
}
LARGEST_ERROR = {
    "global store sectors, hardware": 0.05,
    "global RED sectors": 0.018,
    "global ATOM sectors": 0.01,
    "tag-stage wavefronts, RED": 0.047,
    "tag-stage wavefronts, ATOM": 0.016,
}
# The compiler adds up what the lanes of a warp add to one address, and one lane does the atomic; compare-and-swap
# passes the tag stage twice.
NOT_THE_MODELS = {"1/ga_int_same_noret", "1/ga_cas_distinct"}


def test_every_launch_was_scored():
    assert len(launches()) == 508
    assert lane_mismatches() == []
    assert {score.title: score.left_out for score in scores() if score.left_out} == {
        "shared load wavefronts": 11,
        "shared atomic wavefronts": 11,
        "shared load conflicts": 11,
        "shared atomic conflicts": 11,
    }


def test_predictions_are_as_exact_as_ever():
    assert {score.title: (score.exact, score.launches) for score in scores()} == EXPECTED


@pytest.mark.parametrize("title", EXPECTED)
def test_what_is_not_exact_is_near(title):
    score = next(score for score in scores() if score.title == title)
    others = [m for m in score.mismatches if m.launch not in NOT_THE_MODELS]
    assert max((abs(m.error) for m in others), default=0.0) <= LARGEST_ERROR.get(title, 0.0)


def test_mismatches_are_the_known_ones(request):
    golden.check(Path(__file__).with_name("counters.txt"), table(), request.config)


@pytest.mark.parametrize("instruction", ["lds", "sts", "ldg"])
def test_cycles_of_a_saturated_multiprocessor(instruction):
    """With 32 warps a multiprocessor needs as many cycles an instruction as it has wavefronts. A global load that hits
    the L1 cache goes through the same banks, without the merging of pairs, and through the tag stage.
    """
    checked = 0
    for name, measured in cycles(instruction, threads=1024).items():
        bits, stride = name
        lanes = np.arange(32)
        addresses = lanes * stride * (bits // 8)
        kind = "load" if instruction == "lds" else "store"
        predicted = traffic("shared", kind, addresses, lanes, bits // 8).wavefronts
        if instruction == "ldg":
            predicted = max(predicted, traffic("global", "load", addresses, lanes, bits // 8).wavefronts)
        floor = 1.57 if instruction == "ldg" else 1.0  # no more loads than that wait at a time
        assert measured == pytest.approx(max(predicted, floor), rel=0.08 if instruction == "ldg" else 0.05)
        checked += 1
    assert checked == {"lds": 17, "sts": 13, "ldg": 21}[instruction]


# ---- the same rules, written for one warp in plain Python


def by_hand(space: str, kind: str, addresses: dict[int, int], size: int) -> Traffic:
    """The cost of one warp, `addresses` by lane."""
    if space == "shared":
        return Traffic(1, 0, 0, *shared_by_hand(kind, addresses, size))
    sectors = {a // 32 for a in addresses.values()}
    lines = {a // 128 for a in addresses.values()}
    if kind in ("load", "store"):
        busiest = Counter(tag_bank(line) for line in lines)
        return Traffic(1, len(sectors), len(lines), max(busiest.values()), 0)
    lanes = Counter(addresses.values())
    rounds = sum(max(n for a, n in lanes.items() if a // 32 == sector) for sector in sectors)
    queues: dict[int, list[int]] = {}
    for line in sorted(lines):
        queues.setdefault(tag_bank(line), []).append(max(n for a, n in lanes.items() if a // 128 == line))
    turns = range(max(map(len, queues.values())))
    passes = sum(max(queue[turn] for queue in queues.values() if turn < len(queue)) for turn in turns)
    return Traffic(1, rounds, len(lines), passes, 0)


def tag_bank(line: int) -> int:
    first = sum(line >> bit & 1 for bit in (0, 2, 4, 5, 7, 9, 11, 12, 13)) % 2
    second = sum(line >> bit & 1 for bit in (1, 3, 4, 6, 7, 8, 10, 12)) % 2
    return first + 2 * second


def shared_by_hand(kind: str, addresses: dict[int, int], size: int) -> tuple[int, int]:
    lanes_of_group = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[size]
    if kind == "load" and size >= 8 and any(agree(addresses, bit) for bit in (1, 2)):
        lanes_of_group *= 2
    groups: dict[int, dict[int, int]] = {}
    for lane, address in addresses.items():
        groups.setdefault(lane // lanes_of_group, {})[lane] = address
    wavefronts = 0
    for group in groups.values():
        words = [w for a in group.values() for w in range(a // 4, (a + size - 1) // 4 + 1)]
        banks = Counter(w % 32 for w in (words if kind == "atomic" else set(words)))
        wavefronts += max(banks.values())
    return wavefronts, wavefronts - len(groups)


def agree(addresses: dict[int, int], bit: int) -> bool:
    return all(addresses.get(lane ^ bit, address) == address for lane, address in addresses.items())


@st.composite
def accesses(draw: st.DrawFn) -> tuple[str, str, np.ndarray, np.ndarray, int]:
    """An event of up to 8 warps somewhere in the launch, some of them empty, with few or many different addresses."""
    space = draw(st.sampled_from(["shared", "global"]))
    kind = draw(st.sampled_from(["load", "store", "atomic", "increment"]))
    size = draw(st.sampled_from(SIZES if kind in ("load", "store") else (4, 8)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    first = draw(st.sampled_from([0, 5, 100_000]))
    lanes = first * 32 + np.flatnonzero(
        random.random(draw(st.integers(1, 256))) < draw(st.sampled_from([1.0, 0.5, 0.05]))
    )
    if draw(st.booleans()):
        lanes = random.permutation(lanes)
    if draw(st.booleans()):
        lanes = lanes * 32 + lanes % 32  # far apart: each in a warp of its own
    span = 232_448 if space == "shared" else draw(st.sampled_from([1 << 12, 1 << 20, 1 << 33]))
    different = draw(st.sampled_from([1, 4, 40, span // size]))
    units = random.integers(0, min(different, span // size), len(lanes)) * draw(st.sampled_from([1, 1, 2, 8, 33]))
    pairs = draw(st.sampled_from([0, 0, 1, 2]))
    if pairs:
        partners = {int(lane): int(unit) for lane, unit in zip(lanes, units, strict=True)}
        units = np.array([partners.get(int(lane) & ~pairs, partners[int(lane)]) for lane in lanes], np.int64)
    base = 0 if space == "shared" else draw(st.sampled_from([0, 1 << 33])) + size * draw(st.integers(0, 100))
    return space, kind, base + units % (span // size) * size, lanes, size


@given(accesses())
@settings(max_examples=400, deadline=None)
def test_many_warps_at_once_are_each_warp_by_hand(event):
    space, kind, addresses, lanes, size = event
    warps: dict[int, dict[int, int]] = {}
    for lane, address in zip(lanes.tolist(), addresses.tolist(), strict=True):
        warps.setdefault(lane // 32, {})[lane % 32] = address
    expected = {warp: by_hand(space, kind, warps[warp], size) for warp in sorted(warps)}
    rows = traffic_per_warp(space, kind, addresses, lanes, size)
    found = zip(rows.sectors, rows.tags, rows.wavefronts, rows.conflicts, strict=True)
    assert rows.warps.tolist() == list(expected)
    assert [Traffic(1, *map(int, row)) for row in found] == list(expected.values())
    assert traffic(space, kind, addresses, lanes, size) == sum(expected.values(), Traffic())


@given(
    st.sampled_from(["shared", "global"]),
    st.sampled_from(["load", "store", "atomic", "increment"]),
    st.sampled_from(SIZES),
    st.integers(-40, 300),
    st.integers(0, 200),
    st.integers(0, 6),
    st.integers(0, 31),
)
@settings(max_examples=400, deadline=None)
def test_a_stride_costs_what_its_addresses_cost(space, kind, size, stride, start, warps, more):
    """The closed form and `traffic`, which finds strides, against the general rules."""
    lanes = np.arange(warps * 32, dtype=np.int64)
    base = (1 << 20) + start * size
    addresses = base + stride * size * lanes
    rows = traffic_per_warp(space, kind, addresses, lanes, size)
    sums = [int(c.sum()) for c in (rows.sectors, rows.tags, rows.wavefronts, rows.conflicts)]
    assert affine_traffic(space, kind, base, stride * size, warps, size) == Traffic(len(rows.warps), *sums)
    lanes = np.arange(64, 64 + warps * 32 + more, dtype=np.int64)
    addresses = base + stride * size * lanes
    rows = traffic_per_warp(space, kind, addresses, lanes, size)
    sums = [int(c.sum()) for c in (rows.sectors, rows.tags, rows.wavefronts, rows.conflicts)]
    assert traffic(space, kind, addresses, lanes, size) == Traffic(len(rows.warps), *sums)


@pytest.mark.parametrize("space", ["shared", "global"])
@pytest.mark.parametrize("kind", ["load", "store", "atomic", "increment"])
def test_nobody_accesses_nothing(space, kind):
    nothing = np.zeros(0, np.int64)
    assert astuple(traffic(space, kind, nothing, nothing, 4)) == (0, 0, 0, 0, 0)
    assert affine_traffic(space, kind, 0, 4, 0, 4) == Traffic()


def test_a_width_that_no_instruction_has():
    with pytest.raises(InternalError, match="an access of 12 bytes"):
        traffic("global", "load", np.zeros(1, np.int64), np.zeros(1, np.int64), 12)
