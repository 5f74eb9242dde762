"""`doctor`: is everything here that a build needs, and what could run here?"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kbuild import config
from kbuild._version import __version__
from kbuild.cli import toolchains as planning
from kbuild.cli.console import Console
from kbuild.errors import ExitCode, ToolchainError, UsageError
from kbuild.loader import driver, hosts
from kbuild.loader.errors import DriverError
from kbuild.nvrtc import Cache, Toolchain, cache_root, survey

DESCRIPTION = """\
Looks over this machine: Python, the NVRTC toolchains and the GPUs they compile for, kbuild's cache, the GPU driver. For
a project also: is there a toolchain for each of its targets? Ends with 3 if the project cannot be built here.

A machine that only runs kernels needs nothing of this but a GPU and its driver; there, `python -m kbuild.loader doctor`
works on any Python from 3.8 on.
"""

EXAMPLES = """\
examples:
  python -m kbuild doctor
  python -m kbuild doctor ~/robosim --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    help = "folder with pyproject.toml (default: this folder, if it is a project)"
    parser.add_argument("project", nargs="?", metavar="PROJECT", help=help)


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Examines and reports."""
    settings, problems = _project(arguments.project)
    found = _survey(settings, problems)
    plans = [planning.plan(target, found) for target in settings.targets] if settings else []
    missing = [_sentence(plan.problem, plan.help) for plan in plans if plan.problem]
    report = {
        "kbuild": __version__,
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "machine": platform.platform(),
        "extras": _extras(),
        "toolchains": [_toolchain(one) for one in found],
        "cache": _cache(),
        **_gpus(),
        "project": {"root": str(settings.root), "targets": [plan.to_json() for plan in plans]} if settings else None,
        "problems": [*problems, *missing],
    }
    if console.as_json:
        console.result(report)
    else:
        _show(report, plans, console)
    return ExitCode.MACHINE if missing else ExitCode.DONE


def _project(folder: str | None) -> tuple[config.BuildConfig | None, list[str]]:
    """The project that was named, or the one that this folder may be, and why it cannot be read."""
    if folder is not None:
        return config.require(Path(folder)), []
    try:
        return config.load(Path(".")), []
    except ToolchainError as error:
        return None, [_sentence(error.message, error.help)]
    except UsageError as error:
        return None, [_sentence(f"{error.where}: {error.message}", error.help)]


def _survey(settings: config.BuildConfig | None, problems: list[str]) -> Sequence[Toolchain]:
    """The toolchains here; what cannot be used joins the problems."""
    try:
        found = survey(settings.toolchains if settings else ())
    except ToolchainError as error:
        problems.append(_sentence(error.message, error.help))
        return ()
    problems.extend(found.problems)
    return found.toolchains


def _sentence(message: str | None, help: str | None) -> str:
    return f"{message} (help: {help})" if help else str(message)


def _extras() -> dict[str, bool]:
    """What `kbuild[build]` brings besides NVRTC, looked up without importing."""
    return {name: importlib.util.find_spec(name) is not None for name in ("cuda", "numpy", "rich")}


def _toolchain(one: Toolchain) -> dict[str, Any]:
    architectures = [f"sm_{number}" for number in one.architectures]
    return {"version": one.build, "library": str(one.library), "source": one.source, "architectures": architectures}


def _cache() -> dict[str, Any]:
    root = cache_root()
    entries, size = Cache(root).usage()
    return {"path": str(root), "writable": _is_writable(root), "entries": entries, "bytes": size}


def _is_writable(folder: Path) -> bool:
    """Whether the folder, or the nearest one above that exists, can be written."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _gpus() -> dict[str, Any]:
    """The driver's CUDA version and the GPUs, or why there are none."""
    try:
        version = driver.get().version
        gpus = [{"name": device.name, "arch": device.target} for device in hosts.get_devices()]
    except DriverError as error:
        return {"driver": None, "gpus": [], "gpu_problem": str(error)}
    return {"driver": list(version), "gpus": gpus, "gpu_problem": None}


def _show(report: dict[str, Any], plans: list[planning.Plan], console: Console) -> None:
    for line in _lines(report):
        console.line(line)
    console.line()
    rows = [
        (one["version"], " ".join(a[3:] for a in one["architectures"]), one["source"]) for one in report["toolchains"]
    ]
    if rows:
        console.table("toolchains", ("NVRTC", "compiles for sm_…", "found in"), rows)
    else:
        console.line("no toolchain: to compile kernels here, pip install 'kbuild[build]'\n")
    if report["project"]:
        console.table(f"project {report['project']['root']}", planning.HEADERS, planning.rows(plans))
    for problem in report["problems"]:
        console.note(f"problem: {problem}")


def _lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"kbuild    {report['kbuild']}"
    yield f"Python    {report['python']['version']} ({report['python']['executable']})"
    yield f"machine   {report['machine']}"
    absent = [name for name, there in report["extras"].items() if not there]
    yield "extras    " + (f"without {', '.join(absent)}: pip install 'kbuild[build]'" if absent else "all there")
    cache = report["cache"]
    state = "writable" if cache["writable"] else "NOT writable: every build compiles everything"
    yield f"cache     {cache['path']} ({state}; {cache['entries']} entries, {cache['bytes'] / 1e6:.1f} MB)"
    if report["gpu_problem"]:
        yield f"GPU       {report['gpu_problem']}"
    else:
        yield f"driver    CUDA {report['driver'][0]}.{report['driver'][1]}"
    for gpu in report["gpus"]:
        yield f"GPU       {gpu['name']} ({gpu['arch']})"
