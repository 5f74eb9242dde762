"""Profiles: totals against an H200's counters, lines against counts by hand, the listing against a golden."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kbuild.sim.blocks import Launch, over
from kbuild.sim.lockstep.run import Checks, Options
from kbuild.sim.profile.atomics import forms, is_loop
from kbuild.sim.profile.counts import Accesses
from kbuild.sim.profile.profiler import Profiler
from kbuild.sim.profile.report import Profile
from tests.helpers import counter_profiles, golden, kernels
from tests.helpers.lockstep import run_in_lockstep
from tests.sim.counter_kernels import CASES

HERE = Path(__file__).parent
NOISY = "global store sectors, hardware"  # a counter that gives another number each time


def profiled(folder: Path, text: str, launch: Launch, *arguments: object, chunk: int = 1 << 16) -> Profile:
    """The profile of the one kernel of a text. Its first line is line 1."""
    profiler = Profiler()
    (kernel,) = kernels.lower_text(folder, text)
    run_in_lockstep(kernel, launch, arguments, Options(Checks.none(), None, [profiler], chunk))
    return profiler.result()


def lines(profile: Profile) -> dict[int, tuple[int, int, int]]:
    """Threads, warps and partial warps, by line of the text."""
    return {one.line - 2: (one.threads, one.warps, one.partial) for one in profile.lines if one.warps}


def test_totals_are_the_counters_of_an_h200():
    for score in counter_profiles.scores():
        if score.title != NOISY:
            assert (score.title, score.exact, score.mismatches) == (score.title, score.launches, [])
    assert len(CASES) == 43
    assert all(score.launches for score in counter_profiles.scores())


def test_mismatches_are_listed(pytestconfig: pytest.Config):
    golden.check(HERE / "profiles.txt", counter_profiles.table(), pytestconfig)


def test_lines_count_threads_warps_and_those_in_part(tmp_path: Path):
    profile = profiled(
        tmp_path,
        """
        @kb.func
        def twice(x: int) -> int:
            return x * 2

        @kb.kernel
        def k(out: kb.array(dtype=int)):
            i = kb.tid()
            if i % 2 == 0:
                out[i] = twice(i)
            n = 0
            while n < i % 3:
                n += 1
            for j in range(4):
                n += j
            for j in range(n):
                if j == 2:
                    break
        """,
        over((100,), 40),
        np.zeros(100, np.int32),
    )
    # Blocks of 40: warps of 32 and 8; the last block has 20 threads in one.
    assert (profile.blocks, profile.warps, profile.threads) == (3, 5, 100)
    found = lines(profile)
    assert found[7] == (100, 5, 0)
    assert found[8] == (100, 5, 0)
    assert found[9] == (50, 5, 5)
    assert found[3] == (50, 5, 5)  # the function that is called
    trips = [i % 3 for i in range(100)]
    assert found[11][0] == sum(trips) + 100  # the tests
    assert found[12][0] == sum(trips)
    assert found[13][:2] == (500, 25)
    assert found[14] == (400, 20, 0)
    assert found[15][0] == sum(min(n + 6, 2) + 1 for n in trips)  # who leaves by `break` tests no more


def test_unrolled_statements_add_up(tmp_path: Path):
    profile = profiled(
        tmp_path,
        """
        @kb.kernel
        def k(out: kb.array(dtype=int)):
            i = kb.tid()
            for j in range(3):
                out[i] = out[i] + kb.static(j)
        """,
        over((64,), 32),
        np.zeros(64, np.int32),
    )
    assert lines(profile)[5] == (192, 6, 0)
    assert profile.totals.accesses("global", "load").requests == 6


@pytest.mark.parametrize("block", [32, 40, 64, 96, 250])
def test_what_runs_together_changes_nothing(tmp_path: Path, block: int):
    text = """
    @kb.struct
    class Pair:
        a: kb.uint8
        b: kb.float64

    @kb.kernel
    def k(out: kb.array(dtype=kb.vec3), idx: kb.array(dtype=int), pairs: kb.array(dtype=Pair)):
        s = kb.shared_array(300, float)
        t = kb.thread_idx()
        i = kb.tid()
        s[t] = float(i)
        kb.syncthreads()
        if idx[i] % 3 > 0:
            out[i] = out[idx[i]] * s[t // 2]
            pairs[idx[i]] = pairs[i]
        s[idx[t] % 300] = out[7][1]
        kb.atomic_add(s, idx[i] % 300, 1.0)
    """
    count = 8 * block
    index = np.random.default_rng(3).integers(0, count, count).astype(np.int32)
    pair = np.dtype({"names": ["a", "b"], "formats": ["u1", "f8"], "offsets": [0, 8], "itemsize": 16})

    def run(chunk: int) -> object:
        arguments = np.zeros((count, 3), np.float32), index, np.zeros(count, pair)
        return profiled(tmp_path, text, over((count,), block), *arguments, chunk=chunk).totals.to_json()

    assert run(1) == run(1 << 16)


def test_composites_are_an_instruction_for_each_number(tmp_path: Path):
    profile = profiled(
        tmp_path,
        """
        @kb.kernel
        def k(out: kb.array(dtype=kb.vec3)):
            i = kb.tid()
            out[i] = out[i] + out[i]
        """,
        over((32,), 32),
        np.zeros((32, 3), np.float32),
    )
    (line,) = (one for one in profile.lines if one.memory)
    assert line.memory["global", "load"] == Accesses(192, 768, 6, 72, 24, 18, 6, 0)
    assert line.memory["global", "store"] == Accesses(96, 384, 3, 36, 12, 9, 3, 0)


VECTORS = """
@kb.kernel
def k(a: kb.array(dtype=kb.vec4), b: kb.array(dtype=kb.vec4)):
    s = kb.shared_array(32, kb.vec4)
    t = kb.thread_idx()
    s[t] = a[kb.tid()]
    kb.syncthreads()
    {}
"""


def of_vectors(folder: Path, statement: str, a: object = None) -> dict[tuple[str, str], Accesses]:
    given = np.zeros((32, 4), np.float32) if a is None else a
    profile = profiled(folder, VECTORS.format(statement), over((32,), 32), given, np.zeros((32, 4), np.float32))
    return profile.totals.memory


def test_vectors_go_in_words(tmp_path: Path):
    found = of_vectors(tmp_path, "b[t] = s[31 - t]")
    # A request of 512 bytes; in shared memory 8 lanes at a time, without conflicts.
    assert found["global", "load"] == found["global", "store"] == Accesses(32, 512, 1, 16, 16, 4, 1, 0)
    assert found["shared", "load"] == found["shared", "store"] == Accesses(32, 512, 1, 0, 0, 0, 4, 0)


def test_words_conflict_where_their_eighths_do(tmp_path: Path):
    found = of_vectors(tmp_path, "b[t] = s[t * 2 % 32]")
    assert (found["shared", "load"].wavefronts, found["shared", "load"].conflicts) == (8, 4)


def test_vectors_that_are_met_again_go_number_by_number(tmp_path: Path):
    found = of_vectors(tmp_path, "b[t] = a[kb.tid()] + s[t] + s[t]")
    assert found["global", "load"].requests == 8  # of one element twice: the function meets it again
    assert found["shared", "load"].requests == 2  # where words begin is known in shared memory


def test_parts_of_vectors_go_number_by_number(tmp_path: Path):
    found = of_vectors(tmp_path, "b[t][1] = s[t][2]")
    assert found["global", "store"].requests == found["shared", "load"].requests == 1
    assert found["global", "store"].bytes == found["shared", "load"].bytes == 128


@pytest.mark.parametrize(("first", "pitch", "requests"), [(0, 4, 1), (4, 4, 1), (1, 4, 4), (2, 8, 4), (0, 5, 4)])
def test_vectors_at_odd_addresses_go_number_by_number(tmp_path: Path, first: int, pitch: int, requests: int):
    numbers = np.zeros(300, np.float32)
    numbers = numbers[-(numbers.ctypes.data // 4) % 4 :][first : first + 32 * pitch]
    vectors = np.lib.stride_tricks.as_strided(numbers, (32, 4), (4 * pitch, 4))
    found = of_vectors(tmp_path, "b[t] = s[t] + a[t * 5 % 32]", vectors)
    assert found["global", "load"].requests == 2 * requests
    assert found["shared", "store"].requests == 1


# What NVRTC 13.0 makes of these for sm_90; u is uint64.
FORMS = """
atomic_add(o, 0, 1)                           -> increment always
atomic_add(o, 0, kb.tid())                    -> always
atomic_add(o, n, kb.tid())                    -> always
atomic_add(o, idx[0], 1)                      -> increment always
atomic_add(o, idx[kb.tid()], 1)               -> increment never
atomic_add(o, kb.tid() // 32, 1)              -> increment never
atomic_add(o, 0, -1)                          -> always
atomic_sub(o, 0, 1)                           -> always
atomic_min(o, 0, kb.tid())                    -> always
atomic_xor(o, 0, kb.tid())                    -> always
atomic_exch(o, 0, kb.tid())                   -> result never
atomic_cas(o, 0, 1, kb.tid())                 -> result never
atomic_add(f, 0, 1.0)                         -> never
atomic_add(u, 0, kb.uint64(1))                -> always
atomic_add(u, 0, kb.uint64(kb.tid()))         -> never
atomic_max(u, 0, kb.uint64(1))                -> never
r = atomic_add(o, 0, 1)                       -> result always
r = atomic_add(o, 0, n)                       -> result always
r = atomic_add(o, 0, kb.tid())                -> result in full warps
r = atomic_max(o, 0, kb.tid())                -> result never
r = atomic_or(o, 0, 5)                        -> result never
c = n if n > 3 else 2; atomic_add(o, c, 2)    -> always
c = n if kb.tid() > 3 else 2; atomic_add(o, c, 2) -> never
""".strip().splitlines()


@pytest.mark.parametrize("row", FORMS)
def test_atomics_are_collected_as_the_compiler_does(tmp_path: Path, row: str):
    text, expected = row.split(" -> ")
    body = "\n    ".join(part.replace("atomic_", "kb.atomic_").strip() for part in text.split(";"))
    arrays = "o: kb.array(dtype=int), f: kb.array(dtype=float), u: kb.array(dtype=kb.uint64), idx: kb.array(dtype=int)"
    use = "o[kb.tid() + 1] = r" if text.startswith("r =") else "return"
    (kernel,) = kernels.lower_text(tmp_path, f"@kb.kernel\ndef k({arrays}, n: int):\n    {body}\n    {use}\n")
    (form,) = forms(kernel).values()
    words = ["increment"] * form.increments + ["result"] * form.has_result + [form.together]
    assert " ".join(words) == expected.strip()


def test_loops_hide_uniform_addresses_where_threads_leave_one_by_one(tmp_path: Path):
    text = """
    @kb.func
    def count(out: kb.array(dtype=int), at: int):
        kb.atomic_add(out, at, 2)

    @kb.kernel
    def k(out: kb.array(dtype=int), n: int):
        c = 0
        while c < n:
            {test}
            c += 1
        count(out, c)
    """
    found = []
    for test in ("if c == kb.tid():\n                break", "pass"):
        (kernel,) = kernels.lower_text(tmp_path, text.format(test=test))
        found += [form.together for form in forms(kernel).values()]
    assert found == ["never", "always"]


def test_a_warp_of_32_adds_up_and_another_does_not(tmp_path: Path):
    profile = profiled(
        tmp_path,
        """
        @kb.kernel
        def k(out: kb.array(dtype=int)):
            i = kb.tid()
            out[i + 1] = kb.atomic_add(out, 0, i)
        """,
        over((40,), 40),
        np.zeros(41, np.int32),
    )
    found = profile.totals.accesses("global", "atomic")
    assert (found.requests, found.sectors, found.threads) == (2, 1 + 8, 40)


def test_loops_of_compare_and_swap():
    from kbuild.ir.types import SCALARS

    def loops(name: str, space: str) -> set[str]:
        return {spelling for spelling, type in SCALARS.items() if is_loop(name, type, space)} - {"bool"}

    small = {"int8", "uint8", "int16", "uint16", "float16"}
    assert loops("atomic_add", "global") == small
    assert loops("atomic_add", "shared") == small | {"int64", "uint64", "float32", "float64"}
    assert loops("atomic_max", "global") == small | {"float32", "float64"}
    assert loops("atomic_exch", "shared") == small | {"float64"}
    assert loops("atomic_cas", "shared") == small


def test_the_listing(tmp_path: Path, pytestconfig: pytest.Config):
    profile = profiled(
        tmp_path,
        """
        @kb.func
        def far(x: kb.vec3) -> bool:
            return kb.dot(x, x) > 100.0

        @kb.kernel
        def survey(points: kb.array(dtype=kb.vec3), order: kb.array(dtype=int), count: kb.array(dtype=int),
                   sums: kb.array(dtype=float)):
            tile = kb.shared_array((32, 32), float)
            t = kb.thread_idx()
            p = points[order[kb.tid()]]
            if far(p):
                kb.atomic_add(count, 0, 1)
                return_early = True
            for j in range(4):
                tile[t % 32, j] = p[0] * float(j)
            kb.syncwarp()
            total = tile[0, t % 32] + tile[t % 32, 1]
            kb.atomic_add(sums, t, total)
        """,
        over((256,), 64),
        np.arange(256 * 3, dtype=np.float32).reshape(256, 3) % 37,
        np.random.default_rng(1).permutation(256).astype(np.int32),
        np.zeros(1, np.int32),
        np.zeros(64, np.float32),
    )
    path = profile.functions[0].path  # of the lines the first may be one of kbuild's own library, by where it lies
    text = str(profile).replace(path, "survey.py").replace(Path(path).stem, "survey")
    golden.check(HERE / "profile_listing.txt", text, pytestconfig)
    document = json.loads(json.dumps(profile.to_json()))
    assert document["totals"]["memory"]["global"]["load"]["requests"] == 8 * 4
    assert len(document["lines"]) == len(profile.lines)
