"""Every kernel of kbuild's own in the simulator, which refuses races, barriers that not all reach, and indices outside.

Few elements, but several blocks of each kernel. What the functions compute in general is in test_functions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild import primitives
from kbuild.primitives import additions, copies, kernels, sorting, sums, views
from tests.helpers.whole_arrays import Machine, Simulated, on_this_machine

KERNELS = {
    "array_cast": {"cast"},
    "array_inner": {"sum_chunks", "sum_rows"},
    "array_scan": {"chunk_sums", "scan_chunks"},
    "array_sum": {"sum_chunks", "sum_rows"},
    "copy": {"add_numbers", "copy_words", "turn_words"},
    "radix_sort_pairs": {"count_digits", "move_pairs", "place_digits"},
    "runlength_encode": {"count_heads", "write_runs"},
}


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Two blocks share the work where several can, so that one has two tiles and the other a part of one."""
    monkeypatch.setattr(kernels, "MOST_CHUNKS", 2)
    monkeypatch.setattr(sums, "MOST_CHUNKS", 2)
    monkeypatch.setattr(copies, "ready", lambda kernel, device: kernel.target)
    with on_this_machine(Simulated()) as found:
        yield found


def numbers(count: int, below: int = 1000) -> np.ndarray:
    return np.random.default_rng(7).integers(0, below, count).astype(np.int32)


def scan() -> None:
    data = numbers(2 * 2048 + 3)
    out = kb.empty(len(data), dtype=int)
    kb.array_scan(kb.array(data), out, inclusive=False)
    np.testing.assert_array_equal(out.numpy(), np.cumsum(data) - data)


def sort() -> None:
    keys, values = numbers(2 * 1536 + 10, 1 << 30).astype(np.int64), np.arange(2 * 1536 + 10, dtype=np.float64)
    ours, theirs = (kb.array(np.concatenate([one, one])) for one in (keys, values))
    kb.radix_sort_pairs(ours, theirs, len(keys), begin_bit=3, end_bit=5)
    order = np.argsort((keys >> 3) & 3, kind="stable")
    np.testing.assert_array_equal(ours.numpy()[: len(keys)], keys[order])
    np.testing.assert_array_equal(theirs.numpy()[: len(keys)], values[order])


def runs() -> None:
    data = np.sort(numbers(2 * 2048 + 100, 300))
    values, lengths = kb.empty(len(data), dtype=int), kb.empty(len(data), dtype=int)
    count = kb.runlength_encode(kb.array(data), values, lengths)
    wanted, counts = np.unique(data, return_counts=True)
    assert values.tolist()[:count] == wanted.tolist()
    assert lengths.tolist()[:count] == counts.tolist()


def total() -> None:
    data = numbers(2 * 2048 + 3).astype(np.float32)
    assert kb.array_sum(kb.array(data)) == data.sum()
    rows = numbers(2 * 2050, 16).astype(np.float32).reshape(2050, 2)
    np.testing.assert_array_equal(kb.array_sum(kb.array(rows), axis=1).numpy()[:, 0], rows.sum(axis=1))


def inner() -> None:
    data = numbers(2 * 2048 + 3, 16).astype(np.float64)
    assert kb.array_inner(kb.array(data), kb.array(data)) == (data * data).sum()
    rows = numbers(2 * 2050, 16).astype(np.float32).reshape(2050, 2)
    found = kb.array_inner(kb.array(rows), kb.array(rows), axis=1)
    np.testing.assert_array_equal(found.numpy()[:, 0], (rows * rows).sum(axis=1))


def cast() -> None:
    data = numbers(600).reshape(30, 20)
    out = kb.empty((30, 20), dtype=kb.float64)
    kb.array_cast(kb.array(data), out)
    np.testing.assert_array_equal(out.numpy(), data)


def copy() -> None:
    """Called as the loader calls it, which with a stand-in for the driver finds no bundle."""
    data = numbers(40 * 35).reshape(40, 35)
    source, turned, thin = kb.array(data), kb.empty((35, 40), dtype=int), kb.empty((40, 18), dtype=int)
    for view, to in ((source.transpose(), turned), (source[:, ::2], thin[:, ::-1])):
        assert copies.copy(to._view, view._view, to.device, 0)
        np.testing.assert_array_equal(to.numpy(), view.numpy())
    sums, one = kb.array(np.ones((40, 3), np.float32)), kb.array(np.arange(3, dtype=np.float32))
    rows = kb.array(ptr=one.ptr, shape=(40, 3), strides=(0, 4), dtype=float, device=one.device, owner=one)
    assert additions.add(sums, rows)
    assert additions.add(sums[::2], rows[::2])
    np.testing.assert_array_equal(sums.numpy()[:2], [[1, 3, 5], [1, 2, 3]])


def test_places_of_more_tiles_than_a_block_takes_at_once() -> None:
    """As with more than six million pairs."""
    counts = np.random.default_rng(5).integers(0, 3072, (2, 2048 + 300)).astype(np.int32)
    found, totals = kb.array(counts), kb.empty(2, dtype=int)
    views.launch(sorting.place_digits, 2, (found, totals), None)
    np.testing.assert_array_equal(found.numpy(), np.cumsum(counts, axis=1) - counts)
    np.testing.assert_array_equal(totals.numpy(), counts.sum(axis=1))


CASES: dict[str, Callable[[], None]] = {
    "array_cast": cast,
    "array_inner": inner,
    "array_scan": scan,
    "array_sum": total,
    "copy": copy,
    "radix_sort_pairs": sort,
    "runlength_encode": runs,
}


@pytest.mark.parametrize("name", CASES)
def test_kernels(name: str, machine: Machine) -> None:
    CASES[name]()
    assert set(machine.launched) == KERNELS[name]


def test_every_kernel_is_among_them() -> None:
    in_graphs = {"capture_if", "capture_while"}  # one thread, which says something to a graph: tests/loader
    assert KERNELS.keys() == CASES.keys() == set(primitives.NAMES) - in_graphs
    for name, wanted in KERNELS.items():
        assert {kernel.__name__ for kernel in primitives.kernels_of([name])} == wanted


def test_the_simulator_sees_a_missing_barrier(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above can fail."""
    from kbuild.sim import threads

    original: Any = threads._Machine.switch

    def forgetful(self: Any, thread: Any) -> None:
        thread.seen = {thread.index: thread.time}
        original(self, thread)

    monkeypatch.setattr(threads._Machine, "switch", forgetful)
    with pytest.raises(threads.Fault):
        scan()
