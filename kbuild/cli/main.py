"""`python -m kbuild COMMAND`: the parser, and what becomes of an error.

A command is a module with `DESCRIPTION`, `EXAMPLES`, `configure(parser)` and `run(arguments, console) -> ExitCode`.
Only the one asked for is imported. Exit codes say who is at fault (`kbuild.errors.ExitCode`); only kbuild's own bugs
show a traceback.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from kbuild._version import __version__
from kbuild.cli.console import Console
from kbuild.errors import CompileError, ExitCode, InternalError, KbuildError, ToolchainError
from kbuild.loader.errors import DriverError, LoaderError

COMMANDS = {
    "build": "compile a project's kernels into a bundle",
    "check": "look for errors in a project's kernels, without compiling them",
    "audit": "find what goes wrong with kernels on a GPU, without one",
    "inspect": "show what a bundle holds",
    "verify": "check a bundle for damage and for lies",
    "sim": "run a program in the simulator, without a GPU",
    "record": "run a program, and write down which instances of kernels it asks for",
    "targets": "list the GPUs that can be built for",
    "explain": "say what a diagnostic code means",
    "doctor": "look over this machine, and a project's targets",
}

DESCRIPTION = """\
kbuild compiles GPU kernels written in Python into machine code while a wheel is built. Projects say what to build in
[tool.kbuild] of their pyproject.toml, and `pip wheel .` does it. These commands are for looking and for trying.
"""

EPILOG = """\
a first build:
  python -m kbuild doctor           is everything here that a build needs?
  python -m kbuild check            are my kernels right?
  python -m kbuild build            compile them
  python -m kbuild inspect .        what came out?

exit status:
  0 done, 1 the kernels are at fault (or a bundle is damaged), 2 usage or configuration, 3 this machine lacks something,
  70 a bug in kbuild

`python -m kbuild COMMAND --help` explains a command. Every command takes --json.
"""

# What a build imports and `pip install kbuild` does not bring.
BUILD_EXTRAS = frozenset({"cuda", "numpy", "tomli"})


class _Parser(argparse.ArgumentParser):
    """Says where help is when the command line is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(ExitCode.USAGE, f"{self.prog}: error: {message}\n  help: {self.prog} --help\n")


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The command line; the arguments of a command are there if its name is among the words."""
    top = _Parser(
        prog="python -m kbuild",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"kbuild {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter)
        if name in words:
            _configure(command, importlib.import_module(f"kbuild.cli.{name}"))
    return top


def _configure(command: argparse.ArgumentParser, module: Any) -> None:
    command.description, command.epilog = module.DESCRIPTION, module.EXAMPLES
    module.configure(command)
    command.add_argument("--json", action="store_true", help="print one JSON object; all else goes to stderr")
    command.set_defaults(run=module.run)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status. SystemExit for --help and a wrong command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a file name must not end a command in an ASCII locale
    words = sys.argv[1:] if argv is None else list(argv)
    arguments = parser(words).parse_args(words)
    console = Console(as_json=arguments.json)
    try:
        status = int(arguments.run(arguments, console))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # `… | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except KeyboardInterrupt:
        console.note("interrupted")
        return 130
    except Exception as error:
        return _fail(console, _as_ours(error))


def _as_ours(error: Exception) -> Exception:
    """A missing module that `kbuild[build]` brings is the machine's fault."""
    missing = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if missing not in BUILD_EXTRAS:
        return error
    return ToolchainError(f"building needs the module {missing!r}", help="pip install 'kbuild[build]'")


def _fail(console: Console, error: Exception) -> int:
    if isinstance(error, LoaderError):
        console.fail({"code": None, "message": str(error), "help": None}, f"error: {error}")
        return ExitCode.MACHINE if isinstance(error, DriverError) else ExitCode.KERNELS
    if isinstance(error, KbuildError) and not isinstance(error, InternalError):
        message = getattr(error, "message", "the kernels have errors")
        row = {"code": getattr(error, "code", None), "message": message, "help": getattr(error, "help", None)}
        diagnostics = error.diagnostics if isinstance(error, CompileError) else ()
        console.fail(row, str(error), [diagnostic.to_json() for diagnostic in diagnostics])
        return error.exit_code
    message = f"{type(error).__name__}: {error}"
    console.fail({"code": "KB700", "message": message, "help": "report it"}, _bug_report(error))
    return ExitCode.INTERNAL


def _bug_report(error: Exception) -> str:
    lines = "".join(traceback.format_exception(error)).rstrip()
    return f"""\
error: this is a bug in kbuild, not in your project [KB700]
  help: please report it with everything below

kbuild {__version__}, Python {platform.python_version()}, {platform.platform()}
command: {" ".join(sys.argv)}
{lines}"""
