"""`audit`: what is wrong with kernels on a GPU, found without one."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from kbuild import config, targets
from kbuild._version import __version__
from kbuild.cli.console import Console
from kbuild.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from kbuild.pipeline.auditing import AuditResult

DESCRIPTION = """\
Looks for what goes wrong with a project's kernels on a GPU, at the line in Python: accesses beyond arrays, races,
barriers that not all threads reach, bank conflicts, accesses that are not coalesced, loops that threads could share,
and what became of each kernel in machine code. Of every check it says what is proved, what was found (with an example
where there is one, which is run in the simulator) and what it does not know. Needs no GPU; the machine code needs the
compilers of a build.

[tool.kbuild.audit] of pyproject.toml sets levels; `# kbuild: ignore[KB402] reason` on a line, or on a kernel's `def`,
takes a finding back. Ends with 1 if a finding of level error stands.
"""

EXAMPLES = """\
examples:
  python -m kbuild audit
  python -m kbuild audit --kernel 'robosim.blocks:*' --check shared-races --check barriers --verbose
  python -m kbuild audit --target sm_87 --against dist/robosim-1.0-py3-none-any.whl
  python -m kbuild audit dist/robosim-1.1-py3-none-any.whl --against dist/robosim-1.0-py3-none-any.whl
  python -m kbuild audit --format sarif -o audit.sarif         what GitHub shows beside the code
  python -m kbuild audit --kernel sums --format dot | dot -Tsvg -o sums.svg
"""

FORMATS = ("text", "json", "sarif", "dot")


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    add = parser.add_argument
    help = (
        "folder with pyproject.toml (default: this folder); of a wheel, a bundle or a package, the machine code alone"
    )
    add("project", nargs="?", default=".", metavar="PROJECT", help=help)
    add(
        "--kernel", action="append", default=[], metavar="NAME", help="only this kernel, or a pattern such as 'pkg.m:*'"
    )
    add("--check", action="append", default=[], metavar="CHECK", help="only this check (may be repeated)")
    add("--target", action="append", default=[], metavar="TARGET", help="machine code for this target alone")
    add("--against", metavar="OLD", help="compare the machine code with that of a wheel, a bundle or a package")
    add("--no-machine-code", action="store_true", help="compile nothing")
    add("--time-limit", type=_seconds, metavar="SECONDS", help="what a kernel may take; past it: don't know")
    add("--no-replay", action="store_true", help="do not run examples of findings in the simulator")
    add("--verbose", action="store_true", help="show what was asked at each place, and how it was decided")
    add("--format", choices=FORMATS, help="dot: the graph of each kernel's synchronisation, for Graphviz")
    add("-o", "--output", type=Path, metavar="FILE", help="write into FILE")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0 to 3600")
    return value


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Audits and reports."""
    from kbuild.pipeline import audit
    from kbuild.pipeline.auditing import Wanted, of_bundles

    if console.as_json and arguments.format not in (None, "json"):
        raise UsageError(f"--json and --format {arguments.format} do not go together")
    format = "json" if console.as_json else arguments.format or "text"
    wanted = Wanted(
        tuple(arguments.kernel),
        tuple(arguments.check),
        not arguments.no_machine_code and format != "dot",
        arguments.against,
        arguments.verbose,
        format == "dot",
        not arguments.no_replay,
    )
    if config.is_project(arguments.project):
        root = Path(arguments.project)
        result = audit(_settings(root, arguments), wanted, progress=console.progress())
    else:
        root = Path.cwd()
        result = of_bundles(arguments.project, wanted, arguments.target)
    for skipped in result.skipped:
        console.note(f"skipped: {skipped}")
    with _into(arguments.output):
        _show(result, format, root, arguments.verbose, Console(as_json=format == "json"))
    return ExitCode.KERNELS if result.has_errors else ExitCode.DONE


def _settings(project: Path, arguments: argparse.Namespace) -> config.BuildConfig:
    """The project's configuration with what the command line says otherwise."""
    settings = config.require(project)
    if arguments.target:
        named = tuple(targets.parse(name) for name in dict.fromkeys(arguments.target))
        settings = dataclasses.replace(settings, targets=named)
    if arguments.time_limit:
        limited = dataclasses.replace(settings.audit, time_limit=arguments.time_limit)
        settings = dataclasses.replace(settings, audit=limited)
    return settings


@contextmanager
def _into(output: Path | None) -> Iterator[None]:
    if output is None:
        yield
        return
    try:
        file = output.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from None
    with file, redirect_stdout(file):
        yield


def _show(result: AuditResult, format: str, root: Path, verbose: bool, console: Console) -> None:
    from kbuild.audit import report
    from kbuild.audit.sarif import to_sarif
    from kbuild.codes import CODES

    if format == "json":
        console.result(report.to_json(result))
    elif format == "sarif":
        console.line(json.dumps(to_sarif(result.judged, CODES, root, __version__), indent=2, ensure_ascii=False))
    elif format == "dot":
        for kernel in result.kernels:
            console.line(kernel.graph.rstrip())
    else:
        _text(result, verbose, console)


def _text(result: AuditResult, verbose: bool, console: Console) -> None:
    from kbuild.audit import report
    from kbuild.audit.folding import folded

    shown = [one.diagnostic() for one in result.judged] if verbose else folded(result.judged)
    for diagnostic in shown:
        console.line(diagnostic.render() + "\n")
    for kernel in result.kernels if verbose else ():
        console.line("\n".join(report.reasoning_lines(kernel)) + "\n")
    headers, rows = report.summary(result)
    if len(headers) > 1:
        console.table("checks", headers, rows)
    missing = report.not_analysed(result)
    if missing:
        console.line(f"not analysed, for want of an analysis in this kbuild: {', '.join(missing)}\n")
    if result.machines:
        console.table("machine code", report.MACHINE_HEADERS, report.machine_rows(result.machines))
    if result.earlier is not None:
        lines = report.change_lines(result.changes) or ["no difference"]
        console.line("\n  ".join([f"machine code against {result.earlier}", *lines]) + "\n")
    console.line(report.closing(result))
