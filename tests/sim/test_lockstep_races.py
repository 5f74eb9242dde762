"""Races and what is none, memory that nobody has assigned to, and barriers that not all reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.sim.lockstep.lanes import CHUNK
from tests.helpers.faults import fault_of, line_of

BLOCK = 64


@kb.kernel
def all_into_one(data: kb.array(dtype=int)):
    i = kb.tid()
    data[0] = i


@kb.kernel
def same_into_one(data: kb.array(dtype=float), value: float):
    i = kb.tid()
    data[i % 2] = value


@kb.kernel
def from_two_places(flag: kb.array(dtype=int), a: int, b: int):
    i = kb.tid()
    if i == 3:
        flag[0] = a
    if i == 7:
        flag[0] = b


@kb.kernel(block_dim=BLOCK)
def after_readers_of_two_blocks(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    t = kb.thread_idx()
    if kb.block_idx() == 0:
        out[i] = data[0] * 2
    else:
        if t == 5:
            out[i] = data[0]
        if t == 6:
            out[i] = data[0] + 1
        if t == 7:
            out[i] = data[0] + 2
    kb.syncthreads()
    if i == BLOCK:
        data[0] = 5


@kb.kernel(block_dim=BLOCK)
def after_readers_of_two_warps(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if t == 40:
        out[t] = data[0] * 2
    if t == 1:
        out[t] = data[0]
    if t == 2:
        out[t] = data[0] + 1
    kb.syncwarp()
    if t == 0:
        data[0] = 5


@kb.kernel
def from_the_neighbour(data: kb.array(dtype=float)):
    i = kb.tid()
    x = data[(i + 1) % 8]
    data[i] = x + 1.0


@kb.kernel
def to_the_neighbour(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    data[i + 1] = i + 10
    y = data[i]
    out[i] = y


@kb.kernel
def parts(data: kb.array(dtype=kb.vec3)):
    i = kb.tid()
    data[i % 2][i] = float(i)


@kb.kernel
def added(data: kb.array(dtype=float)):
    i = kb.tid()
    data[i % 3] += 1.0
    kb.atomic_max(data, 3, float(i))


@kb.kernel
def added_and_read(data: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    kb.atomic_add(data, 0, 1)
    out[i] = data[0]


@kb.kernel
def added_and_written(data: kb.array(dtype=int)):
    i = kb.tid()
    kb.atomic_add(data, 0, 1)
    if i == 3:
        data[0] = 100


@kb.kernel
def two_arrays(a: kb.array(dtype=int), b: kb.array(dtype=int)):
    i = kb.tid()
    a[i] = b[(i + 1) % 4] + 1


@kb.kernel(block_dim=BLOCK)
def reversed_block(data: kb.array(dtype=float), waits: bool):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()]
    if waits:
        kb.syncthreads()
    data[kb.tid()] = tile[BLOCK - 1 - t]


@kb.kernel(block_dim=BLOCK)
def sums(data: kb.array(dtype=float), out: kb.array(dtype=float), is_last_missing: bool):
    tile = kb.shared_array(BLOCK, float)
    t = kb.thread_idx()
    tile[t] = data[kb.tid()]
    kb.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            tile[t] = tile[t] + tile[t + half]
        if not is_last_missing or half > 1:
            kb.syncthreads()
        half = half // 2
    if t == 1 or BLOCK == 1:
        out[kb.block_idx()] = tile[0]


@kb.kernel(block_dim=BLOCK)
def used_twice(data: kb.array(dtype=int)):
    tile = kb.shared_array(1, int)
    t = kb.thread_idx()
    for k in range(3):
        if t == k:
            tile[0] = k
        kb.syncthreads()
        data[kb.tid()] += tile[0]


@kb.kernel(block_dim=BLOCK)
def within_warps(data: kb.array(dtype=int), waits: bool):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = t
    if waits:
        kb.syncwarp()
    data[kb.tid()] = tile[t ^ 1]


@kb.kernel(block_dim=BLOCK)
def across_warps(data: kb.array(dtype=int)):
    tile = kb.shared_array(BLOCK, int)
    t = kb.thread_idx()
    tile[t] = t
    kb.syncwarp()
    data[kb.tid()] = tile[(t + 32) % BLOCK]


@kb.kernel(block_dim=BLOCK)
def across_blocks(data: kb.array(dtype=int)):
    i = kb.tid()
    data[i] = i
    kb.syncthreads()
    data[i] = data[(i + BLOCK) % (2 * BLOCK)] + 1


@kb.kernel(block_dim=BLOCK)
def unassigned(out: kb.array(dtype=float), n: int):
    tile = kb.shared_array((2, BLOCK), float)
    t = kb.thread_idx()
    if t < n:
        tile[1, t] = 1.0
    kb.syncthreads()
    out[kb.tid()] = tile[1, t]


@kb.kernel(block_dim=BLOCK)
def counted(out: kb.array(dtype=int), clears: bool):
    count = kb.shared_array(1, int)
    if clears and kb.thread_idx() == 0:
        count[0] = 0
    kb.syncthreads()
    kb.atomic_add(count, 0, 1)
    kb.syncthreads()
    out[kb.block_idx()] = count[0]


@kb.kernel(block_dim=BLOCK)
def in_a_branch(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if t < 40:
        kb.syncthreads()
    out[kb.tid()] = t


@kb.kernel(block_dim=BLOCK)
def after_some_have_left(out: kb.array(dtype=int), n: int):
    i = kb.tid()
    if i >= n:
        return
    kb.syncthreads()
    out[i] = i


@kb.kernel(block_dim=BLOCK)
def in_a_loop(out: kb.array(dtype=int), trips: kb.array(dtype=int)):
    t = kb.thread_idx()
    for k in range(trips[t]):
        out[t] = k
        kb.syncthreads()


@kb.kernel(block_dim=BLOCK)
def in_both_branches(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if t % 2 == 0:
        kb.syncthreads()
    else:
        kb.syncthreads()
    out[t] = t


@kb.kernel(block_dim=BLOCK)
def half_a_warp(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if kb.lane_id() < 16:
        kb.syncwarp(mask=0xFFFF)
    out[t] = t


@kb.kernel(block_dim=BLOCK)
def half_of_a_whole_warp(out: kb.array(dtype=int)):
    t = kb.thread_idx()
    if kb.lane_id() < 16:
        kb.syncwarp()
    out[t] = t


def ints(n: int) -> Any:
    return np.zeros(n, np.int32)


def floats(n: int) -> Any:
    return np.zeros(n, np.float32)


# Global memory


def test_two_threads_write_different_values() -> None:
    race = fault_of(kb.sim.Race, all_into_one, 2, [ints(1)])
    assert race.span.line == race.other_span.line == line_of(all_into_one, "data[0] = i")
    assert {race.thread, race.other_thread} == {(0,), (1,)}
    assert race.variables["i"] == race.thread[0]
    assert race.reason.startswith(f"thread {race.other_thread} writes data[0] (line {race.span.line}), and thread")


def test_writes_of_one_value_are_none() -> None:
    data = floats(2)
    kb.sim.run(same_into_one, 1000, [data, 3.5])
    assert data.tolist() == [3.5, 3.5]


def test_writes_of_one_value_in_two_places_are_none() -> None:
    flag = ints(1)
    kb.sim.run(from_two_places, 8, [flag, 4, 4])
    assert flag.tolist() == [4]
    kb.sim.run(same_into_one, 200_000, [floats(2), 1.0])
    race = fault_of(kb.sim.Race, from_two_places, 8, [flag, 4, 5])
    assert (race.other_span.line, race.other_thread) == (line_of(from_two_places, "flag[0] = a"), (3,))
    assert (race.span.line, race.thread) == (line_of(from_two_places, "flag[0] = b"), (7,))
    assert (race.variables["a"], race.variables["b"], race.variables["i"]) == (4, 5, 7)


def test_readers_of_another_block_are_not_forgotten() -> None:
    """Those of the writer's own block, who came later, have a barrier between them and the write."""
    race = fault_of(kb.sim.Race, after_readers_of_two_blocks, 2 * BLOCK, [ints(1), ints(2 * BLOCK)])
    assert (race.span.line, race.thread) == (line_of(after_readers_of_two_blocks, "data[0] = 5"), (BLOCK,))
    assert race.other_span.line == line_of(after_readers_of_two_blocks, "= data[0] * 2")
    assert race.other_thread[0] < BLOCK
    kb.sim.run(after_readers_of_two_blocks, BLOCK, [ints(1), ints(BLOCK)])


