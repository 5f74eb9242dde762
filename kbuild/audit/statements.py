"""Statements of a kernel, one after the other, for a thread that stands for all.

Nothing is executed twice: an `if` runs both of its branches, each on its path, and what the variables hold afterwards
depends on the condition. Loops have a file of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kbuild.audit import conditions, loops, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.expressions import Expressions, is_scalar
from kbuild.audit.launches import Launch
from kbuild.audit.records import Branch, Counter, Reach
from kbuild.audit.run import RESULT, Run, State, Targets, joined
from kbuild.audit.terms import BLOCK, DATA, LOOP, STORED, SYNC, THREAD, UNIFORM, Term
from kbuild.audit.values import Memory, Parts, Reference, Value, array_of, either, fresh, pure, zero
from kbuild.errors import InternalError
from kbuild.ir import nodes
from kbuild.ir.elements import met_again
from kbuild.ir.nodes import COLLECTIVES, Expr, Function, Kernel, Stmt
from kbuild.ir.traverse import root_of
from kbuild.ir.types import Array, Shared, Struct


class Statements:
    """Runs statements in a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.expressions = Expressions(run, self._pure_call)
        self.targets = [Targets()]

    def block(self, body: tuple[Stmt, ...], state: State | None) -> State | None:
        """The state behind the last statement; None where no thread gets there."""
        for stmt in body:
            if state is None:
                return None
            self.run.count()
            self.run.statement_span = stmt.span or self.run.statement_span
            state = self.statement(stmt, state)
        return state

    def statement(self, stmt: Stmt, state: State) -> State | None:
        """One statement."""
        match stmt:
            case nodes.Assign(target, value):
                return self._assign(stmt, target, value, state)
            case nodes.Evaluate(value):
                return self._effect(value, state, stmt)[1]
            case nodes.If(condition, then, otherwise):
                return self._if(stmt, condition, then, otherwise, state)
            case nodes.For():
                return loops.run_for(self, stmt, state)
            case nodes.While():
                return loops.run_while(self, stmt, state)
            case nodes.Break():
                self.targets[-1].breaks.append(state)
                return None
            case nodes.Continue():
                self.targets[-1].continues.append(state)
                return None
            case nodes.Return(value):
                self._return(value, state)
                return None
            case nodes.Print(_, arguments):
                for one in arguments:
                    self.expressions.value(one, state)
                self.run.fence("print", state, stmt.span, is_barrier=False)
                return state
            case nodes.Assert(condition):
                return self._hold(condition, f"the assert in line {_line(stmt)} holds", state)
            case nodes.Assume(condition, text):
                return self._hold(condition, text, state)
            case nodes.Barrier(mask):
                return self._barrier(stmt, mask, state)
            case nodes.Native(name=name):
                self.run.unclear(f"{name} is CUDA C++, which is not looked into", stmt.span)
                return state
        raise InternalError(f"the audit does not know {type(stmt).__name__} as a statement\n{stmt!r:.400}")

    # Assignments

    def _assign(self, stmt: Stmt, target: Expr, value: Expr, state: State) -> State | None:
        result, after = self._effect(value, state, stmt)
        if after is None:
            return None
        self._store(target, result, value, after)
        return after

    def _store(self, target: Expr, result: Value, value: Expr, state: State) -> None:
        root = root_of(target)
        if isinstance(root, nodes.Index):
            part = self.expressions.part_of(target, state)
            reference, indices = self.expressions.indices(root, state)
            is_update = self._loads_same(reference.memory, indices)
            span = target.span or value.span
            word = self.expressions.word(target)
            self.run.access(
                state, reference.memory, indices, "write", span, part, is_update=is_update, place=target, word=word
            )
            return
        assert isinstance(root, nodes.Read)
        state.assigned[root.symbol] = conditions.TRUE
        if target is root:
            state.variables[root.symbol] = result
        else:
            state.variables[root.symbol] = self._with_part(target, result, state)

    def _loads_same(self, memory: Memory, indices: tuple[Term, ...]) -> bool:
        """The statement has loaded what stands there: `a[i] = a[i] + 1`."""
        accesses = self.run.records.accesses
        for one in reversed(accesses):
            if one.statement != self.run.statement:
                return False
            if one.kind == "read" and one.memory is memory and one.indices == indices:
                return True
        return False

    def _with_part(self, target: Expr, result: Value, state: State) -> Value:
        """The whole variable, with another value in a part of it."""
        if isinstance(target, nodes.Member):
            base = self.expressions.value(target.base, state)
            struct = target.base.type
            assert isinstance(struct, Struct)
            names = [one.name for one in struct.fields]
            items = base.items if isinstance(base, Parts) else tuple(zero(one.type) for one in struct.fields)
            number = names.index(target.field)
            new: Value = Parts((*items[:number], result, *items[number + 1 :]))
        else:
            assert isinstance(target, nodes.Component)
            base = self.expressions.value(target.base, state)
            place = self.expressions.component_number(target, state)
            new = _with_component(base, place, result, is_scalar(target.type), target)
        return new if isinstance(target.base, nodes.Read) else self._with_part(target.base, new, state)

    # Effects

    def _effect(self, value: Expr, state: State, stmt: Stmt) -> tuple[Value, State | None]:
        """The value of what may have effects, and the state behind it."""
        if isinstance(value, nodes.Call):
            return self._call(value, state, stmt)
        if isinstance(value, nodes.Intrinsic) and value.name in COLLECTIVES:
            return self._collective(value, state, stmt), state
        if isinstance(value, nodes.Intrinsic) and value.name.startswith("atomic_"):
            return self._atomic(value, state), state
        return self.expressions.value(value, state), state

    def _collective(self, value: nodes.Intrinsic, state: State, stmt: Stmt) -> Value:
        arguments = [self.expressions.value(one, state) for one in value.arguments]
        if not self.run.is_trial:
            span = self.run.place_of(value.span or stmt.span)
            self.run.records.reaches.append(Reach("warp", value.name, state.path, span))
        result = fresh(value.type, f"{value.name}()", THREAD, SYNC)
        if value.name == "ballot" and isinstance(result, Term) and isinstance(arguments[0], Condition):
            self.run.records.votes[next(result.atoms())] = conditions.all_of((state.path, arguments[0]))
        if value.name in ("any", "all") and isinstance(asked := arguments[0], Condition):
            return self._vote(value.name, asked)
        return result

    def _vote(self, name: str, asked: Condition) -> Condition:
        """What `any` and `all` say of a condition: the same to every lane of a warp."""
        if asked.level < THREAD:
            return asked
        # Of what data decides each warp may hear something else.
        taint = asked.taint if asked.taint & (DATA | LOOP) else SYNC
        found = conditions.opaque(terms.key(name, terms.symbol(name, 0, 1, THREAD)), THREAD, taint)
        self.run.records.of_warps.update((found, conditions.negation(found)))
        return found

    def _atomic(self, value: nodes.Intrinsic, state: State) -> Value:
        place, *others = value.arguments
        values = [self.expressions.value(one, state) for one in others]
        part = self.expressions.part_of(place, state)
        root = root_of(place)
        assert isinstance(root, nodes.Index)
        reference, indices = self.expressions.indices(root, state)
        span = place.span or value.span
        self.run.access(state, reference.memory, indices, "atomic", span, part, value.scope, value.order)
        result = fresh(value.type, f"{value.name}({reference.memory.name})", THREAD, SYNC)
        low: int | None = None
        if value.name == "atomic_add" and values and isinstance(values[0], Term):
            low, _ = self.run.facts(state.path).range_of(values[0])
        if low is None or low <= 0:
            self.run.records.recounted.add(reference.memory.name)
        elif isinstance(result, Term):
            # Each thread that adds gets another number, as long as the sum does not wrap.
            next(result.atoms()).unique = Counter(reference.memory, indices)
        return result

    def _call(self, call: nodes.Call, state: State, stmt: Stmt) -> tuple[Value, State | None]:
        arguments = [self.expressions.value(one, state) for one in call.arguments]
        result, after = self.call(call.callee, arguments, state, call.span or stmt.span)
        if call.callee.name in SAME_FOR_ALL and call.callee.module.startswith(LIBRARY):
            result = fresh(call.callee.result, f"{call.callee.name}()", BLOCK, SYNC)
            self.run.tell(result, None)
        return result, after

    def _pure_call(self, call: nodes.Call, state: State) -> Value:
        """One inside of an expression: it has no effects."""
        arguments = [self.expressions.value(one, state) for one in call.arguments]
        return self.call(call.callee, arguments, state, call.span or self.run.statement_span)[0]

    def call(
        self, function: Function, arguments: list[Value], state: State, span: object = None
    ) -> tuple[Value, State | None]:
        """Runs a function; its result, and the state behind the call with the caller's variables."""
        variables = dict(zip(function.parameters, arguments, strict=True))
        for symbol in function.shared:
            variables[symbol] = Reference(self._shared(symbol))
        assigned = dict.fromkeys(variables, conditions.TRUE)
        inner = State(variables, state.path, state.phases, state.warp_phases, assigned)
        outer_wraps, self.expressions.wraps = self.expressions.wraps, function.wraps
        outer_again, self.expressions.again = self.expressions.again, met_again(function)
        outer_span = self.run.statement_span
        self.run.callers.append(span)  # type: ignore[arg-type]
        self.targets.append(Targets())
        end = self.block(function.body, inner)
        targets = self.targets.pop()
        self.run.callers.pop()
        self.run.statement_span = outer_span
        self.expressions.wraps, self.expressions.again = outer_wraps, outer_again
        after = joined([*targets.returns, *([end] if end is not None else [])])
        if after is None:
            return zero(function.result), None
        result = after.variables.get(RESULT)
        if result is None:
            result = zero(function.result)
        return result, State(state.variables, after.path, after.phases, after.warp_phases, state.assigned)

    def _shared(self, symbol: nodes.Symbol) -> Memory:
        if symbol not in self.run.arrays:
            assert isinstance(symbol.type, Shared)
            memory = replace(array_of(symbol.type, symbol.name, "", True), bit=STORED << len(self.run.arrays))
            if symbol.type.is_dynamic:
                rows = terms.of(terms.symbol(f"{symbol.name}.shape[0]", 1, 232448 // max(symbol.type.row, 1), UNIFORM))
                extents = (rows, *memory.extents[1:])
                memory = replace(memory, extents=extents)
            self.run.arrays[symbol] = memory
        return self.run.arrays[symbol]

    # Control flow

    def _if(
        self, stmt: Stmt, condition: Expr, then: tuple[Stmt, ...], otherwise: tuple[Stmt, ...], state: State
    ) -> State | None:
        chosen = self.expressions.condition(condition, state)
        chosen = self.decided(chosen, state)
        if chosen.kind == "true":
            return self.block(then, state)
        if chosen.kind == "false":
            return self.block(otherwise, state)
        self.branch(chosen, state, stmt, has_else=bool(otherwise))
        paths = [conditions.all_of((state.path, way)) for way in (chosen, conditions.negation(chosen))]
        ends = [self.block(body, state.copy(path)) for body, path in zip((then, otherwise), paths, strict=True)]
        after = joined([one for one in ends if one is not None])
        if after is not None and [one and one.path for one in ends] == paths:
            after.path = state.path  # nobody has left, and so the condition says nothing of what is behind it
        return after

    def decided(self, condition: Condition, state: State) -> Condition:
        """The condition, or what it always is on the path."""
        if condition.kind in ("le", "eq", "ne"):
            facts = self.run.facts(state.path)
            assert condition.term is not None
            low, high = facts.range_of(condition.term)
            match condition.kind:
                case "le":
                    if high is not None and high <= 0:
                        return conditions.TRUE
                    if low is not None and low > 0:
                        return conditions.FALSE
                case "eq" | "ne":
                    if (low is not None and low > 0) or (high is not None and high < 0):
                        return conditions.truth(condition.kind == "ne")
        return condition

    def branch(
        self, condition: Condition, state: State, stmt: Stmt, is_loop: bool = False, has_else: bool = False
    ) -> None:
        """Writes a condition down that threads may see differently."""
        if condition.level == THREAD and not self.run.is_trial and not self.run.is_in_library:
            self.run.records.branches.append(Branch(condition, state.path, stmt.span, is_loop, has_else))

    def _return(self, value: Expr | None, state: State) -> None:
        if value is not None:
            state.variables[RESULT] = self.expressions.value(value, state)
        self.targets[-1].returns.append(state)

    def _hold(self, condition: Expr, text: str, state: State) -> State:
        held = self.expressions.condition(condition, state)
        if held.level == UNIFORM and held.taint == 0 and not conditions.conjuncts(state.path):
            if not self.run.is_trial and held not in self.run.records.facts:
                self.run.learn(held)
                self.run.records.assumed.append(text)
            return state
        if not self.run.is_trial:
            self.run.records.assumed.append(text)
            self.run.records.held.update(conditions.conjuncts(held))
        path = conditions.all_of((state.path, held))
        return State(state.variables, path, state.phases, state.warp_phases, state.assigned)

    def _barrier(self, stmt: Stmt, mask: Expr | None, state: State) -> State:
        of = "block" if mask is None else "warp"
        lanes = voted = None
        if mask is not None:
            named = self.expressions.term(mask, state)
            lanes = named.constant if named.is_constant else None
            voted = next((vote for one, vote in self.run.records.votes.items() if named == terms.of(one)), None)
            if lanes is None and voted is None:
                self.run.unclear("a mask of lanes that is not known while building", stmt.span)
        if not self.run.is_trial:
            what = "syncthreads()" if mask is None else "syncwarp()"
            self.run.records.reaches.append(Reach(of, what, state.path, self.run.place_of(stmt.span), lanes, voted))
            self.run.fence(what, state, stmt.span, is_barrier=True)
        new = self.run.new_phase() if mask is None else state.phases
        return State(state.variables, state.path, new, self.run.new_phase(), state.assigned)


LIBRARY: Final = "kbuild.intrinsics"
SAME_FOR_ALL: Final = ("block_sum", "block_min", "block_max")  # of kbuild's own, to every thread of a block
MOST_SHARED: Final = 32  # arrays in shared memory that have a bit of their own


def _line(stmt: Stmt) -> int:
    return stmt.span.line if stmt.span else 0


def _with_component(base: Value, place: Term, result: Value, is_element: bool, target: nodes.Component) -> Value:
    if not isinstance(base, Parts):
        return pure("changed", target.base.type, (base, place, result))
    items = list(base.items)
    if is_element:
        for i in range(len(items)):
            items[i] = either(conditions.equal(place, terms.number(i)), result, items[i])
    elif place.is_constant and isinstance(result, Parts):
        items[place.constant : place.constant + len(result.items)] = result.items
    else:
        return pure("changed", target.base.type, (base, place, result))
    return Parts(tuple(items))


def launch_dim(kernel: Kernel, given: Sequence[Value]) -> list[Term]:
    """The extents of every launch that the kernel says, of what the launch gives."""
    values = dict(zip(kernel.function.parameters, given, strict=True))

    def term(extent: Expr) -> Term:
        match extent:
            case nodes.Const(value):
                return terms.number(int(value))
            case nodes.Extent(nodes.Read(symbol), axis):
                array = values[symbol]
                assert isinstance(array, Reference)
                return array.extents[axis]
            case nodes.Read(symbol):
                number = values[symbol]
                assert isinstance(number, Term)
                return number
        raise InternalError(f"the audit does not know {extent!r:.400} as an extent of launches")

    return [term(one) for one in kernel.launch_dim]


def parameters(function: Function, changed: frozenset[str], launch: Launch) -> list[Value]:
    """What the launch gives: symbols for numbers, arrays of their own for arrays, and what is known of them."""
    found: list[Value] = []
    for parameter in function.parameters:
        is_changed = "*" in changed or parameter.name in changed

        def arrays(type: Array, name: str, parameter: str = parameter.name, is_changed: bool = is_changed) -> Value:
            memory = array_of(type, name, parameter, is_changed)
            if is_changed:
                memory = replace(memory, bit=STORED << (MOST_SHARED + len(found)))
            shape = launch.shapes.get(name)
            return Reference(memory if shape is None else replace(memory, extents=tuple(map(terms.number, shape))))

        value = fresh(parameter.type, parameter.name, UNIFORM, 0, arrays)
        known = launch.scalars.get(parameter.name)
        if known is not None and isinstance(value, Term):
            value = terms.number(int(known))
        elif known is not None and isinstance(value, Condition):
            value = conditions.truth(bool(known))
        found.append(value)
    return found
