"""Kernels whose values are made of one another many times over: what is written down of them must not grow with the
ways that lead to a value, and no time limit is passed by."""

from __future__ import annotations

import time
from pathlib import Path

from kbuild.audit.findings import OUT_OF_TIME, KernelAudit, Options
from kbuild.audit.kernel import audit
from kbuild.ir import nodes
from tests.helpers import kernels

SOON = 20.0  # seconds of the processor's, on a slow machine; the faults tested here take hours


def lowered(folder: Path, lines: list[str]) -> nodes.Kernel:
    text = (
        "@kb.kernel\ndef kernel(data: kb.array(dtype=float), idx: kb.array(dtype=int), out: kb.array(dtype=float)):\n"
    )
    _, declared = kernels.load(kernels.write(folder, text + "".join(f"    {line}\n" for line in lines)))
    found, diagnostics = kernels.diagnose(declared)
    assert found, diagnostics
    return found[0]


def soon(kernel: nodes.Kernel, time_limit: float = 1e6) -> KernelAudit:
    started = time.process_time()
    made = audit(kernel, Options(use_solver=False, time_limit=time_limit))
    assert time.process_time() - started < SOON
    return made


def test_a_value_that_each_step_uses_twice(tmp_path: Path) -> None:
    lines = ["i = kb.tid()", "x = data[i]"]
    for _ in range(60):
        lines.append("x = x * x + kb.sin(x)")
    soon(lowered(tmp_path, [*lines, "if x > 1.0:", "    out[i] = x"]))


def test_the_place_of_the_largest_of_many(tmp_path: Path) -> None:
    lines = """
i = kb.tid()
best = float(-1.0)
place = int(-1)
for t in range(64):
    c = idx[i * 64 + t]
    if c >= 0:
        d = data[i * 64 + t]
        if d > best:
            best = d
            place = c
        elif d == best:
            if data[c] < data[place]:
                place = c
out[place] = best
"""
    made = soon(lowered(tmp_path, lines.split("\n")))
    assert next(one for one in made.checks if one.check == "bounds").obligations > 3


def test_loops_in_loops(tmp_path: Path) -> None:
    lines, indent = ["i = kb.tid()", "n = idx[0]", "k = int(0)"], ""
    for depth in range(6):
        lines.append(f"{indent}for j{depth} in range(n):")
        indent += "    "
        lines += [f"{indent}if data[k] > {depth}.0:", f"{indent}    k = idx[k] + j{depth}"]
    soon(lowered(tmp_path, [*lines, "out[i] = float(k)"]))


def test_the_time_limit_holds_for_the_run_itself(tmp_path: Path) -> None:
    made = soon(lowered(tmp_path, ["out[kb.tid()] = 1.0"]), time_limit=-1.0)
    assert any(text.startswith(OUT_OF_TIME) for text in made.assumptions)
    assert {one.verdict for one in made.checks if one.check != "source"} == {"unknown"}
