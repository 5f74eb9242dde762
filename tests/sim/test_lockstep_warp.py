"""What Warp's own tests have found in the lockstep simulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.sim.blocks import over
from kbuild.sim.lockstep.statements import Deadlock
from tests.helpers import kernels
from tests.helpers.lockstep import run_in_lockstep

LOCK = """
import kbuild as kb


@kb.func
def acquire(lock: kb.array(dtype=int)):
    while kb.atomic_cas(lock, 0, 0, 1) == 1:
        pass


@kb.kernel
def count(lock: kb.array(dtype=int), counter: kb.array(dtype=int), keeps: int):
    acquire(lock)
    counter[0] = counter[0] + 1
    if counter[0] != keeps:
        kb.atomic_exch(lock, 0, 0)
    kb.printf("%d ", counter[0])
"""


def test_threads_that_take_a_lock(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, LOCK, fmad=True)
    lock, counter = np.zeros(1, np.int32), np.zeros(1, np.int32)
    printed = run_in_lockstep(kernel, over((50,), 32), [lock, counter, 0])
    assert (lock[0], counter[0]) == (0, 50)
    assert printed.split() == [str(n).encode() for n in range(1, 51)]


def test_a_lock_that_nobody_gives_back(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, LOCK, fmad=True)
    with pytest.raises(Deadlock, match="no thread can leave this loop any more"):
        run_in_lockstep(kernel, over((50,), 32), [np.zeros(1, np.int32), np.zeros(1, np.int32), 3])
