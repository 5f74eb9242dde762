"""The zero of a type."""

from __future__ import annotations

import ast

from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import Array, Matrix, Scalar, Struct, Tuple, Type, Vector
from kbuild.lang.context import Context


def zero(ctx: Context, type: Type, node: ast.AST) -> Expr:
    """The zero of a type."""
    span = ctx.span(node)
    match type:
        case Scalar():
            return Const({"bool": False, "float": 0.0}.get(type.kind, 0), type, span)
        case Vector():
            return nodes.Build((zero(ctx, type.element, node),) * type.length, type, span)
        case Matrix():
            return nodes.Build((zero(ctx, type.element, node),) * (type.rows * type.columns), type, span)
        case Struct():
            return nodes.Build(tuple(zero(ctx, f.type, node) for f in type.fields), type, span)
        case Tuple():
            return nodes.Build(tuple(zero(ctx, item, node) for item in type.items), type, span)
        case Array():
            return nodes.Build((), type, span)
    ctx.refuse("KB130", f"a field of type {type} needs a value", node)
