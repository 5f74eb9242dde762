"""What a kernel takes for granted about its launch, where the source does not say it.

    i = tid(); if i < n: out[i] = …       →  out.shape[0] >= n

Kernels seldom say how large their arrays are. An element whose index runs exactly as far as a bound in the source (the
launch's extent, a scalar parameter, another array's extent) tells it: the array has that many. Every other access is
then held against this. The report names what was taken for granted, and a launch can be held against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kbuild.audit import conditions, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.proving import Facts
from kbuild.audit.records import Access, Records
from kbuild.audit.terms import DATA, THREAD, UNIFORM, Atom, Monomial, Term
from kbuild.audit.values import MOST_ELEMENTS
from kbuild.ir.types import is_integer


class Contracts:
    """`facts` are taken for granted; `words` say them."""

    def __init__(self) -> None:
        self.facts: list[Condition] = []
        self.limits: list[Condition] = []  # of how large arrays can be
        self.words: list[str] = []
        self.known: dict[Term, list[Term]] = {}  # extents, and what they are not below
        self.told: set[Term] = set()  # extents that the source itself compares with something
        self.is_empty: set[Term] = set()  # extents of which it asks whether they are 0, and no more
        self.launch: set[Atom] = set()  # what the launch's own extents are
        self.shifts: dict[Term, int] = {}  # extents, and how much further than the threads their elements go

    @property
    def exact(self) -> list[Condition]:
        """Extents are as small as what is known of them lets them be."""
        tight = [
            conditions.any_of(conditions.equal(extent, one) for one in least) for extent, least in self.known.items()
        ]
        return [*self.facts, *tight]

    def is_told(self, extent: Term) -> bool:
        """The source says something of it: nothing more is taken for granted."""
        return extent in self.told

    def fact(self, fact: Condition, words: str) -> None:
        """Something else is so."""
        if fact.kind != "true" and fact not in self.facts:
            self.facts.append(fact)
            self.words.append(words)

    def extent(self, extent: Term, least: Term) -> None:
        """An array has at least so many elements along an axis."""
        fact = conditions.at_most(least, extent)
        if fact.kind == "true" or fact in self.facts:
            return
        self.facts.append(fact)
        self.words.append(f"{extent} >= {least}")
        self.known.setdefault(extent, []).append(least)


def of_records(records: Records, launch: Sequence[Term] = ()) -> Contracts:
    """What the accesses of a run take for granted. `launch` are its extents: numbers that no source says."""
    found = Contracts()
    general = Facts(records.facts)
    found.told, found.is_empty = _told(records)
    found.shifts, found.launch = _shifts(records), {atom for extent in launch for atom in extent.atoms()}
    for pitch, extent in _pitches(records, [one for one in launch if not one.is_constant], general):
        found.fact(conditions.at_most(extent, pitch), f"{pitch} >= {extent}")
    _state(found, records)
    cached: dict[Condition, Facts] = {}
    for want_plain in (True, False):
        for access in records.accesses:
            facts = cached.get(access.path)
            if facts is None:
                facts = cached[access.path] = Facts([access.path], general)
            for index, extent in zip(access.indices, access.memory.extents, strict=False):
                if extent.is_constant or extent in found.told or (extent in found.known and not want_plain):
                    continue
                if index.level == UNIFORM and want_plain and index.taint == 0:
                    _infer_uniform(found, index, extent)
                    continue
                if (_is_plain(index) or not want_plain) and not _is_guarded(index, extent, facts):
                    _infer(found, access, index, extent, facts, want_plain)
    if found.facts and Facts(found.facts, general).refutes():
        return _nothing(found.told)  # a contradiction would prove everything
    _limit_elements(found, records)
    return found


def _state(found: Contracts, records: Records) -> None:
    """Extents that the source gives by an equation."""
    extents = {extent for access in records.accesses for extent in access.memory.extents if not extent.is_constant}
    for fact in records.facts:
        if fact.kind != "eq" or fact.term is None:
            continue
        for extent in extents:
            n = dict(fact.term.parts).get(extent.parts[0][0], 0)
            if abs(n) == 1 and extent not in found.known:
                found.known[extent] = [(fact.term - extent.times(n)).times(-n)]
                break


def _nothing(told: set[Term]) -> Contracts:
    """Nothing is taken for granted."""
    found = Contracts()
    found.told = told
    return found


def _told(records: Records) -> tuple[set[Term], set[Term]]:
    """Extents that the source itself compares with something, or states; and those of which it asks whether the array
    is empty."""
    said = {
        one
        for access in records.accesses
        for one in conditions.conjuncts(access.path)
        if one.kind in ("le", "or")  # that it is the last element says nothing of the others
    }
    compared = {term for one in (*said, *records.facts) for term in one.terms()}
    empty = set(filter(_is_emptiness, compared))
    extents = {extent for access in records.accesses for extent in access.memory.extents}
    found = [_atoms_outside_of_elements(several) for several in (compared - empty, empty)]
    told, asked = ({extent for extent in extents if set(extent.atoms()) & atoms} for atoms in found)
    return told, asked


def _atoms_outside_of_elements(several: Iterable[Term]) -> set[Atom]:
    """Those of terms, not of the indices with which elements are looked up: what these are compared with says nothing
    of how large the array is."""
    seen: set[Atom] = set()
    waiting = [atom for term in several for atom in term.atoms()]
    while waiting:
        atom = waiting.pop()
        if atom not in seen:
            seen.add(atom)
            if atom.kind != "load":
                waiting += (a for one in atom.arguments if isinstance(one, Term) for a in one.atoms())
                waiting += (
                    a for one in atom.arguments if isinstance(one, Condition) for t in one.terms() for a in t.atoms()
                )
    return seen


def _pitches(records: Records, launch: Sequence[Term], facts: Facts) -> Iterator[tuple[Term, Term]]:
    """(number that the launch gives, extent of the launch): `i * width + j`, with i and j places of a thread, means
    that there are no more j than `width`."""
    places = {atom: extent for extent in launch for atom in _coordinates(facts, extent)}
    for access in records.accesses:
        for index in map(_from_beginning, access.indices):
            alone = [m[0] for m, n in index.parts if len(m) == 1 and n == 1 and m[0] in places]
            for monomial, n in index.parts:
                pitches = [a for a in monomial if a.kind == "symbol" and a.level == UNIFORM and a.low != 1]
                if len(monomial) == 2 and n == 1 and len(pitches) == 1 and len(alone) == 1:
                    yield terms.of(pitches[0]), places[alone[0]]


def _from_beginning(index: Term) -> Term:
    """The index as it is written, of one that counts from the end where it is below zero."""
    one = index.parts[0][0][0] if len(index.parts) == 1 and not index.constant else None
    if one is not None and one.kind == "ite" and index == terms.of(one):
        otherwise = one.arguments[2]
        assert isinstance(otherwise, Term)
        return otherwise
    return index


def _coordinates(facts: Facts, extent: Term) -> Iterator[Atom]:
    """Places of a thread that are below an extent of the launch, and below nothing else."""
    for fact in facts.inequalities:
        rest = fact + extent - 1
        if len(rest.parts) == 1 and rest.constant == 0 and len(rest.parts[0][0]) == 1 and rest.parts[0][1] == 1:
            atom = rest.parts[0][0][0]
            if atom.kind == "symbol" and atom.level == THREAD:
                yield atom


def _shifts(records: Records) -> dict[Term, int]:
    """Arrays that have more elements than there are threads: `a[tid() + 1]`, where nothing else of it is looked at, and
    `starts[tid()]` beside `starts[tid() + 1]`, of integers that nobody changes (rows begin there). The launch has the
    threads that there are elements for; where the source itself says how many, nothing is added."""
    constants: dict[Term, set[int]] = {}
    are_starts: dict[Term, bool] = {}
    for access in records.accesses:
        for index, extent in zip(access.indices, access.memory.extents, strict=False):
            if index.level == THREAD and not extent.is_constant:
                constants.setdefault(extent, set()).add(index.constant)
                are_starts[extent] = is_integer(access.memory.element) and not access.memory.is_changed
    found = {}
    for extent, those in constants.items():
        least, most = min(those), max(those)
        if least == most > 0 or (those == {0, 1} and are_starts[extent]):
            found[extent] = most
    return found


def _is_emptiness(term: Term) -> bool:
    """Of `a.shape[0] > 0`, or its opposite: the array is there, and as large as it must be."""
    return len(term.parts) == 1 and (term.constant, term.parts[0][1]) in ((0, 1), (1, -1))


def _infer_uniform(found: Contracts, index: Term, extent: Term) -> None:
    """`loss[0]`, `control[step]`: it is there. Whoever asks whether there is any element may take the first one."""
    if extent in found.is_empty and index.constant > 0:
        return
    if not index.is_constant and extent not in set(_terms_of(index)):
        found.fact(conditions.at_most(terms.ZERO, index), f"{index} >= 0")
    if extent not in set(_terms_of(index)):
        found.extent(extent, index + 1)


def _infer(found: Contracts, access: Access, index: Term, extent: Term, facts: Facts, is_plain: bool) -> None:
    index = index if is_plain else index - index.constant
    most = natural_most(index, facts, access.path)
    if most is None or most.level != UNIFORM:
        return
    if most.parts and set(most.atoms()) <= found.launch:
        most = most + found.shifts.get(extent, 0)
    if set(access.memory.extents) & set(_terms_of(most)):
        found.told.add(extent)  # by another extent of the array, as if they were the same
    else:
        for atom in most.atoms():
            if atom.kind == "symbol" and (atom.low is None or atom.low < 0):
                one = terms.of(atom)
                if not facts.at_least_zero(one):  # as that of a launch is
                    found.fact(conditions.at_most(terms.ZERO, one), f"{one} >= 0")
        found.extent(extent, most + 1)


def _terms_of(term: Term) -> Iterator[Term]:
    for atom in term.atoms():
        yield terms.of(atom)


def _is_plain(index: Term) -> bool:
    """Nothing is added that is not a place of its own."""
    return index.constant == 0 and all(n > 0 for _, n in index.parts) and not index.taint & ~DATA


def _is_guarded(index: Term, extent: Term, facts: Facts) -> bool:
    """The source compares it with the array's own extent."""
    return facts.at_least_zero(extent - 1 - index) or any(
        monomial in dict(extent.parts) and any(part in dict(index.parts) for part, _ in fact.parts)
        for fact in facts.inequalities
        for monomial, _ in fact.parts
    )


