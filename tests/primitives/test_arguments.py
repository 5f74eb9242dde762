"""What the functions over whole arrays refuse, and how they say it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import kbuild as kb
from tests.helpers.whole_arrays import Machine, on_this_machine


@pytest.fixture(autouse=True)
def machine() -> Iterator[Machine]:
    with on_this_machine(Machine()) as found:
        yield found


def ints(*shape: int) -> kb.array:
    return kb.array(np.zeros(shape, np.int32))


def floats(*shape: int) -> kb.array:
    return kb.array(np.zeros(shape, np.float32))


def gaps() -> kb.array:
    whole = ints(40)
    return kb.array(ptr=whole.ptr, shape=(5, 2), strides=(32, 4), dtype=int, owner=whole)


@kb.struct
class Pair:
    a: int
    b: int


CASES: list[tuple[Callable[[], object], type[Exception], str]] = [
    (
        lambda: kb.array_scan([1, 2], ints(2)),
        TypeError,
        "array_scan: in_array: wanted an array, got list",
    ),
    (
        lambda: kb.array_scan(kb.zeros(3, dtype=kb.int8), kb.zeros(3, dtype=kb.int8)),
        TypeError,
        "array_scan: in_array wants numbers of type int32, int64, float32, float64, not int8",
    ),
    (
        lambda: kb.array_scan(kb.zeros(3, dtype=Pair), kb.zeros(3, dtype=Pair)),
        TypeError,
        "array_scan: in_array wants numbers of type int32, int64, float32, float64, not",
    ),
    (lambda: kb.array_scan(ints(3), floats(3)), TypeError, "array_scan: in_array is of int32, out_array of float32"),
    (lambda: kb.array_scan(ints(3), ints(4)), ValueError, "array_scan: in_array has 3 elements, out_array 4"),
    (
        lambda: kb.array_scan(gaps(), ints(10)),
        ValueError,
        r"array_scan: in_array of shape \(5, 2\) has gaps: make a copy",
    ),
    (
        lambda: kb.radix_sort_pairs(ints(4), ints(3), 2),
        ValueError,
        "values has 3 elements, but sorting 2 wants room for 4",
    ),
    (
        lambda: kb.radix_sort_pairs(ints(3), ints(4), 2),
        ValueError,
        "keys has 3 elements, but sorting 2 wants room for 4",
    ),
    (lambda: kb.radix_sort_pairs(ints(4), ints(4), -1), ValueError, "count is -1, but there are 4 elements"),
    (lambda: kb.radix_sort_pairs(ints(4), ints(4), 1.0), TypeError, "count wants a whole number, not float 1.0"),  # type: ignore[arg-type]
    (
        lambda: kb.radix_sort_pairs(kb.zeros(4, dtype=kb.int16), ints(4), 2),
        TypeError,
        "keys wants numbers of type int32, uint32, float32, int64, uint64, float64, not int16",
    ),
    (
        lambda: kb.radix_sort_pairs(kb.zeros(4, dtype=kb.vec2i), ints(4), 2),
        TypeError,
        r"keys wants plain numbers, not vec2\[int32\]",
    ),
    (
        lambda: kb.radix_sort_pairs(ints(4), kb.zeros(4, dtype=kb.vec3), 2),
        TypeError,
        r"values wants elements of 4 or 8 bytes, not vec3\[float32\]",
    ),
    (lambda: kb.radix_sort_pairs(gaps(), ints(10), 5), ValueError, "radix_sort_pairs: keys has gaps"),
    (
        lambda: kb.radix_sort_pairs(ints(4), ints(4), 2, begin_bit=3, end_bit=33),
        ValueError,
        "begin_bit and end_bit want 0 <= begin_bit <= end_bit <= 32, not 3 and 33",
    ),
    (
        lambda: kb.runlength_encode(floats(3), ints(3), ints(3)),
        TypeError,
        "values wants numbers of type int32, not float32",
    ),
    (
        lambda: kb.runlength_encode(ints(2, 2), ints(4), ints(4)),
        TypeError,
        "values wants one axis of int32, not <kb.array",
    ),
    (
        lambda: kb.runlength_encode(ints(3), ints(2), ints(3)),
        ValueError,
        "run_values has room for 2 elements, and 3 may",
    ),
    (
        lambda: kb.runlength_encode(ints(3), ints(3), ints(2)),
        ValueError,
        "run_lengths has room for 2 elements, and 3 may",
    ),
    (lambda: kb.runlength_encode(ints(3), ints(3), ints(3), ints(0)), ValueError, "run_count has room for 0 elements"),
    (lambda: kb.runlength_encode(ints(3), ints(3), ints(3), None, 4), ValueError, "value_count is 4, but there are 3"),
    (lambda: kb.array_sum(ints(3)), TypeError, "array_sum: values wants numbers of type float32, float64, not int32"),
    (lambda: kb.array_sum(floats(3), axis=1), IndexError, r"there is no axis 1 in an array of shape \(3,\)"),
    (lambda: kb.array_sum(floats(3), axis=-2), IndexError, r"there is no axis -2 in an array of shape \(3,\)"),
    (lambda: kb.array_sum(floats(3), floats(2)), ValueError, r"out wants the shape \(1,\) without gaps, not <kb.array"),
    (lambda: kb.array_sum(floats(3), ints(1)), TypeError, "out wants elements of float32, not int32"),
    (lambda: kb.array_sum(floats(3), value_count=4), ValueError, "value_count is 4, but there are 3 elements"),
    (
        lambda: kb.array_inner(floats(3), floats(4)),
        ValueError,
        r"a is of float32 and shape \(3,\), b of float32 and shape",
    ),
    (lambda: kb.array_cast(floats(3), ints(2)), ValueError, "array_cast: in_array has 3 numbers, out_array 2"),
    (
        lambda: kb.array_cast(floats(2, 2), ints(2, 2), count=3),
        ValueError,
        r"count wants arrays of one axis, not of shape \(2, 2\)",
    ),
    (
        lambda: kb.array_cast(floats(2), kb.zeros(2, dtype=kb.int8)),
        TypeError,
        "out_array wants numbers of type bool, uint8, int32, uint32, int64, float16, float32, float64, not int8",
    ),
    (lambda: kb.array_cast(gaps(), floats(10)), ValueError, r"array_cast: in_array of shape \(5, 2\) has gaps"),
]


@pytest.mark.parametrize(("call", "kind", "message"), CASES, ids=[case[2][:60] for case in CASES])
def test_refusal(call: Callable[[], object], kind: type[Exception], message: str, machine: Machine) -> None:
    with pytest.raises(kind, match=message):
        call()
    assert machine.launched == []


def test_arrays_on_two_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = ints(4), ints(4)
    object.__setattr__(other, "device", "cuda:1")
    with pytest.raises(ValueError, match="array_scan: out_array is on cuda:1, but in_array is on cuda:0"):
        kb.array_scan(one, other)
