"""Terms and conditions that are drawn, with what they are in numbers: for tests that try every small assignment.

term, value = data.draw(terms_of(SYMBOLS))   # value({symbol: number}) → number
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from hypothesis import strategies as st

from kbuild.audit import conditions, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.terms import Atom, Range, Term
from kbuild.audit.values import either

DEEP: Final = int(os.environ.get("KBUILD_DEEP", "1"))

Numbers: TypeAlias = Mapping[Atom, int]

# Small ones, so that all assignments can be tried; the last has a range that nothing says.
RANGES: Final[tuple[Range, ...]] = ((0, 3), (0, 5), (-3, 3), (None, None))
TRIED: Final = (range(4), range(6), range(-3, 4), range(-6, 7))


@dataclass(frozen=True)
class Symbols:
    """`atoms` of a test; nothing outlives it."""

    atoms: tuple[Atom, ...]

    def all(self) -> Iterator[Numbers]:
        """Every assignment that is tried."""
        for numbers in itertools.product(*TRIED):
            yield dict(zip(self.atoms, numbers, strict=True))


def symbols() -> Symbols:
    """New ones."""
    terms.forget()
    made = [terms.symbol(f"s{i}", low, high, terms.UNIFORM) for i, (low, high) in enumerate(RANGES)]
    return Symbols(tuple(made))


def value(term: Term, numbers: Numbers) -> int:
    """The number that a term is. This is what terms mean, written down once more."""
    total = term.constant
    for monomial, n in term.parts:
        for atom in monomial:
            n *= of_atom(atom, numbers)
        total += n
    return total


def of_atom(atom: Atom, numbers: Numbers) -> int:
    """The number that an atom is."""
    if atom.kind == "symbol":
        return numbers[atom]
    if atom.kind == "ite":
        condition, then, otherwise = atom.arguments
        return value(then if holds(condition, numbers) else otherwise, numbers)
    a, b = (value(one, numbers) if isinstance(one, Term) else one for one in atom.arguments)
    return OPERATIONS[atom.kind](a, b)


def towards_zero(a: int, b: int) -> int:
    """The quotient as C has it; of a division by zero some number."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    """Of that quotient."""
    return 0 if b == 0 else a - b * towards_zero(a, b)


OPERATIONS: Final[dict[str, Callable[[int, int], int]]] = {
    "div": lambda a, k: a // k,
    "mod": lambda a, k: a % k,
    "min": min,
    "product": lambda a, b: a * b,
    "quotient": towards_zero,
    "truncated": towards_zero,
    "remainder": remainder,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b if 0 <= b <= terms.MOST_SHIFT else 0,
    "shr": lambda a, b: a >> b if 0 <= b <= terms.MOST_SHIFT else 0,
}


def holds(condition: Condition, numbers: Numbers) -> bool:
    """Whether a condition holds."""
    match condition.kind:
        case "true" | "false":
            return condition.kind == "true"
        case "and":
            return all(holds(one, numbers) for one in condition.parts)
        case "or":
            return any(holds(one, numbers) for one in condition.parts)
    assert condition.term is not None
    number = value(condition.term, numbers)
    return number <= 0 if condition.kind == "le" else (number == 0) == (condition.kind == "eq")


def natural(term: Term) -> Range:
    """What is known everywhere."""
    return terms.natural_range(term)


@dataclass(frozen=True)
class Drawn:
    """A term and what it must be: made by the operations' own meaning, beside the terms' rules."""

    term: Term
    is_: Callable[[Numbers], int]


def numbers_of(known: Symbols, depth: int = 3) -> st.SearchStrategy[Drawn]:
    """Terms made by every operation there is."""
    leaf = st.one_of(
        st.integers(-5, 5).map(lambda n: Drawn(terms.number(n), lambda _: n)),
        st.sampled_from(known.atoms).map(lambda atom: Drawn(terms.of(atom), lambda numbers: numbers[atom])),
    )
    if not depth:
        return leaf
    inner = numbers_of(known, depth - 1)
    factor = st.integers(1, 6)
    return st.one_of(
        leaf,
        st.builds(lambda a, b: Drawn(a.term + b.term, lambda n: a.is_(n) + b.is_(n)), inner, inner),
        st.builds(lambda a, b: Drawn(a.term - b.term, lambda n: a.is_(n) - b.is_(n)), inner, inner),
        st.builds(lambda a, b: Drawn(a.term * b.term, lambda n: a.is_(n) * b.is_(n)), inner, inner),
        st.builds(lambda a, k: Drawn(terms.floor_div(a.term, k, natural), lambda n: a.is_(n) // k), inner, factor),
        st.builds(lambda a, k: Drawn(terms.floor_mod(a.term, k, natural), lambda n: a.is_(n) % k), inner, factor),
        st.builds(
            lambda a, b: Drawn(terms.lesser(a.term, b.term, natural), lambda n: min(a.is_(n), b.is_(n))), inner, inner
        ),
        st.builds(
            lambda a, b: Drawn(terms.greater(a.term, b.term, natural), lambda n: max(a.is_(n), b.is_(n))), inner, inner
        ),
        st.builds(_joined, inner, factor),
        st.builds(_chosen, inner, inner, inner, inner),
        st.builds(_operation, st.sampled_from(sorted(set(OPERATIONS) - {"div", "mod"})), inner, inner),
    )


def _joined(a: Drawn, k: int) -> Drawn:
    """`a div k * k + a mod k` is a."""
    whole = terms.floor_div(a.term, k, natural).times(k) + terms.floor_mod(a.term, k, natural)
    return Drawn(whole, a.is_)


def _chosen(a: Drawn, b: Drawn, then: Drawn, otherwise: Drawn) -> Drawn:
    found = either(conditions.less(a.term, b.term), then.term, otherwise.term)
    assert isinstance(found, Term)
    return Drawn(found, lambda n: then.is_(n) if a.is_(n) < b.is_(n) else otherwise.is_(n))


def _operation(kind: str, a: Drawn, b: Drawn) -> Drawn:
    made = terms.of(terms.atom(kind, (a.term, b.term), None, None))
    return Drawn(made, lambda n: OPERATIONS[kind](a.is_(n), b.is_(n)))


@dataclass(frozen=True)
class Said:
    """A condition and whether it must hold."""

    condition: Condition
    is_: Callable[[Numbers], bool]


def said(known: Symbols, depth: int = 2) -> st.SearchStrategy[Said]:
    """Conditions over small terms."""
    number = numbers_of(known, 1)
    leaf = st.one_of(
        st.builds(lambda a, b: Said(conditions.less(a.term, b.term), lambda n: a.is_(n) < b.is_(n)), number, number),
        st.builds(
            lambda a, b: Said(conditions.at_most(a.term, b.term), lambda n: a.is_(n) <= b.is_(n)), number, number
        ),
        st.builds(lambda a, b: Said(conditions.equal(a.term, b.term), lambda n: a.is_(n) == b.is_(n)), number, number),
        st.builds(
            lambda a, b: Said(conditions.unequal(a.term, b.term), lambda n: a.is_(n) != b.is_(n)), number, number
        ),
    )
    if not depth:
        return leaf
    inner = said(known, depth - 1)
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        leaf,
        inner.map(lambda one: Said(conditions.negation(one.condition), lambda n: not one.is_(n))),
        several.map(
            lambda all_: Said(conditions.all_of(a.condition for a in all_), lambda n: all(a.is_(n) for a in all_))
        ),
        several.map(
            lambda any_: Said(conditions.any_of(a.condition for a in any_), lambda n: any(a.is_(n) for a in any_))
        ),
    )
