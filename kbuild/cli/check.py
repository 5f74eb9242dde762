"""`check`: are the kernels right? Everything but the compiling."""

from __future__ import annotations

import argparse
from pathlib import Path

from kbuild import config
from kbuild.cli.console import Console
from kbuild.errors import ExitCode

DESCRIPTION = """\
Reads every kernel of a project and reports everything that kbuild cannot compile: where, why, and what to write
instead. Needs no toolchain and no GPU, and writes nothing. Ends with 1 if there is an error.
"""

EXAMPLES = """\
examples:
  python -m kbuild check
  python -m kbuild check ~/robosim --json | jq .refusals
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    help = "folder with pyproject.toml (default: this folder)"
    parser.add_argument("project", nargs="?", default=".", help=help, metavar="PROJECT")


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Checks and reports."""
    from kbuild.pipeline import check

    result = check(config.require(Path(arguments.project)))
    has_errors = any(diagnostic.severity == "error" for diagnostic in result.diagnostics)
    if console.as_json:
        console.result(
            {
                "kernels": {"found": result.found, "complete": result.complete},
                "refusals": [{"code": code, "count": count} for code, count in sorted(result.refusals.items())],
                "diagnostics": [diagnostic.to_json() for diagnostic in result.diagnostics],
            }
        )
    else:
        for diagnostic in result.diagnostics:
            console.note(diagnostic.render() + "\n")
        for skipped in result.skipped:
            console.note(f"skipped: {skipped}")
        console.line(f"{result.complete} of {result.found} kernels can be compiled")
    return ExitCode.KERNELS if has_errors else ExitCode.DONE
