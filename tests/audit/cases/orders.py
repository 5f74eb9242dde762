"""Order between threads by atomics, flags and locks: right or wrong, an audit must say that it does not know.

Where nothing is released, or released to the own block alone, it may say that nothing is ordered.
"""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

BLOCK = 64
FLAG = At(2 * BLOCK, block=BLOCK, data=1, flag=[0], out=2 * BLOCK)
LOCK = At(2, block=1, lock=[0], data=1)
LAST = At(2 * BLOCK, block=BLOCK, data=2 * BLOCK, parts=2, tickets=[0], out=1)


@case("global-races", "ScoR", FLAG)
@kb.kernel(block_dim=BLOCK)
def message_open(data: kb.array(dtype=int), flag: kb.array(dtype=int), out: kb.array(dtype=int)):
    if flag.shape[0] == 1 and data.shape[0] == 1 and kb.tid() < out.shape[0]:
        if kb.tid() == 0:
            data[0] = 42  # unknown global-races
            kb.atomic_exch(flag, 0, 1, order="release")
        if kb.block_idx() == 1:
            if kb.atomic_add(flag, 0, 0, order="acquire") == 1:
                out[kb.tid()] = data[0]  # unknown global-races


@case("global-races", "ScoR", FLAG)
@kb.kernel(block_dim=BLOCK)
def message_open_relaxed(data: kb.array(dtype=int), flag: kb.array(dtype=int), out: kb.array(dtype=int)):
    if flag.shape[0] == 1 and data.shape[0] == 1 and kb.tid() < out.shape[0]:
        if kb.tid() == 0:
            data[0] = 42  # may global-races
            kb.atomic_exch(flag, 0, 1)
        if kb.block_idx() == 1:
            if kb.atomic_add(flag, 0, 0) == 1:
                out[kb.tid()] = data[0]  # may global-races


@case("global-races", "ScoR", FLAG)
@kb.kernel(block_dim=BLOCK)
def message_open_scope(data: kb.array(dtype=int), flag: kb.array(dtype=int), out: kb.array(dtype=int)):
    if flag.shape[0] == 1 and data.shape[0] == 1 and kb.tid() < out.shape[0]:
        if kb.tid() == 0:
            data[0] = 42  # may global-races
            kb.atomic_exch(flag, 0, 1, order="release", scope="block")  # may global-races
        if kb.block_idx() == 1:
            if kb.atomic_add(flag, 0, 0, order="acquire", scope="block") == 1:  # may global-races
                out[kb.tid()] = data[0]  # may global-races


@case("global-races", "ScoR", LOCK)
@kb.kernel
def locked_open(lock: kb.array(dtype=int), data: kb.array(dtype=int)):
    if lock.shape[0] == 1 and data.shape[0] == 1:
        done = 0
        while done == 0:
            if kb.atomic_cas(lock, 0, 0, 1, order="acquire") == 0:
                data[0] = data[0] + 1  # unknown global-races
                kb.atomic_exch(lock, 0, 0, order="release")
                done = 1


@case("global-races", "ScoR", LOCK)
@kb.kernel
def locked_open_relaxed(lock: kb.array(dtype=int), data: kb.array(dtype=int)):
    if lock.shape[0] == 1 and data.shape[0] == 1:
        done = 0
        while done == 0:
            if kb.atomic_cas(lock, 0, 0, 1) == 0:
                data[0] = data[0] + 1  # unknown global-races
                kb.atomic_exch(lock, 0, 0)
                done = 1


@case("global-races", "ScoR", LOCK)
@kb.kernel
def locked_open_scope(lock: kb.array(dtype=int), data: kb.array(dtype=int)):
    if lock.shape[0] == 1 and data.shape[0] == 1:
        done = 0
        while done == 0:
            if kb.atomic_cas(lock, 0, 0, 1, order="acquire", scope="block") == 0:  # may global-races
                data[0] = data[0] + 1  # may global-races
                kb.atomic_exch(lock, 0, 0, order="release", scope="block")  # may global-races
                done = 1


@case("global-races", "ScoR", LOCK)
@kb.kernel
def locked_open_no_release(lock: kb.array(dtype=int), data: kb.array(dtype=int)):
    if lock.shape[0] == 1 and data.shape[0] == 1:
        done = 0
        while done == 0:
            if kb.atomic_cas(lock, 0, 0, 1, order="acquire") == 0:
                data[0] = data[0] + 1  # unknown global-races
                kb.atomic_exch(lock, 0, 0)
                done = 1