def natural_most(index: Term, facts: Facts, path: Condition) -> Term | None:
    """The largest value that an index is meant to have: uniform; None where nothing says it.

    A bound `x <= n + 3` counts as `x <= n - 1`: what is off by one or more is not taken for granted.
    """
    own = [one.term for one in conditions.conjuncts(path) if one.kind == "le" and one.term is not None]
    known = [*own, *[one for one in facts.inequalities if one not in own]]
    return _most(index, [*known, *_below_least(known)], facts)


def _below_least(inequalities: list[Term]) -> Iterator[Term]:
    """What is below the least of several is below each."""
    for fact in inequalities:
        for monomial, n in fact.parts:
            if n < 0 and len(monomial) == 1 and monomial[0].kind == "min":
                rest = fact - terms.of(monomial[0]).times(n)
                for one in monomial[0].arguments:
                    yield rest + one.times(n)


def _most(index: Term, inequalities: list[Term], facts: Facts) -> Term | None:
    uniform, groups = _digits(index)
    for fact in inequalities:
        rest, of_fact = _digits(fact)
        if of_fact == groups and rest.parts:
            return _natural(-rest) + uniform
    total = uniform
    for weight, inner in groups.items():
        bound = _bound(inner, inequalities, facts)
        if bound is None:
            return None
        total = total + Term(0, ((weight, 1),)) * bound if weight else total + bound
    return total


