"""Finished machine code, for three targets: what is said of the kernels of `cases.machine`; and that the code has what
the audit says of the source in KB405, KB407 and KB408."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kbuild.audit.machine import Compiled, Machine, findings, measure
from kbuild.audit.report import MACHINE_HEADERS, machine_rows
from kbuild.codegen.unit import emit
from kbuild.errors import Span
from kbuild.ir.blocks import shared_bytes
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import Array, word_of
from kbuild.nvrtc import Cache, compile_jobs
from tests.audit.cases import Case, cases, machine_cases
from tests.helpers import kernels, nvrtc_cases
from tests.helpers.once import once

pytestmark = pytest.mark.nvrtc

TARGETS = {"sm_87": (11, 8), "sm_90": (12, 9), "sm_120": (12, 9)}
MACHINE = machine_cases()
MEMORY = {name: one for name, one in cases().items() if one.module in ("repeats", "narrow")}
VECTORS = {
    name: one
    for name, one in cases().items()
    if one.pair in ("quarters_of_a_warp", "halves_of_a_warp", "matrices") and one.module == "banks"
}
Measured = Callable[[Case, str], Machine]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """What a case comes to on a target."""
    every = [*MACHINE.values(), *MEMORY.values(), *VECTORS.values()]
    source = emit([(one.ir, one.name) for one in every]).source
    jobs = {arch: nvrtc_cases.job(arch, version, source) for arch, version in TARGETS.items()}
    folder = once(tmp_path_factory, "machine_cases", lambda part: compile_jobs(list(jobs.values()), cache=Cache(part)))
    outcomes = compile_jobs(list(jobs.values()), cache=Cache(folder))
    done = {arch: nvrtc_cases.compiled(one) for arch, one in zip(jobs, outcomes, strict=True)}

    def of(case: Case, arch: str) -> Machine:
        data = done[arch].data
        return measure(Compiled(case.name, arch, data, case.name, case.declared, done[arch].spills[case.name]))

    return of


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", MACHINE)
def test_what_is_said_of_machine_code(compiled: Measured, name: str, arch: str) -> None:
    case = MACHINE[name]
    found = list(findings(compiled(case, arch), case.ir.function.span, _wide(case)))
    marks = [(mark.code, mark.line) for mark in case.marks if mark.check == "machine-code"]
    assert [(one.code, one.span and one.span.line) for one in found] == marks
    assert all(one.target == arch for one in found)


def _wide(case: Case) -> list[tuple[str, int]]:
    """Arrays whose elements go as words of 8 or 16 bytes."""
    types = ((one.name, one.type) for one in case.ir.function.parameters)
    return [
        (name, word) for name, type in types if isinstance(type, Array) and (word := word_of(type.element)) in (8, 16)
    ]


@pytest.mark.parametrize("arch", TARGETS)
def test_figures_are_the_cubins(compiled: Measured, arch: str) -> None:
    spilling, calm = compiled(MACHINE["few_registers_bad"], arch), compiled(MACHINE["few_registers_good"], arch)
    assert spilling.registers <= 64
    assert spilling.count("local") > 0 < spilling.spills
    assert (calm.count("local"), calm.spills, calm.local) == (0, 0, 0)
    stack = compiled(MACHINE["indexed_by_a_variable_bad"], arch)
    assert (stack.spills, stack.local) == (0, 256)
    assert stack.count("local") > 0
    tile = compiled(MACHINE["shared_memory_bad"], arch)
    assert (tile.shared, tile.barriers, tile.limits[1]) == (36864, 1, 49152)
    wide, narrow = compiled(MACHINE["wide_instructions_good"], arch), compiled(MACHINE["wide_instructions_bad"], arch)
    assert wide.count("global", 16) == 2
    assert narrow.count("global", 16) == 0
    many = compiled(MACHINE["many_registers_bad"], arch)
    assert many.registers > 128
    assert (many.blocks, many.limited_by) == (1, "registers")


# Loads from arrays, by the source: of twins the bad one has one more for each finding.
LOADS = {
    "loaded_once_bad": 2, "loaded_once_good": 1, "loaded_once_good_together": 1,
    "past_shared_memory_bad": 2, "past_shared_memory_good": 1,
    "past_an_atomic_bad": 2, "past_an_atomic_good": 1,
    "stored_before_bad": 4, "stored_before_good": 3, "stored_before_good_at_once": 3,
    "in_another_branch_bad": 2, "in_another_branch_good": 1,
    "of_the_same_array_bad": 2,
    "by_lanes_bad": 2, "by_lanes_good": 1,
    "in_functions_bad": 2,  "in_functions_good": 1,
    "over_a_barrier_bad": 2, "over_a_barrier_good": 1,
    "four_numbers_bad": 4, "four_numbers_bad_loop": 4, "one_of_several_bad": 4,
    "two_doubles_bad": 2, "met_once_bad": 4, "parts_of_a_vector_bad": 4, "with_a_hint_bad": 4,
}  # fmt: skip
WORDS = {"four_numbers_good": 16, "two_doubles_good": 16, "met_once_good": 16}


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", LOADS)
def test_loads_are_made_again_where_it_is_said(compiled: Measured, name: str, arch: str) -> None:
    assert _loads(compiled(MEMORY[name], arch)) == LOADS[name]


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", WORDS)
def test_vectors_go_as_words_where_nothing_is_said(compiled: Measured, name: str, arch: str) -> None:
    assert _loads(compiled(MEMORY[name], arch), WORDS[name]) == 1


@pytest.mark.parametrize("arch", TARGETS)
def test_loops_load_in_every_trip(compiled: Measured, arch: str) -> None:
    """Both are unrolled alike: one load of a row for each store, and one of the scale."""
    bad, good = (compiled(MEMORY[f"same_in_every_trip_{kind}"], arch) for kind in ("bad", "good"))
    assert _loads(bad) == 2 * _stores(bad)
    assert _loads(good) == _stores(good) + 1


def _loads(machine: Machine, bytes: int | None = None) -> int:
    rows = machine.accesses or ()
    return sum(n for one, n in rows if one[:2] == ("global", "load") and bytes in (None, one.bytes))


def _stores(machine: Machine) -> int:
    return sum(n for one, n in machine.accesses or () if one[:2] == ("global", "store"))


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", VECTORS)
def test_vectors_in_shared_memory_go_as_words(compiled: Measured, name: str, arch: str) -> None:
    """As the audit counts their bank conflicts, and the simulator."""
    (symbol,) = VECTORS[name].ir.function.shared
    assert isinstance(symbol.type, Array)
    element = symbol.type.element
    machine = compiled(VECTORS[name], arch)
    word = word_of(element)
    assert machine.count("shared") == machine.count("shared", word) == 2 * element.size // word


ODD = """
@kb.kernel(block_dim=64, enable_backward=False)
def behind_odd_bytes(a: kb.array(dtype=kb.vec4), out: kb.array(dtype=kb.vec4)):
    odd = kb.shared_array(7, kb.uint8)
    tile = kb.shared_array((4, 17), kb.vec4)
    small = kb.shared_array(5, kb.vec4ub)
    t = kb.thread_idx()
    if t < 7:
        odd[t] = kb.uint8(t)
    row = tile[t // 16]
    row[t % 16] = a[kb.tid()]
    kb.syncthreads()
    small[t % 5] = kb.vec4ub(odd[t % 7])
    out[kb.tid()] = tile[3 - t // 16, 15 - t % 16] + kb.vec4(float(small[0][1]))
"""


def compiled_text(folder: Path, text: str, arch: str) -> tuple[Kernel, Machine]:
    """The one kernel of a text, and what it comes to on a target."""
    (kernel,) = kernels.lower_text(folder, text)
    job = nvrtc_cases.job(arch, TARGETS[arch], emit([(kernel, "entry")]).source)
    (outcome,) = compile_jobs([job], cache=Cache(folder))
    done = nvrtc_cases.compiled(outcome)
    return kernel, measure(Compiled("m:k", arch, done.data, "entry", 64, done.spills["entry"]))


@pytest.mark.parametrize("arch", TARGETS)
def test_words_behind_odd_bytes(tmp_path: Path, arch: str) -> None:
    """Arrays in shared memory begin where their words may; a block takes what was reckoned with."""
    kernel, machine = compiled_text(tmp_path, ODD, arch)
    assert machine.count("shared", 16) == 2
    assert machine.shared <= shared_bytes(kernel.function)
    assert list(findings(machine, Span("k.py", 1))) == []


HINTS = """
@kb.kernel(block_dim=64, enable_backward=False)
def hinted(a: kb.array(dtype=float), b: kb.array(dtype=kb.float64), c: kb.array(dtype=int)):
    i = kb.tid()
    x = kb.load_readonly(a, i) + kb.load_streaming(a, i + 64)
    kb.syncthreads()
    kb.store_streaming(b, i, kb.float64(x))
    c[i] = 3
"""


@pytest.mark.parametrize("arch", TARGETS)
def test_modifiers_and_barriers_in_the_table(tmp_path: Path, arch: str) -> None:
    _, machine = compiled_text(tmp_path, HINTS, arch)
    ((*_, shown),) = machine_rows([machine])
    assert shown == "ld 4×1 readonly 4×1 streaming, st 4×1 8×1 streaming"
    assert machine.barriers == 1
    assert dict(zip(MACHINE_HEADERS, machine_rows([machine])[0], strict=True))["barriers"] == 1
