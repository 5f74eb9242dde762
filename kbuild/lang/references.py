"""Parameters that stand for a place of the caller's: `x: wp.ref[float]`.

A place in memory goes as its array and its indices, so that the function works on the element itself, whoever else
does; it is lowered anew for each form of such a place. A variable, or a part of one, cannot be seen by anybody else
while the function runs: its value goes in, and what became of it comes back among the results and is assigned.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from kbuild.errors import InternalError, Span
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Read
from kbuild.ir.traverse import root_of
from kbuild.ir.types import Tuple, Type
from kbuild.lang import places, static, tables
from kbuild.lang.context import Context, assigned_symbols
from kbuild.lang.operands import NOTHING, Operand, Place, Static, describe, structured
from kbuild.lang.parts import fixed
from kbuild.loader import generic
from kbuild.loader.types import Function

_PLACES = (Read, nodes.Index, nodes.Component, nodes.Member)


def wanted(function: Function) -> frozenset[int | str]:
    """Positions and names of the arguments that must be places, in any of a function's overloads."""
    found: set[int | str] = set()
    for one in function.overloads:
        names = generic.parameter_names(one.function)
        references = generic.references(one.function)
        found |= references | {names.index(name) for name in references}
    return frozenset(found)


def arguments(ctx: Context, expressions: Sequence[tuple[ast.expr, bool]], what: str) -> list[Operand]:
    """Operands in order of evaluation; those with True as places, which stay what they were whatever comes after."""
    found: list[Operand] = []
    for node, is_place in expressions:
        with ctx.nested() as block:
            operand = _place(ctx, node, what) if is_place else ctx.expr(node)
        if block:
            changed = assigned_symbols(block)
            found = [
                Place(fixed(ctx, one.place, changed)) if isinstance(one, Place) else ctx.saved(one, changed)
                for one in found
            ]
            ctx.block.extend(block)
        found.append(operand)
    return found


def _place(ctx: Context, node: ast.expr, what: str) -> Place:
    place = places.as_place(ctx, node)
    tables.refuse_storing(ctx, place, node)
    places.refuse_view(ctx, place, node)
    root = root_of(place) if isinstance(place, _PLACES) else None
    is_variable = isinstance(root, Read) and root.symbol in ctx.symbols.values() and root.symbol not in ctx.shared
    if not isinstance(place, _PLACES) or not (is_variable or isinstance(root, nodes.Index)):
        help = "copy it into a variable first, and pass that"
        ctx.refuse("KB171", f"{what} changes this argument: it must be a place, not {describe(place)}", node, help)
    if not isinstance(root, Read):
        return Place(place)
    name = root.symbol.name
    if root.symbol in ctx.counters:
        help = f"copy it into a variable first: `mine = {name}`"
        ctx.refuse("KB171", f"{what} changes this argument, and {name!r} is the variable of a loop", node, help)
    places.refuse_parameter_field(ctx, place, node)
    if name in ctx.known:
        if static.mentions_in_static(ctx, ctx.definition.body, name):
            help = "use another variable for what static() reads"
            ctx.refuse("KB181", f"static() cannot see {name!r}: {what} changes it", node, help)
        del ctx.known[name]
    return Place(place)


def in_memory(place: Expr) -> bool:
    """The place is an element of an array, or a part of one."""
    return isinstance(root_of(place), nodes.Index)


def values(place: Expr) -> list[Expr]:
    """What tells a place in memory: the array, and indices that are not written into its form."""
    match place:
        case nodes.Index(array, indices):
            return [array, *indices]
        case nodes.Component(base, indices):
            return [*values(base), *(i for i in indices if not isinstance(i, Const))]
        case nodes.Member(base):
            return values(base)
    raise InternalError(f"no place in memory: {place}")


def form(place: Expr) -> object:
    """What a place in memory has in common with all others that one lowered function can work on."""
    match place:
        case nodes.Index(array, indices):
            return "element", array.type, tuple(index.type for index in indices)
        case nodes.Component(base, indices):
            return form(base), tuple(i.value if isinstance(i, Const) else i.type for i in indices)
        case nodes.Member(base, field):
            return form(base), field
    raise InternalError(f"no place in memory: {place}")


def renamed(place: Expr, fresh: Callable[[Expr], Expr]) -> Expr:
    """The place with `fresh` of each of its `values`, in their order."""
    match place:
        case nodes.Index(array, indices, type, span):
            new = fresh(array)
            return nodes.Index(new, tuple(fresh(i) for i in indices), type, span)
        case nodes.Component(base, indices, type, span):
            inner = renamed(base, fresh)
            return nodes.Component(inner, tuple(i if isinstance(i, Const) else fresh(i) for i in indices), type, span)
        case nodes.Member(base, field, type, span):
            return nodes.Member(renamed(base, fresh), field, type, span)
    raise InternalError(f"no place in memory: {place}")


def refuse_overlaps(ctx: Context, given: Sequence[Operand], node: ast.AST, what: str) -> None:
    """Two references to one variable: what comes back of one would hide what came back of the other."""
    copied = [one.place for one in given if isinstance(one, Place) and not in_memory(one.place)]
    for number, one in enumerate(copied):
        for other in copied[:number]:
            first, second = root_of(one), root_of(other)
            assert isinstance(first, Read)
            assert isinstance(second, Read)
            if first.symbol is second.symbol and _may_overlap(_path(one), _path(other)):
                text = f"two arguments that {what} changes may be the same part of {first.symbol.name!r}"
                ctx.refuse("KB171", text, node, "copy one of them into a variable of its own")


def _path(place: Expr) -> list[object]:
    """The way from a variable to a part of it: names of fields, numbers of components, None for one that varies."""
    match place:
        case nodes.Component(base, indices):
            return [*_path(base), *(i.value if isinstance(i, Const) else None for i in indices)]
        case nodes.Member(base, field):
            return [*_path(base), field]
    return []


def _may_overlap(one: list[object], other: list[object]) -> bool:
    return all(a == b or a is None or b is None for a, b in zip(one, other, strict=False))


# What a function gives back


def result(ctx: Context, value: Expr | None, span: Span) -> Expr | None:
    """What `return value` returns, together with what has become of the variables that were passed."""
    if not ctx.copied:
        return value
    own = () if value is None else value.parts if isinstance(value, nodes.Build) and _is_several(value) else (value,)
    parts = (*own, *(Read(one, one.type, span) for one in ctx.copied))
    return parts[0] if len(parts) == 1 else nodes.Build(parts, Tuple(tuple(p.type for p in parts)), span)


def _is_several(value: Expr) -> bool:
    return isinstance(value.type, Tuple)


def results(ctx: Context, call: nodes.Call, given: Sequence[Operand], plain: Type, span: Span) -> Operand:
    """The call as a statement, and what it has changed back in its place; what it returns."""
    copied = [one.place for one in given if isinstance(one, Place) and not in_memory(one.place)]
    value = ctx.with_effects(call)
    if not isinstance(call.type, Tuple):
        (place,) = copied
        ctx.emit(nodes.Assign(place, ctx.taken(value) if isinstance(place, Read) else value, span))
        return Static(NOTHING, span)
    items = [nodes.Item(value, i, item, span) for i, item in enumerate(call.type.items)]
    count = len(items) - len(copied)
    for place, item in zip(copied, items[count:], strict=True):
        ctx.emit(nodes.Assign(place, item, span))
    if count == 0:
        return Static(NOTHING, span)
    return structured(iter(items[:count]), ctx.program.structure(call.callee), span)
