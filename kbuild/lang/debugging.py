"""Functions that print: `kb.printf`, `print`, `kb.expect_eq` and its kin."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from kbuild.ir import formats, nodes
from kbuild.ir.formats import Conversion, Malformed, Piece
from kbuild.ir.nodes import Const, Expr
from kbuild.ir.types import (
    BOOL,
    FLOAT64,
    INT32,
    INT64,
    Matrix,
    Scalar,
    Struct,
    Vector,
    element_of,
    is_composite,
    is_float,
)
from kbuild.lang import operators
from kbuild.lang.context import Context
from kbuild.lang.operands import NOTHING, Operand, Pack, Static, Untyped, describe, fit

_SHOWN = {"float": "g", "bool": "s"}  # the letter by which `print` shows a scalar; integers: d


def printf(ctx: Context, given: list[Operand], named: dict[str, Operand], node: ast.Call) -> Operand:
    """`kb.printf("%d %f\\n", i, x)`."""
    if named or not given:
        ctx.refuse("KB130", "kb.printf takes a format and values for it, by position", node)
    if not isinstance(given[0], Static) or not isinstance(given[0].value, str):
        found = describe(given[0])
        ctx.refuse("KB190", f"the format of kb.printf must be a constant text, not {found}", node.args[0])
    try:
        pieces = formats.parse(given[0].value)
    except Malformed as error:
        ctx.refuse("KB190", error.reason, node.args[0], error.help)
    conversions = formats.conversions(pieces)
    _check_count(ctx, conversions, len(given) - 1, node)
    pairs = zip(conversions, given[1:], _places(given, node)[1:], strict=True)
    arguments = tuple(_argument(ctx, number, *pair) for number, pair in enumerate(pairs, start=1))
    ctx.emit(nodes.Print(pieces, arguments, ctx.span(node)))
    return Static(NOTHING, ctx.span(node))


def _places(given: Sequence[Operand], node: ast.Call) -> list[ast.expr]:
    """Where each operand stands; with a star among them, which stands for several, the call."""
    has_star = any(isinstance(argument, ast.Starred) for argument in node.args)
    return [node] * len(given) if has_star else list(node.args)


def _check_count(ctx: Context, conversions: Sequence[Conversion], count: int, node: ast.Call) -> None:
    if len(conversions) != count:
        listed = f" ({' '.join(c.text for c in conversions)})" if conversions else ""
        text = f"the format has {len(conversions)} conversion(s){listed}, and there are {count} value(s)"
        ctx.refuse("KB191", text, node, "a percent sign is %%" if len(conversions) > count else None)
    if count > formats.MAX_ARGUMENTS:
        text = f"kb.printf takes up to {formats.MAX_ARGUMENTS} values, not {count}"
        ctx.refuse("KB191", text, node, "print in several calls")


def _argument(ctx: Context, number: int, conversion: Conversion, operand: Operand, node: ast.expr) -> Expr:
    if isinstance(operand, Untyped):
        wanted = FLOAT64 if conversion.wants == "a float" else INT32
        if isinstance(operand.value, int) and wanted == INT32 and fit(operand.value, INT32) is None:
            wanted = INT64
        return ctx.coerce(operand, wanted, node, f"the value for `{conversion.text}`")
    value = ctx.typed(operand, node)
    if conversion.takes(value.type):
        return value
    text = f"conversion {number} of the format, `{conversion.text}`, prints {conversion.wants}, not {value.type}"
    ctx.refuse("KB191", text, node, _cure(conversion, value))


def _cure(conversion: Conversion, value: Expr) -> str | None:
    if is_float(value.type):
        return "write %f or %g for a float, or convert it: `int(…)`"
    if isinstance(value.type, Scalar):
        return "write %d, or convert it: `float(…)`"
    if is_composite(value.type):
        return "print(…) shows vectors and matrices; kb.printf takes their elements"
    return None


# print


class _Line:
    """Pieces and arguments on their way into Prints; each gets as many as CUDA's printf takes."""

    def __init__(self, ctx: Context, node: ast.Call) -> None:
        self.ctx, self.node = ctx, node
        self.pieces: list[Piece] = []
        self.arguments: list[Expr] = []

    def text(self, text: str) -> None:
        if "\0" in text:
            self.ctx.refuse("KB192", "a text with a zero byte cannot be printed: it would end there", self.node)
        self.pieces.append(text)

    def operand(self, operand: Operand, node: ast.AST) -> None:
        """A number without a type is a text already."""
        match operand:
            case Untyped(float() as number):
                self.text(f"{number:g}")
            case Untyped(value) | Static(str() as value):
                self.text(str(value))
            case Pack(items):
                self.text("(")
                self.several(items, node, ", ")
                self.text(")")
            case Static():
                self.refuse(describe(operand), node)
            case _:
                self.value(self.ctx.typed(operand, node), node)

    def several(self, operands: Sequence[Operand], node: ast.AST, separator: str) -> None:
        for position, operand in enumerate(operands):
            self.text(separator if position else "")
            self.operand(operand, node)

    def value(self, value: Expr, node: ast.AST) -> None:
        ctx, span, type = self.ctx, self.ctx.span(self.node), value.type
        if isinstance(type, Scalar):
            self.scalar(value)
            return
        if not isinstance(type, (Vector, Matrix, Struct)):
            self.refuse(str(type), node)
        if not isinstance(value, (nodes.Read, nodes.Component, nodes.Member)):
            value = ctx.temporary(value)
        if isinstance(type, Struct):
            for position, field in enumerate(type.fields):
                self.text(f"{', ' if position else type.name.rpartition(':')[2].rpartition('.')[2] + '('}{field.name}=")
                self.value(nodes.Member(value, field.name, field.type, span), node)
            self.text(")")
            return
        for before, indices in _layout(type):
            self.text(before)
            cell = tuple(Const(i, INT32, span) for i in indices)
            self.scalar(nodes.Component(value, cell, type.element, span))
        self.text(")" if isinstance(type, Vector) and type.kind == "transform" else "")

    def scalar(self, value: Expr) -> None:
        assert isinstance(value.type, Scalar)
        if len(self.arguments) == formats.MAX_ARGUMENTS:
            self.emit()
        self.pieces.append(Conversion("", None, None, _SHOWN.get(value.type.kind, "d")))
        self.arguments.append(value)

    def refuse(self, what: str, node: ast.AST) -> NoReturn:
        help = "print numbers, vectors, matrices, structs of them, or constant texts; of an array its elements"
        self.ctx.refuse("KB192", f"{what} cannot be printed", node, help)

    def emit(self) -> None:
        pieces = formats.joined(self.pieces)
        if pieces:
            self.ctx.emit(nodes.Print(pieces, tuple(self.arguments), self.ctx.span(self.node)))
        self.pieces, self.arguments = [], []


