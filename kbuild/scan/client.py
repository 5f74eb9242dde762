"""The parent's side of a scan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kbuild.errors import CompileError, Diagnostic, InternalError
from kbuild.scan.data import Lowered, Request, Scanned, lowered_from_json, scanned_from_json, to_json

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
# The current directory leaves the path: a project's own `types.py` must not stand before Python's.
_PROGRAM = "import sys; sys.path[0] = sys.argv[1]; from kbuild.scan.child import main; main()"


class Scanner:
    """A fresh process with the project's modules imported; a context manager."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, _PACKAGE_ROOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(os.environ),
            encoding="utf-8",
        )

    def __enter__(self) -> Scanner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def scan(self) -> Scanned:
        """Kernels, units and diagnostics, without lowering anything."""
        return scanned_from_json(self._ask({"do": "scan", "request": to_json(self._request)}))

    def lower(self, units: Sequence[str]) -> Lowered:
        """These units in CUDA C."""
        return lowered_from_json(self._ask({"do": "lower", "units": list(units)}))

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise self._died()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _died(self) -> Exception:
        """A module may end the process under our feet; an exception of ours is in what it printed."""
        status = self._process.wait()
        if status == 1:
            return InternalError("the process that imports kernel modules failed; what it printed is above")
        text = f"the process that imports kernel modules ended with status {status}"
        names = ", ".join(self._request.modules)
        help = "a module ends Python while it is imported (os._exit, a crash in a library it loads)"
        return CompileError([Diagnostic("KB202", f"{text} while importing {names}", help=help)])
