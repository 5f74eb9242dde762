"""Atomics for a block alone, at elements that another block changes too: in lockstep and one thread after another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kbuild as kb
from kbuild.sim.blocks import over
from kbuild.sim.lockstep.races import Race
from kbuild.sim.lockstep.run import Options
from kbuild.sim.threads import run_launch
from kbuild.sim.values import Conflict, Memory
from tests.helpers import kernels
from tests.helpers.faults import fault_of, line_of
from tests.helpers.lockstep import run_in_lockstep

BLOCK = 8

BODY = """\
@kb.kernel
def k(a: kb.array2d(dtype=int)):
    t = kb.thread_idx()
    b = kb.block_idx()
    own = kb.shared_array(1, int)
    if t == 0:
        own[0] = 0
    kb.syncthreads()
    kb.atomic_add(own, 0, 1, scope="block")
    {}
"""
WIDE, NARROW = "kb.atomic_add(a, 0, {}, 1)", 'kb.atomic_add(a, 0, {}, 1, scope="block")'


FIRST = NARROW.format("0")

OF_CLUSTERS = """\
@kb.kernel(cluster_dim=2)
def k(a: kb.array2d(dtype=int)):
    b = kb.block_idx()
    own = kb.shared_array(1, int)
    if kb.thread_idx() == 0:
        own[0] = 0
    kb.cluster_sync()
    {}
    kb.cluster_sync()
"""


def faults(folder: Path, statement: str, blocks: int, chunk: int, body: str = BODY) -> bool:
    """Whether a statement is refused; both ways of running must say the same."""
    (kernel,) = kernels.lower_text(folder, body.format(statement))
    launch, host = over((blocks * BLOCK,), BLOCK), np.zeros((2, 40), np.int32)
    memory = Memory(kernel.function.parameters[0].type.element, host.shape, host.ravel().tolist())
    in_turn = at_once = False
    try:
        run_launch(kernel, launch, [memory])
    except Conflict:
        in_turn = True
    try:
        run_in_lockstep(kernel, launch, [host], Options(chunk=chunk))
    except Race:
        at_once = True
    assert at_once == in_turn
    return at_once


@pytest.mark.parametrize("chunk", [BLOCK, 2 * BLOCK, 1000])
@pytest.mark.parametrize(
    ("statement", "blocks", "is_refused"),
    [
        (WIDE.format("t"), 3, False),
        (NARROW.format("t"), 1, False),
        (NARROW.format("t"), 2, True),
        (NARROW.format("b * 8 + t"), 4, False),
        (NARROW.format("0"), 1, False),
        (NARROW.format("0"), 2, True),
        (NARROW.format("b"), 4, False),
        (NARROW.format("b // 2"), 4, True),
        # by some blocks for all, by one for itself: before the others, between them, after them
        (f"if b == 0:\n        {NARROW.format('0')}\n    else:\n        {WIDE.format('0')}", 3, True),
        (f"if b == 1:\n        {NARROW.format('0')}\n    else:\n        {WIDE.format('0')}", 3, True),
        (f"if b == 2:\n        {NARROW.format('0')}\n    else:\n        {WIDE.format('0')}", 3, True),
        (f"if b == 0:\n        {NARROW.format('0')}\n    else:\n        {WIDE.format('1')}", 3, False),
        (f"{WIDE.format('b')}\n    {NARROW.format('b')}", 3, False),
        (f"{WIDE.format('b')}\n    {NARROW.format('b // 2')}", 3, True),
        (f"{WIDE.format('0')}\n    if b == 0:\n        {NARROW.format('0')}", 2, True),
        ('row = a[1]\n    kb.atomic_max(row, 2, t, scope="block")', 2, True),
        ('row = a[1]\n    kb.atomic_max(row, b, t, scope="block")', 2, False),
    ],
)
def test_who_may(tmp_path: Path, statement: str, blocks: int, is_refused: bool, chunk: int) -> None:
    assert faults(tmp_path, statement, blocks, chunk) == is_refused


@pytest.mark.parametrize("chunk", [2 * BLOCK, 1000])
@pytest.mark.parametrize(
    ("statement", "is_refused"),
    [
        ('kb.atomic_add(own, 0, 1, scope="block")', False),
        ("kb.atomic_add(kb.cluster_array(own, 0), 0, 1)", False),
        ('kb.atomic_add(own, 0, 1, scope="block")\n    kb.atomic_add(kb.cluster_array(own, 0), 0, 1)', True),
        (f"if b < 1:\n        {FIRST}\n    if b == 1:\n        {FIRST}", True),
        (f"if b < 1:\n        {FIRST}\n    kb.cluster_sync()\n    if b == 1:\n        {FIRST}", False),  # in order
    ],
)
def test_blocks_of_a_cluster(tmp_path: Path, statement: str, is_refused: bool, chunk: int) -> None:
    assert faults(tmp_path, statement, 4, chunk, OF_CLUSTERS) == is_refused


@kb.kernel(block_dim=BLOCK)
def counted(out: kb.array(dtype=int)):
    if kb.block_idx() == 0:
        kb.atomic_add(out, 1, 1, scope="block")
    else:
        kb.atomic_add(out, 1, 1)


def test_both_places_are_named() -> None:
    race = fault_of(kb.sim.Race, counted, 2 * BLOCK, [np.zeros(2, np.int32)])
    assert race.other_span.line == line_of(counted, 'scope="block"')
    assert race.span.line == line_of(counted, "kb.atomic_add(out, 1, 1)")
    assert (race.other_thread, race.thread) == ((0,), (BLOCK,))
    assert race.reason == (
        f"thread (0,) changes (atomic) out[1] (line {race.other_span.line}), and thread ({BLOCK},) of another block "
        f'does (line {race.span.line}), with scope="block" at one of them'
    )
    kb.sim.run(counted, BLOCK, [np.zeros(2, np.int32)])
    kb.sim.run(counted, 2 * BLOCK, [np.zeros(2, np.int32)], races=False)
