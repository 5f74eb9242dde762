"""The section of docs/benchmarks.md on simulator and GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MEANING = {
    "exact": "every array has the same bits (all NaNs alike)",
    "near": "approximate functions, or float sums in an open order: within the bounds of tests/gpu/shadow.py",
    "open order": "what an atomic returned was used, which depends on who came first: both ran",
    "differ": "something else",
    "without numbers": "no array of floating-point numbers: nothing to differentiate",
    "not tried": "the results say why",
}


def text(values: dict[str, Any]) -> str:
    """What was done."""
    nodes = [name for name in values["constructs"] if name[0].isupper()]
    intrinsics = [name for name in values["constructs"] if not name[0].isupper()]
    return (
        "Every launch of the GPU tests of the language a second time in the simulator, on copies of its arrays: "
        f"{len(nodes)} kinds of nodes of the IR and {len(intrinsics)} intrinsics, at every type that they take."
    )


def text_of_adjoints() -> str:
    """What was done with adjoints."""
    return (
        "The adjoint of every kernel that the GPU tests of the language launch, at the first launches of each, with "
        "random numbers at the adjoints of all arrays, on the GPU and in the simulator (tests/gpu/shadow_backward.py)."
    )


def body(values: dict[str, Any], table: Callable[..., str]) -> str:
    """The outcomes."""
    launches, kernels = values["launches"], values["kernels"]
    rows = [(_MEANING[state], str(launches[state]), str(kernels[state])) for state in launches]
    return table(("outcome", "launches", "kernels"), rows)
