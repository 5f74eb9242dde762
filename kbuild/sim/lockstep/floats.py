"""What floating-point operations meet on the way: NaNs that come of numbers, and the exceptions of IEEE 754.

Looked at are arithmetic, functions and conversions, where lanes ask for the value; atomics are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr
from kbuild.ir.types import Scalar, element_of
from kbuild.sim import flags
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.places import at_lane
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.values import Fault

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%"}


class NotANumber(Fault):
    """A NaN that comes of numbers."""


class NotANumbers(Watcher):
    """Raises NotANumber."""

    wants_values = True

    def computed(self, expr: Expr, found: Any, operands: list[Any], frame: Frame) -> None:
        """Raises NotANumber."""
        if isinstance(expr, nodes.Convert):
            return  # gives a NaN for a NaN alone
        for op, result, parts in _operations(expr, found, operands):
            where = flags.raised(op, result, parts).get("invalid") if np.isnan(result).any() else None
            if where is not None:
                position = int(np.argmax(where)) if np.ndim(where) else 0
                numbers = [tree.lane_of(one, position) for one in parts]
                raise at_lane(NotANumber(f"{_words(op, numbers)} is not a number"), position)


@dataclass(frozen=True, order=True)
class FloatException:
    """What happened how often on a line, and the coordinates of the thread that it happened to first. `kind` is one of
    `flags.KINDS`.
    """

    path: str
    line: int
    kind: str
    count: int
    thread: tuple[int, ...]

    def __str__(self) -> str:
        times = "once" if self.count == 1 else f"{self.count} times, first"
        return f"{self.path}:{self.line}: {self.kind}, {times} in thread {self.thread}"


class FloatExceptions(Watcher):
    """Counts exceptions by line and kind."""

    wants_values = True

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, str], tuple[int, tuple[int, ...]]] = {}

    def computed(self, expr: Expr, found: Any, operands: list[Any], frame: Frame) -> None:
        """Counts those of one operation in all lanes."""
        if isinstance(expr, nodes.Convert):
            source, target = element_of(expr.operand.type), element_of(expr.type)
            assert isinstance(source, Scalar)
            assert isinstance(target, Scalar)
            self._add(expr, flags.converted(tree.dense(found), tree.dense(operands[0]), source, target), frame)
            return
        for op, result, parts in _operations(expr, found, operands):
            self._add(expr, flags.raised(op, result, parts), frame)

    def _add(self, expr: Expr, raised: dict[str, Any], frame: Frame) -> None:
        for kind, where in raised.items():
            count = int(np.count_nonzero(where)) if np.ndim(where) else frame.lanes.count
            position = int(np.argmax(where)) if np.ndim(where) else 0
            place = ("", 0, kind) if expr.span is None else (expr.span.path, expr.span.line, kind)
            before, thread = self._found.get(place, (0, ()))
            self._found[place] = before + count, thread or frame.lanes.coordinates(position)

    def result(self) -> tuple[FloatException, ...]:
        """In the order of lines."""
        return tuple(sorted(FloatException(*place, *seen) for place, seen in self._found.items()))


def _operations(expr: Expr, found: Any, operands: Sequence[Any]) -> Iterator[tuple[str, Any, list[Any]]]:
    """(name, result, operands) of each floating-point operation that an expression stands for."""
    kind = element_of(expr.type)
    if not isinstance(kind, Scalar) or kind.kind != "float":
        return
    op = expr.op if isinstance(expr, nodes.Binary) else expr.name if isinstance(expr, nodes.Intrinsic) else "fma"
    if not isinstance(found, list):
        yield op, tree.dense(found), [tree.dense(one) for one in operands]
        return
    for result, *parts in zip(found, *operands, strict=True):
        yield op, tree.dense(result), [tree.dense(one) for one in parts]


def _words(op: str, numbers: Sequence[Any]) -> str:
    """An operation, as it may be written."""
    if op in _SIGNS:
        return f"{numbers[0]!r} {_SIGNS[op]} {numbers[1]!r}"
    return f"{op}({', '.join(map(repr, numbers))})"
