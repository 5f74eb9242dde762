"""`sim`: a whole program in the simulator."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kbuild.cli.console import Console
from kbuild.errors import ExitCode, UsageError

DESCRIPTION = """\
Runs a program with every launch of a kernel in the simulator: no GPU is needed, `cuda:0` means the simulator, and what
a kernel must not do (an index outside, a race, a barrier that not all reach) ends the program with the Python line, the
thread and its variables. Options come before the program; all that follows it is the program's.

Ends with the program's status, and with 1 after a fault. Settings of KBUILD_SIM hold unless an option says otherwise.
"""

EXAMPLES = """\
examples:
  python -m kbuild sim app.py --steps 3
  python -m kbuild sim -m robosim.main
  python -m kbuild sim --trace trace.jsonl --kernel integrate --max-launches 1 app.py
  python -m kbuild sim --trace trace.json app.py         for https://ui.perfetto.dev
  python -m kbuild sim --profile --kernel integrate app.py
  python -m kbuild sim --as warp simulate.py
"""

_CHECKS = {
    "races": "two threads on one element, with a result that depends on who comes first",
    "unassigned": "shared memory that is read before anything is assigned to it",
    "divisions": "integers divided by zero",
    "nan": "a NaN that comes of numbers",
    "exceptions": "count floating-point exceptions by line",
    "threads": "put a thread's coordinates before what it prints",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    checks = parser.add_argument_group("what is looked for (--no-… leaves it out)")
    for name, help in _CHECKS.items():
        checks.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=None, help=help)
    checks.add_argument("--seed", type=_natural, help="shuffle the order of atomics", metavar="N")
    help = "the limits of this device hold for every launch (kb.sim.list_devices())"
    checks.add_argument("--like", help=help, metavar="TARGET")
    traces = parser.add_argument_group("traces and profiles")
    help = "count what each line costs, in executions and memory traffic; a listing for each kernel at the end"
    traces.add_argument("--profile", action="store_true", help=help)
    help = "write what happens: lines of JSON, or in a file *.json a trace for Perfetto and Chrome"
    traces.add_argument("--trace", help=help, metavar="FILE")
    help = "only these threads, by number or coordinates: 0-31,40 or 2x3"
    traces.add_argument("--trace-threads", type=_threads, help=help, metavar="LIST")
    traces.add_argument("--trace-lines", type=_lines, help="only these lines: 12,20-25", metavar="LIST")
    help = "only these events: statement, load, store, atomic, barrier, print, fault"
    traces.add_argument("--trace-events", type=lambda text: text.split(","), help=help, metavar="LIST")
    traces.add_argument("--kernel", help="only launches of this kernel; may be a pattern: step_*", metavar="NAME")
    traces.add_argument("--max-launches", type=_natural, help="only so many launches", metavar="N")
    help = "the program says `import warp`: let it mean kbuild.warp"
    parser.add_argument("--as", dest="dialect", choices=("warp",), help=help)
    help = "a module to run in place of a file, and its arguments, as for python -m"
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help=help, metavar="MODULE …")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="the program and its arguments", metavar="app.py …")


def run(arguments: argparse.Namespace, console: Console) -> ExitCode | int:
    """Runs the program, and says how it ended."""
    from kbuild.simulate import program
    from kbuild.simulate.settings import Settings

    words = arguments.module or [word for i, word in enumerate(arguments.program) if i or word != "--"]
    if not words:
        raise UsageError("sim wants a program to run", help="python -m kbuild sim app.py, or sim -m MODULE")
    if arguments.module is None and not os.path.exists(words[0]):
        raise UsageError(f"there is no file {words[0]!r}", help=f"a module is run by -m: sim -m {words[0]}")
    for name in ("trace_threads", "trace_lines", "trace_events", "kernel", "max_launches"):
        is_for_both = name in ("kernel", "max_launches")
        if getattr(arguments, name) is not None and arguments.trace is None and not (is_for_both and arguments.profile):
            other = " or --profile" if is_for_both else ""
            raise UsageError(f"--{name.replace('_', '-')} goes with --trace FILE{other}")
    if arguments.dialect == "warp":
        import kbuild.warp

        kbuild.warp.install()
    given = {field.name: getattr(arguments, field.name) for field in dataclasses.fields(Settings)}
    asked = program.Program(
        words=words,
        is_module=arguments.module is not None,
        changes={name: value for name, value in given.items() if value is not None},
        **{field.name: getattr(arguments, field.name) for field in dataclasses.fields(program.Program)[3:]},
    )
    with _own_stdout(console.as_json):
        try:
            outcome = program.run(asked)
        except (LookupError, ValueError) as error:
            raise UsageError(str(error.args[0])) from None
        except OSError as error:
            raise UsageError(f"{error.filename} cannot be opened: {error.strerror}") from None
    _report(arguments, outcome, words, console)
    return outcome.status


def _report(arguments: argparse.Namespace, outcome: Any, words: list[str], console: Console) -> None:
    fault = outcome.fault
    if fault is not None:
        console.note(f"{type(fault).__name__}: {fault}")
        if outcome.launched_at:
            console.note(f"  launched at {outcome.launched_at}")
    if arguments.trace is not None and not outcome.traced:
        names = ", ".join(sorted(outcome.launches)) or "nothing"
        console.note(f"no launch was traced: the program launched {names}")
    if not console.as_json:
        for text in outcome.reports:
            console.note(text)
        return
    row = None
    if fault is not None:
        place = {"path": fault.span.path, "line": fault.span.line} if fault.span is not None else {}
        row = {"kind": type(fault).__name__, "message": fault.reason, "kernel": fault.kernel, **place}
        row.update(thread=list(fault.thread), launched_at=outcome.launched_at)
    launches = [{"kernel": name, "count": count} for name, count in sorted(outcome.launches.items())]
    trace = None if arguments.trace is None else {"file": arguments.trace, "launches": outcome.traced}
    console.result(
        {"program": words, "status": outcome.status, "launches": launches, "fault": row, "trace": trace}
        | ({"reports": outcome.reports} if outcome.reports else {})
    )


@contextmanager
def _own_stdout(is_wanted: bool) -> Iterator[None]:
    """The program's output, and that of what it starts, goes to stderr: stdout is for one object."""
    if not is_wanted:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"wants a number from 0 on, not {text!r}")
    return int(text)


def _lines(text: str) -> list[int]:
    """`12,20-25` as numbers."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(_natural(first), _natural(last or first) + 1)
    return found


def _threads(text: str) -> list[Any]:
    """`0-31,2x3` as numbers and coordinates."""
    found: list[Any] = []
    for part in text.split(","):
        found += [tuple(map(_natural, part.split("x")))] if "x" in part else _lines(part)
    return found
