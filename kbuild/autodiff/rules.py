"""What an expression's operands get of its adjoint.

`propagate(expr, g, out)` appends the statements that add to the adjoints of variables and array elements. `g` is small
and has been evaluated: it may stand in the statements more than once. The primal operands that a rule needs stand in
them as expressions, which are evaluated again; whatever they look at must have the value that it had.
"""

from __future__ import annotations

from collections.abc import Callable

from kbuild.autodiff.activity import Activity
from kbuild.autodiff.flat import Names, components, fresh, path_of, read, zero
from kbuild.errors import InternalError, Span
from kbuild.intrinsics.derivatives import partials
from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Stmt, Symbol
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import BOOL, Struct, Tuple, Type, element_of, is_composite, is_float


class Adjoints:
    """The adjoint of every variable and array. `arrays` has that of a parameter."""

    def __init__(self, arrays: dict[Symbol, Symbol]) -> None:
        self.arrays = arrays
        self.variables: dict[Symbol, Symbol] = {}
        self.items: dict[tuple[Symbol, int], Symbol] = {}

    def variable(self, symbol: Symbol) -> Symbol:
        """The adjoint of a variable; that of a result of several is one for each (`item`)."""
        if symbol not in self.variables:
            self.variables[symbol] = fresh(f"adj_{symbol.name}", symbol.type, symbol.span)
        return self.variables[symbol]

    def item(self, symbol: Symbol, index: int, type: Type) -> Symbol:
        """The adjoint of one result of several."""
        key = (symbol, index)
        if key not in self.items:
            self.items[key] = fresh(f"adj_{symbol.name}_{index}", type)
        return self.items[key]

    def place(self, place: Expr) -> Expr:
        """The place of a place's adjoint, or the array of an array's."""
        match place:
            case nodes.Read(symbol):
                return read(self.arrays[symbol] if symbol in self.arrays else self.variable(symbol))
            case nodes.Index(array, indices, type):
                return nodes.Index(self.place(array), indices, type)
            case nodes.View(array, indices, type):
                return nodes.View(self.place(array), indices, type)
            case nodes.Component(base, indices, type):
                return nodes.Component(self.place(base), indices, type)
            case nodes.Member(base, name, type):
                return nodes.Member(self.place(base), name, type)
            case nodes.Item(nodes.Read(symbol), index, type):
                return read(self.item(symbol, index, type))
        raise InternalError(f"no place has an adjoint: {place!r:.200}")

    def is_there(self, place: Expr) -> Expr | None:
        """Whether the array that a place in memory lies in has an adjoint; None for one that cannot have any."""
        root = root_of(place)
        assert isinstance(root, nodes.Index)
        if path_of(root.array) is None:
            return None
        return nodes.Present(self.place(root.array), BOOL)


