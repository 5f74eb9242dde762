"""The reverse of single statements.

    core(statement) → Core(before, after)

`before` takes the adjoint of what the statement assigned; then what it overwrote is put back; `after` propagates, with
every variable and element as it was before the statement.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kbuild.autodiff.activity import Activity
from kbuild.autodiff.early import loads_first
from kbuild.autodiff.flat import Do, Names, Set, Tree, fresh, has_floats, in_memory, path_of, read, zero
from kbuild.autodiff.result import Undifferentiable
from kbuild.autodiff.rules import Adjoints, Rules, is_leaf, is_not_zero
from kbuild.autodiff.touched import mentioned
from kbuild.errors import Span
from kbuild.intrinsics.table import ALL_ROWS, has_effects
from kbuild.ir import nodes
from kbuild.ir.effects import changes_memory
from kbuild.ir.nodes import Expr, Stmt
from kbuild.ir.traverse import root_of
from kbuild.ir.types import BOOL, VOID, Array, Struct, Tuple, Type


@dataclass
class Core:
    """The reverse of one statement."""

    before: list[Stmt] = field(default_factory=list)
    after: list[Stmt] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.before or self.after)


_ADDITIVE = {"atomic_add": "", "atomic_sub": "neg"}
_WINNER = ("atomic_min", "atomic_max")


class Reverse:
    """Reverses statements. `after_launch` collects the arrays that are looked at as the launch left them."""

    def __init__(self, activity: Activity, adjoints: Adjoints, owned: Names) -> None:
        self.activity, self.adjoints = activity, adjoints
        self.rules = Rules(activity, adjoints, owned)
        self.after_launch: dict[str, Span | None] = {}

    def core(self, one: Tree) -> Core:
        """The reverse of a statement without blocks."""
        self.rules.span = one.span
        if isinstance(one, Set):
            if isinstance(one.value, nodes.Call):
                return self.call(one.value, one.target, one.span)
            if isinstance(one.value, nodes.Intrinsic) and _is_atomic(one.value):
                return self.atomic(one.value, one.target, one.span)
            return self.assignment(one.target, one.value, one.span)
        if isinstance(one, Do):
            if isinstance(one.value, nodes.Call):
                return self.call(one.value, None, one.span)
            assert isinstance(one.value, nodes.Intrinsic)
            return self.atomic(one.value, None, one.span)
        return Core()

    def assignment(self, target: Expr, value: Expr, span: Span | None) -> Core:
        made = Core()
        if not has_floats(target.type):
            return made
        place = self.adjoints.place(target) if self._has_adjoint(target) else None
        if place is None:
            return made
        flows = self.activity.is_active(value)
        rest = added_to(target, value)
        if rest is not None:
            return self._added(target, place, rest, made, span)
        if in_memory(target) is None:
            if flows:
                self._propagated(value, self._taken(place, made.before, span), made.after, span)
            else:
                made.before.append(nodes.Assign(place, zero(place.type), span))
            return made
        asked = self.adjoints.is_there(target)
        assert asked is not None
        if flows:
            g = fresh("g", target.type)
            made.before.append(nodes.Assign(read(g), zero(g.type), span))
            # The store waits for the load: one right behind it, to the same place, costs an H200 16 times as much.
            clear = nodes.If(is_not_zero(read(g)), (nodes.Assign(place, zero(place.type), span),), (), span)
            made.before.append(nodes.If(asked, (nodes.Assign(read(g), place, span), clear), (), span))
            self._propagated(value, read(g), made.after, span)
        else:
            made.before.append(nodes.If(asked, (nodes.Assign(place, zero(place.type), span),), (), span))
        return made

    def _added(self, target: Expr, place: Expr, rest: list[tuple[Expr, bool]], made: Core, span: Span | None) -> Core:
        """What was added to a place gets the place's adjoint, which stays."""
        if not any(self.activity.is_active(one) for one, _ in rest):
            return made
        g = fresh("g", target.type)
        if in_memory(target) is None:
            made.before.append(nodes.Assign(read(g), place, span))
        else:
            asked = self.adjoints.is_there(target)
            assert asked is not None
            made.before.append(nodes.Assign(read(g), zero(g.type), span))
            made.before.append(nodes.If(asked, (nodes.Assign(read(g), place, span),), (), span))
        for one, is_negative in rest:
            if self.activity.is_active(one):
                part: Expr = read(g)
                if is_negative:
                    part = self.rules.bound(nodes.Unary("neg", part, g.type), made.after)
                self._propagated(one, part, made.after, span)
        return made

    def _has_adjoint(self, target: Expr) -> bool:
        root = root_of(target)
        if isinstance(root, nodes.Index):
            return path_of(root.array) is not None
        assert isinstance(root, nodes.Read)
        return root.symbol in self.activity.active

    def _taken(self, place: Expr, out: list[Stmt], span: Span | None) -> Expr:
        g = fresh("g", place.type)
        out.append(nodes.Assign(read(g), place, span))
        out.append(nodes.Assign(place, zero(place.type), span))
        return read(g)

    def _propagated(self, value: Expr, g: Expr, out: list[Stmt], span: Span | None) -> None:
        """Propagates, unless there is nothing: a derivative without end times nothing is nothing."""
        inner: list[Stmt] = []
        if isinstance(g, nodes.Read):
            self.rules.nonzero.add(g.symbol)
        self.rules.propagate(value, g, inner)
        if not inner:
            return
        inner = loads_first(inner)
        if is_leaf(value) and in_memory(value) is None:
            out.extend(inner)
        else:
            out.append(nodes.If(is_not_zero(g), tuple(inner), (), span))

    # Atomic operations

    def atomic(self, value: nodes.Intrinsic, result: Expr | None, span: Span | None) -> Core:
        """Sums hand their adjoint on; of a smallest or largest value the one that is there after the launch gets it."""
        place, *operands = value.arguments
        made = Core()
        if not has_floats(place.type) or (asked := self.adjoints.is_there(place)) is None:
            return made
        if result is not None and self.activity.is_active(result):
            raise Undifferentiable(
                f"what {value.name} gives back depends on the order of the threads, and a gradient flows through it",
                span,
                "use the array after the launch, in another kernel",
            )
        if value.name not in _ADDITIVE and value.name not in _WINNER:
            raise Undifferentiable(
                f"{value.name} on floating-point numbers has no derivative",
                span,
                "say `enable_backward=False` in the kernel's decorator, or use atomic_add, atomic_min or atomic_max",
            )
        (operand,) = operands
        target = self.adjoints.place(place)
        g = fresh("g", place.type)
        if value.name in _WINNER:
            path = path_of(root_array(place))
            assert path is not None
            self.after_launch.setdefault(path, span)
        if not self.activity.is_active(operand) and value.name in _ADDITIVE:
            return made
        made.after.append(nodes.Assign(read(g), zero(g.type), span))
        if value.name in _ADDITIVE:
            made.after.append(nodes.If(asked, (nodes.Assign(read(g), target, span),), (), span))
            part: Expr = read(g)
            if _ADDITIVE[value.name]:
                part = nodes.Unary("neg", part, g.type)
                made.after.append(nodes.Assign(read(g), part, span))
        else:
            taken = nodes.Intrinsic("atomic_exch", (target, zero(g.type)), g.type)
            wins = nodes.Compare("eq", operand, place, BOOL)
            take = nodes.If(wins, (nodes.Assign(read(g), taken, span),), (), span)
            made.after.append(nodes.If(asked, (take,), (), span))
        self._propagated(operand, read(g), made.after, span)
        return made

    # Calls of functions whose gradient is given

    def call(self, value: nodes.Call, result: Expr | None, span: Span | None) -> Core:
        gradient = value.callee.gradient
        made = Core()
        if gradient is None:
            return made
        adjoints = [self._result(result, index, type, made, span) for index, type in enumerate(results_of(value.type))]
        arrays = [a for a in value.arguments if isinstance(a.type, Array) and has_floats(a.type.element)]
        beside = [self.adjoints.place(a) if path_of(a) is not None else a for a in arrays]
        # An array that the gradient does not look at need not be what it was.
        seen = mentioned(gradient)
        given = [
            a if i in seen or not isinstance(a.type, Array) else nodes.Build((), a.type)
            for i, a in enumerate(value.arguments)
        ]
        call = nodes.Call(gradient, (*given, *beside, *adjoints), gradient.result, span)
        inner: list[Stmt] = []
        if gradient.result == VOID:
            inner.append(nodes.Evaluate(call, span))
        else:
            parts = fresh("parts", gradient.result)
            inner.append(nodes.Assign(read(parts), call, span))
            numbers = [a for a in value.arguments if not isinstance(a.type, Array) and has_floats(a.type)]
            for index, argument in enumerate(numbers):
                item = nodes.Item(read(parts), index, argument.type)
                g = fresh("part", argument.type)
                some: list[Stmt] = [nodes.Assign(read(g), item, span)]
                self.rules.propagate(argument, read(g), some)
                inner.extend(some if len(some) > 1 else [])
        asked = None if changes_memory(gradient, has_effects) else _any_is_not_zero(adjoints)
        made.after.extend(inner if asked is None else [nodes.If(asked, tuple(inner), (), span)])
        return made

    def _result(self, result: Expr | None, index: int, type: Type, made: Core, span: Span | None) -> Expr:
        """The adjoint of one result, taken."""
        if result is None or not has_floats(type):
            return zero(type) if has_floats(type) else nodes.Const(0, type)
        assert isinstance(result, nodes.Read)
        several = isinstance(result.type, Tuple)
        place = read(self.adjoints.item(result.symbol, index, type)) if several else self.adjoints.place(result)
        return self._taken(place, made.before, span)


