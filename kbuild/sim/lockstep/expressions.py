"""What expressions mean, for all lanes of a frame at once. This and `statements` are the meaning of every node.

Nodes of arithmetic and what they are made of are *bound* once for a kernel: what can be known of the node is found out
then, and a function of the machine and a frame is left (`Steps`). The others are methods that look at their node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kbuild.errors import InternalError
from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function
from kbuild.ir.traverse import root_of, walk
from kbuild.ir.types import Array, Constant, Matrix, Scalar, Type, Vector, element_of, is_composite, is_integer
from kbuild.loader.interface import contiguous_strides
from kbuild.sim import arithmetic
from kbuild.sim.arithmetic import dtype_of
from kbuild.sim.hardware import MINUS_C, MINUS_PRODUCT
from kbuild.sim.lockstep import affine, memory, places, tree
from kbuild.sim.lockstep.affine import Affine
from kbuild.sim.lockstep.frame import Frame
from kbuild.sim.lockstep.places import Location, OfPart, at_lane, checked
from kbuild.sim.lockstep.tree import Descriptor, Value
from kbuild.sim.lockstep.watching import Watching
from kbuild.sim.values import Fault, OutOfBounds, no_rank

Step = Callable[["Expressions", Frame], Value]


class Steps:
    """How the expressions of a kernel are computed, each bound when it is first asked for. Launches share them."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Expr, Step]] = {}
        self._plain: dict[int, tuple[Expr, bool]] = {}

    def of(self, expr: Expr) -> Step:
        """How to compute an expression."""
        known = self._known.get(id(expr))
        if known is None:
            known = self._known[id(expr)] = expr, bound(expr, self)
        return known[1]

    def is_harmless(self, expr: Expr) -> bool:
        """It touches no memory, and nothing in it can fail."""
        known = self._plain.get(id(expr))
        if known is None:
            known = self._plain[id(expr)] = expr, all(map(_is_harmless, walk(expr)))
        return known[1]


