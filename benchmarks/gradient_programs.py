"""A hundred thousand random programs and their gradients, by hand: dual numbers judge reverse mode in the simulator.

    python benchmarks/gradient_programs.py --count 100000 --jobs 8

Each program is one of `tests/helpers/gradient_programs.py`: one or two launches of three to five threads over five to
nine arrays. Written to results/gradient_programs.json: how many were right, and what became of the others; what the
programs held; and of every tenth the words that adjoints save, beside those that saving whatever is overwritten would
take. Failures are shrunk and written to `--failures`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from support.results import BENCHMARKS, ROOT, progress, record

PROFILES = ("mixed", "arrays", "integers", "composites", "functions")
BATCH = 250  # programs in one process: what the compiler remembers of their sources is not let go before


def main() -> int:
    """Runs the programs; the number of failures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="programs in all (default 100000)")
    parser.add_argument("--first", type=int, default=1_000_000, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--failures", type=Path, default=ROOT / "build" / "gradient_failures")
    options = parser.parse_args()
    options.failures.mkdir(parents=True, exist_ok=True)
    each = -(-options.count // len(PROFILES))
    jobs = [(p, options.first + start, min(BATCH, each - start)) for start in range(0, each, BATCH) for p in PROFILES]
    started = time.monotonic()
    totals: dict[str, Counter[str]] = {profile: Counter() for profile in PROFILES}
    with ThreadPoolExecutor(options.jobs) as pool:
        for number, (profile, found) in enumerate(pool.map(lambda job: batch(*job, options.failures), jobs), 1):
            totals[profile].update(found)
            progress(f"{number} of {len(jobs)} batches, {sum(t['failed'] for t in totals.values())} failures")
    rows = {profile: dict(sorted(total.items())) for profile, total in totals.items()}
    failed = sum(total["failed"] for total in totals.values())
    seconds = round(time.monotonic() - started)
    record(
        "gradient_programs", {"programs": each * len(PROFILES), "failed": failed, "seconds": seconds, "profiles": rows}
    )
    return failed


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
