"""What follows from conditions, by intervals and by adding up inequalities: fast, and good for most of what kernels do.

    Facts([i < n, 0 <= i]).at_least_zero(n - 1)  →  True

A term is never below zero if it is a sum of things that are not (Farkas' lemma, with multipliers that are guessed: what
takes an unbounded part of the term away). Products with what is not negative are inequalities, too: i <= h - 1 gives
i * w <= (h - 1) * w. False means "not proved"; the solver may know more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kbuild.audit import conditions, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.substitution import Substitution
from kbuild.audit.terms import Atom, Monomial, Range, Term

MOST_STEPS = 160  # of a search
MOST_REFUTING = 1_600  # of all searches for a contradiction
DEEPEST = 5
MOST_SPLITS = 3  # conditions that are taken apart into cases
MOST_DEPTH = 2  # cases within cases


class _Budget:
    """Steps that are left for a question, in all its cases."""

    def __init__(self) -> None:
        self.left = MOST_STEPS


class Facts:
    """Conditions that hold together."""

    def __init__(self, known: Iterable[Condition], base: Facts | None = None) -> None:
        self.conditions: list[Condition] = list(base.conditions) if base else []
        self.inequalities: list[Term] = list(base.inequalities) if base else []  # each <= 0
        self.disjunctions: list[Condition] = list(base.disjunctions) if base else []
        self.differences: list[Term] = list(base.differences) if base else []  # each != 0
        self._held: set[Condition] = set(base._held) if base else set()
        self._ranges: dict[Atom, Range] = dict(base._ranges) if base else {}  # that conditions say
        self._results: dict[Atom, Range] = {}  # of operations, by what is known of their operands
        self._by_monomial: dict[Monomial, list[Term]] | None = None
        self._proved: dict[Term, bool] = {}
        self._quotients: dict[Atom, bool] = {}
        self._cases: dict[tuple[Condition, Condition | None], Facts] = {}
        self._budget = _Budget()
        self._depth = 0  # of cases within cases
        self.is_contradictory: bool = base.is_contradictory if base else False
        inequalities, differences = len(self.inequalities), len(self.differences)
        for one in known:
            self._add(one)
        if self._tighten(self.inequalities[inequalities:], self.differences[differences:]):
            self._tighten(self.inequalities, self.differences)

    def _add(self, condition: Condition) -> None:
        for one in conditions.conjuncts(condition):
            if one in self._held:
                continue
            self._held.add(one)
            self.conditions.append(one)
            if one.kind == "false" or conditions.negation(one) in self._held:
                self.is_contradictory = True
            elif one.kind == "le":
                assert one.term is not None
                self.inequalities.append(one.term)
            elif one.kind == "eq":
                assert one.term is not None
                self.inequalities += [one.term, -one.term]
            elif one.kind == "ne":
                assert one.term is not None
                self.differences.append(one.term)
            elif one.kind == "or":
                self.disjunctions.append(one)

    def holds(self, condition: Condition) -> bool:
        """The very condition is among them."""
        return condition in self._held

    def _tighten(self, inequalities: list[Term], differences: list[Term]) -> bool:
        """Bounds of single atoms from inequalities with one of them, or with others that are bounded; whether there
        are new ones."""
        changed = False
        for term in inequalities:
            changed |= self._bound(term)
        for term in differences:
            changed |= self._exclude(term)
        return changed

    def _bound(self, term: Term) -> bool:
        """n * atom <= -rest, for each part n * atom."""
        lows = [self._least(monomial, n) for monomial, n in term.parts]
        total, unbounded = term.constant, 0
        for low in lows:
            if low is None:
                unbounded += 1
            else:
                total += low
        if unbounded > 1:
            return False
        changed = False
        for (monomial, n), own in zip(term.parts, lows, strict=True):
            if len(monomial) == 1 and (not unbounded or own is None):
                rest = total - (own or 0)
                changed |= self._narrow(monomial[0], (None, -rest // n) if n > 0 else (-(rest // n), None))
        return changed

    def _least(self, monomial: Monomial, n: int) -> int | None:
        low, high = self._range_of_monomial(monomial)
        end = low if n > 0 else high
        return None if end is None else n * end

    def _exclude(self, term: Term) -> bool:
        """c * atom != k at an end of its range."""
        if len(term.parts) != 1 or len(term.parts[0][0]) != 1:
            return False
        (atom,), n = term.parts[0]
        if term.constant % n:
            return False
        value = -term.constant // n
        low, high = self.range_of_atom(atom)
        if low == value:
            return self._narrow(atom, (value + 1, None))
        return high == value and self._narrow(atom, (None, value - 1))

    def _narrow(self, atom: Atom, to: Range) -> bool:
        low, high = self.range_of_atom(atom)
        new_low = low if to[0] is None else to[0] if low is None else max(low, to[0])
        new_high = high if to[1] is None else to[1] if high is None else min(high, to[1])
        if (new_low, new_high) == (low, high):
            return False
        if new_low is not None and new_high is not None and new_low > new_high:
            self.is_contradictory = True  # and the range stays: none is ever upside down
            return False
        self._ranges[atom] = new_low, new_high
        self._results.clear()
        return True

    def range_of_atom(self, atom: Atom) -> Range:
        """The least and the largest value; None where there is none."""
        own = self._ranges.get(atom)
        if atom.kind not in terms.OPERATIONS:
            return own if own is not None else (atom.low, atom.high)
        found = self._results.get(atom)
        if found is None:
            found = self._both((atom.low, atom.high), self._range_of_result(atom))
            if own is not None:
                found = self._both(found, own)
            self._results[atom] = found
        return found

    def _both(self, a: Range, b: Range) -> Range:
        """What is in both; where nothing is, they contradict each other."""
        low, high = terms.narrower(a, b)
        if low is not None and high is not None and low > high:
            self.is_contradictory = True
            return a
        return low, high

    def _range_of_result(self, atom: Atom) -> Range:
        if atom.kind == "ite":
            condition, then, otherwise = atom.arguments
            if condition in self._held:
                return self.range_of(then)
            if self._held and conditions.negation(condition) in self._held:
                return self.range_of(otherwise)
        return terms.range_of_operation(atom.kind, atom.arguments, self.range_of)

    def range_of(self, term: Term) -> Range:
        """The same of a term, each of its parts by itself."""
        low: int | None = term.constant
        high: int | None = term.constant
        for monomial, n in term.parts:
            least, most = self._range_of_monomial(monomial)
            if n < 0:
                least, most = most, least
            low = None if low is None or least is None else low + n * least
            high = None if high is None or most is None else high + n * most
        return low, high

    def _range_of_monomial(self, monomial: Monomial) -> Range:
        if len(monomial) == 1:
            return self.range_of_atom(monomial[0])
        found = self.range_of_atom(monomial[0])
        for atom in monomial[1:]:
            found = terms.product_range(found, self.range_of_atom(atom))
        return found

    # Proofs

    def proves(self, condition: Condition) -> bool:
        """Whether it follows."""
        if self.is_contradictory or condition in self._held:
            return True
        match condition.kind:
            case "true":
                return True
            case "le":
                assert condition.term is not None
                return self.at_least_zero(-condition.term)
            case "eq":
                assert condition.term is not None
                return self.at_least_zero(condition.term) and self.at_least_zero(-condition.term)
            case "ne":
                assert condition.term is not None
                if condition.term in self.differences or -condition.term in self.differences:
                    return True
                return self.at_least_zero(condition.term - 1) or self.at_least_zero(-condition.term - 1)
            case "and":
                return all(map(self.proves, condition.parts))
            case "or":
                for i, part in enumerate(condition.parts):
                    others = [conditions.negation(one) for j, one in enumerate(condition.parts) if j != i]
                    if self._case(conditions.all_of(others)).proves(part):
                        return True
        return False

    def refutes(self) -> bool:
        """Whether they contradict each other."""
        if self.is_contradictory:
            return True
        steps = 0
        for term in self.inequalities:
            if len(term.parts) > 1 and steps < MOST_REFUTING:
                if self.at_least_zero(term - 1):
                    self.is_contradictory = True
                    return True
                steps += MOST_STEPS - max(self._budget.left, 0)
        for term in self.differences:
            if self.at_least_zero(term) and self.at_least_zero(-term):
                self.is_contradictory = True
                return True
        return any(all(Facts([part], self).is_contradictory for part in one.parts) for one in self.disjunctions)

    def at_least_zero(self, term: Term) -> bool:
        """Whether a term is never below zero."""
        if self.is_contradictory:
            return True
        low, _ = self.range_of(term)
        if low is not None and low >= 0:
            return True
        found = self._proved.get(term)
        if found is None:
            if not self._depth:
                self._budget.left = MOST_STEPS
            found = self._search(term, DEEPEST) or self._by_cases(term)
            self._proved[term] = found
        return found

    def _by_cases(self, term: Term) -> bool:
        """By each part of what holds one way or another."""
        if self._depth >= MOST_DEPTH:
            return False
        for one in self.disjunctions[:MOST_SPLITS]:
            if self._budget.left > 0 and all(self._case(part, one).at_least_zero(term) for part in one.parts):
                return True
        return False

    def _case(self, condition: Condition, instead: Condition | None = None) -> Facts:
        """What is known in one of several cases."""
        found = self._cases.get((condition, instead))
        if found is None:
            found = self._cases[condition, instead] = Facts([condition], self)
            if instead is not None:
                found.disjunctions = [one for one in found.disjunctions if one != instead]
            found._budget, found._depth = self._budget, self._depth + 1
        return found

    def _search(self, term: Term, depth: int) -> bool:
        low, _ = self.range_of(term)
        if low is not None and low >= 0:
            return True
        self._budget.left -= 1
        if depth == 0 or self._budget.left < 0:
            return False
        for monomial, n in term.parts:
            if len(monomial) == 1 and monomial[0].kind in ("ite", "min"):
                return self._split(term, monomial[0], n, depth)
        for new in sorted(self._reductions(term), key=lambda one: len(one.parts)):
            if self._search(new, depth - 1):
                return True
        return False

    def _split(self, term: Term, atom: Atom, n: int, depth: int) -> bool:
        if atom.kind == "min":
            rest = Term(term.constant, tuple(part for part in term.parts if part[0] != (atom,)))
            if n < 0 and all(one is not atom for one in terms.deep_atoms(rest)):
                # Minus a minimum is the largest of minus each.
                return any(self._search(rest + one.times(n), depth - 1) for one in atom.arguments)
            return all(self._search(_with(term, atom, one), depth - 1) for one in atom.arguments)
        if self._depth >= MOST_DEPTH:
            return False
        condition, then, otherwise = atom.arguments
        negation = conditions.negation(condition)
        return self._case(condition)._search(_with(term, atom, then), depth - 1) and self._case(negation)._search(
            _with(term, atom, otherwise), depth - 1
        )

    def _reductions(self, term: Term) -> Iterator[Term]:
        """Terms of which this one is a sum, together with something that is not negative."""
        seen: set[Term] = {term}
        for monomial, n in self._worst_first(term):
            for taken, rest in _factors(monomial):
                if rest and any(self._may_be_negative(atom) for atom in rest):
                    continue
                for fact in self._about(taken):
                    coefficient = next((m for other, m in fact.parts if other == taken), 0)
                    if not coefficient or (coefficient > 0) == (n > 0):
                        continue
                    factor = fact if not rest else fact * Term(0, ((rest, 1),))
                    new = term.times(abs(coefficient)) + factor.times(abs(n))
                    if len(new.parts) <= len(term.parts) + 2 and new not in seen:
                        seen.add(new)
                        yield new

    def _worst_first(self, term: Term) -> list[tuple[Monomial, int]]:
        """The parts, those without a bound before the others."""

        def rank(part: tuple[Monomial, int]) -> int:
            low, high = self._range_of_monomial(part[0])
            least = low if part[1] > 0 else high
            return 0 if least is None else 1

        return sorted(term.parts, key=rank)

    def _may_be_negative(self, atom: Atom) -> bool:
        low, _ = self.range_of_atom(atom)
        return low is None or low < 0

    def _about(self, monomial: Monomial) -> Iterator[Term]:
        """Inequalities, each <= 0, in which it stands."""
        if self._by_monomial is None:
            self._by_monomial = {}
            for fact in self.inequalities:
                for one, _ in fact.parts:
                    self._by_monomial.setdefault(one, []).append(fact)
        yield from self._by_monomial.get(monomial, ())
        for atom in monomial:
            if (len(monomial) == 1 or atom.kind == "quotient") and self._is_implied(atom):
                yield from implied(atom)

    def _is_implied(self, atom: Atom) -> bool:
        """What an operation says of itself holds: of a quotient only where neither operand is negative."""
        if atom.kind != "quotient":
            return True
        found = self._quotients.get(atom)
        if found is None:
            self._quotients[atom] = False  # while it is looked at
            found = self._quotients[atom] = all(self._search(one, 2) for one in domain(atom))
        return found


def domain(atom: Atom) -> tuple[Term, ...]:
    """What must not be negative so that `implied` holds."""
    if atom.kind != "quotient":
        return ()
    a, b = atom.arguments
    return a, b - 1


def implied(atom: Atom) -> Iterator[Term]:
    """What an operation says of itself: terms that are at most zero."""
    one = terms.of(atom)
    match atom.kind:
        case "div":
            term, k = atom.arguments
            yield one.times(k) - term
            yield term - one.times(k) - (k - 1)
        case "mod":
            term, k = atom.arguments
            low, _ = terms.natural_range(term)
            if low is not None and low >= 0:
                yield one - term  # a remainder is no larger than what is not negative
        case "min":
            for term in atom.arguments:
                yield one - term
        case "quotient":  # of a, not negative, by b, at least one
            a, b = atom.arguments
            yield b * one - a
            yield a - b * one - b + 1


def _factors(monomial: Monomial) -> Iterator[tuple[Monomial, Monomial]]:
    """(a part of it, what else is in it)."""
    yield monomial, ()
    if len(monomial) > 1:
        for i, atom in enumerate(monomial):
            yield (atom,), monomial[:i] + monomial[i + 1 :]


def _with(term: Term, atom: Atom, value: Term) -> Term:
    return Substitution({atom: value}).term(term)
