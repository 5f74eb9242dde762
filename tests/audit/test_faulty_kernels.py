"""Kernels with a mistake that an analysis could overlook: none of them is ever proved, with the solver or without."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.audit import solver
from kbuild.audit.findings import Verdict
from kbuild.audit.kernel import Options, audit
from kbuild.audit.launches import Launch
from tests.audit.score import PATIENT
from tests.helpers import kernels

BLOCK = (64, 1, 1)
# What goes wrong: (the check, whether the solver finds it, the kernel).
FAULTY: dict[str, tuple[str, bool, str]] = {
    "a condition that floats decide is each thread's own": (
        "barriers",
        True,
        """
        @kb.kernel(block_dim=64)
        def kernel(data: kb.array(dtype=float), out: kb.array(dtype=int)):
            if int(data[kb.tid()]) > 3:
                kb.syncthreads()
            out[kb.tid()] = 1
        """,
    ),
    "an index that floats give is each thread's own": (
        "global-races",
        True,
        """
        @kb.kernel
        def kernel(data: kb.array(dtype=float), out: kb.array(dtype=int)):
            j = int(data[kb.tid()])
            if j >= 0 and j + 1 < out.shape[0]:
                out[j] = out[j + 1]
        """,
    ),
    "what all threads read is disputed": (
        "barriers",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int)):
            told = kb.shared_array(1, int)
            t = kb.thread_idx()
            if t == 0:
                told[0] = 0
            kb.syncthreads()
            if t == 40:
                told[0] = 1
            if told[0] == 0:
                kb.syncthreads()
            out[kb.tid()] = t
        """,
    ),
    "what a loop takes from one trip to the next is disputed": (
        "barriers",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int), n: int):
            left = kb.shared_array(1, int)
            t = kb.thread_idx()
            if t == 0:
                left[0] = n
            kb.syncthreads()
            again = left[0]
            while again > 0:
                if t == 0:
                    left[0] = left[0] - 1
                again = left[0]
                kb.syncthreads()
            out[kb.tid()] = t
        """,
    ),
    "a search that ends with a break may have found nothing": (
        "bounds",
        False,
        """
        @kb.kernel
        def kernel(data: kb.array(dtype=float), out: kb.array(dtype=float)):
            found = int(-1)
            for k in range(data.shape[0]):
                if data[k] > 1.0:
                    found = k
                    break
            out[kb.tid()] = data[found]
        """,
    ),
    "a search may go on past the end": (
        "bounds",
        False,
        """
        @kb.kernel
        def kernel(data: kb.array(dtype=float), out: kb.array(dtype=float)):
            i = kb.tid()
            found = int(0)
            while found < data.shape[0]:
                if data[found] > 1.0:
                    break
                found += 1
            if i < out.shape[0]:
                out[i] = data[found]
        """,
    ),
    "a mask of others": (
        "barriers",
        True,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int)):
            lane = kb.lane_id()
            mask = kb.ballot(lane < 16)
            if lane < 17:
                kb.syncwarp(mask)
            out[kb.tid()] = lane
        """,
    ),
    "a mask of those for whom an array has something else": (
        "barriers",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(data: kb.array(dtype=float), out: kb.array(dtype=int)):
            i = kb.tid()
            mask = kb.ballot(data[i] > 1.0)
            if data[i] > 2.0:
                kb.syncwarp(mask)
            out[i] = 1
        """,
    ),
    "an acquire of what nobody releases": (
        "global-races",
        True,
        """
        @kb.kernel
        def kernel(data: kb.array(dtype=int), flag: kb.array(dtype=int), out: kb.array(dtype=int)):
            if kb.tid() == 0:
                data[0] = 1
                kb.atomic_exch(flag, 0, 1)
            elif kb.atomic_add(flag, 0, 0, order="acquire") == 1:
                out[kb.tid()] = data[0]
        """,
    ),
    "in the first trip of a loop": (
        "bounds",
        True,
        """
        @kb.kernel
        def kernel(seeds: kb.array(dtype=int), out: kb.array(dtype=float)):
            i = kb.tid()
            v = kb.vec3(1.0, 2.0, 3.0)
            if i < out.shape[0]:
                x = i % 4
                while x >= 0:
                    out[i] = v[x]
                    x = seeds[x] if x < seeds.shape[0] else -1
        """,
    ),
    "two counters give the same number": (
        "global-races",
        False,
        """
        @kb.kernel
        def kernel(bins: kb.array(dtype=int), counts: kb.array(dtype=int), out: kb.array(dtype=int)):
            b = bins[kb.tid()]
            if b >= 0 and b < counts.shape[0]:
                place = kb.atomic_add(counts, b, 1)
                if place >= 0 and place < out.shape[0]:
                    out[place] = kb.tid()
        """,
    ),
    "each block has its own counter": (
        "global-races",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int)):
            count = kb.shared_array(1, int)
            if kb.thread_idx() == 0:
                count[0] = 0
            kb.syncthreads()
            place = kb.atomic_add(count, 0, 1)
            if place >= 0 and place < out.shape[0]:
                out[place] = kb.tid()
        """,
    ),
    "a counter goes down as well": (
        "global-races",
        False,
        """
        @kb.kernel
        def kernel(count: kb.array(dtype=int), out: kb.array(dtype=int)):
            if kb.tid() % 2 == 0:
                kb.atomic_sub(count, 0, 1)
            place = kb.atomic_add(count, 0, 1)
            if place >= 0 and place < out.shape[0]:
                out[place] = kb.tid()
        """,
    ),
    "a quotient is small on one path alone": (
        "bounds",
        True,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int)):
            tile = kb.shared_array(4, int)
            t = kb.thread_idx()
            if t < 16:
                kb.atomic_add(tile, t // 4, 1)
            kb.syncthreads()
            kb.atomic_add(tile, t // 4, 1)
        """,
    ),
    "a quotient is looked at on one path alone": (
        "bounds",
        True,
        """
        @kb.kernel
        def kernel(out: kb.array(dtype=int), m: int):
            a = kb.tid() - 5
            q = -7
            if a >= 0:
                q = a // m
            if q < out.shape[0]:
                kb.atomic_add(out, q, 1)
        """,
    ),
    "an element further than there are threads": (
        "bounds",
        True,
        """
        @kb.kernel
        def kernel(a: kb.array(dtype=float), out: kb.array(dtype=float)):
            i = kb.tid()
            out[i] = a[i] + a[i + 1]
        """,
    ),
    "where rows begin, and three elements behind": (
        "bounds",
        False,
        """
        @kb.kernel
        def kernel(starts: kb.array(dtype=int), a: kb.array(dtype=float), out: kb.array(dtype=float)):
            i = kb.tid()
            at = starts[i]
            if a[at] > 0.0:
                at = at + 3
            out[i] = a[at + 1]
        """,
    ),
    "as far as an array says": (
        "bounds",
        False,
        """
        @kb.kernel
        def kernel(count: kb.array(dtype=int), a: kb.array(dtype=float), out: kb.array(dtype=float)):
            i = kb.tid()
            total = float(0.0)
            for j in range(i, i + count[i]):
                total += a[j]
            out[i] = total
        """,
    ),
    "an index that a function of floats gives": (
        "bounds",
        False,
        """
        @kb.kernel
        def kernel(a: kb.array(dtype=float), out: kb.array(dtype=float)):
            i = kb.tid()
            out[i] = a[int(kb.sqrt(float(i)))]
        """,
    ),
    "rows that begin where an array says are updated": (
        "global-races",
        False,
        """
        @kb.kernel
        def kernel(starts: kb.array(dtype=int), out: kb.array(dtype=float)):
            row, column = kb.tid()
            out[starts[row] + column] /= 2.0
        """,
    ),
    "as far as a number of elements, and one further": (
        "bounds",
        True,
        """
        @kb.kernel
        def kernel(which: kb.array(dtype=int), own: kb.array(dtype=int), count: int, a: kb.array(dtype=float)):
            i = kb.tid()
            k = which[i]
            if own[i] == which[i] and k >= 0 and k <= count:
                a[k] = 1.0
        """,
    ),
    "who comes there two arrays say together": (
        "global-races",
        False,
        """
        @kb.kernel
        def kernel(names: kb.array(dtype=int), wanted: kb.array(dtype=int), out: kb.array(dtype=float)):
            i, j = kb.tid()
            if names[i] == wanted[j]:
                out[j] = float(i)
        """,
    ),
    "two components of one vector need not be the same": (
        "bounds",
        False,
        """
        @kb.kernel
        def kernel(pairs: kb.array(dtype=kb.vec2i), which: kb.array(dtype=int), out: kb.array(dtype=int)):
            i = kb.tid()
            if i < which.shape[0] and i < pairs.shape[0]:
                a = which[i] & 1
                if pairs[i][a] != pairs[i][1 - a]:
                    out[which[i]] = 1
        """,
    ),
    "a row of a matrix and an element of it": (
        "global-races",
        True,
        """
        @kb.kernel
        def kernel(m: kb.array(dtype=kb.mat22)):
            t = kb.tid() % 2
            if kb.tid() < 2:
                m[0][t, 1] = 1.0
            elif kb.tid() < 4:
                m[0][t] = kb.vec2(0.0, 2.0)
        """,
    ),
    "elements are stored where data says so": (
        "initialization",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(data: kb.array(dtype=float), out: kb.array(dtype=float)):
            tile = kb.shared_array(64, float)
            t = kb.thread_idx()
            if data[kb.tid()] > 0.0:
                tile[t] = 1.0
            kb.syncthreads()
            out[kb.tid()] = tile[63 - t]
        """,
    ),
    "the last of several reads on one line": (
        "initialization",
        True,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int)):
            tile = kb.shared_array(128, int)
            t = kb.thread_idx()
            tile[t] = t
            kb.syncthreads()
            total = int(0)
            for k in range(3):
                total += tile[t + k * 32]
            out[kb.tid()] = total
        """,
    ),
    "a trip between others that do nothing": (
        "initialization",
        True,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int), n: int):
            tile = kb.shared_array(128, int)
            t = kb.thread_idx()
            tile[t] = t
            kb.syncthreads()
            for k in range(n):
                if k % 3 == 2 and k < 64:
                    kb.atomic_add(out, t, tile[t + k])
        """,
    ),
    "what is each thread's own takes many trips to arrive": (
        "barriers",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int), n: int):
            a, b, c, d, e, f = int(0), int(0), int(0), int(0), int(0), int(0)
            for trip in range(n):
                if a > 0:
                    kb.syncthreads()
                a = b
                b = c
                c = d
                d = e
                e = f
                f = kb.thread_idx()
            out[kb.tid()] = a
        """,
    ),
    "trips that pass no barrier, two of them apart": (
        "shared-races",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int), n: int):
            tile = kb.shared_array(256, int)
            t = kb.thread_idx()
            for q in range(n):
                if q % 4 == 0:
                    kb.syncthreads()
                tile[t + (q % 2) * 128 + ((q % 4) // 2) * 32] = q
            out[kb.tid()] = 1
        """,
    ),
    "warps that are in different trips": (
        "shared-races",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int), n: int):
            tile = kb.shared_array(256, int)
            t = kb.thread_idx()
            value = t
            for q in range(n):
                value = kb.shfl(value, 0)
                tile[t + (q % 2) * 128 + ((q % 4) // 2) * 32] = q
            out[kb.tid()] = value
        """,
    ),
    "a number of data that are counted is no multiple of the trips": (
        "bounds",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(data: kb.array(dtype=float), out: kb.array(dtype=int), n: int):
            tile = kb.shared_array(4, int)
            count = int(0)
            for k in range(n):
                if k < data.shape[0] and data[k] > 0.0:
                    count += 1
                if k == 4 and count > 0 and count < 4:
                    kb.atomic_add(tile, k, 1)
        """,
    ),
    "what others have counted is another number in each trip": (
        "bounds",
        False,
        """
        @kb.kernel(block_dim=64)
        def kernel(count: kb.array(dtype=int), out: kb.array(dtype=int), n: int):
            tile = kb.shared_array(4, int)
            total = int(0)
            for k in range(n):
                total += kb.atomic_add(count, 0, 1)
                if k == 4 and total == 1:
                    kb.atomic_add(tile, k, 1)
        """,
    ),
}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver's own count of its work ends a query, on slow machines, too."""
    monkeypatch.setattr(solver, "FIRST_TRY", 60.0)


