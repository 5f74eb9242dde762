"""The fuzz target's own mutants, a fixed number of them: more in CI and by hand (`make fuzz SECONDS=…`)."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from collections.abc import Callable

import pytest

from tests.helpers import hostile

MUTANTS = 4000
GROUPS = 4


def test_the_seeds_are_right() -> None:
    assert [hostile.examine(seed) for seed in hostile.seeds()] == ["problems", "right"]  # the small one holds no code


@pytest.mark.parametrize("group", range(GROUPS))
def test_mutants(group: int, record_property: Callable[[str, object], None]) -> None:
    """Each is refused, or read; most are refused, and some of every kind come as far as their machine code."""
    chance = random.Random(group)
    verdicts: Counter[str] = Counter()
    tracemalloc.start()
    try:
        for _ in range(MUTANTS // GROUPS):
            case = chance.choice(hostile.seeds())
            for _ in range(chance.choice([1, 1, 2, 3])):
                case = hostile.mutate(case, chance)
            verdicts[hostile.examine(case)] += 1
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
    record_property("figure: mutants of bundles tried", sum(verdicts.values()))
    record_property("figure: mutants of bundles refused by the reader", verdicts["refused"])
    record_property("figure: mutants of bundles that `verify` sees through", verdicts["problems"])
    assert verdicts["refused"] > MUTANTS // GROUPS // 2
    assert verdicts["problems"] > 20
    assert set(verdicts) <= {"refused", "problems", "right"}
