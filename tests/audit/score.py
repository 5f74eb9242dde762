"""How well an audit does on the cases, and on their mutants.

    found = score(audit)                 # audit(kernel, known) → KernelAudit
    print(table(found))                  # what was found, what was not, and a list of misses

`known` is what an audit is told of the launch, `Known`: at the launch of a case, or (reading "symbolic") the block's
size alone. What is expected stands with each case (`tests.audit.cases`).
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from kbuild.audit import kernel as audits
from kbuild.audit.captured import Captures
from kbuild.audit.findings import CHECKS, SAFETY, Finding, KernelAudit, Options, Verdict
from kbuild.audit.launches import Launch
from kbuild.audit.places import axes_of_threads
from kbuild.ir.nodes import Kernel
from kbuild.pipeline.analyses import with_findings
from tests.audit import on_sim
from tests.audit.cases import READINGS, Case, Mark, Reading, cases
from tests.audit.mutations import Judged

Outcome = Literal["right", "elsewhere", "missed", "false alarm", "overclaimed", "don't know"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("right", "elsewhere", "missed", "false alarm", "overclaimed", "don't know")
"""`elsewhere`: found, but on no line that is marked. `missed`: nothing is found, and that is said to be sure. `false
alarm`: found where nothing is. `overclaimed`: proved, where nobody can know."""

PATIENT: Final = 60.0
"""Seconds: the solver's own count of its work ends a query, on slow machines, too."""

FOR_OTHER_CONTENTS: Final = frozenset(
    {
        "false alarm: scattered_good, line 206: without atomic_add",
        "false alarm: last_edge_good, line 146: without its guard",
        "false alarm: last_edge_good, line 146: without condition 2 of its guard",
        "false alarm: points_projected_good, line 40: without its guard",
        "false alarm: points_projected_good, line 41: without atomic_min",
        "false alarm: up_to_a_zero_good, line 215: without its `if … else`",
    }
)
"""Mutants that are as good as before for what their arrays hold, and wrong for what they may."""

_FIGURES: Final[dict[str, tuple[str, ...]]] = {"KB405": ("degree",), "KB406": ("sectors", "ideal")}


@dataclass(frozen=True)
class Known:
    """What is known of a launch. `block` are the threads of a block along x, y, z; `grid`, `dim`, shapes of arrays and
    values of scalars are None where nothing is, as in the symbolic reading. `contents` are what arrays hold, where that
    is known."""

    block: tuple[int, int, int]
    grid: tuple[int, int, int] | None = None
    dim: tuple[int, ...] | None = None
    shapes: Mapping[str, tuple[int, ...]] | None = None
    scalars: Mapping[str, int | float | bool] | None = None
    contents: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def block_dim(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]


Audit: TypeAlias = Callable[[Kernel, Known], KernelAudit]


@dataclass(frozen=True)
class Answer:
    """What became of one label. `text` says what the audit said, where it is not right."""

    case: str
    kind: str
    about: bool
    check: str
    reading: Reading
    expected: Verdict
    outcome: Outcome
    text: str = ""


