"""`array_scan`, `radix_sort_pairs`, `runlength_encode`, `array_cast`: arguments checked, kernels launched.

All launches go to one stream and nothing waits for them, except where a number is to be returned. Host arrays are
computed at once (`on_host`). Results are the same bits each time.
"""

from __future__ import annotations

from kbuild.loader import abi, uses
from kbuild.loader.values import int32
from kbuild.primitives import casting, scanning, sorting, views
from kbuild.primitives.kernels import BLOCK, chunks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kbuild.loader.array import array

__all__ = ("array_cast", "array_scan", "radix_sort_pairs", "runlength_encode")


def array_scan(in_array: Any, out_array: Any, inclusive: bool = True, stream: Any = None) -> None:
    """Puts into each element of `out_array` the sum of the elements of `in_array` up to it, or only of those before.

    Elements are int32, int64, float32 or float64, or vectors and matrices of these, which are summed up number by
    number. Both arrays have one type and size; they may be the same. Raises TypeError, ValueError, LaunchError.
    """
    name = "array_scan"
    if uses.tapes:
        from kbuild.primitives import backward

        again = lambda: array_scan(in_array, out_array, inclusive, stream)  # noqa: E731
        if views.taped(name, [in_array], [out_array], stream, again, backward.of_scan(inclusive))[0]:
            return
    values, out = views.given(name, "in_array", in_array, stream), views.given(name, "out_array", out_array, stream)
    scalar = views.scalar_of(name, "in_array", values, scanning.TYPES)
    if values._type.element != out._type.element:
        raise TypeError("%s: in_array is of %s, out_array of %s" % (name, values._type.element, out._type.element))
    views.same_device(name, in_array=values, out_array=out)
    (count, step), (size, out_step) = views.line(name, "in_array", values), views.line(name, "out_array", out)
    if size != count:
        raise ValueError("%s: in_array has %d elements, out_array %d" % (name, count, size))
    views.count_of(name, "in_array", count, count)
    if count == 0:
        return
    if views.on_host((values, out)):
        from kbuild.primitives import on_host

        on_host.scan(values, out, inclusive)
        return
    from kbuild.primitives import catalogue

    sum_chunks, scan_chunks = catalogue.scan_kernels(catalogue.type_named(scalar.spelling))
    parts = views.components(values._type.element)
    chunk, chunks = chunks_of(count)
    source = views.plain(values, scalar, (count, step), (parts, scalar.size))
    target = views.plain(out, scalar, (count, out_step), (parts, scalar.size))
    sums = views.scratch((parts, chunks), catalogue.type_named(scalar.spelling), values)
    if chunks > 1:
        views.launch(sum_chunks, (chunks, parts), (source, sums, count, chunk), stream)
    views.launch(scan_chunks, (chunks, parts), (source, sums, target, count, chunk, int(bool(inclusive))), stream)


_KEYS = ("int32", "uint32", "float32", "int64", "uint64", "float64")


def radix_sort_pairs(
    keys: Any, values: Any, count: int, begin_bit: int = 0, end_bit: int | None = None, stream: Any = None
) -> None:
    """Sorts the first `count` keys, and the values with them; pairs of equal keys keep their order.

    Keys are int32, uint32, float32, int64, uint64 or float64; values are any elements of 4 or 8 bytes. Both arrays
    have room for 2 * count elements, the second half of which is used up. -0.0 and 0.0 are equal keys; NaNs stand at
    the end of their sign. With `begin_bit` and `end_bit` only these bits of the keys count, the lowest being 0.
    Raises TypeError, ValueError, LaunchError.
    """
    name = "radix_sort_pairs"
    if uses.tapes:
        both = [keys, values]
        again = lambda: radix_sort_pairs(keys, values, count, begin_bit, end_bit, stream)  # noqa: E731
        if views.taped(name, both, both, stream, again)[0]:
            return
    key_array, value_array = views.given(name, "keys", keys, stream), views.given(name, "values", values, stream)
    key = views.scalar_of(name, "keys", key_array, _KEYS)
    if key != key_array._type.element:
        raise TypeError("%s: keys wants plain numbers, not %s" % (name, key_array._type.element))
    if value_array._type.element.size not in (4, 8):
        message = "%s: values wants elements of 4 or 8 bytes, not %s"
        raise TypeError(message % (name, value_array._type.element))
    views.same_device(name, keys=key_array, values=value_array)
    for what, one in (("keys", key_array), ("values", value_array)):
        if not views.is_contiguous(one):
            raise ValueError("%s: %s has gaps: make a copy without any (kb.clone)" % (name, what))
        count = views.count_of(name, "count", count, one.size)
        if 2 * count > one.size:
            message = "%s: %s has %d elements, but sorting %d wants room for %d"
            raise ValueError(message % (name, what, one.size, count, 2 * count))
    first, last = _bits(name, begin_bit, end_bit, 8 * key.size)
    if count == 0 or first == last:
        return
    if views.on_host((key_array, value_array)):
        from kbuild.primitives import on_host

        on_host.sort(key_array, value_array, count, first, last)
        return
    _sort(key_array, value_array, count, _flips(key), first, last, stream)


