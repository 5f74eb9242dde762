"""Expressions, but for calls and subscripts."""

from __future__ import annotations

import ast
import enum
from typing import Any, NoReturn

from kbuild.errors import did_you_mean
from kbuild.intrinsics.absent import ABSENT
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Read, Symbol
from kbuild.ir.types import BOOL, Array, Matrix, Scalar, Struct, Vector
from kbuild.lang import operators, own_operators, places, tables
from kbuild.lang.context import Context, ExpressionHandler
from kbuild.lang.operands import Operand, Pack, Place, Silenced, Static, Untyped, fit
from kbuild.lang.scope import UnresolvedName
from kbuild.loader.constants import Constant
from kbuild.loader.layout import abi_type
from kbuild.loader.values import Mat, Vec, class_of

# Modules whose attributes are the names of the language.
_LANGUAGE = frozenset({"kbuild", "kbuild.warp"})


def constant(ctx: Context, node: ast.expr) -> Operand:
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, complex):
        ctx.refuse("KB111", "kernels have no complex numbers", node, "use kb.vec2")
    return captured_operand(ctx, node.value, node)


def name(ctx: Context, node: ast.expr) -> Operand:
    assert isinstance(node, ast.Name)
    if node.id in ctx.constants:
        return Untyped(ctx.constants[node.id], ctx.span(node))
    if node.id in ctx.aliases:
        return ctx.aliases[node.id]
    symbol = ctx.symbols.get(node.id)
    if symbol is not None:
        return Read(symbol, symbol.type, ctx.span(node))
    if node.id in ctx.poisoned:
        raise Silenced
    if node.id in ctx.known:
        return captured_operand(ctx, ctx.known[node.id], node)
    if node.id in ctx.scope.locals:
        ctx.refuse("KB104", f"{node.id!r} is read before anything is assigned to it", node)
    return outer(ctx, node)


def outer(ctx: Context, node: ast.expr) -> Operand:
    """A name, or attributes of one, from outside the kernel."""
    try:
        captured = ctx.scope.resolve(node)
    except UnresolvedName as error:
        if error.attribute_of is not None:
            owner = getattr(error.attribute_of, "__name__", repr(error.attribute_of))
            if error.name in ABSENT and owner in _LANGUAGE:
                _refuse_absent(ctx, f"kb.{error.name}", ABSENT[error.name], node)
            text, code = f"{owner} has no attribute {error.name!r}", "KB142"
        else:
            text, code = f"{error.name!r} is not defined", "KB103"
        ctx.refuse(code, text, node, did_you_mean(error.name, error.known))
    return captured_operand(ctx, captured.value, node)


def _refuse_absent(ctx: Context, name: str, family: str, node: ast.expr) -> NoReturn:
    ctx.refuse(
        "KB114", f"{name} ({family}) is not in kbuild yet", node, "see docs/coming-from-warp.md for what there is"
    )


def captured_operand(ctx: Context, value: Any, node: ast.expr) -> Operand:
    """A Python object as an operand: numbers (also as enum members), vectors and matrices are constants."""
    span = ctx.span(node)
    if getattr(type(value), "_kb_absent_", False):
        name = value.__name__ if getattr(value, "is_own", False) else f"kb.{value.__name__}"
        _refuse_absent(ctx, name, ABSENT.get(value.__name__, value.family), node)
    if isinstance(value, bool):
        return Const(value, BOOL, span)
    if isinstance(value, enum.Enum) and isinstance(value, (int, float)):
        return Untyped(value.value, span)
    if type(value) in (int, float):
        return Untyped(value, span)
    if getattr(type(value), "_kb_struct_", False):
        return _captured_struct(ctx, value, node)
    if not isinstance(value, type) and hasattr(type(value), "_kb_type_"):
        kind = type(value)._kb_type_
        if isinstance(kind, (Vector, Matrix)) and not value:
            return Static(value, span)
        if isinstance(kind, Scalar):
            return Const(float(value) if kind.kind == "float" else int(value), kind, span)
        is_truth = kind.element == BOOL
        numbers = [item if is_truth else fit(item, kind.element) for item in _flat(value)]
        parts = tuple(Const(item, kind.element, span) for item in numbers)  # type: ignore[arg-type]
        return nodes.Build(parts, kind, span)
    if isinstance(value, Constant):
        return tables.captured(ctx, value, node)
    if type(value) is tuple:
        return Pack(tuple(captured_operand(ctx, item, node) for item in value), span)
    return Static(value, span)