def verdict(folder: Path, text: str, check: str, use_solver: bool) -> Verdict:
    _, declared = kernels.load(kernels.write(folder, text))
    lowered, diagnostics = kernels.diagnose(declared, asserts=True)
    assert lowered, diagnostics
    result = audit(lowered[0], Options(block=BLOCK, use_solver=use_solver, time_limit=PATIENT))
    return next(one.verdict for one in result.checks if one.check == check)


@pytest.mark.parametrize("what", FAULTY)
def test_a_faulty_kernel_is_not_proved(what: str, tmp_path: Path) -> None:
    check, is_found, text = FAULTY[what]
    assert verdict(tmp_path, text, check, True) == ("found" if is_found else "unknown")
    assert verdict(tmp_path, text, check, False) in ("found", "unknown")


def test_nothing_is_asked_where_there_is_no_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "is_installed", lambda: False)
    check, _, text = FAULTY["an index that floats give is each thread's own"]
    _, declared = kernels.load(kernels.write(tmp_path, text))
    lowered, _ = kernels.diagnose(declared, asserts=True)
    result = audit(lowered[0], Options())
    assert next(one.verdict for one in result.checks if one.check == check) == "unknown"
    (said,) = {one.reason for one in result.findings if one.check == check}
    assert said == "intervals do not decide it, and no solver is installed"


