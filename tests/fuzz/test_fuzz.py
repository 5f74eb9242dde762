"""The fuzz target's own mutants, a fixed number of them: more in CI and by hand (`make fuzz SECONDS=…`)."""

from __future__ import annotations

import random
import resource
from collections import Counter
from collections.abc import Callable

import pytest

from tests.helpers import hostile

MUTANTS = 4000
GROUPS = 4


def test_the_seeds_are_right() -> None:
    assert [hostile.examine(seed) for seed in hostile.seeds()] == ["problems", "right"]  # the small one holds no code


def peak() -> int:
    """Bytes of memory that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("group", range(GROUPS))
def test_mutants(group: int, record_property: Callable[[str, object], None]) -> None:
    """Each is refused, or read; most are refused, and some of every kind come as far as their machine code."""
    chance = random.Random(group)
    verdicts: Counter[str] = Counter()
    seeds, before = hostile.seeds(), peak()
    for _ in range(MUTANTS // GROUPS):
        case = chance.choice(seeds)
        for _ in range(chance.choice([1, 1, 2, 3])):
            case = hostile.mutate(case, chance)
        verdicts[hostile.examine(case)] += 1
    assert peak() < before + (64 << 20)
    record_property("figure: mutants of bundles tried", sum(verdicts.values()))
    record_property("figure: mutants of bundles refused by the reader", verdicts["refused"])
    record_property("figure: mutants of bundles that `verify` sees through", verdicts["problems"])
    assert verdicts["refused"] > MUTANTS // GROUPS // 2
    assert verdicts["problems"] > 20
    assert set(verdicts) <= {"refused", "problems", "right"}