def test_readers_of_another_warp_are_not_forgotten() -> None:
    race = fault_of(kb.sim.Race, after_readers_of_two_warps, BLOCK, [ints(1), ints(BLOCK)])
    assert (race.span.line, race.thread) == (line_of(after_readers_of_two_warps, "data[0] = 5"), (0,))
    assert race.other_span.line == line_of(after_readers_of_two_warps, "= data[0] * 2")
    assert race.other_thread == (40,)


def test_a_thread_reads_what_another_writes() -> None:
    race = fault_of(kb.sim.Race, from_the_neighbour, 8, [floats(8)])
    assert race.other_span.line == line_of(from_the_neighbour, "x = data")
    assert race.span.line == line_of(from_the_neighbour, "data[i] = x")
    assert ((race.other_thread[0] + 1) % 8,) == race.thread
    assert race.variables["i"] == race.thread[0]
    assert "reads data" in race.reason
    assert f"writes it (line {race.span.line}), with no barrier between them" in race.reason


def test_a_thread_writes_what_another_reads_then() -> None:
    race = fault_of(kb.sim.Race, to_the_neighbour, 4, [ints(5), ints(4)])
    assert race.other_span.line == line_of(to_the_neighbour, "data[i + 1]")
    assert race.span.line == line_of(to_the_neighbour, "y = data")
    assert race.thread == (race.other_thread[0] + 1,)
    assert f"data[{race.thread[0]}] " in race.reason