def _layout(type: Vector | Matrix) -> list[tuple[str, tuple[int, ...]]]:
    """What stands before each element, and its indices. A matrix has a line a row, a transform two parentheses."""
    if isinstance(type, Matrix):
        cells = [(i, j) for i in range(type.rows) for j in range(type.columns)]
        return [("" if i == j == 0 else "\n" if j == 0 else " ", (i, j)) for i, j in cells]
    first = {0: "("} if type.kind == "transform" else {0: ""}
    if type.kind == "transform":
        first[3] = ") ("
    return [(first.get(i, " "), (i,)) for i in range(type.length)]


def print_(ctx: Context, given: list[Operand], named: dict[str, Operand], node: ast.Call) -> Operand:
    """`print(a, b, sep=" ", end="\\n")`, as Python has it."""
    ends = {"sep": " ", "end": "\n"}
    for name, operand in named.items():
        if name not in ends or not isinstance(operand, Static) or not isinstance(operand.value, str):
            ctx.refuse("KB130", "print in a kernel takes values, and the constant texts `sep` and `end`", node)
        ends[name] = operand.value
    line = _Line(ctx, node)
    for position, (operand, place) in enumerate(zip(given, _places(given, node), strict=True)):
        line.text(ends["sep"] if position else "")
        line.operand(operand, place)
    line.text(ends["end"])
    line.emit()
    return Static(NOTHING, ctx.span(node))


# expect_eq, expect_neq, expect_near


def _expected(
    ctx: Context, name: str, given: list[Operand], named: dict[str, Operand], node: ast.Call, names: Sequence[str]
) -> list[Operand]:
    """The arguments in order; those that are missing at the end stay away."""
    unknown = [one for one in named if one not in names[len(given) :]]
    ordered = [*given, *(named[one] for one in names if one in named)]
    if unknown or not 2 <= len(ordered) <= len(names):
        ctx.refuse("KB130", f"kb.{name}({', '.join(names)}) gets other arguments", node)
    return ordered


