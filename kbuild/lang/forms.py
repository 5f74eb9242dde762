"""Functions that stand for an operator or another construct: `kb.mul(a, b)`, `kb.select(c, a, b)`, `kb.identity(…)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial

from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import INT32, Matrix, Scalar, Vector, is_composite, is_number
from kbuild.lang import operators
from kbuild.lang.context import Context
from kbuild.lang.operands import Operand, Static, Untyped, describe
from kbuild.loader.types import abi_type

BINARY: Mapping[str, type[ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "div": ast.Div,
    "floordiv": ast.FloorDiv,
    "mod": ast.Mod,
    "lshift": ast.LShift,
    "rshift": ast.RShift,
    "bit_and": ast.BitAnd,
    "bit_or": ast.BitOr,
    "bit_xor": ast.BitXor,
}
UNARY: Mapping[str, type[ast.unaryop]] = {"neg": ast.USub, "pos": ast.UAdd, "invert": ast.Invert, "unot": ast.Not}


def _count(ctx: Context, name: str, given: list[Operand], wanted: int, node: ast.AST) -> None:
    if len(given) != wanted:
        ctx.refuse("KB130", f"kb.{name} takes {wanted} argument(s), not {len(given)}", node)


def _operator(name: str, ctx: Context, given: list[Operand], node: ast.AST) -> Operand:
    """An operator by its name; `mul` of a matrix and a matrix or vector is the matrix product."""
    if name in UNARY:
        _count(ctx, name, given, 1, node)
        return operators.unary(ctx, UNARY[name], given[0], node)
    _count(ctx, name, given, 2, node)
    left, right = given
    kind = BINARY[name]
    if name == "mul" and isinstance(getattr(left, "type", None), Matrix) and _is_composite(right):
        kind = ast.MatMult
    return operators.binary(ctx, kind, left, right, node)


def _is_composite(operand: Operand) -> bool:
    type = getattr(operand, "type", None)
    return type is not None and is_composite(type)


def select(ctx: Context, given: list[Operand], node: ast.AST) -> Operand:
    """`kb.select(condition, if_false, if_true)`: `kb.where` with the values turned round."""
    _count(ctx, "select", given, 3, node)
    condition = ctx.truth(given[0], node)
    otherwise, then = operators.unify(ctx, given[1:], node, "kb.select")
    return nodes.Select(condition, then, otherwise, then.type, ctx.span(node))


def identity(ctx: Context, given: list[Operand], node: ast.AST) -> Operand:
    """`kb.identity(n, dtype)`: the square matrix with ones on its diagonal."""
    _count(ctx, "identity", given, 2, node)
    size, dtype = given
    if not isinstance(size, Untyped) or not isinstance(size.value, int) or size.value < 1:
        ctx.refuse("KB130", f"the size of kb.identity must be a constant, not {describe(size)}", node)
    element = scalar_type(ctx, dtype, node, "kb.identity")
    one, zero = (Const(fitted, element, ctx.span(node)) for fitted in _one_and_zero(element))
    n = size.value
    parts: tuple[Expr, ...] = tuple(one if i == j else zero for i in range(n) for j in range(n))
    return nodes.Build(parts, Matrix(n, n, element), ctx.span(node))


def _one_and_zero(element: Scalar) -> tuple[int | float, int | float]:
    return (1.0, 0.0) if element.kind == "float" else (1, 0)


def scalar_type(ctx: Context, operand: Operand, node: ast.AST, what: str) -> Scalar:
    """A type given as an argument (`dtype=kb.float32`) as a scalar type."""
    type = None
    if isinstance(operand, Static):
        try:
            type = abi_type(operand.value)
        except TypeError:
            type = None
    if not isinstance(type, Scalar) or not is_number(type):
        ctx.refuse("KB130", f"the dtype of {what} must be a number type, not {describe(operand)}", node)
    return type


def _elements(ctx: Context, name: str, operand: Operand, node: ast.AST, length: int | None = None) -> list[Expr]:
    """The elements of a vector that is evaluated once."""
    value = ctx.typed(operand, node)
    type, span = value.type, ctx.span(node)
    if not isinstance(type, Vector) or length not in (None, type.length):
        wanted = "a vector" if length is None else f"a vector of length {length}"
        ctx.refuse("KB121", f"kb.{name} takes {wanted}, not {type}", node)
    value = value if isinstance(value, nodes.Read) else ctx.temporary(value)
    return [nodes.Component(value, (Const(i, INT32, span),), type.element, span) for i in range(type.length)]


def outer_product(ctx: Context, given: list[Operand], node: ast.AST) -> Operand:
    """`kb.outer(a, b)`: the matrix of every element of a times every element of b."""
    _count(ctx, "outer", given, 2, node)
    a, b = (_elements(ctx, "outer", operand, node) for operand in given)
    element, span = a[0].type, ctx.span(node)
    if b[0].type != element:
        ctx.refuse("KB120", f"kb.outer of vectors of {element} and {b[0].type}", node)
    assert isinstance(element, Scalar)
    parts = tuple(nodes.Binary("mul", x, y, element, span) for x in a for y in b)
    return nodes.Build(parts, Matrix(len(a), len(b), element), span)


def diagonal(ctx: Context, given: list[Operand], node: ast.AST) -> Operand:
    """`kb.diag(v)`: the square matrix with the vector on its diagonal and zeros elsewhere."""
    _count(ctx, "diag", given, 1, node)
    elements = _elements(ctx, "diag", given[0], node)
    element, span, n = elements[0].type, ctx.span(node), len(elements)
    assert isinstance(element, Scalar)
    zero = Const(_one_and_zero(element)[1], element, span)
    parts = tuple(elements[i] if i == j else zero for i in range(n) for j in range(n))
    return nodes.Build(parts, Matrix(n, n, element), span)


def skew(ctx: Context, given: list[Operand], node: ast.AST) -> Operand:
    """`kb.skew(v)`: the matrix that multiplies like `kb.cross(v, …)`."""
    _count(ctx, "skew", given, 1, node)
    x, y, z = _elements(ctx, "skew", given[0], node, length=3)
    element, span = x.type, ctx.span(node)
    assert isinstance(element, Scalar)
    zero = Const(_one_and_zero(element)[1], element, span)

    def minus(part: Expr) -> Expr:
        return nodes.Unary("neg", part, element, span)

    parts = (zero, minus(z), y, z, zero, minus(x), minus(y), x, zero)
    return nodes.Build(parts, Matrix(3, 3, element), span)


FORMS: Mapping[str, Callable[[Context, list[Operand], ast.AST], Operand]] = {
    **{name: partial(_operator, name) for name in (*BINARY, *UNARY)},
    "diag": diagonal,
    "identity": identity,
    "outer": outer_product,
    "select": select,
    "skew": skew,
}
# Names of the parameters of forms that may be given by name.
PARAMETERS: Mapping[str, tuple[str, ...]] = {"identity": ("n", "dtype")}


def by_name(
    ctx: Context,
    name: str,
    names: tuple[str, ...],
    given: list[Operand],
    named: Mapping[str, Operand],
    node: ast.AST,
) -> list[Operand]:
    """Positional and keyword arguments of a form or an intrinsic, in order."""
    missing = [one for one in names[len(given) :] if one not in named]
    for one in named:
        if one not in names[len(given) :]:
            ctx.refuse("KB130", f"kb.{name} does not take {one!r} here: kb.{name}({', '.join(names)})", node)
    if missing:
        ctx.refuse("KB130", f"kb.{name} needs an argument for {missing[0]!r}", node)
    return [*given, *(named[one] for one in names if one in named)]
