"""The section about the audit on the page of benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Table = Callable[[tuple[str, ...], list[list[str]]], str]

_READINGS = {"launch": "one launch is known", "symbolic": "the source alone"}
_TOOLS = {"memcheck": "accesses beyond arrays", "racecheck": "races on shared memory", "synccheck": "barriers"}


def text(values: dict[str, Any]) -> str:
    """What the tables are about."""
    seconds, figures, examples = values["seconds"], values["figures"], values["examples"]
    return (
        f"{values['cases']} kernels in good and bad twins (tests/audit/cases), whose labels the simulator confirms, asked "
        "twice: of one launch, with its sizes, and of the source alone, of which labels stand for the check that a case "
        "is about. *Found* are bad cases, with the right check on the right line (goal: 95 %); *false alarms* good ones "
        "in which something is found (goal: at most 2 %); *not known* labels that are answered so (goal: at most 10 %). "
        f"Of {figures['given']} degrees of bank conflicts and counts of sectors {len(figures['wrong'])} are not the "
        f"label's; of {examples['replayed']} examples that were run in the simulator {len(examples['not shown'])} do "
        f"not show their fault there. An audit takes {1000 * seconds['median']:.0f} ms (median; 99th percentile "
        f"{1000 * seconds['p99']:.0f} ms) with the solver."
    )


def body(values: dict[str, Any], on_gpu: dict[str, Any] | None, table: Table) -> str:
    """The tables."""
    rows = [
        [_READINGS[name], str(values["labels"][name]), *(f"{100 * rates[one]:.1f} %" for one in _RATES)]
        for name, rates in values["rates"].items()
    ]
    found = table(("known is", "labels", *_RATES), rows)
    return found if on_gpu is None else f"{found}\n{_on_gpu(on_gpu, table)}"


_RATES = ("found", "false alarms", "don't know")


def _on_gpu(document: dict[str, Any], table: Table) -> str:
    values = document["values"]
    rows = [
        [
            f"compute-sanitizer {tool}",
            what,
            f"{values['sanitizer'][tool]['agrees']} of {values['sanitizer'][tool]['cases']}",
        ]
        for tool, what in _TOOLS.items()
    ]
    equal = sum(row["equal"] for row in values["counters"])
    rows.append(["ncu", "passes and sectors a request", f"{equal} of {len(values['counters'])}"])
    words = (
        f"\nThe same cases on {document['machine']['gpu']} (`audit_gpu.py`). compute-sanitizer sees what happens in one "
        "launch: components of vectors lie in registers, where memcheck does not look, and synccheck takes threads that "
        "have ended for threads that arrived. ncu's counts are means over a launch, the audit's over the first trips of "
        "its loops.\n\n"
    )
    return words + table(("tool", "looks at", "agrees with the labels, or the audit's figures"), rows)
