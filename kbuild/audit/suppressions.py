"""`# kbuild: ignore[KB402] reason`: findings that the source says are known, and why they may stay.

On the line of the finding, or alone on the line above it. On a kernel's `def` or decorators (or above them) it is for
the whole kernel, with the functions that it calls. A reason is required. One that suppresses nothing is a finding
itself [KB430], so that none outlives what it was written for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kbuild.audit.findings import Finding
from kbuild.audit.levels import CODES
from kbuild.audit.text import Comment, Text, first_line, last_line_of_head, speaks_to_us, text_of
from kbuild.errors import Span, did_you_mean

CODE = "KB430"
_MARK = re.compile(r"#\s*kbuild:\s*ignore\b(?P<rest>.*)")
_WHOLE = re.compile(r"\[(?P<codes>[^\]]*)\]\s*[-–—:]*\s*(?P<reason>.*)")
_HOW = "write `# kbuild: ignore[KB402] why it is right as it is`"


@dataclass(slots=True, eq=False)
class Suppression:
    """A comment that takes findings back. `lines` are those that it speaks of; for a whole kernel `kernel_line` is that
    of its `def`. `used` notes the codes that were found."""

    span: Span
    codes: tuple[str, ...]
    reason: str
    lines: frozenset[int]
    kernel_line: int | None = None
    used: set[str] = field(default_factory=set)

    def covers(self, finding: Finding, kernel: Span | None) -> bool:
        """Whether it speaks of a finding in the kernel that is defined there."""
        if finding.code not in self.codes:
            return False
        if self.kernel_line is not None:
            return kernel is not None and (kernel.path, kernel.line) == (self.span.path, self.kernel_line)
        places = (finding.span, *(note.span for note in finding.notes))
        return any(
            place is not None and place.path == self.span.path and not self.lines.isdisjoint(_lines(place))
            for place in places
        )


class Suppressions:
    """Those at functions that were looked at, by the places of their definitions."""

    def __init__(self, functions: Iterable[Span | None]) -> None:
        self.found: dict[tuple[str, int], Suppression] = {}
        self.faults: dict[tuple[str, int], Finding] = {}
        for span in dict.fromkeys(functions):
            if span is not None:
                self._read(span)

    def reason(self, finding: Finding, kernel: Span | None) -> str | None:
        """Why a finding is taken back, or None. Notes that it was."""
        for one in self.found.values():
            if one.covers(finding, kernel):
                one.used.add(finding.code)
                return one.reason
        return None

    def complaints(self, checks: Sequence[str]) -> Iterator[Finding]:
        """What is wrong with suppressions, after `reason` was asked for every finding of these checks."""
        yield from self.faults.values()
        for one in self.found.values():
            idle = [code for code in one.codes if code not in one.used and CODES[code][0] in checks]
            if idle:
                text = f"this suppresses nothing: there is no {' and no '.join(idle)} here"
                yield _finding(one.span, text, "take it away, so that it hides nothing later")

    def _read(self, span: Span) -> None:
        text = text_of(span.path) if speaks_to_us(span.path) else None
        definition = text.definition(span) if text is not None else None
        if text is None or definition is None:
            return
        first, head = first_line(definition), last_line_of_head(definition)
        above = text.comments.get(first - 1)
        start = first - 1 if above is not None and above.is_alone else first
        for line in range(start, (definition.end_lineno or head) + 1):
            comment = text.comments.get(line)
            match = _MARK.search(comment.text) if comment is not None else None
            if comment is not None and match is not None and (span.path, line) not in self.found:
                self._take(text, comment, match, definition.lineno if line <= head else None)

    def _take(self, text: Text, comment: Comment, match: re.Match[str], kernel_line: int | None) -> None:
        line, end = comment.line, comment.column + len(comment.text)
        span = Span(text.path, line, comment.column + match.start(), line, end)
        whole = _WHOLE.match(match["rest"].strip())
        codes = tuple(word.strip().upper() for word in whole["codes"].split(",")) if whole else ()
        fault = _fault(codes, whole["reason"].strip() if whole else "")
        if whole is None or fault:
            self.faults[text.path, line] = _finding(span, *fault)
            return
        lines = {line} if not comment.is_alone else {_next_code(text, line)}
        found = Suppression(span, codes, whole["reason"].strip(), frozenset(lines), kernel_line)
        self.found[text.path, line] = found


def _fault(codes: tuple[str, ...], reason: str) -> tuple[str, str] | tuple[()]:
    if not any(codes):
        return "this suppression does not say which finding it is for", _HOW
    for code in codes:
        if code not in CODES or code == CODE:
            near = did_you_mean(code, CODES.keys() - {CODE})
            return (
                f"{code!r} is no code of a finding that can be suppressed",
                near or "`python -m kbuild explain` lists them",
            )
    if not reason:
        return "this suppression gives no reason, and so suppresses nothing", _HOW
    return ()


def _next_code(text: Text, line: int) -> int:
    """The next line that is not a comment alone: several suppressions may stand above one line."""
    line += 1
    while (comment := text.comments.get(line)) is not None and comment.is_alone:
        line += 1
    return line


def _lines(span: Span) -> range:
    return range(span.line, max(span.line, span.end_line) + 1)


def _finding(span: Span, text: str, help: str) -> Finding:
    return Finding(CODE, "source", "found", text, span, "", help=help)
