"""What facts prove and refute is so, for every small assignment that fulfils them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.audit import conditions, terms
from kbuild.audit.answers import solved
from kbuild.audit.proving import Facts
from kbuild.audit.races import _digits
from kbuild.audit.terms import UNIFORM
from tests.audit import drawn

EXAMPLES = settings(max_examples=60 * drawn.DEEP, deadline=None)


def facts_of(data: st.DataObject, known: drawn.Symbols) -> tuple[Facts, list[drawn.Numbers]]:
    """Facts, and all assignments that fulfil them."""
    held = data.draw(st.lists(drawn.said(known, 1), min_size=1, max_size=4))
    facts = Facts([one.condition for one in held[1:]], Facts([held[0].condition]))
    return facts, [numbers for numbers in known.all() if all(one.is_(numbers) for one in held)]


@EXAMPLES
@given(st.data())
def test_what_is_proved_is_so(data: st.DataObject) -> None:
    known = drawn.symbols()
    facts, fulfilling = facts_of(data, known)
    for _ in range(4):
        asked = data.draw(drawn.said(known, 1))
        if facts.proves(asked.condition):
            for numbers in fulfilling:
                assert asked.is_(numbers), (facts.conditions, asked.condition, numbers)


@EXAMPLES
@given(st.data())
def test_what_is_never_below_zero_is_not(data: st.DataObject) -> None:
    known = drawn.symbols()
    facts, fulfilling = facts_of(data, known)
    for _ in range(4):
        asked = data.draw(drawn.numbers_of(known, 2))
        low, high = facts.range_of(asked.term)
        is_positive = facts.at_least_zero(asked.term)
        for numbers in fulfilling:
            number = asked.is_(numbers)
            assert not is_positive or number >= 0, (facts.conditions, asked.term, numbers)
            assert low is None or facts.is_contradictory or low <= number, (facts.conditions, asked.term, numbers)
            assert high is None or facts.is_contradictory or number <= high, (facts.conditions, asked.term, numbers)


@EXAMPLES
@given(st.data())
def test_what_is_refuted_has_no_assignment(data: st.DataObject) -> None:
    facts, fulfilling = facts_of(data, drawn.symbols())
    if facts.refutes():
        assert fulfilling == [], facts.conditions


@EXAMPLES
@given(st.data())
def test_equations_that_are_put_in_keep_every_solution(data: st.DataObject) -> None:
    known = drawn.symbols()
    held = data.draw(st.lists(drawn.said(known, 1), max_size=3))
    equations = data.draw(st.lists(drawn.numbers_of(known, 1), min_size=1, max_size=2))
    if solved([one.condition for one in held], [one.term for one in equations]).refutes():
        for numbers in known.all():
            is_solution = all(one.is_(numbers) for one in held) and all(one.is_(numbers) == 0 for one in equations)
            assert not is_solution, (held, equations, numbers)


@EXAMPLES
@given(st.data())
def test_digits_are_equal_where_the_numbers_are(data: st.DataObject) -> None:
    terms.forget()
    width = terms.of(terms.symbol("w", 1, 4, UNIFORM))
    own, other = (
        [terms.of(terms.symbol(name, 0, 3, terms.THREAD)) for name in names] for names in (("i", "j"), ("i'", "j'"))
    )
    weight = data.draw(st.sampled_from([width, width.times(2), terms.number(4), terms.number(3)]))
    shift = data.draw(st.integers(-1, 1))
    a, b = (pair[0] * weight + pair[1] + shift for pair in (own, other))
    known = [conditions.less(one[1], weight) for one in (own, other)] if data.draw(st.booleans()) else []
    parts = list(_digits(a, b, Facts(known)))
    atoms = [next(one.atoms()) for one in (width, *own, *other)]
    for number in range(1, 5):
        for places in range(4**4):
            digits = [places >> (2 * i) & 3 for i in range(4)]
            numbers = dict(zip(atoms, (number, *digits), strict=True))
            if all(drawn.holds(one, numbers) for one in known):
                same = drawn.value(a - b, numbers) == 0
                assert same == all(drawn.value(one, numbers) == 0 for one in parts), (parts, numbers)


def test_what_it_is_for() -> None:
    """Products of sizes, quotients, remainders, minima: the proofs that kernels need."""
    terms.forget()
    n, w, h = (terms.of(terms.symbol(name, 1, 2**31 - 1, UNIFORM)) for name in "nwh")
    i, j = (terms.of(terms.symbol(name, 0, None, terms.THREAD)) for name in "ij")
    facts = Facts([conditions.less(i, h), conditions.less(j, w)])
    assert facts.at_least_zero(h * w - 1 - (i * w + j))
    assert not facts.at_least_zero(h * w - 2 - (i * w + j))
    facts = Facts([conditions.less(i, n)])
    assert facts.at_least_zero(n - 1 - terms.floor_div(i, 4, facts.range_of))
    assert facts.at_least_zero(n - 1 - terms.floor_mod(i, 4, facts.range_of))
    assert facts.at_least_zero(n - 1 - terms.lesser(j, n - 1, facts.range_of))
    quotient = terms.of(terms.atom("quotient", (i, w), None, None))
    assert facts.at_least_zero(i - quotient * w)


@pytest.mark.parametrize("is_refuted", [True, False])
def test_contradictions(is_refuted: bool) -> None:
    terms.forget()
    i, n = (terms.of(terms.symbol(name, None, None, UNIFORM)) for name in "in")
    facts = Facts([conditions.less(i, n), conditions.less(n, i + (1 if is_refuted else 2))])
    assert facts.refutes() == is_refuted
