"""Shared memory that is read before anything is assigned to it, in lockstep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.sim.blocks import over
from kbuild.sim.lockstep.run import Options
from kbuild.sim.values import Unassigned
from tests.helpers import kernels
from tests.helpers.lockstep import run_in_lockstep

BODY = """\
import kbuild as kb

@kb.kernel
def k(a: kb.array(dtype=int)):
    t = kb.thread_idx()
    tile = kb.shared_array(5, int)
    if {}:
        tile[t] = t
    kb.syncthreads()
    a[kb.tid()] = tile[{}] + tile[t]
"""


def run(folder: Path, condition: str, index: str, chunk: int) -> None:
    (kernel,) = kernels.lower_text(folder, BODY.format(condition, index))
    run_in_lockstep(kernel, over((20,), 5), [np.zeros(20, np.int32)], Options(chunk=chunk))


@pytest.mark.parametrize("chunk", [5, 10, 100])
def test_who_reads_first(tmp_path: Path, chunk: int) -> None:
    run(tmp_path, "t >= 0", "4 - t", chunk)
    with pytest.raises(Unassigned, match=r"tile\[3\] \(shared memory\) is read before") as caught:
        run(tmp_path, "t != 3", "4 - t", chunk)
    assert caught.value.thread == (1,)
    with pytest.raises(Unassigned, match=r"tile\[2\] ") as caught:
        run(tmp_path, "t != 2 or kb.block_idx() != 3", "(t + 1) % 5", chunk)
    assert caught.value.thread == (16,)
