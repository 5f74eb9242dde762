"""Races in lockstep: every kind is found, in arrays whose elements belong to one thread each and in others.

`test_as_the_interpreter` holds random kernels against the interpreter, which runs thread after thread and remembers
everybody.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from kbuild.ir.stored import ANY, stored_parameters
from kbuild.ir.types import INT32
from kbuild.sim.blocks import over
from kbuild.sim.lockstep.races import Race
from kbuild.sim.lockstep.run import Checks, Options
from kbuild.sim.threads import run
from kbuild.sim.values import Conflict, Memory
from tests.helpers import kernels
from tests.helpers.lockstep import run_in_lockstep

THREADS = 64
FIRST = 6  # line of a body


def found(folder: Path, body: str, block: int = 8, chunk: int = 1 << 16, threads: int = THREADS) -> Race | None:
    """The race of a kernel on two arrays of int, of twice and thrice as many elements as threads."""
    text = "\n".join(f"    {line}" for line in body.splitlines())
    head = "import kbuild as kb\n\n@kb.kernel\ndef k(a: kb.array(dtype=int), v: kb.array(dtype=kb.vec3)):\n"
    (kernel,) = kernels.lower_text(folder, head + text + "\n")
    arrays = np.zeros(2 * threads, np.int32), np.zeros((threads, 3), np.float32)
    try:
        run_in_lockstep(kernel, over((threads,), block), arrays, Options(Checks(), chunk=chunk))
    except Race as race:
        return race
    return None


KINDS = {
    "write and write": ("a[i] = i", "a[i + 1] = i", "writes", "writes"),
    "write and read": ("a[i] = i", "x += a[i + 1]", "writes", "reads"),
    "read and write": ("x += a[i]", "a[i + 1] = i + 1", "reads", "writes"),
    "write and atomic": ("a[i] = i", "a[i + 1] += 1", "writes", "changes (atomic)"),
    "atomic and write": ("a[i] += 1", "a[i + 1] = -5", "changes (atomic)", "writes"),
}


@pytest.mark.parametrize("chunk", [8, 1 << 16])
@pytest.mark.parametrize("shift", ["1", "8", "(i * i) % 7 + 1"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(tmp_path: Path, kind: str, shift: str, chunk: int) -> None:
    first, second, one, two = KINDS[kind]
    second = second.replace("i + 1", f"i + {shift}", 1)
    race = found(tmp_path, f"i = kb.tid()\nx = int(0)\n{first}\n{second}\na[100] += x", chunk=chunk)
    assert race is not None
    # With as many threads at a time as a block has, later blocks come to what earlier ones have done in the end.
    words = {f"{one} a" in race.reason, f"{two} it" in race.reason}
    assert words == {True} or chunk == 8, race.reason
    if chunk > THREADS:
        assert race.other_span is not None
        assert race.other_span.line == FIRST + 2
        assert f"(line {FIRST + 3})" in race.reason


def test_one_element_of_all(tmp_path: Path) -> None:
    race = found(tmp_path, "i = kb.tid()\na[7] = i")
    assert race is not None
    assert "thread (63,) writes a[7] (line 7), and thread (0,) writes it" in race.reason


def test_equal_values_are_no_conflict(tmp_path: Path) -> None:
    assert found(tmp_path, "i = kb.tid()\na[70] = 0\na[i] = 0\na[i + 64] = 0\na[i // 2 + 64] = 0") is None


def test_parts_of_vectors(tmp_path: Path) -> None:
    assert found(tmp_path, "i = kb.tid()\nv[i] = v[i] * 2.0\nv[i][1] = 3.0\nv[i][2] = v[i][0]") is None
    race = found(tmp_path, "i = kb.tid()\nv[i] = v[i] * 2.0\nv[63 - i][1] = 3.0")
    assert race is not None
    assert "v[63] " in race.reason
    assert race.other_thread == (63,)
    assert race.thread == (0,)


def test_threads_in_part_keep_to_their_elements(tmp_path: Path) -> None:
    body = """\
i = kb.tid()
while a[i] < i % 5:
    a[i] = a[i] + 1
    if i % 3 == 0:
        a[i + 64] = a[i]
