"""Values while a kernel is flattened: structs are their fields, several results a list of them."""

from __future__ import annotations

from typing import TypeAlias, Union

from kbuild.autodiff.flat import int_const, path_of
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import BOOL, Matrix, Scalar, Struct, Tuple, Type, Vector

# A value: an expression of a scalar, vector, matrix or array type; the fields of a struct; several results.
Value: TypeAlias = Union[Expr, "dict[str, Value]", "list[Value]"]


def is_part_of_a_variable(value: Expr) -> bool:
    while isinstance(value, nodes.Component) and all(isinstance(i, (Const, nodes.Read)) for i in value.indices):
        value = value.base
    return isinstance(value, nodes.Read)


def origin(array: Expr) -> tuple[object, ...]:
    """What tells an array of the launch, or a table, from others."""
    return path_of(array), array.type, array.data if isinstance(array, nodes.Table) else None


def leaves(value: Value) -> list[Expr]:
    """The expressions that a value consists of."""
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


def built_up(value: Value, type: Type) -> Expr:
    """A value as one expression again."""
    if isinstance(value, dict):
        assert isinstance(type, Struct)
        return nodes.Build(tuple(built_up(value[f.name], f.type) for f in type.fields), type)
    if isinstance(value, list):
        assert isinstance(type, Tuple)
        return nodes.Build(tuple(built_up(v, t) for v, t in zip(value, type.items, strict=True)), type)
    return value


def taken_apart(result: Expr) -> Value:
    """The result of a call that stays one."""
    if isinstance(result.type, Struct):
        return {f.name: taken_apart(nodes.Member(result, f.name, f.type)) for f in result.type.fields}
    if isinstance(result.type, Tuple):
        return [taken_apart(nodes.Item(result, i, item)) for i, item in enumerate(result.type.items)]
    return result


def unviewed(array: Expr) -> tuple[Expr, tuple[Expr, ...]]:
    """The array behind views, and the leading indices that they fix."""
    if isinstance(array, nodes.View):
        base, before = unviewed(array.array)
        return base, (*before, *array.indices)
    return array, ()


def merged_index(place: nodes.Index) -> nodes.Index:
    base, before = unviewed(place.array)
    return nodes.Index(base, (*before, *place.indices), place.type, place.span)


def nothing(type: Type) -> Expr:
    """Zero of any scalar, vector or matrix type."""
    if isinstance(type, (Vector, Matrix)):
        count = type.length if isinstance(type, Vector) else type.rows * type.columns
        return nodes.Build((nothing(type.element),) * count, type)
    assert isinstance(type, Scalar)
    return Const({"bool": False, "float": 0.0}.get(type.kind, 0), type)


def trips(start: Expr, stop: Expr, step: Expr) -> Expr:
    """How often `range(start, stop, step)` goes round."""
    type = start.type
    zero, one = int_const(0, type), int_const(1, type)

    def count(low: Expr, high: Expr, by: Expr) -> Expr:
        distance = nodes.Binary("sub", nodes.Binary("sub", high, low, type), one, type)
        full = nodes.Binary("add", nodes.Binary("div", distance, by, type), one, type)
        return nodes.Select(nodes.Compare("lt", low, high, BOOL), full, zero, type)

    falling = count(stop, start, nodes.Unary("neg", step, type))
    is_falling = nodes.Compare("lt", step, zero, BOOL)
    return nodes.Select(
        nodes.Compare("gt", step, zero, BOOL),
        count(start, stop, step),
        nodes.Select(is_falling, falling, zero, type),
        type,
    )
