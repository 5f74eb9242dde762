"""Two threads at one place in memory, one of them storing, and nothing between them.

Two threads are looked at, any two: the second one's terms are those of the first with its own symbols. In shared memory
they are of one block, and a barrier parts what stands before from what stands behind it; in arrays they may be of two
blocks as well, which no barrier parts.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from kbuild.audit import conditions, terms
from kbuild.audit.answers import DISPUTED, LATE, PROVED, Answer, Judge, solved
from kbuild.audit.conditions import Condition
from kbuild.audit.lanes import Integers, NoNumber
from kbuild.audit.places import WARP
from kbuild.audit.proving import Facts
from kbuild.audit.records import Access, Counter, Phases
from kbuild.audit.substitution import Other
from kbuild.audit.terms import DATA, LOOP, STORED, SYNC, THREAD, UNIFORM, Atom, Monomial, Term, deep_atoms

MOST_MEETINGS: Final = 8  # that are looked at
NOT_FOLLOWED: Final = "order by atomics is not followed"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two accesses, of two threads: of one block or of two."""

    one: Access
    two: Access
    is_in_block: bool
    answer: Answer


def pairs(judge: Judge) -> Iterator[Pair]:
    """Every two accesses that could meet. Of those in the same two lines only the first that is found."""
    by_memory: dict[int, list[Access]] = defaultdict(list)
    for access in judge.records.accesses:
        by_memory[id(access.memory)].append(access)
    for accesses in by_memory.values():
        if all(one.kind == "read" for one in accesses) or accesses[0].memory.space == "constant":
            continue
        accesses = _distinct(accesses)
        done: set[tuple[object, object]] = set()
        for one, two in itertools.combinations_with_replacement(accesses, 2):
            if not _conflict(one, two):
                continue
            lines = (one.span, two.span)
            for is_in_block in _places(judge, one):
                if lines in done:
                    break
                answer = _meet(judge, one, two, is_in_block)
                judge.explain(_check(one), one.span, functools.partial(_text, one, two), answer, "inequalities")
                if answer.verdict == "found":
                    done.add(lines)
                yield Pair(one, two, is_in_block, answer)


def disputed(judge: Judge, met: Iterable[Pair]) -> int:
    """Bits of arrays in shared memory for which there may be a race, though threads are taken to read the same there;
    with that of loops, whose variables do not say where they come from. 0 where there are none."""
    found = 0
    for pair in met:
        found |= pair.one.memory.bit if pair.answer.verdict != "proved" else 0
    found &= judge.records.told
    return found | LOOP if found else 0


def undisputed(met: Iterable[Pair], bits: int) -> Iterator[Pair]:
    """The same, where proofs that rest on these arrays are none."""
    for pair in met:
        taint = pair.one.path.taint | pair.two.path.taint
        for index in (*pair.one.indices, *pair.two.indices):
            taint |= index.taint
        yield replace(pair, answer=DISPUTED) if taint & bits and pair.answer.verdict == "proved" else pair


def _check(one: Access) -> str:
    return "shared-races" if one.memory.space == "shared" else "global-races"


def _text(one: Access, two: Access) -> str:
    texts = (f"{access.kind} of {access.memory.name}[{', '.join(map(str, access.indices))}]" for access in (one, two))
    return f"{' and '.join(texts)} of another thread"


def _distinct(accesses: list[Access]) -> list[Access]:
    """Without those that are the same in everything that counts."""
    found: dict[tuple[object, ...], Access] = {}
    for one in accesses:
        phases = (tuple(one.phases.items()), tuple(one.warp_phases.items()))
        key = (one.indices, one.kind, one.path, phases, one.part, one.scope, one.span)
        found.setdefault(key, one)
    return list(found.values())


def _places(judge: Judge, one: Access) -> list[bool]:
    if one.memory.space == "shared":
        return [True]
    return [True, False] if judge.place.is_whole else [False]


def _conflict(one: Access, two: Access) -> bool:
    """One of them stores, they touch the same bytes of an element, and they are not both atomic for each other."""
    if one.kind == "read" and two.kind == "read":
        return False
    if not (one.offset < two.offset + two.size and two.offset < one.offset + one.size):
        return False
    if one.kind == "atomic" and two.kind == "atomic":
        return "block" in (one.scope, two.scope) and one.memory.space != "shared"
    return True


