"""The parent's side of a scan."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kbuild.audit.findings import KernelAudit, Options
from kbuild.audit.plain import decode
from kbuild.errors import CompileError, Diagnostic, InternalError
from kbuild.scan.data import Lowered, Request, Scanned, lowered_from_json, scanned_from_json, to_json

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
# The current directory leaves the path: a project's own `types.py` must not stand before Python's. (It is not there
# with PYTHONSAFEPATH.)
_PROGRAM = "import sys; sys.path[: sys.path[:1] == ['']] = [sys.argv[1]]; from kbuild.scan.child import main; main()"
_SECONDS_BETWEEN_LOOKS = 0.5


class Scanner:
    """A fresh process with the project's modules imported; a context manager."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._doing = ""
        self._is_scanning = self._is_cut_off = False
        self._received = b""
        # Blocked until the child has said what it does on Ctrl-C: Python would show a traceback for it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, _PACKAGE_ROOT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=dict(os.environ),
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def __enter__(self) -> Scanner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # a request that was never read
                    stream.close()

    def start(self) -> None:
        """Lets the process scan while we do other things; `scan` waits for what it finds."""
        self._is_scanning = True
        self._send({"do": "scan", "request": to_json(self._request)})

    def scan(self) -> Scanned:
        """Kernels, units and diagnostics, without lowering anything."""
        if not self._is_scanning:
            self.start()
        self._is_scanning = False
        return scanned_from_json(self._answer())

    def lower(self, units: Sequence[str], limit: tuple[int, str] | None = None) -> Lowered:
        """These units in CUDA C. `limit`: the bytes that an adjoint's parameters may take, and who says so."""
        self._send({"do": "lower", "units": list(units), "limit": limit})
        return lowered_from_json(self._answer())

    def audit(self, kernels: Sequence[str], options: Options) -> list[KernelAudit]:
        """The audits of these kernels, of those that have IR and can be lowered."""
        self._send({"do": "audit", "kernels": list(kernels), "options": to_json(options)})
        return [decode(KernelAudit, row) for row in self._answer()["audits"]]

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._is_cut_off = True  # told when the answer is wanted

    def _answer(self) -> dict[str, Any]:
        if self._is_cut_off:
            raise self._died()
        try:
            message = self._receive()
            while "importing" in message:
                self._doing = f"while importing {message['importing']}"
                message = self._receive()
        except EOFError:
            raise self._died() from None
        self._doing = "after the modules were imported"
        if "bug" in message:
            raise InternalError(f"the process that imports kernel modules failed:\n{message['bug']}")
        return message

    def _receive(self) -> dict[str, Any]:
        pieces = [self._received]
        while b"\n" not in pieces[-1]:
            pieces.append(self._read())
        line, _, self._received = b"".join(pieces).partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def _read(self) -> bytes:
        """What comes next. A dead process is the end, though another that a module has left may hold the pipe open."""
        assert self._process.stdout is not None
        while not select.select([self._process.stdout], [], [], _SECONDS_BETWEEN_LOOKS)[0]:
            if self._process.poll() is not None:
                raise EOFError
        piece = os.read(self._process.stdout.fileno(), 1 << 20)
        if not piece:
            raise EOFError
        return piece

    def _died(self) -> Exception:
        """A module may end the process under our feet."""
        try:
            status = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # it lives, but a module has closed what connects us
            self._process.kill()
            status = self._process.wait()
        if not self._doing:
            return InternalError("the process that imports kernel modules did not start; what it printed is above")
        text = f"the process that imports kernel modules ended {self._doing}: {_ending(status)}"
        if status == -signal.SIGKILL:
            help = "was it ended from outside, or for want of memory?"
        else:
            help = "a module ends Python (os._exit), or a library that it loads crashes: import it alone to see"
        return CompileError([Diagnostic("KB202", text, help=help)])


def _ending(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"