def _any_is_not_zero(adjoints: list[Expr]) -> Expr | None:
    """None where there are no floating-point numbers to ask, or structs of them."""
    floats = [one for one in adjoints if has_floats(one.type)]
    if not floats or any(isinstance(one.type, Struct) for one in floats):
        return None
    found = is_not_zero(floats[0])
    for one in floats[1:]:
        found = nodes.Logical("or", found, is_not_zero(one), BOOL)
    return found


def added_to(target: Expr, value: Expr) -> list[tuple[Expr, bool]] | None:
    """What a value adds to the place that takes it, each with whether it is subtracted; None for any other value."""
    match value:
        case nodes.Binary("add", left, right):
            if same_place(left, target):
                return [(right, False)]
            if same_place(right, target):
                return [(left, False)]
            inner = added_to(target, left)
            return None if inner is None else [*inner, (right, False)]
        case nodes.Binary("sub", left, right):
            if same_place(left, target):
                return [(right, True)]
            inner = added_to(target, left)
            return None if inner is None else [*inner, (right, True)]
        case nodes.Fma(a, b, c, type):
            product = nodes.Binary("mul", a, b, type, value.span)
            if same_place(c, target):
                return [(product, False)]
            inner = added_to(target, c)
            return None if inner is None else [*inner, (product, False)]
    return None


def same_place(one: Expr, other: Expr) -> bool:
    """Two expressions are the same place, whatever its indices are."""
    match one, other:
        case nodes.Read(a), nodes.Read(b):
            return a is b
        case nodes.Const(a), nodes.Const(b):
            return a == b and one.type == other.type
        case nodes.ThreadIndex(a), nodes.ThreadIndex(b):
            return a == b
        case nodes.Member(a, name), nodes.Member(b, second):
            return name == second and same_place(a, b)
        case (nodes.Index(a, i), nodes.Index(b, j)) | (nodes.Component(a, i), nodes.Component(b, j)):
            return len(i) == len(j) and same_place(a, b) and all(map(same_place, i, j))
    return False


def root_array(place: Expr) -> Expr:
    """The array that a place in memory lies in."""
    root = root_of(place)
    assert isinstance(root, nodes.Index)
    return root.array


def results_of(type: Type) -> tuple[Type, ...]:
    """The types of a call's results."""
    if type == VOID:
        return ()
    return type.items if isinstance(type, Tuple) else (type,)


def _is_atomic(value: nodes.Intrinsic) -> bool:
    return ALL_ROWS[value.name].is_atomic
