"""Terms and conditions with other things in the places of some of their atoms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kbuild.audit import conditions, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.terms import BLOCK, THREAD, Atom, Term
from kbuild.audit.values import Unknown, every_atom


class Substitution:
    """Puts terms in the places of symbols. `opaque` makes another of a condition that nothing is known of."""

    def __init__(self, symbols: dict[Atom, Term], opaque: Callable[[Condition], Condition] | None = None) -> None:
        self.atoms: dict[Atom, Term] = dict(symbols)
        self._opaque = opaque
        self._terms: dict[Term, Term] = {}
        self._conditions: dict[Condition, Condition] = {}

    def term(self, term: Term) -> Term:
        """The term with everything in its place."""
        found = self._terms.get(term)
        if found is None:
            found = terms.number(term.constant)
            for monomial, n in term.parts:
                product = terms.number(n)
                for atom in monomial:
                    product = product * self.atom(atom)
                found = found + product
            self._terms[term] = found
        return found

    def atom(self, atom: Atom) -> Term:
        """What stands for an atom."""
        found = self.atoms.get(atom)
        if found is None:
            found = self.symbol(atom) if atom.kind == "symbol" else self._operation(atom)
            self.atoms[atom] = found
        return found

    def symbol(self, atom: Atom) -> Term:
        """What stands for a symbol that nobody has said anything of: itself."""
        return terms.of(atom)

    def _operation(self, atom: Atom) -> Term:
        new = tuple(self._argument(one) for one in atom.arguments)
        if new == atom.arguments:
            return terms.of(atom)
        if all(isinstance(one, (int, Term)) for one in new) and atom.kind in ("div", "mod") and new[0].is_constant:
            quotient, rest = divmod(new[0].constant, new[1])
            return terms.number(quotient if atom.kind == "div" else rest)
        made = terms.atom(atom.kind, new, *atom.limits, atom.name)
        return terms.of(made)

    def _argument(self, one: Any) -> Any:
        if isinstance(one, Term):
            return self.term(one)
        if isinstance(one, Unknown):
            return self.unknown(one)
        return self.condition(one) if isinstance(one, Condition) else one

    def unknown(self, value: Unknown) -> Unknown:
        """What stands for a value that nothing is known of: itself."""
        return value

    def condition(self, condition: Condition) -> Condition:
        """The condition with everything in its place."""
        found = self._conditions.get(condition)
        if found is None:
            found = self._conditions[condition] = self._changed(condition)
        return found

    def _changed(self, condition: Condition) -> Condition:
        match condition.kind:
            case "le" | "eq" | "ne":
                assert condition.term is not None
                new = self.term(condition.term)
                if new is condition.term or new == condition.term:
                    return condition
                zero = terms.ZERO
                if condition.kind == "le":
                    return conditions.at_most_zero(new)
                return conditions.equal(new, zero) if condition.kind == "eq" else conditions.unequal(new, zero)
            case "opaque":
                return condition if self._opaque is None else self._opaque(condition)
            case "and":
                return conditions.all_of(map(self.condition, condition.parts))
            case "or":
                return conditions.any_of(map(self.condition, condition.parts))
        return condition


class Other(Substitution):
    """The same for another thread: of the same block, or of another one."""

    def __init__(self, symbols: dict[Atom, Term], is_in_block: bool, loose: frozenset[Atom] = frozenset()) -> None:
        super().__init__(symbols, self._other)
        self.least = THREAD if is_in_block else BLOCK
        self.loose = loose  # each thread's own as well

    def symbol(self, atom: Atom) -> Term:
        if atom.level < self.least and atom not in self.loose:
            return terms.of(atom)
        other = terms.symbol(atom.name + "'", atom.low, atom.high, atom.level, atom.taint)
        other.unique = atom.unique
        return terms.of(other)

    def unknown(self, value: Unknown) -> Unknown:
        if value.level < self.least and not self._is_loose(value):
            return value
        return Unknown(terms.key("other", value.key), value.level, value.taint)

    def _is_loose(self, value: Unknown | Condition) -> bool:
        return bool(self.loose) and any(atom in self.loose for atom in every_atom(value))

    def _other(self, condition: Condition) -> Condition:
        if condition.level < self.least and not self._is_loose(condition):
            return condition
        other = conditions.opaque(terms.key("other", condition.key), condition.level, condition.taint)
        return conditions.negation(other) if condition.is_negated else other
