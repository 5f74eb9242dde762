"""What a kernel tells the compiler and the caches beside what it computes: `kb.assume(i >= 0)`,
`kb.load_readonly(table, i)`, `kb.load_streaming(a, i)`, `kb.store_streaming(a, i, value)`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from kbuild.ir import nodes
from kbuild.ir.types import Array, Fixed
from kbuild.lang import adjoints, places
from kbuild.lang.context import Context
from kbuild.lang.operands import NOTHING, Operand, Static, describe

_LOADS = {"load_readonly": "readonly", "load_streaming": "streaming"}
NAMES = frozenset({"assume", "store_streaming", *_LOADS})


def call(ctx: Context, name: str, node: ast.Call) -> Operand:
    """A load's value; the others are statements."""
    if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
        ctx.refuse("KB130", f"kb.{name} takes positional arguments only", node)
    if name == "assume":
        return _assume(ctx, node)
    if name in _LOADS:
        place = _element(ctx, name, ctx.operands(node.args), node)
        return adjoints.read(ctx, replace(place, cache=_LOADS[name]), node)
    if len(node.args) < 3:
        ctx.refuse("KB130", f"kb.{name}(array, index …, value)", node)
    *given, value = ctx.operands(node.args)
    place = _element(ctx, name, given, node)
    typed = ctx.coerce(value, place.type, node, f"the value of kb.{name}")
    with adjoints.guarded(ctx, place, node):
        ctx.emit(nodes.Assign(replace(place, cache="streaming"), typed, ctx.span(node)))
    return Static(NOTHING, ctx.span(node))


def _assume(ctx: Context, node: ast.Call) -> Static:
    if len(node.args) != 1:
        ctx.refuse("KB130", f"kb.assume(condition) takes one argument, not {len(node.args)}", node)
    condition = ctx.condition(node.args[0])
    ctx.emit(nodes.Assume(condition, ast.unparse(node.args[0]), ctx.span(node)))
    return Static(NOTHING, ctx.span(node))


def _element(ctx: Context, name: str, given: Sequence[Operand], node: ast.Call) -> nodes.Index:
    """The element that an array and its indices name."""
    values = ", value" if name == "store_streaming" else ""
    if len(given) < 2:
        ctx.refuse("KB130", f"kb.{name}(array, index …{values})", node)
    array, *indices = given
    type = getattr(array, "type", None)
    if not isinstance(type, Array):
        help = f"pass the array and the indices: `kb.{name}(table, i{values})`"
        ctx.refuse("KB170", f"kb.{name} works on an array, not on {describe(array)}", node.args[0], help)
    if isinstance(type, Fixed):
        help = f"index it: {type.place} memory has no such caches before it"
        text = f"kb.{name} works on arrays of the launch, not on one in {type.place} memory"
        ctx.refuse("KB170", text, node.args[0], help)
    subscript = ast.copy_location(ast.Subscript(node.args[0], node.args[1], ast.Load()), node)
    place = places.element(ctx, array, indices, subscript)
    places.refuse_view(ctx, place, node)
    assert isinstance(place, nodes.Index)
    if not place.type.size or any(isinstance(one.type, Array) for one in getattr(place.type, "fields", ())):
        ctx.refuse("KB170", f"kb.{name} does not work on elements of {place.type}", node, "index the array")
    return place