a[i + {}] = a[i + {}] + 7"""
    assert found(tmp_path, body.format(64, 64)) is None
    assert found(tmp_path, body.format(63, 64)) is not None


SHARED = """\
tile = kb.shared_array(8, int)
t = kb.thread_idx()
tile[t] = t
{}
tile[7 - t] = tile[7 - t] + 10
kb.syncthreads()
a[kb.tid()] = tile[t]"""


def test_a_barrier_settles_it(tmp_path: Path) -> None:
    for chunk in (8, 16, 1 << 16):
        assert found(tmp_path, SHARED.format("kb.syncthreads()"), chunk=chunk) is None
        race = found(tmp_path, SHARED.format(""), chunk=chunk)
        assert race is not None
        assert "tile[7] (shared memory)" in race.reason


def test_barriers_of_some_blocks(tmp_path: Path) -> None:
    body = SHARED.format("if kb.block_idx() {} 3:\n    kb.syncthreads()")
    race = found(tmp_path, body.format("!="))
    assert race is not None
    assert race.thread[0] // 8 == 3
    assert found(tmp_path, body.format(">=")) is not None
    assert found(tmp_path, body.format("< 100 +")) is None


def test_barriers_order_no_other_blocks(tmp_path: Path) -> None:
    body = "i = kb.tid()\na[i] = i\nkb.syncthreads()\na[(i + {}) % 8 + i // 8 * 8] = -1"
    assert found(tmp_path, body.format(1)) is None
    race = found(tmp_path, "i = kb.tid()\na[i] = i\nkb.syncthreads()\na[i + 1] = -1")
    assert race is not None
    assert race.thread[0] // 8 != race.other_thread[0] // 8


def test_warps(tmp_path: Path) -> None:
    body = "i = kb.tid()\na[i] = i\nkb.syncwarp()\na[i {}] = -1"
    assert found(tmp_path, body.format("^ 1"), block=64) is None
    assert found(tmp_path, body.format("^ 32"), block=64) is not None


# ---- which arrays are stored to


def stored(folder: Path, body: str, head: str = "") -> set[str]:
    parameters = "a: kb.array(dtype=int), b: kb.array2d(dtype=int), c: kb.array(dtype=int)"
    text = "\n".join(f"    {line}" for line in body.splitlines())
    (kernel,) = kernels.lower_text(folder, f"import kbuild as kb\n\n{head}\n@kb.kernel\ndef k({parameters}):\n{text}\n")
    return set(stored_parameters(kernel.function))


def test_what_is_stored_to(tmp_path: Path) -> None:
    for number, (body, expected) in enumerate(
        [
            ("a[0] = b[0, 1] + c[2]", {"a"}),
            ("a[b[0, 0]] += c[2]", set()),
            ("row = b[a[1]]\nrow[0] = 1", {"b"}),
            ("row = b[1]\nfor i in range(3):\n    row[0] = 1\n    row = b[i]", {"b"}),
        ]
    ):
        (folder := tmp_path / str(number)).mkdir()
        assert stored(folder, body) == expected, body


def test_what_functions_store_to(tmp_path: Path) -> None:
    head = """\
@kb.func
def inner(x: kb.array(dtype=int), y: kb.array(dtype=int)):
    x[0] = y[0]

@kb.func
def outer(x: kb.array(dtype=int), y: kb.array2d(dtype=int)):
    inner(y[0], x)
"""
    assert stored(tmp_path, "outer(a, b)\nb[0, 0] += c[0]", head) == {"b"}


def test_arrays_in_memory_may_be_any(tmp_path: Path) -> None:
    text = """\
import kbuild as kb

@kb.struct
class Holder:
    data: kb.array(dtype=int)

@kb.kernel
def k(a: kb.array(dtype=Holder), b: kb.array(dtype=int), c: Holder):
    a[0].data[1] = b[0]

@kb.kernel
def other(a: kb.array(dtype=Holder), b: kb.array(dtype=int), c: Holder):
    c.data[1] = b[0]
