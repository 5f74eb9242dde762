"""NVRTC's and ptxas's log as messages.

    /kbuild/pkg/kernels.py(44): error: identifier "x" is undefined   →  path, line 44, "error", the text
    ptxas error   : Entry function 'k' uses too much shared data …   →  kernel "k", no place

The excerpt of the generated text and its caret line are dropped: they are not what the user wrote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogMessage:
    """`severity` is error, warning or note. `path` and `line` come from `#line`; `kernel` is an entry's name."""

    path: str | None
    line: int | None
    severity: str
    text: str
    kernel: str | None = None


_COMPILER = re.compile(r"(.+?)\((\d+)\): (?:catastrophic )?([Ee]rror|[Ww]arning|remark|note)(?: #[\w-]+)?: (.*)")
_PTXAS = re.compile(r"ptxas\s+(?:.+?, line \d+; )?(error|fatal|warning|info)\s*: (.*)")
_OTHER = re.compile(r"(?:nvrtc: |At end of source: )?(?:catastrophic )?(error|warning)(?: #[\w-]+)?\s*: (.*)")
_KERNEL = re.compile(r"\b(?:[Ee]ntry(?: function)?|in function) '?([A-Za-z_][\w$]*)'?")
# Which architectures a toolchain is for is decided by kbuild's table; NVRTC says this of every Volta and older.
_NOISE = re.compile(r"Architectures prior to .* are deprecated and may be removed|Ptx assembly aborted due to errors")
_CARET = re.compile(r"\s*\^\s*")
_ENTRY = re.compile(r"ptxas info\s*: Compiling entry function '([^']+)'")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_SEVERITIES = {"remark": "note", "fatal": "error"}


def parse_log(log: str) -> tuple[LogMessage, ...]:
    """The errors, warnings and notes of a log, in order and each once. ptxas's `info` lines are not messages."""
    found: list[LogMessage] = []
    for paragraph in re.split(r"\n\s*\n", log):
        lines = paragraph.splitlines()
        starts = [i for i, line in enumerate(lines) if _head(line) or line.startswith("ptxas")]
        for number, start in enumerate(starts):
            message = _head(lines[start])
            if message is not None:
                rest = lines[start + 1 : (*starts, len(lines))[number + 1]]
                found.append(_with_continuation(message, rest))
    return tuple(dict.fromkeys(found))


def _head(line: str) -> LogMessage | None:
    """The message that a line starts, or None."""
    if match := _PTXAS.fullmatch(line):
        severity, text = match.groups()
        if severity == "info" or _NOISE.match(text):
            return None
        kernel = _KERNEL.search(text)
        return LogMessage(None, None, _SEVERITIES.get(severity, severity), text, kernel[1] if kernel else None)
    if match := _COMPILER.fullmatch(line):
        path, number, severity, text = match.groups()
        severity = severity.lower()
        kernel = _KERNEL.search(text)
        return LogMessage(path, int(number), _SEVERITIES.get(severity, severity), text, kernel[1] if kernel else None)
    match = _OTHER.fullmatch(line)
    if match and not _NOISE.match(match[2]):
        return LogMessage(None, None, match[1], match[2])
    return None


def _with_continuation(message: LogMessage, rest: list[str]) -> LogMessage:
    """The message with the further lines of its text, less the excerpt (the line before a caret)."""
    carets = {i for i, line in enumerate(rest) if _CARET.fullmatch(line)}
    more = [
        line.strip()
        for i, line in enumerate(rest)
        if i not in carets and i + 1 not in carets and line.startswith(" " * 8) and line.strip()
    ]
    text = " ".join([message.text, *more])
    return LogMessage(message.path, message.line, message.severity, text, message.kernel)


def spilled_bytes(log: str) -> dict[str, int]:
    """Bytes of spill stores and loads of each kernel, with the device functions compiled for it, from ptxas's `-v`."""
    spills: dict[str, int] = {}
    entry = None
    for line in log.splitlines():
        if match := _ENTRY.match(line):
            entry = match[1]
            spills[entry] = 0
        elif entry is not None and (match := _SPILLS.search(line)):
            spills[entry] += int(match[1]) + int(match[2])
    return spills
