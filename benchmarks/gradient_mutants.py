"""Is the judge of gradients awake? Rules of the pass are broken one after the other, and random programs must tell.

Each mutant is a copy of `kbuild` with one text replaced. Written to results/gradient_mutants.json: of how many programs
of each profile a mutant's gradients are wrong (or its adjoint fails otherwise), until there are enough of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from support.gradient_mutants import MUTANTS, Mutant
from support.results import ROOT, progress, record

PROFILES = ("mixed", "arrays", "integers", "composites", "functions")
COUNT = """
import sys, json, tempfile, warnings
from pathlib import Path
from tests.helpers import gradient_failures, gradient_programs
warnings.simplefilter("ignore")
first, count, enough, profiles = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
found = {profile: {"failed": 0, "judged": 0} for profile in profiles}
with tempfile.TemporaryDirectory() as folder:
    for seed in range(first, first + count):
        for profile in profiles:
            kind = gradient_failures.outcome(gradient_programs.make(seed, profile), Path(folder))[0]
            has_failed = gradient_failures.is_failure(kind)
            found[profile]["failed"] += has_failed
            found[profile]["judged"] += has_failed or kind == "right"
        if sum(row["failed"] for row in found.values()) >= enough:
            break
print(json.dumps(found))
"""


def main() -> int:
    """Runs the mutants; the number of those that nothing has told."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400, help="programs of each profile at most (default 400)")
    parser.add_argument("--enough", type=int, default=10, help="failures after which a mutant is done (default 10)")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append", help="part of a mutant's name")
    options = parser.parse_args()
    chosen = [one for one in MUTANTS if not options.only or any(part in one.name for part in options.only)]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda one: judged(one, options.first, options.count, options.enough), chosen))
    missed = [row["mutant"] for row in rows if not any(one["failed"] for one in row["profiles"].values())]
    if not options.only:
        record("gradient_mutants", {"most": options.count, "enough": options.enough, "mutants": rows, "missed": missed})
    print(f"{len(rows) - len(missed)} of {len(rows)} mutants found; missed: {', '.join(missed) or 'none'}")
    return len(missed)


def judged(mutant: Mutant, first: int, count: int, enough: int) -> dict[str, Any]:
    """How many programs tell a mutant from the pass."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for folder in ("kbuild", "tests/helpers"):
            shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        mutant.apply(root)
        command = [sys.executable, "-c", COUNT, str(first), str(count), str(enough), *PROFILES]
        environment = {**os.environ, "PYTHONPATH": name, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{mutant.name}: {done.stderr[-2000:]}")
    profiles = json.loads(done.stdout.splitlines()[-1])
    progress(f"{mutant.name}: " + ", ".join(f"{p} {row['failed']}/{row['judged']}" for p, row in profiles.items()))
    return {"mutant": mutant.name, "profiles": profiles}


if __name__ == "__main__":
    sys.exit(main())