"""
    k, other = kernels.lower_text(tmp_path, text)
    assert ANY in stored_parameters(k.function)
    assert stored_parameters(other.function) == {"c"}


# ---- beside the interpreter

_INDICES = ("i", "i", "i", "{n} - i", "i + 1", "i // 2", "i % 3", "2", "i ^ 1", "2 * i", "i + {n}", "(i * 7) % 11")
_CONDITIONS = ("", "", "", "if i % 2 == 0:", "if i < 5:", "if i == 3:", "if i // 4 == 1:")


def _random_body(random: random.Random, threads: int) -> str:
    lines = ["i = kb.tid()", "x = int(0)"]
    plain = random.choice(("read", "atomic"))  # what is read and changed by atomics is a conflict for one of the two
    kinds = random.choice((("write", plain), ("write", plain, "sync"), ("write", plain, plain, plain, "sync")))
    indices = random.sample(_INDICES, random.randint(1, 3))
    for number in range(random.randint(2, 6)):
        kind, condition = random.choice(kinds), random.choice(_CONDITIONS)
        if kind == "sync":
            lines.append("kb.syncthreads()")
            continue
        index = random.choice(indices).format(n=threads)
        line = {
            "write": f"a[{index}] = 1000 * (i + 1) + {number}",
            "read": f"x += a[{index}]",
            "atomic": f"a[{index}] += 1",
        }[kind]
        lines += [condition, f"    {line}"] if condition else [line]
    return "\n".join(f"    {line}" for line in [*lines, "out[i] = x", "kb.syncthreads()"])


@pytest.mark.parametrize("seed", range(8))
def test_as_the_interpreter(tmp_path: Path, seed: int) -> None:
    numbers = random.Random(seed)
    threads, races = 16, 0
    bodies = [_random_body(numbers, threads) for _ in range(40)]
    head = "@kb.kernel\ndef k{}(a: kb.array(dtype=int), out: kb.array(dtype=int)):\n{}\n"
    text = "import kbuild as kb\n\n" + "\n".join(head.format(n, body) for n, body in enumerate(bodies))
    for kernel, body in zip(kernels.lower_text(tmp_path, text), bodies, strict=True):
        block = numbers.choice((4, 8, 16))
        memories = [Memory(INT32, (64,), [0] * 64) for _ in range(2)]
        expected = False
        try:
            run(kernel, (threads,), memories, block_dim=block)
        except Conflict:
            expected = True
        races += expected
        for chunk in (block, 1 << 16):
            arrays = [np.zeros(64, np.int32), np.zeros(64, np.int32)]
            try:
                run_in_lockstep(kernel, over((threads,), block), arrays, Options(chunk=chunk))
                is_found = False
            except Race:
                is_found = True
            assert is_found == expected, f"block {block}, chunk {chunk}\n{body}"
            if not expected and "%" not in body:
                for array, memory in zip(arrays, memories, strict=True):
                    np.testing.assert_array_equal(array, memory.data)
    assert 5 < races < 35


_SOME = ("if i == 0:", "if i == 1:", "if i == 2:", "if i == 40:", "if i == 41:", "if i == 70:", "if i // 32 == 1:")


def _random_warps(random: random.Random) -> str:
    lines = ["i = kb.tid()", "x = int(0)"]
    index = random.choice(("2", "2", "2", "i // 32", "i % 32"))
    plain = random.choice((f"x += a[{index}]", f"a[{index}] += 1"))
    barriers = random.choice((["kb.syncwarp()"], ["kb.syncwarp()", "kb.syncthreads()"]))
    for _ in range(random.randint(1, 3)):
        for _ in range(random.randint(1, 4)):
            lines += [random.choice(_SOME), f"    {plain}"]
        lines.append(random.choice(barriers))
    lines += [random.choice(_SOME[:5]), f"    a[{index}] = 1000 * (i + 1)"]
    return "\n".join(f"    {line}" for line in [*lines, "out[i] = x", "kb.syncthreads()"])


@pytest.mark.parametrize("seed", range(4))
def test_warps_as_the_interpreter(tmp_path: Path, seed: int) -> None:
    """Readers of the writer's warp, of another one and of another block, in any order."""
    numbers = random.Random(seed)
    threads, block, races = 128, 64, 0
    bodies = [_random_warps(numbers) for _ in range(40)]
    head = "@kb.kernel\ndef k{}(a: kb.array(dtype=int), out: kb.array(dtype=int)):\n{}\n"
    text = "import kbuild as kb\n\n" + "\n".join(head.format(n, body) for n, body in enumerate(bodies))
    for kernel, body in zip(kernels.lower_text(tmp_path, text), bodies, strict=True):
        expected = False
        try:
            run(kernel, (threads,), [Memory(INT32, (threads,), [0] * threads) for _ in range(2)], block_dim=block)
        except Conflict:
            expected = True
        races += expected
        for chunk in (block, 1 << 16):
            arrays = [np.zeros(threads, np.int32), np.zeros(threads, np.int32)]
            try:
                run_in_lockstep(kernel, over((threads,), block), arrays, Options(chunk=chunk))
                is_found = False
            except Race:
                is_found = True
            assert is_found == expected, f"chunk {chunk}\n{body}"
    assert 5 < races < 40
