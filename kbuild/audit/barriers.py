"""Barriers that only some threads of a block reach, and operations of a warp that only some of its lanes do."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kbuild.audit import conditions
from kbuild.audit.answers import DISPUTED, PROVED, Answer, Judge
from kbuild.audit.conditions import Condition
from kbuild.audit.lanes import NoNumber
from kbuild.audit.places import WARP
from kbuild.audit.proving import Facts
from kbuild.audit.records import Reach
from kbuild.audit.terms import THREAD


@dataclass(frozen=True, slots=True)
class Reached:
    """A barrier and whether all threads reach it."""

    reach: Reach
    answer: Answer


def reached(judge: Judge, disputed: int = 0) -> Iterator[Reached]:
    """Every barrier, each path once. What threads read from arrays with the bits `disputed` may differ."""
    seen: dict[tuple[object, ...], Answer] = {}
    for reach in judge.records.reaches:
        key = (reach.of, reach.path, reach.mask, reach.voted)
        if key not in seen:
            seen[key] = _answer(judge, reach)
            if reach.path.taint & disputed and seen[key].verdict == "proved":
                seen[key] = DISPUTED
        answer = seen[key]
        judge.explain("barriers", reach.span, functools.partial(_question, reach), answer, "uniform")
        yield Reached(reach, answer)


def _question(reach: Reach) -> str:
    return f"{reach.what} is reached by all or none"


ALL_LANES: Final = 1 << 32


def _by_mask(judge: Judge, own: list[Condition], mask: int) -> Answer:
    """Who is there must be named, and who is named must be there: warp by warp."""
    lanes = judge.block_lanes()
    try:
        there = lanes.condition(conditions.all_of(own))
    except NoNumber:
        return Answer("unknown", "", "who reaches it depends on more than the thread's number")
    named = (mask >> (lanes.numbers % WARP)) & 1 == 1
    for start in range(0, len(there), WARP):
        here = there[start : start + WARP]
        if here.any() and (here != named[start : start + WARP]).any():
            return Answer("found", "lane by lane")
    return PROVED


def _by_vote(judge: Judge, own: list[Condition], voted: Condition) -> Answer:
    """The lanes that are there must be those that a ballot has named."""
    if {*own} == {one for one in conditions.conjuncts(voted) if one.level == THREAD}:
        return PROVED
    lanes = judge.block_lanes()
    try:
        is_same = (lanes.condition(conditions.all_of(own)) == lanes.condition(voted)).all()
    except NoNumber:
        return Answer("unknown", "", "whom a ballot has named depends on more than the thread's number")
    return PROVED if is_same else Answer("found", "lane by lane")


def _is_same(judge: Judge, conditions: list[Condition]) -> bool:
    """Where conditions are a matter of the thread's number alone: all threads of a block see the same."""
    lanes = judge.block_lanes()
    try:
        return all(len(set(lanes.condition(one).tolist())) == 1 for one in conditions)
    except NoNumber:
        return False


def _answer(judge: Judge, reach: Reach) -> Answer:
    granted = judge.records.invariants | judge.records.held  # all threads fulfil these
    path = [one for one in conditions.conjuncts(reach.path) if one not in granted]
    if reach.of == "warp":
        path = [one for one in path if one not in judge.records.of_warps]
    own = [one for one in path if one.level == THREAD]
    if reach.voted is not None:
        return _by_vote(judge, own, reach.voted)
    if reach.mask is not None and reach.mask % ALL_LANES != ALL_LANES - 1:
        return _by_mask(judge, own, reach.mask)
    if not own:
        return PROVED
    if not judge.place.is_whole:
        return PROVED
    if _is_same(judge, own):
        return PROVED
    other, general = judge.second(True)
    missing = conditions.any_of(conditions.negation(other.condition(one)) for one in own)
    known: list[Condition] = [reach.path, missing]
    known += [other.condition(one) for one in conditions.conjuncts(reach.path) if one in granted]
    if reach.of == "warp":
        known.append(judge.place.in_same_warp(other, judge.facts(conditions.TRUE)))
    if Facts(known, general).refutes():
        return PROVED
    return judge.answer(known, [], [reach.path], other, fine=judge.records.told)  # what all are told may be anything
