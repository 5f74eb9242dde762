"""Which kernels each function launches: what a build compiles, and a launch asks for."""

from __future__ import annotations

from kbuild.loader import abi
from kbuild.loader.values import class_of, uint8, uint16, uint32, uint64
from kbuild.primitives import accumulating, casting, conditions, copying, reducing, runs, scanning, sorting
from kbuild.primitives.kernels import made_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from kbuild.loader.types import Kernel

_WORDS = {4: uint32, 8: uint64}
_COPIED = {1: uint8, 2: uint16, **_WORDS}


def type_named(spelling: str) -> Any:
    """`kb.float32` of "float32"."""
    return class_of(abi.SCALARS[spelling])


def scan_kernels(dtype: Any) -> tuple[Kernel, Kernel]:
    """What sums up the chunks, and what scans them."""
    return made_once(scanning.make_sums, dtype), made_once(scanning.make_scan, dtype)


def sort_kernels(key_size: int, value_size: int) -> tuple[int, Kernel, Kernel, Kernel]:
    """How many pairs a thread takes; what counts digits, places them, and moves pairs of these sizes in bytes."""
    key, value = _WORDS[key_size], _WORDS[value_size]
    items = sorting.items_of(key, value)
    count, move = made_once(sorting.make_count, key, items), made_once(sorting.make_move, key, value, items)
    return items, count, sorting.place_digits, move


def sum_kernels(dtype: Any, is_product: bool) -> tuple[Kernel, Kernel]:
    """Rows added up by blocks, and by threads."""
    return made_once(reducing.make_blockwise, dtype, is_product), made_once(reducing.make_threadwise, dtype, is_product)


def cast_kernel(source: Any, target: Any) -> Kernel:
    """From one type of number to another."""
    return made_once(casting.make_cast, source, target)


def word_of(size: int) -> Any:
    """The type of whole numbers of so many bytes that copies move."""
    return _COPIED[size]


def copy_kernels(size: int) -> tuple[Kernel, Kernel]:
    """What copies words of a size: as they come, and turning squares of them."""
    return made_once(copying.make_copy, _COPIED[size]), made_once(copying.make_turn, _COPIED[size])


def addition_kernel(dtype: Any) -> Kernel:
    """What adds numbers of a type to others."""
    return made_once(accumulating.make_addition, dtype)


def _scans() -> Iterator[Kernel]:
    for name in scanning.TYPES:
        yield from scan_kernels(type_named(name))


def _sorts() -> Iterator[Kernel]:
    for key_size in _WORDS:
        for value_size in _WORDS:
            yield from sort_kernels(key_size, value_size)[1:]


def _runs() -> Iterator[Kernel]:
    yield runs.count_heads
    yield runs.write_runs


def _sums() -> Iterator[Kernel]:
    for name in reducing.TYPES:
        yield from sum_kernels(type_named(name), False)


def _inner() -> Iterator[Kernel]:
    for name in reducing.TYPES:
        yield from sum_kernels(type_named(name), True)
        yield sum_kernels(type_named(name), False)[0]  # adds up what the chunks give


def _casts() -> Iterator[Kernel]:
    for source in casting.TYPES:
        for target in casting.TYPES:
            yield cast_kernel(type_named(source), type_named(target))  # of one type too: it copies, with strides


def _conditions() -> Iterator[Kernel]:
    yield conditions.set_condition


def _copies() -> Iterator[Kernel]:
    for size in _COPIED:
        yield from copy_kernels(size)
    for name in accumulating.TYPES:
        yield addition_kernel(type_named(name))


KERNELS: dict[str, Callable[[], Iterator[Kernel]]] = {
    "array_cast": _casts,
    "array_inner": _inner,
    "array_scan": _scans,
    "array_sum": _sums,
    "capture_if": _conditions,
    "capture_while": _conditions,
    "copy": _copies,
    "radix_sort_pairs": _sorts,
    "runlength_encode": _runs,
}
