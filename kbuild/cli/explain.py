"""`explain`: what a diagnostic code means."""

from __future__ import annotations

import argparse

from kbuild.cli.console import Console
from kbuild.codes import CODES, Code
from kbuild.errors import ExitCode, UsageError, did_you_mean

DESCRIPTION = """\
Prints what a code such as KB103 stands for, why it is so, and an example that is wrong beside one that is right.
Without a code it lists them all.
"""

EXAMPLES = """\
examples:
  python -m kbuild explain KB103
  python -m kbuild explain
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("code", nargs="?", help="a code that a message ends with", metavar="CODE")


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Prints one entry, or the list."""
    if arguments.code is None:
        _list(console)
        return ExitCode.DONE
    name = arguments.code.upper().strip("[]")
    code = CODES.get(name)
    if code is None:
        raise UsageError(f"there is no code {arguments.code!r}", help=did_you_mean(name, CODES))
    if console.as_json:
        console.result({"code": name, **code._asdict()})
    else:
        console.line(text_of(name, code))
    return ExitCode.DONE


def _list(console: Console) -> None:
    if console.as_json:
        console.result({name: code.title for name, code in CODES.items()})
        return
    for name, code in CODES.items():
        console.line(f"{name}  {code.title}")


def text_of(name: str, code: Code) -> str:
    """An entry for people."""
    parts = [f"{name}: {code.title}"]
    if code.why:
        parts.append(code.why)
    for heading, example in (("Wrong:", code.wrong), ("Right:", code.right)):
        if example:
            parts.append(heading + "\n\n" + "\n".join(f"    {line}".rstrip() for line in example.splitlines()))
    return "\n\n".join(parts)
