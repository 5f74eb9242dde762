"""The section about results beside Warp's: words and tables from `benchmarks/results/replay.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Table = Callable[[tuple[str, ...], Sequence[tuple[str, ...]]], str]

MEANINGS = {
    "equal": "the same bits as Warp's in every number, with fusing on both sides or without",
    "close": "no integer differs, no float by more than {tolerance:g} of the largest in its array",
    "order": "Warp differs from itself from launch to launch (atomics), and kbuild no more",
    "different": "none of these",
    "idle": "no number changed in any launch, on either side: nothing is shown",
    "failed": "no result: Warp's code failed in this program (kbuild's ran in the launches that were tried alone)",
}


def text(values: dict[str, Any]) -> str:
    """What was compared with what."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(values["versions"].items()))
    return (
        "Launches were recorded from real programs on Warp (scenes of Newton's solvers, steps of MuJoCo Warp, Warp's "
        "own examples), with the memory before each. The same launches are then made on one GPU with Warp's machine "
        "code, compiled by Warp, and with kbuild's, from the same memory: single launches of every kernel, and whole "
        "runs, kernel by kernel. Fusing of products and sums is decided by NVRTC for Warp and by kbuild's own rule for "
        f"kbuild, so both are compared without fusing too. {versions}."
    )


def body(values: dict[str, Any], table: Table) -> str:
    """The tables."""
    kernels = values["kernels"]
    counts = Counter((one["package"], one["verdict"]) for one in kernels)
    packages = sorted({one["package"] for one in kernels})
    kinds = [kind for kind in MEANINGS if any(counts[package, kind] for package in packages)]
    rows = [
        (package, str(sum(counts[package, kind] for kind in kinds)), *(str(counts[package, kind]) for kind in kinds))
        for package in packages
    ]
    total = ("all", str(len(kernels)), *(str(sum(counts[package, kind] for package in packages)) for kind in kinds))
    meanings = "".join(f"- {kind}: {MEANINGS[kind].format(tolerance=values['tolerance'])}\n" for kind in kinds)
    launches = sum(one["launches"] for one in kernels)
    text = table(("kernels of", "compared", *kinds), [*rows, total]) + f"\n{launches} launches.\n\n{meanings}\n"
    return text + _worst(kernels, table) + _runs(values["runs"], table)


def _worst(kernels: list[dict[str, Any]], table: Table) -> str:
    ranked = sorted((one for one in kernels if one["verdict"] != "equal"), key=lambda one: -one["error"])[:12]
    if not ranked:
        return ""
    rows = [
        (f"`{one['name']}`", one["verdict"], f"{one['equal'] / max(one['numbers'], 1):.4f}", f"{one['error']:.1e}")
        for one in ranked
    ]
    return "The largest differences without fusing:\n\n" + table(("kernel", "", "equal bits", "error"), rows) + "\n"


def _runs(runs: list[dict[str, Any]], table: Table) -> str:
    rows = []
    for run in runs:
        for steps, at in run.get("steps", {}).items():
            cells = [f"{at[name]['error']:.1e}" for name in ("kbuild", "warp_again", "warp_unfused")]
            unfused = [f"{at[name]['error']:.1e}" for name in ("kbuild_unfused", "warp_again_unfused")]
            rows.append((run["scene"], steps, str(run["kernels"]), *cells, *unfused))
    head = ("run", "steps", "kernels", "kbuild", "Warp again", "Warp without fusing", "kbuild, no fusing", "Warp again")
    words = (
        "Whole runs: the largest difference from a run of Warp's, over all arrays, of the largest number in the array. "
        "Atomics add in any order, so that Warp does not repeat itself; the last two columns are without fusing on "
        "both sides.\n\n"
    )
    return words + table(head, rows) if rows else ""
