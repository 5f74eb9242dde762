"""Elements that a thread loads again though nobody has changed them: for all that a compiler knows, arrays overlap."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

N = 128
TWO = At(N, block=64, data=N, out=N)
THREE = At(N, block=64, data=N, out=N, more=N)
ROWS = At(N, block=64, scale=N, rows=(8, N))


@case("coalescing", "own", THREE)
@kb.kernel
def loaded_once_good(data: kb.array(dtype=float), out: kb.array(dtype=float), more: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0] and i < more.shape[0]:
        x = data[i]
        out[i] = x * 2.0
        more[i] = x + 1.0


@case("coalescing", "own", THREE)
@kb.kernel
def loaded_once_bad(data: kb.array(dtype=float), out: kb.array(dtype=float), more: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0] and i < more.shape[0]:
        out[i] = data[i] * 2.0
        more[i] = data[i] + 1.0  # finds coalescing KB407


@case("coalescing", "own", TWO)
@kb.kernel
def loaded_once_good_together(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        x = data[i] * 2.0
        y = data[i] + 1.0  # nothing lies between: one load
        out[i] = x * y


@case("coalescing", "own", ROWS, symbolic="any")
@kb.kernel
def same_in_every_trip_good(scale: kb.array(dtype=float), rows: kb.array2d(dtype=float)):
    i = kb.tid()
    if i < scale.shape[0] and i < rows.shape[1]:
        x = scale[i]
        for j in range(rows.shape[0]):
            rows[j, i] = rows[j, i] * x


@case("coalescing", "own", ROWS, symbolic="any")
@kb.kernel
def same_in_every_trip_bad(scale: kb.array(dtype=float), rows: kb.array2d(dtype=float)):
    i = kb.tid()
    if i < scale.shape[0] and i < rows.shape[1]:
        for j in range(rows.shape[0]):
            rows[j, i] = rows[j, i] * scale[i]  # finds coalescing KB407


@case("coalescing", "own", At(N, block=64, scale=N, rows=(8, N), out=N), symbolic="any")
@kb.kernel
def same_in_every_trip_good_sum(
    scale: kb.array(dtype=float), rows: kb.array2d(dtype=float), out: kb.array(dtype=float)
):
    i = kb.tid()
    if i < scale.shape[0] and i < rows.shape[1] and i < out.shape[0]:
        total = 0.0
        for j in range(rows.shape[0]):
            total += rows[j, i] * scale[i]  # no store in the loop: loaded before it
        out[i] = total


@case("coalescing", "own", At(N, block=64, data=N, out=N))
@kb.kernel(block_dim=64)
def over_a_barrier_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(64, float)
    t = kb.thread_idx()
    i = kb.tid()
    x = 0.0
    if i < data.shape[0]:
        x = data[i]
    tile[t] = x
    kb.syncthreads()
    if i < out.shape[0] and i < data.shape[0]:
        out[i] = tile[63 - t] + x


@case("coalescing", "own", At(N, block=64, data=N, out=N))
@kb.kernel(block_dim=64)
def over_a_barrier_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(64, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = 0.0
    if i < data.shape[0]:
        tile[t] = data[i]
    kb.syncthreads()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = tile[63 - t]
    kb.syncthreads()
    if i < data.shape[0] and i < out.shape[0]:
        out[i] = tile[t] + data[i]  # finds coalescing KB407


@case("coalescing", "own", At(64, block=64, data=64, out=64))
@kb.kernel(block_dim=64)
def over_a_barrier_good_changed(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    """Another thread of the block has stored there since."""
    t = kb.tid()
    if t < data.shape[0] and t < 64 and data.shape[0] == 64 and t < out.shape[0]:
        x = data[t]
        kb.syncthreads()
        data[63 - t] = x + 1.0
        kb.syncthreads()
        out[t] = data[t]


@case("coalescing", "own", TWO)
@kb.kernel(block_dim=64)
def past_shared_memory_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(128, float)
    t = kb.thread_idx()
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        tile[t] = data[i]
        tile[t + 64] = data[i] * 2.0  # no store to shared memory changes an array
        out[i] = tile[t] + tile[t + 64]


@case("coalescing", "own", THREE)
@kb.kernel(block_dim=64)
def past_shared_memory_bad(data: kb.array(dtype=float), out: kb.array(dtype=float), more: kb.array(dtype=float)):
    tile = kb.shared_array(128, float)
    t = kb.thread_idx()
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0] and i < more.shape[0]:
        tile[t] = data[i]
        more[i] = tile[t] + 1.0
        tile[t + 64] = data[i] * 2.0  # finds coalescing KB407
        out[i] = tile[t] + tile[t + 64]


@case("coalescing", "own", At(N, block=64, data=N, counts=4, out=N))
@kb.kernel
def past_an_atomic_good(data: kb.array(dtype=int), counts: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    if i < data.shape[0] and counts.shape[0] > 3 and i < out.shape[0]:
        x = data[i]
        kb.atomic_add(counts, 0, x)
        out[i] = x


@case("coalescing", "own", At(N, block=64, data=N, counts=4, out=N))
@kb.kernel
def past_an_atomic_bad(data: kb.array(dtype=int), counts: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    if i < data.shape[0] and counts.shape[0] > 3 and i < out.shape[0]:
        kb.atomic_add(counts, 0, data[i])
        out[i] = data[i]  # finds coalescing KB407


@case("coalescing", "own", At(N, block=64, velocity=N, position=N, force=N))
@kb.kernel
def stored_before_good(velocity: kb.array(dtype=float), position: kb.array(dtype=float), force: kb.array(dtype=float)):
    i = kb.tid()
    if i < velocity.shape[0] and i < position.shape[0] and i < force.shape[0]:
        v = velocity[i] + force[i]
        velocity[i] = v
        force[i] = 0.0
        position[i] = position[i] + v


@case("coalescing", "own", At(N, block=64, velocity=N, position=N, force=N))
@kb.kernel
def stored_before_bad(velocity: kb.array(dtype=float), position: kb.array(dtype=float), force: kb.array(dtype=float)):
    i = kb.tid()
    if i < velocity.shape[0] and i < position.shape[0] and i < force.shape[0]:
        velocity[i] = velocity[i] + force[i]
        force[i] = 0.0
        position[i] = position[i] + velocity[i]  # finds coalescing KB407


@case("coalescing", "own", At(N, block=64, velocity=N, position=N, force=N))
@kb.kernel
def stored_before_good_at_once(
    velocity: kb.array(dtype=float), position: kb.array(dtype=float), force: kb.array(dtype=float)
):
    i = kb.tid()
    if i < velocity.shape[0] and i < position.shape[0] and i < force.shape[0]:
        velocity[i] = velocity[i] + force[i]
        position[i] = position[i] + velocity[i]  # what was stored there is known


@case("coalescing", "own", TWO)
@kb.kernel
def in_another_branch_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if data[i] > 0.0:
            out[i] = 1.0
        else:
            out[i] = data[i]  # the store of the other branch does not lie between


@case("coalescing", "own", TWO)
@kb.kernel
def in_another_branch_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        x = data[i]
        if x > 0.0:
            out[i] = 1.0
        out[i] = data[i] + x  # finds coalescing KB407


@case("coalescing", "own", At(64, block=64, data=128, out=64))
@kb.kernel
def of_the_same_array_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    """What lies between may store to the element."""
    i = kb.tid()
    if i < 64 and data.shape[0] == 128 and i < out.shape[0]:
        x = data[i]
        data[i // 64 + i] = x + 1.0
        out[i] = data[i]


@case("coalescing", "own", At(64, block=64, data=128, out=64))
@kb.kernel
def of_the_same_array_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < 64 and data.shape[0] == 128 and i < out.shape[0]:
        x = data[i]
        data[i + 64] = x + 1.0
        out[i] = data[i]  # finds coalescing KB407


@case("coalescing", "own", TWO)
@kb.kernel(block_dim=64)
def by_lanes_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    kb.assume(data.shape[0] == 128)
    kb.assume(out.shape[0] == 128)
    kb.assume(i < 128)
    x = kb.shfl_xor(data[i], 1)
    out[i] = data[i] + x  # the compiler keeps it


@case("coalescing", "own", TWO)
@kb.kernel(block_dim=64)
def by_lanes_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    kb.assume(data.shape[0] == 128)
    kb.assume(out.shape[0] == 128)
    kb.assume(i < 128)
    x = data[i]
    kb.syncwarp()
    out[i] = data[i] + x  # finds coalescing KB407


@kb.func
def half(data: kb.array(dtype=float), i: int) -> float:
    return data[i] * 0.5


@kb.func
def half_again(data: kb.array(dtype=float), i: int) -> float:
    return data[i] * 0.5  # finds coalescing KB407


@case("coalescing", "own", THREE)
@kb.kernel
def in_functions_good(data: kb.array(dtype=float), out: kb.array(dtype=float), more: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0] and i < more.shape[0]:
        x = half(data, i)
        y = half(data, i)
        out[i] = x
        more[i] = y


@case("coalescing", "own", THREE)
@kb.kernel
def in_functions_bad(data: kb.array(dtype=float), out: kb.array(dtype=float), more: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0] and i < more.shape[0]:
        out[i] = half(data, i)
        more[i] = half_again(data, i)
