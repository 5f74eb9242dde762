"""Loops of a symbolic run.

- Of few trips whose number is known, with a barrier or with integers that go from trip to trip: each trip by itself.
- Without a barrier: one trip that stands for all. Its number is a symbol of each thread's own, so that any two trips of
  two threads meet. Integers that grow by the same amount are `v0 + amount * number`; of the others what stays true from
  trip to trip is found by trying (Houdini: guess bounds, drop those that a trip breaks; Flanagan and Leino, 2001).
- With a barrier: all threads are in the same trip. It is run as trip q, and once more as the next one, since what
  comes before the first barrier of a trip meets what comes behind the last one of the trip before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kbuild.audit import conditions, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.records import Head
from kbuild.audit.run import State, Targets, joined, under
from kbuild.audit.terms import BLOCK, LOOP, THREAD, Atom, Term
from kbuild.audit.values import Value, every_atom, fresh, level_of, taint_of
from kbuild.ir import nodes
from kbuild.ir.liveness import assigned, blocks_of
from kbuild.ir.nodes import Stmt, Symbol
from kbuild.ir.traverse import walk
from kbuild.ir.types import is_integer

if TYPE_CHECKING:
    from kbuild.audit.statements import Statements

MOST_UNROLLED: Final = 64
MOST_OF_DATA: Final = 1_000  # nodes of all trips of a loop whose integers depend on what arrays hold
MOST_ROUNDS: Final = 4  # of guessing what stays true
MOST_BOUNDS: Final = 6  # that guesses take from comparisons
MOST_TRIALS: Final = 2  # within one another: each loop in a loop multiplies them


def run_for(statements: Statements, loop: nodes.For, state: State) -> State | None:
    """`for symbol in range(start, stop, step)`."""
    start = statements.expressions.term(loop.start, state)
    stop = statements.expressions.term(loop.stop, state)
    step = statements.expressions.term(loop.step, state)
    carried = _carried(loop.body, state)
    trips = _trips(start, stop, step)
    if trips is not None and len(trips) <= _most_trips(statements, loop, start, carried, state):
        return _unrolled(statements, loop, trips, state)
    facts = statements.run.facts(state.path)
    low, high = facts.range_of(step)
    if step.is_constant and step.constant == 0:
        return state
    if (low is not None and low > 0) or facts.at_least_zero(step - 1):
        rises = True
    elif high is not None and high < 0:
        rises = False
    else:
        rises = True
        statements.run.unclear("the step of a loop may be of either sign", loop.span)

    def goes_on(counter: Term) -> Condition:
        return conditions.less(counter, stop) if rises else conditions.less(stop, counter)

    def counter_at(number: Term) -> Term:
        return start + step * number

    head = _Head(loop, loop.symbol, counter_at, goes_on, None)
    return _generic(statements, head, loop.body, carried, state)


def run_while(statements: Statements, loop: nodes.While, state: State) -> State | None:
    """`while condition`."""
    found = _unrolled_while(statements, loop, state)
    if found is not _UNDECIDED:
        return found  # type: ignore[return-value]
    head = _Head(loop, None, None, None, loop.condition)
    return _generic(statements, head, loop.body, _carried(loop.body, state), state)


@dataclass(frozen=True, slots=True)
class _Head:
    """How a loop goes on: by the counter of a `for`, or the condition of a `while`."""

    stmt: nodes.For | nodes.While
    symbol: Symbol | None
    counter: Callable[[Term], Term] | None
    goes_on: Callable[[Term], Condition] | None
    condition: nodes.Expr | None


def _trips(start: Term, stop: Term, step: Term) -> range | None:
    if start.is_constant and stop.is_constant and step.is_constant and step.constant:
        return range(start.constant, stop.constant, step.constant)
    return None


def _most_trips(statements: Statements, loop: nodes.For, start: Term, carried: list[Symbol], state: State) -> int:
    """So many are run one by one."""
    if _waits(statements, loop.body):
        return MOST_UNROLLED
    integers = [symbol for symbol in carried if is_integer(symbol.type)]
    if not integers:
        return 1
    first = state.copy()
    first.variables[loop.symbol] = start
    first.assigned[loop.symbol] = conditions.TRUE
    end = _tried_trip(statements, loop.body, first)
    values = [] if end is None else [end.variables[symbol] for symbol in integers if symbol in end.variables]
    if not any(taint_of(value) & ~LOOP for value in values):
        return MOST_UNROLLED
    # They come to depend on what arrays hold (the place of the largest, say): cases double from trip to trip.
    return min(MOST_UNROLLED, MOST_OF_DATA // sum(1 for _ in walk(loop.body)))


def _waits(statements: Statements, body: tuple[Stmt, ...]) -> bool:
    """There is a barrier inside, or something that the lanes of a warp do together."""
    known = statements.run.waits
    if id(body) not in known:
        known[id(body)] = any(_is_wait(statements, node) for node in walk(body))
    return known[id(body)]


def _is_wait(statements: Statements, node: nodes.Node) -> bool:
    if isinstance(node, nodes.Call):
        return _waits(statements, node.callee.body)
    return isinstance(node, nodes.Barrier) or (isinstance(node, nodes.Intrinsic) and node.name in nodes.COLLECTIVES)


def _carried(body: tuple[Stmt, ...], state: State) -> list[Symbol]:
    """Variables from before the loop that it assigns."""
    found: dict[Symbol, None] = {}

    def visit(block: tuple[Stmt, ...]) -> None:
        for stmt in block:
            symbol, _ = assigned(stmt)
            if symbol is not None and symbol in state.variables:
                found[symbol] = None
            for _, inner in blocks_of(stmt):
                visit(inner)

    visit(body)
    return list(found)


def _inner(body: tuple[Stmt, ...], state: State) -> Iterator[Symbol]:
    """Variables that it assigns first."""
    for node in walk(body):
        if isinstance(node, (nodes.Assign, nodes.For)):
            symbol, _ = assigned(node)
            if symbol is not None and symbol not in state.variables:
                yield symbol


def _trip(statements: Statements, body: tuple[Stmt, ...], state: State) -> tuple[State | None, list[State]]:
    """One trip: the state at its end, and those that have left the loop."""
    statements.targets.append(Targets(returns=statements.targets[-1].returns))
    end = statements.block(body, state)
    targets = statements.targets.pop()
    return joined([*targets.continues, *([end] if end is not None else [])]), targets.breaks


def _unrolled(statements: Statements, loop: nodes.For, trips: range, state: State) -> State | None:
    left: list[State] = []
    now: State | None = state
    for number in trips:
        if now is None:
            break
        now.variables[loop.symbol] = terms.number(number)
        now.assigned[loop.symbol] = conditions.TRUE
        now, breaks = _trip(statements, loop.body, now)
        left += breaks
    return joined([*left, *([now] if now is not None else [])])


_UNDECIDED: Final = object()


def _unrolled_while(statements: Statements, loop: nodes.While, state: State) -> object:
    """Trip by trip, as long as it is known whether there is another one."""
    first = statements.decided(statements.expressions.condition(loop.condition, _tried(statements, state)), state)
    if first.kind not in ("true", "false"):
        return _UNDECIDED
    if loop.condition == nodes.Const(True, loop.condition.type, loop.condition.span):
        return _UNDECIDED
    if not _terminates(statements, loop, state):
        return _UNDECIDED
    left: list[State] = []
    now: State | None = state
    while now is not None:
        again = statements.decided(statements.expressions.condition(loop.condition, now), now)
        if again.kind == "false":
            break
        now, breaks = _trip(statements, loop.body, now)
        left += breaks
    return joined([*left, *([now] if now is not None else [])])


def _tried(statements: Statements, state: State) -> State:
    return state.copy()


def _terminates(statements: Statements, loop: nodes.While, state: State) -> bool:
    """It ends within the trips that are unrolled, each decided; found by trying."""
    statements.run.is_trial += 1
    kept = Targets(list(statements.targets[-1].returns), [], [])
    try:
        now: State | None = state.copy()
        for _ in range(MOST_UNROLLED):
            if now is None:
                return True
            again = statements.decided(statements.expressions.condition(loop.condition, now), now)
            if again.kind != "true":
                return again.kind == "false"
            now, _ = _trip(statements, loop.body, now)
        return False
    finally:
        statements.targets[-1].returns[:] = kept.returns
        statements.run.is_trial -= 1


# One trip for all


def _generic(
    statements: Statements, head: _Head, body: tuple[Stmt, ...], carried: list[Symbol], state: State
) -> State | None:
    waits = _waits(statements, body)
    level = BLOCK if waits else THREAD
    name = head.symbol.name if head.symbol else "trip"
    number = terms.of(terms.symbol(f"{name}#", 0, None, level))
    values = _at_head(statements, head, body, carried, state, number, level)
    before = Targets(list(statements.targets[-1].returns))
    entry = _enter(statements, head, state, values, number)
    if entry is None:
        return state
    statements.branch(_rest(entry.path, state.path), state, head.stmt, is_loop=True)
    if waits:
        first = under(state.phases, conditions.equal(number, terms.ZERO))
        later = under(statements.run.new_phase(), conditions.less(terms.ZERO, number))
        entry.phases = {**first, **later}
        first = under(state.warp_phases, conditions.equal(number, terms.ZERO))
        later = under(statements.run.new_phase(), conditions.less(terms.ZERO, number))
        entry.warp_phases = {**first, **later}
    if not statements.run.is_trial:
        statements.run.records.trips[number] = entry.path
    statements.run.loops.append(number)
    if not statements.run.is_trial:
        statements.run.records.heads += _heads(values, state, number)
    before_trip, told = entry.phases, len(statements.run.told)
    end, breaks = _trip(statements, body, entry)
    if waits and end is not None and not before_trip.keys().isdisjoint(end.phases):
        statements.run.records.loose.update(one for value in (number, *values.values()) for one in every_atom(value))
        statements.run.records.loose.update(statements.run.told[told:])
    left = list(breaks)
    phases = [end] if end is not None else []
    if waits and end is not None:
        again = _again(statements, head, end, number)
        if again is not None:
            following, more = _trip(statements, body, again)
            left += more
            phases += [following] if following is not None else []
    statements.run.loops.pop()
    has_returned = len(statements.targets[-1].returns) > len(before.returns)
    return _behind(statements, head, state, values, phases, left, has_returned, number, carried)


def _enter(
    statements: Statements, head: _Head, state: State, values: dict[Symbol, Value], number: Term
) -> State | None:
    """The state at the beginning of trip `number`, there being one."""
    entry = state.copy()
    entry.variables.update(values)
    if head.counter is not None and head.goes_on is not None and head.symbol is not None:
        counter = head.counter(number)
        entry.variables[head.symbol] = counter
        entry.assigned[head.symbol] = conditions.TRUE
        condition = head.goes_on(counter)
    else:
        assert head.condition is not None
        condition = statements.expressions.condition(head.condition, entry)
    entry.path = conditions.all_of((state.path, condition, *_kept(values)))
    return None if entry.path.kind == "false" else entry


def _again(statements: Statements, head: _Head, end: State, number: Term) -> State | None:
    """The beginning of the trip behind that one."""
    following = end.copy()
    if head.counter is not None and head.goes_on is not None and head.symbol is not None:
        counter = head.counter(number + 1)
        following.variables[head.symbol] = counter
        condition = head.goes_on(counter)
    else:
        assert head.condition is not None
        condition = statements.expressions.condition(head.condition, following)
    following.path = conditions.all_of((end.path, condition))
    return None if following.path.kind == "false" else following


def _heads(values: dict[Symbol, Value], state: State, number: Term) -> Iterator[Head]:
    for symbol, value in values.items():
        first = state.variables[symbol]
        if isinstance(value, Term) and isinstance(first, Term) and value.taint & LOOP:
            yield Head(number, value, first)


def _rest(path: Condition, outer: Condition) -> Condition:
    known = set(conditions.conjuncts(outer))
    return conditions.all_of(one for one in conditions.conjuncts(path) if one not in known)


class _Values(dict[Symbol, "Value"]):
    """What variables hold at the beginning of a trip, and what is known of that."""

    known: tuple[Condition, ...] = ()
    guesses: tuple[tuple[Symbol, Callable[[Term], Condition]], ...] = ()  # what is true at the beginning of every trip


def _kept(values: dict[Symbol, Value]) -> tuple[Condition, ...]:
    return values.known if isinstance(values, _Values) else ()


def _at_head(
    statements: Statements,
    head: _Head,
    body: tuple[Stmt, ...],
    carried: list[Symbol],
    state: State,
    number: Term,
    level: int,
) -> _Values:
    """What the variables that a loop changes hold at the beginning of trip `number`."""
    values = _Values()
    if not carried:
        return values
    if statements.run.is_trial >= MOST_TRIALS:
        values.update((symbol, fresh(symbol.type, symbol.name, THREAD, LOOP)) for symbol in carried)
        return values
    integers = [symbol for symbol in carried if is_integer(symbol.type)]
    for symbol in carried:
        values[symbol] = fresh(symbol.type, symbol.name, level, LOOP)
    if not integers:
        return _levelled(statements, head, body, values, state, number, level)
    end = _try(statements, head, body, state, values, number)
    if end is None:
        return values
    grown = _grown(integers, values, state, end, number)
    values.update(grown)
    unclear = [symbol for symbol in integers if symbol not in grown]
    if level == BLOCK:
        values = _levelled(statements, head, body, values, state, number, level)
    if unclear:
        values.known = _invariants(statements, head, body, state, values, number, unclear)
    return values


def _levelled(
    statements: Statements, head: _Head, body: tuple[Stmt, ...], values: _Values, state: State, number: Term, level: int
) -> _Values:
    """In a loop with a barrier: what becomes each thread's own during a trip is so at the next trip's beginning."""
    if level == THREAD:
        return values
    for _ in range(len(values) + 1):  # each round but the last finds one more
        end = _try(statements, head, body, state, values, number)
        if end is None:
            break
        changed = False
        for symbol, value in values.items():
            found = end.variables.get(symbol)
            before = state.variables[symbol]
            if found is not None and max(level_of(found), level_of(before)) > max(level_of(value), BLOCK):
                values[symbol] = fresh(symbol.type, symbol.name, THREAD, LOOP | taint_of(found))
                changed = True
        if not changed:
            break
    return values


def _try(
    statements: Statements, head: _Head, body: tuple[Stmt, ...], state: State, values: dict[Symbol, Value], number: Term
) -> State | None:
    """Runs a trip without writing anything down."""
    statements.run.is_trial += 1
    try:
        entry = _enter(statements, head, state, values, number)
    finally:
        statements.run.is_trial -= 1
    return None if entry is None else _tried_trip(statements, body, entry)


def _tried_trip(statements: Statements, body: tuple[Stmt, ...], entry: State) -> State | None:
    """The end of a trip, without writing anything down."""
    statements.run.is_trial += 1
    returns = list(statements.targets[-1].returns)
    try:
        return _trip(statements, body, entry)[0]
    finally:
        statements.targets[-1].returns[:] = returns
        statements.run.is_trial -= 1


def _grown(
    integers: list[Symbol], values: dict[Symbol, Value], state: State, end: State, number: Term
) -> dict[Symbol, Value]:
    """Integers that grow by the same amount in each trip."""
    own: set[Atom] = set(number.atoms())
    for symbol in values:
        value = values[symbol]
        if isinstance(value, Term):
            own.update(value.atoms())
    found: dict[Symbol, Value] = {}
    for symbol in integers:
        first, now, then = state.variables[symbol], values[symbol], end.variables.get(symbol)
        if not (isinstance(first, Term) and isinstance(now, Term) and isinstance(then, Term)):
            continue
        amount = then - now
        if not any(one in own or is_of_trip(one, number) for one in every_atom(amount)):
            found[symbol] = first + amount * number
    return found


def is_of_trip(atom: Atom, number: Term) -> bool:
    """It may be another one in each trip: a loop has made it, or it is first seen in the trip itself."""
    if atom.taint & LOOP:
        return True
    return atom.kind == "symbol" and any(atom.number > one.number for one in number.atoms())


def _invariants(
    statements: Statements,
    head: _Head,
    body: tuple[Stmt, ...],
    state: State,
    values: _Values,
    number: Term,
    unclear: list[Symbol],
) -> tuple[Condition, ...]:
    """What is true of variables at the beginning of each trip."""
    before = statements.run.facts(state.path)
    limits = [_limit(one) for one in _bounds_in(statements, head, body, state)]
    guesses: list[tuple[Symbol, Callable[[Term], Condition]]] = []
    for symbol in unclear:
        first = state.variables[symbol]
        if not isinstance(first, Term):
            continue
        for guess in [*_guesses(first), *limits]:
            if before.proves(guess(first)):
                guesses.append((symbol, guess))
    for _ in range(MOST_ROUNDS):
        values.known = tuple(guess(values[symbol]) for symbol, guess in guesses)  # type: ignore[arg-type]
        end = _try(statements, head, body, state, values, number)
        if end is None:
            break
        facts = statements.run.facts(end.path)
        kept = [
            (symbol, guess)
            for symbol, guess in guesses
            if isinstance(then := end.variables.get(symbol), Term) and facts.proves(guess(then))
        ]
        if len(kept) == len(guesses):
            values.guesses = tuple(guesses)
            statements.run.records.invariants.update(values.known)
            return values.known
        guesses = kept
    return ()


def _bounds_in(statements: Statements, head: _Head, body: tuple[Stmt, ...], state: State) -> list[Term]:
    """Numbers and sizes that the loop compares something with."""
    found: dict[Term, None] = {}
    roots = [*body, *([head.condition] if head.condition is not None else [])]
    for node in (node for root in roots for node in walk(root)):
        if isinstance(node, nodes.Compare):
            for side in (node.left, node.right):
                if isinstance(side, (nodes.Const, nodes.Extent)) and is_integer(side.type):
                    found[statements.expressions.term(side, state)] = None
    return list(found)[:MOST_BOUNDS]


def _limit(most: Term) -> Callable[[Term], Condition]:
    return lambda value: conditions.at_most(value, most)


def _guesses(first: Term) -> list[Callable[[Term], Condition]]:
    """Not below zero, not below what it was at first, not above that."""
    return [
        lambda value: conditions.at_most(terms.ZERO, value),
        lambda value: conditions.at_most(terms.ONE, value),
        lambda value: conditions.at_most(first, value),
        lambda value: conditions.at_most(value, first),
    ]


def _behind(
    statements: Statements,
    head: _Head,
    state: State,
    values: _Values,
    ends: list[State],
    breaks: list[State],
    has_returned: bool,
    number: Term,
    carried: list[Symbol],
) -> State | None:
    """The state behind the loop: whatever trip was the last."""
    after = state.copy()
    for symbol in _inner(head.stmt.body, state):
        after.variables[symbol] = fresh(symbol.type, symbol.name, THREAD, LOOP)
    limits = _limits(statements, head, state) if any(is_integer(symbol.type) for symbol in carried) else []
    for symbol in carried:
        value = fresh(symbol.type, symbol.name, _level_behind(values, symbol), LOOP)
        after.variables[symbol] = value
        if isinstance(value, Term):
            kept = [guess(value) for one, guess in values.guesses if one is symbol and not breaks]
            kept += _bounds_behind(statements, state, [*ends[:1], *breaks], symbol, value, limits)
            after.path = conditions.all_of((after.path, *kept))
            statements.run.records.invariants.update(kept)
        grown = values.get(symbol)
        if not breaks and isinstance(grown, Term) and isinstance(value, Term):
            first = state.variables[symbol]
            if isinstance(first, Term):
                _bound(statements, after, value, first, grown - first, number)
    first = _runs(statements, head, state)
    for symbol, when in (one for end in ends[:1] for one in end.assigned.items()):
        if after.assigned.get(symbol, conditions.FALSE).kind != "true":
            always = when.kind == "true" or statements.run.facts(ends[0].path).proves(when)
            inside = first if always else conditions.opaque(terms.key("assigned", id(head.stmt), symbol), THREAD, LOOP)
            after.assigned[symbol] = conditions.any_of((after.assigned.get(symbol, conditions.FALSE), inside))
    if has_returned:
        gone = conditions.opaque(terms.key("left", id(head.stmt)), THREAD, LOOP)
        after.path = conditions.all_of((after.path, conditions.negation(gone)))
    for one in (*ends, *breaks):
        after.phases = _merged(after.phases, one.phases, one.path)
        after.warp_phases = _merged(after.warp_phases, one.warp_phases, one.path)
    return after


def _limits(statements: Statements, head: _Head, state: State) -> list[Callable[[Term], Condition]]:
    """What may be true of variables behind a loop: no more than it compares with, and short of its end."""
    found = [_limit(one) for one in _bounds_in(statements, head, head.stmt.body, state)]
    return found if head.goes_on is None else [*found, head.goes_on]


def _bounds_behind(
    statements: Statements,
    state: State,
    last: list[State],
    symbol: Symbol,
    value: Term,
    limits: list[Callable[[Term], Condition]],
) -> Iterator[Condition]:
    """What is true of a variable behind a loop: of what it was before, in case there is no trip, and in each state in
    which a trip may be the `last`."""
    first = state.variables[symbol]
    if not isinstance(first, Term):
        return
    before = statements.run.facts(state.path)
    for guess in [*_guesses(first), *limits]:
        if before.proves(guess(first)) and all(
            isinstance(then := one.variables.get(symbol), Term) and statements.run.facts(one.path).proves(guess(then))
            for one in last
        ):
            yield guess(value)


def _runs(statements: Statements, head: _Head, state: State) -> Condition:
    """That there is a first trip."""
    if head.goes_on is not None and head.counter is not None:
        return head.goes_on(head.counter(terms.ZERO))
    assert head.condition is not None
    return statements.expressions.condition(head.condition, state.copy())


def _level_behind(values: _Values, symbol: Symbol) -> int:
    value = values.get(symbol)
    return THREAD if value is None else max(level_of(value), BLOCK)


def _bound(statements: Statements, after: State, value: Term, first: Term, growth: Term, number: Term) -> None:
    """What grows is not below what it was."""
    facts = statements.run.facts(after.path)
    if facts.at_least_zero(growth):
        kept = conditions.at_most(first, value)
    elif facts.at_least_zero(-growth):
        kept = conditions.at_most(value, first)
    else:
        return
    after.path = conditions.all_of((after.path, kept))
    statements.run.records.invariants.add(kept)


def _merged(one: dict[int, Condition], two: dict[int, Condition], path: Condition) -> dict[int, Condition]:
    found = dict(one)
    for phase, when in two.items():
        here = conditions.all_of((path, when))
        found[phase] = conditions.any_of((found[phase], here)) if phase in found else here
    return found