def _meet(judge: Judge, one: Access, two: Access, is_in_block: bool) -> Answer:
    """Whether two threads can meet there: in the same trip of a loop around both, or in neighbouring ones; where trips
    may pass no barrier, in any two."""
    answer = _met(judge, one, two, is_in_block, frozenset())
    if answer.verdict != "proved" or not is_in_block:
        return answer
    loose = judge.records.loose & {atom for access in (one, two) for number in access.loops for atom in number.atoms()}
    if loose and _met(judge, one, two, is_in_block, frozenset(judge.records.loose)).verdict != "proved":
        return Answer("unknown", "", "a loop around it may pass no barrier for several trips")
    return answer


def _met(judge: Judge, one: Access, two: Access, is_in_block: bool, loose: frozenset[Atom]) -> Answer:
    if one.kind == two.kind == "atomic" and is_in_block:
        return PROVED
    if is_in_block and one.phases.keys().isdisjoint(two.phases):
        return PROVED
    if is_in_block and one.memory.space == "shared":
        met = _by_counting(judge, one, two)
        if met is not None and not met:
            return PROVED
    if judge.is_late():
        return LATE
    other, general = judge.second(is_in_block, loose)
    known: list[Condition] = [one.path, other.condition(two.path)]
    if is_in_block:
        together = _together(one.phases, two.phases, other)
        if together.kind == "false":
            return PROVED
        known.append(together)
        in_warp = _together(one.warp_phases, two.warp_phases, other)
        if in_warp.kind != "true":
            apart = judge.place.in_other_warps(other, judge.facts(conditions.TRUE))
            known.append(conditions.any_of((in_warp, apart)))
    components = _components(one, two)
    own = [*one.indices, *components[:1]]
    others = [other.term(index) for index in (*two.indices, *components[1:])]
    equations = [a - b for a, b in zip(own, others, strict=False)]
    if any(conditions.equal(one, terms.ZERO).kind == "false" for one in equations):
        return PROVED
    distinct = conditions.any_of(judge.place.apart(other))
    if distinct.kind == "false":
        return PROVED
    known.append(distinct)
    known += _unique(judge, own, other)
    facts = Facts(known, general)
    if facts.refutes():
        return PROVED
    equations = list(_split(own, others, facts))
    if any(facts.at_least_zero(one - 1) or facts.at_least_zero(-one - 1) for one in equations):
        return PROVED
    if solved(facts.conditions, equations).refutes():
        return PROVED
    equal = [conditions.equal(one, terms.ZERO) for one in equations]
    paths = [one.path, two.path]
    relevant = [*own, *others]
    fine = one.memory.bit
    rather = _rather(judge, one, two, other)
    if _is_data(one.indices) and _is_data(two.indices) and not _is_update(one, two):
        # Whatever arrays hold: two threads take their index from one element.
        same = list(_same_elements(own, other))
        known_same = [*known, *equal, *same]
        answer = judge.answer(known_same, relevant, paths, other, is_data_fine=True, fine=fine, rather=rather)
        if answer.verdict == "found":
            return answer
    is_data_fine = (_is_update(one, two) and _is_of_data_alone(one, two)) or _is_data(one.indices) != _is_data(
        two.indices
    )
    answer = judge.answer([*known, *equal], relevant, paths, other, is_data_fine, fine, rather=rather)
    if _may_be_ordered(judge, one, two, is_in_block):
        return answer if answer.verdict != "found" else replace(answer, verdict="unknown", reason=NOT_FOLLOWED)
    if answer.verdict == "unknown" and _is_seen_alone(one, two):
        # Nothing orders the two, whatever the one has been told: that it comes there at all is enough.
        answer = judge.answer([*known, *equal], relevant, paths, other, is_data_fine, ~DATA & ~LOOP, rather=rather)
    return answer


def _components(one: Access, two: Access) -> list[Term]:
    """The numbers of a vector or matrix that the two touch, where these decide whether they touch the same."""
    a, b = one.part, two.part
    if a.component is None or b.component is None or (a.offset, a.size, a.width) != (b.offset, b.size, b.width):
        return []
    return [a.component, b.component]


