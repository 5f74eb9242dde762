"""The functions over whole arrays against plain Python and NumPy, their kernels run as C on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kbuild as kb
from kbuild.primitives import kernels, sums
from tests.helpers.whole_arrays import Compiled, Machine, on_this_machine, seen

TILE = kernels.TILE
SIZES = [0, 1, 255, 257, TILE - 1, TILE, TILE + 1, 3 * TILE + 100]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(autouse=True)
def machine(folder: Path) -> Iterator[Machine]:
    with on_this_machine(Compiled(folder)) as found:
        yield found


@pytest.fixture(params=[2, kernels.MOST_CHUNKS], ids=["two blocks", "many blocks"])
def most_chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Few blocks take several tiles each, as many do with millions of elements."""
    monkeypatch.setattr(kernels, "MOST_CHUNKS", request.param)
    monkeypatch.setattr(sums, "MOST_CHUNKS", request.param)
    return int(request.param)


def numbers(count: int, kind: Any, seed: int = 1) -> np.ndarray:
    source = np.random.default_rng(seed)
    if np.issubdtype(kind, np.floating):
        return source.standard_normal(count).astype(kind)
    low = 0 if np.issubdtype(kind, np.unsignedinteger) else -(1 << 30)
    return source.integers(low, 1 << 30, count).astype(kind)


class TestScan:
    @pytest.mark.parametrize("count", SIZES)
    @pytest.mark.parametrize("inclusive", [True, False])
    def test_integers_wrap(self, count: int, inclusive: bool, most_chunks: int) -> None:
        data = numbers(count, np.int32)
        out = kb.empty(count, dtype=int)
        kb.array_scan(kb.array(data, dtype=int), out, inclusive)
        wanted = np.cumsum(data, dtype=np.int32) - (0 if inclusive else data)
        np.testing.assert_array_equal(out.numpy(), wanted)

    @pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
    def test_every_type(self, kind: Any) -> None:
        data = np.arange(TILE + 10).astype(kind)  # sums are exact
        data = data if kind != np.float32 else data % 8
        out = kb.empty(len(data), dtype=getattr(kb, kind.__name__))
        kb.array_scan(kb.array(data), out)
        np.testing.assert_array_equal(out.numpy(), np.cumsum(data, dtype=kind))

    def test_in_place(self) -> None:
        data = kb.array(numbers(TILE + 5, np.int32))
        wanted = np.cumsum(data.numpy(), dtype=np.int32)
        kb.array_scan(data, data)
        np.testing.assert_array_equal(data.numpy(), wanted)

    def test_vectors_number_by_number(self, most_chunks: int) -> None:
        data = numbers(3 * 300, np.int32).reshape(300, 3)
        out = kb.empty(300, dtype=kb.vec3i)
        kb.array_scan(kb.array(data, dtype=kb.vec3i), out, inclusive=False)
        np.testing.assert_array_equal(out.numpy(), np.cumsum(data, axis=0, dtype=np.int32) - data)

    def test_with_gaps(self) -> None:
        memory = kb.array(np.arange(60, dtype=np.int32))
        every_third = kb.array(ptr=memory.ptr + 4, shape=20, strides=[12], dtype=int, device=memory.device)
        kb.array_scan(every_third, every_third)
        wanted = np.arange(60, dtype=np.int32)
        wanted[1::3] = np.cumsum(wanted[1::3])
        np.testing.assert_array_equal(memory.numpy(), wanted)

    def test_the_same_bits_each_time(self) -> None:
        data = kb.array(numbers(3 * TILE, np.float32))
        results = []
        for _ in range(2):
            out = kb.empty(3 * TILE, dtype=float)
            kb.array_scan(data, out)
            results.append(bytes(out.tobytes()))
        assert results[0] == results[1]

    @given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=40))
    @settings(max_examples=20)
    def test_any(self, data: list[int]) -> None:
        out = kb.empty(len(data), dtype=int)
        kb.array_scan(kb.array(np.array(data, np.int32), dtype=int), out)
        np.testing.assert_array_equal(out.numpy(), np.cumsum(np.array(data, np.int32), dtype=np.int32))


KEYS = [np.int32, np.uint32, np.float32, np.int64, np.uint64, np.float64]