def _captured_struct(ctx: Context, value: Any, node: ast.expr) -> Operand:
    """A record of the host as a constant; what holds an array is none."""
    kind = abi_type(type(value))
    assert isinstance(kind, Struct)
    parts = []
    for field in kind.fields:
        operand = captured_operand(ctx, getattr(value, field.name), node)
        if isinstance(operand, Static) and operand.value is not None:
            return Static(value, ctx.span(node))
        if isinstance(operand, Pack) and isinstance(field.type, (Vector, Matrix)):
            host: Any = class_of(field.type)
            operand = captured_operand(ctx, host(*getattr(value, field.name)), node)
        if field.type == BOOL and isinstance(operand, Untyped):
            operand = Const(bool(operand.value), BOOL, operand.span)
        parts.append(ctx.coerce(operand, field.type, node, f"field {field.name!r} of {kind.name}"))
    return nodes.Build(tuple(parts), kind, ctx.span(node))


def _flat(value: Any) -> list[Any]:
    """Elements of a host vector or matrix, row by row."""
    flat: list[Any] = []
    for item in value:
        flat.extend(_flat(item) if hasattr(item, "__iter__") else [item])
    return flat


def attribute(ctx: Context, node: ast.expr) -> Operand:
    assert isinstance(node, ast.Attribute)
    return outer(ctx, node) if ctx.scope.is_outer(node) else places.attribute(ctx, node)


def tuple_(ctx: Context, node: ast.expr) -> Operand:
    assert isinstance(node, ast.Tuple)
    return Pack(tuple(ctx.operands(node.elts)), ctx.span(node))


def binary(ctx: Context, node: ast.expr) -> Operand:
    assert isinstance(node, ast.BinOp)
    left, right = ctx.operands([node.left, node.right])
    return own_operators.binary(ctx, type(node.op), left, right, node)


def unary(ctx: Context, node: ast.expr) -> Operand:
    assert isinstance(node, ast.UnaryOp)
    return operators.unary(ctx, type(node.op), ctx.expr(node.operand), node)


def compare(ctx: Context, node: ast.expr) -> Operand:
    """`a < b < c`: every operand evaluated at most once, later ones only while the earlier links hold."""
    assert isinstance(node, ast.Compare)
    if _is_none(node.comparators[-1]) and len(node.ops) == 1 and type(node.ops[0]) in _IS_NONE:
        return _compare_with_none(ctx, node)
    for op in node.ops:
        if type(op) not in operators.COMPARE:
            ctx.refuse("KB111", "kernels have no `is` and no `in`", node, "compare with == or !=")
    left = ctx.expr(node.left)
    if _is_empty(left) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        right = ctx.expr(node.comparators[0])
        if _is_empty(right):
            return Const(isinstance(node.ops[0], ast.Eq), BOOL, ctx.span(node))
    return _links(ctx, left, list(node.ops), list(node.comparators), node)


_IS_NONE: dict[type[ast.cmpop], bool] = {ast.Is: True, ast.Eq: True, ast.IsNot: False, ast.NotEq: False}


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _compare_with_none(ctx: Context, node: ast.Compare) -> Operand:
    """`a is None`, `a is not None`: what an array is asked as a truth value, and what is known of everything else."""
    left, span = ctx.expr(node.left), ctx.span(node)
    is_none = _IS_NONE[type(node.ops[0])]
    if isinstance(left, Static):
        return Const((left.value is None) == is_none, BOOL, span)
    if not isinstance(getattr(left, "type", None), Array):
        return Const(not is_none, BOOL, span)
    present = ctx.truth(left, node)
    return nodes.Unary("not", present, BOOL, span) if is_none else present


