"""Lanes that leave loops, at once or while others go on beside them: each ends with what it had when it left."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kbuild.sim.blocks import over
from kbuild.sim.lockstep.run import Checks, Options
from kbuild.sim.lockstep.statements import Deadlock
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.looking.changes import Watch
from tests.helpers import kernels
from tests.helpers.both_ways import BothWays, zeros
from tests.helpers.lockstep import run_in_lockstep

HEAD = "import kbuild as kb\n\n@kb.kernel\ndef k(a: kb.array(dtype=int), b: kb.array(dtype=int)):\n"
BODIES = {
    "few leave at a time": """
    i = kb.tid()
    n = int(0)
    w = int(7)
    while n < i:
        w = n * n + i
        n = n + 1
    a[i] = n * 1000 + w
    b[i] = i""",
    "assigned by some": """
    i = kb.tid()
    n = int(0)
    w = int(7)
    v = int(0)
    while n < i % 13:
        if n > 3 and i % 5 != 0:
            w = n
        if n == 6:
            break
        n = n + 1
        if i % 3 == 0:
            continue
        v = v + w
    a[i] = v
    b[i] = w""",
    "a count of its own": """
    i = kb.tid()
    s = int(0)
    for j in range(i // 2, i, 1 + i % 4):
        s = s + j
        if s > 400:
            break
    a[i] = s
    for j in range(9):
        if j == i % 9:
            break
        s = s - j
    b[i] = s""",
    "one inside the other": """
    i = kb.tid()
    s = int(0)
    n = int(0)
    while n < i % 17:
        m = n
        while m > 0 and s % 11 != 10:
            m = m - 1
            s = s + m
        n = n + 1
        if s > 90:
            a[i] = n
    b[i] = s""",
    "returns": """
    i = kb.tid()
    n = int(0)
    while n < i % 17:
        n = n + 1
        if n == 9:
            b[i] = n
            return
    a[i] = n""",
}


@pytest.mark.parametrize("name", BODIES)
def test_as_the_other_ways(tmp_path: Path, name: str) -> None:
    run = BothWays(tmp_path, HEAD + BODIES[name].lstrip("\n"))
    run(200, zeros(200, kind=np.int32), zeros(200, kind=np.int32))


class _Statements(Watcher):
    wants_statements = True


class _Values(Watcher):
    wants_values = True


class _Variables(Watcher):
    wants_variables = True


class _Calls(Watcher):
    wants_calls = True


@pytest.mark.parametrize("watcher", [_Statements, _Values, _Variables, _Calls])
@pytest.mark.parametrize("name", BODIES)
def test_nobody_lingers_where_somebody_watches(tmp_path: Path, name: str, watcher: type[Watcher]) -> None:
    (kernel,) = kernels.lower_text(tmp_path, HEAD + BODIES[name].lstrip("\n"))
    results = []
    for watchers in ([], [watcher()]):
        arrays = [np.zeros(200, np.int32), np.zeros(200, np.int32)]
        run_in_lockstep(kernel, over((200,), 32), arrays, Options(Checks(), watchers=watchers))
        results.append(arrays)
    np.testing.assert_array_equal(results[0], results[1])


def test_those_who_linger_hide_no_deadlock(tmp_path: Path) -> None:
    body = """
    i = kb.tid()
    n = int(0)
    while n < 100 or i > 150:
        if i <= 150 or n < 50:
            n = n + 1
    a[i] = n
"""
    (kernel,) = kernels.lower_text(tmp_path, HEAD + body.lstrip("\n"))
    for threads in (152, 200):
        arrays = [np.zeros(200, np.int32), np.zeros(200, np.int32)]
        with pytest.raises(Deadlock):
            run_in_lockstep(kernel, over((threads,), 32), arrays)


def test_who_has_left_is_not_watched(tmp_path: Path) -> None:
    body = BODIES["few leave at a time"].replace("n < i", "n < i % 40")
    (kernel,) = kernels.lower_text(tmp_path, HEAD + body.lstrip("\n"))
    watch = Watch({"n": None})
    arrays = [np.zeros(200, np.int32), np.zeros(200, np.int32)]
    run_in_lockstep(kernel, over((200,), 32), arrays, Options(Checks(), watchers=[watch]))
    trips = Counter(change.thread[0] for change in watch.changes)
    assert trips == {i: 1 + i % 40 for i in range(200)}
