"""The section about the audit of real kernels on the page of benchmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

Table = Callable[[tuple[str, ...], list[list[str]]], str]

_JUDGEMENTS = {"real": "real", "conditional": "only if called otherwise", "false": "false", None: "not judged"}

TEXT = """\
Kernels that nobody wrote for kbuild (`audit_corpora.py`): of each package's definitions that are lowered, its tests
and examples left out, so many were drawn, and one instance of each is audited as it stands in the source, its launches
unknown. What the others are refused for stands above. *Found*
and *not known* count findings, *proved* the places of the first six checks; *examples* are those of findings that were
run in the simulator, and of which it confirms the fault; of the others most need a launch, or contents of arrays, that
another fault comes before. Times are of the processor, of several audits side by side on two cores that others used as
well; a limit of {limit:g} s ends the questions about a kernel, and not the one that is being answered.

Fifty findings, drawn over codes and packages, were judged by reading the kernel and what launches it: *real* is a fault
or a true remark about what a kernel costs, *only if called otherwise* one that the callers keep from happening, *false*
one that cannot happen.\
"""


def text(values: dict[str, Any]) -> str:
    """What the tables are about."""
    return TEXT.format(limit=values["limit"])


def body(values: dict[str, Any], table: Table) -> str:
    """The tables."""
    parts = [table(_HEAD, [_package(row) for row in values["packages"]])]
    parts.append(table(_TIMES, [line for row in values["packages"] for line in _times(row)]))
    parts.append(table(("code", *_JUDGEMENTS.values()), _judged(values["sample"])))
    rows = [[f"`{one['place']}`", one["code"], _JUDGEMENTS[one["judgement"]], _said(one)] for one in values["sample"]]
    parts.append(table(("place", "code", "judgement", "finding, and reason"), rows))
    return "\n".join(parts)


_HEAD = ("package", "definitions", "drawn", "audited", "found", "not known", "proved", "examples confirmed")
_TIMES = ("seconds", "median", "99 %", "most")


def _package(row: dict[str, Any]) -> list[str]:
    found = sum(counts.get("found", 0) for counts in row["findings"].values())
    unknown = sum(counts.get("unknown", 0) for counts in row["findings"].values())
    safety = ("bounds", "overflow", "shared-races", "global-races", "barriers", "initialization")
    total = sum(row["obligations"][check][0] for check in safety if check in row["obligations"])
    proved = sum(row["obligations"][check][1] for check in safety if check in row["obligations"])
    cells = (row["definitions"], row["drawn"], row["audited"], found, unknown, f"{proved} of {total}")
    examples = f"{row['examples']['confirmed']} of {row['examples']['run']}"
    return [f"{row['package']} {row['version']}", *map(str, cells), examples]


def _times(row: dict[str, Any]) -> list[list[str]]:
    return [
        [f"{row['package']}, {name}", *(f"{value[key]:.3g}" for key in ("median", "p99", "most"))]
        for name, value in row["seconds"].items()
    ]


def _judged(sample: list[dict[str, Any]]) -> list[list[str]]:
    codes = sorted({one["code"] for one in sample})
    counts = {code: Counter(one["judgement"] for one in sample if one["code"] == code) for code in codes}
    rows = [[code, *(str(counts[code][name]) for name in _JUDGEMENTS)] for code in codes]
    whole = Counter(one["judgement"] for one in sample)
    return [*rows, ["all", *(str(whole[name]) for name in _JUDGEMENTS)]]


def _said(one: dict[str, Any]) -> str:
    confirmed = " (confirmed by the simulator)" if one["confirmed"] else ""
    return f"{one['finding']}{confirmed}: {one['reason']}" if one["reason"] else f"{one['finding']}{confirmed}"
