"""Accesses beyond arrays, vectors and matrices; integer arithmetic beyond its type."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kbuild.audit import conditions, terms
from kbuild.audit.answers import LATE, PROVED, Answer, Judge
from kbuild.audit.conditions import Condition
from kbuild.audit.contracts import natural_most
from kbuild.audit.lanes import NoNumber
from kbuild.audit.proving import Facts
from kbuild.audit.records import Access, Arithmetic, Component, Counter
from kbuild.audit.terms import DATA, THREAD, UNIFORM, Atom, Term
from kbuild.audit.values import range_of_type
from kbuild.errors import Span
from kbuild.ir.types import Scalar

LEAST: Final = -(2**31)  # what an index is where nobody has limited it
MOST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Beyond:
    """One obligation: `index` from 0 to below `extent` of `what`, along `axis`."""

    what: str
    axis: int
    index: Term
    extent: Term
    span: Span | None
    kind: str
    path: Condition
    answer: Answer


def accesses(judge: Judge) -> Iterator[Beyond]:
    """Every axis of every access, each index once a path."""
    seen: dict[tuple[object, ...], Answer] = {}
    for access in judge.records.accesses:
        for axis, (index, extent) in enumerate(zip(access.indices, access.memory.extents, strict=False)):
            key = (access.memory.name, axis, index, access.path)
            if key not in seen:
                seen[key] = _inside(judge, index, extent, access.path, _is_free(judge, access, extent))
            answer = seen[key]
            what = f"{access.memory.name}[…]"
            question = functools.partial(_question, index, extent)
            judge.explain("bounds", access.span, question, answer, "inequalities", conditions.conjuncts(access.path))
            yield Beyond(what, axis, index, extent, access.span, access.kind, access.path, answer)


def _question(index: Term, extent: Term) -> str:
    return f"0 <= {index} < {extent}"


def components(judge: Judge) -> Iterator[Beyond]:
    """Components of vectors and matrices."""
    for one in judge.records.components:
        yield _component(judge, one)


def _component(judge: Judge, one: Component) -> Beyond:
    extent = terms.number(one.extent)
    answer = _inside(judge, one.index, extent, one.path, False)
    judge.explain("bounds", one.span, functools.partial(_question, one.index, extent), answer, "inequalities")
    return Beyond(one.name, 0, one.index, extent, one.span, "component", one.path, answer)


def _is_free(judge: Judge, access: Access, extent: Term) -> bool:
    """Nothing says how large the array is."""
    if extent.is_constant or judge.contracts.is_told(extent):
        return False
    least = [one for one in judge.contracts.known.get(extent, ()) if not one.is_constant]
    return not least or not all(map(_is_clear, least))


def _is_clear(least: Term) -> bool:
    """A size that somebody has meant: `n`, `height * width`. Of others no example can be made that convinces."""
    return least.constant == 0 and len(least.parts) == 1 and all(a.kind == "symbol" for a in least.atoms())


def _inside(judge: Judge, index: Term, extent: Term, path: Condition, is_free: bool) -> Answer:
    if judge.is_late():
        return LATE
    facts = judge.facts(path)
    low, high = conditions.at_most(terms.ZERO, index), conditions.less(index, extent)
    is_above, is_below = facts.proves(low), facts.proves(high)
    if is_above and is_below:
        return PROVED
    if index.level == THREAD and extent.is_constant and _is_inside_by_counting(judge, index, extent, path):
        return PROVED
    sides = [one for one, good in ((low, is_above), (high, is_below)) if not good]
    inside = set(terms.deep_atoms(index))
    counts = frozenset(filter(_is_count, inside))
    if index.taint & DATA or counts or any(atom.kind == "call" for atom in inside):
        # The source has limited it, and wrongly: an example may choose what arrays hold and functions give.
        for side in sides:
            if _is_limited(side is high, index, facts, path):
                answer = judge.answer(
                    [path, conditions.negation(side)], [index], [path], is_data_fine=True, free=counts
                )
                if answer.verdict == "found":
                    return answer
    answer = judge.answer([path, conditions.any_of(map(conditions.negation, sides))], [index], [path])
    if answer.verdict == "found" and is_free and is_above:
        return Answer("unknown", answer.rule, f"nothing says how large {extent} is", answer.model)
    return answer


def _is_count(atom: Atom) -> bool:
    """What an atomic counts up in an array: where it begins, the launch says."""
    return isinstance(atom.unique, Counter) and atom.unique.memory.space == "global"


def _is_inside_by_counting(judge: Judge, index: Term, extent: Term, path: Condition) -> bool:
    """Where the index is a matter of the thread's number alone: thread by thread."""
    lanes = judge.block_lanes()
    try:
        values = lanes.term(index)[lanes.active(path)]
    except NoNumber:
        return False
    return bool(((values >= 0) & (values < extent.constant)).all())


