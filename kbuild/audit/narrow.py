"""Elements of arrays that are moved in several instructions where one would do [KB408].

    a[4 * i] + a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3]      four loads of 4 bytes: `kb.vec4` has one of 16
    v[i][0] + v[i][1]                                          two loads: `x = v[i]` is one

A vector is loaded and stored in words where the function comes to it as a whole, and does not meet it again (see
`ir.elements.met_again` and `ir.types.word_of`); its address decides when the kernel runs. Vectors of three numbers have
no such words, and nothing is said of them: a fourth number would be moved for nothing. Of numbers side by side
something is said only where every access of the kernel to the array is one of such a group, and each thread has its
own, so that its type can change.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from kbuild.audit.answers import Judge
from kbuild.audit.records import Access
from kbuild.audit.repeats import is_part
from kbuild.audit.terms import THREAD, Term
from kbuild.audit.values import Memory, every_atom
from kbuild.errors import Span
from kbuild.ir.python_types import Names, TypeNames
from kbuild.ir.types import Field, Scalar, Struct, Vector, word_of

Why: TypeAlias = Literal["again", "hint", "parts", "field", "neighbours"]
LENGTHS: Final = (4, 2)  # of vectors that go as a word
LARGEST: Final = 16  # bytes of a word
SMALLEST: Final = 4  # of one that is worth it
MOST: Final = 64  # bytes that the trips of a loop go along: of more than four words no element is made


@dataclass(frozen=True, slots=True)
class Narrow:
    """An element, or neighbours, moved in `pieces` instructions of `bytes` where `words` of `word` bytes would do.
    `what` is the field, or the type that the neighbours make up together."""

    memory: Memory
    span: Span | None
    kind: str
    why: Why
    pieces: int
    bytes: int
    words: int
    word: int
    what: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """Accesses of one thread to all elements of what could be vectors of a length, the first element's first. In a loop
    over the elements one access is to `reach` of them, one after another."""

    accesses: tuple[Access, ...]
    length: int
    reach: int = 1


def narrow(judge: Judge) -> Iterator[Narrow]:
    """Everything that is moved in pieces."""
    yield from map(_of_group, _neighbours(judge))
    for accesses in _elements(judge):
        yield from _of_element(accesses)


def _of_group(group: _Group) -> Narrow:
    first = min(group.accesses, key=lambda one: one.order)
    element = first.memory.element
    assert isinstance(element, Scalar)
    made, words = Vector(group.length, element), -(-group.reach // group.length)
    name = ast.unparse(TypeNames(Names(()))(made))
    pieces = words * group.length
    return Narrow(first.memory, first.span, first.kind, "neighbours", pieces, element.size, words, made.size, name)


def _neighbours(judge: Judge) -> list[_Group]:
    """Numbers side by side that a thread comes to one by one, of arrays of which it does nothing else."""
    of_memory: dict[int, list[Access]] = defaultdict(list)
    for one in judge.records.accesses if not judge.records.unclear else ():
        if one.memory.space == "global":
            of_memory[id(one.memory)].append(one)
    found: list[_Group] = []
    for accesses in of_memory.values():
        element = accesses[0].memory.element
        if isinstance(element, Scalar) and not any(one.kind == "atomic" or one.cache for one in accesses):
            lengths = [n for n in LENGTHS if SMALLEST <= n * element.size <= LARGEST]
            found += next((groups for n in lengths if (groups := _groups(judge, accesses, n))), [])
    return found


def _groups(judge: Judge, accesses: list[Access], length: int) -> list[_Group]:
    """Every access in a group of this length, or none."""
    if len(accesses[0].memory.extents) > 1 and not _has_rows(judge, accesses[0], length):
        return []
    found: dict[tuple[object, ...], dict[int, Access]] = defaultdict(dict)
    looped: list[_Group] = []
    for one in accesses:
        trips = _trips(judge, one)
        start = one.indices[-1] - one.loops[-1] if trips else one.indices[-1]
        if max(index.level for index in (*one.indices[:-1], start)) != THREAD or not _divides(length, start, 0):
            return []
        place = start.constant % length
        if trips and (place or trips % length):
            return []
        if trips:
            looped.append(_Group((one,), length, trips))
        else:
            key = (one.kind, one.indices[:-1], start - place, one.path, one.loops)
            found[key].setdefault(place, one)
    if any(len(group) < length for group in found.values()):
        return []
    return [*looped, *(_Group(tuple(group[place] for place in range(length)), length) for group in found.values())]


def _has_rows(judge: Judge, access: Access, length: int) -> bool:
    """Every row of an array is a multiple of the length."""
    extent = access.memory.extents[-1]
    low, high = judge.facts(access.path).range_of(extent)
    return low % length == 0 if low is not None and low == high else _divides(length, extent, extent.constant)


def _trips(judge: Judge, access: Access) -> int:
    """How many elements the innermost loop around an access goes along, one after another; 0 where it does not."""
    if not access.loops:
        return 0
    number = access.loops[-1]
    begin = judge.records.trips.get(number)
    rest = [*access.indices[:-1], access.indices[-1] - number]
    if begin is None or not is_part(access.path, begin) or any(_mentions(one, number) for one in rest):
        return 0
    low, high = judge.facts(access.path).range_of(number)
    trips = high + 1 if low == 0 and high is not None else 0
    return trips if trips * access.memory.element.size <= MOST else 0


def _mentions(term: Term, number: Term) -> bool:
    """The number of a trip stands in a term."""
    return not set(number.atoms()).isdisjoint(every_atom(term))


def _divides(length: int, term: Term, constant: int) -> bool:
    """Every number that the sum may be is a multiple of the length."""
    return constant % length == 0 and all(n % length == 0 for _, n in term.parts)


def _elements(judge: Judge) -> Iterator[list[Access]]:
    """The loads and stores of each element that could go in words, and do not."""
    found: dict[tuple[object, ...], list[Access]] = defaultdict(list)
    for one in judge.records.accesses:
        if one.memory.space == "global" and one.kind != "atomic" and not one.word:
            found[id(one.memory), one.indices, one.loops].append(one)
    yield from found.values()


def _of_element(accesses: list[Access]) -> Iterator[Narrow]:
    """What there is to say of the accesses to an element."""
    element = accesses[0].memory.element
    if isinstance(element, Struct):
        for one in accesses:
            yield from _of_field(one, element)
        return
    word = word_of(element)
    if not word:
        return
    again = [one for one in accesses if one.is_whole and not one.cache]
    wholes: list[tuple[Access, Why]] = [(one, "hint") for one in accesses if one.is_whole and one.cache]
    wholes += [(one, "again") for one in again[-1:]]
    for whole, why in wholes:
        pieces, words = element.size // element.align, element.size // word
        yield Narrow(whole.memory, whole.span, whole.kind, why, pieces, element.align, words, word)
    for kind in ("read", "write") if not again else ():
        known = [one for one in accesses if one.part.component is None]
        parts = [one for one in known if one.kind == kind and one.size < word and not one.cache]
        yield from _of_parts(parts, word)


def _of_parts(parts: list[Access], word: int) -> Iterator[Narrow]:
    """Components of a vector, loaded or stored one by one."""
    for one in parts:
        # Whoever comes to this part comes to those, too.
        there = [other for other in parts if other.offset // word == one.offset // word]
        met = {(other.offset, other.size) for other in there if is_part(other.path, one.path)}
        is_whole = sum(size for _, size in met) == word
        if is_whole if one.kind == "write" else len(met) > 1:
            yield Narrow(one.memory, one.span, one.kind, "parts", len(met), one.size, 1, word)
            return


def _of_field(access: Access, struct: Struct) -> Iterator[Narrow]:
    """A vector in a struct, which is aligned as its numbers are."""
    field = _field(struct, access.offset, access.size)
    word = 0 if field is None else word_of(field.type)
    if field is not None and word:
        align = field.type.align
        pieces, words = access.size // align, access.size // word
        yield Narrow(access.memory, access.span, access.kind, "field", pieces, align, words, word, field.name)


def _field(struct: Struct, offset: int, size: int) -> Field | None:
    """The vector or matrix that these bytes are, however deep it lies."""
    for field in struct.fields:
        if field.offset <= offset and offset + size <= field.offset + field.type.size:
            if isinstance(field.type, Struct):
                return _field(field.type, offset - field.offset, size)
            return field if (field.offset, field.type.size) == (offset, size) else None
    return None
