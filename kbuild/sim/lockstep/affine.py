"""Integers that grow by a fixed step from lane to lane: thread numbers, and what is computed of them.

They are kept as three numbers: arithmetic with them costs nothing, and an array indexed by them is a slice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kbuild.ir.types import Scalar
from kbuild.sim.arithmetic import dtype_of


class Affine:
    """`start + step * lane` for `count` lanes; every one of them is in the range of the type."""

    __slots__ = ("_dense", "count", "start", "step", "type")

    def __init__(self, start: int, step: int, count: int, type: Scalar) -> None:
        self.start, self.step, self.count, self.type = start, step, count, type
        self._dense: Any = None

    @property
    def last(self) -> int:
        """The last lane's."""
        return self.start + self.step * (self.count - 1)

    @property
    def low(self) -> int:
        return min(self.start, self.last)

    @property
    def high(self) -> int:
        return max(self.start, self.last)

    def dense(self) -> Any:
        """One number for each lane."""
        if self._dense is None:
            dtype = dtype_of(self.type)
            if self.step == 0:
                self._dense = np.full(self.count, self.start, dtype)
            else:
                whole = self.start + self.step * np.arange(self.count, dtype=np.int64)
                self._dense = whole.astype(dtype)
        return self._dense


def made(start: int, step: int, count: int, type: Scalar) -> Affine | None:
    """The sequence, or None where it leaves the range of its type and would wrap."""
    bits = 8 * type.size
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type.kind == "int" else (0, (1 << bits) - 1)
    last = start + step * (count - 1)
    if low <= min(start, last) and max(start, last) <= high:
        return Affine(start, step, count, type)
    return None


def binary(op: str, a: Any, b: Any, type: Scalar) -> Affine | None:
    """`a op b` where it stays such a sequence; one of the two is one, the other one, or one number for all lanes."""
    if op not in ("add", "sub", "mul") or type.kind not in ("int", "uint"):
        return None
    left = (a.start, a.step, a.count) if isinstance(a, Affine) else _uniform(a)
    right = (b.start, b.step, b.count) if isinstance(b, Affine) else _uniform(b)
    if left is None or right is None:
        return None
    count = max(left[2], right[2])
    if op == "mul":
        if left[1] and right[1]:
            return None
        return made(left[0] * right[0], left[1] * right[0] + left[0] * right[1], count, type)
    sign = 1 if op == "add" else -1
    return made(left[0] + sign * right[0], left[1] + sign * right[1], count, type)


def _uniform(value: Any) -> tuple[int, int, int] | None:
    return (int(value), 0, 0) if isinstance(value, np.generic) else None


def are_simple(a: Any, b: Any) -> bool:
    """One of the two is a sequence, the other too, or one number for all lanes."""
    kinds = {isinstance(a, Affine), isinstance(b, Affine)}
    return True in kinds and all(isinstance(one, (Affine, np.generic)) for one in (a, b))


def compare(op: str, a: Any, b: Any) -> Any:
    """`a op b` as one answer for all lanes, where their ranges decide it; None where they do not."""
    low_a, high_a = _range(a)
    low_b, high_b = _range(b)
    if op in ("gt", "ge"):
        return compare({"gt": "lt", "ge": "le"}[op], b, a)
    if op == "lt":
        return np.True_ if high_a < low_b else np.False_ if low_a >= high_b else None
    if op == "le":
        return np.True_ if high_a <= low_b else np.False_ if low_a > high_b else None
    if high_a < low_b or high_b < low_a:
        return np.bool_(op == "ne")
    if low_a == high_a == low_b == high_b:
        return np.bool_(op == "eq")
    return None


def _range(value: Any) -> tuple[int, int]:
    return (value.low, value.high) if isinstance(value, Affine) else (int(value), int(value))
