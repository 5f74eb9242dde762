"""The same functions for arrays in host memory: plain Python on `tolist()`, results by `assign`.

Numbers are rounded to their type after each step, as on a GPU; the order of additions is that of the elements.
"""

from __future__ import annotations

import struct

from kbuild.loader import abi, interface
from kbuild.loader.values import convert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from kbuild.loader.array import array


def scan(values: array, out: array, inclusive: bool) -> None:
    """`array_scan`."""
    scalar, parts = _scalar(values), _parts(values)
    numbers = list(_numbers(values.tolist()))
    results = list(numbers)
    for part in range(parts):
        total = convert(scalar, 0)
        for i in range(part, len(numbers), parts):
            before, total = total, convert(scalar, total + numbers[i])
            results[i] = total if inclusive else before
    _assign(out, results)


def sort(keys: array, values: array, count: int, first: int, last: int) -> None:
    """`radix_sort_pairs`: by the bits first … last - 1 of the keys."""
    scalar = _scalar(keys)
    mask = (1 << (last - first)) - 1
    all_keys, all_values = keys.tolist(), values.tolist()
    places = sorted(range(count), key=lambda i: (_bits(scalar, all_keys[i]) >> first) & mask)
    _assign(keys, [all_keys[i] for i in places] + all_keys[count:])
    values.assign([all_values[i] for i in places] + all_values[count:])


def _bits(scalar: abi.Scalar, key: Any) -> int:
    """A key as an unsigned number that grows with it; the two zeros are one."""
    top = 1 << (8 * scalar.size - 1)
    if scalar.kind == "float":
        letter = {4: "I", 8: "Q"}[scalar.size]
        (bits,) = struct.unpack("<" + letter, struct.pack("<" + scalar.code, key))
        if bits == top:
            return top
        return (2 * top - 1) ^ bits if bits > top else bits ^ top  # type: ignore[no-any-return]
    return key + top if scalar.kind == "int" else key  # type: ignore[no-any-return]


def runs(values: array, run_values: array, run_lengths: array, run_count: array | None, count: int) -> Any:
    """`runlength_encode`: the array of the number of runs, or the number."""
    found: list[list[int]] = []
    for value in values.tolist()[:count]:
        if found and found[-1][0] == value:
            found[-1][1] += 1
        else:
            found.append([value, 1])
    for place, out in enumerate((run_values, run_lengths)):
        before = out.tolist()
        before[: len(found)] = [run[place] for run in found]
        out.assign(before)
    if run_count is None:
        return len(found)
    run_count.assign([len(found), *run_count.tolist()[1:]])
    return run_count


def cast(source: array, out: array, count: int) -> None:
    """`array_cast` of the first `count` numbers."""
    scalar = _scalar(out)
    results = list(_numbers(out.tolist()))
    for i, number in zip(range(count), _numbers(source.tolist())):
        results[i] = convert(scalar, number)
    _assign(out, results)


def add_up(arrays: Sequence[array], is_product: bool, axis: int | None, count: int, out: array) -> None:
    """`array_sum` and `array_inner`: of `count` elements along an axis, or over all axes."""
    scalar, parts = _scalar(arrays[0]), _parts(arrays[0])
    lists = [list(_numbers(one.tolist())) for one in arrays]
    shape = arrays[0].shape if axis is not None else (arrays[0].size,)
    axis = axis or 0
    inner = parts
    for extent in shape[axis + 1 :]:
        inner *= extent
    width = 1 if is_product else parts
    results = [convert(scalar, 0)] * (out.size * _parts(out))
    for at in range(len(lists[0])):
        block, place = divmod(at, inner * shape[axis])
        if place // inner < count:
            row = (block * inner + place % inner) // parts * width + at % width
            term = lists[0][at] * lists[1][at] if is_product else lists[0][at]
            results[row] = convert(scalar, results[row] + convert(scalar, term))  # type: ignore[operator]
    _assign(out, results)


def _scalar(given: array) -> abi.Scalar:
    scalar = interface.scalar_of(given._type.element)
    assert scalar is not None
    return scalar


def _parts(given: array) -> int:
    return given._type.element.size // _scalar(given).size


def _numbers(value: Any) -> Iterator[Any]:
    """The numbers in nested lists, vectors and matrices, in order."""
    if hasattr(value, "__iter__"):
        for one in value:
            yield from _numbers(one)
    else:
        yield value


def _assign(out: array, numbers: list[Any]) -> None:
    """Puts numbers in row-major order into an array."""
    parts = _parts(out)
    elements = numbers
    if isinstance(out._type.element, (abi.Vector, abi.Matrix)):
        elements = [out._make(out._type.element, numbers[i : i + parts]) for i in range(0, len(numbers), parts)]
    for extent in reversed(out.shape[1:]):
        elements = [elements[i : i + extent] for i in range(0, len(elements), extent)] if extent else []
    out.assign(elements)
