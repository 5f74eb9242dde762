"""The section of docs/benchmarks.md on simulator and GPU."""

from __future__ import annotations

from typing import Any


def section(document: dict[str, Any]) -> str:
    """What a run of the GPU tests with every launch in the simulator, too, has shown."""
    values, machine = document["values"], document["machine"]
    launches, kernels = values["launches"], values["kernels"]
    meaning = {
        "exact": "every array has the same bits (all NaNs alike)",
        "near": "approximate functions, or float sums in an open order: within the bounds of tests/gpu/shadow.py",
        "open order": "what an atomic returned was used, which depends on who came first: only that both ran",
        "differ": "something else",
        "not tried": "see the reasons in the results",
    }
    rows = [f"| {meaning[state]} | {launches[state]} | {kernels[state]} |" for state in launches]
    nodes = [name for name in values["constructs"] if name[0].isupper()]
    intrinsics = [name for name in values["constructs"] if not name[0].isupper()]
    return "\n".join(
        [
            "## Simulator and GPU",
            "",
            "Every launch of the GPU tests of the language a second time in the simulator, on copies of its arrays",
            f"({machine['gpu']}, {machine['date']}, commit {machine['commit']}).",
            "",
            "| outcome | launches | kernels |",
            "|---|---|---|",
            *rows,
            "",
            f"{len(nodes)} kinds of nodes of the IR and {len(intrinsics)} intrinsics were among them, each at every",
            "type that it takes.",
            "",
        ]
    )
