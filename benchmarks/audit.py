"""How well the audit does: on the labelled cases of tests/audit, on mutants of the good ones, and what it costs.

    audit.py [--only NAME] [--check CHECK] [--no-solver] [--verbose]

Records `audit.json`, but for parts of the cases.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.results import progress, record

from kbuild.audit.findings import KernelAudit, Options
from kbuild.audit.kernel import audit
from kbuild.audit.launches import Launch
from kbuild.audit.places import axes_of_threads
from kbuild.ir.nodes import Kernel
from tests.audit import score
from tests.audit.cases import cases


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
    found = score.score(asked(not arguments.no_solver), wanted)
    print(score.table(found))
    print(f"{time.perf_counter() - start:.1f} s")
    if not arguments.only and not arguments.check:
        record("audit", found.to_json())


def asked(use_solver: bool) -> score.Audit:
    """The audit, told what is known of a launch."""

    def ask(kernel: Kernel, known: score.Known) -> KernelAudit:
        launch = Launch(
            dim=known.dim,
            grid=known.grid,
            shapes=known.shapes or {},
            scalars=known.scalars or {},
        )
        is_guess = known.grid is None and axes_of_threads(kernel) > 1
        block = None if is_guess else known.block
        return audit(kernel, Options(block=block, use_solver=use_solver, verbose=True), launch)

    return ask


def _flat(held: Any) -> Iterator[int]:
    if isinstance(held, list):
        return [number for one in held for number in _flat(one)]  # type: ignore[return-value]
    return [int(held)]  # type: ignore[return-value]


if __name__ == "__main__":
    main()