class Expressions:
    """Values of expressions. `call` runs a function's body; `watching` is told of what happens."""

    def __init__(self, space: memory.Space, watching: Watching, steps: Steps) -> None:
        self.space, self.watching, self.steps = space, watching, steps
        self.call: Callable[[Function, list[Value], Frame], Value] = _no_calls
        # What trips of loops keep, by number: for a trip, and for all of them (see `trips`).
        self.kept_for_a_trip: dict[int, tuple[Frame, Value]] = {}
        self.kept_for_all_trips: dict[int, tuple[Frame, Value]] = {}
        self.next_test: tuple[Frame, Any] | None = None  # of a loop, as far as a trip has computed it

    def value(self, expr: Expr, frame: Frame) -> Value:
        """The value of an expression in every lane."""
        return self.steps.of(expr)(self, frame)

    def dense(self, expr: Expr, frame: Frame) -> Any:
        """The same as NumPy has it, for a scalar."""
        return tree.dense(self.steps.of(expr)(self, frame))

    # Positions

    def _thread_index(self, expr: nodes.ThreadIndex, frame: Frame) -> Any:
        return frame.lanes.coordinate(expr.axis)

    def _position(self, expr: nodes.Position, frame: Frame) -> Any:
        return frame.lanes.position(expr.what, expr.axis)

    # Arrays

    def _table(self, expr: nodes.Table, frame: Frame) -> Descriptor:
        found = self.space.tables[expr.type, expr.data]
        type = expr.type
        assert isinstance(type, Constant)
        shape = [np.int32(extent) for extent in type.shape]
        strides = [np.int32(stride) for stride in contiguous_strides(type.shape, type.element.size)]
        return Descriptor(type.element, np.int64(found.start), shape, strides, found)

    def _extent(self, expr: nodes.Extent, frame: Frame) -> Any:
        return self.value(expr.array, frame).shape[expr.axis]

    def _present(self, expr: nodes.Present, frame: Frame) -> Any:
        return self.value(expr.array, frame).address != 0

    def _view(self, expr: nodes.View, frame: Frame) -> Descriptor:
        array: Descriptor = self.value(expr.array, frame)
        count = len(expr.indices)
        rest = [part if part is None else part[count:] for part in (array.tables, array.whole)]
        shape, strides = array.shape[count:], array.strides[count:]
        absent = self._absent(array, expr, frame)
        if absent is not None:
            return Descriptor(array.element, absent, shape, strides, None, *rest)
        indices = [self.value(index, frame) for index in expr.indices]
        found, offset = places.element(array, indices, frame.wraps, self.space, self._noted(expr, frame))
        if found is not None:
            offset = places.plus(offset, found.start)
        if isinstance(offset, int):
            offset = np.int64(offset)
        return Descriptor(array.element, tree.dense(offset), shape, strides, found, *rest)

    def _elsewhere(self, expr: nodes.Elsewhere, frame: Frame) -> Descriptor:
        array: Descriptor = self.value(expr.array, frame)
        rank, count = self.dense(expr.rank, frame), frame.lanes.launch.cluster
        bad = (rank < 0) | (rank >= count)
        if bad.any():
            position = int(np.argmax(bad))
            raise at_lane(OutOfBounds(no_rank(int(tree.lane_of(rank, position)), count)), position)
        found = self.space.shared
        blocks = rank.astype(np.int64) - frame.lanes.position("cluster_rank", None)
        return Descriptor(
            array.element, tree.dense(array.address) + blocks * found.stride, array.shape, array.strides, found
        )

    def _absent(self, array: Descriptor, expr: nodes.View, frame: Frame) -> Any:
        """The view of an array that is not there is not there either."""
        is_uniform = isinstance(array.address, np.generic)
        if is_uniform and int(array.address) == 0:
            return np.int64(0)
        return None

    def locate(self, place: Expr, frame: Frame) -> Location:
        """Where in memory a place lies whose root is an element of an array."""
        match place:
            case nodes.Index(array, indices):
                descriptor: Descriptor = self.value(array, frame)
                found = [self.value(index, frame) for index in indices]
                memory, offset = places.element(descriptor, found, frame.wraps, self.space, self._noted(place, frame))
                return Location(memory, offset, place.type)
            case nodes.Member(base, name):
                whole = self.locate(base, frame)
                field = next(f for f in base.type.fields if f.name == name)  # type: ignore[attr-defined]
                return whole.inside(field.offset, place.type)
            case nodes.Component(base, indices):
                whole, size = self.locate(base, frame), element_of(base.type).size
                constant, moving = self.component(base.type, indices, frame)
                part = whole.inside(constant * size, place.type)
                return part if moving is None else part.moved(places.times(moving, size), place.type)
        raise InternalError(f"no place in memory: {place!r:.200}")

    def component(self, base: Type, indices: tuple[Expr, ...], frame: Frame) -> tuple[int, Any]:
        """The number of a component (of the first of a row) in row-major order: a constant, and what differs."""
        extents = (base.length,) if isinstance(base, Vector) else (base.rows, base.columns)  # type: ignore[attr-defined]
        constant, moving = 0, None
        for axis, index in enumerate(indices):
            weight = int(np.prod(extents[axis + 1 :], dtype=np.int64))
            found = self.value(index, frame)
            found = checked(
                found,
                np.int32(extents[axis]),
                frame.wraps,
                lambda at, found=found: f"index {tree.lane_of(found, at)} in {base}",
            )
            if isinstance(found, np.generic):
                constant += int(found) * weight
            else:
                distance = tree.dense(found).astype(np.int64) * weight
                moving = distance if moving is None else moving + distance
        return constant, moving

    def _load(self, expr: nodes.Index | nodes.Component | nodes.Member, frame: Frame) -> Value:
        if isinstance(root_of(expr), nodes.Index):
            return self.fetch(self.locate(expr, frame), frame, expr)
        if isinstance(expr, nodes.Member):
            return self.value(expr.base, frame)[expr.field]
        assert isinstance(expr, nodes.Component)
        return self.taken(self.value(expr.base, frame), expr, frame)

    def taken(self, whole: Value, expr: nodes.Component, frame: Frame) -> Value:
        """A component, or a row, of a value."""
        base = expr.base.type
        constant, moving = self.component(base, expr.indices, frame)
        count = base.columns if isinstance(base, Matrix) and len(expr.indices) == 1 else 1
        if moving is None:
            return whole[constant] if count == 1 and not _is_row(expr) else whole[constant : constant + count]
        stacked = np.stack([tree.spread(part, frame.lanes.count) for part in whole])
        lanes = np.arange(frame.lanes.count)
        found = [stacked[moving + (constant + i), lanes] for i in range(count)]
        return found if _is_row(expr) else found[0]

    def fetch(self, location: Location, frame: Frame, expr: Expr) -> Value:
        """What lies at a location."""
        parts = location.parts(self.space, frame.lanes.count)
        if isinstance(expr, nodes.Index) and expr.cache == "readonly":
            _require_readonly(parts)
        if parts[0][1] is None:
            found, _, offset = parts[0]
            if self.watching.accesses and not found.is_constant:
                self.watching.accessed(
                    "read", Location(found, offset, location.type, location.delta), frame.lanes, expr
                )
            return memory.load(found, offset, location.type, self.space, location.delta)
        whole = mapped_full(tree.zero(location.type), frame.lanes.count)
        for found, positions, offsets in parts:
            if self.watching.accesses and not found.is_constant:
                at = Location(found, offsets, location.type, location.delta)
                with OfPart(positions):
                    self.watching.accessed("read", at, frame.lanes.take(positions), expr)
            part = memory.load(found, offsets, location.type, self.space, location.delta)
            whole = tree.put(whole, [(positions, part)], frame.lanes.count)
        return whole

    def _noted(self, expr: Expr, frame: Frame) -> Callable[[Location], None]:
        def note(location: Location) -> None:
            if self.watching.accesses:
                self.watching.accessed("read", location, frame.lanes, expr)

        return note

    # Choices

    def _select(self, expr: nodes.Select, frame: Frame) -> Value:
        condition = self.dense(expr.condition, frame)
        if isinstance(condition, np.generic):
            return self.value(expr.then if condition else expr.otherwise, frame)
        (yes,) = np.nonzero(condition)
        if len(yes) in (0, len(condition)):
            return self.value(expr.then if len(yes) else expr.otherwise, frame)
        if self.is_plain(expr.then) and self.is_plain(expr.otherwise):
            return tree.chosen(condition, self.value(expr.then, frame), self.value(expr.otherwise, frame))
        (no,) = np.nonzero(~condition)
        then, otherwise = self.in_part(expr.then, frame, yes), self.in_part(expr.otherwise, frame, no)
        return tree.join(frame.lanes.count, yes, then, no, otherwise)

    def in_part(self, expr: Expr, frame: Frame, positions: Any) -> Value:
        """The value of an expression for some of the lanes."""
        with OfPart(positions):
            return self.value(expr, frame.part(positions))

    def is_plain(self, expr: Expr) -> bool:
        """May be computed for lanes that do not ask for it: it touches no memory, nothing in it can fail, and nobody
        watches values."""
        return not self.watching.values and self.steps.is_harmless(expr)

    # Composites

    def _build(self, expr: nodes.Build, frame: Frame) -> Value:
        if isinstance(expr.type, Array):
            return tree.zero(expr.type)
        parts = [self.value(part, frame) for part in expr.parts]
        fields = getattr(expr.type, "fields", None)
        if fields is not None:
            return {field.name: part for field, part in zip(fields, parts, strict=True)}
        return parts

    def _item(self, expr: nodes.Item, frame: Frame) -> Value:
        return self.value(expr.base, frame)[expr.index]

    def _called(self, expr: nodes.Call, frame: Frame) -> Value:
        return self.call(expr.callee, [self.value(argument, frame) for argument in expr.arguments], frame)


