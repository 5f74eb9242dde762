"""The section of docs/benchmarks.md on gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_CASES = {
    "axpy": "z = a x + y, {count:,} elements",
    "particles": "{count:,} particles under gravity and drag, {steps} steps",
    "springs": "a cloth of {count:,} particles, {steps} steps of spring forces (atomic sums) and motion",
    "rollout": "h = tanh(W h + b) with 4 numbers for {count:,} threads, a loop of {steps} trips that the launch names",
}


def text(values: dict[str, Any]) -> str:
    """What was done."""
    return (
        "Forward, and backward from ones at the result: the time of both directions less that of forward, in turns, "
        "in one process; ms for all steps. A tape records every time; a graph holds both directions. Every step writes "
        "arrays of its own, as Warp and JAX want it. *Saved*: bytes beside inputs and results of steps, without the "
        "gradients of these: copies and workspace (kbuild), temporaries (JAX), the allocator's peak with the states in "
        "it (PyTorch). *Apart*: the largest difference from kbuild's gradient, relative to its largest number; ✗ where "
        f"that is more than {values['near']:g}. *Atomic sums*: the same kernels, written so that kbuild cannot see "
        "that each thread has elements of its own. Goal for backward over forward where memory is the limit "
        f"({', '.join(values['bound_by_memory'])}), in a graph: ≤ {values['goal']:g}."
    )


def body(values: dict[str, Any], table: Callable[..., str]) -> str:
    """A table for each program."""
    parts = []
    for name, case in values["cases"].items():
        rows = [_row(values, name, title, row) for title, row in case["ways"].items()]
        head = ("", "forward [ms]", "backward [ms]", "ratio", "saved [MB]", "apart")
        title = _CASES[name].format(count=case["count"], steps=case["steps"])
        parts.append(f"**{name}**: {title}\n\n{table(head, rows)}")
    missing = [f"Not measured: {title} ({reason})." for title, reason in values["without"].items()]
    versions = ", ".join(f"{name} {version}" for name, version in values["versions"].items())
    return "\n".join([*parts, *missing, f"{versions}." if versions else "", ""]).rstrip("\n") + "\n"


def _row(values: dict[str, Any], name: str, title: str, row: dict[str, Any]) -> tuple[str, ...]:
    ratio = f"{row['ratio']:.2f}"
    if title == "kbuild, graph" and name in values["bound_by_memory"] and row["ratio"] > values["goal"]:
        ratio += " ✗"
    memory = {what: size for what, size in row["memory"].items() if what != "gradients"}
    saved = f"{sum(memory.values()) / 1e6:.1f}" if memory else ""
    apart = f"{row['apart']:.0e}" + (" ✗" if row["apart"] > values["near"] else "")
    return (title, f"{1e3 * row['forward']['median']:.3f}", f"{1e3 * row['backward']:.3f}", ratio, saved, apart)
