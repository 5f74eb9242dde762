"""Blocks that tell one another something: flags, fences and their scopes, the block that comes last, queues, tokens."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)

BLOCK = 32
FLAG = At(2 * BLOCK, data=BLOCK, flag=[0], out=BLOCK)


@case("global-races", "ScoR", FLAG, symbolic="unknown")
@kb.kernel(block_dim=BLOCK)
def handed_over_good(data: Ints, flag: Ints, out: Ints):
    told = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t < data.shape[0] and t < out.shape[0] and flag.shape[0] == 1:
        if kb.block_idx() == 0:
            data[t] = 3 * t
    kb.syncthreads()
    if t == 0:
        told[0] = 0
        if flag.shape[0] == 1:
            if kb.block_idx() == 0:
                kb.atomic_exch(flag, 0, 1, order="release")
            else:
                told[0] = kb.atomic_add(flag, 0, 0, order="acquire")
    kb.syncthreads()
    if told[0] == 1 and kb.block_idx() == 1 and t < data.shape[0] and t < out.shape[0]:
        out[t] = data[t]


@case("global-races", "ScoR", FLAG)
@kb.kernel(block_dim=BLOCK)
def handed_over_bad(data: Ints, flag: Ints, out: Ints):
    told = kb.shared_array(1, int)
    t = kb.thread_idx()
    if t == 0:
        told[0] = 0
        if flag.shape[0] == 1:
            if kb.block_idx() == 0:
                kb.atomic_exch(flag, 0, 1, order="release")
            else:
                told[0] = kb.atomic_add(flag, 0, 0, order="acquire")
    kb.syncthreads()
    if t < data.shape[0] and t < out.shape[0] and flag.shape[0] == 1:
        if kb.block_idx() == 0:
            data[t] = 3 * t  # finds global-races
    if told[0] == 1 and kb.block_idx() == 1 and t < data.shape[0] and t < out.shape[0]:
        out[t] = data[t]  # finds global-races


@case("global-races", "ScoR", At(2, block=1, data=1, flag=[0], out=1), symbolic="unknown")
@kb.kernel
def waited_for_good(data: Ints, flag: Ints, out: Ints):
    if data.shape[0] == 1 and flag.shape[0] == 1 and out.shape[0] == 1:
        if kb.tid() == 0:
            data[0] = 42
            kb.atomic_exch(flag, 0, 1, order="release")
        elif kb.tid() == 1:
            while kb.atomic_add(flag, 0, 0, order="acquire") == 0:
                pass
            out[0] = data[0]


@case("global-races", "ScoR", At(2, block=1, data=1, flag=[0], out=1))
@kb.kernel
def waited_for_bad(data: Ints, flag: Ints, out: Ints):
    if data.shape[0] == 1 and flag.shape[0] == 1 and out.shape[0] == 1:
        if kb.tid() == 0:
            data[0] = 42  # finds global-races
            kb.atomic_exch(flag, 0, 1, order="release")
        elif kb.tid() == 1:
            while kb.atomic_add(flag, 0, 0) == 0:
                pass
            out[0] = data[0]  # finds global-races


@case("global-races", "ScoR", At(2, block=1, data=1, flag=[0], out=1))
@kb.kernel
def waited_for_bad_scope(data: Ints, flag: Ints, out: Ints):
    if data.shape[0] == 1 and flag.shape[0] == 1 and out.shape[0] == 1:
        if kb.tid() == 0:
            data[0] = 42  # finds global-races
            kb.atomic_exch(flag, 0, 1, order="release", scope="block")  # finds global-races
        elif kb.tid() == 1:
            while kb.atomic_add(flag, 0, 0, order="acquire") == 0:  # finds global-races
                pass
            out[0] = data[0]  # finds global-races


@case("global-races", "ScoR", At(2, block=1, data=1, flag=[0], out=1))
@kb.kernel
def waited_for_bad_plain(data: Ints, flag: Ints, out: Ints):
    if data.shape[0] == 1 and flag.shape[0] == 1 and out.shape[0] == 1:
        if kb.tid() == 0:
            data[0] = 42  # finds global-races
            flag[0] = 1  # finds global-races
        elif kb.tid() == 1:
            if flag[0] == 1:  # finds global-races
                out[0] = data[0]  # finds global-races


@case("global-races", "ScoR", At(4, block=2, lock=[0, 0], data=2), symbolic="unknown")
@kb.kernel(block_dim=2)
def locked_by_block_good(lock: Ints, data: Ints):
    b = kb.block_idx()
    if b < lock.shape[0] and b < data.shape[0]:
        done = 0
        while done == 0:
            if kb.atomic_cas(lock, b, 0, 1, order="acquire", scope="block") == 0:
                data[b] = data[b] + 1  # may overflow
                kb.atomic_exch(lock, b, 0, order="release", scope="block")
                done = 1


@case("global-races", "ScoR", At(4, block=2, lock=[0], data=2))
@kb.kernel(block_dim=2)
def locked_by_block_bad(lock: Ints, data: Ints):
    if lock.shape[0] == 1 and data.shape[0] > 0:
        done = 0
        while done == 0:
            if kb.atomic_cas(lock, 0, 0, 1, order="acquire", scope="block") == 0:  # finds global-races
                data[0] = data[0] + 1  # finds global-races
                kb.atomic_exch(lock, 0, 0, order="release", scope="block")  # finds global-races
                done = 1


LAST = At(4 * BLOCK, data=4 * BLOCK, parts=4, tickets=[0], out=1)


@case("global-races", "ScoR", LAST, symbolic="unknown")
@kb.kernel(block_dim=BLOCK)
def last_one_adds_good(data: Floats, parts: Floats, tickets: Ints, out: Floats):
    own = kb.warp_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0.0)
    if kb.lane_id() == 0 and kb.block_idx() < parts.shape[0] and tickets.shape[0] == 1 and out.shape[0] == 1:
        parts[kb.block_idx()] = own
        if kb.atomic_add(tickets, 0, 1, order="acq_rel") == kb.grid_dim() - 1:
            total = 0.0
            for b in range(kb.min(kb.grid_dim(), parts.shape[0])):
                total += parts[b]
            out[0] = total


@case("global-races", "ScoR", LAST)
@kb.kernel(block_dim=BLOCK)
def last_one_adds_bad(data: Floats, parts: Floats, tickets: Ints, out: Floats):
    own = kb.warp_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0.0)
    if kb.lane_id() == 0 and kb.block_idx() < parts.shape[0] and tickets.shape[0] == 1 and out.shape[0] == 1:
        ticket = kb.atomic_add(tickets, 0, 1, order="acq_rel")
        parts[kb.block_idx()] = own  # finds global-races
        if ticket == kb.grid_dim() - 1:
            total = 0.0
            for b in range(kb.min(kb.grid_dim(), parts.shape[0])):
                total += parts[b]  # finds global-races
            out[0] = total


@case("global-races", "ScoR", LAST)
@kb.kernel(block_dim=BLOCK)
def last_one_adds_bad_relaxed(data: Floats, parts: Floats, tickets: Ints, out: Floats):
    own = kb.warp_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0.0)
    if kb.lane_id() == 0 and kb.block_idx() < parts.shape[0] and tickets.shape[0] == 1 and out.shape[0] == 1:
        parts[kb.block_idx()] = own  # finds global-races
        if kb.atomic_add(tickets, 0, 1, order="acquire") == kb.grid_dim() - 1:
            total = 0.0
            for b in range(kb.min(kb.grid_dim(), parts.shape[0])):
                total += parts[b]  # finds global-races
            out[0] = total


@case("global-races", "ScoR", At(4 * BLOCK, data=4 * BLOCK, counts=4))
@kb.kernel(block_dim=BLOCK)
def counter_of_a_block_good(data: Floats, counts: Ints):
    if kb.tid() < data.shape[0] and kb.block_idx() < counts.shape[0]:
        if data[kb.tid()] > 10.0:
            kb.atomic_add(counts, kb.block_idx(), 1, scope="block")


@case("global-races", "ScoR", At(4 * BLOCK, data=4 * BLOCK, counts=4))
@kb.kernel(block_dim=BLOCK)
def counter_of_a_block_bad(data: Floats, counts: Ints):
    if kb.tid() < data.shape[0] and kb.block_idx() < counts.shape[0]:
        if data[kb.tid()] > 10.0:
            kb.atomic_add(counts, kb.block_idx() // 2, 1, scope="block")  # finds global-races


@case("global-races", "Indigo", At(4 * BLOCK, data=4 * BLOCK, size=[0], kept=4 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def place_from_a_counter_good(data: Floats, size: Ints, kept: Ints):
    i = kb.tid()
    if i < data.shape[0] and size.shape[0] == 1 and data[i] > 20.0:
        k = kb.atomic_add(size, 0, 1)
        if 0 <= k < kept.shape[0]:
            kept[k] = i


@case("global-races", "Indigo", At(4 * BLOCK, data=4 * BLOCK, size=[0], kept=4 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def place_from_a_counter_bad(data: Floats, size: Ints, kept: Ints):
    i = kb.tid()
    if i < data.shape[0] and size.shape[0] == 1 and data[i] > 20.0:
        k = size[0]  # finds global-races
        kb.atomic_add(size, 0, 1)  # finds global-races
        if 0 <= k < kept.shape[0]:
            kept[k] = i  # finds global-races


@case("global-races", "own", At(4 * BLOCK, data=4 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def turned_within_blocks_good(data: Floats):
    first = kb.block_idx() * BLOCK
    t = kb.thread_idx()
    x = data[first + BLOCK - 1 - t] if first + BLOCK <= data.shape[0] else 0.0
    kb.syncthreads()
    if first + BLOCK <= data.shape[0]:
        data[first + t] = x


@case("global-races", "own", At(4 * BLOCK, data=4 * BLOCK))
@kb.kernel(block_dim=BLOCK)
def turned_within_blocks_bad(data: Floats):
    first = kb.block_idx() * BLOCK
    t = kb.thread_idx()
    x = data[data.shape[0] - 1 - first - t] if first + BLOCK <= data.shape[0] else 0.0  # finds global-races
    kb.syncthreads()
    if first + BLOCK <= data.shape[0]:
        data[first + t] = x  # finds global-races


CHAIN = At(4, block=1, data=[5, 6, 7, 8], flags=[0, 0, 0, 0], sums=4)


@case("global-races", "ScoR", CHAIN, symbolic="unknown")
@kb.kernel(block_dim=1)
def chained_sums_good(data: Ints, flags: Ints, sums: Ints):
    b = kb.block_idx()
    if b < data.shape[0] and b < flags.shape[0] and b < sums.shape[0]:
        before = 0
        if b > 0:
            if kb.atomic_add(flags, b - 1, 0, order="acquire") == 1:
                before = sums[b - 1]
        sums[b] = before + data[b]  # may overflow
        kb.atomic_exch(flags, b, 1, order="release")


@case("global-races", "ScoR", CHAIN)
@kb.kernel(block_dim=1)
def chained_sums_bad(data: Ints, flags: Ints, sums: Ints):
    b = kb.block_idx()
    if b < data.shape[0] and b < flags.shape[0] and b < sums.shape[0]:
        before = 0
        if b > 0:
            before = sums[b - 1]  # finds global-races
            if kb.atomic_add(flags, b - 1, 0, order="acquire") == 0:
                before = 0
        sums[b] = before + data[b]  # finds global-races
        kb.atomic_exch(flags, b, 1, order="release")


@case("global-races", "ScoR", At(4 * BLOCK, taken=[0] * 8, owner=8))
@kb.kernel(block_dim=BLOCK)
def taken_once_good(taken: Ints, owner: Ints):
    k = kb.tid() % 8
    if k < taken.shape[0] and k < owner.shape[0]:
        if kb.atomic_cas(taken, k, 0, 1) == 0:
            owner[k] = kb.tid()


@case("global-races", "ScoR", At(4 * BLOCK, taken=[0] * 8, owner=8))
@kb.kernel(block_dim=BLOCK)
def taken_once_bad(taken: Ints, owner: Ints):
    k = kb.tid() % 8
    if k < taken.shape[0] and k < owner.shape[0]:
        if kb.atomic_cas(taken, k, 1, 0) == 0:
            owner[k] = kb.tid()  # finds global-races


@case("global-races", "ScoR", At(4 * BLOCK, best=[0], out=1))
@kb.kernel(block_dim=BLOCK)
def only_by_atomics_good(best: Ints, out: Ints):
    if best.shape[0] == 1 and out.shape[0] == 1:
        seen = kb.atomic_max(best, 0, kb.tid())
        if seen < 0:
            kb.atomic_exch(best, 0, 0)
        kb.atomic_add(out, 0, 1)


@case("global-races", "ScoR", At(4 * BLOCK, best=[0], out=1))
@kb.kernel(block_dim=BLOCK)
def only_by_atomics_bad(best: Ints, out: Ints):
    if best.shape[0] == 1 and out.shape[0] == 1:
        seen = kb.atomic_max(best, 0, kb.tid())  # finds global-races
        if seen < kb.tid():
            best[0] = kb.tid()  # finds global-races
        kb.atomic_add(out, 0, 1)


@case("global-races", "ScoR", At(2 * BLOCK, data=2 * BLOCK, total=2))
@kb.kernel(block_dim=BLOCK)
def added_by_one_of_each_good(data: Floats, total: Floats):
    own = kb.warp_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0.0)
    if kb.lane_id() == 0 and total.shape[0] > 0:
        total[0] += own


@case("global-races", "ScoR", At(2 * BLOCK, data=2 * BLOCK, total=2))
@kb.kernel(block_dim=BLOCK)
def added_by_one_of_each_bad(data: Floats, total: Floats):
    own = kb.warp_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0.0)
    if kb.lane_id() == 0 and total.shape[0] > 0:
        total[0] = total[0] + own  # finds global-races
