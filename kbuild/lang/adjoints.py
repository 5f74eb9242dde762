"""`kb.adjoint[x]` in a function made with `kb.func_grad`.

The adjoint of a value is a local variable, which starts at zero and is returned; that of an array is an array, a
parameter that may not be there: what would change its elements is left out then, and they read as zero.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from kbuild.ir import nodes
from kbuild.ir.gradients import has_floats, interface
from kbuild.ir.nodes import Expr, Function, Read, Symbol
from kbuild.ir.traverse import root_of
from kbuild.ir.types import BOOL, Array, Tuple
from kbuild.lang.context import Context
from kbuild.lang.operands import Operand, describe
from kbuild.lang.scope import UnresolvedName
from kbuild.lang.source import head
from kbuild.lang.zeros import zero
from kbuild.loader.own_gradients import adjoint


def is_adjoint(ctx: Context, node: ast.expr) -> bool:
    """`kb.adjoint[…]`."""
    if not isinstance(node, ast.Subscript) or not ctx.scope.is_outer(node.value):
        return False
    try:
        return ctx.scope.resolve(node.value).value is adjoint
    except UnresolvedName:
        return False


def of(ctx: Context, operand: Operand, node: ast.expr) -> Expr:
    """The place of the adjoint of what an operand is a part of."""
    if ctx.adjoints is None:
        help = "it is for functions made with @kb.func_grad(f), and has the adjoints of their parameters"
        ctx.refuse("KB197", "kb.adjoint has a meaning in gradients alone", node, help)
    if isinstance(operand, (Read, nodes.Index, nodes.Component, nodes.Member, nodes.View, nodes.Build)):
        return _mapped(ctx, ctx.adjoints, operand, node)
    ctx.refuse("KB197", f"{describe(operand)} is no parameter, and has no adjoint", node, _HELP)


_HELP = "write `kb.adjoint[x]` for a parameter x that is, or holds, floating-point numbers"


def _mapped(ctx: Context, adjoints: dict[Symbol, Symbol], place: Expr, node: ast.expr) -> Expr:
    span = ctx.span(node)
    match place:
        case Read(symbol) if symbol in adjoints:
            return Read(adjoints[symbol], symbol.type, span)
        case Read(symbol) if symbol in ctx.parameters:
            ctx.refuse("KB197", f"{symbol.name!r} is {symbol.type}, which has no adjoint", node, _HELP)
        case Read(symbol):
            ctx.refuse("KB197", f"{symbol.name!r} is no parameter, and has no adjoint", node, _HELP)
        case nodes.Member(type=Array()):
            help = "let the function take the array itself"
            ctx.refuse("KB197", f"the array {place.field!r} in a struct has no adjoint of its own here", node, help)
        case nodes.Index(array, indices, type):
            return nodes.Index(_mapped(ctx, adjoints, array, node), indices, type, span)
        case nodes.View(array, indices, type):
            return nodes.View(_mapped(ctx, adjoints, array, node), indices, type, span)
        case nodes.Component(base, indices, type):
            return nodes.Component(_mapped(ctx, adjoints, base, node), indices, type, span)
        case nodes.Member(base, field, type) if has_floats(type):
            return nodes.Member(_mapped(ctx, adjoints, base, node), field, type, span)
        case nodes.Build(parts, type) if parts:
            return nodes.Build(tuple(_mapped(ctx, adjoints, part, node) for part in parts), type, span)
    ctx.refuse("KB197", f"this {place.type} is no part of a parameter with an adjoint", node, _HELP)


def is_variable(ctx: Context, place: Operand) -> bool:
    """The adjoint of a whole value: it may be assigned."""
    known = ctx.adjoints is not None and isinstance(place, Read) and place.symbol in ctx.adjoints.values()
    return known and not isinstance(place.type, Array)  # type: ignore[union-attr]


# Arrays that may not be there


def read(ctx: Context, value: Operand, node: ast.AST) -> Operand:
    """An element of an adjoint array as a value: zero where there is no array."""
    array = _adjoint_array(ctx, value)
    if array is None or not isinstance(value, nodes.Index):
        return value
    span = ctx.span(node)
    return nodes.Select(nodes.Present(array, BOOL, span), value, zero(ctx, value.type, node), value.type, span)


@contextmanager
def guarded(ctx: Context, place: Expr, node: ast.AST) -> Iterator[None]:
    """What is emitted inside happens only where the adjoint array that a place lies in is there."""
    array = _adjoint_array(ctx, place)
    if array is None:
        yield
        return
    with ctx.nested() as block:
        yield
    span = ctx.span(node)
    ctx.emit(nodes.If(nodes.Present(array, BOOL, span), tuple(block), (), span))


def _adjoint_array(ctx: Context, place: Operand) -> Expr | None:
    """The array that a place lies in, unless it is one of the function's own parameters."""
    if ctx.adjoints is None or not isinstance(place, (nodes.Index, nodes.Component, nodes.Member)):
        return None
    root = root_of(place)
    if not isinstance(root, nodes.Index):
        return None
    array = root.array
    while isinstance(array, (nodes.View, nodes.Member, nodes.Component, nodes.Index)):
        array = array.base if isinstance(array, (nodes.Member, nodes.Component)) else array.array
    is_own = isinstance(array, Read) and array.symbol in ctx.parameters
    return None if is_own else root.array


# The function as a whole


def parameters(ctx: Context, own: tuple[Symbol, ...], primal: Function) -> tuple[Symbol, ...]:
    """The parameters of a gradient: its own, which must be the function's and the adjoint of each result, and between
    those the adjoints of arrays."""
    count, about = len(primal.parameters), interface(primal)
    wanted = [*(one.type for one in primal.parameters), *about.results]
    for number, (symbol, type) in enumerate(zip(own, wanted, strict=False)):
        if symbol.type != type:
            where = "as in the function" if number < count else "as the result"
            text = f"{symbol.name!r} of {ctx.owner.name} must be {type} {where}, not {symbol.type}"
            ctx.refuse("KB196", text, symbol.span or ctx.definition)
    if len(own) != len(wanted):
        text = f"{ctx.owner.name} must take the parameters of its function, and the adjoint of each result"
        ctx.refuse("KB196", text, head(ctx.file, ctx.definition))
    pairs = list(zip(own, primal.parameters, strict=False))
    found = {
        mine: Symbol(f"adj_{mine.name}", mine.type, mine.span)
        for mine, p in pairs
        if p in (*about.arrays, *about.values)
    }
    ctx.adjoints = found
    return (*own[:count], *(found[mine] for mine, p in pairs if p in about.arrays), *own[count:])


def starts(ctx: Context) -> list[nodes.Stmt]:
    """Every adjoint of a value is zero at first."""
    found: list[nodes.Stmt] = []
    for symbol in _values(ctx):
        start = zero(ctx, symbol.type, ctx.definition)
        found.append(nodes.Assign(Read(symbol, symbol.type, symbol.span), start, symbol.span))
    return found


def returned(ctx: Context, node: ast.AST) -> nodes.Return:
    """The end of the function: it gives the adjoints so far."""
    span = ctx.span(node)
    parts = tuple(Read(symbol, symbol.type, span) for symbol in _values(ctx))
    value = nodes.Build(parts, Tuple(tuple(part.type for part in parts)), span) if parts else None
    return nodes.Return(value, span)


def _values(ctx: Context) -> list[Symbol]:
    assert ctx.adjoints is not None
    return [symbol for symbol in ctx.adjoints.values() if not isinstance(symbol.type, Array)]
