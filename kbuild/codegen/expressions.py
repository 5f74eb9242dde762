"""Expressions as C text. Every operation has the meaning that `ir.nodes` writes down."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kbuild.codegen import blocks, helpers
from kbuild.codegen.addresses import Addresses, is_narrow
from kbuild.codegen.names import field_name
from kbuild.codegen.types import cast, constant, unsigned_name
from kbuild.errors import InternalError
from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.elements import word_at
from kbuild.ir.nodes import Const, Expr, Function, Symbol
from kbuild.ir.signs import is_never_negative
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import (
    BOOL,
    FLOAT16,
    FLOAT32,
    INT32,
    Array,
    Fixed,
    Matrix,
    Scalar,
    Shared,
    Type,
    Vector,
    is_composite,
    is_float,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Unit(Protocol):
        """What expressions ask of the unit."""

        def type_name(self, type: Type) -> str: ...
        def integer(self, op: str, type: Scalar) -> str: ...
        def elementwise(self, title: str, type: Vector | Matrix, kinds: str, value: helpers.Element) -> str: ...
        def fill(self, type: Vector | Matrix) -> str: ...
        def rounding(self, source: Scalar, target: Scalar) -> str: ...
        def of_array(self, array: Array, method: str) -> str: ...
        def view(self, array: Array, count: int) -> str: ...
        def elsewhere(self, type: Fixed) -> str: ...
        def table(self, table: nodes.Table) -> str: ...
        def position(self, what: str) -> str: ...
        def dynamic(self) -> str: ...
        def rows(self, type: Fixed) -> str: ...
        def same(self) -> str: ...
        def from_end(self) -> str: ...
        def atomic(self, name: str, type: Scalar, sum_of: str, scope: str, order: str) -> str: ...
        def whole(self, what: str, type: Type) -> str: ...
        def cached(self, what: str, hint: str, type: Type) -> str: ...
        def collective(self, name: str, type: Scalar) -> str: ...
        def function(self, function: Function, thread: str) -> str: ...


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_WRAPPING = frozenset({"add", "sub", "mul"})


class ExpressionEmitter:
    """Texts of the expressions of one function; `name_of` names its symbols. `never_negative` are the variables for
    which an index need not be asked whether it counts from the end; None where no index does. `addresses`: how those
    of elements are computed.
    """

    def __init__(
        self,
        unit: Unit,
        thread: str,
        name_of: Callable[[Symbol], str],
        never_negative: frozenset[Symbol] | None,
        addresses: Addresses,
    ) -> None:
        self.unit, self.thread, self.name_of, self.never_negative = unit, thread, name_of, never_negative
        self.addresses = addresses
        # Arrays that have no gaps, and those that are aligned to their elements' words, in what is being written.
        self.dense: frozenset[Symbol] = frozenset()
        self.in_words: frozenset[Symbol] = frozenset()

    def text(self, expr: Expr) -> str:
        """The expression; compound ones stand in parentheses."""
        match expr:
            case nodes.Const(value, type):
                self.unit.type_name(type)
                return constant(value, type)
            case nodes.Read(symbol):
                return self.name_of(symbol)
            case nodes.Table():
                return self.unit.table(expr)
            case nodes.Index(_, _, type, _, cache) if cache:
                return f"{self.unit.cached('load', cache, type)}({self.element(expr)})"
            case nodes.Index():
                element, aligned = self.element(expr), self.aligned(expr)
                return f"{self.unit.whole('load', expr.type)}({element}, {aligned})" if aligned else element
            case nodes.Component(base, indices):
                return self.component(base, indices)
            case nodes.Member(base, field):
                return f"{self.place(base)}.{field_name(field)}"
            case nodes.Extent(array, axis):
                return self.extent(array, axis)
            case nodes.Present(array):
                return f"({self.text(array)}.data != 0)"
            case nodes.View(array, indices, type):
                self.unit.type_name(type)
                assert isinstance(array.type, Array)
                name = self.unit.view(array.type, len(indices))
                return f"{name}({', '.join([self.text(array), *self.positions(array, indices)])})"
            case nodes.Elsewhere(array, rank, type):
                assert isinstance(type, Fixed)
                for one in (array.type, type):
                    self.unit.type_name(one)
                return f"{self.unit.elsewhere(type)}({self.text(array)}, {self.bare(rank)})"
            case nodes.ThreadIndex(axis, ndim):
                return "kb_tid" if ndim == 1 else f"kb_tid.axis[{axis}]"
            case nodes.Position(what, along):
                return f"{self.unit.position(what)}()" if along is None else blocks.along(what, along)
            case nodes.Unary(op, operand, type):
                return self.unary(op, self.text(operand), type)
            case nodes.Binary():
                return self.binary(expr)
            case nodes.Compare(op, left, right):
                return f"({self.comparable(left)} {_COMPARE[op]} {self.comparable(right)})"
            case nodes.Logical(op, left, right):
                return f"({self.text(left)} {'&&' if op == 'and' else '||'} {self.text(right)})"
            case nodes.Select(condition, then, otherwise):
                return f"({self.text(condition)} ? {self.text(then)} : {self.text(otherwise)})"
            case nodes.Convert(operand, type):
                return self.convert(operand, type)
            case nodes.Fma():
                return self.fma(expr)
            case nodes.Build(parts, type):
                return self.build(parts, type)
            case nodes.Item(base, index):
                return f"{self.text(base)}.item{index}"
            case nodes.Call(callee, arguments):
                texts = ["kb_tid", *map(self.text, arguments)] if uses_thread(callee) else map(self.text, arguments)
                return f"{self.unit.function(callee, self.thread)}({', '.join(texts)})"
            case nodes.Intrinsic():
                return self.intrinsic(expr)

    def element(self, place: nodes.Index) -> str:
        """An element of an array, as a place."""
        if self.is_dense(place.array) and all(is_narrow(index.type) for index in place.indices[:-1]):
            return self.near(place)
        array, positions = self.text(place.array), ", ".join(self.positions(place.array, place.indices))
        is_plain = all(self.counts_from_beginning(index) for index in place.indices)
        form = self.addresses.kept_whole.get(place) if is_plain else None
        return f"{array}{self.of_array(place.array, form) if form else ''}({positions})"

    def is_dense(self, array: Expr) -> bool:
        """An array that has no gaps where this stands."""
        return isinstance(array, nodes.Read) and array.symbol in self.dense

    def near(self, place: nodes.Index) -> str:
        """An element of an array without gaps. A constant added to the last index moves the pointer: where the sum of
        both would not fit, there is no such element.
        """
        *positions, last = self.positions(place.array, place.indices)
        match place.indices[-1]:
            case nodes.Binary("add" | "sub" as op, left, Const() as right, type) as sum if type == INT32:
                if self.counts_from_beginning(sum):
                    last = f"(long long){self.text(left)} {_SIGNS[op]} {self.text(right)}"
        return f"{self.text(place.array)}{self.of_array(place.array, 'near')}({', '.join([*positions, last])})"

    def of_array(self, array: Expr, method: str) -> str:
        """A method of an array, as C calls it."""
        assert isinstance(array.type, Array)
        return self.unit.of_array(array.type, method)

    def place(self, expr: Expr) -> str:
        """What is loaded in part, or stored to; an element as it lies in memory."""
        return self.element(expr) if isinstance(expr, nodes.Index) and not expr.cache else self.text(expr)

    def aligned(self, index: nodes.Index) -> str:
        """Whether an element can be loaded and stored in words larger than its numbers, as C; empty where that is not
        asked: there are none, or it is met again, which a compiler sees in single numbers only. Shared memory is.
        """
        array, size = index.array, word_at(index, self.addresses.met_again)
        if not size:
            return ""
        if isinstance(array.type, Shared):
            return "true"
        if isinstance(array, nodes.Read) and array.symbol in self.in_words:
            return "true"
        while isinstance(array, nodes.View):
            array = array.array  # whose strides are those of the view, and more
        return f"{self.text(array)}{self.of_array(array, 'aligned')}({size})"

    def bare(self, expr: Expr) -> str:
        """The expression without the parentheses around it, for places that need none."""
        text = self.text(expr)
        closed = isinstance(expr, (nodes.Binary, nodes.Compare, nodes.Logical, nodes.Select))
        return text[1:-1] if closed and text.startswith("(") and _matches(text) else text

    def positions(self, array: Expr, indices: tuple[Expr, ...]) -> list[str]:
        """Indices of an array, counted from its beginning."""
        return [self.position(index, self.extent(array, axis)) for axis, index in enumerate(indices)]

    def position(self, index: Expr, extent: str) -> str:
        """An index counted from the beginning: one below zero counts from the end."""
        if self.counts_from_beginning(index):
            return self.text(index)
        return f"{self.unit.from_end()}({self.bare(index)}, {extent})"

    def counts_from_beginning(self, index: Expr) -> bool:
        """An index need not be asked whether it counts from the end."""
        return self.never_negative is None or is_never_negative(index, self.never_negative)

    def extent(self, array: Expr, axis: int) -> str:
        """Size of a dimension; a view's is one of the array that it is part of."""
        if isinstance(array, nodes.View):
            return self.extent(array.array, axis + len(array.indices))
        if isinstance(array.type, Fixed) and axis == 0:
            return self.unit.rows(array.type)
        if isinstance(array.type, Fixed):
            return str(array.type.shape[axis])
        return f"{self.text(array)}.shape[{axis}]"

    def component(self, base: Expr, indices: tuple[Expr, ...]) -> str:
        assert isinstance(base.type, (Vector, Matrix))
        extents = [base.type.length] if isinstance(base.type, Vector) else [base.type.rows, base.type.columns]
        texts = [
            str(index.value) if isinstance(index, Const) else self.position(index, str(extent))
            for index, extent in zip(indices, extents, strict=False)
        ]
        if isinstance(base.type, Vector):
            return f"{self.place(base)}.c[{texts[0]}]"
        row = f"{self.place(base)}.r[{texts[0]}]"
        return row if len(texts) == 1 else f"{row}.c[{texts[1]}]"

    def comparable(self, expr: Expr) -> str:
        """An operand of a comparison: halves compare as floats, exactly."""
        return f"kb_float({self.text(expr)})" if expr.type == FLOAT16 else self.text(expr)

    # Arithmetic

    def unary(self, op: str, operand: str, type: Type) -> str:
        if isinstance(type, (Vector, Matrix)):
            self.unit.elementwise("operator-", type, "v", lambda a: self.unary("neg", a, type.element))
            return f"(-{operand})"
        assert isinstance(type, Scalar)
        if op == "not":
            return f"!{operand}"
        if op == "invert":
            return cast(type, f"~{operand}")
        if type == FLOAT16:
            return f"kb_half{{(unsigned short)({operand}.bits ^ 0x8000)}}"
        if type.kind == "float":
            return f"(-{operand})"
        return f"{self.unit.integer('neg', type)}({operand})"

    def binary(self, expr: nodes.Binary) -> str:
        left, right = self.text(expr.left), self.text(expr.right)
        type = expr.type
        if isinstance(type, (Vector, Matrix)):
            return self.composite_binary(expr, left, right, type)
        assert isinstance(type, Scalar)
        if type.kind != "float" and isinstance(expr.right, Const):
            simple = self.by_constant(expr.op, left, expr.right.value, right, type)
            if simple is not None:
                return simple
        return self.scalar(expr.op, left, right, type)

    def composite_binary(self, expr: nodes.Binary, left: str, right: str, type: Vector | Matrix) -> str:
        kinds = "".join("v" if is_composite(side.type) else "s" for side in (expr.left, expr.right))
        title = f"operator{_SIGNS[expr.op]}"
        self.unit.elementwise(title, type, kinds, lambda a, b: self.scalar(expr.op, a, b, type.element))
        return f"({left} {_SIGNS[expr.op]} {right})"

    def by_constant(self, op: str, left: str, value: int | float, right: str, type: Scalar) -> str | None:
        """Division and shifts whose right side needs no test."""
        if op in ("div", "mod") and value not in (0, -1):
            return cast(type, f"{left} {'/' if op == 'div' else '%'} {right}")
        if op in ("shl", "shr") and 0 <= value < 8 * type.size:
            wide = f"({unsigned_name(type)}){left}" if op == "shl" else left
            return cast(type, f"{wide} {_SIGNS[op]} {int(value)}")
        return None

    def scalar(self, op: str, left: str, right: str, type: Scalar) -> str:
        """A binary operation on two scalars of one type, given as texts."""
        if type == FLOAT16:
            inner = self.scalar(op, f"kb_float({left})", f"kb_float({right})", FLOAT32)
            return f"kb_to_half({inner})"
        if type.kind == "float":
            return self.float_operation(op, left, right, "f" if type == FLOAT32 else "")
        if op in ("and", "or", "xor"):
            whole = f"({left} {_SIGNS[op]} {right})"
            return whole if type.size >= 4 else cast(type, whole)
        if type.kind == "uint" and type.size >= 4 and op in _WRAPPING:
            return f"({left} {_SIGNS[op]} {right})"
        return f"{self.unit.integer(op, type)}({left}, {right})"

    def float_operation(self, op: str, left: str, right: str, suffix: str) -> str:
        if op == "mod":
            return f"fmod{suffix}({left}, {right})"
        if op == "floordiv":
            return f"floor{suffix}({left} / {right})"
        return f"({left} {_SIGNS[op]} {right})"

    def fma(self, expr: nodes.Fma) -> str:
        texts = [self.text(part) for part in (expr.a, expr.b, expr.c)]
        type = expr.type
        if not isinstance(type, (Vector, Matrix)):
            return f"fma{'f' if type == FLOAT32 else ''}({', '.join(texts)})"
        kinds = "vvv" if is_composite(expr.b.type) else "vsv"
        suffix = "f" if type.element == FLOAT32 else ""
        self.unit.elementwise("kb_fma", type, kinds, lambda a, b, c: f"fma{suffix}({a}, {b}, {c})")
        return f"kb_fma({', '.join(texts)})"

    # Values

    def convert(self, operand: Expr, type: Type) -> str:
        source = operand.type
        assert isinstance(source, Scalar)
        assert isinstance(type, Scalar)
        self.unit.type_name(type)
        text = self.text(operand)
        if source == FLOAT16:
            text, source = f"kb_float({text})", FLOAT32
            if type == FLOAT32:
                return text
        if is_float(source) and type.kind in ("int", "uint"):
            return f"{self.unit.rounding(source, type)}({text})"
        return helpers.conversion(source, type, text)

    def build(self, parts: tuple[Expr, ...], type: Type) -> str:
        name = self.unit.type_name(type)
        if isinstance(type, (Vector, Matrix)) and helpers.is_large(type) and all(p == parts[0] for p in parts):
            return f"{self.unit.fill(type)}({self.text(parts[0])})"
        texts = [self.text(part) for part in parts]
        if isinstance(type, (Vector, Matrix)):
            return helpers.braces(type, texts)
        # NVRTC (11.8 to 13.0) dies of a conditional expression among braces that has braces in its own branches.
        chosen = [isinstance(part, nodes.Select) and not isinstance(part.type, Scalar) for part in parts]
        texts = [f"{self.unit.same()}({text})" if one else text for text, one in zip(texts, chosen, strict=True)]
        return f"{name}{{{', '.join(texts)}}}"  # an array of no parts is all zeros

    def intrinsic(self, expr: nodes.Intrinsic) -> str:
        row = ALL_ROWS[expr.name]
        type = expr.arguments[0].type
        texts = [self.place(a) if row.is_atomic else self.text(a) for a in expr.arguments]
        assert isinstance(type, Scalar)
        if row.is_atomic:
            return self.atomic(expr, type, texts)
        if row.is_collective:
            return f"{self.unit.collective(expr.name, type)}({', '.join(texts)})"
        spelling = row.cuda.get(type.spelling)
        if spelling is None and type == FLOAT16:
            spelling = row.cuda["float32"]
            if spelling.startswith("kb_"):
                spelling = self.unit.integer(expr.name, FLOAT32)
            inner = f"{spelling}({', '.join(f'kb_float({t})' for t in texts)})"
            return f"kb_to_half({inner})" if expr.type == FLOAT16 else inner
        if spelling is None:
            raise InternalError(f"{expr.name} has no spelling for {type}")
        if spelling.startswith("kb_"):
            spelling = self.unit.integer(spelling.removeprefix("kb_"), type)
        text = f"{spelling}({', '.join(texts)})"
        return text if expr.type != BOOL else f"(bool)({text})"

    def atomic(self, expr: nodes.Intrinsic, type: Scalar, texts: list[str]) -> str:
        name = expr.name
        if name == "atomic_sub":
            name, texts = "atomic_add", [texts[0], self.unary("neg", texts[1], type)]
        sum_of = self.scalar("add", "a", "b", type) if name == "atomic_add" else ""
        return f"{self.unit.atomic(name, type, sum_of, expr.scope, expr.order)}({', '.join(texts)})"


@lru_cache(maxsize=1024)
def uses_thread(function: Function) -> bool:
    """The function, or one that it calls, asks for tid()."""
    everything = [function, *callees(function)]
    return any(isinstance(node, nodes.ThreadIndex) for f in everything for node in walk(f.body))


def _matches(text: str) -> bool:
    """The first parenthesis closes with the last."""
    depth = 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return position == len(text) - 1
    return False
