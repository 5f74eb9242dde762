"""Drawn kernels: their machine code loads again what the audit says it does, and nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kbuild.audit import kernel as audits
from kbuild.audit.findings import Options
from kbuild.audit.machine import Compiled, measure
from kbuild.codegen.unit import emit
from kbuild.nvrtc import Cache, compile_jobs
from tests.helpers import kernels, nvrtc_cases

pytestmark = pytest.mark.nvrtc

COUNT = 60
TARGETS = {"sm_87": (11, 8), "sm_90": (12, 9), "sm_120": (12, 9)}
READ = ("a[i]", "a[i + 1]", "b[i]", "b[i + 1]", "c[i]")
STEPS = ("load", "load", "load", "load", "store", "maybe", "tile", "lanes", "wait")
STORED = ("b[i]", "b[i + 1]", "c[i]", "c[i + 2]")
HEAD = """
@kb.kernel(block_dim=256)
def kernel_{number}(a: kb.array(dtype=float), b: kb.array(dtype=float), c: kb.array(dtype=float), start: float):
    s = kb.shared_array(512, float)
    t = kb.thread_idx()
    i = kb.tid()
    x = start
"""


class Drawn:
    """A kernel: its text, how many loads a compiler makes of it, and the lines that load again what nobody changed."""

    def __init__(self, number: int) -> None:
        draw = random.Random(number)
        self.lines = HEAD.format(number=number).splitlines()[1:]
        self.loads, self.again = 0, set[int]()
        steps = [(draw.choice(STEPS), draw.choice(READ), draw.choice(STORED)) for _ in range(draw.randrange(12, 26))]
        places = [
            "c",
            *(place for what, _, place in steps if what == "store"),
            *("b" for one in steps if "maybe" in one),
        ]
        self._stored = {place[0] for place in places}
        self._known: set[str] = set()  # what a compiler knows of elements
        self._met: set[str] = set()  # what the thread has met, and nobody has changed since
        for what, read, place in steps:
            self._step(what, read, place, draw.randrange(2, 256))
        self._add("c[i + 5] = x")

    def _add(self, *texts: str) -> None:
        self.lines += [f"    {text}" for text in texts]

    def _step(self, what: str, read: str, place: str, number: int) -> None:
        match what:
            case "load":
                self._load(read)
            case "store":
                self._add(f"{place} = x * {number}.5")
                self._known = {place}
                self._met.add(place)
            case "maybe":
                self._add(f"if x > {number}.0:", "    b[i + 3] = x")
                self._known = set()
            case "tile":
                self._add(f"s[t + {number}] = x")
            case "lanes":
                self._add("x = x + kb.shfl_xor(x, 1)")
            case "wait":
                self._add("kb.syncthreads()")
                self._known = set()
                self._met = {place for place in self._met if place[0] not in self._stored}  # by others, perhaps

    def _load(self, place: str) -> None:
        self._add(f"x = x * 1.5 + {place}")
        if place not in self._known:
            self.loads += 1
            if place in self._met:
                self.again.add(len(self.lines))
        self._known.add(place)
        self._met.add(place)


def test_the_audit_and_machine_code_agree(tmp_path: Path) -> None:
    drawn = [Drawn(number) for number in range(COUNT)]
    text = "\n\n\n".join("\n".join(one.lines) for one in drawn)
    lowered = {one.name.split(":")[1]: one for one in kernels.lower_text(tmp_path, text)}
    assert sum(len(one.again) for one in drawn) > COUNT
    units = [(lowered[f"kernel_{number}"], f"entry_{number}") for number in range(COUNT)]
    for number, (kernel, _) in enumerate(units):
        found = audits.audit(kernel, Options(checks=("coalescing",), use_solver=False)).findings
        first = kernel.function.span.line - 1 if kernel.function.span else 0
        lines = {one.span.line - first + 1 for one in found if one.code == "KB407" and one.span is not None}
        assert lines == drawn[number].again, "\n".join(drawn[number].lines)
    source = emit(units).source
    jobs = [nvrtc_cases.job(arch, version, source) for arch, version in TARGETS.items()]
    for arch, outcome in zip(TARGETS, compile_jobs(jobs, cache=Cache(tmp_path)), strict=True):
        data = nvrtc_cases.compiled(outcome).data
        for number, (_, entry) in enumerate(units):
            rows = measure(Compiled("m:k", arch, data, entry, 256, 0)).accesses or ()
            loads = sum(count for access, count in rows if access[:2] == ("global", "load"))
            assert loads == drawn[number].loads, arch + "\n" + "\n".join(drawn[number].lines)