class Rules:
    """The rules of expressions."""

    def __init__(self, activity: Activity, adjoints: Adjoints, owned: Names) -> None:
        self.activity, self.adjoints, self.owned = activity, adjoints, owned
        self.span: Span | None = None  # of the statement whose value is propagated
        self.nonzero: set[Symbol] = set()  # adjoints that were asked whether they are zero

    def propagate(self, expr: Expr, g: Expr, out: list[Stmt]) -> None:
        """Adds to the adjoints of what a value consists of."""
        if not self.activity.is_active(expr):
            return
        match expr:
            case nodes.Read() | nodes.Item(nodes.Read()) | nodes.Index():
                self.add(expr, g, out)
            case nodes.Component(base, indices):
                self.component(expr, base, indices, g, out)
            case nodes.Member():
                self.add(expr, g, out)
            case nodes.Unary("neg", operand):
                self.propagate(operand, self.bound(nodes.Unary("neg", g, expr.type), out), out)
            case nodes.Binary():
                self.binary(expr, g, out)
            case nodes.Fma(a, b, c):
                self.product(a, b, g, out)
                self.propagate(c, g, out)
            case nodes.Select(condition, then, otherwise):
                sides: tuple[list[Stmt], list[Stmt]] = ([], [])
                self.propagate(then, g, sides[0])
                self.propagate(otherwise, g, sides[1])
                out.append(nodes.If(condition, tuple(sides[0]), tuple(sides[1]), self.span))
            case nodes.Convert(operand):
                if is_float(operand.type):
                    self.propagate(operand, self.bound(nodes.Convert(g, operand.type), out), out)
            case nodes.Build(parts):
                self.build(parts, expr.type, g, out)
            case nodes.Intrinsic():
                self.guarded(g, out, lambda inner: self.intrinsic(expr, g, inner))
            case _:
                raise InternalError(f"no rule for {type(expr).__name__}")

    def guarded(self, g: Expr, out: list[Stmt], propagate: Callable[[list[Stmt]], None]) -> None:
        """Propagates where there is something: the derivative may be infinite, and 0 · ∞ is no number."""
        if isinstance(g, nodes.Read) and g.symbol in self.nonzero:
            propagate(out)
            return
        inner: list[Stmt] = []
        propagate(inner)
        if inner:
            out.append(nodes.If(is_not_zero(g), tuple(inner), (), self.span))

    def bound(self, expr: Expr, out: list[Stmt]) -> Expr:
        """A value that may stand in several places: in a variable, unless it is small."""
        if isinstance(expr, (Const, nodes.Read)):
            return expr
        is_part = isinstance(expr, nodes.Component) and isinstance(expr.base, nodes.Read)
        if is_part and all(isinstance(index, Const) for index in expr.indices):  # type: ignore[union-attr]
            return expr
        made = fresh("part", expr.type)
        out.append(nodes.Assign(read(made), expr, self.span))
        return read(made)

    def add(self, place: Expr, g: Expr, out: list[Stmt]) -> None:
        """Adds to the adjoint of a place: a variable's, or one in memory, to which others add as well."""
        target = self.adjoints.place(place)
        if not isinstance(root_of(place), nodes.Index):
            out.append(nodes.Assign(target, nodes.Binary("add", target, g, place.type), self.span))
            return
        asked = self.adjoints.is_there(place)
        if asked is None:
            return
        inner: list[Stmt] = []
        root = root_of(place)
        assert isinstance(root, nodes.Index)
        if path_of(root.array) in self.owned:
            inner.append(nodes.Assign(target, nodes.Binary("add", target, g, place.type), self.span))
            out.append(nodes.If(asked, tuple(inner), (), self.span))
            return
        if is_composite(place.type):
            g = self.bound(g, inner)
            pairs: list[tuple[Expr, Expr]] = list(zip(components(target), components(g), strict=True))
        else:
            pairs = [(target, g)]
        for one, part in pairs:
            inner.append(nodes.Evaluate(nodes.Intrinsic("atomic_add", (one, part), one.type), self.span))
        out.append(nodes.If(asked, tuple(inner), (), self.span))

    def component(self, expr: nodes.Component, base: Expr, indices: tuple[Expr, ...], g: Expr, out: list[Stmt]) -> None:
        root = root_of(base)
        if isinstance(root, (nodes.Index, nodes.Read, nodes.Item)):
            self.add(expr, g, out)
            return
        whole = fresh("part", base.type)
        out.append(nodes.Assign(read(whole), zero(base.type), self.span))
        out.append(nodes.Assign(nodes.Component(read(whole), indices, expr.type), g, self.span))
        self.propagate(base, read(whole), out)

    def build(self, parts: tuple[Expr, ...], type: Type, g: Expr, out: list[Stmt]) -> None:
        g = self.bound(g, out)
        if isinstance(type, Struct):
            pieces: list[Expr] = [nodes.Member(g, one.name, one.type) for one in type.fields]
        else:
            assert not isinstance(type, Tuple)
            pieces = list(components(g))
        for part, piece in zip(parts, pieces, strict=True):
            self.propagate(part, piece, out)

    # Operators

    def binary(self, expr: nodes.Binary, g: Expr, out: list[Stmt]) -> None:
        left, right, type = expr.left, expr.right, expr.type
        match expr.op:
            case "add":
                self.propagate(left, g, out)
                self.propagate(right, g, out)
            case "sub":
                self.propagate(left, g, out)
                if self.activity.is_active(right):
                    self.propagate(right, self.bound(nodes.Unary("neg", g, type), out), out)
            case "mul":
                first, second = (left, right) if left.type == type else (right, left)
                self.product(first, second, g, out)
            case "div":
                self.guarded(g, out, lambda inner: self.quotient(expr, g, inner))
            case "mod":  # x - y · trunc(x / y)
                self.propagate(left, g, out)
                if self.activity.is_active(right):
                    whole = nodes.Intrinsic("trunc", (nodes.Binary("div", left, right, type),), type)
                    part = nodes.Unary("neg", nodes.Binary("mul", g, whole, type), type)
                    self.propagate(right, self.bound(part, out), out)
            # floordiv is a whole number: its derivative is zero wherever it has one

    def product(self, a: Expr, b: Expr, g: Expr, out: list[Stmt]) -> None:
        """a · b, element by element; b may be the scalar of a composite a."""
        for one, other in ((a, b), (b, a)):
            if not self.activity.is_active(one):
                continue
            if one.type == g.type:
                part: Expr = nodes.Binary("mul", g, other, g.type)
            else:
                part = self.summed(g, other, out)
            self.propagate(one, self.bound(part, out), out)

    def quotient(self, expr: nodes.Binary, g: Expr, out: list[Stmt]) -> None:
        """a / b: g / b for a, and -(g / b) · (a / b) for b."""
        a, b, type = expr.left, expr.right, expr.type
        divisor = self.bound(b, out)
        share = self.bound(nodes.Binary("div", g, divisor, type), out)
        self.propagate(a, share, out)
        if self.activity.is_active(b):
            ratio = self.bound(nodes.Binary("div", a, divisor, type), out)
            if b.type == type:
                part: Expr = nodes.Binary("mul", share, ratio, type)
            else:
                part = self.summed(share, ratio, out)
            self.propagate(b, self.bound(nodes.Unary("neg", part, b.type), out), out)

    def summed(self, g: Expr, other: Expr, out: list[Stmt]) -> Expr:
        """The sum of the products of two composites' elements."""
        g, other = self.bound(g, out), self.bound(other, out)
        element = element_of(g.type)
        products = [nodes.Binary("mul", x, y, element) for x, y in zip(components(g), components(other), strict=True)]
        total: Expr = products[0]
        for product in products[1:]:
            total = nodes.Binary("add", total, product, element)
        return total

    def intrinsic(self, expr: nodes.Intrinsic, g: Expr, out: list[Stmt]) -> None:
        row = ALL_ROWS[expr.name]
        arguments = [self.bound(a, out) for a in expr.arguments]
        result = fresh(expr.name, expr.type)
        again: list[Stmt] = []
        parts = partials(row, arguments, g, read(result))
        for original, part in zip(expr.arguments, parts, strict=True):
            if part is None or not self.activity.is_active(original):
                continue
            if not again and _mentions(part, result):
                value = nodes.Intrinsic(expr.name, tuple(arguments), expr.type)
                again.append(nodes.Assign(read(result), value, self.span))
                out.extend(again)
            piece = self.bound(part, out)
            inner: list[Stmt] = []
            self.propagate(original, piece, inner)
            out.extend(inner)


def is_leaf(expr: Expr) -> bool:
    """A variable or an element: nothing is computed."""
    return isinstance(root_of(expr), (nodes.Read, nodes.Index))


def is_not_zero(g: Expr) -> Expr:
    """Any element differs from zero, or is no number."""
    if not is_composite(g.type):
        return nodes.Compare("ne", g, zero(g.type), BOOL)
    tests = [is_not_zero(one) for one in components(g)]
    found = tests[0]
    for one in tests[1:]:
        found = nodes.Logical("or", found, one, BOOL)
    return found


def _mentions(expr: Expr, symbol: Symbol) -> bool:
    return any(isinstance(node, nodes.Read) and node.symbol is symbol for node in walk(expr))
