"""Operators on operands: numbers fold, types must agree, the result's type is known."""

from __future__ import annotations

import ast
import operator

from kbuild.intrinsics import library, library_rotations
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.signs import is_never_negative
from kbuild.ir.types import (
    BOOL,
    Matrix,
    Scalar,
    Type,
    Vector,
    element_of,
    is_composite,
    is_float,
    is_integer,
    is_number,
)
from kbuild.lang.constructors import components
from kbuild.lang.context import Context, conversion_help
from kbuild.lang.operands import FOLD, Operand, Untyped, default_type, describe
from kbuild.lang.parts import read_often
from kbuild.loader.types import Function

BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add", "+"),
    ast.Sub: ("sub", "-"),
    ast.Mult: ("mul", "*"),
    ast.Div: ("div", "/"),
    ast.FloorDiv: ("floordiv", "//"),
    ast.Mod: ("mod", "%"),
    ast.Pow: ("pow", "**"),
    ast.LShift: ("shl", "<<"),
    ast.RShift: ("shr", ">>"),
    ast.BitAnd: ("and", "&"),
    ast.BitOr: ("or", "|"),
    ast.BitXor: ("xor", "^"),
    ast.MatMult: ("matmul", "@"),
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_BITS = frozenset({"shl", "shr", "and", "or", "xor"})


def binary(ctx: Context, kind: type[ast.operator], left: Operand, right: Operand, node: ast.AST) -> Operand:
    """`left op right`."""
    op, sign = BINARY[kind]
    if isinstance(left, Untyped) and isinstance(right, Untyped) and op in FOLD:
        return _fold(ctx, op, sign, left, right, node)
    if op == "matmul":
        return _matmul(ctx, left, right, node)
    a, b = _typed_pair(ctx, op, left, right, node)
    if op == "mul" and (product := _product(ctx, a, b, node)) is not None:
        return product
    if op == "pow":
        return _pow(ctx, a, b, node)
    if _is_by_elements(op, a.type, b.type):
        return _by_elements(ctx, op, a, b, node)
    return _build(ctx, op, sign, a, b, node)


def _fold(ctx: Context, op: str, sign: str, left: Untyped, right: Untyped, node: ast.AST) -> Untyped:
    try:
        fold = operator.floordiv if op == "floordiv" and _rounds_down(ctx) else FOLD[op]
        value = None if _is_endless(op, left.value, right.value) else fold(left.value, right.value)
    except (ArithmeticError, TypeError, ValueError) as error:
        ctx.refuse("KB122", f"{left.value!r} {sign} {right.value!r} has no value: {error}", node)
    if value is None or isinstance(value, complex) or (isinstance(value, int) and value.bit_length() > 128):
        ctx.refuse("KB122", f"{left.value!r} {sign} {right.value!r} is out of range", node)
    return Untyped(value, ctx.span(node))


def _is_endless(op: str, left: int | float, right: int | float) -> bool:
    """The integer result has more than 128 bits; computing it could take all time and memory."""
    if isinstance(left, float) or isinstance(right, float) or right <= 128:
        return False
    return (op == "shl" and left != 0) or (op == "pow" and abs(left) > 1)


def _typed_pair(ctx: Context, op: str, left: Operand, right: Operand, node: ast.AST) -> tuple[Expr, Expr]:
    """Both sides typed; a number takes the (element) type of the other side."""
    if isinstance(left, Untyped):
        b = ctx.typed(right, node)
        return ctx.coerce(left, _number_type(ctx, b.type, node), node, "the left side"), b
    a = ctx.typed(left, node)
    if isinstance(right, Untyped):
        return a, ctx.coerce(right, _number_type(ctx, a.type, node), node, "the right side")
    return a, ctx.typed(right, node)


def _number_type(ctx: Context, type: Type, node: ast.AST) -> Type:
    element = element_of(type)
    if not is_number(element):
        ctx.refuse("KB121", f"there is no arithmetic between {type} and a number", node)
    return element


def _build(ctx: Context, op: str, sign: str, a: Expr, b: Expr, node: ast.AST) -> Expr:
    rounds_down = op == "floordiv" and is_integer(a.type) and _rounds_down(ctx)
    if op == "floordiv" and is_integer(a.type):
        op = "div"  # integers divide towards zero
    type = _result_type(ctx, op, sign, a.type, b.type, node)
    is_towards_zero = is_never_negative(a, frozenset()) and is_never_negative(b, frozenset())
    if rounds_down and isinstance(type, Scalar) and type.kind == "int" and not is_towards_zero:
        return _floor_divided(ctx, a, b, type, node)
    return nodes.Binary(op, a, b, type, ctx.span(node))


def _rounds_down(ctx: Context) -> bool:
    """`//` of integers rounds down, as Python's: so it is in Warp's dialect."""
    return ctx.owner.dialect == "warp"


