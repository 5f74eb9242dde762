"""Figures of machine code: what they come to, what is said of them, and what differs between builds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kbuild.audit.machine import COMPARED, Change, Compiled, Machine, changes, findings, measure
from kbuild.audit.sass import Access
from kbuild.errors import Span
from kbuild.nvrtc import Cache, compile_jobs
from tests.helpers import nvrtc_cases as cases
from tests.helpers.once import once

HERE = Span("/p/k.py", 3, 1, 3, 20)
GOOD = Machine(
    "m:k", "sm_90", "sm_90", 32, 0, 0, 1024, 1, 0, 640, 256, 8, 64, 64, "threads", (255, 49152),
    ((Access("global", "load", 4, ""), 3), (Access("global", "store", 4, ""), 1)),
)  # fmt: skip


def said(machine: Machine, wide: tuple[tuple[str, int], ...] = ()) -> list[str]:
    found = list(findings(machine, HERE, wide))
    for one in found:
        assert (one.check, one.verdict, one.kernel, one.target) == ("machine-code", "found", "m:k", machine.target)
        assert one.span == HERE
        assert one.message.endswith(f"({machine.target})")
        assert one.help
    return [one.code for one in found]


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({}, []),
        ({"registers": 168, "blocks": 1, "warps": 8, "limited_by": "registers"}, ["KB420"]),
        ({"registers": 128, "blocks": 2, "warps": 16, "limited_by": "registers"}, []),
        ({"registers": 128, "threads": 1024, "blocks": 0, "warps": 0, "limited_by": "registers"}, ["KB420"]),
        ({"blocks": 1, "warps": 8, "threads": 256, "limited_by": "threads"}, []),
        ({"spills": 16, "local": 16}, ["KB421"]),
        ({"local": 16}, ["KB422"]),
        ({"shared": 36864}, ["KB423"]),
        ({"shared": 36863}, []),
        ({"shared": 34000, "blocks": 6, "warps": 6, "threads": 32, "limited_by": "shared memory"}, ["KB423"]),
    ],
)
def test_findings(change: dict[str, object], codes: list[str]) -> None:
    assert said(replace(GOOD, **change)) == codes  # type: ignore[arg-type]


def test_narrow_instructions() -> None:
    wide = (("pos", 16),)
    assert said(GOOD, wide) == ["KB424"]
    assert said(replace(GOOD, accesses=((Access("global", "load", 16, ""), 1), *(GOOD.accesses or ()))), wide) == []
    assert said(replace(GOOD, accesses=None), wide) == []
    assert said(replace(GOOD, accesses=((Access("shared", "load", 4, ""), 1),)), wide) == []


def test_changes() -> None:
    slower = replace(GOOD, registers=40, warps=48)
    other = replace(GOOD, target="sm_87")
    assert changes([GOOD], [GOOD]) == ()
    assert changes([slower], [GOOD]) == (
        Change("m:k", "sm_90", "registers", 32, 40),
        Change("m:k", "sm_90", "warps", 64, 48),
    )
    assert changes([GOOD, other], [GOOD]) == (Change("m:k", "sm_87", "registers", None, 32),)
    assert changes([GOOD], [GOOD, other]) == (Change("m:k", "sm_87", "registers", 32, None),)
    assert next(map(str, changes([slower], [GOOD]))) == "m:k on sm_90: 32 → 40 registers"
    assert str(changes([GOOD, other], [GOOD])[0]) == "m:k on sm_87: new"


def test_changes_of_memory_instructions() -> None:
    load = Access("global", "load", 4, "")
    wide = replace(
        GOOD, accesses=((Access("global", "load", 16, "readonly"), 1), (Access("global", "store", 4, ""), 1))
    )
    found = changes([wide], [GOOD])
    assert found == (
        Change("m:k", "sm_90", "global load 4", 3, 0),
        Change("m:k", "sm_90", "global load 16 readonly", 0, 1),
    )
    assert [one.text for one in found] == ["3 → 0 × global load 4", "0 → 1 × global load 16 readonly"]
    fewer = replace(GOOD, accesses=((load, 2), (Access("global", "store", 4, ""), 1)))
    assert changes([fewer], [GOOD]) == (Change("m:k", "sm_90", "global load 4", 3, 2),)
    assert changes([replace(GOOD, accesses=None)], [GOOD]) == ()


def test_every_figure_is_compared() -> None:
    """What the table has, but for what follows from it: a change of any makes a difference."""
    for figure, name in COMPARED.items():
        (found,) = changes([replace(GOOD, **{figure: 77})], [GOOD])  # type: ignore[arg-type]
        assert (found.figure, found.after) == (figure, 77)
        assert found.text.endswith(f"→ 77 {name}")
    fields = {one.name for one in dataclasses.fields(Machine)}
    named = {"kernel", "target", "arch", "threads", "blocks", "most_warps", "limited_by", "limits", "accesses"}
    assert fields - named == set(COMPARED)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, tuple[int, int], str, int], Machine]:
    def make(folder: Path) -> None:
        jobs = [cases.job(arch, version, cases.KERNELS) for version, arch in REAL]
        compile_jobs(jobs, cache=Cache(folder))

    folder = once(tmp_path_factory, "machines", make)

    def of(entry: str, version: tuple[int, int], arch: str, threads: int) -> Machine:
        (outcome,) = compile_jobs([cases.job(arch, version, cases.KERNELS)], cache=Cache(folder))
        done = cases.compiled(outcome)
        return measure(Compiled("m:k", arch, done.data, entry, threads, done.spills[entry]))

    return of


REAL = [((11, 8), "sm_87"), ((12, 9), "sm_90"), ((12, 9), "sm_61"), ((13, 0), "sm_110")]


@pytest.mark.nvrtc
@pytest.mark.parametrize(("version", "arch"), REAL)
def test_real_code(built: Callable[..., Machine], version: tuple[int, int], arch: str) -> None:
    saxpy = built("saxpy", version, arch, 256)
    assert (saxpy.arch, saxpy.local, saxpy.shared, saxpy.barriers) == (arch, 0, 0, 0)
    assert saxpy.warps == saxpy.most_warps
    assert saxpy.limited_by == "threads"
    assert saxpy.registers <= 16
    if saxpy.accesses is not None:
        assert (saxpy.count("global"), saxpy.count("global", 4)) == (3, 3)
    assert (saxpy.accesses is None) == (arch == "sm_61")
    shared = built("shared_memory", version, arch, 128)
    assert (shared.shared, shared.barriers) == (264, 1)
    spilling = built("spilling", version, arch, 1024)
    assert spilling.registers <= 64
    assert spilling.limited_by == ("registers" if arch in ("sm_90", "sm_61") else "threads")
    assert spilling.spills > 0
    assert spilling.spills == 0 or spilling.local > 0
    assert [one.code for one in findings(spilling, HERE)] == ["KB421"]
    stack = built("stack_frame", version, arch, 128)
    assert stack.local >= 160
    assert [one.code for one in findings(stack, HERE)] == ["KB422"]


@pytest.mark.nvrtc
def test_a_block_that_does_not_fit(built: Callable[..., Machine]) -> None:
    """Launch bounds are the compiler's to keep; without them a large block may ask for too many registers."""
    machine = built("spilling", (12, 9), "sm_90", 1024)
    assert machine.blocks >= 1
    made = replace(machine, registers=128, blocks=0, warps=0)
    assert (
        "a block of 1024 threads with 128 registers each fits no multiprocessor" in next(findings(made, HERE)).message
    )
