"""Sizes for the generated inputs of a kernel with which what it states of its launches holds.

    suited(kernel, (64,))   →   {"pos": [64, 3], "n": 64}, (64,)

What is stated to be equal gets one number: the one that is stated, else that of the launch, else the usual one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kbuild.ir.nodes import Kernel
from kbuild.ir.stated import comparisons
from kbuild.ir.types import Array
from kbuild.loader import selftest

MOST_THREADS = 4096
MOST_ELEMENTS = 1 << 16  # of an array


def suited(kernel: Kernel, dim: tuple[int, ...]) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Shapes and numbers by parameter, where they are not the usual ones, and over what the kernel is launched: `dim`
    where it says nothing of that. Raises selftest.Unsuitable.
    """
    groups = _groups(kernel)
    arrays = {p.name: selftest.EXTENTS[p.type.ndim] for p in kernel.function.parameters if isinstance(p.type, Array)}
    numbers: dict[str, int] = {}
    for group in groups.values():
        value = _number(group, dim, arrays)
        numbers.update(dict.fromkeys(group, value) if value is not None else {})
    dim = tuple(numbers.get(f"dim[{axis}]", n) for axis, n in enumerate(dim))
    given: dict[str, Any] = {}
    for name, usual in arrays.items():
        shape = [numbers.get(f"{name}.shape[{axis}]", n) for axis, n in enumerate(usual)]
        if shape != list(usual):
            given[name] = shape
        _check(math.prod(shape), MOST_ELEMENTS, "an array of {} elements is stated")
    given.update({p.name: numbers[p.name] for p in kernel.function.parameters if p.name in numbers})
    _check(math.prod(dim), MOST_THREADS, "a launch of {} threads is stated")
    return given, dim


def _check(count: int, most: int, text: str) -> None:
    if count > most:
        raise selftest.Unsuitable(f"{text.format(count)}, more than the self-test makes")


def _groups(kernel: Kernel) -> dict[str, frozenset[str]]:
    """Terms that are stated to be equal, by each of them."""
    found: dict[str, frozenset[str]] = {}
    for one in comparisons(kernel):
        if one.operator == "==" and " " not in one.left + one.right:  # what is computed only the kernel's run will tell
            both = found.get(one.left, frozenset({one.left})) | found.get(one.right, frozenset({one.right}))
            found.update(dict.fromkeys(both, both))
    return found


def _number(group: frozenset[str], dim: tuple[int, ...], arrays: Mapping[str, tuple[int, ...]]) -> int | None:
    """What all of them are; None where nothing asks for a whole number."""
    stated = [int(term) for term in group if term.lstrip("-").isdigit()]
    if stated:
        return stated[0]
    usual = [n for axis, n in enumerate(dim) if f"dim[{axis}]" in group]
    usual += [n for name, shape in arrays.items() for axis, n in enumerate(shape) if f"{name}.shape[{axis}]" in group]
    return usual[0] if usual else None