def _floor_divided(ctx: Context, a: Expr, b: Expr, type: Scalar, node: ast.AST) -> Expr:
    """The quotient, and one less where something is left over and the signs differ; of a division by 0 it is 0."""
    span = ctx.span(node)
    a, b = (x if isinstance(x, (Const, nodes.Read)) else ctx.temporary(x) for x in (a, b))
    zero, one = Const(0, type, span), Const(1, type, span)
    quotient = ctx.temporary(nodes.Binary("div", a, b, type, span))
    left = ctx.temporary(nodes.Binary("mod", a, b, type, span))  # it has the sign of `a`

    def opposed(op: str, other: str) -> Expr:
        here, there = nodes.Compare(op, left, zero, BOOL, span), nodes.Compare(other, b, zero, BOOL, span)
        return nodes.Logical("and", here, there, BOOL, span)

    if isinstance(b, Const):
        if b.value == 0:
            return quotient
        less: Expr = nodes.Compare("lt" if b.value > 0 else "gt", left, zero, BOOL, span)
    else:
        less = nodes.Logical("or", opposed("lt", "gt"), opposed("gt", "lt"), BOOL, span)
    return nodes.Select(less, nodes.Binary("sub", quotient, one, type, span), quotient, type, span)


def _is_by_elements(op: str, a: Type, b: Type) -> bool:
    """What the IR knows of numbers alone: remainders and bits of vectors, and a number divided by a vector."""
    if is_composite(b) and not is_composite(a):
        return op == "div" and element_of(b) == a
    return is_composite(a) and a == b and (op == "mod" or (op in _BITS and is_integer(element_of(a))))


def _by_elements(ctx: Context, op: str, a: Expr, b: Expr, node: ast.AST) -> Expr:
    span, element = ctx.span(node), element_of(b.type)
    right = components(ctx, b, node)
    left = components(ctx, a, node) if is_composite(a.type) else [read_often(ctx, a)] * len(right)
    parts = tuple(nodes.Binary(op, x, y, element, span) for x, y in zip(left, right, strict=True))
    return nodes.Build(parts, b.type, span)


def _result_type(ctx: Context, op: str, sign: str, a: Type, b: Type, node: ast.AST) -> Type:
    if BOOL in (element_of(a), element_of(b)):
        help = "use `and`, `or`, `not` for truth values" if op in _BITS else "convert it: `kb.int32(…)`"
        found = a if element_of(a) == BOOL else b
        ctx.refuse("KB121", f"`{sign}` does not take {found}", node, help)
    if is_composite(a) or is_composite(b):
        return _composite_type(ctx, op, sign, a, b, node)
    for type in (a, b):
        if not is_number(type):
            ctx.refuse("KB121", f"`{sign}` does not take {type}", node)
    if a != b:
        ctx.refuse("KB120", f"`{sign}` between {a} and {b}", node, conversion_help(b, a))
    if op in _BITS and not is_integer(a):
        ctx.refuse("KB121", f"`{sign}` takes integers, not {a}", node)
    return a


def _composite_type(ctx: Context, op: str, sign: str, a: Type, b: Type, node: ast.AST) -> Type:
    scaled = is_composite(a) != is_composite(b)
    if scaled and op == "mul" and element_of(a) == element_of(b):
        return a if is_composite(a) else b
    if scaled and op == "div" and is_composite(a) and element_of(a) == b:
        return a
    if op in ("add", "sub") and a == b:
        return a
    help = None
    if op in ("mul", "div") and a == b:
        help = f"element by element: `kb.cw_{op}(a, b)`"
        help += "; the inner product: `kb.dot(a, b)`" if isinstance(a, Vector) else ""
    if op == "mul" and isinstance(a, Vector) and a.kind != "vec" and b == Vector(3, a.element):
        help = "turn it: `kb.quat_rotate(q, v)`" if a.kind == "quat" else "move it: `kb.transform_point(t, v)`"
    ctx.refuse("KB120", f"`{sign}` between {a} and {b}", node, help or conversion_help(element_of(b), element_of(a)))


def _pow(ctx: Context, a: Expr, b: Expr, node: ast.AST) -> Expr:
    if a.type != b.type or not is_float(a.type):
        help = "convert both to one floating-point type, or multiply"
        ctx.refuse("KB121", f"`**` takes floating-point numbers, not {a.type} and {b.type}", node, help)
    return nodes.Intrinsic("pow", (a, b), a.type, ctx.span(node))


def _product(ctx: Context, a: Expr, b: Expr, node: ast.AST) -> Expr | None:
    """`a * b` of what has a product of its own: quaternions, transforms, matrices."""
    kinds = {"quat": library_rotations.quat_mul, "transform": library_rotations.transform_multiply}
    if isinstance(a.type, Vector) and a.type == b.type and a.type.kind in kinds:
        return _called(ctx, kinds[a.type.kind], a, b, node)
    function = _matrix_product(a.type, b.type)
    return None if function is None else _called(ctx, function, a, b, node)


def _matrix_product(a: Type, b: Type) -> Function | None:
    """The function for two types that fit: matrix and matrix, matrix and column, row and matrix."""
    if element_of(a) != element_of(b):
        return None
    found: Function | None = None
    match a, b:
        case Matrix(), Matrix() if a.columns == b.rows:
            found = library.matmul
        case Matrix(), Vector(kind="vec") if a.columns == b.length:
            found = library.matvec
        case Vector(kind="vec"), Matrix() if a.length == b.rows:
            found = library.vecmat
    return found