def _pair(ctx: Context, name: str, given: list[Operand], node: ast.Call, floats: bool = False) -> tuple[Expr, Expr]:
    """Two values of one type, each evaluated once."""
    left, right = (ctx.temporary(one) for one in operators.unify(ctx, given, node, f"kb.{name}"))
    type = left.type
    if not (isinstance(type, Scalar) or is_composite(type)) or (floats and not is_float(element_of(type))):
        wanted = "floats, or vectors and matrices of floats" if floats else "numbers, bools, vectors or matrices"
        ctx.refuse("KB121", f"kb.{name} compares {wanted}, not {type}", node)
    return left, right


def _all(ctx: Context, left: Expr, right: Expr, node: ast.Call, holds: Callable[[Expr, Expr], Expr]) -> Expr:
    """The condition holds for every pair of elements."""
    span, type = ctx.span(node), left.type
    if not isinstance(type, (Vector, Matrix)):
        return holds(left, right)
    cells = [tuple(Const(i, INT32, span) for i in indices) for _, indices in _layout(type)]
    a, b = ([nodes.Component(one, cell, type.element, span) for cell in cells] for one in (left, right))
    result = holds(a[0], b[0])
    for x, y in zip(a[1:], b[1:], strict=True):
        result = nodes.Logical("and", result, holds(x, y), BOOL, span)
    return result


def _report(ctx: Context, name: str, wrong: Expr, parts: Sequence[str | Expr], node: ast.Call) -> Operand:
    """Prints where the condition `wrong` holds."""
    with ctx.nested() as block:
        line = _Line(ctx, node)
        line.text(f"kb.{name} failed in {ctx.owner.name}: ")
        for part in parts:
            if isinstance(part, str):
                line.text(part)
            else:
                line.value(part, node)
        line.text("\n")
        line.emit()
    ctx.emit(nodes.If(wrong, tuple(block), (), ctx.span(node)))
    return Static(NOTHING, ctx.span(node))


def _not(ctx: Context, condition: Expr, node: ast.Call) -> Expr:
    return nodes.Unary("not", condition, BOOL, ctx.span(node))


def expect_eq(ctx: Context, given: list[Operand], named: dict[str, Operand], node: ast.Call) -> Operand:
    """`kb.expect_eq(a, b)` prints both where they differ."""
    left, right = _pair(ctx, "expect_eq", _expected(ctx, "expect_eq", given, named, node, "ab"), node)
    same = _all(ctx, left, right, node, lambda a, b: nodes.Compare("eq", a, b, BOOL, ctx.span(node)))
    return _report(ctx, "expect_eq", _not(ctx, same, node), [left, " is not ", right], node)


def expect_neq(ctx: Context, given: list[Operand], named: dict[str, Operand], node: ast.Call) -> Operand:
    """`kb.expect_neq(a, b)` prints the value where both are equal."""
    left, right = _pair(ctx, "expect_neq", _expected(ctx, "expect_neq", given, named, node, "ab"), node)
    same = _all(ctx, left, right, node, lambda a, b: nodes.Compare("eq", a, b, BOOL, ctx.span(node)))
    return _report(ctx, "expect_neq", same, ["both are ", left], node)


def expect_near(ctx: Context, given: list[Operand], named: dict[str, Operand], node: ast.Call) -> Operand:
    """`kb.expect_near(a, b, tolerance=1e-6)` prints both where an element differs by more, or is no number."""
    ordered = _expected(ctx, "expect_near", given, named, node, ("a", "b", "tolerance"))
    left, right = _pair(ctx, "expect_near", ordered[:2], node, floats=True)
    span, element = ctx.span(node), element_of(left.type)
    bound = ordered[2] if len(ordered) > 2 else Untyped(1e-6, span)
    tolerance = ctx.temporary(ctx.coerce(bound, element, node, "the tolerance of kb.expect_near"))

    def near(a: Expr, b: Expr) -> Expr:
        apart = nodes.Intrinsic("abs", (nodes.Binary("sub", a, b, element, span),), element, span)
        # Equal infinities are near, though their difference is no number.
        close = nodes.Compare("le", apart, tolerance, BOOL, span)
        return nodes.Logical("or", nodes.Compare("eq", a, b, BOOL, span), close, BOOL, span)

    wrong = _not(ctx, _all(ctx, left, right, node, near), node)
    return _report(ctx, "expect_near", wrong, [left, " is not near ", right], node)


FORMS: Mapping[str, Callable[[Context, list[Operand], dict[str, Operand], ast.Call], Operand]] = {
    "expect_eq": expect_eq,
    "expect_near": expect_near,
    "expect_neq": expect_neq,
    "print": print_,
    "printf": printf,
}