def _rather(judge: Judge, one: Access, two: Access, other: Other) -> list[Condition]:
    """What makes an example that runs: nothing else goes wrong before."""
    if judge.solver is None:
        return []
    return [*_within(judge, one), *map(other.condition, _within(judge, two))]


def _within(judge: Judge, one: Access) -> list[Condition]:
    """That what arrays hold leads a thread beyond none of them on its way there, in the first trips of its loops."""
    path = set(conditions.conjuncts(one.path))
    found: dict[Condition, None] = {}
    for access in judge.records.accesses:
        if (
            access.order <= one.order
            and _is_data(access.indices)
            and path.issuperset(conditions.conjuncts(access.path))
        ):
            for index, extent in zip(access.indices, access.memory.extents, strict=False):
                found[conditions.at_most(terms.ZERO, index)] = None
                found[conditions.less(index, extent)] = None
    if found:
        found.update((conditions.equal(number, terms.ZERO), None) for number in one.loops)
    return list(found)


def _is_data(indices: tuple[Term, ...]) -> bool:
    """An index is what an array holds."""
    return any(term.taint & DATA for term in indices)


def _is_of_data_alone(one: Access, two: Access) -> bool:
    """No index is a sum of what an array holds and of a place that each thread has of its own, as in rows that begin
    where an array says: those do not overlap."""
    for term in (*one.indices, *two.indices):
        of_thread = [monomial for monomial, _ in term.parts if any(atom.level == THREAD for atom in monomial)]
        if len(of_thread) > 1 and term.taint & DATA:
            return False
    return True


def _same_elements(own: list[Term], other: Other) -> Iterator[Condition]:
    """That both threads take what an array holds from the same element."""
    for atom in {atom for term in own for atom in deep_atoms(term) if atom.kind == "load"}:
        for index in atom.arguments:
            yield conditions.equal(index, other.term(index))


