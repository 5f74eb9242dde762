"""The state of a symbolic run: what variables hold on a path, what is known there, and what has been written down."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kbuild.audit import conditions
from kbuild.audit.conditions import TRUE, Condition
from kbuild.audit.findings import OUT_OF_TIME
from kbuild.audit.places import Place
from kbuild.audit.proving import Facts
from kbuild.audit.records import Access, Arithmetic, Fence, Part, Phases, Records, Unset
from kbuild.audit.terms import Atom, Term
from kbuild.audit.values import Memory, Value, either, every_atom, range_of_type
from kbuild.errors import Span
from kbuild.ir.nodes import Expr, Index, Symbol
from kbuild.ir.traverse import root_of
from kbuild.ir.types import Type

MOST_STATEMENTS: Final = 20_000
MOST_ACCESSES: Final = 4_000
LATE: Final = f"{OUT_OF_TIME} of the audit is reached"
RESULT: Final = Symbol("result", None)  # type: ignore[arg-type]  # in the variables of a function that has returned


class TooLarge(Exception):
    """More statements or accesses than an audit looks at, or has the time for."""


@dataclass(slots=True)
class State:
    """Where a run is: the variables, the path to here, the stretches between barriers that this may be in, and when
    something has been assigned to which variable."""

    variables: dict[Symbol, Value]
    path: Condition
    phases: Phases
    warp_phases: Phases
    assigned: dict[Symbol, Condition] = field(default_factory=dict)

    def copy(self, path: Condition | None = None) -> State:
        """The same for another path; what is assigned there stays there."""
        path = self.path if path is None else path
        return State(dict(self.variables), path, self.phases, self.warp_phases, dict(self.assigned))


@dataclass(slots=True)
class Targets:
    """Where jumps lead: states that wait there."""

    returns: list[State] = field(default_factory=list)
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Run:
    """One run over a kernel, up to `deadline` (of `time.monotonic`). `is_trial`: nothing is written down."""

    def __init__(self, place: Place, library: str, deadline: float = float("inf")) -> None:
        self.place, self.library, self.deadline = place, library, deadline
        self.records = Records(facts=[*place.facts])
        self.is_trial = 0
        self.statement = 0  # its number
        self.statement_span: Span | None = None
        self.callers: list[Span | None] = []
        self.arrays: dict[Any, Memory] = {}
        self.loops: list[Term] = []
        self.told: list[Atom] = []  # what threads of a block have in common from shared memory
        self.waits: dict[int, bool] = {}  # bodies by identity: whether there is a barrier inside
        self._phases = itertools.count(1)
        self._statements = 0
        self._facts: dict[Condition, Facts] = {}
        self._general = Facts([*self.records.facts, *place.limits])

    def count(self) -> None:
        """One statement more. Raises TooLarge."""
        self._statements += 1
        self.statement += 1
        if self._statements > MOST_STATEMENTS:
            raise TooLarge(f"more than {MOST_STATEMENTS} statements")
        if time.monotonic() > self.deadline:
            raise TooLarge(LATE)

    def facts(self, path: Condition) -> Facts:
        """What is known on a path."""
        found = self._facts.get(path)
        if found is None:
            found = self._facts[path] = Facts([path], self._general)
        return found

    def learn(self, fact: Condition) -> None:
        """It holds everywhere."""
        self.records.facts.append(fact)
        self._general = Facts([*self.records.facts, *self.place.limits])
        self._facts.clear()

    def take_for_granted(self, fact: Condition, words: str) -> None:
        """It holds everywhere, as every use of the kernel has it."""
        self.learn(fact)
        self.records.assumed.append(words)

    def place_of(self, span: Span | None) -> Span | None:
        """The line of the user's that is at work: a place in kbuild's own functions is told where they are called."""
        if span is None or span.path.startswith(self.library):
            return next((one for one in reversed(self.callers) if one and not one.path.startswith(self.library)), span)
        return span

    @property
    def is_in_library(self) -> bool:
        """A function of kbuild's is at work: its accesses are not the user's."""
        span = self.statement_span
        return span is not None and span.path.startswith(self.library)

    def new_phase(self) -> Phases:
        return {next(self._phases): TRUE}

    def access(
        self,
        state: State,
        memory: Memory,
        indices: Sequence[Term],
        kind: str,
        span: Span | None,
        part: Part,
        scope: str = "device",
        memory_order: str = "relaxed",
        is_update: bool = False,
        place: Expr | None = None,
        word: int = 0,
    ) -> None:
        """Writes one down: of the element or the part of it that `place` is."""
        if self.is_trial or self.is_in_library or state.path.kind == "false":
            return
        accesses = self.records.accesses
        if len(accesses) >= MOST_ACCESSES:
            raise TooLarge(f"more than {MOST_ACCESSES} accesses")
        accesses.append(
            Access(
                memory,
                tuple(indices),
                kind,
                state.path,
                self.place_of(span) or self.statement_span,
                state.phases,
                state.warp_phases,
                part,
                order=len(accesses),
                scope=scope,
                memory_order=memory_order,
                is_update=is_update,
                statement=self.statement,
                loops=tuple(self.loops),
                is_whole=isinstance(place, Index),
                word=word,
                cache=cache_of(place),
            )
        )

    def fence(self, what: str, state: State, span: Span | None, is_barrier: bool) -> None:
        """Writes one down."""
        if not self.is_trial and state.path.kind != "false":
            order, loops = len(self.records.accesses), tuple(self.loops)
            self.records.fences.append(Fence(what, state.path, self.place_of(span), order, loops, is_barrier))

    def fits(self, result: Term, type: Type, state: State, span: Span | None, is_product: bool) -> None:
        """Writes down that a result must be in its type, where that is not seen at once."""
        low, high = self.facts(state.path).range_of(result)
        least, most = range_of_type(type)
        assert least is not None
        assert most is not None
        if low is not None and high is not None and least <= low and high <= most:
            return
        if not self.is_trial and not self.is_in_library:
            self.records.arithmetic.append(Arithmetic(result, type, state.path, self.place_of(span), is_product))

    def unset(self, name: str, assigned: Condition, state: State, span: Span | None) -> None:
        """Writes down that a variable is read to which perhaps nothing has been assigned."""
        if not self.is_trial and not self.is_in_library:
            self.records.unset.append(Unset(name, assigned, state.path, self.place_of(span) or self.statement_span))

    def tell(self, value: Value, memory: Memory | None) -> None:
        """All threads of the block have this value, as long as there is no race for the memory that it comes from."""
        self.told += every_atom(value)
        if memory is not None and not self.is_trial and not self.is_in_library:
            self.records.told |= memory.bit

    def is_as_given(self, memory: Memory) -> bool:
        """The thread has come to no store yet: if it is the first to run, it sees there what the launch gives."""
        if memory.space != "global" or self.loops or self.is_trial:
            return False
        return all(one.memory is not memory or one.kind == "read" for one in self.records.accesses)

    def unclear(self, what: str, span: Span | None) -> None:
        """Something that is not looked into."""
        if not self.is_trial:
            self.records.unclear.append((what, self.place_of(span)))


def cache_of(place: Expr | None) -> str:
    """The hint for the caches with which a place is loaded or stored to."""
    root = None if place is None else root_of(place)
    return root.cache if isinstance(root, Index) else ""


def joined(states: Sequence[State]) -> State | None:
    """One state for several, of which one is the thread's; None for none."""
    states = [state for state in states if state.path.kind != "false"]
    if not states:
        return None
    first = states[0]
    for other in states[1:]:
        first = _joined(first, other)
    return first


