"""From a question to a verdict: proved by what is known, found with an example, or not known and why.

A question is a list of conditions that nothing must fulfil together. First the small prover, then the solver. A model
is an example where every number in it can be chosen by a launch; where it depends on what threads tell one another, or
on an iteration that nobody has looked at, it proves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from kbuild.audit import conditions, run, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.contracts import Contracts
from kbuild.audit.findings import Reasoning, Verdict
from kbuild.audit.lanes import Lanes, of_block
from kbuild.audit.places import Place
from kbuild.audit.proving import Facts
from kbuild.audit.records import Records
from kbuild.audit.solver import Model, Solver
from kbuild.audit.substitution import Other, Substitution
from kbuild.audit.terms import DATA, LOOP, STORED, SYNC, THREAD, Atom, Term, deep_atoms
from kbuild.errors import Span

SMALL_GRID, SMALL_EXTENT = 4, 2048  # of examples, where there is one so small

_WHY = {
    SYNC: "it depends on what threads tell one another through memory or atomics",
    LOOP: "it depends on a variable that a loop changes in a way that is not known",
    DATA: "it depends on the contents of {names}",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a question. `reason` where it is unknown; `other` is the second thread's view."""

    verdict: Verdict
    rule: str
    reason: str = ""
    model: Model | None = None
    other: Other | None = None


PROVED = Answer("proved", "")
DISPUTED = Answer("unknown", "", "there may be a race for shared memory that it depends on")
LATE = Answer("unknown", "", run.LATE)


