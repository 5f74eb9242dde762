"""Branches and loops that send lanes of one warp different ways, with work on each of them.

A branch that some lanes do not take, while the others have nothing to do meanwhile, costs nothing: the end of an array,
or what one thread of a block writes.
"""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

N = 128
LINE = At(N, block=64, data=N, out=N)


@case("divergence", "own", LINE)
@kb.kernel(block_dim=64)
def two_kinds_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if i // 32 % 2 == 0:
            out[i] = kb.sin(data[i]) * 2.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", LINE)
@kb.kernel(block_dim=64)
def two_kinds_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if i % 2 == 0:  # finds divergence
            out[i] = kb.sin(data[i]) * 2.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", LINE)
@kb.kernel(block_dim=64)
def by_lane_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if kb.warp_id() == 0:
            out[i] = kb.sin(data[i]) * 2.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", LINE)
@kb.kernel(block_dim=64)
def by_lane_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if kb.lane_id() < 16:  # finds divergence
            out[i] = kb.sin(data[i]) * 2.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", LINE)
@kb.kernel(block_dim=64)
def by_block_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if kb.block_idx() % 2 == 0:
            out[i] = kb.sin(data[i]) * 2.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", LINE)
@kb.kernel(block_dim=64)
def by_block_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if (kb.block_idx() + kb.thread_idx()) % 2 == 0:  # finds divergence
            out[i] = kb.sin(data[i]) * 2.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", At(N, block=64, data=N, out=N, mode=1))
@kb.kernel(block_dim=64)
def by_the_launch_good(data: kb.array(dtype=float), out: kb.array(dtype=float), mode: int):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if mode == 0:
            out[i] = kb.sin(data[i]) * 2.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", At(N, block=64, data=N, out=N, mode=40))
@kb.kernel(block_dim=64)
def by_the_launch_bad(data: kb.array(dtype=float), out: kb.array(dtype=float), mode: int):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if kb.thread_idx() < mode:  # finds divergence
            out[i] = kb.sin(data[i]) * 2.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", At(N, block=64, out=N))
@kb.kernel(block_dim=64)
def trips_good(out: kb.array(dtype=float)):
    i = kb.tid()
    x = 0.0
    for k in range(kb.warp_id() + 8):
        x = x * 0.5 + float(k)
    if i < out.shape[0]:
        out[i] = x


@case("divergence", "own", At(N, block=64, out=N))
@kb.kernel(block_dim=64)
def trips_bad(out: kb.array(dtype=float)):
    i = kb.tid()
    x = 0.0
    for k in range(kb.lane_id() + 8):  # finds divergence
        x = x * 0.5 + float(k)
    if i < out.shape[0]:
        out[i] = x


@case("divergence", "own", At(N, block=64, out=N))
@kb.kernel(block_dim=64)
def halved_good(out: kb.array(dtype=int)):
    i = kb.tid()
    steps = 0
    x = i // 32 + 5
    while x > 1:
        x = x // 2
        steps += 1
    if i < out.shape[0]:
        out[i] = steps


@case("divergence", "own", At(N, block=64, out=N))
@kb.kernel(block_dim=64)
def halved_bad(out: kb.array(dtype=int)):
    i = kb.tid()
    steps = 0
    x = i % 32 + 5
    while x > 1:  # finds divergence
        x = x // 2
        steps += 1
    if i < out.shape[0]:
        out[i] = steps


@case("divergence", "own", At(N, block=64, out=N))
@kb.kernel(block_dim=64)
def triangle_good(out: kb.array(dtype=float)):
    i = kb.tid()
    x = 0.0
    for k in range(64):
        x += float(k) if k <= kb.thread_idx() else 0.0
    if i < out.shape[0]:
        out[i] = x


@case("divergence", "own", At(N, block=64, out=N))
@kb.kernel(block_dim=64)
def triangle_bad(out: kb.array(dtype=float)):
    i = kb.tid()
    x = 0.0
    for k in range(kb.thread_idx() + 1):  # finds divergence
        x += float(k)
    if i < out.shape[0]:
        out[i] = x


@case("divergence", "own", At(N, block=64, data=[1.0, 20.0] * 64, out=N))
@kb.kernel(block_dim=64)
def by_the_data_open(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        if data[i] > 10.0:  # may divergence
            out[i] = kb.sin(data[i]) * 2.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", At(N, block=64, data=N, out=2))
@kb.kernel(block_dim=64)
def only_the_first_open(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    total = kb.block_sum(data[kb.tid()] if kb.tid() < data.shape[0] else 0.0)
    if kb.thread_idx() == 0 and kb.block_idx() < out.shape[0]:  # may divergence
        out[kb.block_idx()] = total


@case("divergence", "own", At(N, block=64, data=100, out=N))
@kb.kernel(block_dim=64)
def end_of_the_array_open(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:  # may divergence
        out[i] = data[i]


@case("divergence", "own", LINE)
@kb.kernel(block_dim=64)
def one_of_four_good(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        task = i // 32
        if task == 0:
            out[i] = kb.sin(data[i]) * 2.0
        elif task == 1:
            out[i] = kb.cos(data[i]) * 3.0
        elif task == 2:
            out[i] = kb.sqrt(kb.abs(data[i])) + 1.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", LINE)
@kb.kernel(block_dim=64)
def one_of_four_bad(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        task = i % 4
        if task == 0:  # finds divergence
            out[i] = kb.sin(data[i]) * 2.0
        elif task == 1:
            out[i] = kb.cos(data[i]) * 3.0
        elif task == 2:
            out[i] = kb.sqrt(kb.abs(data[i])) + 1.0
        else:
            out[i] = kb.exp(-data[i]) + 1.0


@case("divergence", "own", At(N, block=64, out=N, n=8))
@kb.kernel(block_dim=64)
def left_by_a_break_good(out: kb.array(dtype=float), n: int):
    i = kb.tid()
    x = 0.0
    for k in range(64):
        if k > n:
            break
        x = x * 0.5 + float(k)
    if i < out.shape[0]:
        out[i] = x


@case("divergence", "own", At(N, block=64, out=N, n=8))
@kb.kernel(block_dim=64)
def left_by_a_break_bad(out: kb.array(dtype=float), n: int):
    i = kb.tid()
    x = 0.0
    for k in range(64):  # finds divergence
        if k > n + kb.lane_id():  # finds divergence
            break
        x = x * 0.5 + float(k)
    if i < out.shape[0]:
        out[i] = x