def test_threads_at_different_parts_of_an_element_are_none() -> None:
    data = np.zeros((2, 3), np.float32)
    kb.sim.run(parts, 3, [data])
    assert data.tolist() == [[0, 0, 2], [0, 1, 0]]


def test_atomics_are_none() -> None:
    data = floats(4)
    kb.sim.run(added, 300, [data])
    assert data.tolist() == [100, 100, 100, 299]


def test_reading_beside_atomics_is_none() -> None:
    data, out = ints(1), ints(4)
    kb.sim.run(added_and_read, 4, [data, out])
    assert data.tolist() == [4]


def test_writing_beside_atomics_is_one() -> None:
    race = fault_of(kb.sim.Race, added_and_written, 8, [ints(1)])
    assert race.other_span.line == line_of(added_and_written, "kb.atomic_add")
    assert (race.span.line, race.thread) == (line_of(added_and_written, "data[0] = 100"), (3,))
    assert race.other_thread != (3,)
    assert "changes (atomic)" in race.reason


def test_two_parameters_over_one_memory() -> None:
    """The race of an output that is an input too, which its shapes do not show."""
    data = ints(4)
    kb.sim.run(two_arrays, 4, [ints(4), data])
    race = fault_of(kb.sim.Race, two_arrays, 4, [data, data])
    assert race.span.line == line_of(two_arrays, "a[i] = b")
    assert "a[0] (also b[0])" in race.reason


def test_two_launches_see_one_another() -> None:
    data = ints(4)
    kb.sim.run(two_arrays, 4, [data, ints(4)])
    kb.sim.run(two_arrays, 4, [ints(4), data])


def test_blocks_do_not_wait_for_one_another() -> None:
    race = fault_of(kb.sim.Race, across_blocks, 2 * BLOCK, [ints(2 * BLOCK)])
    assert race.span.line == line_of(across_blocks, "+ BLOCK)")
    assert abs(race.thread[0] - race.other_thread[0]) == BLOCK


def test_nothing_is_looked_for_where_that_is_asked() -> None:
    data = ints(1)
    kb.sim.run(all_into_one, 5, [data], races=False)
    assert data.tolist() == [4]


def test_a_race_in_a_launch_of_many_chunks() -> None:
    """Threads that do not run side by side here."""
    race = fault_of(kb.sim.Race, all_into_one, 2 * CHUNK, [ints(1)])
    assert race.thread != race.other_thread


# Shared memory


def test_a_missing_barrier() -> None:
    data = np.arange(2 * BLOCK, dtype=np.float32)
    wanted = data.reshape(2, BLOCK)[:, ::-1].ravel().tolist()
    race = fault_of(kb.sim.Race, reversed_block, 2 * BLOCK, [data.copy(), False])
    assert race.other_span.line == line_of(reversed_block, "tile[t] = data")
    assert race.span.line == line_of(reversed_block, "= tile[BLOCK")
    assert race.thread[0] % BLOCK + race.other_thread[0] % BLOCK == BLOCK - 1
    assert race.thread[0] // BLOCK == race.other_thread[0] // BLOCK
    assert race.variables["t"] == race.thread[0] % BLOCK
    assert "tile[" in race.reason
    assert "] (shared memory)" in race.reason
    kb.sim.run(reversed_block, 2 * BLOCK, [data, True])
    assert data.tolist() == wanted


def test_the_last_barrier_of_a_reduction() -> None:
    data, out = np.ones(3 * BLOCK, np.float32), floats(3)
    kb.sim.run(sums, 3 * BLOCK, [data, out, False])
    assert out.tolist() == [BLOCK] * 3
    race = fault_of(kb.sim.Race, sums, 3 * BLOCK, [data, out, True])
    assert race.other_span.line == line_of(sums, "tile[t] = tile[t] +")
    assert race.span.line == line_of(sums, "= tile[0]")
    assert (race.other_thread, race.thread) == ((0,), (1,))


def test_the_barrier_before_the_next_trip() -> None:
    race = fault_of(kb.sim.Race, used_twice, BLOCK, [ints(BLOCK)])
    assert race.other_span.line == line_of(used_twice, "+= tile[0]")
    assert (race.span.line, race.thread) == (line_of(used_twice, "tile[0] = k"), (1,))
    assert race.variables["k"] == 1


