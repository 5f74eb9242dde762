"""Expressions of a kernel → values, with every access on the way written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kbuild.audit import conditions, integers, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.records import Component, Part
from kbuild.audit.run import Run, State
from kbuild.audit.terms import BLOCK, DATA, SYNC, THREAD, Term
from kbuild.audit.values import (
    Memory,
    Parts,
    Reference,
    Unknown,
    Value,
    array_of,
    either,
    fresh,
    key_of,
    level_of,
    pure,
    range_of_type,
    taint_of,
    zero,
)
from kbuild.errors import InternalError, Span
from kbuild.ir import nodes
from kbuild.ir.elements import word_at
from kbuild.ir.nodes import Expr
from kbuild.ir.traverse import root_of
from kbuild.ir.types import (
    Array,
    IndexedArray,
    Matrix,
    Scalar,
    Struct,
    Type,
    Vector,
    element_of,
    field_of,
    is_integer,
)


class Expressions:
    """Values of expressions in a state. `wraps`: an index below zero counts from the end; `again`: elements that the
    function meets again."""

    def __init__(self, run: Run, call: Callable[[nodes.Call, State], Value]) -> None:
        self.run, self._call = run, call
        self.wraps = False
        self.again: frozenset[nodes.Index] = frozenset()

    def term(self, expr: Expr, state: State) -> Term:
        """The value of an integer; a bool counts as 0 or 1."""
        value = self.value(expr, state)
        if isinstance(value, Term):
            return value
        if isinstance(value, Condition):
            return _number_of(value)
        raise InternalError(f"the audit takes {expr!r:.200} for an integer")

    def condition(self, expr: Expr, state: State) -> Condition:
        """The value of a bool."""
        value = self.value(expr, state)
        if isinstance(value, Condition):
            return value
        if isinstance(value, Term):
            return conditions.unequal(value, terms.ZERO)
        return conditions.opaque(terms.key("true", key_of(value)), level_of(value), taint_of(value))

    def value(self, expr: Expr, state: State) -> Value:
        """The value; IR that no case here names is a fault of ours."""
        match expr:
            case nodes.Const(value):
                return _constant(value, expr.type)
            case nodes.Read(symbol):
                return self._read(symbol, state, expr.span)
            case nodes.Table(name):
                assert isinstance(expr.type, Array)
                return Reference(self._table(name, expr.type))
            case nodes.Index():
                return self._load(expr, expr, state, Part(0, expr.type.size))
            case nodes.Component() | nodes.Member():
                return self._part(expr, state)
            case nodes.Extent(array, axis):
                return self.reference(array, state).extents[axis]
            case nodes.Present(array):
                reference = self.reference(array, state)
                return conditions.opaque(terms.key("present", reference.memory.name), level_of(reference), 0)
            case nodes.View(array, indices):
                reference = self.reference(array, state)
                new = self._indices(indices, reference, state)
                return Reference(reference.memory, (*reference.fixed, *new))
            case nodes.Elsewhere(array):
                return self._elsewhere(array, state, expr.span)
            case nodes.ThreadIndex(axis):
                return self.run.place.coordinates[axis]
            case nodes.Position(what, axis):
                return self.run.place.position(what, axis, self.run.facts(state.path))
            case nodes.Unary(op, operand, of):
                return self._unary(op, operand, of, expr, state)
            case nodes.Binary(op, left, right, of):
                if is_integer(of):
                    a, b = self.term(left, state), self.term(right, state)
                    return integers.binary(self.run, op, a, b, of, state, expr.span)
                return pure(op, of, (self.value(left, state), self.value(right, state)))
            case nodes.Compare(op, left, right):
                return self._compare(op, left, right, state)
            case nodes.Logical(op, left, right):
                first = self.condition(left, state)
                decides = first if op == "and" else conditions.negation(first)
                second = self.condition(right, self._within(state, decides))
                return (conditions.all_of if op == "and" else conditions.any_of)((first, second))
            case nodes.Select(condition, then, otherwise):
                return self._select(condition, then, otherwise, state)
            case nodes.Convert(operand):
                return self._convert(operand, expr.type, state)
            case nodes.Fma(a, b, c):
                return pure("fma", expr.type, [self.value(one, state) for one in (a, b, c)])
            case nodes.Build(parts):
                if isinstance(expr.type, Array):
                    return zero(expr.type)
                return Parts(tuple(self.value(one, state) for one in parts))
            case nodes.Item(base, index):
                return _item(self.value(base, state), index, expr.type)
            case nodes.Call():
                return self._call(expr, state)
            case nodes.Intrinsic(name, arguments):
                return self._intrinsic(name, arguments, expr.type, state)
        raise InternalError(f"the audit does not know {type(expr).__name__} as a value\n{expr!r:.400}")

    def _select(self, condition: Expr, then: Expr, otherwise: Expr, state: State) -> Value:
        chosen = self.condition(condition, state)
        a = self.value(then, self._within(state, chosen))
        b = self.value(otherwise, self._within(state, conditions.negation(chosen)))
        return either(chosen, a, b)

    def _within(self, state: State, condition: Condition) -> State:
        """The state where a condition holds; variables are those of the state itself."""
        path = conditions.all_of((state.path, condition))
        return State(state.variables, path, state.phases, state.warp_phases, state.assigned)

    def _read(self, symbol: nodes.Symbol, state: State, span: Span | None) -> Value:
        assigned = state.assigned.get(symbol, conditions.FALSE)
        if assigned.kind != "true":
            self.run.unset(symbol.name, assigned, state, span)
        found = state.variables.get(symbol)
        if found is None:
            found = state.variables[symbol] = zero(symbol.type)
        return found

    def _table(self, name: str, type: Array) -> Memory:
        key = ("table", name)
        if key not in self.run.arrays:
            self.run.arrays[key] = array_of(type, name, "", False)
        return self.run.arrays[key]

    def _elsewhere(self, array: Expr, state: State, span: Span | None) -> Reference:
        """What another block of the cluster has: its extents are known, and nothing else."""
        self.run.unclear("shared memory of another block of the cluster", span)
        reference = self.reference(array, state)
        memory = replace(reference.memory, name=f"{reference.memory.name} of another block", space="cluster")
        return Reference(memory, reference.fixed)

    def _unary(self, op: str, operand: Expr, type: Type, expr: Expr, state: State) -> Value:
        if op == "not":
            return conditions.negation(self.condition(operand, state))
        if is_integer(type):
            value = self.term(operand, state)
            if op == "neg":
                return integers.binary(self.run, "sub", terms.ZERO, value, type, state, expr.span)
            low, _ = range_of_type(type)
            return -value - 1 if low != 0 else integers.wrapped(-value - 1, type, self.run.facts(state.path))
        if isinstance(type, Scalar) and type.kind == "bool":
            return self.condition(operand, state)
        return pure(op, type, (self.value(operand, state),))

    def _compare(self, op: str, left: Expr, right: Expr, state: State) -> Condition:
        a, b = self.value(left, state), self.value(right, state)
        if isinstance(a, Condition) and isinstance(b, Condition):
            if op in ("eq", "ne"):
                same = conditions.any_of(
                    (
                        conditions.all_of((a, b)),
                        conditions.all_of((conditions.negation(a), conditions.negation(b))),
                    )
                )
                return same if op == "eq" else conditions.negation(same)
            a, b = _number_of(a), _number_of(b)
        if isinstance(a, Term) and isinstance(b, Term):
            return integers.compare(op, a, b)
        flipped = {"gt": "le", "ge": "lt", "ne": "eq"}.get(op)
        if flipped is not None and op == "ne":
            return conditions.negation(_opaque_comparison("eq", a, b))
        return _opaque_comparison(op, a, b)

    def _convert(self, operand: Expr, type: Type, state: State) -> Value:
        value = self.value(operand, state)
        if not isinstance(type, Scalar):
            return pure("convert", type, (value,))
        if type.kind == "bool":
            return (
                self.condition(operand, state) if isinstance(value, (Condition, Term)) else pure("true", type, (value,))
            )
        if type.kind == "float":
            return pure("float", type, (value,))
        if isinstance(value, Condition):
            return _number_of(value)
        if isinstance(value, Term):
            return integers.converted(value, type, self.run.facts(state.path))
        return pure("int", type, (value,))

    def _intrinsic(self, name: str, arguments: tuple[Expr, ...], type: Type, state: State) -> Value:
        values = [self.value(one, state) for one in arguments]
        if is_integer(type) and all(isinstance(one, Term) for one in values):
            found = integers.intrinsic(self.run, name, values, state)  # type: ignore[arg-type]
            if found is not None:
                return found
        return pure(name, type, values)

    # Places

    def reference(self, expr: Expr, state: State) -> Reference:
        """An array."""
        value = self.value(expr, state)
        if isinstance(value, Reference):
            return value
        assert isinstance(expr.type, Array)
        return Reference(array_of(expr.type, "an array", "", True, THREAD))

    def indices(self, place: nodes.Index, state: State) -> tuple[Reference, tuple[Term, ...]]:
        """The array of an element, and the element's indices on all its axes."""
        reference = self.reference(place.array, state)
        new = self._indices(place.indices, reference, state)
        return reference, (*reference.fixed, *new)

    def _indices(self, indices: tuple[Expr, ...], reference: Reference, state: State) -> list[Term]:
        return [
            self._from_end(self.term(index, state), extent, state)
            for index, extent in zip(indices, reference.extents, strict=False)
        ]

    def _from_end(self, index: Term, extent: Term, state: State) -> Term:
        if not self.wraps:
            return index
        low, _ = self.run.facts(state.path).range_of(index)
        if low is not None and low >= 0:
            return index
        if integers.is_number_of_launch(index):
            # It could count from the end, but hardly ever does: it is taken for granted, and said.
            self.run.take_for_granted(conditions.at_most(terms.ZERO, index), f"{index} >= 0")
            return index
        found = either(conditions.less(index, terms.ZERO), index + extent, index)
        assert isinstance(found, Term)
        return found

    def word(self, place: Expr) -> int:
        """Bytes of the words that a place is loaded or stored in as a whole; 0 where it goes number by number."""
        return word_at(place, self.again)

    def _load(self, place: Expr, root: nodes.Index, state: State, part: Part) -> Value:
        """An element, or the part of it that the place is."""
        reference, indices = self.indices(root, state)
        memory = reference.memory
        if isinstance(root.array.type, IndexedArray):
            self.run.unclear("an array of indices stands between an index and its element", root.span)
        self.run.access(state, memory, indices, "read", root.span, part, place=place, word=self.word(place))
        return self._contents(memory, indices, place.type, part)

    def _contents(self, memory: Memory, indices: tuple[Term, ...], type: Type, part: Part) -> Value:
        level = max((one.level for one in indices), default=0)
        taint = 0
        for one in indices:
            taint |= one.taint
        if memory.is_changed or memory.space == "shared":
            is_told = memory.space == "shared" and level < THREAD
            if self.run.is_as_given(memory):
                return fresh(type, f"{memory.name}[…]", THREAD, taint | DATA)
            found = fresh(type, f"{memory.name}[…]", BLOCK if is_told else THREAD, taint | (memory.bit or SYNC))
            if is_told:  # all threads of the block see the same, unless they race for it
                self.run.tell(found, memory)
            return found
        return _element(type, memory, indices, part, level, taint | DATA)

    def _part(self, expr: nodes.Component | nodes.Member, state: State) -> Value:
        root = root_of(expr)
        if isinstance(root, nodes.Index):
            part = self.part_of(expr, state)
            return self._load(expr, root, state, part)
        base = self.value(expr.base, state)
        if isinstance(expr, nodes.Member):
            return _member(base, expr)
        return self._component(base, expr, state)

    def part_of(self, place: Expr, state: State) -> Part:
        """The bytes of an element that a part of it takes; all that they may be, where an index is no constant."""
        if isinstance(place, nodes.Member):
            begin = self.part_of(place.base, state).offset
            struct = place.base.type
            assert isinstance(struct, Struct)
            found = field_of(struct, place.field)
            assert found is not None
            return Part(begin + found.offset, place.type.size)
        if isinstance(place, nodes.Component):
            begin, size, row, _ = self.part_of(place.base, state)
            number, width = self.component_number(place, state), place.type.size
            if row is not None:  # of a row that is not known itself
                return Part(begin, size, row + number, width)
            if number.is_constant:
                return Part(begin + number.constant * element_of(place.base.type).size, width)
            return Part(begin, size, number, width)
        return Part(0, place.type.size)

    def component_number(self, place: nodes.Component, state: State) -> Term:
        """Which component, row by row; what could be beyond is written down."""
        type = place.base.type
        extents = (type.rows, type.columns) if isinstance(type, Matrix) else (type.length,)  # type: ignore[attr-defined]
        number, stride = terms.ZERO, 1
        strides = (extents[1], 1) if len(extents) == 2 else (1,)
        for index, extent, stride in zip(place.indices, extents, strides, strict=False):
            value = self._from_end(self.term(index, state), terms.number(extent), state)
            if not (value.is_constant and 0 <= value.constant < extent) and not self.run.is_trial:
                name = "matrix" if isinstance(type, Matrix) else "vector"
                span = self.run.place_of(place.span)
                self.run.records.components.append(Component(value, extent, state.path, span, name))
            number = number + value.times(stride)
        return number

    def _component(self, base: Value, expr: nodes.Component, state: State) -> Value:
        number = self.component_number(expr, state)
        if not isinstance(base, Parts):
            return pure("component", expr.type, (base, number))
        width = len(base.items) if is_scalar(expr.type) else expr.type.length  # type: ignore[attr-defined]
        if number.is_constant:
            start = number.constant
            if is_scalar(expr.type):
                return base.items[start] if 0 <= start < len(base.items) else zero(expr.type)
            return Parts(base.items[start : start + width])
        if is_integer(expr.type) and len(base.items) <= 4:
            value = base.items[-1]
            for i in range(len(base.items) - 2, -1, -1):
                value = either(conditions.equal(number, terms.number(i)), base.items[i], value)
            return value
        return pure("component", expr.type, (base, number))