class TestSort:
    def sorted_as_numpy(self, keys: np.ndarray, values: np.ndarray, **bits: int) -> None:
        """Keys and values are where a stable sort of NumPy's has them; `bits` choose some bits of unsigned keys."""
        count = len(keys)
        ours, theirs = (kb.array(np.concatenate([one, one])) for one in (keys, values))
        kb.radix_sort_pairs(ours, theirs, count, **bits)
        by = keys
        if bits:
            mask = (1 << (bits["end_bit"] - bits["begin_bit"])) - 1
            by = (keys >> keys.dtype.type(bits["begin_bit"])) & keys.dtype.type(mask)
        order = np.argsort(by, kind="stable")
        assert seen(ours)[:count].tobytes() == keys[order].tobytes()
        assert seen(theirs)[:count].tobytes() == values[order].tobytes()

    @pytest.mark.parametrize("count", [0, 1, 2, 300, 3072, 7000])
    def test_pairs_of_words(self, count: int) -> None:
        self.sorted_as_numpy(numbers(count, np.int32), np.arange(count, dtype=np.int32))

    @pytest.mark.parametrize("kind", KEYS)
    @pytest.mark.parametrize("value", [np.int32, np.float64])
    def test_every_type_of_key(self, kind: Any, value: Any) -> None:
        keys = numbers(900, kind)
        keys[100:300] = keys[5]
        self.sorted_as_numpy(keys, np.arange(900).astype(value))

    @pytest.mark.parametrize("kind", [np.float32, np.float64])
    def test_floats_of_every_kind(self, kind: Any) -> None:
        tiny = np.finfo(kind).smallest_subnormal
        keys = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, tiny, -tiny, 0.0, -0.0, np.finfo(kind).max], kind)
        self.sorted_as_numpy(np.tile(keys, 3), np.arange(33, dtype=np.int32))

    def test_nans_stand_at_the_ends(self) -> None:
        keys = kb.array(np.array([1.0, np.nan, -np.inf, -np.nan, np.inf] * 2, np.float32))
        kb.radix_sort_pairs(keys, kb.array(np.arange(10, dtype=np.int32)), 5)
        found = keys.numpy()[:5]
        assert np.isnan(found[[0, 4]]).all()
        assert found[1:4].tolist() == [-np.inf, 1.0, np.inf]

    @pytest.mark.parametrize(("begin", "end"), [(4, 7), (0, 17), (0, 0), (31, 32)])
    def test_some_bits(self, begin: int, end: int) -> None:
        self.sorted_as_numpy(numbers(3100, np.uint32), np.arange(3100, dtype=np.int32), begin_bit=begin, end_bit=end)

    def test_equal_keys_keep_their_order(self) -> None:
        self.sorted_as_numpy(np.zeros(3100, np.int32), np.arange(3100, dtype=np.int32))

    def test_what_is_behind_twice_the_count_stays(self) -> None:
        keys, values = (kb.array(np.arange(100, 0, -1, dtype=np.int32)) for _ in range(2))
        kb.radix_sort_pairs(keys, values, 10)
        assert keys.numpy()[:10].tolist() == list(range(91, 101))
        assert keys.numpy()[20:].tolist() == list(range(80, 0, -1))

    def test_counts_of_numpy(self) -> None:
        keys, values = (kb.array(np.array([2, 1, 0, 0], np.int32)) for _ in range(2))
        kb.radix_sort_pairs(keys, values, np.int64(2))  # type: ignore[arg-type]
        assert values.tolist()[:2] == [1, 2]

    def test_a_single_tile_needs_no_counting(self, machine: Machine) -> None:
        self.sorted_as_numpy(numbers(500, np.int32), np.arange(500, dtype=np.int32))
        assert machine.launched == ["move_pairs"] * 4

    @given(st.lists(st.floats(width=32, allow_nan=False), max_size=50))
    @settings(max_examples=15)
    def test_any(self, keys: list[float]) -> None:
        self.sorted_as_numpy(np.array(keys, np.float32), np.arange(len(keys), dtype=np.int32))


