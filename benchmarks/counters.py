"""The simulator's memory access model against an H200's counters, and how long it takes. Needs no GPU.

tests/data holds the counters, tests/helpers the addresses that the counted kernels access.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import asdict
from typing import Any

from support.results import ROOT, progress, record

sys.path.insert(0, str(ROOT))

import numpy as np

from kbuild.sim.access import traffic
from tests.helpers.counter_scores import scores, table

LANES = 1 << 20
CHUNK = 1 << 16  # what the simulator hands over at a time


def main() -> None:
    """Prints the table, and writes results/counters.json."""
    print(table())
    progress("timing …")
    times = measure()
    for name, milliseconds in times.items():
        print(f"{milliseconds:8.2f} ms for 1 M lanes: {name}")
    rows = [{**asdict(s), "largest_error": max((abs(m.error) for m in s.mismatches), default=0.0)} for s in scores()]
    record("counters", {"scores": rows, "milliseconds_per_million_lanes": times})


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
