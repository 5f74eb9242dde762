"""Expressions of the IR in the kernel language.

Every expression lowers to the one it came from and to nothing else. So a constant says its type where the context does
not: a bare number takes the type of what stands beside it, alone it is int32 or float32, and two bare numbers fold.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from kbuild.errors import InternalError
from kbuild.ir import nodes
from kbuild.ir.effects import HasEffects
from kbuild.ir.nodes import Const, Expr, Function, Symbol
from kbuild.ir.python_numbers import number
from kbuild.ir.python_tables import Tables
from kbuild.ir.python_types import TypeNames, call, kb
from kbuild.ir.types import BOOL, FLOAT32, INT32, Array, Matrix, Tuple, Type, Vector, is_composite

_BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "div": ast.Div,
    "floordiv": ast.FloorDiv,
    "mod": ast.Mod,
    "shl": ast.LShift,
    "shr": ast.RShift,
    "and": ast.BitAnd,
    "or": ast.BitOr,
    "xor": ast.BitXor,
}
_COMPARE: dict[str, type[ast.cmpop]] = {
    "eq": ast.Eq,
    "ne": ast.NotEq,
    "lt": ast.Lt,
    "le": ast.LtE,
    "gt": ast.Gt,
    "ge": ast.GtE,
}
_UNARY: dict[str, type[ast.unaryop]] = {"neg": ast.USub, "invert": ast.Invert, "not": ast.Not}


class Expressions:
    """Expressions of one function: `name_of` spells its variables, `name_of_function` what it calls."""

    def __init__(
        self,
        types: TypeNames,
        tables: Tables,
        name_of: Callable[[Symbol], str],
        name_of_function: Callable[[Function], str],
        has_effects: HasEffects,
    ) -> None:
        self.types, self.tables, self.has_effects = types, tables, has_effects
        self.name_of, self.name_of_function = name_of, name_of_function

    # Constants, in three kinds of places

    def typed(self, expr: Expr) -> ast.expr:
        """Where the context gives no type, or a bare number would fold."""
        if isinstance(expr, Const) and expr.type != BOOL:
            return call(self.types(expr.type), number(expr))
        return self.plain(expr)

    def alone(self, expr: Expr) -> ast.expr:
        """Where a bare number takes its default type."""
        if isinstance(expr, Const) and expr.type in (INT32, FLOAT32):
            return number(expr)
        return self.typed(expr)

    def fitted(self, expr: Expr) -> ast.expr:
        """Where a number takes the type that the context has."""
        return number(expr) if isinstance(expr, Const) else self.plain(expr)

    def together(self, several: Sequence[Expr]) -> list[ast.expr]:
        """Operands that share one type: numbers take it from the others, if there is one."""
        has_type = any(not isinstance(expr, Const) for expr in several)
        same = len({expr.type for expr in several}) == 1
        spell = self.fitted if has_type and same else self.typed
        return [spell(expr) for expr in several]

    # Everything else

    def plain(self, expr: Expr) -> ast.expr:
        """An expression that is no number, or a truth value."""
        match expr:
            case Const(bool() as value):
                return ast.Constant(value)
            case nodes.Read(symbol):
                return ast.Name(self.name_of(symbol), ast.Load())
            case nodes.Table():
                return self.tables(expr)
            case nodes.Index(cache=hint) if hint:
                return call(kb(f"load_{hint}"), *self.element(expr))
            case nodes.Index(base, indices) | nodes.View(base, indices):
                return _subscript(self.plain(base), [self._index(i, None) for i in indices])
            case nodes.Component(base, indices):
                extents = _extents(base.type)
                found = [self._index(i, n) for i, n in zip(indices, extents, strict=False)]
                return _subscript(self.plain(base), found)
            case nodes.Member(base, field):
                return ast.Attribute(self.plain(base), field, ast.Load())
            case nodes.Extent(array, axis):
                return _subscript(ast.Attribute(self.plain(array), "shape", ast.Load()), [ast.Constant(axis)])
            case nodes.Present(array):
                return ast.Compare(self.plain(array), [ast.IsNot()], [ast.Constant(None)])
            case nodes.Elsewhere(array, rank):
                return call(kb("cluster_array"), self.plain(array), self.fitted(rank))
            case nodes.ThreadIndex(axis, ndim):
                return call(kb("tid"), *([] if ndim == 1 else [ast.Constant(axis), ast.Constant(ndim)]))
            case nodes.Position(what, axis):
                return call(kb(what)) if axis is None else ast.Attribute(call(kb(what)), "xyz"[axis], ast.Load())
            case nodes.Convert(operand, type):
                return call(self.types(type), self.typed(operand))
            case nodes.Fma(a, b, c):
                return call(kb("fma"), *self.together([a, b, c]))
            case nodes.Build(parts, type):
                return self._build(parts, type)
            case nodes.Item(base, index):
                return _subscript(self.plain(base), [ast.Constant(index)])
            case nodes.Call(callee, arguments):
                return call(ast.Name(self.name_of_function(callee), ast.Load()), *map(self.alone, arguments))
            case nodes.Intrinsic(name, arguments):
                if name in nodes.COLLECTIVES:
                    return call(kb(name), *map(self.typed, arguments[:1]), *map(self.fitted, arguments[1:]))
                spelled = self._atomic(arguments) if self.has_effects(name) else self.together(arguments)
                named = {"order": expr.order} if expr.order != nodes.ORDERS[0] else {}
                named |= {"scope": expr.scope} if expr.scope != nodes.SCOPES[0] else {}
                return call(kb(name), *spelled, **{key: ast.Constant(text) for key, text in named.items()})
        return self._operator(expr)

    def _operator(self, expr: Expr) -> ast.expr:
        match expr:
            case nodes.Unary(op, operand):
                if op == "not" and isinstance(operand, Const):
                    raise InternalError(f"`not` of a constant has no spelling: it folds\n{expr!r:.400}")
                return ast.UnaryOp(_UNARY[op](), self.typed(operand))
            case nodes.Binary():
                return self._binary(expr)
            case nodes.Compare(op, left, right):
                a, b = self.together([left, right])
                return ast.Compare(a, [_COMPARE[op]()], [b])
            case nodes.Logical(op, left, right):
                if isinstance(left, Const) and left.value == (op == "or"):
                    raise InternalError(f"`{op}` that a constant decides has no spelling: it folds\n{expr!r:.400}")
                kind = ast.And() if op == "and" else ast.Or()
                return ast.BoolOp(kind, [self.plain(left), self.plain(right)])
            case nodes.Select(condition, then, otherwise):
                if isinstance(condition, Const):
                    return call(kb("where"), self.plain(condition), *self.together([then, otherwise]))
                a, b = self.together([then, otherwise])
                return ast.IfExp(self.plain(condition), a, b)
        raise InternalError(f"{type(expr).__name__} has no spelling in the kernel language\n{expr!r:.400}")

    def _binary(self, expr: nodes.Binary) -> ast.expr:
        left, right = expr.left, expr.right
        if is_composite(expr.type):
            if left.type == right.type and expr.op in ("mul", "div"):
                return call(kb(f"cw_{expr.op}"), self.plain(left), self.plain(right))
            # A vector and its scalar: the number takes the element's type.
            return ast.BinOp(self.fitted(left), _BINARY[expr.op](), self.fitted(right))
        op = "floordiv" if expr.op == "div" and getattr(expr.type, "kind", "") != "float" else expr.op
        a, b = self.together([left, right])
        return ast.BinOp(a, _BINARY[op](), b)

    def _index(self, index: Expr, extent: int | None) -> ast.expr:
        """An index; bare numbers are int32 and lie inside."""
        inside = isinstance(index, Const) and index.value >= 0 and (extent is None or index.value < extent)
        return self.fitted(index) if inside and index.type == INT32 else self.typed(index)

    def _build(self, parts: tuple[Expr, ...], type: Type) -> ast.expr:
        if isinstance(type, Array):
            return ast.Constant(None)
        if isinstance(type, Tuple):
            return ast.Tuple([self.alone(part) for part in parts], ast.Load())
        return call(self.types(type), *map(self.fitted, parts))

    def _atomic(self, arguments: tuple[Expr, ...]) -> list[ast.expr]:
        """An element as array and indices, a part of an element as the place that it is."""
        place, *values = arguments
        spelled = self.element(place) if isinstance(place, nodes.Index) else [self.plain(place)]
        return [*spelled, *map(self.fitted, values)]

    def element(self, place: nodes.Index) -> list[ast.expr]:
        """The array and the indices of an element."""
        return [self.plain(place.array), *(self._index(i, None) for i in place.indices)]


def _subscript(base: ast.expr, indices: list[ast.expr]) -> ast.expr:
    return ast.Subscript(base, indices[0] if len(indices) == 1 else ast.Tuple(indices, ast.Load()), ast.Load())


def _extents(type: Type) -> tuple[int, ...]:
    if isinstance(type, Matrix):
        return (type.rows, type.columns)
    assert isinstance(type, Vector)
    return (type.length,)
