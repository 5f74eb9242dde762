"""`watch`: what variables of chosen lanes become, whenever they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kbuild.errors import Span, did_you_mean
from kbuild.ir.nodes import For, Function, Kernel, Read, Symbol
from kbuild.ir.traverse import callees, walk
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep import tree
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.watching import Watcher
from kbuild.sim.looking import threads
from kbuild.sim.looking.variables import held, of_lane


@dataclass(frozen=True)
class Change:
    """A variable of a thread gets another value; `old` is None before it had one."""

    path: str
    line: int
    name: str
    thread: tuple[int, ...]
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: thread {self.thread}: {self.name} = {self.new!r} (was {self.old!r})"


class Changes(list[Change]):
    """Changes in the order of statements, and of threads within one; as text a line for each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def names_in(kernel: Kernel) -> set[str]:
    """The variables that a kernel and the functions that it calls name in their source."""
    functions: list[Function] = [*callees(kernel.function), kernel.function]
    found = {symbol.name for function in functions for symbol in (*function.parameters, *function.shared)}
    for function in functions:
        for node in walk(function.body):
            if isinstance(node, (Read, For)) and node.symbol.span is not None:
                found.add(node.symbol.name)
    return found


def require_name(name: str, kernel: Kernel) -> None:
    """Raises LookupError for a name that no variable has."""
    known = names_in(kernel)
    if name not in known:
        near = did_you_mean(name, known)
        listing = f"its variables are {', '.join(sorted(known))}"
        raise LookupError(f"{kernel.name} has no variable {name!r}: {near or listing}")


class Watch(Watcher):
    """Notes changes of variables: `{name: threads}`, None for all threads. Raises LookupError when a launch begins."""

    wants_variables = True

    def __init__(self, wanted: Mapping[str, Iterable[Any] | None]) -> None:
        self.wanted = {name: None if given is None else list(given) for name, given in wanted.items()}
        self.changes = Changes()
        self._numbers: dict[str, Any] = {}

    def starts(self, kernel: Kernel, launch: Launch) -> None:
        """Raises LookupError for a name or a thread that is none."""
        for name in self.wanted:
            require_name(name, kernel)
        self._numbers = {name: threads.numbers(given, launch.dim) for name, given in self.wanted.items()}

    def assigns(self, symbol: Symbol, value: Any, frame: Frame, span: Span | None, positions: Any) -> None:
        """Notes the lanes whose value differs."""
        if symbol.name not in self._numbers or symbol.span is None or span is None:
            return
        lanes = frame.lanes
        chosen = threads.chosen(lanes, self._numbers[symbol.name])
        if chosen is None:
            chosen = np.arange(lanes.count) if positions is None else positions
        elif positions is not None:
            chosen = np.intersect1d(chosen, positions)
        is_first = not _has(frame, symbol)
        before = held(frame, symbol)
        for position in chosen if is_first else _differing(value, before, chosen, lanes.count):
            old = None if is_first else of_lane(before, symbol.type, position)
            new = of_lane(value, symbol.type, position)
            place = lanes.coordinates(position)
            self.changes.append(Change(span.path, span.line, symbol.name, place, old, new))


def _has(frame: Frame, symbol: Symbol) -> bool:
    at: Frame | None = frame
    while at is not None:
        if symbol in at.written or (at.parent is None and symbol in at.values):
            return True
        at = at.parent
    return False


def _differing(value: Any, before: Any, chosen: Any, count: int) -> Any:
    """Those of the chosen positions whose value is another, to the bit."""
    if len(chosen) == 0:
        return chosen
    differ = np.zeros(len(chosen), bool)

    def compare(new: Any, old: Any) -> Any:
        nonlocal differ
        one, two = (np.ascontiguousarray(tree.spread(leaf, count)[chosen]) for leaf in (new, old))
        bits = f"u{one.dtype.itemsize}"
        differ |= one.view(bits) != two.view(bits) if one.dtype == two.dtype else True
        return new

    tree.mapped(compare, value, before)
    return chosen[differ]
