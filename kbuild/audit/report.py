"""An audit as the object of `--json`, and in words for people.

docs/audit.md describes the object, docs/audit.schema.json is its schema.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from kbuild.audit.findings import CHECKS, SAFETY, CheckResult, KernelAudit, Reasoning
from kbuild.audit.judging import Judged
from kbuild.audit.machine import CHECK as MACHINE_CODE
from kbuild.audit.machine import Change, Machine
from kbuild.errors import Note, Span

FORMAT = 1

Row = dict[str, Any]


class Result(Protocol):
    """What is reported: `pipeline.auditing.AuditResult`."""

    @property
    def kernels(self) -> tuple[KernelAudit, ...]: ...
    @property
    def judged(self) -> tuple[Judged, ...]: ...
    @property
    def checks(self) -> tuple[str, ...]: ...
    @property
    def machines(self) -> tuple[Machine, ...]: ...
    @property
    def changes(self) -> tuple[Change, ...]: ...
    @property
    def earlier(self) -> str | None: ...
    @property
    def unread(self) -> tuple[str, ...]: ...
    @property
    def skipped(self) -> tuple[str, ...]: ...
    @property
    def seconds(self) -> float: ...


# The object of --json


def to_json(result: Result) -> Row:
    """The object: what was found or is not known, and what is proved, in `findings`; kernels; machine code."""
    return {
        "format": FORMAT,
        "findings": [*map(_finding, result.judged), *_proved(result)],
        "kernels": [_kernel(one) for one in result.kernels],
        "unread": list(result.unread),
        "machine_code": [_machine(one) for one in result.machines],
        "compared_with": result.earlier,
        "changes": [dataclasses.asdict(one) for one in result.changes],
        "skipped": list(result.skipped),
        "seconds": round(result.seconds, 3),
    }


def _finding(one: Judged) -> Row:
    found = one.finding
    return {
        "code": found.code,
        "kind": found.check,
        "verdict": found.verdict,
        "level": one.level,
        "kernel": found.kernel or None,
        "kernels": list(one.kernels),
        "path": found.span.path if found.span else None,
        "line": found.span.line if found.span else None,
        "column": found.span.column if found.span else None,
        "message": found.message,
        "reason": found.reason or None,
        "help": found.help,
        "subject": found.subject or None,
        "target": found.target,
        "figures": dict(found.figures),
        "notes": [_note(note) for note in found.notes],
        "example": dataclasses.asdict(found.example) if found.example is not None else None,
        "replay": None if found.replay is None else {"confirmed": found.replay.is_confirmed, "text": found.replay.text},
        "suppressed": {"by": one.by, "reason": one.reason} if one.is_suppressed else None,
    }


def _note(note: Note) -> Row:
    return {"message": note.message, "path": note.span and note.span.path, "line": note.span and note.span.line}


def _proved(result: Result) -> Iterator[Row]:
    """A row for each check of a kernel that is proved as a whole."""
    for kernel in result.kernels:
        for check in kernel.checks:
            if check.check in SAFETY and check.verdict == "proved":
                yield {
                    "code": None,
                    "kind": check.check,
                    "verdict": "proved",
                    "level": None,
                    "kernel": kernel.kernel,
                    "kernels": [kernel.kernel],
                    "path": kernel.span.path if kernel.span else None,
                    "line": kernel.span.line if kernel.span else None,
                    "column": kernel.span.column if kernel.span else None,
                    "message": in_words(check),
                    "reason": None,
                    "help": None,
                    "subject": None,
                    "target": None,
                    "figures": {"obligations": check.obligations, "proved": check.proved},
                    "notes": [],
                    "example": None,
                    "replay": None,
                    "suppressed": None,
                }


def _kernel(audit: KernelAudit) -> Row:
    return {
        "name": audit.kernel,
        "path": audit.span.path if audit.span else None,
        "line": audit.span.line if audit.span else None,
        "block_dim": audit.block_dim,
        "checks": [dataclasses.asdict(check) for check in audit.checks],
        "assumptions": list(audit.assumptions),
        "declared": list(audit.declared),
        "reasoning": [_reasoning(step) for step in audit.reasoning],
        "seconds": round(audit.seconds, 4),
    }


def _reasoning(step: Reasoning) -> Row:
    place = {"path": step.span and step.span.path, "line": step.span and step.span.line}
    return {
        "check": step.check,
        **place,
        "question": step.question,
        "verdict": step.verdict,
        "rule": step.rule,
        "known": list(step.known),
    }


def _machine(one: Machine) -> Row:
    row: Row = {
        field.name: getattr(one, field.name)
        for field in dataclasses.fields(one)
        if field.name not in ("limits", "accesses")
    }
    row["max_registers"], row["max_shared"] = one.limits
    row["accesses"] = None
    if one.accesses is not None:
        row["accesses"] = [{**access._asdict(), "count": count} for access, count in one.accesses]
    return row


# For people


def in_words(check: CheckResult | None) -> str:
    """What became of a check, in a cell of the table."""
    if check is None:
        return "not analysed"
    if check.check not in SAFETY:
        return "nothing found" if check.obligations and check.verdict == "proved" else _counted(check)
    if check.verdict == "proved":
        return f"proved {check.proved}/{check.obligations}" if check.obligations else "nothing to prove"
    word = "found" if check.verdict == "found" else "don't know"
    return f"{word}, proved {check.proved}/{check.obligations}"


def _counted(check: CheckResult) -> str:
    if not check.obligations:
        return "nothing to look at"
    if check.verdict == "unknown":
        return f"don't know {check.obligations - check.proved}/{check.obligations}"
    return f"found {check.obligations - check.proved}"


def summary(result: Result) -> tuple[list[str], list[list[str]]]:
    """The table of kernels and checks: headers and rows, without the checks that are `not_analysed`."""
    missing = not_analysed(result)
    checks = [name for name in CHECKS if name in result.checks and name not in (MACHINE_CODE, *missing)]
    rows = []
    for kernel in result.kernels:
        by_name = {check.check: check for check in kernel.checks}
        rows.append([kernel.kernel, *(in_words(by_name.get(name)) for name in checks)])
    rows += [[name, *("in CUDA C++" for _ in checks)] for name in result.unread]
    return ["kernel", *checks], rows


def not_analysed(result: Result) -> list[str]:
    """The checks that were asked for, and that no kernel has a result of."""
    there = {check.check for kernel in result.kernels for check in kernel.checks}
    names = [name for name in result.checks if name != MACHINE_CODE]
    return [name for name in names if name not in there] if result.kernels else []


MACHINE_HEADERS = (
    "kernel", "target", "registers", "spills", "local", "shared", "barriers", "constants", "block", "warps", "limit",
    "loads and stores",
)  # fmt: skip


def machine_rows(machines: Iterable[Machine]) -> list[list[object]]:
    """The table of kernels and targets, under `MACHINE_HEADERS`."""
    return [
        [
            one.kernel,
            one.target,
            one.registers,
            one.spills,
            one.local,
            one.shared,
            one.barriers,
            one.constants,
            one.threads,
            f"{one.warps} of {one.most_warps}",
            one.limited_by,
            _accesses(one),
        ]
        for one in machines
    ]


_LETTERS = {"load": "ld", "store": "st"}


def _accesses(one: Machine) -> str:
    """Instructions of global and shared memory: `ld 4×12 16×1 readonly, st 4×3, shared ld 4×2`."""
    if one.accesses is None:
        return "not decoded"
    groups: dict[str, list[str]] = {}
    for access, count in one.accesses:
        if access.memory in ("global", "shared", "generic"):
            place = "" if access.memory == "global" else f"{access.memory} "
            modifier = f" {access.modifier}" if access.modifier else ""
            groups.setdefault(place + _LETTERS[access.what], []).append(f"{access.bytes}×{count}{modifier}")
    return ", ".join(f"{name} {' '.join(parts)}" for name, parts in groups.items())


def change_lines(changes: Sequence[Change]) -> list[str]:
    """Differences from an earlier build: one line for each kernel and target."""
    lines: dict[tuple[str, str], list[str]] = {}
    for one in changes:
        lines.setdefault((one.kernel, one.target), []).append(_change(one))
    return [f"{kernel} on {target}: {', '.join(parts)}" for (kernel, target), parts in lines.items()]


def _change(one: Change) -> str:
    if one.before is None or one.after is None:
        return "new" if one.before is None else "gone"
    return one.text


def reasoning_lines(audit: KernelAudit) -> list[str]:
    """What `--verbose` shows of a kernel: what it declares and what is taken for granted, and each question with its
    answer and what was known."""
    lines = [f"{audit.kernel}, in blocks of {audit.block_dim} threads"]
    lines += [f"  declares: {text}" for text in audit.declared]
    lines += [f"  counts on: {text}" for text in audit.assumptions]
    for step in audit.reasoning:
        verdict = "don't know" if step.verdict == "unknown" else step.verdict
        lines.append(f"  {_place(step.span)}{step.check}: {step.question}: {verdict}, by {step.rule}")
        lines += [f"      {fact}" for fact in step.known]
    return lines


def _place(span: Span | None) -> str:
    return f"line {span.line}: " if span is not None else ""


def closing(result: Result) -> str:
    """The last line: how many findings stand, by level, and how much is proved."""
    standing = [one for one in result.judged if not one.is_suppressed and one.finding.verdict == "found"]
    open_ones = [one for one in result.judged if not one.is_suppressed and one.finding.verdict == "unknown"]
    suppressed = sum(one.is_suppressed for one in result.judged)
    parts = [f"{count} {level}{'' if count == 1 else 's'}" for level in ("error", "warning", "note")
             if (count := sum(one.level == level for one in standing))]  # fmt: skip
    checks = [check for kernel in result.kernels for check in kernel.checks if check.check in SAFETY]
    total, proved = sum(check.obligations for check in checks), sum(check.proved for check in checks)
    text = ", ".join(parts) or "no findings"
    text += f", {len(open_ones)} not known" if open_ones else ""
    text += f", {suppressed} suppressed" if suppressed else ""
    counts = " (on what that counts: --verbose)" if proved and any(one.assumptions for one in result.kernels) else ""
    text += f"; proved {proved}/{total}{counts}" if checks else "; nothing was to be proved"
    kernels = len(result.kernels) + len(result.unread)
    return f"{text}; {kernels} kernel{'' if kernels == 1 else 's'} in {result.seconds:.1f} s"
