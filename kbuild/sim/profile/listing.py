"""A profile as text: the source of the kernel and of what it calls, with counts to the left of it.

    global loads     |
    req  sec/req ideal |  line

Columns that would be empty are left out.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbuild.errors import Span
from kbuild.sim.profile.counts import KINDS, Accesses, Counts, Line

if TYPE_CHECKING:
    from kbuild.sim.profile.report import Profile

MAX_LINES = 1000  # of one function


@dataclass(frozen=True)
class Column:
    """`text` is what a line shows, empty where it has nothing."""

    title: str
    text: Callable[[Counts], str]


@dataclass(frozen=True)
class Group:
    """Columns under a common title."""

    title: str
    columns: tuple[Column, ...]


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _executions(text: Callable[[Counts], str]) -> Callable[[Counts], str]:
    return lambda counts: text(counts) if counts.warps else ""


def _of(space: str, kinds: tuple[str, ...], text: Callable[[Accesses], str]) -> Callable[[Counts], str]:
    def shown(counts: Counts) -> str:
        found = counts.accesses(space, *kinds)
        return text(found) if found.requests else ""

    return shown


def _global(title: str, *kinds: str) -> Group:
    return Group(
        f"global {title}",
        (
            Column("requests", _of("global", kinds, lambda a: str(a.requests))),
            Column("sect/req", _of("global", kinds, lambda a: _number(a.sectors / a.requests))),
            Column("ideal", _of("global", kinds, lambda a: _number(a.ideal / a.requests))),
        ),
    )


GROUPS = (
    Group(
        "executed",
        (
            Column("warps", _executions(lambda c: str(c.warps))),
            Column("lanes", _executions(lambda c: _number(c.active))),
            Column("partial", _executions(lambda c: f"{c.partial / c.warps:.0%}" if c.partial else "")),
        ),
    ),
    _global("loads", "load"),
    _global("stores", "store"),
    _global("atomics", "reduction", "atomic"),
    Group(
        "shared memory",
        (
            Column("requests", _of("shared", (), lambda a: str(a.requests))),
            Column("wavefronts", _of("shared", (), lambda a: str(a.wavefronts))),
            Column("degree", _of("shared", (), lambda a: _number(a.wavefronts / (a.wavefronts - a.conflicts)))),
        ),
    ),
)


def text(profile: Profile) -> str:
    """The whole listing, with a line end."""
    head = f"{profile.kernel}: {profile.blocks} blocks, {profile.warps} warps, {profile.threads} threads"
    parts = [head, *_tables(profile), "", *_totals(profile.totals), *profile.notes]
    return "\n".join(parts) + "\n"


def _tables(profile: Profile) -> Iterator[str]:
    groups = [group for group in GROUPS if any(c.text(line) for line in profile.lines for c in group.columns)]
    rows: list[tuple[str, Line | None, int, str]] = []
    known = {(line.path, line.line): line for line in profile.lines}
    for path, number in _shown(profile):
        rows.append((path, known.get((path, number)), number, linecache.getline(path, number).rstrip()))
    cells = [[[c.text(line) if line else "" for c in g.columns] for g in groups] for _, line, _, _ in rows]
    widths = [
        [
            max(len(c.title), *(len(row[i][j]) for row in cells)) if cells else len(c.title)
            for j, c in enumerate(g.columns)
        ]
        for i, g in enumerate(groups)
    ]
    digits = max(len("line"), *(len(str(number)) for _, _, number, _ in rows)) if rows else 0
    before = ""
    for (path, _, number, source), row in zip(rows, cells, strict=True):
        if path != before:
            yield from ("", path, *_heads(groups, widths, digits))
            before = path
        shown = [_joined(parts, width) for parts, width in zip(row, widths, strict=True)]
        yield f"{' | '.join([*shown, str(number).rjust(digits)])}  {source}".rstrip()


def _heads(groups: Sequence[Group], widths: list[list[int]], digits: int) -> Iterator[str]:
    """Two lines above a table."""
    titles = [g.title.ljust(len(_joined([""] * len(w), w))) for g, w in zip(groups, widths, strict=True)]
    yield " | ".join([*titles, ""]).rstrip()
    columns = [_joined([c.title for c in g.columns], w) for g, w in zip(groups, widths, strict=True)]
    yield " | ".join([*columns, "line".rjust(digits)])


def _joined(parts: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(part.rjust(width) for part, width in zip(parts, widths, strict=True))


def _shown(profile: Profile) -> Iterator[tuple[str, int]]:
    """Places of the lines to show, in order: those of the functions, the kernel's file first."""
    places = {(span.path, number) for span in profile.functions for number in _numbers(span)}
    first = profile.functions[0].path if profile.functions else ""
    yield from sorted(places, key=lambda place: (place[0] != first, place))


def _numbers(span: Span) -> range:
    last = max(span.end_line, span.line)
    return range(span.line, min(last, span.line + MAX_LINES) + 1)


def _totals(counts: Counts) -> Iterator[str]:
    yield f"lines executed: {counts.threads} times by threads in {counts.warps} warps" + (
        f", {_number(counts.active)} lanes on average, {counts.partial / counts.warps:.0%} partial"
        if counts.warps
        else ""
    )
    for space, kind in KINDS:
        found = counts.memory.get((space, kind))
        if found is None:
            continue
        names = ("wavefronts", "conflicts") if space == "shared" else ("sectors", "ideal", "tags", "wavefronts")
        numbers = ", ".join(f"{getattr(found, name)} {name}" for name in names)
        yield f"{space} {kind}s: {found.requests} requests, {numbers}, {found.bytes} bytes"
    if counts.barriers:
        yield f"barriers: {counts.barriers} warps"
