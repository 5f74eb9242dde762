"""The simulator's memory access model against an H200's counters, and how long it takes. Needs no GPU.

tests/data holds the counters, tests/helpers the addresses that the counted kernels access, and tests/sim kernels of the
kernel language that the simulator profiles from end to end.
"""

from __future__ import annotations

import functools
import statistics
import sys
import time
from dataclasses import asdict
from typing import Any

from support.results import ROOT, progress, record

sys.path.insert(0, str(ROOT))

import numpy as np

import kbuild as kb
from kbuild.loader.grids import Grid
from kbuild.traffic.access import traffic
from tests.helpers import counter_profiles
from tests.helpers.counter_scores import Score, scores, table
from tests.sim import counter_kernels

LANES = 1 << 20
CHUNK = 1 << 16  # what the simulator hands over at a time


def main() -> None:
    """Prints the table, and writes results/counters.json."""
    print(table())
    print(counter_profiles.table())
    progress("timing …")
    times = measure()
    for name, milliseconds in times.items():
        print(f"{milliseconds:8.2f} ms for 1 M lanes: {name}")
    launches = measure_launches()
    for name, (without, profiled) in launches.items():
        print(f"{without:8.1f} ms, profiled {profiled:8.1f} ms: {name}")
    values = {
        "scores": _rows(scores()),
        "end_to_end": {"kernels": len(counter_kernels.CASES), "scores": _rows(counter_profiles.scores())},
        "milliseconds_per_million_lanes": times,
        "milliseconds_of_a_launch": launches,
    }
    record("counters", values)


def _rows(found: tuple[Score, ...]) -> list[dict[str, Any]]:
    return [{**asdict(s), "largest_error": max((abs(m.error) for m in s.mismatches), default=0.0)} for s in found]


def measure() -> dict[str, float]:
    """CPU time of the model for 1 048 576 lanes in chunks of 65 536 [ms]."""
    random = np.random.default_rng(1)
    along = np.arange(LANES, dtype=np.int64)
    cases: dict[str, tuple[Any, Any, np.ndarray, int]] = {
        "shared loads of 4 bytes, random": ("shared", "load", random.integers(0, 8192, LANES) * 4, 4),
        "shared loads of 16 bytes, random": ("shared", "load", random.integers(0, 2048, LANES) * 16, 16),
        "shared atomics, random": ("shared", "atomic", random.integers(0, 8192, LANES) * 4, 4),
        "global loads, random in 64 MiB": ("global", "load", random.integers(0, 1 << 24, LANES) * 4, 4),
        "global atomics, random in 64 MiB": ("global", "atomic", random.integers(0, 1 << 24, LANES) * 4, 4),
        "global loads, one after another": ("global", "load", along * 4, 4),
    }
    return {name: _time(*case) for name, case in cases.items()}


def measure_launches() -> dict[str, tuple[float, float]]:
    """CPU time of simulated launches of a million threads, checks off, without and with a profile [ms]."""
    count = LANES
    ones, numbers = np.ones(count, np.float32), np.random.default_rng(1).integers(0, count, count).astype(np.int32)
    blocks = Grid(count // 256, 256)
    cases: dict[str, tuple[Any, Any, list[Any]]] = {
        "add, 3 accesses": (counter_kernels.add, count, [ones, ones, ones, count]),
        "gather, 3 accesses": (counter_kernels.gather, count, [ones, ones, numbers]),
        "block reduction, 4096 blocks": (counter_kernels.reduce_near, blocks, [ones, ones]),
    }
    found = {}
    for name, (kernel, dim, inputs) in cases.items():
        times = []
        for profile in (False, True):
            run = functools.partial(kb.sim.run, kernel, dim, inputs, races=False, unassigned=False, divisions=False)
            times.append(round(statistics.median(_seconds(run, profile) for _ in range(5)) * 1e3, 1))
        found[name] = (times[0], times[1])
    return found


def _seconds(run: Any, profile: bool) -> float:
    start = time.process_time()
    run(profile=profile)
    return time.process_time() - start


def _time(space: Any, kind: Any, addresses: np.ndarray, size: int) -> float:
    lanes = np.arange(LANES, dtype=np.int64)
    chunks = [slice(start, start + CHUNK) for start in range(0, LANES, CHUNK)]

    def run() -> float:
        start = time.process_time()
        for chunk in chunks:
            traffic(space, kind, addresses[chunk], lanes[chunk], size)
        return 1e3 * (time.process_time() - start)

    return round(statistics.median(run() for _ in range(9)), 2)


if __name__ == "__main__":
    main()
