"""`--emit=STAGE` of `build` and `check`: one stage of the way from kernels to machine code, for reading.

python   the kernel again, from its IR: everything that the source left to kbuild is spelled out
ir       the typed form, and a table of its variables: memory space, scope, liveness
adjoint  the same of the kernel that propagates a kernel's adjoints
cuda     the CUDA C of a translation unit
ptx      NVRTC's assembly, one text a unit and target
cubin    machine code, one file a unit and target
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from kbuild import config
from kbuild.cli.console import Console
from kbuild.errors import ExitCode, UsageError

STAGES = ("python", "ir", "adjoint", "cuda", "ptx", "cubin")
WITHOUT_COMPILING = STAGES[:4]


def configure(parser: argparse.ArgumentParser, stages: Sequence[str]) -> None:
    """Adds --emit with these stages, and --kernel."""
    listed = f"{', '.join(stages[:-1])} or {stages[-1]}"
    parser.add_argument("--emit", choices=stages, metavar="STAGE", help=f"show a stage instead: {listed}")
    parser.add_argument(
        "--kernel",
        metavar="NAME",
        help="with --emit: only this kernel, as `module:name` or `name`; `NAME:adjoint` is its adjoint",
    )


def run(settings: config.BuildConfig, arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Shows the stage that was asked for, or writes it into files."""
    from kbuild.pipeline import emit

    stages = emit(settings, arguments.emit, kernel=arguments.kernel)
    if arguments.output:
        return _emit_files(stages, arguments.output, console)
    if console.as_json:
        outputs = [{"name": name, "text": data if isinstance(data, str) else data.hex()} for name, data in stages]
        console.result({"stage": arguments.emit, "outputs": outputs})
        return ExitCode.DONE
    for name, data in stages:
        if isinstance(data, bytes):
            raise UsageError(f"{name} is machine code, not text", help="add -o FOLDER to write it into files")
        console.note(f"--- {name}")
        console.line(data.rstrip("\n"))
    return ExitCode.DONE


def _emit_files(stages: Iterable[tuple[str, str | bytes]], folder: Path, console: Console) -> ExitCode:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, data in stages:
        path = folder / name.replace("/", "_").replace(":", ".")
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        paths.append(str(path))
    if console.as_json:
        console.result({"files": paths})
    else:
        sys.stdout.writelines(f"{path}\n" for path in paths)
    return ExitCode.DONE
