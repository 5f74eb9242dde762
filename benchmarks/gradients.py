"""Time and memory of gradients: both directions of four programs, beside Warp, JAX and PyTorch, in one process.

Backward is the time of both directions less that of forward. Ways take turns; each has shown before that its gradients
are kbuild's, or how far they are from them. `--device sim` tries everything out where no GPU is, and records nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.metadata
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from support import gradient_cases, gradients_jax, gradients_kbuild, gradients_torch, gradients_warp, machine, peers
from support.gradient_cases import Case, Way
from support.results import ROOT, progress, record, summary

GOAL = 3.0  # backward over forward
BOUND_BY_MEMORY = ("axpy", "particles")
NEAR = 1e-3  # relative to the largest number of a gradient


def main() -> None:
    """Measures, prints, records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0", help="default cuda:0")
    parser.add_argument("--rounds", type=int, default=10, help="measurements of each way (default 10)")
    parser.add_argument("--calls", type=int, default=4, help="calls of a measurement (default 4)")
    parser.add_argument("--case", action="append", choices=gradient_cases.SIZES, help="leave out the others")
    arguments = parser.parse_args()
    is_trial = arguments.device == "sim"
    if is_trial:
        sys.path[:0] = [str(ROOT), str(ROOT / "sample_project" / "src"), str(ROOT / "benchmarks" / "project" / "src")]
    elif machine.packages() is None:
        return
    peers.add_path()
    sizes = gradient_cases.SMALL if is_trial else gradient_cases.SIZES
    results, without, failures = {}, {}, []
    with tempfile.TemporaryDirectory() as name:
        for title in arguments.case or gradient_cases.SIZES:
            case = gradient_cases.make(title, sizes)
            found = measured(case, arguments, Path(name))
            results[title] = found["case"]
            without.update(found["without"])
            failures += found["failures"]
            show(title, results[title])
            gc.collect()
    values = {"cases": results, "without": without, "goal": GOAL, "near": NEAR, "bound_by_memory": BOUND_BY_MEMORY}
    print("\n".join(f"not measured: {title}: {reason}" for title, reason in without.items()))
    if not is_trial:
        record("gradients", {**values, "versions": versions()})
    if failures:
        sys.exit(f"failed: {', '.join(failures)}")


def versions() -> dict[str, str]:
    """Of the peers."""
    found = {title: version for title, version in peers.versions().items() if title in ("PyTorch", "Warp")}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        found["JAX"] = importlib.metadata.version("jax")
    return found


def measured(case: Case, arguments: Any, folder: Path) -> dict[str, Any]:
    """Seconds of each direction, for every way."""
    makers: dict[str, Any] = dict(gradients_kbuild.ways(case, arguments.device))
    without: dict[str, str] = {}
    for title, find in (
        ("Warp", lambda: gradients_warp.ways(case, arguments.device, folder)),
        ("JAX", lambda: gradients_jax.ways(case, arguments.device)),
        ("PyTorch", lambda: gradients_torch.ways(case, arguments.device)),
    ):
        try:
            makers.update(find())
        except peers.Missing as error:
            without[title] = str(error)
    rows, failures, wanted = {}, [], None
    for title, make in makers.items():
        progress(f"{case.name}: {title}")
        try:
            way = make()
            way.both()
            way.wait()
            gradients = way.gradients()
            wanted = wanted or gradients
            times = timed(way, arguments.rounds, arguments.calls)
        except Exception as error:  # the others are measured all the same, and the program fails in the end
            traceback.print_exc()
            without[f"{case.name}: {title}"] = f"failed: {type(error).__name__}: {error}"[:300]
            failures.append(f"{case.name}: {title}")
            continue
        rows[title] = {**times, "memory": way.memory, "apart": apart(gradients, wanted)}
        del way
        gc.collect()
    return {"case": {"count": case.count, "steps": case.steps, "ways": rows}, "without": without, "failures": failures}


def apart(gradients: dict[str, Any], wanted: dict[str, Any]) -> float:
    """How far gradients are from kbuild's, relative to the largest number of each."""
    return max(float(abs(gradients[n] - wanted[n]).max() / max(abs(wanted[n]).max(), 1e-30)) for n in wanted)


def timed(way: Way, rounds: int, calls: int) -> dict[str, Any]:
    """Seconds of a call forward and of one in both directions, in turns; three rounds before are for the clock."""
    samples: dict[str, list[float]] = {"forward": [], "both": []}
    for number in range(-3, rounds):
        for name, call in (("forward", way.forward), ("both", way.both)):
            way.wait()
            start = time.perf_counter()
            for _ in range(calls):
                call()
            way.wait()
            if number >= 0:
                samples[name].append((time.perf_counter() - start) / calls)
    found: dict[str, Any] = {name: summary(values) for name, values in samples.items()}
    found["backward"] = found["both"]["median"] - found["forward"]["median"]
    found["ratio"] = found["backward"] / found["forward"]["median"]
    return found


def show(name: str, case: dict[str, Any]) -> None:
    """A line for every way."""
    print(f"{name}: {case['count']} elements, {case['steps']} steps")
    for title, row in case["ways"].items():
        forward, backward = (1e3 * seconds for seconds in (row["forward"]["median"], row["backward"]))
        memory = ", ".join(f"{what} {size / 1e6:.1f} MB" for what, size in row["memory"].items())
        apart = "" if row["apart"] <= NEAR else f"  WRONG: {row['apart']:.1e} apart"
        print(f"  {title:<20} {forward:>9.3f} ms {backward:>9.3f} ms  ratio {row['ratio']:>6.2f}  {memory}{apart}")
    graph = case["ways"].get("kbuild, graph")
    if name in BOUND_BY_MEMORY and graph is not None:
        verdict = "met" if graph["ratio"] <= GOAL else "MISSED"
        print(f"  backward over forward: {graph['ratio']:.2f} (goal ≤ {GOAL:g}) {verdict}")


if __name__ == "__main__":
    main()
