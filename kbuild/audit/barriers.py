"""Barriers that only some threads of a block reach, and operations of a warp that only some of its lanes do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kbuild.audit import conditions
from kbuild.audit.conditions import Condition
from kbuild.audit.judging import PROVED, Answer, Judge
from kbuild.audit.proving import Facts
from kbuild.audit.records import Reach
from kbuild.audit.terms import THREAD


@dataclass(frozen=True, slots=True)
class Reached:
    """A barrier and whether all threads reach it."""

    reach: Reach
    answer: Answer


def reached(judge: Judge) -> Iterator[Reached]:
    """Every barrier, each path once."""
    seen: dict[tuple[object, ...], Answer] = {}
    for reach in judge.records.reaches:
        key = (reach.of, reach.path)
        if key not in seen:
            seen[key] = _answer(judge, reach)
        answer = seen[key]
        judge.explain(
            "barriers", reach.span, f"{reach.what} is reached by all or none", answer.verdict, answer.rule or "uniform"
        )
        yield Reached(reach, answer)


def _answer(judge: Judge, reach: Reach) -> Answer:
    own = [one for one in conditions.conjuncts(reach.path) if one.level == THREAD]
    if not own:
        return PROVED
    if not judge.place.is_whole:
        return PROVED
    other = judge.place.other(True)
    missing = conditions.any_of(conditions.negation(other.condition(one)) for one in own)
    known: list[Condition] = [reach.path, missing]
    uniform = [one for one in conditions.conjuncts(reach.path) if one.level < THREAD]
    known += uniform
    if reach.of == "warp":
        known.append(judge.place.in_same_warp(other, judge.facts(conditions.TRUE)))
    base = Facts([*judge.contracts.facts, *judge.records.facts, *[other.condition(f) for f in judge.records.facts]])
    if Facts(known, base).refutes():
        return PROVED
    return judge.answer(known, [], [reach.path], other)
