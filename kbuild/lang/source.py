"""Where a function is written: its file, parsed once, and spans in it.

Columns of Python's `ast` count UTF-8 bytes; spans count characters, so carets stand right after an umlaut.
"""

from __future__ import annotations

import ast
import tokenize
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE
from types import FunctionType
from typing import TypeAlias

from kbuild.errors import CompileError, Diagnostic, Span

Definition: TypeAlias = ast.FunctionDef


@dataclass(frozen=True)
class SourceFile:
    """A parsed module file."""

    path: str
    lines: tuple[str, ...]
    tree: ast.Module

    def span(self, node: ast.AST) -> Span:
        """The span of a node of this file's tree."""
        line, end_line = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        column = self._column(line, node.col_offset)  # type: ignore[attr-defined]
        return Span(self.path, line, column, end_line, self._column(end_line, node.end_col_offset or 0))  # type: ignore[attr-defined]

    def _column(self, line: int, byte_offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return len(text.encode()[:byte_offset].decode(errors="replace")) + 1


@cache
def source_file(path: str) -> SourceFile:
    """The file at a path. Raises OSError, SyntaxError, UnicodeDecodeError."""
    with tokenize.open(path) as file:
        text = file.read()
    # Not splitlines: a form feed or U+2028 ends no line for Python.
    return SourceFile(path, tuple(text.split("\n")), ast.parse(text, path))


def head(file: SourceFile, definition: Definition) -> Span:
    """The `def` line of a function."""
    whole = file.span(definition)
    end = len(file.lines[whole.line - 1].rstrip()) + 1
    return Span(whole.path, whole.line, whole.column, whole.line, end)


def definition_of(function: FunctionType) -> tuple[SourceFile, Definition]:
    """The file and the `def` of a Python function. Raises CompileError KB100."""
    code = function.__code__
    if code.co_name == "<lambda>":
        raise _no_source(function, "it is a lambda", "write it as a `def`")
    if code.co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR):
        raise _no_source(function, "it is asynchronous", "write it as a `def`")
    try:
        file = source_file(code.co_filename)
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise _no_source(function, f"its file {code.co_filename!r} cannot be read ({error})", _SOURCE_HELP) from None
    found = _definitions(code.co_filename).get((code.co_name, code.co_firstlineno), [])
    if len(found) != 1:
        reason = (
            f"no `def {code.co_name}` at line {code.co_firstlineno} of {code.co_filename!r} (changed since import?)"
        )
        raise _no_source(function, reason, _SOURCE_HELP)
    return file, found[0]


_SOURCE_HELP = "kernels are compiled from their source: keep them in a .py file that is there while building"


@cache
def _definitions(path: str) -> dict[tuple[str, int], list[Definition]]:
    """The file's functions by name and first line, decorators included."""
    found: dict[tuple[str, int], list[Definition]] = {}
    for node in _statements(source_file(path).tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.setdefault((node.name, first), []).append(node)
    return found


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements at whatever depth, and what holds some; expressions, most of a file, hold none."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        yield node
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting.extend(getattr(node, name, ()))


def _no_source(function: FunctionType, reason: str, help: str) -> CompileError:
    name = f"{function.__module__}:{function.__qualname__}"
    return CompileError([Diagnostic("KB100", f"{name} has no source: {reason}", help=help, kernel=name)])