@case("global-races", "ScoR", LAST)
@kb.kernel(block_dim=BLOCK)
def last_block_open(
    data: kb.array(dtype=int), parts: kb.array(dtype=int), tickets: kb.array(dtype=int), out: kb.array(dtype=int)
):
    is_last = kb.shared_array(1, int)
    own = kb.block_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0)
    if kb.thread_idx() == 0:
        is_last[0] = 0
        if tickets.shape[0] == 1 and kb.block_idx() < parts.shape[0]:
            parts[kb.block_idx()] = own  # unknown global-races
            ticket = kb.atomic_add(tickets, 0, 1, order="acq_rel")
            is_last[0] = int(ticket == kb.grid_dim() - 1)
    kb.syncthreads()
    if is_last[0] != 0 and kb.thread_idx() == 0 and out.shape[0] == 1:
        total = 0
        for i in range(parts.shape[0]):
            total += parts[i]  # unknown global-races
        out[0] = total  # may global-races


@case("global-races", "ScoR", LAST)
@kb.kernel(block_dim=BLOCK)
def last_block_open_relaxed(
    data: kb.array(dtype=int), parts: kb.array(dtype=int), tickets: kb.array(dtype=int), out: kb.array(dtype=int)
):
    is_last = kb.shared_array(1, int)
    own = kb.block_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0)
    if kb.thread_idx() == 0:
        is_last[0] = 0
        if tickets.shape[0] == 1 and kb.block_idx() < parts.shape[0]:
            parts[kb.block_idx()] = own  # unknown global-races
            ticket = kb.atomic_add(tickets, 0, 1)
            is_last[0] = int(ticket == kb.grid_dim() - 1)
    kb.syncthreads()
    if is_last[0] != 0 and kb.thread_idx() == 0 and out.shape[0] == 1:
        total = 0
        for i in range(parts.shape[0]):
            total += parts[i]  # unknown global-races
        out[0] = total  # may global-races


@case("global-races", "Indigo", At(BLOCK, block=BLOCK, count=[0], kept=BLOCK))
@kb.kernel(block_dim=BLOCK)
def ticket_for_a_place_open(count: kb.array(dtype=int), kept: kb.array(dtype=int)):
    if count.shape[0] == 1:
        k = kb.atomic_add(count, 0, 1)
        if 0 <= k < kept.shape[0]:
            kept[k] = kb.tid()  # may global-races


@case("global-races", "Indigo", At(BLOCK, block=BLOCK, taken=[0] * 8, owner=8))
@kb.kernel(block_dim=BLOCK)
def first_come_open(taken: kb.array(dtype=int), owner: kb.array(dtype=int)):
    k = kb.tid() % 8
    if k < taken.shape[0] and k < owner.shape[0]:
        if kb.atomic_cas(taken, k, 0, 1) == 0:
            owner[k] = kb.tid()  # unknown global-races


@case("shared-races", "ScoR", At(BLOCK, block=BLOCK, out=BLOCK))
@kb.kernel(block_dim=BLOCK)
def told_in_shared_memory_open(out: kb.array(dtype=int)):
    told = kb.shared_array(2, int)
    t = kb.thread_idx()
    if t < 2:
        told[t] = 0
    kb.syncthreads()
    if t == 0:
        told[0] = 7  # unknown shared-races
        kb.atomic_exch(told, 1, 1, order="release", scope="block")
    if t >= 32 and kb.tid() < out.shape[0]:
        if kb.atomic_add(told, 1, 0, order="acquire", scope="block") == 1:
            out[kb.tid()] = told[0]  # unknown shared-races


@case("shared-races", "ScoR", At(BLOCK, block=BLOCK, out=1))
@kb.kernel(block_dim=BLOCK)
def one_of_the_block_open(out: kb.array(dtype=int)):
    state = kb.shared_array(2, int)
    t = kb.thread_idx()
    if t < 2:
        state[t] = 0
    kb.syncthreads()
    if kb.atomic_cas(state, 0, 0, 1) == 0:
        state[1] = t  # unknown shared-races
    kb.syncthreads()
    if t == 0 and out.shape[0] == 1:
        out[0] = state[1]
