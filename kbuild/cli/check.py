"""`check`: are the kernels right? Everything but the compiling."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kbuild import config, targets
from kbuild.cli import emitting
from kbuild.cli.console import Console
from kbuild.errors import Diagnostic, ExitCode, UsageError

if TYPE_CHECKING:
    from kbuild.pipeline.dialect import DialectCheck

DESCRIPTION = """\
Reads every kernel of a project and reports everything that kbuild cannot compile: where, why, and what to write
instead. Needs no toolchain and no GPU, and writes nothing. Ends with 1 if there is an error.

With `--as warp` it reads a project that says `import warp`: folders, files or installed packages, without a
pyproject.toml. The name `warp` stands for kbuild.warp while their modules are imported.

With --emit it shows what became of kernels that are right: `python` (the kernel again, with every type, conversion and
fused operation spelled out: it lowers to the same typed form), `ir` (that typed form, and a table of its variables: the
memory each lies in, the block it belongs to, the lines on which it is live, the loops across which it keeps a value),
`adjoint` (the typed form of the kernel that gradients are computed with) or `cuda`.
"""

EXAMPLES = """\
examples:
  python -m kbuild check
  python -m kbuild check ~/robosim --json | jq .refusals
  python -m kbuild check --as warp ~/simulation somepackage
  python -m kbuild check --as warp somepackage --instances factories.py --compile sm_87 sm_120
  python -m kbuild check --emit=ir --kernel integrate
  python -m kbuild check --emit=python -o out
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    help = "folder with pyproject.toml (default: this folder); with --as: folders, files, installed packages"
    parser.add_argument("project", nargs="*", help=help, metavar="PROJECT")
    emitting.configure(parser, emitting.WITHOUT_COMPILING)
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="with --emit: write files into FOLDER")
    parser.add_argument("--as", dest="dialect", choices=("warp",), help="read a project written for Warp")
    help = (
        "with --as: a function that calls the factories of kernels: FILE.py (its `instances`), FILE.py:NAME, pkg:NAME"
    )
    parser.add_argument("--instances", action="append", default=[], metavar="FILE", help=help)
    help = "with --as: a module that is not installed and that kernels do not need (may be repeated)"
    parser.add_argument("--mock", action="append", default=[], metavar="MODULE", help=help)
    help = "with --as: compile what is complete for these targets, and count NVRTC's warnings"
    parser.add_argument("--compile", nargs="+", default=[], metavar="TARGET", help=help)


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Checks and reports."""
    if arguments.dialect and arguments.emit:
        raise UsageError("--emit does not go with --as: name a project with a pyproject.toml")
    if arguments.dialect:
        return _run_as(arguments, console)
    given = {"--instances": arguments.instances, "--mock": arguments.mock, "--compile": arguments.compile}
    given["several projects"] = arguments.project[1:]
    option = next((name for name, value in given.items() if value), None)
    if option is not None:
        raise UsageError(f"{option} goes with --as", help="python -m kbuild check --as warp PATH")
    from kbuild.pipeline import check
    from kbuild.pipeline.gradients import collapsed

    settings = config.require(Path(arguments.project[0] if arguments.project else "."))
    if arguments.emit:
        return emitting.run(settings, arguments, console)
    for name in ("kernel", "output"):
        if getattr(arguments, name):
            raise UsageError(f"--{name} goes with --emit")
    result = check(settings)
    if console.as_json:
        console.result(_json(result.found, result.complete, result.refusals, result.diagnostics))
    else:
        for diagnostic in collapsed(result.diagnostics):
            console.note(diagnostic.render() + "\n")
        for skipped in result.skipped:
            console.note(f"skipped: {skipped}")
        console.line(f"{result.complete} of {result.found} kernels can be compiled")
    return _status(result.diagnostics)


def _status(diagnostics: Iterable[Diagnostic]) -> ExitCode:
    return ExitCode.KERNELS if any(d.severity == "error" for d in diagnostics) else ExitCode.DONE


def _json(found: int, complete: int, refusals: dict[str, int], diagnostics: Iterable[Diagnostic]) -> dict[str, object]:
    return {
        "kernels": {"found": found, "complete": complete},
        "refusals": [{"code": code, "count": count} for code, count in sorted(refusals.items())],
        "diagnostics": [diagnostic.to_json() for diagnostic in diagnostics],
    }


def _run_as(arguments: argparse.Namespace, console: Console) -> ExitCode:
    from kbuild.pipeline.dialect import check_as

    wanted = [targets.parse(name) for name in arguments.compile]
    words = arguments.project or ["."]
    result = check_as(arguments.dialect, words, instances=arguments.instances, mocks=arguments.mock, targets=wanted)
    if console.as_json:
        console.result(_detailed(result, arguments.compile))
    else:
        for diagnostic in result.diagnostics:
            console.note(diagnostic.render() + "\n")
        _summarize(result, console, arguments.compile)
    return _status(result.diagnostics)


def _detailed(result: DialectCheck, targets: list[str]) -> dict[str, object]:
    def rows(definitions: Iterable[object]) -> list[dict[str, object]]:
        return [{name: getattr(one, name) for name in ("path", "qualname", "line")} for one in definitions]

    listed = [
        {
            "name": k.name,
            "path": k.path,
            "line": k.line,
            "refusals": [{"code": code, "message": message} for code, message in k.refusals],
        }
        for k in result.kernels
    ]
    return {
        **_json(len(result.kernels), result.complete, result.refusals, result.diagnostics),
        "listed": listed,
        "definitions": rows(result.definitions),
        "unmade": rows(result.unmade),
        "failed": result.failed,
        "targets": targets,
        "warnings": result.warnings,
    }


def _summarize(result: DialectCheck, console: Console, compiled_for: list[str]) -> None:
    for module in result.failed:
        console.note(f"failed: {module} cannot be imported")
    for one in result.unmade:
        console.note(f"not made: {one.path}:{one.line}: {one.qualname}: nothing has called what it stands in")
    from kbuild.codes import CODES

    what = f"compile for {', '.join(compiled_for)} ({result.warnings} warnings)" if compiled_for else "can be compiled"
    console.line(f"{result.complete} of {len(result.kernels)} kernels {what}")
    for code, count in result.refusals.items():
        console.line(f"  {count:5} refused by {code}: {CODES[code].title}")
    if result.unmade:
        console.line(f"  {len(result.unmade):5} definitions in functions that nothing called (see --instances)")