def _bits(name: str, begin: Any, end: Any, bits: int) -> tuple[int, int]:
    last = bits if end is None else end
    if not (isinstance(begin, int) and isinstance(last, int) and 0 <= begin <= last <= bits):
        message = "%s: begin_bit and end_bit want 0 <= begin_bit <= end_bit <= %d, not %r and %r"
        raise ValueError(message % (name, bits, begin, end))
    return begin, last


def _flips(key: abi.Scalar) -> tuple[int, int, int]:
    """What `sorting.digit_of` turns round in keys of a type; -0.0, the highest bit alone, becomes what 0.0 does."""
    top, ones = 1 << (8 * key.size - 1), (1 << 8 * key.size) - 1
    return {"uint": (0, 0, 0), "int": (top, top, top), "float": (top, ones, 0)}[key.kind]


def _halves(given: array, count: int) -> list[array]:
    """The words of the first count elements, and of as many after them."""
    size = given._type.element.size
    word = abi.UINT32 if size == 4 else abi.UINT64
    return [views.plain(given, word, (count, size), offset=offset) for offset in (0, count * size)]


def _sort(keys: array, values: array, count: int, flips: tuple[int, ...], first: int, last: int, stream: Any) -> None:
    from kbuild.primitives import catalogue

    sizes = keys._type.element.size, values._type.element.size
    items, count_digits, place_digits, move_pairs = catalogue.sort_kernels(*sizes)
    tiles = -(-count // (BLOCK * items))
    counts = views.scratch((sorting.DIGITS, tiles), int32, keys)
    totals = views.scratch(sorting.DIGITS, int32, keys)
    from_keys, to_keys = _halves(keys, count)
    from_values, to_values = _halves(values, count)
    digits = [(shift, (1 << min(sorting.BITS, last - shift)) - 1) for shift in range(first, last, sorting.BITS)]
    if len(digits) % 2:  # then they end in the second half, and a pass that finds all digits equal takes them back
        digits.append((0, 0))
    for shift, mask in digits:
        if tiles > 1:
            views.launch(count_digits, tiles, (from_keys, counts, count, *flips, shift, mask), stream)
            views.launch(place_digits, mask + 1, (counts, totals), stream)  # of larger ones nobody asks
        pairs = (from_keys, from_values, counts, totals, to_keys, to_values)
        views.launch(move_pairs, tiles, (*pairs, count, tiles, *flips, shift, mask), stream)
        from_keys, to_keys, from_values, to_values = to_keys, from_keys, to_values, from_values


def runlength_encode(
    values: Any,
    run_values: Any,
    run_lengths: Any,
    run_count: Any = None,
    value_count: int | None = None,
    stream: Any = None,
) -> Any:
    """Writes the value and the length of each run of equal elements: [1, 1, 1, 2, 2, 3] is [1, 2, 3] and [3, 2, 1].

    All arrays are of int32, and those for the runs have room for as many as there are elements. How many runs there
    are is written into the array `run_count`, which is returned; without one it is returned as a number, which waits
    for the GPU. Raises TypeError, ValueError, LaunchError.
    """
    name = "runlength_encode"
    if uses.tapes:
        again = lambda: runlength_encode(values, run_values, run_lengths, run_count, value_count, stream)  # noqa: E731
        is_done, result = views.taped(name, [values], [run_values, run_lengths, run_count], stream, again)
        if is_done:
            return result
    given = {"values": values, "run_values": run_values, "run_lengths": run_lengths}
    if run_count is not None:
        given["run_count"] = run_count
    arrays = {what: views.given(name, what, one, stream) for what, one in given.items()}
    for what, one in arrays.items():
        views.scalar_of(name, what, one, ("int32",))
        if one._type.element != abi.INT32 or one.ndim != 1:
            raise TypeError("%s: %s wants one axis of int32, not %r" % (name, what, one))
    views.same_device(name, **arrays)
    count = views.count_of(name, "value_count", value_count, arrays["values"].size)
    for what, least in (("run_values", count), ("run_lengths", count), ("run_count", 1)):
        if what in arrays and arrays[what].size < least:
            message = "%s: %s has room for %d elements, and %d may come"
            raise ValueError(message % (name, what, arrays[what].size, least))
    source, found_values, found_lengths = arrays["values"], arrays["run_values"], arrays["run_lengths"]
    if views.on_host(list(arrays.values())):
        from kbuild.primitives import on_host

        return on_host.runs(source, found_values, found_lengths, arrays.get("run_count"), count)
    found_count = arrays["run_count"] if run_count is not None else views.scratch(1, int32, source)
    if count == 0:
        views.clear(found_count, stream)
    else:
        _encode(source, found_values, found_lengths, found_count, count, stream)
    return run_count if run_count is not None else int(views.read(found_count))


def _encode(values: array, run_values: array, run_lengths: array, run_count: array, count: int, stream: Any) -> None:
    from kbuild.primitives import runs

    chunk, chunks = chunks_of(count)
    heads, lasts = views.scratch(chunks, int32, values), views.scratch(chunks, int32, values)
    if chunks > 1:
        views.launch(runs.count_heads, chunks, (values, heads, lasts, count, chunk), stream)
    views.launch(
        runs.write_runs,
        chunks,
        (values, heads, lasts, run_values, run_lengths, run_count, count, chunk),
        stream,
    )


def array_cast(in_array: Any, out_array: Any, count: int | None = None, stream: Any = None) -> None:
    """Converts each element of `in_array` to the type of `out_array`, as the kernel language does.

    Arrays of different shapes, or of vectors and numbers, are taken as the numbers they consist of. `count` is a
    number of elements, for arrays of one axis only. Raises TypeError, ValueError, LaunchError.
    """
    name = "array_cast"
    if uses.tapes:
        from kbuild.primitives import backward

        again = lambda: array_cast(in_array, out_array, count, stream)  # noqa: E731
        if views.taped(name, [in_array], [out_array], stream, again, backward.of_cast(in_array, out_array, count))[0]:
            return
    source, out = views.given(name, "in_array", in_array, stream), views.given(name, "out_array", out_array, stream)
    kinds = [
        views.scalar_of(name, what, one, casting.TYPES) for what, one in (("in_array", source), ("out_array", out))
    ]
    views.same_device(name, in_array=source, out_array=out)
    axes = _common_axes(name, source, out, count)
    if any(axis[0] == 0 for axis in axes):
        return
    if views.on_host((source, out)):
        from kbuild.primitives import on_host

        on_host.cast(source, out, _product([axis[0] for axis in axes]))
        return
    _cast(source, out, kinds, axes, stream)


def _common_axes(name: str, source: array, out: array, count: int | None) -> list[views.Axis]:
    """The axes of the numbers to convert, with the strides of both arrays."""
    sizes = [views.components(one._type.element) for one in (source, out)]
    scalars = [one._type.element.size // n for one, n in zip((source, out), sizes)]
    if source.shape != out.shape or sizes[0] != sizes[1]:
        (n, _step), (m, _out_step) = views.line(name, "in_array", source), views.line(name, "out_array", out)
        if count is not None:
            n = m = views.count_of(name, "count", count, n)
        if n * sizes[0] > m * sizes[1]:
            message = "%s: in_array has %d numbers, out_array %d"
            raise ValueError(message % (name, n * sizes[0], m * sizes[1]))
        for what, one in (("in_array", source), ("out_array", out)):
            if not views.is_contiguous(one):
                raise ValueError("%s: %s has gaps, and its shape is not the other's" % (name, what))
        return [(n * sizes[0], *scalars)]
    shape = source.shape
    if count is not None and source.ndim == 1:
        shape = (views.count_of(name, "count", count, source.size),)
    elif count is not None and count != source.size:
        raise ValueError("%s: count wants arrays of one axis, not of shape %r" % (name, source.shape))
    axes: list[views.Axis] = list(zip(shape, source.strides, out.strides))
    return [*axes, (sizes[0], *scalars)]


def _product(extents: list[int]) -> int:
    product = 1
    for extent in extents:
        product *= extent
    return product


def _cast(source: array, out: array, kinds: list[abi.Scalar], axes: list[views.Axis], stream: Any) -> None:
    from kbuild.loader import resolve
    from kbuild.primitives import catalogue

    axes = views.merged(axes)
    inner = ([(1, 0, 0), (1, 0, 0), *axes])[-2:]
    for offset, out_offset in views.offsets(axes[:-2]) if len(axes) > 2 else [(0, 0)]:
        numbers = views.plain(source, kinds[0], *[(n, step) for n, step, _ in inner], offset=offset)
        results = views.plain(out, kinds[1], *[(n, step) for n, _, step in inner], offset=out_offset)
        kernel = catalogue.cast_kernel(*[catalogue.type_named(kind.spelling) for kind in kinds])
        resolve.launch(kernel, tuple([n for n, _, _ in inner]), (numbers, results), stream=stream)