def test_barriers_of_warps() -> None:
    data = ints(BLOCK)
    kb.sim.run(within_warps, BLOCK, [data, True])
    assert data.tolist() == [t ^ 1 for t in range(BLOCK)]
    race = fault_of(kb.sim.Race, within_warps, BLOCK, [data, False])
    assert race.thread[0] ^ 1 == race.other_thread[0]
    race = fault_of(kb.sim.Race, across_warps, BLOCK, [data])
    assert race.span.line == line_of(across_warps, "tile[(t + 32)")
    assert abs(race.thread[0] - race.other_thread[0]) == 32


@pytest.mark.parametrize("n", [0, 40])
def test_memory_that_nobody_has_assigned_to(n: int) -> None:
    fault = fault_of(kb.sim.Unassigned, unassigned, 2 * BLOCK, [floats(2 * BLOCK), n])
    assert (fault.span.line, fault.thread) == (line_of(unassigned, "= tile[1, t]"), (n,))
    assert fault.variables["t"] == n
    assert fault.reason == f"tile[1, {n}] (shared memory) is read before anything is assigned to it"


def test_assigned_memory() -> None:
    out = floats(2 * BLOCK)
    kb.sim.run(unassigned, 2 * BLOCK, [out, BLOCK])
    assert out.tolist() == [1.0] * (2 * BLOCK)


def test_blocks_do_not_find_what_others_assigned() -> None:
    """In the next chunk of blocks either."""
    fault = fault_of(kb.sim.Unassigned, counted, BLOCK, [ints(1), False])
    assert (fault.span.line, fault.thread) == (line_of(counted, "kb.atomic_add"), (0,))
    out = ints(3000)
    kb.sim.run(counted, 3000 * BLOCK, [out, True])
    assert set(out.tolist()) == {BLOCK}


# Barriers


def test_a_barrier_in_a_branch() -> None:
    fault = fault_of(kb.sim.Divergence, in_a_branch, 2 * BLOCK, [ints(2 * BLOCK)])
    assert fault.span.line == line_of(in_a_branch, "kb.syncthreads")
    assert (fault.thread, fault.variables["t"]) == ((0,), 0)
    assert fault.reason.endswith("not all threads of the block reach: thread (40,) is not there")


def test_threads_that_have_ended() -> None:
    fault = fault_of(kb.sim.Divergence, after_some_have_left, 2 * BLOCK, [ints(2 * BLOCK), BLOCK + 7])
    assert (fault.span.line, fault.thread) == (line_of(after_some_have_left, "kb.syncthreads"), (BLOCK,))
    assert fault.reason.endswith(f"thread ({BLOCK + 7},) has ended")


def test_a_block_that_has_ended_as_a_whole() -> None:
    out = ints(3 * BLOCK)
    kb.sim.run(after_some_have_left, 3 * BLOCK, [out, 2 * BLOCK])
    assert out.tolist() == [*range(2 * BLOCK), *[0] * BLOCK]


def test_loops_of_different_length() -> None:
    trips = np.full(BLOCK, 3, np.int32)
    kb.sim.run(in_a_loop, BLOCK, [ints(BLOCK), trips])
    trips[5] = 2
    fault = fault_of(kb.sim.Divergence, in_a_loop, BLOCK, [ints(BLOCK), trips])
    assert (fault.span.line, fault.thread) == (line_of(in_a_loop, "kb.syncthreads"), (0,))
    assert fault.variables["k"] == 2
    assert fault.reason.endswith("thread (5,) is not there")


def test_two_barriers_are_not_one() -> None:
    fault = fault_of(kb.sim.Divergence, in_both_branches, BLOCK, [ints(BLOCK)])
    assert fault.thread == (0,)
    assert fault.reason.endswith("thread (1,) is not there")


def test_lanes_of_a_mask() -> None:
    out = ints(BLOCK)
    kb.sim.run(half_a_warp, BLOCK, [out])
    assert out.tolist() == list(range(BLOCK))
    fault = fault_of(kb.sim.Divergence, half_of_a_whole_warp, BLOCK, [out])
    assert (fault.span.line, fault.thread) == (line_of(half_of_a_whole_warp, "kb.syncwarp"), (0,))
    assert fault.reason.endswith("not all threads of the lanes 0xffffffff reach: thread (16,) is not there")


def test_launches_of_blocks_in_part_are_refused() -> None:
    with pytest.raises(kb.LaunchError, match=r"reversed_block: .*64"):
        kb.sim.run(reversed_block, BLOCK + 1, [floats(2 * BLOCK), True])