def _require_readonly(parts: Sequence[tuple[memory.Allocation, Any, Any]]) -> None:
    for found, positions, _ in parts:
        if found.is_stored:
            reason = (
                f"kb.load_readonly reads {found.name}, to which this kernel stores: a cache may hold what was there"
            )
            raise at_lane(Fault(reason), 0 if positions is None else int(positions[0]))


def mapped_full(value: Value, count: int) -> Value:
    """A value with a number of its own for each lane."""
    return tree.mapped(lambda leaf: tree.spread(leaf, count).copy(), value)


def _is_row(expr: nodes.Component) -> bool:
    return isinstance(expr.type, Vector)


def _is_harmless(node: nodes.Node) -> bool:
    match node:
        case nodes.Index() | nodes.View() | nodes.Elsewhere() | nodes.Call() | nodes.Component():
            return isinstance(node, nodes.Component) and all(isinstance(i, nodes.Const) for i in node.indices)
        case nodes.Binary(op, _, _, type):
            return op not in ("div", "mod", "floordiv") or _scalar(type).kind == "float"
        case nodes.Intrinsic(name):
            return not ALL_ROWS[name].has_effects
    return True


def _spread(value: Value, own: Type, wanted: Type) -> list[Any]:
    """A composite's parts; of its scalar, as many of it."""
    if own == wanted:
        return value  # type: ignore[no-any-return]
    length = wanted.length if isinstance(wanted, Vector) else wanted.rows * wanted.columns  # type: ignore[attr-defined]
    return [value] * length