class TestRuns:
    def encoded(self, data: np.ndarray, **more: Any) -> tuple[list[int], list[int]]:
        room = max(len(data), 1)
        values, lengths = kb.full(room, -7, dtype=int), kb.full(room, -7, dtype=int)
        found = kb.runlength_encode(kb.array(data, dtype=int), values, lengths, **more)
        assert values.tolist()[found:] == lengths.tolist()[found:] == [-7] * (room - found)
        return values.tolist()[:found], lengths.tolist()[:found]

    def wanted(self, data: np.ndarray) -> tuple[list[int], list[int]]:
        heads = np.flatnonzero(np.r_[True, data[1:] != data[:-1]]) if len(data) else np.zeros(0, np.int64)
        return data[heads].tolist(), np.diff(np.r_[heads, len(data)]).tolist()

    @pytest.mark.parametrize("count", SIZES)
    @pytest.mark.parametrize("longest", [1, 3, 5000])
    def test_runs(self, count: int, longest: int, most_chunks: int) -> None:
        source = np.random.default_rng(count)
        lengths = source.integers(1, longest + 1, count)
        data = np.repeat(source.integers(0, 3, count), lengths)[:count].astype(np.int32)
        assert self.encoded(data) == self.wanted(data)

    def test_a_single_run(self, most_chunks: int) -> None:
        data = np.zeros(2 * TILE + 1, np.int32)
        assert self.encoded(data) == ([0], [2 * TILE + 1])

    def test_a_part(self) -> None:
        data = np.array([1, 1, 1, 2, 2, 3], np.int32)
        assert self.encoded(data, value_count=4) == ([1, 2], [3, 1])

    @pytest.mark.parametrize("count", [0, 6])
    def test_the_count_into_an_array(self, count: int) -> None:
        data = kb.array(np.array([1, 1, 1, 2, 2, 3], np.int32))
        found = kb.array(np.array([-1], np.int32))
        values, lengths = kb.empty(6, dtype=int), kb.empty(6, dtype=int)
        assert kb.runlength_encode(data, values, lengths, found, count) is found
        assert found.tolist() == [3 if count else 0]

    @given(st.lists(st.integers(-1, 1), max_size=60))
    @settings(max_examples=20)
    def test_any(self, data: list[int]) -> None:
        array = np.array(data, np.int32)
        assert self.encoded(array) == self.wanted(array)


class TestSums:
    @pytest.mark.parametrize("count", SIZES)
    @pytest.mark.parametrize("kind", [np.float32, np.float64])
    def test_of_everything(self, count: int, kind: Any, most_chunks: int) -> None:
        data = (numbers(count, np.int32) % 64).astype(kind)  # exact in every order
        array = kb.array(data) if count else kb.empty(0, dtype=getattr(kb, kind.__name__))
        assert kb.array_sum(array) == data.sum()
        assert kb.array_inner(array, array) == (data * data).sum()

    def test_of_vectors(self) -> None:
        data = (numbers(3 * 500, np.int32) % 64).astype(np.float32).reshape(500, 3)
        array = kb.array(data, dtype=kb.vec3)
        assert kb.array_sum(array) == kb.vec3(*data.sum(axis=0).tolist())
        assert kb.array_sum(array, value_count=10) == kb.vec3(*data[:10].sum(axis=0).tolist())
        assert kb.array_inner(array, array) == (data * data).sum()
        assert kb.array_inner(array, array, count=10) == (data[:10] ** 2).sum()

    @pytest.mark.parametrize("shape", [(5, 3), (2, 3, 4), (2, 2, 3, 4), (3000, 4), (4, 3000)])
    def test_along_an_axis(self, shape: tuple[int, ...], most_chunks: int) -> None:
        data = (numbers(int(np.prod(shape)), np.int32) % 16).astype(np.float32).reshape(shape)
        array = kb.array(data)
        for axis in (*range(len(shape)), -1):
            found = kb.array_sum(array, axis=axis)
            assert found.shape == data.sum(axis=axis, keepdims=True).shape
            np.testing.assert_array_equal(found.numpy(), data.sum(axis=axis, keepdims=True))
            found = kb.array_inner(array, array, axis=axis)
            np.testing.assert_array_equal(found.numpy(), (data * data).sum(axis=axis, keepdims=True))

    def test_vectors_along_an_axis(self) -> None:
        data = (numbers(4 * 5 * 2, np.int32) % 16).astype(np.float32).reshape(4, 5, 2)
        array = kb.array(data, dtype=kb.vec2)
        for axis in (0, 1):
            found = kb.array_sum(array, axis=axis).numpy()
            np.testing.assert_array_equal(found, data.sum(axis=axis, keepdims=True))
            found = kb.array_inner(array, array, axis=axis).numpy()
            np.testing.assert_array_equal(found, (data * data).sum(axis=(axis, 2)).reshape(found.shape))
        found = kb.array_sum(array, axis=0, value_count=2).numpy()
        np.testing.assert_array_equal(found, data[:2].sum(axis=0, keepdims=True))

    def test_with_gaps_everywhere(self) -> None:
        """Every second element along each of four axes: no two axes can be merged."""
        data = (numbers(4**4, np.int32) % 16).astype(np.float32).reshape(4, 4, 4, 4)
        whole = kb.array(data)
        some = data[::2, ::2, ::2, ::2]
        array = kb.array(ptr=whole.ptr, shape=some.shape, strides=some.strides, dtype=float, owner=whole)
        assert kb.array_sum(array) == some.sum()
        assert kb.array_inner(array, array) == (some * some).sum()
        for axis in range(4):
            np.testing.assert_array_equal(kb.array_sum(array, axis=axis).numpy(), some.sum(axis=axis, keepdims=True))
            found = kb.array_inner(array, array, axis=axis).numpy()
            np.testing.assert_array_equal(found, (some * some).sum(axis=axis, keepdims=True))

    def test_many_short_rows_take_a_thread_each(self, machine: Machine) -> None:
        data = (numbers(3 * 2500, np.int32) % 16).astype(np.float32).reshape(2500, 3)
        np.testing.assert_array_equal(kb.array_sum(kb.array(data), axis=1).numpy()[:, 0], data.sum(axis=1))
        assert machine.launched == ["sum_rows"]

    def test_into_an_array(self) -> None:
        data = kb.array(np.ones((4, 3), np.float32))
        out = kb.empty((1, 3), dtype=float)
        assert kb.array_sum(data, out, axis=0) is out
        assert out.tolist() == [[4.0] * 3]
        total = kb.empty(1, dtype=float)
        assert kb.array_inner(data, data, total) is total
        assert total.tolist() == [12.0]
        assert kb.array_sum(data, total, value_count=0) is total
        assert total.tolist() == [0.0]

    def test_nothing_to_add_up_along_an_axis(self) -> None:
        assert kb.array_sum(kb.empty((3, 0), dtype=float), axis=1).tolist() == [[0.0]] * 3
        assert kb.array_sum(kb.empty((3, 0), dtype=float), axis=0).shape == (1, 0)

    def test_the_same_bits_each_time(self, most_chunks: int) -> None:
        data = kb.array(numbers(5000, np.float32))
        assert {kb.array_sum(data) for _ in range(3)} == {kb.array_sum(data)}


