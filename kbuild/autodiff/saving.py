"""Where saved values live.

Outside loops each save is a variable of its own. In loops they go on a stack of the thread's own for each scalar type:
`float32` (float16 too), `float64`, `int32` (narrower integers and bool too) and `int64`. If the largest number of words
is known and small, the stacks are vectors in the thread; else columns of arrays that the launch brings along, and every
access is checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kbuild.autodiff.flat import components, fresh, int_const, read
from kbuild.errors import Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Stmt, Symbol
from kbuild.ir.types import (
    BOOL,
    FLOAT64,
    INT32,
    SCALARS,
    Array,
    Scalar,
    Type,
    Vector,
    element_of,
    is_composite,
)

MOST_WORDS = 64  # of all stacks in a thread itself; more are slower there than in memory
STACKS = ("float32", "float64", "int32", "int64")


def stack_of(type: Type) -> str:
    """The stack that a value of a type goes to."""
    element = element_of(type)
    assert isinstance(element, Scalar)
    if element.kind == "float":
        return "float64" if element == FLOAT64 else "float32"
    return "int64" if element.size == 8 else "int32"


def words_of(type: Type) -> int:
    """How many words a value takes on its stack."""
    return len(components(nodes.Read(Symbol("any", type), type))) if is_composite(type) else 1


@dataclass
class Amounts:
    """Words by stack; None where only a run can tell. `is_promised`: the kernel's author has said how many at most."""

    words: dict[str, int | None] = field(default_factory=dict)
    is_promised: bool = False

    def add(self, stack: str, words: int | None, is_promised: bool) -> None:
        """Some more on a stack."""
        before = self.words.get(stack, 0)
        self.words[stack] = None if words is None or before is None else before + words
        self.is_promised |= is_promised

    @property
    def are_small(self) -> bool:
        """They fit into a thread, where nobody checks: a promise is not enough for that."""
        known = [one for one in self.words.values() if one is not None]
        return not self.is_promised and len(known) == len(self.words) and sum(known) <= MOST_WORDS


class Stacks:
    """The stacks of one kernel."""

    def __init__(self, amounts: Amounts) -> None:
        self.in_thread = amounts.are_small
        self.words = amounts.words
        self.names = [name for name in STACKS if name in amounts.words]
        self.tops = {name: fresh(f"{name}_top", INT32) for name in self.names}
        self.ends = {name: fresh(f"{name}_end", INT32) for name in self.names}
        self.slot = fresh("slot", INT32)
        self.counting = fresh("counting", BOOL)
        self.counts = fresh("saved_words", Array(INT32, 1))
        self.stores = {
            name: fresh(
                f"saved_{name}",
                Vector(amounts.words[name] or 1, SCALARS[name]) if self.in_thread else Array(SCALARS[name], 2),
            )
            for name in self.names
        }

    @property
    def parameters(self) -> list[Symbol]:
        """What the launch brings along."""
        if self.in_thread or not self.names:
            return []
        return [*(self.stores[name] for name in self.names), self.counts, self.counting]

    def begin(self) -> list[Stmt]:
        """What stands before the forward sweep."""
        if not self.parameters:
            return []
        made: list[Stmt] = [nodes.Assign(read(self.slot), nodes.Position("launch_idx", None, INT32))]
        for name in self.names:
            store = read(self.stores[name])
            extent = nodes.Select(nodes.Present(store, BOOL), nodes.Extent(store, 0, INT32), int_const(0), INT32)
            made.append(nodes.Assign(read(self.ends[name]), extent))
        return made

    def turn(self) -> list[Stmt]:
        """What stands between the sweeps: a thread that does not go back says how much it would have saved."""
        if not self.parameters:
            return []
        stops: Expr = read(self.counting)
        told: list[Stmt] = []
        for number, name in enumerate(self.names):
            top = read(self.tops[name])
            beyond = nodes.Compare("gt", top, read(self.ends[name]), BOOL)
            stops = nodes.Logical("or", stops, beyond, BOOL)
            place = nodes.Index(read(self.counts), (int_const(number),), INT32)
            told.append(nodes.Evaluate(nodes.Intrinsic("atomic_max", (place, top), INT32)))
        return [nodes.If(stops, (*told, nodes.Return(None)), ())]

    def push(self, value: Expr, span: Span | None) -> list[Stmt]:
        """Saves a value."""
        name = stack_of(value.type)
        top = read(self.tops[name])
        words = [_converted(one, SCALARS[name]) for one in _words(value)]
        stores: list[Stmt] = [
            nodes.Assign(self._word(name, _plus(top, number)), word, span) for number, word in enumerate(words)
        ]
        if not self.in_thread:
            last = _plus(top, len(words) - 1)
            stores = [nodes.If(nodes.Compare("lt", last, read(self.ends[name]), BOOL), tuple(stores), (), span)]
        return [*stores, nodes.Assign(top, _plus(top, len(words)), span)]

    def pop(self, place: Expr, span: Span | None) -> list[Stmt]:
        """Puts back what was saved last."""
        name = stack_of(place.type)
        top, targets = read(self.tops[name]), _words(place)
        made: list[Stmt] = [nodes.Assign(top, _plus(top, -len(targets)), span)]
        for number, target in enumerate(targets):
            word = self._word(name, _plus(top, number))
            made.append(nodes.Assign(target, _converted(word, target.type), span))
        return made

    def _word(self, name: str, position: Expr) -> Expr:
        store = read(self.stores[name])
        if self.in_thread:
            return nodes.Component(store, (position,), SCALARS[name])
        return nodes.Index(store, (position, read(self.slot)), SCALARS[name])


def _words(value: Expr) -> list[Expr]:
    return list(components(value)) if is_composite(value.type) else [value]


def _plus(expr: Expr, number: int) -> Expr:
    return nodes.Binary("add", expr, int_const(number), INT32) if number else expr


def _converted(expr: Expr, type: Type) -> Expr:
    """Narrower integers, bool and float16 come back as they were."""
    return expr if expr.type == type else nodes.Convert(expr, type)