def _scalar(type: Type) -> Scalar:
    element = element_of(type)
    assert isinstance(element, Scalar)
    return element


def _no_calls(function: Function, arguments: list[Value], frame: Frame) -> Value:
    raise InternalError(f"nothing runs {function.name}")


# What is bound: the node as it is, and how its parts are computed


def bound(expr: Expr, steps: Steps) -> Step:
    """How to compute an expression, whose parts are computed as `steps` has them."""
    bind = _BOUND.get(type(expr))
    if bind is not None:
        return bind(expr, steps)
    meaning = _MEANING[type(expr)]
    return lambda machine, frame: meaning(machine, expr, frame)


def _const(expr: nodes.Const, steps: Steps) -> Step:
    assert isinstance(expr.type, Scalar)
    value = dtype_of(expr.type).type(expr.value)
    return lambda machine, frame: value


def _read(expr: nodes.Read, steps: Steps) -> Step:
    symbol = expr.symbol

    def value(machine: Expressions, frame: Frame) -> Value:
        found = frame.values.get(symbol)
        return frame.get(symbol) if found is None else found

    return value


def _unary(expr: nodes.Unary, steps: Steps) -> Step:
    operand, function = steps.of(expr.operand), arithmetic.unary_function(expr.op)

    def one(part: Any) -> Any:
        return function(tree.dense(part))

    if is_composite(expr.type):
        return lambda machine, frame: tree.mapped(one, operand(machine, frame))
    return lambda machine, frame: one(operand(machine, frame))


def _binary(expr: nodes.Binary, steps: Steps) -> Step:
    kind, op = _scalar(expr.type), expr.op
    left, right, function = steps.of(expr.left), steps.of(expr.right), arithmetic.binary_function(op, kind)
    is_division = op in ("div", "mod", "floordiv") and kind.kind != "float"

    def one(machine: Expressions, a: Any, b: Any) -> Any:
        a, b = tree.dense(a), tree.dense(b)
        if is_division and machine.watching.divisions:
            machine.watching.divided(b, op, expr)
        return function(a, b)

    def of_parts(machine: Expressions, frame: Frame) -> Value:
        a, b = left(machine, frame), right(machine, frame)
        a, b = _spread(a, expr.left.type, expr.type), _spread(b, expr.right.type, expr.type)
        found = [one(machine, x, y) for x, y in zip(a, b, strict=True)]
        if machine.watching.values:
            machine.watching.computed(expr, found, [a, b], frame)
        return found

    def of_integers(machine: Expressions, frame: Frame) -> Value:
        a, b = left(machine, frame), right(machine, frame)
        if isinstance(a, Affine) or isinstance(b, Affine):
            sequence = affine.binary(op, a, b, kind)
            if sequence is not None:
                return sequence
        found = one(machine, a, b)
        if machine.watching.values:
            machine.watching.computed(expr, found, [a, b], frame)
        return found

    def of_floats(machine: Expressions, frame: Frame) -> Value:
        a, b = left(machine, frame), right(machine, frame)
        found = function(a, b)
        if machine.watching.values:
            machine.watching.computed(expr, found, [a, b], frame)
        return found

    if is_composite(expr.type):
        return of_parts
    return of_floats if kind.kind == "float" else of_integers


def _fma(expr: nodes.Fma, steps: Steps) -> Step:
    kind, parts = _scalar(expr.type), (expr.a, expr.b, expr.c)
    first, second, third = map(steps.of, parts)

    def of_parts(machine: Expressions, frame: Frame) -> Value:
        given = [one(machine, frame) for one in (first, second, third)]
        factors = [_spread(value, part.type, expr.type) for value, part in zip(given, parts, strict=True)]
        found = [arithmetic.fma(a, b, c, kind) for a, b, c in zip(*factors, strict=True)]
        if machine.watching.values:
            machine.watching.computed(expr, found, factors, frame)
        return found

    def of_floats(machine: Expressions, frame: Frame) -> Value:
        a, b, c = first(machine, frame), second(machine, frame), third(machine, frame)
        found = arithmetic.fma(a, b, c, kind)
        if machine.watching.values:
            machine.watching.computed(expr, found, [a, b, c], frame)
        return found

    if is_composite(expr.type):
        return of_parts
    a, is_product_negative = _without_sign(expr.a)
    c, is_c_negative = _without_sign(expr.c)
    signs = is_product_negative * MINUS_PRODUCT + is_c_negative * MINUS_C
    if not signs:
        return of_floats
    plain_a, plain_c = steps.of(a), steps.of(c)

    def with_signs(machine: Expressions, frame: Frame) -> Value:
        if machine.watching.values:
            return of_floats(machine, frame)
        return arithmetic.fma(plain_a(machine, frame), second(machine, frame), plain_c(machine, frame), kind, signs)

    return with_signs


