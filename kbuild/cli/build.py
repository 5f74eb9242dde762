"""`build`: compile a project's kernels, or show one stage of the way."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbuild import config, targets
from kbuild.bundle import pinning
from kbuild.cli import emitting
from kbuild.cli.console import Console, count
from kbuild.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from kbuild.pipeline import BuildResult

DESCRIPTION = """\
Compiles the kernels of a project for its targets and writes the bundle beside the package's sources, or below -o.
What is unchanged comes out of the cache. `pip wheel .` and `pip install -e .` do the same on their own.

With --emit nothing is written: one stage of the way goes to stdout, or with -o into files.
"""

EXAMPLES = """\
examples:
  python -m kbuild build                                 this folder's project
  python -m kbuild build ~/robosim -o out                leave the sources alone
  python -m kbuild build --target sm_90 --target sm_120  not for all configured targets
  python -m kbuild build --as warp                       a project whose modules say `import warp`
  python -m kbuild build --pin robosim/trusted.py        note the digest that the application trusts
  python -m kbuild build --emit=cuda --kernel integrate  the CUDA C that a kernel becomes
  python -m kbuild build --emit=ir --kernel integrate    its typed form, and where each variable is live
  python -m kbuild build --emit=cubin -o out             the machine code, one file a unit and target
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    add = parser.add_argument
    add("project", nargs="?", default=".", help="folder with pyproject.toml (default: this folder)", metavar="PROJECT")
    add("-o", "--output", type=Path, metavar="FOLDER", help="write below FOLDER instead of the source folder")
    add("--target", action="append", default=[], metavar="TARGET", help="build for TARGET only; may be repeated")
    add(
        "--as",
        dest="dialect",
        choices=("warp",),
        help='kernel modules say `import warp` (dialect = "warp" of a project)',
    )
    add("-j", "--jobs", type=_count, metavar="N", help="compile N things at once (default: all cores)")
    emitting.configure(parser, emitting.STAGES)
    add("--pin", type=Path, metavar="FILE.py", help='write the line DIGEST = "sha256:…" into FILE.py')


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Builds, or emits."""
    settings = config.require(Path(arguments.project))
    if arguments.target:
        settings = dataclasses.replace(settings, targets=_parsed_targets(arguments.target))
    if arguments.dialect:
        settings = dataclasses.replace(settings, dialect=arguments.dialect)
    if arguments.emit:
        return emitting.run(settings, arguments, console)
    if arguments.kernel:
        raise UsageError("--kernel goes with --emit: a bundle has all kernels of a project")
    return _build(settings, arguments, console)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _parsed_targets(names: list[str]) -> tuple[targets.Target, ...]:
    return tuple(targets.parse(name) for name in dict.fromkeys(names))


def _build(settings: config.BuildConfig, arguments: argparse.Namespace, console: Console) -> ExitCode:
    from kbuild.pipeline import build, bundle_paths
    from kbuild.pipeline.gradients import brief

    if arguments.pin and len(bundle_paths(settings)) != 1:
        raise UsageError("--pin notes one digest, but this project has several packages with kernels")
    result = build(settings, output=arguments.output, progress=console.progress(), jobs=arguments.jobs)
    for diagnostic in brief(result.diagnostics, result.kernels):
        console.note(diagnostic.render())
    for skipped in result.skipped:
        console.note(f"skipped: {skipped}")
    if arguments.pin:
        pinning.pin(arguments.pin, result.bundles[0].digest)
    if console.as_json:
        console.result(_object(result))
        return ExitCode.DONE
    for bundle in result.bundles:
        console.line(f"{bundle.path}: {count(bundle.size, 'byte')}, {bundle.digest}")
    console.line(
        f"{_counted(result.kernels)} for {count(len(result.targets), 'target')}: "
        f"{count(result.compiled, 'unit')} compiled, {result.cached} from the cache, {result.seconds:.1f} s"
    )
    if arguments.pin:
        console.line(f"digest noted in {arguments.pin}")
    return ExitCode.DONE


def _counted(kernels: tuple[str, ...]) -> str:
    """`3 kernels and 90 of kbuild's own`."""
    own = sum(name.startswith("kbuild.primitives.") for name in kernels)
    return count(len(kernels) - own, "kernel") + (f" and {own} of kbuild's own" if own else "")


def _object(result: BuildResult) -> dict[str, Any]:
    bundles = [dataclasses.asdict(bundle) | {"path": str(bundle.path)} for bundle in result.bundles]
    return {
        "bundle": bundles[0]["path"],
        "digest": bundles[0]["digest"],
        "kernels": list(result.kernels),
        "targets": list(result.targets),
        "compiled": result.compiled,
        "cached": result.cached,
        "seconds": result.seconds,
        "nvrtc_seconds": result.nvrtc_seconds,
        "lowered": result.lowered,
        "bundles": bundles,
    }
