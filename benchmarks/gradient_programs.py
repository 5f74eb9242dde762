"""A hundred thousand random programs and their gradients, by hand: dual numbers judge reverse mode in the simulator.

    python benchmarks/gradient_programs.py --count 100000 --jobs 8
    python benchmarks/gradient_programs.py --seconds 500 --first 3000000 ...  # a part, as far as it gets
    python benchmarks/gradient_programs.py --join part1.json part2.json       # the results of several runs in one

Each program is one of `tests/helpers/gradient_programs.py`: one or two launches of three to five threads over five to
nine arrays. Written to results/gradient_programs.json: how many were right, and what became of the others; what the
programs held; and of every fiftieth the words that adjoints save, beside those that saving whatever is overwritten
would take. Failures are shrunk and written to `--failures`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from support.results import BENCHMARKS, ROOT, machine, progress, record

PROFILES = ("mixed", "arrays", "integers", "composites", "functions")
BATCH = 250  # programs in one process: what the compiler remembers of their sources is not let go before


def main() -> int:
    """Runs the programs; the number of failures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="programs in all (default 100000)")
    parser.add_argument("--first", type=int, default=1_000_000, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no batch after so many")
    parser.add_argument("--failures", type=Path, default=ROOT / "build" / "gradient_failures")
    parser.add_argument(
        "--join", type=Path, nargs="+", metavar="FILE", help="run nothing: add up what earlier runs wrote"
    )
    options = parser.parse_args()
    if options.join:
        return join(options.join)
    options.failures.mkdir(parents=True, exist_ok=True)
    each = -(-options.count // len(PROFILES))
    jobs = [(p, options.first + start, min(BATCH, each - start)) for start in range(0, each, BATCH) for p in PROFILES]
    started = time.monotonic()
    totals: Totals = {profile: Counter() for profile in PROFILES}

    def work(job: tuple[str, int, int]) -> tuple[str, dict[str, Any]] | None:
        return batch(*job, options.failures) if time.monotonic() - started < options.seconds else None

    with ThreadPoolExecutor(options.jobs) as pool:
        for number, done in enumerate(pool.map(work, jobs), 1):
            if done is not None:
                totals[done[0]].update(done[1])
                progress(f"{number} of {len(jobs)} batches, {sum(t['failed'] for t in totals.values())} failures")
    seconds = round(time.monotonic() - started)
    end = options.first + max(total["programs"] for total in totals.values())  # batches end in the order of their seeds
    run = {"machine": machine(), "seeds": [options.first, end], "jobs": options.jobs, "seconds": seconds}
    return write(totals, [{**run, "programs": sum(total["programs"] for total in totals.values())}])


Totals: TypeAlias = dict[str, Counter[str]]  # by profile: what became of its programs


def write(totals: Totals, runs: list[dict[str, Any]]) -> int:
    """Records the sums, and the runs that they are of; the number of failures."""
    programs, failed = (sum(total[what] for total in totals.values()) for what in ("programs", "failed"))
    profiles = {profile: dict(sorted(total.items())) for profile, total in totals.items()}
    record("gradient_programs", {"programs": programs, "failed": failed, "runs": runs, "profiles": profiles})
    return failed


def join(files: list[Path]) -> int:
    """Adds up the results of several runs; no seed may have run twice."""
    totals: Totals = {profile: Counter() for profile in PROFILES}
    runs: list[dict[str, Any]] = []
    for file in files:
        values = json.loads(file.read_text(encoding="utf-8"))["values"]
        runs.extend(values["runs"])
        for profile, found in values["profiles"].items():
            totals[profile].update(found)
    runs.sort(key=lambda run: int(run["seeds"][0]))
    for one, following in pairwise(runs):
        if one["seeds"][1] > following["seeds"][0]:
            raise SystemExit(f"the runs of seeds {one['seeds']} and {following['seeds']} overlap")
    return write(totals, runs)


def batch(profile: str, first: int, count: int, failures: Path) -> tuple[str, dict[str, Any]]:
    """What became of some programs, in a process of their own."""
    program = BENCHMARKS / "support" / "gradient_batch.py"
    command = [sys.executable, "-W", "ignore", str(program), profile, str(first), str(count), str(failures)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{profile} {first}: {done.stderr[-2000:]}")
    return profile, json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
