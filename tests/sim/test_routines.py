"""Trips of loops as machine code: the bytes against an assembler, the results against the same trips node by node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbuild.ir import nodes
from kbuild.ir.nodes import Kernel
from kbuild.ir.traverse import walk
from kbuild.sim import hardware
from kbuild.sim.assembler import REGISTERS, Assembler
from kbuild.sim.blocks import over
from kbuild.sim.lockstep import routines
from kbuild.sim.lockstep import run as lockstep
from kbuild.sim.lockstep.graph import graph_of
from kbuild.sim.lockstep.run import Checks, Options
from kbuild.sim.lockstep.watching import Watcher
from tests.helpers import kernels
from tests.helpers.lockstep import run_in_lockstep

has_instruction = pytest.mark.skipif(not hardware._has_instruction(), reason="another processor's machine code")

HEAD = """
@kb.kernel
def k(a: kb.array(dtype=float), b: kb.array(dtype=float), out: kb.array(dtype=float), trips: kb.array(dtype=int),
      few: int, s: float):
    i = kb.tid()
    x = a[i]
    y = b[i]
    z = 0.0
    p = a[i] * 0.5
    n = int(0)
"""
END = """
    out[i] = x
    out[i + LANES] = y
    out[i + 2 * LANES] = z
    trips[i] = n
