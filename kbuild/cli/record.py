"""`record`: which instances of kernels does a program ask for?"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from kbuild.cli.console import Console
from kbuild.errors import ExitCode, ToolchainError, UsageError
from kbuild.loader.recording import VARIABLE

DESCRIPTION = """\
Runs a program and writes down which instances of kernels it launches: those that factory functions make, and those of
generic kernels. The file belongs under version control; `instances = ["kbuild-instances.json"]` in [tool.kbuild] builds
what it lists. Where there is no GPU, launches do nothing, and arrays hold what the program wrote into them.

With `--as warp` the program's `import warp` means kbuild.warp; the real Warp need not be there. What kbuild does not
have, tiles for instance, is passed over and listed as "not recorded".

What was recorded before stays in the file, since one run seldom asks for everything. Ends with the program's status.
"""

EXAMPLES = """\
examples:
  python -m kbuild record -- python app.py --steps 3
  python -m kbuild record --fresh -o instances.json -- pytest tests/
  python -m kbuild record --as warp -- python simulate.py
"""

DEFAULT = "kbuild-instances.json"
# A module `warp` in front of the program's path, which makes way for kbuild.warp.
_STANDS_FOR_WARP = """\
import sys

del sys.modules["warp"]
import kbuild.warp

kbuild.warp.install()
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("-o", "--output", default=DEFAULT, help=f"the file (default: {DEFAULT})", metavar="FILE")
    parser.add_argument("--fresh", action="store_true", help="forget what was recorded before")
    help = "the program says `import warp`: let it mean kbuild.warp"
    parser.add_argument("--as", dest="dialect", choices=("warp",), help=help)
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, help="the program and its arguments", metavar="-- PROGRAM …"
    )


def run(arguments: argparse.Namespace, console: Console) -> ExitCode | int:
    """Runs the program, then merges what it asked for into the file."""
    from kbuild.scan import recorded

    command = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    if not command:
        raise UsageError("record wants a program to run", help="python -m kbuild record -- python app.py")
    path = Path(arguments.output)
    try:
        before = [] if arguments.fresh or not path.exists() else recorded.read(path)
    except recorded.Unreadable as error:
        raise UsageError(str(error), help="name another file with -o, or begin anew with --fresh") from None
    status, noted = _run(command, arguments.dialect, console)
    found = [entry for entry in noted if "unrecordable" not in entry]
    lost = sorted({entry["unrecordable"] for entry in noted if "unrecordable" in entry})
    known = {json.dumps(entry, sort_keys=True) for entry in before}
    new = sorted({json.dumps(entry, sort_keys=True) for entry in found} - known)
    try:
        count = recorded.write(path, [*before, *found])
    except OSError as error:
        raise ToolchainError(f"{path} cannot be written: {error.strerror}") from None
    _report(console, path, count, [json.loads(text) for text in new], lost, status)
    return status


def _run(command: list[str], dialect: str | None, console: Console) -> tuple[int, list[dict[str, Any]]]:
    """The program's exit status, and what it noted."""
    with tempfile.TemporaryDirectory(prefix="kbuild-record-") as folder:
        notes = Path(folder) / "notes"
        notes.touch()
        environment = {**os.environ, VARIABLE: str(notes)}
        if dialect == "warp":
            shim = Path(folder) / "path"
            shim.mkdir()
            (shim / "warp.py").write_text(_STANDS_FOR_WARP, encoding="utf-8")
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(shim), os.environ.get("PYTHONPATH")]))
        try:
            # Its output is no part of ours.
            done = subprocess.run(command, env=environment, stdout=2 if console.as_json else None, check=False)
        except OSError as error:
            raise UsageError(f"{command[0]} cannot be run: {error.strerror}") from None
        lines = notes.read_text(encoding="utf-8").splitlines()
    return (done.returncode if done.returncode >= 0 else 128 - done.returncode), [json.loads(line) for line in lines]


def _report(console: Console, path: Path, count: int, new: list[dict[str, Any]], lost: list[str], status: int) -> None:
    from kbuild.scan.recorded import describe

    if console.as_json:
        console.result({"file": str(path), "instances": count, "new": new, "lost": lost, "status": status})
        return
    for entry in new:
        console.note(f"new: {describe(entry)}")
    for reason in lost:
        console.note(f"not recorded: {reason}")
    if status:
        console.note(f"the program ended with status {status}: the list may be incomplete")
    console.line(f"{path}: {count} instances, {len(new)} of them new")
