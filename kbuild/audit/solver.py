"""Asks the SMT solver z3 what intervals and sums of inequalities cannot decide.

Whole numbers stand for int32: that nothing overflows is an obligation of its own. Operations that linear arithmetic
lacks are given by what is true of them (a quotient by its two inequalities, bits by digits); elements of arrays are
functions of their indices, so that both threads see the same contents.
"""

from __future__ import annotations

import itertools
import operator
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from kbuild.audit import terms
from kbuild.audit.conditions import Condition
from kbuild.audit.proving import Facts, domain, implied
from kbuild.audit.terms import Atom, Term

FIRST_TRY: Final = 5.0  # seconds of a query: less than its work takes on a slow machine would be another verdict there
MOST_WORK: Final = 2_000_000  # of a query, as the solver counts: the same on every machine
MOST_ATOMS: Final = 3_000  # of a query
MOST_LESSONS: Final = 16  # of a query, about operations on bits
MOST_BITS: Final = 16  # of what `and`, `or`, `xor` are told of digit by digit


def is_installed() -> bool:
    """Whether there is a solver to ask."""
    try:
        import z3  # noqa: F401
    except ImportError:
        return False
    return True


class TooMuch(Exception):
    """A query is larger than the solver would come to an end with."""


class Model:
    """Numbers for symbols that fulfil every condition of a query."""

    def __init__(self, translation: _Translation, model: Any) -> None:
        self._translation, self._model = translation, model
        translation.most = sys.maxsize

    def value(self, term: Term) -> int | None:
        """What a term is; None where the model does not say."""
        found = self._model.eval(self._translation.term(term), model_completion=True)
        try:
            return int(found.as_long())
        except AttributeError:
            return None

    def holds(self, condition: Condition) -> bool:
        """Whether a condition holds."""
        import z3

        return bool(z3.is_true(self._model.eval(self._translation.condition(condition), model_completion=True)))

    def lessons(self) -> Iterator[Any]:
        """What operations on bits give with the model's operands, where the model has something else: the solver knows
        little of them."""
        import z3

        for atom in self.atoms():
            if atom.kind not in _BITS:
                continue
            a, b, given = (self.value(one) for one in (*atom.arguments, terms.of(atom)))
            if a is None or b is None or (atom.kind in ("shl", "shr") and not 0 <= b <= terms.MOST_SHIFT):
                continue
            right = _BITS[atom.kind](a, b)
            if given != right:
                x, y, result = (self._translation.term(one) for one in (*atom.arguments, terms.of(atom)))
                yield z3.Implies(z3.And(x == a, y == b), result == right)

    def atoms(self) -> Iterator[Atom]:
        """Every atom of the query."""
        yield from list(self._translation.atoms)

    def opaque(self) -> Iterator[Condition]:
        """Every condition of the query of which nothing is known."""
        for key in self._translation.opaque_keys():
            yield Condition("opaque", key=key)

    def symbols(self) -> Iterator[Atom]:
        """Every symbol of the query."""
        yield from (atom for atom in self._translation.atoms if atom.kind == "symbol")


class Solver:
    """`limit` seconds for all queries together."""

    def __init__(self, limit: float) -> None:
        self.left = limit
        self.queries = 0

    def solve(self, known: Iterable[Condition]) -> tuple[str, Model | None]:
        """ "sat" with a model, "unsat", or "unknown"."""
        if self.left <= 0:
            return "unknown", None
        start = time.monotonic()
        self.queries += 1
        try:
            return self._solve(list(known))
        except TooMuch:
            return "unknown", None
        finally:
            self.left -= time.monotonic() - start

    def _solve(self, known: list[Condition]) -> tuple[str, Model | None]:
        import z3

        context = z3.Context()  # of its own: what was asked before does not change how it goes
        translation = _Translation(Facts(known), context)
        solver = z3.Solver(ctx=context)
        solver.set("timeout", int(1000 * min(FIRST_TRY, self.left)))
        solver.set("rlimit", MOST_WORK)
        for one in known:
            solver.add(translation.condition(one))
        for axiom in translation.axioms():
            solver.add(axiom)
        found, model = "unknown", None
        for _ in range(MOST_LESSONS):
            found = str(solver.check())
            model = Model(translation, solver.model()) if found == "sat" else None
            lessons = [] if model is None else list(model.lessons())
            if not lessons:
                break
            found, model = "unknown", None
            solver.add(*lessons)
        return found, model


_BITS: Final[dict[str, Callable[[int, int], int]]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
}


