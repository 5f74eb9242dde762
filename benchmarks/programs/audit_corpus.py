"""Audits the kernels of one package written for Warp, a line of JSON each: `audit_corpora.py` starts it.

    audit_corpus.py PACKAGE LIMIT MOST OUT

The package is imported from Python's path, which has this checkout and its benchmarks as well, with kbuild.warp
standing for Warp; its tests and examples are left out. Of each definition the first instance is looked at, in an order
that is always the same; MOST of them (0: all).
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus import LISTS, MOCKS

from kbuild import targets
from kbuild.audit.findings import SAFETY, Finding, KernelAudit, Options
from kbuild.errors import Report
from kbuild.ir import nodes
from kbuild.loader.types import Kernel
from kbuild.nvrtc import choose, discover
from kbuild.nvrtc.adapters import compile_program, open_nvrtc
from kbuild.nvrtc.toolchain import PROGRAM_NAME, command_line
from kbuild.scan.audit import audit_kernel
from kbuild.scan.data import Request
from kbuild.scan.depth import deeply
from kbuild.scan.importing import import_kernels
from kbuild.scan.locating import locate
from kbuild.scan.units import Found, cut, find, lower_unit

SEED = 8
TARGET = "sm_90"
APART = ("test", "tests", "examples", "conftest")  # modules that are not what people run

Row = dict[str, Any]


def main() -> None:
    """Writes a line for each kernel as soon as it is known."""
    package, limit, most, out = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    (folder,) = importlib.util.find_spec(package).submodule_search_locations  # type: ignore[union-attr]
    request = _request(package, folder)
    imported = import_kernels(request, lambda _: None)  # in the main thread: the instance lists use signals
    with out.open("w", encoding="utf-8") as file:

        def write() -> None:
            for row in _rows(request, imported[0], limit, most):
                file.write(json.dumps(row) + "\n")
                file.flush()

        deeply(write)
    os._exit(0)  # threads of what was imported keep nobody waiting


def _request(package: str, folder: str) -> Request:
    modules = locate([folder])
    mocks = [name for name in MOCKS.split() if importlib.util.find_spec(name) is None]
    instances = LISTS / f"{package}.py"
    return Request(
        list(dict.fromkeys(str(one.root) for one in modules)),
        [one.name for one in modules],
        mocks,
        True,
        False,
        per_kernel=True,
        instances=[f"{instances}:instances"] if instances.is_file() else [],
        dialect="warp",
        keep_going=True,
    )


def _rows(request: Request, kernels: Sequence[Kernel], limit: float, most: int) -> Iterator[Row]:
    report = Report()
    found = find([one for one in kernels if one.module in request.modules], report, keep_going=True)
    first: dict[str, int] = {}
    for number, one in enumerate(found):
        if not set(one.row.definition.partition(":")[0].replace("_", ".").split(".")) & set(APART):
            first.setdefault(one.row.definition, number)
    chosen = sorted(first.values(), key=lambda number: found[number].row.definition)
    random.Random(SEED).shuffle(chosen)
    yield {"instances": len(found), "definitions": len(first)}
    units = {unit.kernels[0]: unit for unit in cut(found, request)}
    nvrtc = _Nvrtc()
    for number in chosen[: most or None]:
        one, report = found[number], Report()
        kept: dict[str, nodes.Kernel] = {}
        row: Row = {"kernel": one.row.definition, "line": one.row.span.line}
        start = time.process_time()
        unit = lower_unit(units[number], found, request, report, kept)
        row["lowering"] = time.process_time() - start
        if unit is None:
            yield {**row, "refused": sorted({d.code for d in report.diagnostics if d.severity == "error"})}
            continue
        yield {
            **row,
            "compiling": nvrtc.seconds(unit.source),
            "plain": _audited(one, kept[one.row.name], limit, False, request),
            "solver": _audited(one, kept[one.row.name], limit, True, request),
        }


def _audited(one: Found, kernel: nodes.Kernel, limit: float, use_solver: bool, request: Request) -> Row:
    start = time.process_time()
    made = audit_kernel(kernel, one.row, Options(use_solver=use_solver, time_limit=limit))
    seconds = time.process_time() - start
    return {
        "seconds": seconds,
        "checks": {check.check: [check.obligations, check.proved] for check in made.checks},
        "given up": _given_up(made),
        "findings": [_finding(finding, request) for finding in made.findings],
    }


def _given_up(made: KernelAudit) -> str:
    """Why there are no answers at all."""
    is_empty = not any(check.obligations for check in made.checks if check.check in SAFETY)
    reasons = [text for text in made.assumptions if text.startswith(("more than", "time limit"))]
    return reasons[0] if is_empty and reasons else ""


def _finding(finding: Finding, request: Request) -> Row:
    place, line = "", 0
    if finding.span is not None:
        line = finding.span.line
        path = Path(finding.span.path)
        root = next((root for root in request.roots if path.is_relative_to(root)), None)
        place = ".".join(path.relative_to(root).with_suffix("").parts) if root else path.stem
    replay = None if finding.replay is None else [finding.replay.is_confirmed, finding.replay.text]
    return {
        "code": finding.code,
        "check": finding.check,
        "verdict": finding.verdict,
        "module": place,
        "line": line,
        "message": finding.message,
        "reason": finding.reason,
        "replay": replay,
    }


class _Nvrtc:
    """The compiler of one target."""

    def __init__(self) -> None:
        self._toolchain = choose(targets.parse(TARGET), discover())
        self._nvrtc = open_nvrtc(Path(self._toolchain.library), self._toolchain.builtins)

    def seconds(self, source: str) -> float:
        """What it takes for a program, processor time."""
        options = [option.encode() for option in command_line(self._toolchain, TARGET)]
        start = time.process_time()
        compile_program(self._nvrtc, source.encode(), PROGRAM_NAME.encode(), options, "cubin")
        return time.process_time() - start


if __name__ == "__main__":
    main()