def _digits(index: Term) -> tuple[Term, dict[Monomial, Term]]:
    """(what is uniform, {uniform factor: what it is multiplied with})."""
    uniform = terms.number(index.constant)
    groups: dict[Monomial, Term] = {}
    for monomial, n in index.parts:
        factor = tuple(atom for atom in monomial if atom.level == UNIFORM)
        rest = tuple(atom for atom in monomial if atom.level != UNIFORM)
        if not rest:
            uniform = uniform + Term(0, ((monomial, n),))
        else:
            groups[factor] = groups.get(factor, terms.ZERO) + Term(0, ((rest, n),))
    return uniform, groups


def _bound(inner: Term, inequalities: Iterable[Term], facts: Facts) -> Term | None:
    """The natural largest value of a term without uniform parts."""
    for fact in inequalities:
        uniform, groups = _digits(fact)
        if set(groups) == {()} and groups[()] == inner and uniform.parts:
            return _natural(-uniform)
    if len(inner.parts) == 1:
        (monomial, n), *_ = inner.parts
        if n < 0 or len(monomial) != 1:
            return None
        one = _bound_of_atom(monomial[0], inequalities, facts)
        return None if one is None else one.times(n)
    total = terms.ZERO
    for monomial, n in inner.parts:
        if n < 0 or len(monomial) != 1:
            return None
        one = _bound_of_atom(monomial[0], inequalities, facts)
        if one is None:
            return None
        total = total + one.times(n)
    return total


def _bound_of_atom(atom: Atom, inequalities: Iterable[Term], facts: Facts) -> Term | None:
    single = terms.of(atom)
    for fact in inequalities:
        uniform, groups = _digits(fact)
        if set(groups) == {()} and groups[()] == single and uniform.parts:
            return _natural(-uniform)
    if atom.kind == "min":
        limits = [one for one in atom.arguments if one.level == UNIFORM]
        return _natural(limits[0]) if limits else None
    _, high = facts.range_of_atom(atom)
    if atom.kind == "mod" or (high is not None and high < 1 << 16 and atom.taint == 0):
        return None if high is None else terms.number(high)
    if atom.kind == "div":
        inner, k = atom.arguments
        most = _most(inner, list(inequalities), facts)
        if most is None:
            return None
        rest = most + 1
        if all(n % k == 0 for _, n in rest.parts) and rest.constant % k == 0:
            return Term(rest.constant // k, tuple((m, n // k) for m, n in rest.parts)) - 1
    return None


def _natural(bound: Term) -> Term:
    return bound - bound.constant - 1 if bound.parts else bound


def _limit_elements(found: Contracts, records: Records) -> None:
    """No array has more elements than int32 counts."""
    seen: set[str] = set()
    for access in records.accesses:
        memory = access.memory
        if memory.space != "global" or memory.name in seen or len(memory.extents) < 2:
            continue
        seen.add(memory.name)
        product = terms.ONE
        for extent in memory.extents:
            product = product * extent
        if not product.is_constant:
            found.limits.append(conditions.at_most(product, terms.number(MOST_ELEMENTS)))