@dataclass(slots=True)
class Judge:
    """Answers questions about one run."""

    place: Place
    records: Records
    contracts: Contracts
    solver: Solver | None
    deadline: float = float("inf")  # of `time.monotonic`
    is_verbose: bool = False
    reasoning: list[Reasoning] = field(default_factory=list)
    _facts: dict[Condition, Facts] = field(default_factory=dict)
    _general: Facts | None = None
    _seconds: dict[tuple[bool, frozenset[Atom]], tuple[Other, Facts]] = field(default_factory=dict)
    _lanes: Lanes | None = None

    def is_late(self) -> bool:
        """The time for this kernel is used up."""
        return time.monotonic() > self.deadline

    def block_lanes(self) -> Lanes:
        """Every thread of a block, in numbers."""
        if self._lanes is None:
            self._lanes = of_block(self.place)
        return self._lanes

    def facts(self, path: Condition) -> Facts:
        """What is known on a path, with what is taken for granted."""
        if self._general is None:
            self._general = Facts([*self.weak(), *self.place.limits, *self.contracts.limits])
        found = self._facts.get(path)
        if found is None:
            found = self._facts[path] = Facts([path], self._general)
        return found

    def second(self, is_in_block: bool, loose: frozenset[Atom] = frozenset()) -> tuple[Other, Facts]:
        """Another thread, of the same block or not, perhaps in another trip of the loops that are `loose`; and what is
        known of both."""
        found = self._seconds.get((is_in_block, loose))
        if found is None:
            other = self.place.other(is_in_block, loose)
            facts = Facts([*self.contracts.facts, *self.records.facts, *map(other.condition, self.records.facts)])
            found = self._seconds[is_in_block, loose] = other, facts
        return found

    def weak(self) -> list[Condition]:
        """What every launch fulfils, and what is taken for granted of it."""
        return [*self.records.facts, *self.contracts.facts]

    def exact(self) -> list[Condition]:
        """What an example counts on besides: arrays exactly as large as they must be."""
        return [*self.records.facts, *self.contracts.exact]

    def answer(
        self,
        known: Sequence[Condition],
        relevant: Iterable[Term],
        paths: Iterable[Condition],
        other: Other | None = None,
        is_data_fine: bool = False,
        fine: int = 0,
        is_large: bool = False,
        free: frozenset[Atom] = frozenset(),
        rather: Sequence[Condition] = (),
    ) -> Answer:
        """The solver's: `known` must not hold together. `relevant` are the terms that decide (indices), `paths` lead
        there. `is_data_fine`: contents of arrays may be chosen for an example, too; `fine`: what else may be anything
        on the way, and `free` atoms everywhere. `is_large`: small launches would not show it. `rather`:
        what an example had better fulfil, too."""
        relevant, paths = list(relevant), list(paths)
        answer = self._answered(known, relevant, paths, other, is_data_fine, fine, is_large, free, rather)
        if answer.verdict != "unknown" or answer.model is None or not self.records.heads:
            return answer
        # Nothing is known of a loop's later trips; its first one is as certain as what stands before it.
        first = self._first_trips(other)
        known, relevant = list(map(first.condition, known)), list(map(first.term, relevant))
        paths = list(map(first.condition, paths))
        early = self._answered(
            known, relevant, paths, other, is_data_fine, fine, is_large, free, list(map(first.condition, rather))
        )
        return early if early.verdict == "found" else answer

    def _first_trips(self, other: Other | None) -> Substitution:
        """What turns all loops' numbers into 0, and what is of a trip into what is of the first one."""
        found: dict[Atom, Term] = {}
        for head in self.records.heads:  # those outside come first
            put = Substitution(dict(found))
            for term, value in ((head.number, terms.ZERO), (head.value, head.first)):
                for atom in term.atoms():
                    found.setdefault(atom, put.term(value))
        if other is not None:
            found |= {
                twin: other.term(value) for atom, value in found.items() for twin in other.term(terms.of(atom)).atoms()
            }
        return Substitution(found)

    def _answered(
        self,
        known: Sequence[Condition],
        relevant: list[Term],
        paths: list[Condition],
        other: Other | None,
        is_data_fine: bool,
        fine: int,
        is_large: bool,
        free: frozenset[Atom],
        rather: Sequence[Condition],
    ) -> Answer:
        if self.solver is None:
            return Answer("unknown", "no solver", "intervals do not decide it, and no solver is installed")
        if self.is_late():
            return LATE
        # Small launches first: products of sizes are hard for the solver, unless the sizes are small.
        tight, model = "", None
        small = [*_both(self.exact(), other), *self._small(), *known]
        if not is_large:
            tight, model = self.solver.solve(small)
            if model is not None and rather:
                model = self.solver.solve([*small, *rather])[1] or model
        if tight != "sat":
            weak, _ = self.solver.solve([*_both(self.weak(), other), *known])
            if weak == "unsat":
                return Answer("proved", "solver")
            tight, model = self.solver.solve([*_both(self.exact(), other), *known])
        if tight != "sat":
            is_open = "unknown" in (weak, tight)
            why = LATE.reason if is_open else "it goes wrong only where arrays are larger than they must be"
            return Answer("unknown", "solver", why)
        reason = self._doubt(relevant, paths, is_data_fine, fine, free, other is None)
        return Answer("unknown" if reason else "found", "solver", reason, model, other)

    def _small(self) -> list[Condition]:
        """A launch that is small."""
        found = [conditions.at_most(one, terms.number(SMALL_GRID)) for one in self.place.grid if not one.is_constant]
        sizes = [one for one in self.place.extents if not self.place.is_whole]
        sizes += {extent for access in self.records.accesses for extent in access.memory.extents}
        most = terms.number(SMALL_EXTENT)
        return [*found, *(conditions.at_most(one, most) for one in sizes if not one.is_constant)]

    def _doubt(
        self,
        relevant: list[Term],
        paths: list[Condition],
        is_data_fine: bool,
        fine: int,
        free: frozenset[Atom],
        is_alone: bool,
    ) -> str:
        """Why an example proves nothing; "" where it does. On the way there what is `fine` may be anything; what a
        function gives may be the same for two threads, but one that `is_alone` has no say in it."""
        taint, loads, own = 0, dict[str, None](), set[Atom]()
        for atom in deep_atoms(*relevant):
            own.add(atom)
            taint |= _taint_of(atom, free)
            if atom.kind == "load":
                loads[atom.name.partition("+")[0]] = None
            elif atom.kind == "call" and is_alone and not is_data_fine:
                return f"it depends on what {atom.name or 'a function'} gives, which is not looked into"
        if is_data_fine:
            taint &= ~DATA
        for path in paths:
            for one in conditions.conjuncts(path):
                if not is_alone and one.kind == "eq" and _compares_elements(one):
                    taint |= DATA  # who comes here is a matter of two arrays together, and may be one thread alone
                if one.kind == "le" and one.taint & DATA and not is_data_fine:
                    limiting = list(deep_atoms(*one.terms()))
                    if any(atom in own and atom.level == THREAD and atom.name.endswith("#") for atom in limiting):
                        # How often a loop runs, and so how far its counter goes, is what an array holds.
                        taint |= DATA
                        loads.update((atom.name.partition("+")[0], None) for atom in limiting if atom.kind == "load")
                if one not in self.records.invariants:
                    taint |= _taint(one, free) & ~DATA & ~fine
        if taint >= STORED:
            taint |= SYNC
        for kind in (SYNC, LOOP, DATA):
            if taint & kind:
                return _WHY[kind].format(names=" and ".join(loads) or "arrays")
        return ""

    def explain(
        self,
        check: str,
        span: Span | None,
        question: Callable[[], str],
        answer: Answer,
        otherwise: str,
        known: Iterable[Condition] = (),
    ) -> None:
        """One step of the reasoning, for people who want it; `otherwise` names the rule where the answer does not."""
        if self.is_verbose:
            text = tuple(map(repr, known))
            rule = answer.rule or otherwise
            self.reasoning.append(Reasoning(check, span, question(), answer.verdict, rule, text))


