"""How well the audit does: on the labelled cases of tests/audit, on mutants of the good ones, and what it costs.

    audit.py [--only NAME] [--check CHECK] [--no-solver]

Records `audit.json`, but for parts of the cases.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.results import progress, record

from tests.audit import mutations, score
from tests.audit.cases import Case, cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="cases with this in their name")
    parser.add_argument("--check", action="append", help="cases about this check")
    parser.add_argument("--no-solver", action="store_true")
    arguments = parser.parse_args()
    wanted = [
        case
        for name, case in cases().items()
        if (not arguments.only or any(one in name for one in arguments.only))
        and (not arguments.check or case.about in arguments.check)
    ]
    progress(f"{len(wanted)} cases")
    start = time.perf_counter()
    found = score.score(score.asked(not arguments.no_solver), wanted)
    print(score.table(found))
    print(f"{time.perf_counter() - start:.1f} s")
    of_mutants = mutants(not arguments.no_solver, wanted)
    print(f"{time.perf_counter() - start:.1f} s")
    if not arguments.only and not arguments.check:
        record("audit", {**found.to_json(), "mutants": of_mutants})


def mutants(use_solver: bool, wanted: list[Case]) -> dict[str, Any]:
    """How often the verdict turns on good cases that lack something, and on which it does not."""
    judged = [one for case in wanted if case.kind == "good" for one in mutations.judged(case)]
    found = score.score_mutants(score.asked(use_solver), judged)
    print("mutants:", ", ".join(f"{outcome} {count}" for outcome, count in found["counts"].items()))
    for one in found["wrong"]:
        print(f"  {one}" + ("; right for other contents" if one in score.FOR_OTHER_CONTENTS else ""))
    return found


if __name__ == "__main__":
    main()
