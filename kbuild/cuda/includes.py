"""A file of CUDA C++ and all files of the project that it includes, as texts under virtual names.

    read(Path("src/pkg/blur.cu"), Roots(project, include_dirs))
        → Closure(text, headers={"/kbuild/src/pkg/window.cuh": …}, files={virtual: real path}, foreign=["cuda_fp16.h"])

NVRTC tells nobody which files it has read, so they are found here, by the same rules: `"…"` beside the including file,
then in the include folders, `<…>` in the include folders alone. An `#include` of a file that is found names its virtual
path afterwards, on the same line, and the compiler gets the texts and never looks at the project's folders: what is
compiled is exactly what the key of the unit was computed from. All branches of conditionals count. What is not found
here is the compiler's affair: CUDA's own headers, or a file that an inactive branch names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kbuild.cuda.array_header import NAME as ARRAY_HEADER
from kbuild.cuda.array_header import TEXT as ARRAY_TEXT
from kbuild.errors import CompileError, Diagnostic, Span

VIRTUAL = "/kbuild/"
SUFFIXES = frozenset({".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"})

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(include(?:_next)?|if|elif)\b(.*)$")
_NAMED = re.compile(r"[ \t]*(?:\"([^\"]+)\"|<([^>]+)>)")
_HAS_INCLUDE = re.compile(r"(__has_include[ \t]*\([ \t]*)(?:\"([^\"]+)\"|<([^>]+)>)")


@dataclass(frozen=True, slots=True)
class Roots:
    """Where files are: `project`, to which virtual names are relative, and the folders of `include-dirs`."""

    project: Path
    include_dirs: tuple[Path, ...] = ()

    def virtual(self, path: Path) -> str:
        """The name under which a file is compiled: it says nothing of where the project lies."""
        if path.is_relative_to(self.project):
            return VIRTUAL + path.relative_to(self.project).as_posix()
        for number, folder in enumerate(self.include_dirs):
            if path.is_relative_to(folder):
                return f"{VIRTUAL}include{number}/{path.relative_to(folder).as_posix()}"
        return VIRTUAL + "outside/" + Path(os.path.relpath(path, self.project)).as_posix().replace("../", "up/")


@dataclass
class Closure:
    """`name` is the virtual name of the file itself, `text` its text. `foreign` are the names in includes that the
    project does not have.
    """

    name: str
    text: str
    headers: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        """All files that were read."""
        return list(self.files.values())


def read(path: Path, roots: Roots) -> Closure:
    """The closure of a file. Raises CompileError for what cannot be read, or includes what a macro says."""
    reader = _Reader(roots)
    text = reader.file(path)
    return Closure(
        roots.virtual(path), text, dict(sorted(reader.headers.items())), reader.files, sorted(reader.foreign)
    )


class _Reader:
    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self.headers: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.foreign: set[str] = set()

    def file(self, path: Path) -> str:
        """A file's text, its includes by their virtual names."""
        self.files[self.roots.virtual(path)] = str(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else f"not UTF-8 at byte {error.start}"
            raise CompileError([Diagnostic("KB303", f"{path} cannot be read: {reason}")]) from None
        return "\n".join(self.line(path, number, line, code) for number, line, code in _lines(text))

    def line(self, path: Path, number: int, line: str, code: str) -> str:
        found = _DIRECTIVE.match(code)
        if found is None:
            return line
        word, rest = found.groups()
        if word in ("if", "elif"):
            if "__has_include" not in code:
                return line
            return _HAS_INCLUDE.sub(lambda asked: asked[1] + self.spelled(path, asked[2], asked[3]), code)
        named = _NAMED.match(rest)
        if named is None or word == "include_next":
            raise CompileError([_not_named(path, number, line, code)])
        return f"#include {self.spelled(path, named[1], named[2])}"

    def spelled(self, includer: Path, quoted: str | None, angled: str | None) -> str:
        """What an `#include` names, as the compiler gets it."""
        name = quoted or angled or ""
        if angled == ARRAY_HEADER:
            self.headers[ARRAY_HEADER] = ARRAY_TEXT
            return f"<{name}>"
        found = self.found(includer, name, beside=quoted is not None)
        if found is None:
            self.foreign.add(name)
            return f"<{name}>" if quoted is None else f'"{name}"'
        virtual = self.roots.virtual(found)
        if virtual not in self.headers:
            self.headers[virtual] = ""  # a header may include itself
            self.headers[virtual] = self.file(found)
        return f'"{virtual}"'

    def found(self, includer: Path, name: str, beside: bool) -> Path | None:
        folders = [includer.parent] if beside else []
        for folder in [*folders, *self.roots.include_dirs]:
            path = Path(os.path.normpath(folder / name))
            if path.is_file():
                return path
        return None


def _not_named(path: Path, number: int, line: str, code: str) -> Diagnostic:
    column = len(code) - len(code.lstrip()) + 1
    span = Span(str(path), number, column, number, len(line.rstrip()) + 1)
    text = "this include names no file: kbuild reads what a file includes before it is compiled, and knows no macros"
    return Diagnostic(
        "KB303", text, span, help='write the name out: `#include "window.cuh"`, in `#if` where it depends'
    )


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """(number, the line, the line without comments) of a text; inside a comment that goes on, the last is empty."""
    in_comment = False
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.removesuffix("\r")
        code, rest = "", line
        while rest:
            if in_comment:
                _, end, rest = rest.partition("*/")
                in_comment = not end
                continue
            opened = re.search(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//|/\*", rest)
            if opened is None:
                code, rest = code + rest, ""
            elif opened[0] == "//":
                code, rest = code + rest[: opened.start()], ""
            elif opened[0] == "/*":
                code, rest = f"{code}{rest[: opened.start()]} ", rest[opened.end() :]
                in_comment = True
            else:
                code, rest = code + rest[: opened.end()], rest[opened.end() :]
        yield number, line, code
