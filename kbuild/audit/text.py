"""The text that kernels are written in: definitions and comments of a file, for what the IR does not tell."""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kbuild.errors import Span

_SPEAKS_TO_US = re.compile(r"#\s*kbuild\s*:")
_SPEAKS_TO_US_IN_BYTES = re.compile(_SPEAKS_TO_US.pattern.encode())


@dataclass(frozen=True)
class Comment:
    """A comment of a file; `is_alone`: nothing else stands on its line."""

    line: int
    column: int
    text: str
    is_alone: bool


@dataclass(frozen=True, eq=False)
class Text:
    """A file of Python: lines, syntax tree, functions by the line of their `def`; comments by line where one of them
    speaks to kbuild."""

    path: str
    lines: tuple[str, ...]
    tree: ast.Module
    comments: dict[int, Comment]
    functions: dict[int, ast.FunctionDef]

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> Span:
        """Where a node of the tree stands. Columns count characters; Python's tree counts bytes."""
        end_line = node.end_lineno or node.lineno
        start = self._column(node.lineno, node.col_offset)
        return Span(self.path, node.lineno, start, end_line, self._column(end_line, node.end_col_offset or 0))

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return len(text.encode()[:offset].decode(errors="replace")) + 1

    def definition(self, span: Span) -> ast.FunctionDef | None:
        """The `def` that stands at this place."""
        return self.functions.get(span.line)


def speaks_to_us(path: str) -> bool:
    """Whether there may be comments for kbuild in a file, which few have; that is quicker to see than what they say."""
    try:
        return _SPEAKS_TO_US_IN_BYTES.search(Path(path).read_bytes()) is not None
    except OSError:
        return False


def text_of(path: str) -> Text | None:
    """The file at a path, as it is now; None where it cannot be read or is no Python."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _parsed(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _parsed(path: str, mtime_ns: int, size: int) -> Text | None:
    try:
        with tokenize.open(path) as file:
            whole = file.read()
        tree = ast.parse(whole, path)
        comments = _comments(whole) if _SPEAKS_TO_US.search(whole) else {}  # reading them takes most of the time
    except (OSError, SyntaxError, ValueError, tokenize.TokenError):
        return None
    return Text(path, tuple(whole.split("\n")), tree, comments, {node.lineno: node for node in _functions(tree)})


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Every function of a file; expressions, most of it, hold none."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            yield node
        for name in _BLOCKS:
            waiting.extend(getattr(node, name, ()))


def _comments(whole: str) -> dict[int, Comment]:
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(whole).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            is_alone = not token.line[:column].strip()
            found[line] = Comment(line, column + 1, token.string, is_alone)
    return found


def first_line(definition: ast.FunctionDef) -> int:
    """The line of the first decorator, or of the `def`."""
    return min([definition.lineno, *(one.lineno for one in definition.decorator_list)])


def last_line_of_head(definition: ast.FunctionDef) -> int:
    """The last line of a definition before its body."""
    return max(definition.lineno, definition.body[0].lineno - 1)
