"""Which variables carry derivatives: those that depend on an array's numbers, and that an array's numbers depend on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from kbuild.autodiff.flat import Do, Set, Tree, every, has_floats, in_memory, path_of
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Symbol
from kbuild.ir.traverse import root_of
from kbuild.ir.types import Array, Tuple

Flow: TypeAlias = "Symbol | str"


class Activity:
    """What is active in a kernel. Independent of the order of statements."""

    def __init__(self, body: list[Tree]) -> None:
        flows = list(_flows(body))
        self.varied: set[Symbol] = set()
        self.useful: set[Symbol] = set()
        self._grow(self.varied, [(target, sources) for target, sources in flows if isinstance(target, Symbol)])
        backward = [(one, [target]) for target, sources in flows for one in sources if isinstance(one, Symbol)]
        self._grow(self.useful, backward)
        self.active = self.varied & self.useful

    @staticmethod
    def _grow(known: set[Symbol], flows: list[tuple[Symbol, list[Flow]]]) -> None:
        """Adds every symbol that something known, or memory, flows to."""
        into: dict[Symbol, list[Symbol]] = {}
        waiting: list[Symbol] = []
        for target, sources in flows:
            for source in sources:
                if isinstance(source, Symbol):
                    into.setdefault(source, []).append(target)
                elif target not in known:
                    known.add(target)
                    waiting.append(target)
        while waiting:
            for target in into.get(waiting.pop(), ()):
                if target not in known:
                    known.add(target)
                    waiting.append(target)

    def is_active(self, expr: Expr) -> bool:
        """Derivatives flow through an expression's value."""
        return any(not isinstance(one, Symbol) or one in self.active for one in sources_of(expr))


def _flows(body: list[Tree]) -> Iterator[tuple[Flow, list[Flow]]]:
    """Assignments as (what is assigned, what flows into it); memory is a path."""
    for one in every(body):
        if isinstance(one, Set):
            target = one.target
            if isinstance(one.value, nodes.Intrinsic) and one.value.arguments and in_memory(one.value.arguments[0]):
                yield from _atomic(one.value, target)
            elif isinstance(one.value, nodes.Call):
                yield from _call(one.value, target)
            elif has_floats(target.type):
                yield _root(target), list(sources_of(one.value))
        elif isinstance(one, Do):
            if isinstance(one.value, nodes.Call):
                yield from _call(one.value, None)
            else:
                assert isinstance(one.value, nodes.Intrinsic)
                yield from _atomic(one.value, None)


def _atomic(value: nodes.Intrinsic, result: Expr | None) -> Iterator[tuple[Flow, list[Flow]]]:
    place, *operands = value.arguments
    if has_floats(place.type):
        yield _root(place), [one for operand in operands for one in sources_of(operand)]
        if result is not None:
            yield _root(result), [_root(place)]


def _call(value: nodes.Call, result: Expr | None) -> Iterator[tuple[Flow, list[Flow]]]:
    """A call that stays one: everything flows into its result, and into the arrays that it was given."""
    sources = [one for argument in value.arguments for one in _given(argument)]
    if value.callee.gradient is None:
        return
    if result is not None:
        yield _root(result), sources
    for one in sources:
        if isinstance(one, str):
            yield one, sources


def _given(argument: Expr) -> Iterator[Flow]:
    if isinstance(argument.type, Array):
        if has_floats(argument.type.element) and (path := path_of(argument)) is not None:
            yield path
    elif isinstance(argument, nodes.Build):
        for part in argument.parts:
            yield from _given(part)
    else:
        yield from sources_of(argument)


def _root(place: Expr) -> Flow:
    root = root_of(place)
    if isinstance(root, nodes.Read):
        return root.symbol
    assert isinstance(root, nodes.Index)
    return path_of(root.array) or ""  # an array that is not there


def sources_of(expr: Expr) -> Iterator[Flow]:
    """The variables and arrays whose derivatives an expression's value depends on."""
    if not has_floats(expr.type) and not isinstance(expr.type, Tuple):
        return
    match expr:
        case nodes.Read(symbol):
            yield symbol
        case nodes.Index(array):
            if (path := path_of(array)) is not None:
                yield path
        case nodes.Component(base) | nodes.Member(base) | nodes.Item(base):
            root = root_of(base)
            if isinstance(root, nodes.Read):
                yield root.symbol
            else:
                yield from sources_of(root if isinstance(root, nodes.Index) else base)
        case nodes.Unary(_, operand) | nodes.Convert(operand):
            yield from sources_of(operand)
        case nodes.Binary(_, left, right):
            yield from sources_of(left)
            yield from sources_of(right)
        case nodes.Select(_, then, otherwise):
            yield from sources_of(then)
            yield from sources_of(otherwise)
        case nodes.Fma(a, b, c):
            for one in (a, b, c):
                yield from sources_of(one)
        case nodes.Build(parts):
            for one in parts:
                yield from sources_of(one)
        case nodes.Intrinsic(_, arguments):
            for one in arguments:
                yield from sources_of(one)
