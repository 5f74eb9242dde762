"""Gradients of random programs in the simulator are those of dual numbers, along two directions at once.

`KBUILD_DEEP=50` runs fifty times as many; `benchmarks/gradient_programs.py` runs a hundred thousand.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers import gradient_failures, gradient_programs

DEEP = int(os.environ.get("KBUILD_DEEP", "1"))
BATCH = 25


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("batch", range(8 * DEEP))
@pytest.mark.parametrize("profile", gradient_programs.PROFILES)
def test_random_programs(tmp_path: Path, profile: str, batch: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        program = gradient_programs.make(seed, profile)
        kind, _ = gradient_failures.outcome(program, tmp_path)
        seen[kind] += 1
        if gradient_failures.is_failure(kind):
            small = gradient_failures.smallest(program, tmp_path, kind, seconds=20)
            pytest.fail(gradient_failures.described(small, tmp_path, kind))
    assert seen["right"] >= 0.75 * BATCH, seen
