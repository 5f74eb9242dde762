"""The functions on arrays of the host: plain Python, the same results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.primitives import views
from tests.helpers.whole_arrays import Machine, on_this_machine


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Every array counts as one of the host; kernels do not run."""
    monkeypatch.setattr(views, "on_host", lambda arrays: True)
    with on_this_machine(Machine()) as machine:
        yield machine
    assert machine.launched == []


def numbers(*shape: int, kind: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(3).integers(-50, 50, shape).astype(kind)


@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.float64])
def test_scan(kind: Any, inclusive: bool) -> None:
    data = numbers(20, kind=kind)
    out = kb.array(np.zeros(20, kind))
    kb.array_scan(kb.array(data), out, inclusive)
    np.testing.assert_array_equal(out.numpy(), np.cumsum(data, dtype=kind) - (0 if inclusive else data))


def test_scan_wraps_and_takes_vectors() -> None:
    data = np.full((4, 2), 2**30, np.int32)
    out = kb.empty(4, dtype=kb.vec2i)
    kb.array_scan(kb.array(data, dtype=kb.vec2i), out)
    np.testing.assert_array_equal(out.numpy(), np.cumsum(data, axis=0, dtype=np.int32))


@pytest.mark.parametrize("kind", [np.int32, np.uint32, np.float32, np.int64, np.uint64, np.float64])
def test_sort(kind: Any) -> None:
    keys = np.abs(numbers(30, kind=np.int64)).astype(kind) if np.issubdtype(kind, np.unsignedinteger) else numbers(30)
    keys = keys.astype(kind)
    if np.issubdtype(kind, np.floating):
        keys[:4] = [0.0, -0.0, np.inf, -np.inf]
    ours, theirs = kb.array(np.tile(keys, 2)), kb.array(np.arange(60, dtype=np.int32))
    kb.radix_sort_pairs(ours, theirs, 30)
    order = np.argsort(keys, kind="stable")
    assert ours.numpy()[:30].tobytes() == keys[order].tobytes()
    assert theirs.numpy()[:30].tolist() == order.tolist()


def test_sort_by_some_bits() -> None:
    keys = kb.array(np.array([0x13, 0x22, 0x31, 0x12, 0, 0, 0, 0], np.int32))
    values = kb.array(np.arange(8, dtype=np.float64))
    kb.radix_sort_pairs(keys, values, 4, begin_bit=0, end_bit=4)
    assert values.tolist()[:4] == [2.0, 1.0, 3.0, 0.0]


def test_runs() -> None:
    data = kb.array(np.array([1, 1, 1, 2, 2, 3], np.int32))
    values, lengths = kb.zeros(6, dtype=int), kb.zeros(6, dtype=int)
    assert kb.runlength_encode(data, values, lengths) == 3
    assert (values.tolist(), lengths.tolist()) == ([1, 2, 3, 0, 0, 0], [3, 2, 1, 0, 0, 0])
    count = kb.zeros(1, dtype=int)
    assert kb.runlength_encode(data, values, lengths, count, 4) is count
    assert count.tolist() == [2]


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4)])
def test_sums(shape: tuple[int, ...]) -> None:
    data = numbers(*shape)
    array = kb.array(data)
    assert kb.array_sum(array) == data.sum()
    assert kb.array_inner(array, array) == (data * data).sum()
    for axis in range(len(shape)):
        np.testing.assert_array_equal(kb.array_sum(array, axis=axis).numpy(), data.sum(axis=axis, keepdims=True))
        found = kb.array_inner(array, array, axis=axis).numpy()
        np.testing.assert_array_equal(found, (data * data).sum(axis=axis, keepdims=True))
        found = kb.array_sum(array, axis=axis, value_count=2).numpy()
        some = np.take(data, range(2), axis=axis)
        np.testing.assert_array_equal(found, some.sum(axis=axis, keepdims=True))


def test_sums_of_vectors() -> None:
    data = numbers(4, 3, 2)
    array = kb.array(data, dtype=kb.vec2)
    assert kb.array_sum(array) == kb.vec2(*data.sum(axis=(0, 1)).tolist())
    assert kb.array_sum(array, value_count=5) == kb.vec2(*data.reshape(-1, 2)[:5].sum(axis=0).tolist())
    np.testing.assert_array_equal(kb.array_sum(array, axis=1).numpy(), data.sum(axis=1, keepdims=True))
    assert kb.array_inner(array, array) == (data * data).sum()
    found = kb.array_inner(array, array, axis=0).numpy()
    np.testing.assert_array_equal(found, (data * data).sum(axis=(0, 2))[None])


def test_rounding_is_that_of_the_type() -> None:
    data = kb.array(np.array([1e8, 1.0, -1e8, 1.0], np.float32))
    assert kb.array_sum(data) == 1.0  # 1e8 + 1 is 1e8 in float32


def test_cast() -> None:
    data = kb.array(np.array([[0.5, -2.9], [300.0, 7.0]], np.float32))
    out = kb.zeros((2, 2), dtype=int)
    kb.array_cast(data, out)
    assert out.tolist() == [[0, -2], [300, 7]]
    vectors = kb.zeros(2, dtype=kb.vec2d)
    kb.array_cast(data, vectors)
    np.testing.assert_array_equal(vectors.numpy(), data.numpy())
    line = kb.array(np.arange(4, dtype=np.float32))
    some = kb.full(4, -1, dtype=int)
    kb.array_cast(line, some, count=2)
    assert some.tolist() == [0, 1, -1, -1]


def test_which_arrays_are_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    class Device:
        kind = "cpu"

    class Array:
        device = Device()

    for kind in ("cpu", "sim"):
        Device.kind = kind
        assert views.on_host([Array(), Array()])  # type: ignore[list-item]
    Device.kind = "cuda"
    assert not views.on_host([Array()])  # type: ignore[list-item]
