"""A batch of `gradient_programs.py`, in a process of its own: PROFILE FIRST COUNT FOLDER. Prints counts as JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kbuild.autodiff import Undifferentiable, adjoint
from tests.helpers import gradient_checks, gradient_failures, gradient_programs
from tests.helpers.gradient_checks import Skipped


def main() -> None:
    profile, first, count, failures = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(first, first + count):
            program = gradient_programs.make(seed, profile)
            kind, _ = gradient_failures.outcome(program, folder)
            seen["programs"] += 1
            seen[kind] += 1
            if gradient_failures.is_failure(kind):
                seen["failed"] += 1
                small = gradient_failures.smallest(program, folder, kind, 60)
                text = gradient_failures.described(small, folder, kind)
                (failures / f"{profile}_{seed}.py").write_text(text, encoding="utf-8")
            elif kind == "right" and seed % 50 == 0:
                look_closer(program, folder, seen)
    print(json.dumps(seen))


def look_closer(program: gradient_programs.Program, folder: Path, seen: Counter[str]) -> None:
    """Dual numbers against differences, what the program did, and what its adjoints save."""
    case = gradient_checks.prepare(program, folder)
    forward = gradient_checks.in_forward_mode(case)
    seen["looked at"] += 1
    try:
        seen[f"differences: {gradient_checks.check_differences(case, forward)}"] += 1
    except gradient_checks.Wrong:
        seen["differences: wrong"] += 1
    for what in forward.trace.counts:
        seen[f"with {what}"] += 1
    try:
        for name, way in (("saved", adjoint), ("saved without analyses", partial(adjoint, everything=True))):
            reverse = gradient_checks.in_reverse_mode(case, way)
            gradient_checks.compare(case, forward, reverse)
            seen[f"words {name}"] += sum(reverse.words.values())
    except Undifferentiable:
        seen["refused without analyses"] += 1
    except (gradient_checks.Wrong, AssertionError, Skipped):
        seen["wrong without analyses"] += 1


if __name__ == "__main__":
    main()
