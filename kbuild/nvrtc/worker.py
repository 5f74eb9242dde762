"""The worker process: opens one NVRTC library and answers requests over its standard streams until they close.

    python -m kbuild.nvrtc.worker LIBRARY [BUILTINS]

Requests: {"do": "probe", "options": […]} and {"do": "compile", "name", "options", "kind", "headers", "expressions"}
with the source as bytes.
Answers: what was asked, or {"error": text}. Whatever a library prints on standard output goes to standard error.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import IO

from kbuild.nvrtc import adapters, wire


def main(arguments: list[str]) -> None:
    """Serves until standard input ends."""
    requests, answers = _claim_streams()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends its workers itself
    _die_with_parent()
    library = Path(arguments[0])
    builtins = Path(arguments[1]) if len(arguments) > 1 else None
    nvrtc: adapters.Nvrtc | None = None
    while (message := wire.receive(requests)) is not None:
        try:
            if nvrtc is None:
                nvrtc = adapters.open_nvrtc(library, builtins)
            answer = _answer(nvrtc, *message)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}, b""
        wire.send(answers, *answer)


_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """A parent that is killed can end nobody, and a compilation may take minutes. prctl is Linux's."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _claim_streams() -> tuple[IO[bytes], IO[bytes]]:
    """The two pipes under new numbers; 0 and 1 become empty input and standard error for everybody else."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _answer(nvrtc: adapters.Nvrtc, header: wire.Header, blob: bytes) -> tuple[wire.Header, bytes]:
    if header["do"] == "probe":
        accepted = [option for option in header["options"] if _accepts(nvrtc, option)]
        return {"version": nvrtc.version(), "architectures": nvrtc.architectures(), "options": accepted}, b""
    options = [option.encode() for option in header["options"]]
    headers = [(name.encode(), text.encode()) for name, text in header["headers"]]
    expressions = [expression.encode() for expression in header["expressions"]]
    name = header["name"].encode()
    answer = adapters.compile_program(nvrtc, blob, name, options, header["kind"], headers, expressions)
    return {
        "status": answer.status,
        "status_text": answer.status_text,
        "log": answer.log,
        "seconds": answer.seconds,
        "names": answer.names,
    }, answer.data


def _accepts(nvrtc: adapters.Nvrtc, option: str) -> bool:
    arch = f"-arch=compute_{max(nvrtc.architectures())}"
    answer = adapters.compile_program(nvrtc, b"", b"probe.cu", [option.encode(), arch.encode()], "ptx")
    return answer.status == adapters.SUCCESS


if __name__ == "__main__":
    main(sys.argv[1:])