def _taint(condition: Condition, free: frozenset[Atom]) -> int:
    """What decides it. What a comparison of floats comes out as may be anything; how often a loop has run may not."""
    found = condition.taint & ~LOOP if condition.kind == "opaque" else 0
    for part in condition.parts:
        found |= _taint(part, free)
    for atom in deep_atoms(condition.term) if condition.term is not None else ():
        found |= _taint_of(atom, free)
    return found


def _taint_of(atom: Atom, free: frozenset[Atom]) -> int:
    """What decides an atom, but for the atoms in it."""
    if atom in free:
        return 0
    if atom.kind not in terms.OPERATIONS:
        return atom.taint
    found = 0
    for argument in atom.arguments:
        found |= _taint(argument, free) if isinstance(argument, Condition) else 0
    return found


def _compares_elements(condition: Condition) -> bool:
    """An equation between two elements of arrays."""
    return sum(atom.kind == "load" for term in condition.terms() for atom in term.atoms()) > 1


def _both(known: list[Condition], other: Other | None) -> list[Condition]:
    """For the second thread, too."""
    return known if other is None else [*known, *map(other.condition, known)]


def solved(known: Sequence[Condition], equations: Sequence[Term]) -> Facts:
    """What follows from conditions and equations (each == 0): unknowns that an equation gives are put in everywhere."""
    left = list(equations)
    conds = list(known)
    while left:
        term = left.pop()
        atom = _solvable(term)
        if atom is None:
            conds.append(conditions.equal(term, terms.ZERO))
            continue
        n = dict(term.parts)[(atom,)]
        value = (term - terms.of(atom).times(n)).times(-n)
        put = Substitution({atom: value})
        conds = [put.condition(one) for one in conds]
        # What was known of the unknown by itself is now known of what it is.
        if atom.low is not None:
            conds.append(conditions.at_most(terms.number(atom.low), value))
        if atom.high is not None:
            conds.append(conditions.at_most(value, terms.number(atom.high)))
        left = [put.term(one) for one in left]
    return Facts(conds)


def _solvable(term: Term) -> Atom | None:
    """A symbol with the coefficient 1 or -1 that stands nowhere else in the term."""
    candidates = [m[0] for m, n in term.parts if len(m) == 1 and n in (1, -1) and m[0].kind == "symbol"]
    for atom in reversed(candidates):
        rest = Term(term.constant, tuple(part for part in term.parts if part[0] != (atom,)))
        if all(one is not atom for one in deep_atoms(rest)):
            return atom
    return None
