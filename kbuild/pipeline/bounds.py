"""`launch_bounds="auto"`: how many blocks of a kernel a multiprocessor is to hold, chosen for each target.

A kernel is compiled for one block first, which leaves it all the registers that it asks for. Where they keep blocks
away that threads and shared memory would leave room for, the largest number is looked for, by halving, whose code
spills no more than the first: the compiler is asked, so the answer is that of its code, and the same in every build.
What was found is kept in the cache by the first compilation's key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kbuild.codegen.launch_bounds import option
from kbuild.loader import cubin
from kbuild.loader.occupancy import LIMITS, resident_blocks
from kbuild.nvrtc import Cache, Compiled, Job, compile_jobs
from kbuild.targets import limits

_KIND = "bounds"

Chosen = dict[str, int]  # blocks by entry


@dataclass(frozen=True, slots=True)
class Open:
    """A unit for a target, compiled without numbers; `kernels` has the threads of a block of each entry without one."""

    job: Job
    base: Compiled
    kernels: dict[str, int]


def with_bounds(job: Job, chosen: Mapping[str, int]) -> Job:
    """The compilation with these numbers."""
    given = (option(entry, blocks) for entry, blocks in sorted(chosen.items()) if blocks > 1)
    return replace(job, options=(*job.options, *given))


def known(cache: Cache, job: Job) -> Chosen | None:
    """What an earlier build has chosen; `job` is without numbers."""
    record = cache.get(_KIND, job.key)
    return None if record is None else {str(k): int(v) for k, v in json.loads(record).items()}


def choose(asked: Sequence[Open], cache: Cache, workers: int | None) -> list[tuple[Compiled, Chosen]]:
    """The best code of each, and the numbers in it."""
    searches = [_Search(one) for one in asked]
    while True:
        trying = [(search, job) for search in searches if (job := search.next()) is not None]
        if not trying:
            break
        outcomes = compile_jobs([job for _, job in trying], cache=cache, workers=workers)
        for (search, _), outcome in zip(trying, outcomes, strict=True):
            search.saw(outcome if isinstance(outcome, Compiled) else None)
    final = [with_bounds(search.asked.job, search.best) for search in searches]
    outcomes = compile_jobs(final, cache=cache, workers=workers)
    found: list[tuple[Compiled, Chosen]] = []
    for search, outcome in zip(searches, outcomes, strict=True):
        assert isinstance(outcome, Compiled)  # each of its numbers was compiled before
        cache.put(_KIND, search.asked.job.key, json.dumps(search.best, sort_keys=True).encode())
        found.append((outcome, search.best))
    return found


class _Search:
    """The numbers of one unit's kernels, each halved on its own: `low` is good, above `high` nothing is."""

    def __init__(self, asked: Open) -> None:
        self.asked = asked
        self.low: Chosen = {}
        self.high: Chosen = {}
        self.best: Chosen = dict.fromkeys(asked.kernels, 1) if asked.job.kind == "cubin" else {}
        self.tried: Chosen = {}
        table = LIMITS.get(limits(asked.job.arch).number)
        if asked.job.kind != "cubin" or table is None:
            return
        for entry, info in cubin.read(asked.base.data).kernels.items():
            if entry in asked.kernels:
                threads = asked.kernels[entry]
                self.low[entry] = resident_blocks(table, info.registers, info.shared, threads)
                self.high[entry] = resident_blocks(table, 0, info.shared, threads)

    def next(self) -> Job | None:
        """What to compile to know more; None where nothing is left to ask."""
        self.tried = {e: (low + self.high[e] + 1) // 2 for e, low in self.low.items() if low < self.high[e]}
        return with_bounds(self.asked.job, {**self.best, **self.tried}) if self.tried else None

    def saw(self, outcome: Compiled | None) -> None:
        """The code of the numbers that were tried; None where the compiler has refused them."""
        before = cubin.read(self.asked.base.data).kernels
        after = {} if outcome is None else cubin.read(outcome.data).kernels
        for entry, blocks in self.tried.items():
            is_good = outcome is not None and after[entry].local <= before[entry].local
            is_good = is_good and outcome.spills.get(entry, 0) <= self.asked.base.spills.get(entry, 0)  # type: ignore[union-attr]
            if is_good:
                self.low[entry] = self.best[entry] = blocks
            else:
                self.high[entry] = blocks - 1
