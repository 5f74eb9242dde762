"""Conditions over terms: `t <= 0`, `t == 0`, what is not known, and what is made of these.

at_most(i, n - 1)  →  Condition("le", i - n + 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kbuild.audit.terms import UNIFORM, Term


class Condition:
    """`kind`: "true", "false", "le" (term <= 0), "eq" (term == 0), "ne", "and", "or", or "opaque" (with a key).

    An opaque one equals others of its key; `is_negated` turns it around. `level` and `taint` are as those of terms.
    """

    __slots__ = ("_hash", "is_negated", "key", "kind", "level", "negation", "parts", "taint", "term")

    def __init__(
        self,
        kind: str,
        term: Term | None = None,
        parts: tuple[Condition, ...] = (),
        key: Any = None,
        is_negated: bool = False,
        level: int = UNIFORM,
        taint: int = 0,
    ) -> None:
        self.kind, self.term, self.parts, self.key, self.is_negated = kind, term, parts, key, is_negated
        self.level: int
        self.taint: int
        self.negation: Condition | None = None  # once somebody has asked for it
        if term is not None:
            level, taint = term.level, term.taint
        for part in parts:
            level, taint = max(level, part.level), taint | part.taint
        self.level, self.taint = level, taint
        self._hash = hash((kind, term, parts, key, is_negated))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Condition)
            and self._hash == other._hash
            and (self.kind, self.term, self.parts, self.key, self.is_negated)
            == (other.kind, other.term, other.parts, other.key, other.is_negated)
        )

    def terms(self) -> Iterator[Term]:
        """The terms in it."""
        if self.term is not None:
            yield self.term
        for part in self.parts:
            yield from part.terms()

    def __repr__(self) -> str:
        match self.kind:
            case "le":
                return f"{self.term} <= 0"
            case "eq":
                return f"{self.term} == 0"
            case "ne":
                return f"{self.term} != 0"
            case "opaque":
                return ("not " if self.is_negated else "") + f"<{self.key}>"
            case "and" | "or":
                return "(" + f" {self.kind} ".join(map(repr, self.parts)) + ")"
        return self.kind


TRUE = Condition("true")
FALSE = Condition("false")


def truth(value: bool) -> Condition:
    """A condition that is known."""
    return TRUE if value else FALSE


def opaque(key: Any, level: int, taint: int) -> Condition:
    """One that nothing is known of, but that it is the same wherever the key is."""
    return Condition("opaque", key=key, level=level, taint=taint)


def at_most_zero(term: Term) -> Condition:
    """`term <= 0`."""
    if term.is_constant:
        return truth(term.constant <= 0)
    return Condition("le", _reduced(term, is_equation=False))


def less(a: Term, b: Term) -> Condition:
    """`a < b`."""
    return at_most_zero(a - b + 1)


def at_most(a: Term, b: Term) -> Condition:
    """`a <= b`."""
    return at_most_zero(a - b)


def equal(a: Term, b: Term) -> Condition:
    """`a == b`."""
    return _equation("eq", a - b)


def unequal(a: Term, b: Term) -> Condition:
    """`a != b`."""
    return _equation("ne", a - b)


def _equation(kind: str, term: Term) -> Condition:
    if term.is_constant:
        return truth((term.constant == 0) == (kind == "eq"))
    reduced = _reduced(term, is_equation=True)
    if reduced is None:
        return truth(kind == "ne")
    if reduced.parts[0][1] < 0:
        reduced = -reduced
    return Condition(kind, reduced)


def _reduced(term: Term, is_equation: bool) -> Any:
    """Without the common factor of its coefficients; None for an equation that no whole numbers solve."""
    from math import gcd

    factor = gcd(*(n for _, n in term.parts))
    if factor == 1:
        return term
    if is_equation and term.constant % factor:
        return None
    constant = -(-term.constant // factor)  # rounded up: the same whole numbers fulfil it
    return Term(constant, tuple((monomial, n // factor) for monomial, n in term.parts))


def negation(condition: Condition) -> Condition:
    """What holds where the condition does not."""
    found = condition.negation
    if found is None:
        found = condition.negation = _negated(condition)
    return found


def _negated(condition: Condition) -> Condition:
    match condition.kind:
        case "true":
            return FALSE
        case "false":
            return TRUE
        case "le":
            assert condition.term is not None
            return at_most_zero(-condition.term + 1)
        case "eq" | "ne":
            return Condition("ne" if condition.kind == "eq" else "eq", condition.term)
        case "opaque":
            return Condition(
                "opaque",
                key=condition.key,
                is_negated=not condition.is_negated,
                level=condition.level,
                taint=condition.taint,
            )
        case "and":
            return any_of(negation(part) for part in condition.parts)
    return all_of(negation(part) for part in condition.parts)


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Where all hold."""
    return _joined("and", conditions)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Where one of them holds, or more."""
    return _joined("or", conditions)


def _joined(kind: str, conditions: Iterable[Condition]) -> Condition:
    neutral, decided = (TRUE, FALSE) if kind == "and" else (FALSE, TRUE)
    parts: dict[Condition, None] = {}
    for one in conditions:
        if one.kind == decided.kind:
            return decided
        if one.kind == kind:
            parts.update(dict.fromkeys(one.parts))
        elif one.kind != neutral.kind:
            parts[one] = None
    if any(negation(one) in parts for one in parts if one.kind not in ("and", "or")):
        return decided
    if not parts:
        return neutral
    if len(parts) == 1:
        return next(iter(parts))
    if kind == "or":
        return _factored(tuple(parts))
    return Condition(kind, parts=tuple(parts))


def _factored(parts: tuple[Condition, ...]) -> Condition:
    """`(p and q) or (p and not q)` is `p`: so paths come together again behind an `if`."""
    lists = [part.parts if part.kind == "and" else (part,) for part in parts]
    others = [frozenset(part) for part in lists[1:]]
    common = dict.fromkeys(one for one in lists[0] if all(one in other for other in others))
    if not common:
        return Condition("or", parts=parts)
    rests = [all_of(one for one in part if one not in common) for part in lists]
    return all_of([*common, any_of(rests)])


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The conditions that all hold where this one does."""
    if condition.kind == "and":
        return condition.parts
    return () if condition.kind == "true" else (condition,)
