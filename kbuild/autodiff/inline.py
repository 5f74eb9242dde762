"""A kernel as one flat tree: calls are replaced by what the callee does, structs by their fields.

Two kinds of calls stay: those of functions whose gradient is given, and those of functions that have none to have (no
floating-point number goes in, or none comes out). A variable that holds an array becomes the indices at which it looks
into an array of the launch. What is printed or asserted has happened in the forward launch already and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from kbuild.autodiff.callees import refuse_cooperation, stays_a_call
from kbuild.autodiff.flat import (
    Branch,
    Do,
    Jump,
    Loop,
    Set,
    Tree,
    fresh,
    int_const,
    path_of,
    read,
)
from kbuild.autodiff.jumps import without_jumps
from kbuild.autodiff.result import Undifferentiable
from kbuild.autodiff.values import (
    Value,
    built_up,
    is_part_of_a_variable,
    leaves,
    merged_index,
    nothing,
    origin,
    taken_apart,
    trips,
    unviewed,
)
from kbuild.errors import InternalError, Span
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.liveness import analyse
from kbuild.ir.nodes import Const, Expr, Function, Kernel, Stmt, Symbol
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import BOOL, VOID, Array, Struct, Tuple, Type

_NATIVE = (
    "give `adj_snippet` to @kb.func_native, or write in place of `...` what it does in Python: that is differentiated"
)


def flatten(kernel: Kernel, replays: bool = True) -> list[Tree]:
    """The kernel's body without calls, structs and jumps. Raises Undifferentiable.

    With `replays` functions that have a replay are what that says, as in the adjoint's forward sweep.
    """
    function = kernel.function
    refuse_cooperation(function)
    frame = _Frame(function)
    body: list[Tree] = []
    assigned = _assigned(function)
    inliner = _Inliner(frozenset(function.parameters) - assigned, replays)
    for parameter in function.parameters:
        value = inliner.parameter(nodes.Read(parameter, parameter.type))
        if parameter in assigned:
            own = frame.values[parameter] = inliner.variable(parameter.name, parameter.type, parameter.span)
            inliner.assign(own, value, body, None)
        else:
            frame.values[parameter] = value
    inliner.block(function.body, frame, body)
    return without_jumps(body)


@cache
def _assigned(function: Function) -> frozenset[Symbol]:
    """Variables that are assigned, in whole or in part."""
    roots = (root_of(node.target) for node in walk(function.body) if isinstance(node, nodes.Assign))
    return frozenset(root.symbol for root in roots if isinstance(root, nodes.Read))


@cache
def _starts_as_zero(function: Function) -> tuple[Symbol, ...]:
    """Variables that may be read before anything was assigned to them."""
    points = analyse(function).points
    live = points[0].before if points else frozenset()
    return tuple(sorted(live - set(function.parameters), key=lambda symbol: symbol.name))


@dataclass
class _Frame:
    """One call: what its variables are, and where its result goes."""

    function: Function
    values: dict[Symbol, Value] = field(default_factory=dict)
    result: Value | None = None


class _Inliner:
    def __init__(self, constants: frozenset[Symbol], replays: bool) -> None:
        self.constants = constants  # parameters of the kernel that are never assigned
        self.replays = replays
        # What a variable that holds an array looks into: the array of the launch, and the indices.
        self.arrays: dict[Symbol, tuple[Expr, list[Symbol]]] = {}
        self.empty: dict[Symbol, list[Tree]] = {}  # variables that held no array at first, and in which block

    def variable(self, name: str, type: Type, span: Span | None = None) -> Value:
        """New variables for a value of a type; with a span they are the source's."""
        if isinstance(type, Struct):
            return {one.name: self.variable(f"{name}_{one.name}", one.type, span) for one in type.fields}
        if isinstance(type, Tuple):
            return [self.variable(f"{name}_{i}", item, span) for i, item in enumerate(type.items)]
        return read(fresh(name, type, span))

    def parameter(self, place: Expr) -> Value:
        """A parameter of the kernel as a value."""
        if isinstance(place.type, Struct):
            return {one.name: self.parameter(nodes.Member(place, one.name, one.type)) for one in place.type.fields}
        return place

    # Statements

    def block(self, body: Sequence[Stmt], frame: _Frame, out: list[Tree]) -> None:
        for stmt in body:
            self.statement(stmt, frame, out)

    def statement(self, stmt: Stmt, frame: _Frame, out: list[Tree]) -> None:
        span = stmt.span
        match stmt:
            case nodes.Assign(target, value):
                self.assignment(target, value, frame, out, span)
            case nodes.Evaluate(nodes.Call() as call):
                self.call(call, frame, out, is_wanted=False)
            case nodes.Evaluate(nodes.Intrinsic(name) as atomic) if has_effects(name):
                out.append(Do(self.atomic(atomic, frame, out), span))
            case nodes.Evaluate() | nodes.Print() | nodes.Assert() | nodes.Assume():
                pass
            case nodes.Native(name=name, body=body, has_body=has_body):
                if not has_body:
                    raise Undifferentiable(f"{name} is CUDA C++, and nothing says its gradient", span, _NATIVE)
                self.block(body, frame, out)
            case nodes.If(condition, then, otherwise):
                made = Branch(self.leaf(condition, frame, out), [], [], span)
                self.block(then, frame, made.then)
                self.block(otherwise, frame, made.otherwise)
                out.append(made)
            case nodes.For():
                self.range_loop(stmt, frame, out)
            case nodes.While(condition, body):
                self.condition_loop(condition, body, frame, out, span)
            case nodes.Break():
                out.append(Jump("break", span))
            case nodes.Continue():
                out.append(Jump("continue", span))
            case nodes.Return(value):
                if value is not None:
                    assert frame.result is not None
                    self.assign(frame.result, self.value(value, frame, out), out, span)
                out.append(Jump("return", span))
            case _:
                raise InternalError(f"autodiff does not know {type(stmt).__name__}")

    def range_loop(self, stmt: nodes.For, frame: _Frame, out: list[Tree]) -> None:
        """A loop whose step is a constant, and 1 or -1 unless everything is; else its trips are counted."""
        span, type = stmt.span, stmt.symbol.type
        start = self.unchanging(self.leaf(stmt.start, frame, out), out, "start", span)
        stop = self.unchanging(self.leaf(stmt.stop, frame, out), out, "stop", span)
        step = self.unchanging(self.leaf(stmt.step, frame, out), out, "step", span)
        symbol = fresh(stmt.symbol.name, type, stmt.symbol.span)
        frame.values[stmt.symbol] = read(symbol)
        is_constant = isinstance(start, Const) and isinstance(stop, Const)
        if isinstance(step, Const) and (step.value in (1, -1) or (is_constant and step.value)):
            made = Loop(symbol, start, stop, int(step.value), None, [], span)
        else:
            count = fresh(f"{stmt.symbol.name}_trips", type)
            out.append(Set(read(count), trips(start, stop, step), span))
            number = fresh(f"{stmt.symbol.name}_trip", type)
            made = Loop(number, int_const(0, type), read(count), 1, None, [], span)
            moved = nodes.Binary("mul", read(number), step, type)
            made.body.append(Set(read(symbol), nodes.Binary("add", start, moved, type), span))
        self.block(stmt.body, frame, made.body)
        out.append(made)

    def condition_loop(
        self, condition: Expr, body: Sequence[Stmt], frame: _Frame, out: list[Tree], span: Span | None
    ) -> None:
        before: list[Tree] = []
        asked = self.leaf(condition, frame, before)
        if not before:
            made = Loop(None, None, None, 0, asked, [], span)
        else:  # the condition takes statements: they begin each trip, the last one too
            made = Loop(None, None, None, 0, Const(True, BOOL), before, span)
            before.append(Branch(nodes.Unary("not", asked, BOOL), [Jump("break", span)], [], span))
        self.block(body, frame, made.body)
        out.append(made)

    def assignment(self, target: Expr, value: Expr, frame: _Frame, out: list[Tree], span: Span | None) -> None:
        if isinstance(value, nodes.Intrinsic) and has_effects(value.name):
            atomic = self.atomic(value, frame, out)
            place = self.place(target, frame, out)
            assert not isinstance(place, (dict, list))
            out.append(Set(place, atomic, span))
            return
        found = self.value(value, frame, out)
        self.assign(self.place(target, frame, out), found, out, span)

    def assign(self, target: Value, found: Value, out: list[Tree], span: Span | None) -> None:
        """Assigns part by part."""
        if isinstance(target, (dict, list)):
            found = self.evaluated(found, out)  # all parts, before the first is assigned
        for place, one in zip(leaves(target), leaves(found), strict=True):
            if isinstance(place.type, Array):
                self.assign_array(place, one, out, span)
            else:
                out.append(Set(place, one, span))

    def assign_array(self, target: Expr, found: Expr, out: list[Tree], span: Span | None) -> None:
        """A variable that holds an array is the array of the launch that it looks into, and where."""
        base, indices = unviewed(found)
        if isinstance(target, nodes.Read):
            known = self.arrays.get(target.symbol)
            if known is None and isinstance(base, nodes.Build):
                self.empty[target.symbol] = out  # no array yet, as in a struct that is about to be filled
            elif known is not None and isinstance(known[0], nodes.Build) and self.empty.get(target.symbol) is out:
                known = None  # the first one, and what follows in this block sees it
            if known is None:
                places = [fresh(f"{target.symbol.name}_at", one.type) for one in indices]
                known = self.arrays[target.symbol] = (base, places)
            first, places = known
            if origin(first) == origin(base) and len(places) == len(indices):
                out.extend(Set(read(place), one, span) for place, one in zip(places, indices, strict=True))
                return
        raise Undifferentiable(
            "an array is kept here whose place among the kernel's arguments is not always the same",
            span,
            "use the arrays of the kernel's parameters directly",
        )

    # Calls

    def call(self, call: nodes.Call, frame: _Frame, out: list[Tree], is_wanted: bool = True) -> Value:
        """What a callee does, and its result."""
        callee = call.callee
        arguments = [self.evaluated(self.value(a, frame, out), out, keeps=True) for a in call.arguments]
        if stays_a_call(callee):
            return self.kept_call(call, arguments, out, is_wanted)
        if self.replays and callee.replay is not None:
            callee = callee.replay
        inner = _Frame(callee)
        for symbol, argument in zip(callee.parameters, arguments, strict=True):
            if symbol in _assigned(callee):
                inner.values[symbol] = self.variable(symbol.name, symbol.type, symbol.span)
                self.assign(inner.values[symbol], argument, out, call.span)
            else:
                inner.values[symbol] = argument
        for symbol in _starts_as_zero(callee):
            inner.values[symbol] = self.variable(symbol.name, symbol.type, symbol.span)
            for place in leaves(inner.values[symbol]):
                if not isinstance(place.type, Array):
                    out.append(Set(place, nothing(place.type), call.span))
        if callee.result != VOID:
            inner.result = self.variable(callee.name, callee.result)
        body: list[Tree] = []
        self.block(callee.body, inner, body)
        out.extend(without_jumps(body))
        return self.resolved(inner.result, call.span) if inner.result is not None else []

    def kept_call(self, call: nodes.Call, arguments: list[Value], out: list[Tree], is_wanted: bool) -> Value:
        types = [p.type for p in call.callee.parameters]
        built = tuple(built_up(one, type) for one, type in zip(arguments, types, strict=True))
        callee = call.callee if self.replays else replace(call.callee, replay=None)
        made = nodes.Call(callee, built, call.type, call.span)
        if call.type == VOID or not is_wanted:
            out.append(Do(made, call.span))
            return []
        result = fresh(call.callee.name, call.type)
        out.append(Set(read(result), made, call.span))
        return taken_apart(read(result))

    def atomic(self, value: nodes.Intrinsic, frame: _Frame, out: list[Tree]) -> nodes.Intrinsic:
        place, *rest = value.arguments
        operands = [self.leaf(one, frame, out) for one in rest]
        target = self.place(place, frame, out)
        assert not isinstance(target, (dict, list))
        return replace(value, arguments=(target, *operands))

    # Expressions

    def leaf(self, expr: Expr, frame: _Frame, out: list[Tree]) -> Expr:
        """An expression that is no struct and no tuple."""
        found = self.value(expr, frame, out)
        assert not isinstance(found, (dict, list)), expr
        return found

    def value(self, expr: Expr, frame: _Frame, out: list[Tree]) -> Value:
        """An expression without calls; what they do goes to `out`."""
        span = expr.span
        match expr:
            case Const() | nodes.Table() | nodes.ThreadIndex() | nodes.Position():
                return expr
            case nodes.Read(symbol):
                if symbol not in frame.values:
                    frame.values[symbol] = self.variable(symbol.name, symbol.type, symbol.span)
                return self.resolved(frame.values[symbol], span)
            case nodes.Index(array, indices, type):
                found = nodes.Index(
                    self.array(array, frame, out), tuple(self.leaf(i, frame, out) for i in indices), type, span
                )
                merged = merged_index(found)
                return self.parts_of(merged, out) if isinstance(type, Struct) else merged
            case nodes.Member(base, name):
                inner = self.value(base, frame, out)
                assert isinstance(inner, dict)
                return inner[name]
            case nodes.Item(base, index):
                inner = self.value(base, frame, out)
                assert isinstance(inner, list)
                return inner[index]
            case nodes.Extent(array, axis, type):
                base, indices = unviewed(self.array(array, frame, out))
                return nodes.Extent(base, axis + len(indices), type, span)
            case nodes.Present(array, type):
                return nodes.Present(unviewed(self.array(array, frame, out))[0], type, span)
            case nodes.View(array, indices, type):
                base, before = unviewed(self.array(array, frame, out))
                return nodes.View(base, (*before, *(self.leaf(i, frame, out) for i in indices)), type, span)
            case nodes.Logical(op, left, right, type):
                return self.logical(op, left, right, type, frame, out, span)
            case nodes.Select(condition, then, otherwise, type):
                return self.select(condition, then, otherwise, type, frame, out, span)
            case nodes.Build(parts, Struct() as type):
                return {f.name: self.value(p, frame, out) for f, p in zip(type.fields, parts, strict=True)}
            case nodes.Build(parts, Tuple()):
                return [self.value(p, frame, out) for p in parts]
            case nodes.Call():
                return self.call(expr, frame, out)
            case nodes.Component(base, indices, type):
                inner = self.leaf(base, frame, out)
                return nodes.Component(inner, tuple(self.leaf(i, frame, out) for i in indices), type, span)
            case nodes.Unary(op, operand, type):
                return nodes.Unary(op, self.leaf(operand, frame, out), type, span)
            case nodes.Binary(op, left, right, type):
                return nodes.Binary(op, self.leaf(left, frame, out), self.leaf(right, frame, out), type, span)
            case nodes.Compare(op, left, right, type):
                return nodes.Compare(op, self.leaf(left, frame, out), self.leaf(right, frame, out), type, span)
            case nodes.Convert(operand, type):
                return nodes.Convert(self.leaf(operand, frame, out), type, span)
            case nodes.Fma(a, b, c, type):
                first, second, third = (self.leaf(one, frame, out) for one in (a, b, c))
                return nodes.Fma(first, second, third, type, span)
            case nodes.Build(parts, type):
                return nodes.Build(tuple(self.leaf(p, frame, out) for p in parts), type, span)
            case nodes.Intrinsic(name, arguments, type):
                return nodes.Intrinsic(name, tuple(self.leaf(a, frame, out) for a in arguments), type, span)
        raise InternalError(f"autodiff does not know {expr.__class__.__name__}")

    def logical(
        self, op: str, left: Expr, right: Expr, type: Type, frame: _Frame, out: list[Tree], span: Span | None
    ) -> Expr:
        first, later = self.leaf(left, frame, out), list[Tree]()
        second = self.leaf(right, frame, later)
        if not later:
            return nodes.Logical(op, first, second, type, span)
        result = read(fresh(op, type))
        out.append(Set(result, first, span))
        later.append(Set(result, second, span))
        out.append(Branch(result, later, [], span) if op == "and" else Branch(result, [], later, span))
        return result

    def select(
        self,
        condition: Expr,
        then: Expr,
        otherwise: Expr,
        type: Type,
        frame: _Frame,
        out: list[Tree],
        span: Span | None,
    ) -> Value:
        asked = self.leaf(condition, frame, out)
        sides: tuple[list[Tree], list[Tree]] = ([], [])
        first, second = (self.value(e, frame, side) for e, side in zip((then, otherwise), sides, strict=True))
        is_plain = not isinstance(first, (dict, list)) and not isinstance(second, (dict, list))
        if is_plain and not any(sides) and not isinstance(type, Array):
            return nodes.Select(asked, first, second, type, span)  # type: ignore[arg-type]
        result = self.variable("chosen", type)
        self.assign(result, first, sides[0], span)
        self.assign(result, second, sides[1], span)
        out.append(Branch(asked, *sides, span))
        return self.resolved(result, span)

    def array(self, expr: Expr, frame: _Frame, out: list[Tree]) -> Expr:
        found = self.leaf(expr, frame, out)
        base, _ = unviewed(found)
        if not isinstance(base, (nodes.Read, nodes.Member, nodes.Build, nodes.Table)) or any(
            isinstance(node, nodes.Index) for node in walk(base)
        ):
            raise Undifferentiable(
                "this array comes out of memory, where its adjoint cannot be found",
                expr.span,
                "pass the array as an argument, or in a struct that is an argument",
            )
        return found

    def resolved(self, value: Value, span: Span | None) -> Value:
        """A value whose arrays are those of the launch."""
        if isinstance(value, dict):
            return {name: self.resolved(one, span) for name, one in value.items()}
        if isinstance(value, list):
            return [self.resolved(one, span) for one in value]
        if isinstance(value.type, Array) and isinstance(value, nodes.Read) and value.symbol not in self.constants:
            if value.symbol not in self.arrays:
                raise Undifferentiable(
                    "this variable holds an array only after what reads it", span, "assign it before the loop"
                )
            base, places = self.arrays[value.symbol]
            return nodes.View(base, tuple(map(read, places)), value.type) if places else base
        return value

    def parts_of(self, place: Expr, out: list[Tree]) -> Value:
        """The fields of a struct in memory, whose indices are evaluated once."""
        if isinstance(place, nodes.Index):
            place = self.steady(place, out)
        if isinstance(place.type, Struct):
            return {f.name: self.parts_of(nodes.Member(place, f.name, f.type), out) for f in place.type.fields}
        return place

    # Places

    def place(self, target: Expr, frame: _Frame, out: list[Tree]) -> Value:
        """What is assigned to. Its indices do not look into memory."""
        match target:
            case nodes.Read(symbol):
                if symbol not in frame.values:
                    frame.values[symbol] = self.variable(symbol.name, symbol.type, symbol.span)
                return frame.values[symbol]
            case nodes.Index(array, indices, type, span):
                found = nodes.Index(
                    self.array(array, frame, out), tuple(self.leaf(i, frame, out) for i in indices), type, span
                )
                return self.parts_of(self.steady(merged_index(found), out), out)
            case nodes.Member(base, name):
                inner = self.place(base, frame, out)
                assert isinstance(inner, dict)
                return inner[name]
            case nodes.Component(base, indices, type, span):
                inner = self.place(base, frame, out)
                assert not isinstance(inner, (dict, list))
                places = tuple(self.held(self.leaf(i, frame, out), out) for i in indices)
                return nodes.Component(inner, places, type, span)
        raise InternalError(f"not a place: {target!r:.200}")

    def steady(self, place: nodes.Index, out: list[Tree]) -> nodes.Index:
        """An element whose indices are small and look at no memory."""
        indices = tuple(self.held(i, out) for i in place.indices)
        return nodes.Index(place.array, indices, place.type, place.span)

    def held(self, index: Expr, out: list[Tree]) -> Expr:
        if isinstance(index, (Const, nodes.Read, nodes.ThreadIndex)):
            return index
        made = fresh("at", index.type)
        out.append(Set(read(made), index, index.span))
        return read(made)

    def evaluated(self, value: Value, out: list[Tree], keeps: bool = False) -> Value:
        """The value in variables of its own; with `keeps` variables may stand for themselves."""
        if isinstance(value, dict):
            return {name: self.evaluated(one, out, keeps) for name, one in value.items()}
        if isinstance(value, list):
            return [self.evaluated(one, out, keeps) for one in value]
        if isinstance(value.type, Array):
            base, indices = unviewed(value)
            return nodes.View(base, tuple(self.held(i, out) for i in indices), value.type) if indices else base
        if self.is_constant(value) or (keeps and is_part_of_a_variable(value)):
            return value
        made = fresh("value", value.type)
        out.append(Set(read(made), value, value.span))
        return read(made)

    def unchanging(self, bound: Expr, out: list[Tree], name: str, span: Span | None) -> Expr:
        """A bound of a loop that its body cannot change."""
        if self.is_constant(bound):
            return bound
        made = fresh(name, bound.type)
        out.append(Set(read(made), bound, span))
        return read(made)

    def is_constant(self, expr: Expr) -> bool:
        """A constant of the launch, or of the thread."""
        match expr:
            case Const() | nodes.ThreadIndex() | nodes.Position():
                return True
            case nodes.Read(symbol):
                return symbol in self.constants
            case nodes.Member(base):
                return self.is_constant(base)
            case nodes.Extent(array):
                return path_of(array) is not None
        return False
