"""Searching in arrays, in the kernel language."""

from __future__ import annotations

from typing import Any

from kbuild.intrinsics.overload import Overload, overload
from kbuild.loader.types import func
from kbuild.loader.values import int32

# The bodies below are kernel code: their types are inferred while lowering, not by Python's type checker.
# mypy: ignore-errors


@func
def lower_bound_between(arr: Any, arr_begin: int32, arr_end: int32, value: Any):
    """The first position in arr_begin … arr_end - 1 whose element is not below the value, else arr_end.

    The elements there must not fall. Bisection: Knuth, "The Art of Computer Programming", volume 3, 6.2.1.
    """
    low = arr_begin
    high = arr_end
    while low < high:
        middle = low + (high - low) // 2
        if arr[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@func
def lower_bound(arr: Any, value: Any):
    """The first position whose element is not below the value, else the length of the array; elements never fall."""
    return lower_bound_between(arr, 0, len(arr), value)


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "lower_bound": (
        overload("array number", lower_bound),
        overload("array integer integer number", lower_bound_between),
    ),
}