def _joined(one: State, two: State) -> State:
    path = conditions.any_of((one.path, two.path))
    known = set(conditions.conjuncts(path))
    decides = conditions.all_of(c for c in conditions.conjuncts(one.path) if c not in known)
    variables: dict[Symbol, Value] = {}
    for symbol, value in one.variables.items():
        if symbol in two.variables:
            variables[symbol] = either(decides, value, two.variables[symbol])
        else:
            variables[symbol] = value
    for symbol, value in two.variables.items():
        variables.setdefault(symbol, value)
    otherwise = conditions.all_of(c for c in conditions.conjuncts(two.path) if c not in known)
    assigned = {
        symbol: _either_way(one.assigned.get(symbol), decides, two.assigned.get(symbol), otherwise)
        for symbol in {**one.assigned, **two.assigned}
    }
    return State(
        variables,
        path,
        _together(one.phases, decides, two.phases, otherwise),
        _together(one.warp_phases, decides, two.warp_phases, otherwise),
        assigned,
    )


def _either_way(one: Condition | None, is_one: Condition, two: Condition | None, is_two: Condition) -> Condition:
    if one == two and one is not None:
        return one
    parts = [conditions.all_of((is_this, this)) for this, is_this in ((one, is_one), (two, is_two)) if this is not None]
    return conditions.any_of(parts)


def _together(one: Phases, is_one: Condition, two: Phases, is_two: Condition) -> Phases:
    if one == two:
        return one
    found: Phases = {phase: conditions.all_of((is_one, when)) for phase, when in one.items()}
    for phase, when in two.items():
        other = conditions.all_of((is_two, when))
        found[phase] = conditions.any_of((found[phase], other)) if phase in found else other
    return found


def under(phases: Phases, condition: Condition) -> Phases:
    """The same stretches, where a condition holds."""
    return {phase: conditions.all_of((condition, when)) for phase, when in phases.items()}


def renamed(access: Access, **changes: Any) -> Access:
    """An access with other fields."""
    return replace(access, **changes)
