"""Arrays seen through index arrays in the interpreter: what leaves an array, and what depends on order, is a fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kbuild.ir.types import INT32, IndexedArray
from kbuild.sim.threads import run
from kbuild.sim.values import Conflict, Indexed, Memory, OutOfBounds, indexed, zero
from tests.helpers import kernels


def table(*values: int) -> Memory:
    return Memory(INT32, (len(values),), list(values))


def made(body: str, folder: Path) -> Any:
    head = "@kb.kernel\ndef k(a: kb.indexedarray2d[int], n: kb.array(dtype=int)):\n    i = kb.tid()\n"
    (kernel,) = kernels.lower_text(folder, head + "".join(f"    {line}\n" for line in body.splitlines()))
    return kernel


def test_it_shares_the_memory_behind(tmp_path: Path) -> None:
    behind, rows = Memory(INT32, (3, 4), list(range(12))), table(2, 0)
    seen = indexed(behind, (rows, None))
    assert seen.shape == (2, 4)
    run(made("a[i, 3] = n[i]\nrow = a[i]\nrow[0] += 100", tmp_path), (2,), [seen, Memory(INT32, (2,), [50, 60])])
    assert behind.data == [100, 1, 2, 60, 4, 5, 6, 7, 108, 9, 10, 50]
    assert behind.written_by
    assert rows.read_by


@pytest.mark.parametrize("body", ["kb.atomic_add(n, 0, a[0, i])", "a[0][i] = 1"])
def test_an_index_beyond_what_is_seen(tmp_path: Path, body: str) -> None:
    """The array behind is larger."""
    seen = indexed(Memory(INT32, (3, 4), [0] * 12), (None, table(1, 3)))
    with pytest.raises(OutOfBounds, match=r"case_\d+.py:5:\d+: index 2 on axis [01] of an array of shape \("):
        run(made(body, tmp_path), (3,), [seen, table(0)])


@pytest.mark.parametrize("held", [4, -1])
@pytest.mark.parametrize("body", ["n[0] = a[0, i]", "row = a[0]\nrow[i] = 1", "kb.atomic_add(a, 0, i, 1)"])
def test_an_index_array_that_leads_outside(tmp_path: Path, held: int, body: str) -> None:
    seen = indexed(Memory(INT32, (3, 4), [0] * 12), (None, table(1, held)))
    axis = 0 if "row" in body else 1
    message = f"the index array of axis {axis} holds {held} at 1, outside the 4 elements of the array behind it"
    with pytest.raises(OutOfBounds, match=message):
        run(made(body, tmp_path), (2,), [seen, table(0)])


def test_indices_that_repeat_conflict(tmp_path: Path) -> None:
    """Different elements of what is seen are one element behind it."""
    behind = Memory(INT32, (3, 4), [0] * 12)
    with pytest.raises(Conflict, match="threads 0 and 1 on one element: write and write"):
        run(made("a[i, 0] = i", tmp_path), (2,), [indexed(behind, (table(2, 2), None)), table(0)])
    behind = Memory(INT32, (3, 4), [0] * 12)
    flat = Memory(INT32, (12,), behind.data, behind.written_by, behind.read_by, behind.atomic_by)
    with pytest.raises(Conflict, match="threads 0 and 1 on one element: write and write"):
        run(made("a[i, 0] = i\nn[(1 - i) * 4] = 1", tmp_path), (2,), [indexed(behind, (None, None)), flat])
    behind = Memory(INT32, (3, 4), [0] * 12)
    run(made("kb.atomic_add(a, i, 0, 1)", tmp_path), (2,), [indexed(behind, (table(1, 1), None)), table(0)])
    assert behind.data[4] == 2


def test_an_index_array_that_changes_meanwhile_conflicts(tmp_path: Path) -> None:
    rows = table(0, 1)
    seen = indexed(Memory(INT32, (3, 4), [0] * 12), (rows, None))
    with pytest.raises(Conflict, match="threads 0 and 1 on one element: read and write"):
        run(made("a[i, 0] = 1\nif i == 1:\n    n[0] = 2", tmp_path), (2,), [seen, rows])


def test_none(tmp_path: Path) -> None:
    none = zero(IndexedArray(INT32, 2))
    assert isinstance(none, Indexed)
    n = table(1, 1)
    run(made("row = a[0]\nif row:\n    n[i] = row[0]\nelse:\n    n[i] = 5", tmp_path), (2,), [none, n])
    assert n.data == [5, 5]
    with pytest.raises(OutOfBounds, match=r"index 0 on axis 0 of an array of shape \(0, 0\)"):
        run(made("n[i] = a[0, 0]", tmp_path), (2,), [none, n])