@dataclass
class Score:
    """All answers; how many `figures` were given, and those that are not the label's; how many examples of findings
    were replayed, and those that showed nothing or something else; seconds that the audit took, by case and reading.
    """

    answers: list[Answer] = field(default_factory=list)
    figures: int = 0
    wrong_figures: list[str] = field(default_factory=list)
    replayed: int = 0
    not_shown: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def of(self, reading: Reading, check: str | None = None) -> list[Answer]:
        """The answers of a reading."""
        return [one for one in self.answers if one.reading == reading and check in (None, one.check)]

    def rates(self, reading: Reading = "launch") -> dict[str, float]:
        """Shares, from 0 to 1: of bad cases that are found (right check, right line), of good cases with a false alarm,
        of the labels of both that are answered with "don't know"."""
        answers = self.of(reading)
        bad = [one.outcome == "right" for one in answers if one.expected == "found" and one.about]
        good: dict[str, bool] = {}
        for one in answers:
            if one.kind == "good":
                good[one.case] = good.get(one.case, False) or one.outcome == "false alarm"
        sure = [one.outcome == "don't know" for one in answers if one.expected != "unknown"]
        return {"found": _share(bad), "false alarms": _share(list(good.values())), "don't know": _share(sure)}

    @property
    def misses(self) -> list[Answer]:
        """What is not right."""
        return [one for one in self.answers if one.outcome != "right"]

    def to_json(self) -> dict[str, Any]:
        """Everything, for `json.dumps`."""
        seconds = sorted(self.seconds) or [0.0]
        return {
            "cases": len({one.case for one in self.answers}),
            "labels": {reading: len(self.of(reading)) for reading in READINGS},
            "rates": {reading: self.rates(reading) for reading in READINGS},
            "checks": {
                reading: {
                    check: Counter(f"{one.expected}: {one.outcome}" for one in self.of(reading, check))
                    for check in CHECKS
                    if self.of(reading, check)
                }
                for reading in READINGS
            },
            "figures": {"given": self.figures, "wrong": self.wrong_figures},
            "examples": {"replayed": self.replayed, "not shown": self.not_shown},
            "seconds": {"median": seconds[len(seconds) // 2], "p99": seconds[len(seconds) * 99 // 100]},
            "misses": [dataclasses.asdict(one) for one in self.misses],
        }


def known(case: Case, reading: Reading = "launch") -> Known:
    """What a reading of a case tells."""
    if reading == "symbolic":
        return Known((case.declared, 1, 1))
    launch = case.launch
    return Known(launch.block, launch.grid, launch.dim, case.shapes, case.scalars, case.contents)


def asked(use_solver: bool = True, time_limit: float = 20.0) -> Audit:
    """kbuild's audit, told what is known of a launch."""

    captures = Captures({name: str(module.__file__) for name, module in sys.modules.items() if _is_of_cases(name)})

    def ask(kernel: Kernel, known: Known) -> KernelAudit:
        launch = Launch(known.dim, known.grid, known.shapes or {}, known.scalars or {})
        is_guess = known.grid is None and axes_of_threads(kernel) > 1
        block = None if is_guess else known.block
        made = audits.audit(
            kernel, Options(block=block, use_solver=use_solver, time_limit=time_limit, verbose=True), launch
        )
        return with_findings(made, *captures.changing(made.kernel, made.functions))

    return ask


def _is_of_cases(name: str) -> bool:
    return name.startswith("tests.audit.cases.")


def score(
    audit: Audit,
    wanted: Iterable[Case] | None = None,
    readings: Iterable[Reading] = READINGS,
    replays: bool = True,
) -> Score:
    """Asks an audit for every label of the cases (all of them by default). `replays`: examples run in the simulator."""
    found = Score()
    chosen = list(cases().values() if wanted is None else wanted)
    for reading in readings:
        for case in chosen:
            result = audit(case.ir, known(case, reading))
            found.seconds.append(result.seconds)
            for check in CHECKS:
                expected = case.expected(check, reading)
                if expected is not None:
                    found.answers.append(_answer(case, check, reading, expected, result))
            if reading == "launch":
                _compare_figures(found, case, result)
            if replays:
                _replay(found, case, result)
    return found


def score_mutants(audit: Audit, mutants: Iterable[Judged]) -> dict[str, Any]:
    """Whether the verdict turns on mutants that are faulty, and stays on those that are not: how many of each, and the
    names of those of which it does not. Nothing is asked about mutants of which opinions differ."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for one in mutants:
        if one.judgement == "open":
            continue
        result = audit(one.mutant.kernel, known(one.at))
        if one.shown is not None:
            verdict = _verdict(result, one.shown.check)
            outcome = {"found": "turned", "proved": "not turned", "unknown": "don't know"}[verdict]
        else:
            verdicts = {_verdict(result, check) for check in SAFETY}
            outcome = "false alarm" if "found" in verdicts else "don't know" if "unknown" in verdicts else "as before"
        counts[outcome] += 1
        if outcome in ("not turned", "false alarm"):
            wrong.append(f"{outcome}: {one.mutant.name}" + (f" ({one.shown.check})" if one.shown else ""))
    return {"counts": dict(counts), "wrong": wrong}


def _answer(case: Case, check: str, reading: Reading, expected: Verdict, result: KernelAudit) -> Answer:
    verdict = _verdict(result, check)
    found = _findings(result, check, "found")
    lines = [_line(one) for one in found]
    has_codes = {(one.code, _line(one)) for one in found} >= _codes(case, check)
    outcome: Outcome
    if expected == "found" and verdict == "found":
        outcome = "right" if set(lines) & set(case.lines(check)) and has_codes else "elsewhere"
    elif expected == verdict or (expected == "unknown" and verdict == "found" and case.kind == "bad"):
        outcome = "right"  # a mistake that cannot be told from the source alone may be found all the same
    elif verdict == "found":
        outcome = "false alarm"
    elif verdict == "unknown":
        outcome = "don't know"
    else:
        outcome = "missed" if expected == "found" else "overclaimed"
    text = "" if outcome == "right" else _words(result, check, verdict)
    return Answer(case.name, case.kind, check == case.about, check, reading, expected, outcome, text)


def _codes(case: Case, check: str) -> set[tuple[str, int]]:
    """The codes that must be found, each in its line."""
    return {(mark.code, mark.line) for mark in case.marks if mark.check == check and mark.code}


def _verdict(result: KernelAudit, check: str) -> Verdict:
    """What an audit says of a check; of one that it does not speak of, that it does not know."""
    if any(_findings(result, check, "found")):
        return "found"
    return next((one.verdict for one in result.checks if one.check == check), "unknown")


def _findings(result: KernelAudit, check: str, verdict: Verdict) -> list[Finding]:
    return [one for one in result.findings if one.check == check and one.verdict == verdict]


def _line(finding: Finding) -> int:
    return 0 if finding.span is None else finding.span.line


def _words(result: KernelAudit, check: str, verdict: Verdict) -> str:
    said = [one for one in result.findings if one.check == check]
    return "; ".join(f"line {_line(one)}: {one.message} {one.reason}".strip() for one in said) or verdict


def _compare_figures(found: Score, case: Case, result: KernelAudit) -> None:
    marks: dict[tuple[str, int], Mark] = {(mark.check, mark.line): mark for mark in case.marks if mark.figure}
    for finding in result.findings:
        mark = marks.get((finding.check, _line(finding)))
        if mark is None or finding.verdict != "found" or finding.code not in _FIGURES:
            continue
        names, given = _FIGURES[finding.code], dict(finding.figures)
        found.figures += 1
        if tuple(given.get(name) for name in names) != mark.figure:
            found.wrong_figures.append(f"{case.name}, line {mark.line}: {given}, not {mark.figure}")


def _replay(found: Score, case: Case, result: KernelAudit) -> None:
    """Findings of what a launch does wrong, with an example, must show in the simulator: this fault, on this line."""
    for finding in result.findings:
        if finding.verdict != "found" or finding.example is None or finding.check not in SAFETY or case.unseen:
            continue
        if _line(finding) in case.lines(finding.check, "any"):
            continue  # two threads that store the same: the simulator has another opinion
        found.replayed += 1
        tries = [
            on_sim.replayed(case.ir, finding.example, finding.check, has_zeros, case.contents)
            for has_zeros in (False, True)
        ]
        # Of several things that are wrong the simulator shows the first.
        said = {(one.check, _line(one)) for one in result.findings if one.verdict == "found"}
        if not any((one.check, line) in said for one in tries if one is not None for line in one.lines):
            found.not_shown.append(f"{case.name}, line {_line(finding)}, {finding.check}: {tries[0]}")


def _share(answers: list[bool]) -> float:
    return sum(answers) / len(answers) if answers else 0.0


def table(found: Score) -> str:
    """The score as text."""
    lines: list[str] = []
    for reading in READINGS:
        answers = found.of(reading)
        if not answers:
            continue
        rates = found.rates(reading)
        bad, good, unsure = (f"{rates[name]:.1%}" for name in ("found", "false alarms", "don't know"))
        lines.append(f"{reading}: found {bad} of the bad cases, a false alarm on {good} of the good ones")
        lines.append(f"not known: {unsure} of the labels that can be")
        lines.append("check           labels  " + "  ".join(OUTCOMES))
        for check in CHECKS:
            counts = Counter(one.outcome for one in found.of(reading, check))
            if counts:
                cells = "  ".join(str(counts[outcome]).rjust(len(outcome)) for outcome in OUTCOMES)
                lines.append(f"{check:15} {sum(counts.values()):6}  {cells}")
        lines.append("")
    lines.append(f"figures: {found.figures} given, {len(found.wrong_figures)} wrong")
    lines += [f"  {one}" for one in found.wrong_figures]
    lines.append(f"examples: {found.replayed} replayed, {len(found.not_shown)} show something else, or nothing")
    lines += [f"  {one}" for one in found.not_shown]
    lines.append("")
    lines += [
        f"{one.reading:8} {one.outcome:11} {one.check:14} {one.case}: expected {one.expected}; {one.text}"
        for one in found.misses
    ]
    return "\n".join(lines) + "\n"