class TestCast:
    @pytest.mark.parametrize("target", ["bool_", "uint8", "int32", "uint32", "int64", "float16", "float32", "float64"])
    def test_from_floats(self, target: str) -> None:
        data = np.array([0.0, 1.0, 2.5, 100.0, 3.75], np.float32)
        out = kb.empty(5, dtype=getattr(kb, target))
        kb.array_cast(kb.array(data), out)
        kind = target.rstrip("_")
        np.testing.assert_array_equal(out.numpy(), data.astype(kind))

    def test_what_does_not_fit_is_converted_as_kernels_do(self) -> None:
        out = kb.empty(4, dtype=int)
        kb.array_cast(kb.array(np.array([1e20, -1e20, -2.9, 2.9], np.float64)), out)
        assert out.tolist()[2:] == [-2, 2]

    def test_vectors_and_numbers(self) -> None:
        data = np.arange(12, dtype=np.int32)
        out = kb.empty(4, dtype=kb.vec3)
        kb.array_cast(kb.array(data), out)
        np.testing.assert_array_equal(out.numpy(), data.reshape(4, 3))
        back = kb.empty((2, 6), dtype=kb.int64)
        kb.array_cast(out, back)
        np.testing.assert_array_equal(back.numpy(), data.reshape(2, 6))

    def test_with_gaps(self) -> None:
        data = np.arange(6**3, dtype=np.float32).reshape(6, 6, 6)
        whole = kb.array(data)
        some = data[::2, ::3, ::2]
        array = kb.array(ptr=whole.ptr, shape=some.shape, strides=some.strides, dtype=float, owner=whole)
        out = kb.empty(some.shape, dtype=kb.float64)
        kb.array_cast(array, out)
        np.testing.assert_array_equal(out.numpy(), some)

    def test_one_type_is_copied(self) -> None:
        out = kb.full(4, -1, dtype=int)
        kb.array_cast(kb.array(np.arange(4, dtype=np.int32)), out, count=3)
        assert out.tolist() == [0, 1, 2, -1]

    def test_nothing(self, machine: Machine) -> None:
        kb.array_cast(kb.empty(0, dtype=int), kb.empty(0, dtype=float))
        assert machine.launched == []