def _without_sign(expr: Expr) -> tuple[Expr, bool]:
    """A factor or term without the minus before it, and whether there is one: negation is exact."""
    return (expr.operand, True) if isinstance(expr, nodes.Unary) and expr.op == "neg" else (expr, False)


def _convert(expr: nodes.Convert, steps: Steps) -> Step:
    source, target, operand = _scalar(expr.operand.type), _scalar(expr.type), steps.of(expr.operand)
    is_whole = is_integer(target)

    def value(machine: Expressions, frame: Frame) -> Value:
        given = operand(machine, frame)
        if is_whole and isinstance(given, Affine):
            found = affine.made(given.start, given.step, given.count, target)
            if found is not None:
                return found
        converted = arithmetic.convert(tree.dense(given), source, target)
        if machine.watching.values:
            machine.watching.computed(expr, converted, [given], frame)
        return converted

    return value


def _compare(expr: nodes.Compare, steps: Steps) -> Step:
    left, right, op, function = steps.of(expr.left), steps.of(expr.right), expr.op, arithmetic.comparison(expr.op)

    def value(machine: Expressions, frame: Frame) -> Value:
        a, b = left(machine, frame), right(machine, frame)
        if isinstance(a, Affine) or isinstance(b, Affine):
            found = affine.compare(op, a, b) if affine.are_simple(a, b) else None
            return function(tree.dense(a), tree.dense(b)) if found is None else found
        return function(a, b)

    return value


def _intrinsic(expr: nodes.Intrinsic, steps: Steps) -> Step:
    name, source, result = expr.name, _scalar(expr.arguments[0].type), _scalar(expr.type)
    given = [steps.of(one) for one in expr.arguments]

    def value(machine: Expressions, frame: Frame) -> Value:
        arguments = [tree.dense(one(machine, frame)) for one in given]
        found = arithmetic.intrinsic(name, arguments, source, result)
        if machine.watching.values:
            machine.watching.computed(expr, found, arguments, frame)
        return found

    return value


def _logical(expr: nodes.Logical, steps: Steps) -> Step:
    left, right, is_or = steps.of(expr.left), steps.of(expr.right), expr.op == "or"

    def value(machine: Expressions, frame: Frame) -> Value:
        first = tree.dense(left(machine, frame))
        if isinstance(first, np.generic):
            return first if first == is_or else right(machine, frame)
        if machine.is_plain(expr.right):
            second = tree.dense(right(machine, frame))
            return first | second if is_or else first & second
        (open,) = np.nonzero(~first if is_or else first)
        if len(open) == 0:
            return first
        if len(open) == frame.lanes.count:
            return right(machine, frame)
        found = first.copy()
        found[open] = tree.dense(machine.in_part(expr.right, frame, open))
        return found

    return value


_BOUND: dict[type[Any], Callable[[Any, Steps], Step]] = {
    nodes.Const: _const,
    nodes.Read: _read,
    nodes.Unary: _unary,
    nodes.Binary: _binary,
    nodes.Fma: _fma,
    nodes.Convert: _convert,
    nodes.Compare: _compare,
    nodes.Intrinsic: _intrinsic,
    nodes.Logical: _logical,
}
_MEANING: dict[type[Any], Callable[[Expressions, Any, Frame], Value]] = {
    nodes.Index: Expressions._load,
    nodes.Component: Expressions._load,
    nodes.Member: Expressions._load,
    nodes.Table: Expressions._table,
    nodes.Extent: Expressions._extent,
    nodes.Present: Expressions._present,
    nodes.View: Expressions._view,
    nodes.Elsewhere: Expressions._elsewhere,
    nodes.ThreadIndex: Expressions._thread_index,
    nodes.Position: Expressions._position,
    nodes.Select: Expressions._select,
    nodes.Build: Expressions._build,
    nodes.Item: Expressions._item,
    nodes.Call: Expressions._called,
}