def is_scalar(type: Type) -> bool:
    """A number or a bool."""
    return isinstance(type, Scalar)


def _constant(value: bool | int | float, type: Type) -> Value:
    assert isinstance(type, Scalar)
    if type.kind == "bool":
        return conditions.truth(bool(value))
    return Unknown(terms.key("const", repr(value)), 0, 0) if type.kind == "float" else terms.number(int(value))


def _number_of(condition: Condition) -> Term:
    if condition.kind in ("true", "false"):
        return terms.ONE if condition.kind == "true" else terms.ZERO
    return terms.of(terms.atom("ite", (condition, terms.ONE, terms.ZERO), 0, 1))


def _opaque_comparison(op: str, a: Value, b: Value) -> Condition:
    level = max(level_of(a), level_of(b))
    return conditions.opaque(terms.key(op, key_of(a), key_of(b)), level, taint_of(a) | taint_of(b))


def _item(base: Value, index: int, type: Type) -> Value:
    return base.items[index] if isinstance(base, Parts) else pure(f"item {index}", type, (base,))


def _member(base: Value, expr: nodes.Member) -> Value:
    struct = expr.base.type
    assert isinstance(struct, Struct)
    if isinstance(base, Parts):
        names = [one.name for one in struct.fields]
        return base.items[names.index(expr.field)]
    return pure(f"field {expr.field}", expr.type, (base,))


