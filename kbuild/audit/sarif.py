"""An audit as SARIF 2.1.0, which code hosts and editors show at the lines.

    to_sarif(judged, rules, root, "0.1.0")   →   {"version": "2.1.0", "runs": [{"tool": …, "results": […]}]}

Paths are relative to the project's folder (`uriBaseId` PROJECT), columns count characters. What is not known has the
kind "open", and so no level. Fingerprints count on the text of a line, not on its number.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote

from kbuild.audit.examples import in_words, thread_in_words
from kbuild.audit.judging import Judged
from kbuild.audit.levels import CODES
from kbuild.audit.text import text_of
from kbuild.errors import Note, Span

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE: Final = "PROJECT"
_FINGERPRINT: Final = "kbuild/1"
_SUPPRESSIONS: Final = {"source": "inSource", "configuration": "external"}

Row = dict[str, Any]


class Rule(Protocol):
    """An entry of `kbuild.codes`."""

    @property
    def title(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def wrong(self) -> str: ...
    @property
    def right(self) -> str: ...


def to_sarif(judged: Sequence[Judged], rules: Mapping[str, Rule], root: Path, version: str) -> Row:
    """A log with one run. `rules` has every code of `levels.CODES`; `root` is the project's folder."""
    codes = sorted(CODES)
    writer = _Writer(root.resolve(), {code: index for index, code in enumerate(codes)})
    driver = {
        "name": "kbuild",
        "semanticVersion": version,
        "rules": [_rule(code, rules[code]) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_BASE: {"uri": writer.root.as_uri() + "/"}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "results": [writer.result(one) for one in judged],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, rule: Rule) -> Row:
    check, level = CODES[code]
    text, markdown = [rule.why], [rule.why]
    for title, example in (("Wrong", rule.wrong), ("Right", rule.right)):
        if example:
            text.append(f"{title}:\n\n{example.rstrip()}")
            markdown.append(f"{title}:\n\n```python\n{example.rstrip()}\n```")
    return {
        "id": code,
        "shortDescription": {"text": _sentence(rule.title)},
        "fullDescription": {"text": rule.why},
        "help": {"text": "\n\n".join(text), "markdown": "\n\n".join(markdown)},
        "defaultConfiguration": {"enabled": level != "off", "level": "note" if level == "off" else level},
        "properties": {"tags": [check]},
    }


def _sentence(title: str) -> str:
    return title[:1].upper() + title[1:] + "."


class _Writer:
    def __init__(self, root: Path, places: Mapping[str, int]) -> None:
        self.root, self.places = root, places
        self.seen: Counter[str] = Counter()

    def result(self, one: Judged) -> Row:
        """One finding."""
        found = one.finding
        is_open = found.verdict == "unknown"
        text = f"{found.message}: {found.reason}" if is_open else found.message
        row: Row = {
            "ruleId": found.code,
            "ruleIndex": self.places[found.code],
            "kind": "open" if is_open else "fail",
            "level": "none" if is_open else one.level,
            "message": {"text": "\n".join([_sentence(text), *self._more(one)])},
            "locations": [self._location(found.span, one.kernels)],
            "partialFingerprints": {_FINGERPRINT: self._fingerprint(one)},
        }
        related = [note for note in found.notes if note.span is not None]
        if related:
            row["relatedLocations"] = [self._related(note, number) for number, note in enumerate(related, 1)]
        if found.example is not None and len(found.example.threads) > 1:
            row["codeFlows"] = [self._threads(one, related)]
        if one.is_suppressed:
            suppression = {"kind": _SUPPRESSIONS[one.by], "status": "accepted", "justification": one.reason}
            row["suppressions"] = [suppression]
        row["properties"] = {"kernels": list(one.kernels), "verdict": found.verdict, **dict(found.figures)}
        if found.replay is not None:
            row["properties"]["confirmed"] = found.replay.is_confirmed
        return row

    def _more(self, one: Judged) -> list[str]:
        found = one.finding
        lines = [] if found.example is None else [f"Found, with an example: {line}" for line in in_words(found.example)]
        lines += [] if found.replay is None else [f"{_sentence(found.replay.in_words())}"]
        lines += [note.message for note in found.notes if note.span is None]
        return [*lines, *([f"Help: {found.help}"] if found.help else [])]

    def _threads(self, one: Judged, related: Sequence[Note]) -> Row:
        """The threads of an example, each at its line: the first at the finding's, the next at those of the notes."""
        assert one.finding.example is not None
        spans = [one.finding.span, *(note.span for note in related)]
        flows = []
        for number, thread in enumerate(one.finding.example.threads):
            where = self._location(spans[min(number, len(spans) - 1)], ())
            where["message"] = {"text": thread_in_words(thread)}
            flows.append({"id": f"thread {number + 1}", "locations": [{"location": where}]})
        return {"threadFlows": flows}

    def _related(self, note: Note, number: int) -> Row:
        return {"id": number, **self._location(note.span, ()), "message": {"text": note.message}}

    def _location(self, span: Span | None, kernels: Sequence[str]) -> Row:
        row: Row = {}
        if span is not None:
            row["physicalLocation"] = {"artifactLocation": self._artifact(span.path), "region": _region(span)}
        if kernels:
            row["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "function"} for name in kernels]
        return row

    def _artifact(self, path: str) -> Row:
        whole = Path(path).resolve()
        if whole.is_relative_to(self.root):
            return {"uri": quote(whole.relative_to(self.root).as_posix()), "uriBaseId": _BASE}
        return {"uri": whole.as_uri()}

    def _fingerprint(self, one: Judged) -> str:
        """What a finding is, wherever its line has moved to: code, file, text of the line, kernel, target, and which of
        those that are alike."""
        found = one.finding
        path, line = "", ""
        if found.span is not None:
            path = str(self._artifact(found.span.path)["uri"])
            text = text_of(found.span.path)
            inside = text is not None and found.span.line <= len(text.lines)
            line = text.lines[found.span.line - 1].strip() if text is not None and inside else ""
        kernel = found.kernel.partition("[")[0]
        parts = [found.code, path, line, kernel, found.subject, found.target or "", found.verdict]
        whole = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
        self.seen[whole] += 1
        return f"{whole}:{self.seen[whole]}"


def _region(span: Span) -> Row:
    region = {"startLine": span.line, "startColumn": span.column}
    if span.end_line >= span.line and span.end_column > 0:
        region |= {"endLine": span.end_line, "endColumn": span.end_column}
    return region