def _by_counting(judge: Judge, one: Access, two: Access) -> list[tuple[int, int]] | None:
    """Threads of a block that meet, by their numbers, where indices are a matter of these alone; None elsewhere.

    A path that depends on more counts as taken.
    """
    lanes = judge.block_lanes()
    try:
        places = [[lanes.term(index) for index in access.indices] for access in (one, two)]
    except NoNumber:
        return None
    first, second = (np.flatnonzero(lanes.active(access.path)) for access in (one, two))
    columns: list[Integers] = []
    for a, b in zip(*places, strict=True):
        columns.append(np.concatenate([a[first], b[second]]))
    _, numbers = np.unique(np.stack(columns), axis=1, return_inverse=True)
    numbers = numbers.ravel()
    own, other = numbers[: len(first)], numbers[len(first) :]
    if one is two or (one.path == two.path and one.indices == two.indices):
        order = np.argsort(own, kind="stable")
        same = np.flatnonzero(own[order][1:] == own[order][:-1])
        return [(int(first[order[i]]), int(first[order[i + 1]])) for i in same[:MOST_MEETINGS]]
    met: list[tuple[int, int]] = []
    where: dict[int, list[int]] = {}
    for thread, number in zip(second, other, strict=True):
        where.setdefault(int(number), []).append(int(thread))
    are_in_warps = not set(one.warp_phases) & set(two.warp_phases)
    for thread, number in zip(first, own, strict=True):
        for another in where.get(int(number), ()):
            if another != thread and not (are_in_warps and another // WARP == thread // WARP):
                met.append((int(thread), another))
                if len(met) >= MOST_MEETINGS:
                    return met
    return met


def _is_update(one: Access, two: Access) -> bool:
    """What is loaded, changed and stored again: an atomic was meant."""
    return one.is_update or two.is_update


def _may_be_ordered(judge: Judge, one: Access, two: Access, is_in_block: bool) -> bool:
    """A release behind the one access and an acquire before the other may put them in an order."""
    ordering = [
        a for a in judge.records.accesses if a.memory_order != "relaxed" and (is_in_block or a.scope != "block")
    ]
    released = [one for one in ordering if one.memory_order in ("release", "acq_rel")]
    acquired = [one for one in ordering if one.memory_order in ("acquire", "acq_rel")]
    return any(
        any(_comes(first, a) for a in released) and any(_comes(a, second) for a in acquired)
        for first, second in ((one, two), (two, one))
    )


def _comes(one: Access, two: Access) -> bool:
    """A thread may come to the second after the first."""
    return one.order <= two.order or not {*one.loops}.isdisjoint(two.loops)


def _is_seen_alone(one: Access, two: Access) -> bool:
    """One of the two happens without a word from others, and the other where a thread has been told something that has
    nothing to do with which thread it is: no word keeps them apart."""
    told = [path for path in (one.path, two.path) if _words(path)]
    return len(told) == 1 and all(map(_is_word, _words(told[0])))


def _words(path: Condition) -> list[Condition]:
    return [part for part in conditions.conjuncts(path) if part.taint & SYNC or part.taint >= STORED]


def _is_word(condition: Condition) -> bool:
    """It compares what an atomic gave back, or what lies in memory, with what is the same for all."""
    atoms = [atom for term in condition.terms() for atom in deep_atoms(term)]
    return bool(atoms) and all(
        atom.level == UNIFORM or atom.taint >= STORED or atom.name.startswith("atomic_") for atom in atoms
    )


def _together(one: Phases, two: Phases, other: Other) -> Condition:
    """That they are in one stretch between barriers."""
    return conditions.any_of(
        conditions.all_of((one[phase], other.condition(two[phase]))) for phase in one if phase in two
    )


def _unique(judge: Judge, own: list[Term], other: Other) -> Iterator[Condition]:
    """Numbers that atomics give: no two threads have the same from one element. Each block has shared memory of its
    own."""
    for atom in dict.fromkeys(atom for term in own for atom in deep_atoms(term)):
        counter = atom.unique
        if not isinstance(counter, Counter) or counter.memory.name in judge.records.recounted:
            continue
        if counter.memory.space == "global" or other.least == THREAD:
            elsewhere = [conditions.unequal(index, other.term(index)) for index in counter.indices]
            yield conditions.any_of([*elsewhere, conditions.unequal(terms.of(atom), other.atom(atom))])


def _split(own: list[Term], others: list[Term], facts: Facts) -> Iterator[Term]:
    """Equations between indices, taken apart into their digits: `i * w + j == i' * w + j'`, with j and j' from 0 to
    below w, means i == i' and j == j'."""
    for a, b in zip(own, others, strict=False):
        yield from _digits(a, b, facts)


def _digits(a: Term, b: Term, facts: Facts, depth: int = 4) -> Iterator[Term]:
    weights = _weights(a - b) if depth else []
    for weight, n in weights:
        high_a, low_a = _by(a, weight, n)
        high_b, low_b = _by(b, weight, n)
        if not high_a.parts or not high_b.parts or (high_a, low_a) == (a, terms.ZERO):
            continue
        size = Term(0, ((weight, n),)) if weight else terms.number(n)
        difference = low_a - low_b
        if difference == terms.ZERO or (
            facts.at_least_zero(size - 1 - difference) and facts.at_least_zero(size - 1 + difference)
        ):
            yield from _digits(high_a, high_b, facts, depth - 1)
            if difference != terms.ZERO:
                yield from _digits(low_a, low_b, facts, depth - 1)
            return
    yield a - b


def _weights(term: Term) -> list[tuple[Monomial, int]]:
    """Uniform factors, the largest first as far as that can be seen."""
    found: dict[tuple[Monomial, int], None] = {}
    for monomial, n in term.parts:
        factor = tuple(atom for atom in monomial if atom.level == UNIFORM)
        if factor != monomial and (factor or abs(n) > 1):
            found[factor, abs(n)] = None
    return sorted(found, key=lambda one: (-len(one[0]), -one[1]))


def _by(term: Term, weight: Monomial, n: int) -> tuple[Term, Term]:
    """(quotient, rest) of a division by `n * weight`, part by part."""
    quotient, rest = terms.ZERO, terms.number(term.constant)
    for monomial, m in term.parts:
        left = list(monomial)
        for atom in weight:
            if atom in left:
                left.remove(atom)
            else:
                left = []
                break
        if left and len(left) == len(monomial) - len(weight) and m % n == 0:
            quotient = quotient + Term(0, ((tuple(left), m // n),))
        else:
            rest = rest + Term(0, ((monomial, m),))
    return quotient, rest
