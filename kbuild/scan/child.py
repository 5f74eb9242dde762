"""The fresh process: one scan, then as many requests to lower units as the parent makes. Ends with its input.

It runs the user's code, so it trusts nothing that a module can change: streams, the functions of `json`, signals. Each
line that it writes is {"importing": module}, {"bug": traceback}, or an answer.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from json import dumps, loads  # by name: modules that come may put others in their place
from typing import Any

from kbuild import primitives
from kbuild.errors import Report
from kbuild.ir import nodes
from kbuild.scan.adjoints import adjoints_of, lower_adjoints
from kbuild.scan.cuda import CudaSettings
from kbuild.scan.data import Lowered, Request, Scanned, diagnostic_to_json, is_own, to_json
from kbuild.scan.depth import deeply
from kbuild.scan.importing import import_kernels
from kbuild.scan.units import Found, cut, find, lower_unit


def main() -> None:
    """Requests come as lines of JSON on stdin, answers go to the real stdout. What modules print goes to stderr."""
    _arrange_the_end()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)

    def say(message: dict[str, Any]) -> None:
        answers.write(dumps(message) + "\n")
        answers.flush()

    session = _Session(lambda name: say({"importing": name}))
    for line in requests:
        say(_answered(session, loads(line)))
    # Threads that a kernel module has started must not keep the build waiting.
    with contextlib.suppress(Exception):
        sys.stderr.flush()
    os._exit(0)


_PR_SET_PDEATHSIG = 1


def _arrange_the_end() -> None:
    """Ctrl-C reaches the whole group, and the parent is the one that says so: `Scanner` starts us with it blocked.

    A parent that is killed can end nobody, and a module may wait for ever: prctl (Linux) does that.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def _answered(session: _Session, message: dict[str, Any]) -> dict[str, Any]:
    try:
        return session.answer(message)
    except Exception:  # ours: what the user's modules raise is in the answer
        return {"bug": traceback.format_exc()}


class _Session:
    def __init__(self, importing: Callable[[str], None]) -> None:
        self.importing = importing
        self.request: Request
        self.found: list[Found] = []
        self.own: list[Any] = []  # kernels of kbuild's own
        self.scanned = Scanned()

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["do"] == "scan":
            self.request = Request(**message["request"])
            return to_json(self.scan())
        if message["do"] == "audit":
            return self.audit(message["kernels"], message["options"])
        return to_json(deeply(lambda: self.lower(message["units"], message["limit"])))

    def scan(self) -> Scanned:
        report = Report()
        request = self.request
        # Before the project's modules, which may do anything to later imports.
        self.own = primitives.kernels_of(request.primitives) if request.primitives else []
        kernels, faults, failed = import_kernels(request, self.importing)
        for fault in faults:
            report.add(fault)
        return deeply(lambda: self._scanned(kernels, report, failed))

    def _scanned(self, kernels: Sequence[Any], report: Report, failed: list[str]) -> Scanned:
        kernels = [kernel for kernel in kernels if not is_own(kernel.module)]
        wanted = [kernel for kernel in kernels if kernel.module in self.request.modules]
        wanted += self.own
        settings = CudaSettings(**self.request.cuda)
        self.found = find(wanted, report, self.request.keep_going, settings)
        self.found += adjoints_of(self.found, self.request)
        skipped = _skipped(kernels, self.request.modules)
        units = cut(self.found, self.request)
        diagnostics = [diagnostic_to_json(d) for d in report.diagnostics]
        self.scanned = Scanned([one.row for one in self.found], units, skipped, diagnostics, failed)
        return self.scanned

    def audit(self, names: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
        from kbuild.scan import audit  # most builds ask for none

        made = deeply(lambda: audit.audit_kernels(self.found, names, self.request, audit.options_of(options)))
        return {"audits": [to_json(one) for one in made]}

    def lower(self, names: Sequence[str], limit: Sequence[Any] | None) -> Lowered:
        report = Report()
        units = []
        complete = 0
        asked = set(names)
        adjoints = [unit for unit in self.scanned.units if unit.is_adjoint and unit.name in asked]
        wanted = {self.found[i].row.primal for unit in adjoints for i in unit.kernels}
        kept: dict[str, nodes.Kernel] = {}
        for unit in self.scanned.units:
            if unit.name not in asked:
                continue
            if unit.is_adjoint:
                most = None if limit is None else (limit[0], limit[1])
                adjoint = lower_adjoints(unit, self.found, self.request, most, kept)
                units += [] if adjoint is None else [adjoint]
            else:
                made: dict[str, nodes.Kernel] = {}
                lowered = lower_unit(unit, self.found, self.request, report, made)
                kept.update({name: kernel for name, kernel in made.items() if name in wanted})
                if lowered is not None:
                    units.append(lowered)
                failed = {d.kernel for d in report.diagnostics if d.severity == "error"}
                complete += sum(self.found[i].kernel.name not in failed for i in unit.kernels)
        return Lowered(units, complete, [diagnostic_to_json(d) for d in report.diagnostics])


def _skipped(kernels: Sequence[Any], modules: Sequence[str]) -> list[str]:
    """Kernels that were declared in modules nobody named; kbuild's own are no news."""
    others = sorted({k.module for k in kernels if k.module not in modules})
    lines = [f"{name}: has kernels, but is not in `modules`" for name in others]
    with_kernels = {k.module for k in kernels}
    return lines + [f"{name}: has no kernels" for name in modules if name not in with_kernels]
