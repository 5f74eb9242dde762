"""Integer arithmetic of kernels as terms. What may leave its type is written down; unsigned integers wrap."""

from __future__ import annotations

from kbuild.audit import conditions, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.proving import Facts
from kbuild.audit.run import Run, State
from kbuild.audit.terms import UNIFORM, Term
from kbuild.audit.values import range_of_type
from kbuild.errors import Span
from kbuild.ir.types import Scalar, Type

_MOST_BITS = 64


def binary(run: Run, op: str, a: Term, b: Term, type: Type, state: State, span: Span | None) -> Term:
    """The result of an operation on two integers of a type."""
    facts = run.facts(state.path)
    match op:
        case "add" | "sub" | "mul":
            exact = a + b if op == "add" else a - b if op == "sub" else a * b
            return _fitting(run, exact, type, state, span, facts, op == "mul")
        case "shl":
            if b.is_constant and 0 <= b.constant < _MOST_BITS:
                return _fitting(run, a.times(1 << b.constant), type, state, span, facts, True)
            low, high = facts.range_of(b)
            if a.is_constant and low is not None and high is not None and low >= 0 and high < 8 * type.size:
                return _fitting(run, terms.of(terms.atom("shl", (a, b), None, None)), type, state, span, facts, True)
            return _call("shl", a, b, type)
        case "shr":
            if b.is_constant and 0 <= b.constant < _MOST_BITS:
                return terms.floor_div(a, 1 << b.constant, facts.range_of)
            low, _ = facts.range_of(a)
            if low is not None and low >= 0:
                return terms.of(terms.atom("shr", (a, b), None, None))
            return _call("shr", a, b, type)
        case "div" | "mod" | "floordiv":
            return _divided(run, op, a, b, type, state, facts)
        case "and" | "or" | "xor":
            return _bits(op, a, b, type, facts)
    return _call(op, a, b, type)


def _fitting(
    run: Run, exact: Term, type: Type, state: State, span: Span | None, facts: Facts, is_product: bool
) -> Term:
    assert isinstance(type, Scalar)
    if type.kind == "uint":
        return wrapped(exact, type, facts)
    run.fits(exact, type, state, span, is_product)
    return exact


def wrapped(exact: Term, type: Type, facts: Facts) -> Term:
    """The integer modulo 2^bits, in the range of its type."""
    least, most = range_of_type(type)
    assert least is not None
    assert most is not None
    low, high = facts.range_of(exact)
    if low is not None and high is not None and least <= low and high <= most:
        return exact
    if least == 0 and facts.at_least_zero(exact) and facts.at_least_zero(terms.number(most) - exact):
        return exact
    return terms.floor_mod(exact - least, most - least + 1, facts.range_of) + least


def converted(value: Term, type: Type, facts: Facts) -> Term:
    """An integer in another type: its low bits."""
    return wrapped(value, type, facts)


def _divided(run: Run, op: str, a: Term, b: Term, type: Type, state: State, facts: Facts) -> Term:
    """Both truncate towards zero; of what is not negative that is the floor."""
    if is_number_of_launch(b) and not facts.at_least_zero(b - 1):
        # Nobody divides by what may be zero or less: it is taken for granted, and said.
        run.take_for_granted(conditions.at_most(terms.ONE, b), f"{b} >= 1")
        facts = run.facts(state.path)
    is_positive = facts.at_least_zero(a)
    if b.is_constant and b.constant > 0 and is_positive:
        return (terms.floor_mod if op == "mod" else terms.floor_div)(a, b.constant, facts.range_of)
    if not facts.at_least_zero(b - 1):
        return _call(op, a, b, type)
    if is_positive:
        if facts.at_least_zero(b - a - 1):  # a < b
            return a if op == "mod" else terms.ZERO
        quotient = terms.of(terms.atom("quotient", (a, b), None, None))
        return a - b * quotient if op == "mod" else quotient
    return terms.of(terms.atom("remainder" if op == "mod" else "truncated", (a, b), None, None))


def is_number_of_launch(term: Term) -> bool:
    """A scalar that the launch gives."""
    atoms = list(term.atoms())
    return len(atoms) == 1 and term == terms.of(atoms[0]) and atoms[0].kind == "symbol" and atoms[0].level == UNIFORM


def _bits(op: str, a: Term, b: Term, type: Type, facts: Facts) -> Term:
    if a.is_constant and not b.is_constant:
        a, b = b, a
    if a.is_constant and b.is_constant:
        x, y = a.constant, b.constant
        return terms.number(x & y if op == "and" else x | y if op == "or" else x ^ y)
    if op == "and" and b.is_constant:
        mask = b.constant
        if mask == 0:
            return terms.ZERO
        if mask > 0 and mask & (mask + 1) == 0:
            return terms.floor_mod(a, mask + 1, facts.range_of)
        if mask < 0 and -mask & (-mask - 1) == 0:
            return a - terms.floor_mod(a, -mask, facts.range_of)
    if op in ("or", "xor") and b == terms.ZERO:
        return a
    if op == "xor" and b.is_constant and b.constant > 0 and b.constant & (b.constant - 1) == 0:
        bit = terms.floor_mod(terms.floor_div(a, b.constant, facts.range_of), 2, facts.range_of)
        return a + b - bit.times(2 * b.constant)
    return terms.of(terms.atom(op, (a, b), *range_of_type(type), type.spelling))


def _call(op: str, a: Term, b: Term, type: Type) -> Term:
    """Of operands that nothing is known of."""
    return terms.of(terms.atom(f"any {op}", (a, b), *range_of_type(type)))


def compare(op: str, a: Term, b: Term) -> Condition:
    """A comparison of two integers."""
    match op:
        case "lt":
            return conditions.less(a, b)
        case "le":
            return conditions.at_most(a, b)
        case "gt":
            return conditions.less(b, a)
        case "ge":
            return conditions.at_most(b, a)
        case "eq":
            return conditions.equal(a, b)
    return conditions.unequal(a, b)


def intrinsic(run: Run, name: str, values: list[Term], state: State) -> Term | None:
    """A function of integers that terms express; None for others."""
    facts = run.facts(state.path)
    match name, values:
        case "min", [a, b]:
            return terms.lesser(a, b, facts.range_of)
        case "max", [a, b]:
            return terms.greater(a, b, facts.range_of)
        case "abs", [a]:
            return terms.greater(a, -a, facts.range_of)
    return None
