"""Findings with the project's judgement: how much each matters, and which of them are taken back.

judge(audits, rules, checks)   →   (Judged(finding, "error"), Judged(finding, "warning", reason="…", by="source"), …)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from kbuild.audit.examples import in_words
from kbuild.audit.findings import Finding, KernelAudit
from kbuild.audit.levels import CODES, Rules
from kbuild.audit.suppressions import Suppressions
from kbuild.errors import Diagnostic, Note, Span


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding and its level, "note", "warning" or "error". One that was taken back has a `reason`, and `by` says
    where: in the "source", or in the "configuration". `kernels` are all for which it is the same at the same place."""

    finding: Finding
    level: str
    reason: str = ""
    by: str = ""
    kernels: tuple[str, ...] = ()

    @property
    def is_suppressed(self) -> bool:
        return bool(self.by)

    def diagnostic(self) -> Diagnostic:
        """As it is shown, with carets."""
        found = self.finding
        text = f"don't know: {found.message}: {found.reason}" if found.verdict == "unknown" else found.message
        notes = [*found.notes]
        if found.example is not None:
            notes += [Note(f"found, with an example: {line}") for line in in_words(found.example)]
        if found.replay is not None:
            notes.append(Note(found.replay.in_words()))
        if len(self.kernels) > 1:
            notes.append(Note(f"it is the same in {_listed(self.kernels)}"))
        if self.is_suppressed:
            notes.append(Note(f"suppressed in the {self.by}: {self.reason}"))
        return Diagnostic(found.code, text, found.span, self.level, found.help, tuple(notes), found.kernel or None)


def judge(
    audits: Sequence[KernelAudit],
    more: Iterable[Finding],
    rules: Rules,
    checks: Sequence[str],
    unread: Mapping[str, Span] = MappingProxyType({}),
) -> tuple[Judged, ...]:
    """Every finding of the audits and of `more` that is not off, those of one place and message as one, by place.
    `unread` are the places of kernels that have no audit."""
    suppressions = Suppressions(
        [*(span for audit in audits for span in (audit.span, *audit.functions)), *unread.values()]
    )
    places = {**unread, **{audit.kernel: audit.span for audit in audits}}
    judged = [
        one
        for finding in (*(found for audit in audits for found in audit.findings), *more)
        if (one := _judged(finding, rules, suppressions, places.get(finding.kernel))) is not None
    ]
    complaints = (_judged(finding, rules, suppressions, None) for finding in suppressions.complaints(checks))
    judged += [one for one in complaints if one is not None]
    return tuple(sorted(_together(judged), key=_order))


def _judged(finding: Finding, rules: Rules, suppressions: Suppressions, kernel: Span | None) -> Judged | None:
    level, why = rules.of(finding)
    said = suppressions.reason(finding, kernel)
    if level == "off":
        usual = CODES[finding.code][1]
        return Judged(finding, usual, why, "configuration") if why and usual != "off" else None
    return Judged(finding, level, said, "source") if said else Judged(finding, level)


def _together(judged: Sequence[Judged]) -> Iterator[Judged]:
    """The same thing is found in every instance of a kernel, and in every kernel that calls a function."""
    groups: dict[object, list[Judged]] = {}
    for one in judged:
        found = one.finding
        key = (found.code, found.span, found.message, found.verdict, found.reason, found.target, one.level, one.by)
        groups.setdefault((*key, found.kernel if found.span is None else ""), []).append(one)
    for group in groups.values():
        kernels = tuple(dict.fromkeys(one.finding.kernel for one in group if one.finding.kernel))
        yield replace(group[0], kernels=kernels)


def _order(one: Judged) -> tuple[object, ...]:
    span = one.finding.span or Span("", 0)
    return (span.path, span.line, span.column, one.finding.code, one.finding.target or "", one.finding.kernel)


def _listed(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(names[1 : most + 1])
    return shown + (f" and {len(names) - 1 - most} more" if len(names) - 1 > most else "")