"""


class Values(Watcher):
    """While values are watched, every trip is computed node by node, for the lanes that go on."""

    wants_values = True


def lowered(folder: Path, loop: str, lanes: int) -> Kernel:
    body = "".join(f"    {line}\n" for line in loop.splitlines())
    (kernel,) = kernels.lower_text(folder, HEAD + body + END.replace("LANES", str(lanes)))
    return kernel


def results(kernel: Kernel, a: np.ndarray, b: np.ndarray, *watchers: Watcher) -> tuple[bytes, bytes]:
    lanes = len(a)
    out, trips = np.zeros(3 * lanes, np.float32), np.zeros(lanes, np.int32)
    run_in_lockstep(kernel, over((lanes,), 32), [a, b, out, trips, 20, 0.75], Options(Checks.none(), watchers=watchers))
    out[np.isnan(out)] = np.nan  # no two ways agree on the bits of a NaN
    return out.tobytes(), trips.tobytes()


@pytest.fixture
def from_the_first(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, ...]]:
    """Routines also for few lanes, from the second trip on; which of them have been made."""
    made: list[tuple[bool, ...]] = []
    compiled = routines._compiled

    def noting(graph: Any, stored: Any, are_arrays: Any) -> Any:
        found = compiled(graph, stored, are_arrays)
        if found is not None:
            made.append(are_arrays)
        return found

    monkeypatch.setattr(routines, "_compiled", noting)
    monkeypatch.setattr(routines, "_FEWEST", routines.LANES)
    monkeypatch.setattr(routines, "_WAITS", 1)
    return made


VALUE = st.recursive(
    st.sampled_from(["x", "y", "z", "p", "s", "0.5", "-0.0", "3.0"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda e: f"({e[0]} {e[1]} {e[2]})"),
        st.tuples(inner, st.sampled_from("xyzps")).map(lambda e: f"({e[0]} / {e[1]})"),
        st.tuples(inner, inner, inner).map(lambda e: f"({e[0]} * {e[1]} - {e[2]})"),
        st.tuples(inner, inner, inner).map(lambda e: f"({e[2]} - {e[0]} * {e[1]})"),
        inner.map(lambda e: f"(-{e})"),
        inner.map(lambda e: f"({e} * {e})"),
    ),
    max_leaves=6,
)
COMPARISON = st.tuples(VALUE, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), VALUE).map(" ".join)


@st.composite
def loops(draw: st.DrawFn) -> str:
    body = draw(st.lists(st.tuples(st.sampled_from("xyz"), VALUE).map(" = ".join), min_size=1, max_size=5))
    if draw(st.booleans()):
        return "\n".join(["for again in range(few):", *(f"    {one}" for one in body)])
    test = " and ".join(["n < few", *draw(st.lists(COMPARISON, max_size=3))])
    if draw(st.booleans()):
        test += " and n < i % 17"
    return "\n".join([f"while {test}:", *(f"    {one}" for one in body), "    n = n + 1"])


def numbers(lanes: int, seed: int) -> np.ndarray:
    """Bits at random, among them those of NaNs, infinities and subnormal numbers; and numbers of everyday."""
    random = np.random.default_rng(seed)
    found = np.frombuffer(random.bytes(4 * lanes), np.float32).copy()
    everyday = random.random(lanes) < 0.7
    found[everyday] = random.normal(size=lanes).astype(np.float32)[everyday]
    found[random.random(lanes) < 0.05] = np.inf
    found[random.random(lanes) < 0.05] = np.float32(1e-42)
    return found


@has_instruction
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(loops(), st.sampled_from([8, 9, 24, 31, 53]), st.integers(0, 1 << 30))
def test_they_compute_what_the_nodes_do(
    tmp_path: Path, from_the_first: list[tuple[bool, ...]], loop: str, lanes: int, seed: int
) -> None:
    kernel, a, b = lowered(tmp_path, loop, lanes), numbers(lanes, seed), numbers(lanes, seed + 1)
    assert results(kernel, a, b) == results(kernel, a, b, Values()), loop


LOOP = """\
while n < few and x * x + y * y <= 4.0:
    w = x * x - y * y + a[i]
    y = 2.0 * x * y + p
    x = w
    n = n + 1"""
ESCAPES = LOOP.replace("a[i]", "p")


@has_instruction
def test_it_is_such_a_routine_that_runs(tmp_path: Path, from_the_first: list[tuple[bool, ...]]) -> None:
    kernel, a, b = lowered(tmp_path, ESCAPES, 100), numbers(100, 1), numbers(100, 2)
    assert results(kernel, a, b) == results(kernel, a, b, Values())
    assert from_the_first == [(True, True, True)]
    results(kernel, a, b)
    assert len(from_the_first) == 1, "made once for a kernel"


def test_small_launches_make_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise AssertionError("a routine")

    monkeypatch.setattr(routines, "_compiled", none)
    results(lowered(tmp_path, ESCAPES, 1000), numbers(1000, 1), numbers(1000, 2))


def test_nor_do_short_loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(routines, "_compiled", lambda *given: made.append(given))
    count = 4096
    zeros = np.zeros(count, np.float32)
    short = lowered(tmp_path, ESCAPES.replace("n < few", "n < 6"), count)
    results(short, zeros, zeros)
    assert made == []
    results(lowered(tmp_path, ESCAPES, count), zeros, zeros)
    assert len(made) == 1


@pytest.mark.parametrize("count", [routines._FEWEST, 5000, (1 << 17) + 3])
def test_without_routines_it_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    kernel, a, b = lowered(tmp_path, ESCAPES, count), numbers(count, 3), numbers(count, 4)
    found = results(kernel, a, b)
    monkeypatch.setattr(hardware, "_has_instruction", lambda: False)
    lockstep._trips.cache_clear()
    assert results(kernel, a, b) == found
    lockstep._trips.cache_clear()


def graph(folder: Path, loop: str) -> Any:
    kernel = lowered(folder, loop, 8)
    (found,) = [node for node in walk(kernel.function.body) if isinstance(node, (nodes.For, nodes.While))]
    return graph_of(found)


def test_what_is_left_to_the_nodes(tmp_path: Path) -> None:
    made = graph(tmp_path, ESCAPES)
    assert len(made.others) == 1
    assert len(made.conjuncts) == 1
    assert {symbol.name for symbol in made.outputs} == {"x", "y", "w"}
    assert sum(name == "fma" for name, _ in made.operations) == 3
    for body in (
        "while n < few:\n    n = n + 1",  # no floats
        "while n < few:\n    x = x + float(n)\n    n = n + 1",  # a float of what changes
        "while n < few:\n    x = x + 1.0\n    n = n + int(x)",  # and the other way round
        "while n < few:\n    x = kb.sin(x) + 1.0\n    n = n + 1",
    ):
        assert graph(tmp_path, body) is None
    beside = graph(tmp_path, "while n < few and (x < 4.0 or n < 3) and y < 2.0:\n    y = y + 1.0\n    n = n + 1")
    assert (len(beside.conjuncts), beside.truth is not None) == (2, True)


@has_instruction
def test_too_many_values_at_once_are_none(tmp_path: Path, from_the_first: list[tuple[bool, ...]]) -> None:
    """A sum of products whose first is needed last: as many registers as there are terms."""
    terms = [f"(x + {k}.5)" for k in range(20)]
    expression = terms[-1]
    for term in reversed(terms[:-1]):
        expression = f"({term} * {expression})"
    loop = f"while n < few:\n    x = {expression} / {' + '.join(terms)}\n    n = n + 1"
    kernel, a, b = lowered(tmp_path, loop, 40), numbers(40, 5), numbers(40, 6)
    assert results(kernel, a, b) == results(kernel, a, b, Values())
    assert from_the_first == []


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no assembler")
@has_instruction
def test_the_bytes_are_what_an_assembler_makes(tmp_path: Path) -> None:
    code = Assembler()
    for one in range(REGISTERS):
        other, third = (one + 7) % REGISTERS, (one + 11) % REGISTERS
        code.load(one, other)
        code.load_same(one, 200 + other)
        code.store(one, third)
        code.move(one, other)
        for op in ("add", "sub", "mul", "div", "xor", "and"):
            code.arithmetic(op, one, other, third)
        for op in ("lt", "le", "gt", "ge", "eq", "ne"):
            code.compare(op, one, other, third)
        for signs in (0, hardware.MINUS_C, hardware.MINUS_PRODUCT, hardware.MINUS_PRODUCT + hardware.MINUS_C):
            code.fma(one, other, third, signs)
        code.store_truth(one, other, 3)
    assert disassembled(code.loop(), tmp_path) == disassembled(assembled(code, tmp_path), tmp_path)


def assembled(code: Assembler, folder: Path) -> bytes:
    lines = [text for _, text in code.listing()]
    (folder / "loop.s").write_text(".intel_syntax noprefix\n" + "\n".join(lines) + "\n")
    subprocess.run(["gcc", "-c", "loop.s", "-o", "loop.o"], cwd=folder, check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "loop.o", "loop.bin"], cwd=folder, check=True)
    return (folder / "loop.bin").read_bytes()


def disassembled(code: bytes, folder: Path) -> list[str]:
    """Instructions without their addresses and bytes: an assembler may spell one in fewer."""
    (folder / "code.bin").write_bytes(code)
    command = ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "code.bin"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    found = [line.split("\t")[-1].split("#")[0].strip() for line in done.stdout.splitlines() if line.count("\t") >= 2]
    return [" ".join(one.split()[:1] if one.startswith("jb") else one.replace("+0x0]", "]").split()) for one in found]