def _element(type: Type, memory: Memory, indices: tuple[Term, ...], part: Part, level: int, taint: int) -> Value:
    """What stands in an array that nobody changes: the same wherever the indices are."""
    name = memory.name
    if isinstance(type, Scalar):
        if is_integer(type):
            label = name if part == Part(0, type.size) else f"{name}+{part.offset}"
            if part.component is not None:
                label, indices = f"{label}[]", (*indices, part.component)
            atom = terms.atom("load", indices, *range_of_type(type), label)
            atom.taint |= DATA
            return terms.of(atom)
        key = terms.key("load", name, part, *indices)
        if type.kind == "bool":
            return conditions.opaque(key, level, taint)
        return Unknown(key, level, taint)
    if isinstance(type, (Vector, Matrix)):
        size, begin, row = type.element.size, part.offset, part.component
        count = type.length if isinstance(type, Vector) else type.rows * type.columns
        places = [
            Part(begin + i * size, size) if row is None else Part(begin, part.size, row + i, size) for i in range(count)
        ]
        return Parts(tuple(_element(type.element, memory, indices, one, level, taint) for one in places))
    if isinstance(type, Struct):
        return Parts(
            tuple(
                _element(f.type, memory, indices, Part(part.offset + f.offset, f.type.size), level, taint)
                for f in type.fields
            )
        )
    return fresh(type, f"{name}[…]", THREAD, taint)