def _is_empty(operand: Operand) -> bool:
    """A vector or matrix without elements, which is known while building."""
    return isinstance(operand, Static) and isinstance(operand.value, (Vec, Mat)) and not operand.value


def _links(ctx: Context, left: Operand, ops: list[ast.cmpop], rights: list[ast.expr], node: ast.Compare) -> Expr:
    mark = len(ctx.block)
    right = ctx.expr(rights[0])
    if len(ctx.block) > mark:
        left = ctx.saved_before(mark, [left])[0]
    if len(ops) > 1:
        right = _once(ctx, right)
    first = operators.compare(ctx, operators.COMPARE[type(ops[0])], left, right, node)
    if len(ops) == 1:
        return first
    with ctx.nested() as block:
        rest = _links(ctx, right, ops[1:], rights[1:], node)
    return _lazy(ctx, "and", first, rest, block, node)


def _once(ctx: Context, operand: Operand) -> Operand:
    """An operand that is used twice and must be evaluated once."""
    if isinstance(operand, (Untyped, Static, Pack, Const, Read)):
        return operand
    assert not isinstance(operand, Place)
    return ctx.temporary(operand)


def logical(ctx: Context, node: ast.expr) -> Operand:
    """`a and b`, `a or b`: the right side is evaluated only when the left does not decide."""
    assert isinstance(node, ast.BoolOp)
    op = "and" if isinstance(node.op, ast.And) else "or"
    return _logical(ctx, op, list(node.values), node)


def _logical(ctx: Context, op: str, values: list[ast.expr], node: ast.BoolOp) -> Expr:
    left = ctx.condition(values[0])
    if len(values) == 1 or (isinstance(left, Const) and left.value == (op == "or")):
        return left
    with ctx.nested() as block:
        right = _logical(ctx, op, values[1:], node)
    return _lazy(ctx, op, left, right, block, node)


def _lazy(ctx: Context, op: str, left: Expr, right: Expr, block: list[nodes.Stmt], node: ast.AST) -> Expr:
    """The logical node, or a branch where evaluating the right side needs statements (`block`)."""
    span = ctx.span(node)
    if not block:
        return nodes.Logical(op, left, right, BOOL, span)
    result = ctx.temporary(left)
    block.append(nodes.Assign(result, right, span))
    condition = result if op == "and" else nodes.Unary("not", result, BOOL, span)
    ctx.emit(nodes.If(condition, tuple(block), (), span))
    return result


def conditional(ctx: Context, node: ast.expr) -> Operand:
    """`a if condition else b`."""
    assert isinstance(node, ast.IfExp)
    condition = ctx.condition(node.test)
    if isinstance(condition, Const):
        return ctx.expr(node.body if condition.value else node.orelse)
    with ctx.nested() as then_block:
        then = ctx.expr(node.body)
    with ctx.nested() as else_block:
        otherwise = ctx.expr(node.orelse)
    then, otherwise = operators.unify(ctx, [then, otherwise], node, "a conditional expression")
    span = ctx.span(node)
    if not then_block and not else_block:
        return nodes.Select(condition, then, otherwise, then.type, span)
    ctx.temporaries += 1
    result = Read(Symbol(f"t{ctx.temporaries}", then.type, span), then.type, span)
    then_block.append(nodes.Assign(result, then, span))
    else_block.append(nodes.Assign(result, otherwise, span))
    ctx.emit(nodes.If(condition, tuple(then_block), tuple(else_block), span))
    return result


HANDLERS: dict[type[ast.expr], ExpressionHandler] = {
    ast.Constant: constant,
    ast.Name: name,
    ast.Attribute: attribute,
    ast.Subscript: places.subscript,
    ast.Tuple: tuple_,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.Compare: compare,
    ast.BoolOp: logical,
    ast.IfExp: conditional,
}
