"""Rules of derivatives, from the text in an intrinsic's row to typed IR.

    partials(ROWS["sin"], [x], g, r) → [g * cos(x)]

In a rule stand the parameters' names, `g` (the adjoint of the result), `r` (the result itself), numbers, which take the
argument's type, `+ - * /`, unary minus, comparisons, `and`, `or`, `not`, `a if c else b`, and calls of other rows by
name. Nothing is contracted here.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Mapping, Sequence
from functools import cache

from kbuild.errors import InternalError
from kbuild.intrinsics.row import Row
from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr
from kbuild.ir.types import BOOL, Scalar, Type, is_float

_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
_COMPARE = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


def partials(row: Row, arguments: Sequence[Expr], g: Expr, result: Expr) -> list[Expr | None]:
    """What each argument gets of `g`, the adjoint of the result; None where that is zero whatever the values.

    Every expression may stand in the results more than once.
    """
    if not row.partials or not all(is_float(argument.type) for argument in arguments):
        return [None] * len(arguments)
    names = {name: argument for (name, _), argument in zip(row.signature.parameters, arguments, strict=True)}
    names |= {"g": g, "r": result}
    trees = [_parsed(text) for text in row.partials]
    return [None if _is_zero(tree) else _built(tree, names, g.type) for tree in trees]


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _is_zero(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value == 0.0


def _built(tree: ast.expr, names: Mapping[str, Expr], type: Type) -> Expr:
    """The expression of a rule; numbers in it are of the type."""

    def built(part: ast.expr) -> Expr:
        return _built(part, names, type)

    match tree:
        case ast.Name(name):
            return names[name]
        case ast.Constant(float(value)) | ast.UnaryOp(ast.USub(), ast.Constant(float(value))):
            return _constant(-value if isinstance(tree, ast.UnaryOp) else value, type)
        case ast.UnaryOp(ast.USub(), operand):
            return nodes.Unary("neg", built(operand), type)
        case ast.UnaryOp(ast.Not(), operand):
            return nodes.Unary("not", built(operand), BOOL)
        case ast.BinOp(left, op, right):
            return nodes.Binary(_BINARY[op.__class__], built(left), built(right), type)
        case ast.Compare(left, [op], [right]):
            return nodes.Compare(_COMPARE[op.__class__], built(left), built(right), BOOL)
        case ast.BoolOp(op, [first, *more]):
            joined = built(first)
            for part in more:
                joined = nodes.Logical("and" if isinstance(op, ast.And) else "or", joined, built(part), BOOL)
            return joined
        case ast.IfExp(condition, then, otherwise):
            return nodes.Select(built(condition), built(then), built(otherwise), type)
        case ast.Call(ast.Name(name), parts):
            arguments = tuple(map(built, parts))
            found = ALL_ROWS[name].signature.bind(tuple(argument.type for argument in arguments))
            assert isinstance(found, Type), found
            return nodes.Intrinsic(name, arguments, found)
    raise InternalError(f"not in the language of rules: {ast.unparse(tree)}")


def _constant(value: float, type: Type) -> nodes.Const:
    assert isinstance(type, Scalar)
    return nodes.Const(struct.unpack(type.code, struct.pack(type.code, value))[0], type)
