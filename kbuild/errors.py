"""What kbuild says when something is wrong, as values.

Three kinds of fault, three exceptions: the user's source (`CompileError`, with diagnostics that point into it), the
user's configuration or command line (`UsageError`), the machine (`ToolchainError`), and ourselves (`InternalError`).
Diagnostics are collected and raised together, so that one run shows everything that is wrong in a module.
"""

from __future__ import annotations

import difflib
import linecache
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit status of `python -m kbuild`, by who is at fault."""

    DONE = 0
    KERNELS = 1
    USAGE = 2
    MACHINE = 3
    INTERNAL = 70


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A piece of a source file. Lines and columns count from 1, columns in characters; the end is exclusive."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Note:
    """An addition to a diagnostic, with its own place where it has one (the chain of calls, the other definition)."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong: what, where, why, and what to write instead."""

    code: str
    message: str
    span: Span | None = None
    severity: str = "error"
    help: str | None = None
    notes: tuple[Note, ...] = ()
    kernel: str | None = None

    def to_json(self) -> dict[str, object]:
        """The object that `--json` prints for a diagnostic."""
        return {
            "code": self.code,
            "severity": self.severity,
            "path": self.span.path if self.span else None,
            "line": self.span.line if self.span else None,
            "column": self.span.column if self.span else None,
            "message": self.message,
            "help": self.help,
            "kernel": self.kernel,
        }

    def render(self) -> str:
        """`path:line:col: error: … [KB103]`, the source line with carets, then notes and help."""
        place = f"{self.span}: " if self.span else ""
        lines = [f"{place}{self.severity}: {self.message} [{self.code}]"]
        if self.span:
            lines += _excerpt(self.span)
        for note in self.notes:
            where = f"{note.span}: " if note.span else ""
            lines.append(f"  {where}note: {note.message}")
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)


def _excerpt(span: Span) -> list[str]:
    """The line of the span with carets under it; nothing when the file cannot be read any more."""
    text = linecache.getline(span.path, span.line).rstrip("\r\n")
    if not text.strip():
        return []
    start = span.column - 1
    same_line = span.end_line in (0, span.line) and span.end_column > span.column
    end = span.end_column - 1 if same_line else (len(text) if span.end_line > span.line else start + 1)
    pad = "".join("\t" if c == "\t" else " " * _width(c) for c in text[:start])
    carets = sum(_width(c) for c in text[start:end]) or 1
    number = str(span.line)
    return [f"  {number} | {text}", f"  {' ' * len(number)} | {pad}{'^' * carets}"]


def _width(character: str) -> int:
    """Columns that a character takes on a terminal."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class KbuildError(Exception):
    """Base of everything that kbuild raises on purpose while building."""

    exit_code = ExitCode.INTERNAL


class CompileError(KbuildError):
    """The user's kernels are at fault; carries every diagnostic of the run."""

    exit_code = ExitCode.KERNELS

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n\n".join(d.render() for d in self.diagnostics))


class UsageError(KbuildError):
    """The configuration or the command line is at fault."""

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, *, code: str = "KB001", help: str | None = None, where: str | None = None) -> None:
        self.code, self.message, self.help, self.where = code, message, help, where
        super().__init__(_sentence(message, code, help, where))


class ToolchainError(KbuildError):
    """The machine is at fault: what is missing, why it is needed, and the command that cures it."""

    exit_code = ExitCode.MACHINE

    def __init__(self, message: str, *, code: str = "KB501", help: str | None = None) -> None:
        self.code, self.message, self.help = code, message, help
        super().__init__(_sentence(message, code, help, None))


class InternalError(KbuildError):
    """kbuild itself is at fault."""

    exit_code = ExitCode.INTERNAL


def _sentence(message: str, code: str, help: str | None, where: str | None) -> str:
    place = f"{where}: " if where else ""
    return f"{place}error: {message} [{code}]" + (f"\n  help: {help}" if help else "")


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """`did you mean 'x'?` for the nearest known word, or None."""
    near = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else None


@dataclass(slots=True)
class Report:
    """Collects diagnostics; `raise_errors` ends a stage."""

    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, diagnostic: Diagnostic) -> None:
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)

    @property
    def has_errors(self) -> bool:
        return self.error_count > 0

    @property
    def error_count(self) -> int:
        return sum(d.severity == "error" for d in self.diagnostics)

    def raise_errors(self) -> None:
        if self.has_errors:
            raise CompileError(self.diagnostics)
