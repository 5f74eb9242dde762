"""Subscripts and attributes: elements of arrays, components, rows, parts of vectors, fields, shapes."""

from __future__ import annotations

import ast

from kbuild.errors import did_you_mean
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Read, Symbol
from kbuild.ir.traverse import root_of
from kbuild.ir.types import DYNAMIC, INT32, Array, Fixed, Matrix, Struct, Vector, field_of, is_integer
from kbuild.ir.verify import component_type, view_type
from kbuild.lang import adjoints, parts, positions, tables
from kbuild.lang.context import Context, assigned_symbols
from kbuild.lang.operands import Operand, Pack, Static, Untyped, describe

_SWIZZLE = "xyzw"
MOST_UNPACKED = 256  # elements of an array


def subscript(ctx: Context, node: ast.expr) -> Operand:
    """`base[i]`, `base[i, j]`."""
    assert isinstance(node, ast.Subscript)
    if adjoints.is_adjoint(ctx, node):
        return adjoints.of(ctx, as_place(ctx, node.slice), node)
    if parts.is_sliced(node):
        return parts.sliced(ctx, node)
    axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    base, *indices = ctx.operands([node.value, *axes])
    return tables.folded(adjoints.read(ctx, element(ctx, base, indices, node), node))


def several(ctx: Context, node: ast.expr) -> Operand:
    """What is unpacked, or passed with a star: of a slice of an array its elements, one by one."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return ctx.expr(node)
    with ctx.nested() as block:
        base = ctx.expr(node.value)
    if not isinstance(getattr(base, "type", None), Array):
        return ctx.expr(node)  # and nothing was evaluated yet
    ctx.block.extend(block)
    array = ctx.typed(base, node.value)
    if not isinstance(array, (Read, nodes.Member)):
        array = ctx.temporary(array)
    span = ctx.span(node)
    found = (element(ctx, array, [Untyped(i, span)], node) for i in _elements(ctx, node, node.slice))
    return Pack(tuple(found), span)


def _elements(ctx: Context, node: ast.Subscript, chosen: ast.Slice) -> range:
    """Positions in an array whose length is known on the GPU only, so that nothing counts from its end."""
    help = "write a constant start and stop, and a positive step, as in `*a[0:3]`"
    if chosen.upper is None:
        ctx.refuse("KB140", "a slice of an array that is unpacked needs a stop", node, help)
    start, stop, step = (parts.bound(ctx, one, node) for one in (chosen.lower, chosen.upper, chosen.step))
    if (step or 1) < 0 or step == 0:
        ctx.refuse("KB141", f"a slice of an array that is unpacked has no step of {step}", node, help)
    if min(start or 0, stop or 0) < 0:
        ctx.refuse("KB141", "a slice of an array that is unpacked counts from its start", node, help)
    found = range(start or 0, stop or 0, step or 1)
    if len(found) > MOST_UNPACKED:
        ctx.refuse("KB141", f"{len(found)} elements are too many to unpack, at most {MOST_UNPACKED} are", node)
    return found


def element(ctx: Context, base: Operand, indices: list[Operand], node: ast.Subscript) -> Operand:
    """The element of a lowered base at lowered indices."""
    if not indices:
        ctx.refuse("KB140", "no index", node, "write a number, or several: `a[i]`, `m[i, j]`")
    if isinstance(base, Pack):
        return _item(ctx, base, indices, node)
    value = ctx.typed(base, node.value)
    match value.type:
        case Array():
            return _array_element(ctx, value, value.type, indices, node)
        case Vector():
            return _component(ctx, value, indices, [value.type.length], node)
        case Matrix():
            return _component(ctx, value, indices, [value.type.rows, value.type.columns], node)
    ctx.refuse("KB140", f"{value.type} cannot be indexed", node)


def _item(ctx: Context, base: Pack, indices: list[Operand], node: ast.Subscript) -> Operand:
    index = indices[0]
    if len(indices) != 1 or not isinstance(index, Untyped) or not isinstance(index.value, int):
        help = "a tuple of numbers that is indexed while the kernel runs is a table: `TABLE = kb.constant((…))`"
        ctx.refuse("KB140", "the position in a tuple or shape must be a constant", node, help)
    if not -len(base.items) <= index.value < len(base.items):
        ctx.refuse("KB141", f"position {index.value} of {len(base.items)} values", node)
    return base.items[index.value]


def _array_element(ctx: Context, array: Expr, type: Array, indices: list[Operand], node: ast.Subscript) -> Expr:
    if not 0 < len(indices) <= type.ndim:
        help = f"the array has {type.ndim} dimension(s)"
        ctx.refuse("KB140", f"{len(indices)} index(es) for {type}", node, help)
    if isinstance(type, Fixed):
        typed = tuple(
            _bounded(ctx, operand, extent, node) if extent != DYNAMIC else _of_dynamic(ctx, array, operand, node)
            for operand, extent in zip(indices, type.shape, strict=False)
        )
    else:
        array = (
            array
            if isinstance(array, (Read, nodes.Member)) or not any(map(_from_end, indices))
            else ctx.temporary(array)
        )
        typed = tuple(
            _counted_from_end(ctx, array, axis, operand, node) if _from_end(operand) else _integer(ctx, operand, node)
            for axis, operand in enumerate(indices)
        )
    array, typed = tables.unviewed(array, typed)
    left = view_type(array.type, len(typed))
    if left is not None:
        return nodes.View(array, typed, left, ctx.span(node))
    return nodes.Index(array, typed, type.element, ctx.span(node))


def _of_dynamic(ctx: Context, array: Expr, operand: Operand, node: ast.AST) -> Expr:
    """An index along an extent that the launch gives."""
    if _from_end(operand):
        return _counted_from_end(ctx, array, 0, operand, node)
    return _integer(ctx, operand, node)


def _from_end(operand: Operand) -> bool:
    """A constant below zero."""
    return isinstance(operand, Untyped) and isinstance(operand.value, int) and operand.value < 0


def _counted_from_end(ctx: Context, array: Expr, axis: int, operand: Operand, node: ast.AST) -> Expr:
    """`a[-1]`: the last one, as in Python."""
    assert isinstance(operand, Untyped)
    span = ctx.span(node)
    back = ctx.coerce(Untyped(-operand.value, operand.span), INT32, node, "an index")
    return nodes.Binary("sub", nodes.Extent(array, axis, INT32, span), back, INT32, span)


def _integer(ctx: Context, operand: Operand, node: ast.AST) -> Expr:
    if isinstance(operand, Untyped):
        return ctx.coerce(operand, INT32, node, "an index")
    index = ctx.typed(operand, node)
    if not is_integer(index.type):
        ctx.refuse("KB140", f"an index must be an integer, not {index.type}", node, "convert it: `kb.int32(…)`")
    return index


def _component(ctx: Context, base: Expr, indices: list[Operand], extents: list[int], node: ast.Subscript) -> Expr:
    if len(indices) > len(extents):
        ctx.refuse("KB140", f"{len(indices)} indices for {base.type}", node)
    pairs = zip(indices, extents, strict=False)
    typed = tuple(_bounded(ctx, operand, extent, node) for operand, extent in pairs)
    type = component_type(base.type, len(indices))
    assert type is not None  # the caller knows that base is a vector or a matrix
    if _is_of_places(base) and isinstance(base.type, Vector) and isinstance(typed[0], Const):
        return base.parts[int(typed[0].value)]  # type: ignore[union-attr]
    return nodes.Component(base, typed, type, ctx.span(node))


def _is_of_places(value: Operand) -> bool:
    """A slice, or a part of a transform: a part of it is a place."""
    return isinstance(value, nodes.Build) and all(isinstance(part, nodes.Component) for part in value.parts)


def _bounded(ctx: Context, operand: Operand, extent: int, node: ast.AST) -> Expr:
    if isinstance(operand, Untyped) and isinstance(operand.value, int):
        if not -extent <= operand.value < extent:
            ctx.refuse("KB141", f"index {operand.value} is outside 0 … {extent - 1}", node)
        return Const(operand.value % extent, INT32, operand.span)
    return _integer(ctx, operand, node)


def attribute(ctx: Context, node: ast.expr) -> Operand:
    """`base.name` of a value inside the kernel."""
    assert isinstance(node, ast.Attribute)
    return _attribute(ctx, ctx.expr(node.value), node)


def _attribute(ctx: Context, base: Operand, node: ast.Attribute) -> Operand:
    if isinstance(base, nodes.Position):
        return positions.along(ctx, base, node)
    if isinstance(base, Static) and isinstance(base.value, (Vector, Matrix, Array)) and node.attr == "dtype":
        return Static(base.value.element, ctx.span(node))  # `a.dtype.dtype` of an array of vectors
    value = ctx.typed(base, node.value)
    match value.type:
        case Array():
            return _array_attribute(ctx, value, value.type, node)
        case Vector() | Matrix() if node.attr == "dtype":
            return Static(value.type.element, ctx.span(node))
        case Vector() if node.attr == "length":
            return Untyped(value.type.length, ctx.span(node))
        case Matrix() if node.attr == "shape":
            span = ctx.span(node)
            return Pack((Untyped(value.type.rows, span), Untyped(value.type.columns, span)), span)
        case Vector(kind="transform") if node.attr in ("p", "q"):
            return parts.of_transform(ctx, value, node)
        case Vector(kind="vec" | "quat") if node.attr in _SWIZZLE[: value.type.length]:
            if _is_of_places(value):
                return value.parts[_SWIZZLE.index(node.attr)]  # type: ignore[union-attr]
            axis = Const(_SWIZZLE.index(node.attr), INT32, ctx.span(node))
            return nodes.Component(value, (axis,), value.type.element, ctx.span(node))
        case Struct():
            return _member(ctx, value, value.type, node)
    help = "its parts are .p (position) and .q (rotation)" if getattr(value.type, "kind", "") == "transform" else None
    ctx.refuse("KB142", f"{describe(value)} has no attribute {node.attr!r}", node, help)


def _member(ctx: Context, base: Expr, type: Struct, node: ast.Attribute) -> Expr:
    found = field_of(type, node.attr)
    if found is None:
        help = did_you_mean(node.attr, [f.name for f in type.fields])
        ctx.refuse("KB142", f"{type.name} has no field {node.attr!r}", node, help)
    return nodes.Member(base, node.attr, found.type, ctx.span(node))


def _array_attribute(ctx: Context, array: Expr, type: Array, node: ast.Attribute) -> Operand:
    span = ctx.span(node)
    if node.attr == "shape" and isinstance(type, Fixed):
        known = tuple(Untyped(extent, span) for extent in type.shape)
        return Pack((nodes.Extent(array, 0, INT32, span), *known[1:]) if type.is_dynamic else known, span)
    if node.attr == "shape":
        extents = (nodes.Extent(array, axis, INT32, span) for axis in range(type.ndim))
        return Pack(tuple(extents), span)
    if node.attr == "ndim":
        return Untyped(type.ndim, span)
    if node.attr == "dtype":
        return Static(type.element, span)
    help = "they have .shape, .ndim and .dtype"
    ctx.refuse("KB142", f"arrays in kernels have no attribute {node.attr!r}", node, help)


def as_place(ctx: Context, node: ast.expr) -> Operand:
    """A subscript or attribute as the place that it is: an index with effects makes no copy of what it indexes."""
    if isinstance(node, ast.Attribute) and not ctx.scope.is_outer(node):
        return _attribute(ctx, as_place(ctx, node.value), node)
    if isinstance(node, ast.Subscript) and adjoints.is_adjoint(ctx, node):
        return adjoints.of(ctx, as_place(ctx, node.slice), node)
    if not isinstance(node, ast.Subscript) or parts.is_sliced(node):
        return ctx.expr(node)
    base = as_place(ctx, node.value)
    with ctx.nested() as later:
        indices = ctx.operands(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])
    if later:
        base = _kept(ctx, base, assigned_symbols(later))
        ctx.block.extend(later)
    return element(ctx, base, indices, node)


def _kept(ctx: Context, base: Operand, changed: frozenset[Symbol]) -> Operand:
    """What an index with effects is an index of: memory and variables as places, everything else as it was before."""
    if isinstance(base, (Read, nodes.Index, nodes.Component, nodes.Member)):
        root = root_of(base)
        if isinstance(root, nodes.Index):
            return parts.fixed(ctx, base, changed)
        if isinstance(root, Read) and not isinstance(base.type, Array):
            return base
    return ctx.saved(base, changed)


def target(ctx: Context, node: ast.expr) -> Expr:
    """A subscript or attribute as a place to assign to."""
    place = as_place(ctx, node)
    tables.refuse_storing(ctx, place, node)
    refuse_view(ctx, place, node)
    if isinstance(place, Read) and adjoints.is_variable(ctx, place):
        return place
    if isinstance(place, (nodes.Index, nodes.Component, nodes.Member)):
        root = root_of(place)
        if isinstance(root, nodes.Index):
            return place
        if isinstance(root, Read):
            refuse_parameter_field(ctx, place, node)
            return place
    ctx.refuse("KB143", "this cannot be assigned to", node, "assign to a variable, an array element, or a part of one")


def refuse_view(ctx: Context, place: Operand, node: ast.AST) -> None:
    """Where an element is wanted, an array at too few indices is none."""
    if isinstance(place, nodes.View):
        assert isinstance(place.array.type, Array)
        help = f"the array has {place.array.type.ndim} dimensions: index every one of them"
        ctx.refuse("KB140", f"{len(place.indices)} index(es) for {place.array.type}", node, help)


def targets(ctx: Context, node: ast.expr) -> nodes.Build | None:
    """The components that a slice, or the part of a transform, stands for as a target; None for other targets."""
    if isinstance(node, ast.Subscript) and not (parts.is_sliced(node) or adjoints.is_adjoint(ctx, node)):
        return None
    if isinstance(node, ast.Attribute) and node.attr not in ("p", "q"):
        return None
    with ctx.nested() as block:
        place = as_place(ctx, node)
    if not isinstance(place, nodes.Build):
        return None  # and nothing was evaluated yet
    ctx.block.extend(block)
    root = root_of(place.parts[0])
    is_variable = isinstance(root, Read) and (root.symbol in ctx.symbols.values() or adjoints.is_variable(ctx, root))
    if not isinstance(root, nodes.Index) and not is_variable:
        ctx.refuse("KB143", "this cannot be assigned to", node, "assign to a part of a variable or of an array element")
    if isinstance(root, Read):
        refuse_parameter_field(ctx, place.parts[0], node)
    return place


def refuse_parameter_field(ctx: Context, place: Expr, node: ast.expr) -> None:
    """Python would change the caller's object; a kernel gets a copy. Saying nothing would be wrong for one of them.

    Who writes for Warp knows that parameters are copies.
    """
    if ctx.owner.dialect == "warp":
        return
    root = root_of(place)
    if isinstance(root, Read) and root.symbol in ctx.parameters and isinstance(root.type, Struct):
        help = f"copy it first: `mine = {root.type.name.rpartition('.')[2].rpartition(':')[2]}(…)`, or return a new one"
        ctx.refuse("KB143", f"{root.symbol.name!r} is a parameter: the caller would not see this change", node, help)