class _Translation:
    """Terms and conditions in the solver's words. All that is translated holds together with `facts`."""

    def __init__(self, facts: Facts, context: Any = None) -> None:
        self.facts, self.context = facts, context
        self.atoms: dict[Atom, Any] = {}
        self._axioms: list[Any] = []
        self._numbers = itertools.count()  # of this query's names
        self.most = MOST_ATOMS  # while a query is made; a model answers for any term
        self._opaque: dict[Any, Any] = {}
        self._terms: dict[Term, Any] = {}
        self._conditions: dict[Condition, Any] = {}

    def axioms(self) -> Iterator[Any]:
        """What is true of the atoms met so far, and not said yet."""
        while self._axioms:
            yield self._axioms.pop()

    def opaque_keys(self) -> list[Any]:
        """Those of the conditions met so far of which nothing is known."""
        return list(self._opaque)

    def term(self, term: Term) -> Any:
        found = self._terms.get(term)
        if found is None:
            found = self._terms[term] = self._sum(term)
        return found

    def _sum(self, term: Term) -> Any:
        import z3

        total = z3.IntVal(term.constant, self.context)
        for monomial, n in term.parts:
            product = z3.IntVal(n, self.context)
            for atom in monomial:
                product = product * self.atom(atom)
            total = total + product
        return total

    def condition(self, condition: Condition) -> Any:
        found = self._conditions.get(condition)
        if found is None:
            found = self._conditions[condition] = self._statement(condition)
        return found

    def _statement(self, condition: Condition) -> Any:
        import z3

        match condition.kind:
            case "true" | "false":
                return z3.BoolVal(condition.kind == "true", self.context)
            case "le" | "eq" | "ne":
                assert condition.term is not None
                value = self.term(condition.term)
                return value <= 0 if condition.kind == "le" else value == 0 if condition.kind == "eq" else value != 0
            case "opaque":
                if condition.key not in self._opaque:
                    self._opaque[condition.key] = z3.Bool(f"c{len(self._opaque)}", self.context)
                found = self._opaque[condition.key]
                return z3.Not(found) if condition.is_negated else found
        parts = [self.condition(one) for one in condition.parts]
        return z3.And(*parts) if condition.kind == "and" else z3.Or(*parts)

    def atom(self, atom: Atom) -> Any:
        found = self.atoms.get(atom)
        if found is None:
            if len(self.atoms) >= self.most:
                raise TooMuch
            found = self.atoms[atom] = self._made(atom)
            if atom.low is not None:
                self._axioms.append(found >= atom.low)
            if atom.high is not None:
                self._axioms.append(found <= atom.high)
        return found

    def _made(self, atom: Atom) -> Any:
        import z3

        match atom.kind:
            case "ite":
                condition, then, otherwise = atom.arguments
                return z3.If(self.condition(condition), self.term(then), self.term(otherwise))
            case "min":
                a, b = map(self.term, atom.arguments)
                return z3.If(a <= b, a, b)
            case "product":
                a, b = map(self.term, atom.arguments)
                return a * b
            case "load":
                function = z3.Function(atom.name, *[z3.IntSort(self.context)] * (len(atom.arguments) + 1))
                return function(*map(self.term, atom.arguments))
            case "div":
                term, k = atom.arguments
                return self.term(term) / k  # towards minus infinity, as k > 0
            case "mod":
                term, k = atom.arguments
                return self.term(term) % k
        found = z3.Int(f"{atom.kind}{next(self._numbers)}", self.context)
        match atom.kind:
            case "quotient":
                self.atoms[atom] = found
                is_clear = z3.And(*[self.term(one) >= 0 for one in domain(atom)], self.context)
                for term in implied(atom):
                    self._axioms.append(z3.Implies(is_clear, self.term(term) <= 0))
            case "truncated" | "remainder":
                a, b = (self.term(one) for one in atom.arguments)
                quotient = z3.If(a >= 0, a / b, -(-a / b))
                value = quotient if atom.kind == "truncated" else a - b * quotient
                self._axioms.append(z3.Implies(b != 0, found == value))  # by zero: anything
            case "and" | "or" | "xor":
                self._bits(atom, found)
            case "shl" | "shr":
                self._shift(atom, found)
        return found

    def _shift(self, atom: Atom, found: Any) -> None:
        """Shifts by each number that it may be, where these are few."""
        import z3

        low, high = self.facts.range_of(atom.arguments[1])
        if low is None or high is None or low < 0 or high > terms.MOST_SHIFT:
            return
        a, b = map(self.term, atom.arguments)
        for i in range(low, high + 1):
            self._axioms.append(z3.Implies(b == i, found == (a * 2**i if atom.kind == "shl" else a / 2**i)))

    def _bits(self, atom: Atom, found: Any) -> None:
        """The operation digit by digit, where both operands are known to be small."""
        import z3

        a, b = atom.arguments
        highs: list[int] = []
        for low, high in (self.facts.range_of(a), self.facts.range_of(b)):
            if low is None or low < 0 or high is None or high >= 1 << MOST_BITS:
                return
            highs.append(high)
        count = max(highs).bit_length()
        x, y = self.term(a), self.term(b)
        result = z3.IntVal(0, self.context)
        for i in range(count):
            p, q = (x / 2**i) % 2, (y / 2**i) % 2
            digit = z3.If(
                {"and": z3.And(p == 1, q == 1), "or": z3.Or(p == 1, q == 1), "xor": p != q}[atom.kind], 2**i, 0
            )
            result = result + digit
        self._axioms.append(found == result)