RIGHT: dict[str, tuple[str, str]] = {
    "rows of a width that the launch gives": (
        "global-races",
        """
        @kb.kernel
        def kernel(out: kb.array(dtype=float), width: int):
            i, j = kb.tid()
            out[i * width + j] = 1.0
        """,
    ),
    "what an element is compared with says nothing of its array": (
        "bounds",
        """
        @kb.kernel
        def kernel(counts: kb.array(dtype=int), out: kb.array(dtype=float)):
            i = kb.tid()
            if 3 < counts[i]:
                out[i] = 1.0
        """,
    ),
    "threads for all elements but the first": (
        "bounds",
        """
        @kb.kernel
        def kernel(a: kb.array(dtype=float), out: kb.array(dtype=float)):
            i = kb.tid() + 1
            out[i] = a[i]
        """,
    ),
    "rows begin where integers say, one for each thread and one more": (
        "bounds",
        """
        @kb.kernel
        def kernel(starts: kb.array(dtype=int), out: kb.array(dtype=int)):
            i = kb.tid()
            out[i] = starts[i + 1] - starts[i]
        """,
    ),
    "an array that may be empty is as large as it must be": (
        "bounds",
        """
        @kb.kernel
        def kernel(mask: kb.array(dtype=bool), out: kb.array(dtype=float)):
            i = kb.tid()
            if mask.shape[0] > 0 and not mask[i]:
                return
            out[i] = 1.0
        """,
    ),
    "each thread has a component of its own": (
        "global-races",
        """
        @kb.kernel
        def kernel(points: kb.array(dtype=kb.vec3)):
            i = kb.tid()
            if i < 3:
                points[0][i] = float(i)
        """,
    ),
    "who asks for no thread means one": (
        "global-races",
        """
        @kb.kernel
        def kernel(out: kb.array(dtype=int), n: int):
            out[0] = 0
            for k in range(n):
                out[0] = out[0] + k
        """,
    ),
    "what is true of a variable in a loop is no condition": (
        "barriers",
        """
        @kb.kernel(block_dim=64)
        def kernel(data: kb.array(dtype=float), out: kb.array(dtype=int), n: int):
            count = int(0)
            for k in range(n):
                if k < data.shape[0] and data[k] > float(kb.thread_idx()):
                    count += 1
            kb.syncthreads()
            out[kb.tid()] = count
        """,
    ),
    "what all threads read picks one of them in each trip": (
        "global-races",
        """
        @kb.kernel(block_dim=64)
        def kernel(out: kb.array(dtype=int), n: int):
            turn = kb.shared_array(1, int)
            t = kb.thread_idx()
            for k in range(n):
                if t == 0:
                    turn[0] = k
                kb.syncthreads()
                if t == turn[0]:
                    out[kb.block_idx()] = t
                kb.syncthreads()
        """,
    ),
    "what all threads read decides for all": (
        "barriers",
        """
        @kb.kernel(block_dim=64)
        def kernel(data: kb.array(dtype=int), out: kb.array(dtype=int)):
            told = kb.shared_array(1, int)
            t = kb.thread_idx()
            if t == 0:
                told[0] = data[0]
            kb.syncthreads()
            if told[0] > 0:
                kb.syncthreads()
            if kb.block_max(data[kb.tid()]) > 3:
                kb.syncthreads()
            out[kb.tid()] = t
        """,
    ),
    "behind a search that ends with a break": (
        "bounds",
        """
        @kb.kernel
        def kernel(data: kb.array(dtype=float), out: kb.array(dtype=float)):
            i = kb.tid()
            found = int(-1)
            for k in range(data.shape[0]):
                if data[k] > 1.0:
                    found = k
                    break
            if i < out.shape[0] and found >= 0:
                out[i] = data[found]
        """,
    ),
    "what is asserted is no condition": (
        "barriers",
        """
        @kb.kernel(block_dim=64)
        def kernel(data: kb.array(dtype=int), out: kb.array(dtype=int)):
            assert data[kb.tid()] >= 0
            kb.syncthreads()
            out[kb.tid()] = 1
        """,
    ),
}


@pytest.mark.parametrize("what", RIGHT)
def test_a_kernel_that_is_right_is_proved(what: str, tmp_path: Path) -> None:
    check, text = RIGHT[what]
    assert verdict(tmp_path, text, check, True) == verdict(tmp_path, text, check, False) == "proved"


def test_one_thread_is_an_assumption_that_a_launch_may_break(tmp_path: Path) -> None:
    _, text = RIGHT["who asks for no thread means one"]
    _, declared = kernels.load(kernels.write(tmp_path, text))
    lowered, _ = kernels.diagnose(declared)
    assert "a launch of one thread: the kernel does not ask which one it is" in audit(lowered[0], Options()).assumptions
    result = audit(lowered[0], Options(), Launch(dim=(2,)))
    assert next(one.verdict for one in result.checks if one.check == "global-races") == "found"
