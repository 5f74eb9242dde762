"""What is not known, in few words: a kernel that follows indices through arrays has hundreds of accesses of which
nobody can say more than that.

    folded(judged)   →   the diagnostics; of more than a few places of one kernel and code that are not known, one
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kbuild.audit.judging import Judged
from kbuild.errors import Diagnostic, Note

MOST_SINGLE: Final = 3  # places of one kernel and code that are shown one by one
MOST_LISTED: Final = 8  # lines, and reasons

_WHETHER: Final = {
    "bounds": "an element is there",
    "overflow": "integers stay within their type",
    "shared-races": "two threads meet in shared memory",
    "global-races": "two threads meet in an array",
    "barriers": "all threads come to a barrier",
    "initialization": "anything was stored before",
}


def folded(judged: Iterable[Judged]) -> Iterator[Diagnostic]:
    """In the order of the findings. Only notes are folded: what a project has raised to a warning is shown each."""
    judged = list(judged)
    groups: dict[tuple[str, str], list[Judged]] = {}
    for one in judged:
        if _may_be_folded(one):
            groups.setdefault((one.finding.kernel, one.finding.code), []).append(one)
    for one in judged:
        group = groups.get((one.finding.kernel, one.finding.code), [])
        if not _may_be_folded(one) or len(group) <= MOST_SINGLE:
            yield one.diagnostic()
        elif one is group[0]:
            yield _together(group)


def _may_be_folded(one: Judged) -> bool:
    return one.finding.verdict == "unknown" and one.level == "note" and not one.is_suppressed


def _together(group: Sequence[Judged]) -> Diagnostic:
    first = group[0].finding
    lines = sorted({one.finding.span.line for one in group if one.finding.span is not None})
    reasons = Counter(one.finding.reason for one in group)
    notes = [Note(f"{reason} ({count})") for reason, count in reasons.most_common(MOST_LISTED)]
    if len(reasons) > MOST_LISTED:
        notes.append(Note(f"and {len(reasons) - MOST_LISTED} reasons more"))
    notes.append(Note(f"the lines are {', '.join(map(str, lines[:MOST_LISTED]))}{_more(len(lines))}"))
    whether = _WHETHER.get(first.check, "it is right")
    text = f"don't know in {len(group)} places of {first.kernel} whether {whether}"
    help = "`--verbose` shows each"
    return Diagnostic(first.code, text, first.span, "note", help, tuple(notes), first.kernel or None)


def _more(count: int) -> str:
    return f" and {count - MOST_LISTED} more" if count > MOST_LISTED else ""
