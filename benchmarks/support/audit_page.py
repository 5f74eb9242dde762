"""The section about the audit on the page of benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Table = Callable[[tuple[str, ...], list[list[str]]], str]

_READINGS = {"launch": "one launch is known", "symbolic": "the source alone"}
_TOOLS = {"memcheck": "accesses beyond arrays", "racecheck": "races on shared memory", "synccheck": "barriers"}


TEXT = """\
{cases} kernels in good and bad twins (tests/audit/cases), whose labels the simulator confirms, asked twice: with what
one launch gives, and of the source alone, where labels stand for the check that a case is about. *Found* are bad cases,
with the right check on the right line (goal: 95 %); *false alarms* good ones in which something is found (goal: at most
2 %); *don't know* labels that are answered so (goal: at most 10 %). Of {figures} degrees of bank conflicts and counts
of sectors {wrong} are not the label's; of {replayed} examples that were run in the simulator {not_shown} do not show
their fault there. An audit takes {median:.0f} ms (median; 99th percentile {p99:.0f} ms) with the solver."""

ON_GPU = """
The same cases on {gpu} (`audit_gpu.py`). compute-sanitizer sees what happens in one
launch: components of vectors lie in registers, where memcheck does not look, and synccheck takes threads that have
ended for such as arrived. ncu's counts are means over a launch, the audit's over the first trips of its loops.

"""


def text(values: dict[str, Any]) -> str:
    """What the tables are about."""
    return TEXT.format(
        cases=values["cases"],
        figures=values["figures"]["given"],
        wrong=len(values["figures"]["wrong"]),
        replayed=values["examples"]["replayed"],
        not_shown=len(values["examples"]["not shown"]),
        median=1000 * values["seconds"]["median"],
        p99=1000 * values["seconds"]["p99"],
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
    rows = []
    for tool, what in _TOOLS.items():
        row = values["sanitizer"][tool]
        rows.append([f"compute-sanitizer {tool}", what, f"{row['agrees']} of {row['cases']}"])
    equal = sum(row["equal"] for row in values["counters"])
    rows.append(["ncu", "passes and sectors a request", f"{equal} of {len(values['counters'])}"])
    head = ("tool", "looks at", "agrees with the labels, or the audit's figures")
    return ON_GPU.format(gpu=document["machine"]["gpu"]) + table(head, rows)
