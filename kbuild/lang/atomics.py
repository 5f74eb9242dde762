"""Atomic operations: `kb.atomic_add(array, i, value)` and `array[i] += value`."""

from __future__ import annotations

import ast

from kbuild.errors import InternalError, did_you_mean
from kbuild.intrinsics.table import ALL_ROWS, ROWS
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.traverse import root_of
from kbuild.ir.types import INT32, Array, Distributed, Matrix, Vector, element_of, is_composite, is_number
from kbuild.lang import adjoints, places, tables
from kbuild.lang.context import Context, assigned_symbols
from kbuild.lang.operands import Operand, Static, describe
from kbuild.lang.parts import fixed

NAMES = frozenset(name for name, row in ALL_ROWS.items() if row.is_atomic)
_OPTIONS = {"order": nodes.ORDERS, "scope": nodes.SCOPES}


def call(ctx: Context, name: str, node: ast.Call) -> Operand:
    """`kb.atomic_…(array, i, …, value)`: as many indices as the array has dimensions; gives the value before."""
    is_wrong = any(k.arg not in _OPTIONS for k in node.keywords) or name not in ROWS
    if any(isinstance(a, ast.Starred) for a in node.args) or (node.keywords and is_wrong):
        ctx.refuse("KB130", f"kb.{name} takes positional arguments only, but for order and scope", node)
    order, scope = (_option(ctx, name, option, node) for option in _OPTIONS)
    values = len(ALL_ROWS[name].signature.parameters) - 1
    if len(node.args) < values + 1:
        ctx.refuse("KB130", f"kb.{name}(array, index …{', compare' * (values - 1)}, value)", node)
    if len(node.args) == values + 1:
        return _on_place(ctx, name, node, order, scope)
    array, *rest = ctx.operands(node.args)
    type = ctx.typed(array, node.args[0]).type
    if not isinstance(type, Array):
        help = "pass the array and the indices: `kb.atomic_add(counts, i, 1)`"
        ctx.refuse("KB170", f"kb.{name} works on an array, not on {describe(array)}", node.args[0], help)
    indices, operands = rest[: len(rest) - values], rest[len(rest) - values :]
    subscript = ast.copy_location(ast.Subscript(node.args[0], node.args[1], ast.Load()), node)
    place = places.element(ctx, array, indices, subscript)
    tables.refuse_storing(ctx, place, node)
    places.refuse_view(ctx, place, node)
    assert isinstance(place, nodes.Index)
    typed = [ctx.coerce(o, place.type, node, f"the value of kb.{name}") for o in operands]
    with adjoints.guarded(ctx, place, node):
        before = apply(ctx, name, place, typed, node, order, scope)
    return before


def _option(ctx: Context, name: str, option: str, node: ast.Call) -> str:
    """`order` or `scope`: one of the words that there are."""
    words = _OPTIONS[option]
    given = next((k.value for k in node.keywords if k.arg == option), None)
    if given is None:
        return words[0]
    operand = ctx.expr(given)
    value = operand.value if isinstance(operand, Static) else None
    if value not in words:
        shown = repr(value) if isinstance(value, str) else describe(operand)
        listed = ", ".join(map(repr, words))
        help = did_you_mean(value, words) if isinstance(value, str) else None
        ctx.refuse("KB130", f"the {option} of kb.{name} is one of {listed}, not {shown}", given, help)
    return str(value)


def _on_place(ctx: Context, name: str, node: ast.Call, order: str, scope: str) -> Expr:
    """`kb.atomic_max(bodies[i].energy, x)`: an element of an array as it is written, or a part of one."""
    place = places.as_place(ctx, node.args[0])
    tables.refuse_storing(ctx, place, node)
    if not isinstance(place, (nodes.Index, nodes.Component, nodes.Member)) or not isinstance(
        root_of(place), nodes.Index
    ):
        if isinstance(getattr(place, "type", None), Array):
            compare = ", compare" * (len(node.args) - 2)
            ctx.refuse("KB130", f"kb.{name}(array, index …{compare}, value)", node)
        help = "pass the array and the indices, or the part of an element: `kb.atomic_add(bodies[i].mass, 1.0)`"
        ctx.refuse("KB170", f"kb.{name} works on an array, not on {describe(place)}", node.args[0], help)
    with ctx.nested() as later:
        operands = ctx.operands(node.args[1:])
    place = fixed(ctx, place, assigned_symbols(later)) if later else place
    ctx.block.extend(later)
    typed = [ctx.coerce(o, place.type, node, f"the value of kb.{name}") for o in operands]
    with adjoints.guarded(ctx, place, node):
        before = apply(ctx, name, place, typed, node, order, scope)
    return before


def apply(
    ctx: Context,
    name: str,
    place: Expr,
    values: list[Expr],
    node: ast.AST,
    order: str = nodes.ORDERS[0],
    scope: str = nodes.SCOPES[0],
) -> Expr:
    """The operation as a statement, element by element for a vector or matrix; the value before."""
    span = ctx.span(node)
    root = root_of(place)
    if scope == "block" and isinstance(root, nodes.Index) and isinstance(root.array.type, Distributed):
        text = f"kb.{name} with scope='block' is atomic for one block, and this element is another's"
        ctx.refuse("KB188", text, node, "leave scope out: it is 'device' then, which takes in the cluster")
    if is_number(element_of(place.type)):
        fits = ALL_ROWS[name].signature.bind((element_of(place.type),) * (len(values) + 1))
        if isinstance(fits, str):
            ctx.refuse("KB170", f"kb.{name} does not work on {place.type}: it takes integers", node)
    if is_number(place.type):
        return ctx.temporary(nodes.Intrinsic(name, (place, *values), place.type, span, order, scope))
    if not is_composite(place.type) or name == "atomic_cas":
        ctx.refuse("KB170", f"kb.{name} does not work on {place.type}", node, "use numbers, or vectors of them")
    place = fixed(ctx, place)
    values = [ctx.temporary(value) for value in values]
    parts = []
    for component in _components(ctx, place, node):
        index = component.indices
        inner = [nodes.Component(v, index, component.type, span) for v in values]
        one = nodes.Intrinsic(name, (component, *inner), component.type, span, order, scope)
        parts.append(ctx.temporary(one))
    return nodes.Build(tuple(parts), place.type, span)


def _components(ctx: Context, place: Expr, node: ast.AST) -> list[nodes.Component]:
    span = ctx.span(node)
    match place.type:
        case Vector(length=n, element=element):
            return [nodes.Component(place, (Const(i, INT32, span),), element, span) for i in range(n)]
        case Matrix(rows=rows, columns=columns, element=element):
            cells = [(Const(i, INT32, span), Const(j, INT32, span)) for i in range(rows) for j in range(columns)]
            return [nodes.Component(place, cell, element, span) for cell in cells]
    raise InternalError(f"no components in {place.type}")
