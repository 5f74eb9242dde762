"""Showing things: tables and progress on a terminal (with rich, where it is installed), plain lines elsewhere.

Results go to stdout; progress, warnings and errors to stderr. With --json stdout gets one object and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbuild.pipeline import Progress


class Console:
    """Where a command shows what it found."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json

    def result(self, value: dict[str, Any]) -> None:
        """The object of --json."""
        print(json.dumps(value, indent=2))

    def line(self, text: str = "") -> None:
        """A line of the answer."""
        print(text)

    def note(self, text: str) -> None:
        """Something beside the answer."""
        print(text, file=sys.stderr)

    def fail(self, error: dict[str, object], text: str, diagnostics: Sequence[dict[str, object]] = ()) -> None:
        """The end of a command that could not: for people on stderr, for scripts in the object."""
        if self.as_json:
            self.result({"error": error, "diagnostics": list(diagnostics)})
        self.note(text)

    def table(self, title: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """A table; numbers to the right. Cells are never read as markup: a kernel's name may hold brackets."""
        cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
        right = [bool(rows) and all(isinstance(row[column], int) for row in rows) for column in range(len(headers))]
        self.line(title)
        if not _rich_table(headers, cells, right):
            for line in _plain_table(headers, cells, right):
                self.line(line)
        self.line()

    def progress(self) -> Progress:
        """Progress on stderr: a bar on a terminal, a line for each step elsewhere."""
        if _is_terminal(sys.stderr):
            try:
                return _Bar()
            except ImportError:
                pass
        return _Lines()


def count(number: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _is_terminal(stream: IO[str]) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _plain_table(headers: Sequence[str], cells: list[list[str]], right: list[bool]) -> list[str]:
    widths = [max(len(row[column]) for row in (headers, *cells)) for column in range(len(headers))]
    lines = [
        "  ".join(
            cell.rjust(width) if at_right else cell.ljust(width)
            for cell, width, at_right in zip(row, widths, right, strict=True)
        )
        for row in (headers, *cells)
    ]
    return ["  " + line.rstrip() for line in lines]


def _rich_table(headers: Sequence[str], cells: list[list[str]], right: list[bool]) -> bool:
    """Draws the table if stdout is a terminal and rich is there. rich minds NO_COLOR itself."""
    if not _is_terminal(sys.stdout):
        return False
    try:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console as RichConsole
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for header, at_right in zip(headers, right, strict=True):
        table.add_column(header, justify="right" if at_right else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    RichConsole().print(table)
    return True


class _Lines:
    """`[3/24] sm_90 robosim.kernels`"""

    def __init__(self) -> None:
        self.done = self.total = 0

    def start(self, total: int) -> None:
        self.total = total

    def advance(self, label: str) -> None:
        self.done += 1
        print(f"[{self.done}/{self.total}] {label}", file=sys.stderr, flush=True)

    def finish(self) -> None:
        """Nothing is left open."""


class _Bar:
    """rich's progress bar; the current step stands at its end."""

    def __init__(self) -> None:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        self.bar = Progress(*columns, console=RichConsole(stderr=True), transient=True)
        self.task = self.bar.add_task("", total=None)

    def start(self, total: int) -> None:
        self.bar.update(self.task, total=total)
        self.bar.start()

    def advance(self, label: str) -> None:
        self.bar.update(self.task, advance=1, description=label)

    def finish(self) -> None:
        self.bar.stop()
