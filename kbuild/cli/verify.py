"""`verify`: is a bundle undamaged, and does its machine code do what its manifest says?"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from kbuild import bundle
from kbuild.cli.console import Console, count
from kbuild.errors import ExitCode
from kbuild.loader import format

DESCRIPTION = """\
Checks every digest in a bundle, and holds what it says of each cubin (architecture, entries, offset and size of every
parameter, registers, memory) against the cubin's own tables. Needs no GPU and no toolchain. Ends with 1 if anything is
wrong. Digests show damage, not an intruder: give --digest to name the bundle you trust.

SOURCE is a wheel, a .kbundle file, the name of an installed package, or a project folder.
"""

EXAMPLES = """\
examples:
  python -m kbuild verify dist/robosim-1.0-py3-none-any.whl
  python -m kbuild verify robosim --digest sha256:9a0330a3…
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    add = parser.add_argument
    add("source", nargs="?", default=".", metavar="SOURCE", help="wheel, .kbundle, package or project (default: .)")
    add("--digest", metavar="sha256:…", help="the digest that the bundle must have")


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Verifies every bundle of the source."""
    results = [_verify(found, arguments.digest) for found in bundle.locate(arguments.source)]
    is_right = not any(result.problems for result in results)
    if console.as_json:
        console.result({"ok": is_right, "bundles": [result.to_json() for result in results]})
    else:
        for result in results:
            _show(result, console)
    return ExitCode.DONE if is_right else ExitCode.KERNELS


@dataclass(frozen=True, slots=True)
class _Result:
    """What came out for one bundle; no digest where it cannot be read."""

    path: str
    digest: str | None
    cubins: int
    problems: list[bundle.Problem]

    def to_json(self) -> dict[str, object]:
        problems = [problem.to_json() for problem in self.problems]
        return {"path": self.path, "digest": self.digest, "cubins": self.cubins, "problems": problems}


def _verify(found: bundle.Found, wanted: str | None) -> _Result:
    try:
        parsed = format.parse(found.data, lazy=True)  # damage to one blob must not hide what is wrong with another
    except format.BundleError as error:
        return _Result(found.label, None, 0, [bundle.Problem(str(error))])
    problems = bundle.verify(parsed)
    if wanted is not None and parsed.digest != wanted:
        problems.insert(0, bundle.Problem(f"it is {parsed.digest}, not the trusted {wanted}"))
    return _Result(found.label, parsed.digest, len(parsed.manifest["cubins"]), problems)


def _show(result: _Result, console: Console) -> None:
    for problem in result.problems:
        console.note(f"{result.path}: error: {problem}")
    if not result.problems:
        console.line(f"{result.path}: right, {count(result.cubins, 'cubin')}, {result.digest}")