def _called(ctx: Context, function: Function, a: Expr, b: Expr, node: ast.AST) -> Expr:
    callee = ctx.program.instance(function, [a, b], ctx.span(node))
    return nodes.Call(callee, (a, b), callee.result, ctx.span(node))


def _matmul(ctx: Context, left: Operand, right: Operand, node: ast.AST) -> Operand:
    a, b = ctx.typed(left, node), ctx.typed(right, node)
    function = _matrix_product(a.type, b.type)
    if function is None:
        help = "it takes matrices and vectors of one element type, as many columns as there are rows"
        ctx.refuse("KB120", f"`@` between {a.type} and {b.type}", node, help)
    return _called(ctx, function, a, b, node)


def unary(ctx: Context, kind: type[ast.unaryop], operand: Operand, node: ast.AST) -> Operand:
    """`-x`, `+x`, `~x`, `not x`."""
    span = ctx.span(node)
    if kind is ast.Not:
        truth = ctx.truth(operand, node)
        return Const(not truth.value, BOOL, span) if isinstance(truth, Const) else nodes.Unary("not", truth, BOOL, span)
    if isinstance(operand, Untyped):
        return _fold_unary(ctx, kind, operand, node)
    expr = ctx.typed(operand, node)
    if kind is ast.Invert:
        if is_composite(expr.type) and is_integer(element_of(expr.type)):
            element = element_of(expr.type)
            parts = tuple(nodes.Unary("invert", x, element, span) for x in components(ctx, expr, node))
            return nodes.Build(parts, expr.type, span)
        if not is_integer(expr.type):
            ctx.refuse("KB121", f"`~` takes integers, not {expr.type}", node, "use `not` for truth values")
        return nodes.Unary("invert", expr, expr.type, span)
    if not is_number(element_of(expr.type)):
        ctx.refuse("KB121", f"`{'-' if kind is ast.USub else '+'}` does not take {expr.type}", node)
    return nodes.Unary("neg", expr, expr.type, span) if kind is ast.USub else expr


def _fold_unary(ctx: Context, kind: type[ast.unaryop], operand: Untyped, node: ast.AST) -> Untyped:
    value = operand.value
    if kind is ast.Invert:
        if isinstance(value, float):
            ctx.refuse("KB121", f"`~` takes integers, not {value!r}", node)
        return Untyped(~value, ctx.span(node))
    return Untyped(-value if kind is ast.USub else value, ctx.span(node))


def compare(ctx: Context, op: str, left: Operand, right: Operand, node: ast.AST) -> Expr:
    """`left op right` for one link of a comparison."""
    span = ctx.span(node)
    if isinstance(left, Untyped) and isinstance(right, Untyped):
        a, b = left.value, right.value
        results = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
        return Const(results[op], BOOL, span)
    if op in ("eq", "ne"):
        left, right = _as_bool(left, right), _as_bool(right, left)
    pair = unify(ctx, [left, right], node, "a comparison")
    if is_composite(pair[0].type) and op in ("eq", "ne"):
        return _all_equal(ctx, op, pair[0], pair[1], node)
    if not (is_number(pair[0].type) or pair[0].type == BOOL):
        ctx.refuse("KB121", f"{pair[0].type} cannot be compared", node, "compare its elements or fields")
    return nodes.Compare(op, pair[0], pair[1], BOOL, span)


def _as_bool(operand: Operand, other: Operand) -> Operand:
    """0 and 1 beside a bool are False and True, as in Python."""
    is_truth = isinstance(operand, Untyped) and type(operand.value) is int and operand.value in (0, 1)
    if isinstance(operand, Untyped) and is_truth and getattr(other, "type", None) == BOOL:
        return Const(bool(operand.value), BOOL, operand.span)
    return operand


def _all_equal(ctx: Context, op: str, left: Expr, right: Expr, node: ast.AST) -> Expr:
    """`==` of vectors, quaternions, matrices: all elements are equal; `!=`: some are not."""
    span, link = ctx.span(node), "and" if op == "eq" else "or"
    pairs = list(zip(components(ctx, left, node), components(ctx, right, node), strict=True))
    tests = [nodes.Compare(op, a, b, BOOL, span) for a, b in pairs]
    found: Expr = tests[0]
    for test in tests[1:]:
        found = nodes.Logical(link, found, test, BOOL, span)
    return found


def unify(ctx: Context, operands: list[Operand], node: ast.AST, what: str) -> list[Expr]:
    """Operands at one type: that of the first that has one."""
    typed = [ctx.typed(o, node) for o in operands if not isinstance(o, Untyped)]
    numbers = [o.value for o in operands if isinstance(o, Untyped)]
    floats = [number for number in numbers if isinstance(number, float)]
    wanted = typed[0].type if typed else default_type((floats or numbers)[0])
    for other in typed[1:]:
        if other.type != wanted:
            ctx.refuse("KB120", f"{what} of {wanted} and {other.type}", node, conversion_help(other.type, wanted))
    return [ctx.coerce(o, wanted, node, describe(o)) for o in operands]