def _is_limited(at_end: bool, index: Term, facts: Facts, path: Condition) -> bool:
    """The source bounds what arrays hold on this side."""
    if at_end and natural_most(index, facts, path) is not None:
        return True
    return _has_limit(index, at_end, facts)


def _has_limit(term: Term, at_end: bool, facts: Facts) -> bool:
    """A bound on this side that is more than the range of the elements themselves: `where[i] + 3` has none."""
    for monomial, n in term.parts:
        if len(monomial) > 1:
            if any(atom.taint & DATA for atom in monomial):
                return False
            continue
        atom, is_most = monomial[0], at_end == (n > 0)
        if not atom.taint & DATA and atom.kind != "call":
            continue
        match atom.kind:
            case "load" | "call":
                low, high = facts.range_of_atom(atom)
                # Near the ends of the type nobody has limited it: something has been added, or it is below another.
                is_limited = high is not None and high < MOST // 2 if is_most else low is not None and low > LEAST // 2
            case "ite":
                _, then, otherwise = atom.arguments
                is_limited = all(_has_limit(one, is_most, facts) for one in (then, otherwise))
            case "min":
                each = [_has_limit(one, is_most, facts) for one in atom.arguments]
                is_limited = any(each) if is_most else all(each)
            case "div":
                is_limited = _has_limit(atom.arguments[0], is_most, facts)
            case _:
                low, high = facts.range_of_atom(atom)
                is_limited = (high if is_most else low) is not None
        if not is_limited:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Overflow:
    """One result that must fit its type."""

    arithmetic: Arithmetic
    answer: Answer


def overflows(judge: Judge) -> Iterator[Overflow]:
    """Arithmetic that may leave its type, each result once."""
    seen: set[tuple[Term, Condition]] = set()
    for one in judge.records.arithmetic:
        if (one.result, one.path) in seen:
            continue
        seen.add((one.result, one.path))
        yield Overflow(one, _fits(judge, one))


def _fits(judge: Judge, one: Arithmetic) -> Answer:
    assert isinstance(one.type, Scalar)
    least, most = range_of_type(one.type)
    assert least is not None
    assert most is not None
    if judge.is_late():
        return LATE
    facts = judge.facts(one.path)
    if facts.at_least_zero(one.result - least) and facts.at_least_zero(terms.number(most) - one.result):
        return PROVED
    counted = _fits_by_counting(judge, one, least, most)
    if counted is not None:
        return counted
    free = [atom.name for atom in terms.deep_atoms(one.result) if _is_unlimited(atom, facts)]
    if free:
        return Answer("unknown", "", f"nothing says how large {free[0]} is")
    if one.result.taint & DATA and not one.is_product:
        return Answer("unknown", "", "it depends on the contents of arrays")
    bad = conditions.any_of(
        [
            conditions.less(one.result, terms.number(least)),
            conditions.less(terms.number(most), one.result),
        ]
    )
    limits = [*judge.place.limits, *judge.contracts.limits]
    return judge.answer([one.path, bad, *limits], [one.result], [one.path], is_data_fine=True, is_large=True)


def _is_unlimited(atom: Atom, facts: Facts) -> bool:
    """A number that the launch gives, and of which nothing is known."""
    if atom.kind != "symbol" or atom.level != UNIFORM:
        return False
    _, high = facts.range_of_atom(atom)
    return atom.low is not None and atom.low < 0 and (high is None or high >= MOST)


def _fits_by_counting(judge: Judge, one: Arithmetic, least: int, most: int) -> Answer | None:
    """Where the result is a matter of the thread's number alone: thread by thread."""
    lanes = judge.block_lanes()
    try:
        values = lanes.term(one.result)
    except NoNumber:
        return None
    inside = (values >= least) & (values <= most)
    if inside[lanes.active(one.path)].all():
        return PROVED
    try:
        active = lanes.condition(one.path)
    except NoNumber:
        return None
    return PROVED if inside[active].all() else Answer("found", "thread by thread")
