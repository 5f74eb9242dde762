"""Kernels to look at; the numbers of their lines are asked for by what stands in them."""

from __future__ import annotations

from pathlib import Path

import kbuild as kb

SOURCE = Path(__file__)


def line(text: str) -> int:
    """The line that a marker stands in."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    (found,) = [number for number, one in enumerate(lines, 1) if one.endswith(f"# {text}")]
    return found


@kb.func
def twice(v: float):
    w = v * 2.0  # in twice
    return w


@kb.kernel
def parts(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    s = 0.0  # s is zero
    if i % 2 == 0:
        s = twice(x[i])  # even
    else:
        s = x[i] - 1.0  # odd
    for j in range(i % 3):
        s += float(j)  # in the loop
    y[i] = s  # store


@kb.kernel
def twins(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    if i % 2 == 0:
        a = x[i]
        y[i] = a + 1.0  # then
    else:
        b = x[i]
        y[i] = b + 2.0  # otherwise


@kb.kernel
def prints(n: int):
    i = kb.tid()
    if i < n:
        print(i)  # print


@kb.kernel
def plane(out: kb.array2d(dtype=kb.vec2)):
    i, j = kb.tid()  # two at once
    v = kb.vec2(float(i), float(j))
    v[1] = v[1] * 2.0  # component
    out[i, j] = v  # plane store


@kb.kernel(block_dim=64)
def blocks(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    tile = kb.shared_array(64, float)
    t = kb.thread_idx()
    i = kb.tid()
    tile[t] = x[i]
    kb.syncthreads()  # barrier
    y[i] = tile[63 - t]  # mirror
    kb.atomic_add(y, 0, 0.5)


@kb.kernel
def beyond(x: kb.array(dtype=float), n: int):
    i = kb.tid()
    x[i + n] = 1.0  # beyond


@kb.kernel
def calls(x: kb.array(dtype=float)):
    i = kb.tid()
    x[i] = twice(x[i]) + twice(1.0)  # calls
    x[i] += 1.0  # behind them


@kb.kernel
def leaves(x: kb.array(dtype=float)):
    i = kb.tid()
    if i % 2 == 1:
        return  # early
    x[i] = 1.0  # late
