"""Looks for random programs whose gradients are wrong, and writes each down as small as it gets.

python -m tests.helpers.gradient_failures FOLDER --first 0 --count 1000 [--profile arrays]
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
import traceback
from collections import Counter
from functools import partial
from pathlib import Path

from kbuild.autodiff import Undifferentiable, adjoint
from kbuild.errors import CompileError
from tests.helpers import gradient_checks, gradient_programs
from tests.helpers.gradient_checks import Skipped
from tests.helpers.gradient_programs import Program
from tests.helpers.shrinking import shrink


def outcome(program: Program, folder: Path, everything: bool = False) -> tuple[str, str]:
    """`right`, or what else became of a program, and the details; `everything`: without the pass's analyses."""
    try:
        gradient_checks.check(program, folder, partial(adjoint, everything=everything))
    except CompileError as error:
        return "not accepted", str(error)
    except Skipped as skipped:
        return f"skipped: {skipped}", ""
    except Undifferentiable as refused:
        return f"refused: {refused.reason}", str(refused.span)
    except gradient_checks.Wrong as wrong:
        return "wrong", str(wrong)
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {at.name}", "\n".join(traceback.format_exc().splitlines()[-7:])
    return "right", ""


def is_failure(kind: str) -> bool:
    return kind != "right" and not kind.startswith(("not accepted", "skipped", "refused"))


def smallest(program: Program, folder: Path, kind: str, seconds: float) -> Program:
    """A smaller program that fails in the same way, with as few launches as do."""
    for count in range(1, len(program.steps)):
        for steps in (program.steps[:count], program.steps[count:]):
            fewer = dataclasses.replace(program, steps=steps)
            if outcome(fewer, folder)[0] == kind:
                program = fewer
                break
    text = shrink(program.text, lambda t: outcome(dataclasses.replace(program, text=t), folder)[0] == kind, seconds)
    return dataclasses.replace(program, text=text)


def described(program: Program, folder: Path, kind: str) -> str:
    """A failing program's text, with what it gives and what saving everything would give."""
    simple, _ = outcome(program, folder, everything=True)
    reason = f"{kind}; with everything saved: {simple}\n{outcome(program, folder)[1]}"
    return gradient_checks.text_of(program, reason)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--profile", choices=gradient_programs.PROFILES, action="append")
    parser.add_argument("--most", type=int, default=3, help="programs of one kind of failure that are shrunk")
    parser.add_argument("--seconds", type=float, default=40.0, help="for shrinking one")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(options.first, options.first + options.count):
            for profile in options.profile or gradient_programs.PROFILES:
                program = gradient_programs.make(seed, profile)
                kind, _ = outcome(program, folder)
                seen[kind] += 1
                if is_failure(kind) and seen[kind] <= options.most:
                    small = smallest(program, folder, kind, options.seconds)
                    number = max((int(one.stem) for one in options.folder.glob("[0-9]*.py")), default=-1) + 1
                    (options.folder / f"{number:03}.py").write_text(described(small, folder, kind), encoding="utf-8")
                    print(f"{kind}: {options.folder / f'{number:03}.py'}", flush=True)
    for kind, count in seen.most_common():
        print(f"{count:6} {kind}")


if __name__ == "__main__":
    main()
