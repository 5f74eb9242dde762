"""The solver's words mean what terms mean: numbers that fulfil conditions are never refuted, and models fulfil them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.audit import conditions, solver, terms
from kbuild.audit.conditions import Condition
from kbuild.audit.solver import Solver
from kbuild.audit.terms import THREAD, Atom, Term
from tests.audit import drawn

pytest.importorskip("z3", reason="z3 is not installed")

EXAMPLES = settings(max_examples=40 * drawn.DEEP, deadline=None)


def is_so(atom: Atom, number: int) -> Condition:
    return conditions.equal(terms.of(atom), terms.number(number))


@EXAMPLES
@given(st.data())
def test_what_can_be_is_not_refuted(data: st.DataObject) -> None:
    known = drawn.symbols()
    one, held = data.draw(drawn.numbers_of(known, 2)), data.draw(drawn.said(known, 2))
    numbers = data.draw(st.sampled_from(list(known.all())))
    given_ = [is_so(atom, number) for atom, number in numbers.items()]
    right = conditions.equal(one.term, terms.number(one.is_(numbers)))
    truth = held.condition if held.is_(numbers) else conditions.negation(held.condition)
    assert Solver(5.0).solve([*given_, right, truth])[0] != "unsat"


@EXAMPLES
@given(st.data())
def test_models_are_solutions(data: st.DataObject) -> None:
    known = drawn.symbols()
    held = data.draw(st.lists(drawn.said(known, 1), min_size=1, max_size=3))
    found, model = Solver(5.0).solve([one.condition for one in held])
    if found == "unsat":
        assert not any(all(one.is_(numbers) for one in held) for numbers in known.all())
    if model is None:
        return
    numbers = {atom: model.value(terms.of(atom)) or 0 for atom in known.atoms}
    divides = [atom for atom in model.atoms() if atom.kind in ("quotient", "truncated", "remainder")]
    if not any(drawn.value(atom.arguments[1], numbers) <= 0 for atom in divides):  # of those it says nothing
        assert all(drawn.holds(one.condition, numbers) for one in held), (held, numbers)


@pytest.mark.parametrize("kind", ["and", "or", "xor", "shl", "shr"])
def test_operations_on_bits(kind: str) -> None:
    """With operands of which little is known, too: the solver is taught what it gets wrong."""
    for high in (15, None):
        terms.forget()
        a, b = (terms.symbol(name, 0, high, terms.UNIFORM) for name in "ab")
        operation = terms.of(terms.atom(kind, (terms.of(a), terms.of(b)), None, None))
        for x, y in ((5, 3), (12, 10), (9, 1)):
            right = drawn.OPERATIONS[kind](x, y)
            ask = [is_so(a, x), is_so(b, y)]
            assert Solver(5.0).solve([*ask, conditions.equal(operation, terms.number(right))])[0] == "sat"
            assert Solver(5.0).solve([*ask, conditions.unequal(operation, terms.number(right))])[0] == "unsat"


def test_a_quotient_says_nothing_where_nobody_looks_at_it() -> None:
    """Its two inequalities hold for operands that are not negative; others are not ruled out by them."""
    terms.forget()
    a, b = (terms.of(terms.symbol(name, None, None, terms.UNIFORM)) for name in "ab")
    quotient = terms.of(terms.atom("quotient", (a, b), None, None))
    index = terms.of(terms.atom("ite", (conditions.at_most(terms.ZERO, a), quotient, terms.number(-7)), None, None))
    below = conditions.less(index, terms.ZERO)
    assert Solver(5.0).solve([below, conditions.less(a, terms.ZERO)])[0] == "sat"


def test_equal_indices_are_equal_elements() -> None:
    terms.forget()
    i, j = (terms.of(terms.symbol(name, 0, 9, terms.THREAD)) for name in "ij")

    def load(index: Term) -> Term:
        return terms.of(terms.atom("load", (index,), None, None, "data"))

    ask = [conditions.unequal(load(i), load(j))]
    assert Solver(5.0).solve(ask)[0] == "sat"
    assert Solver(5.0).solve([*ask, conditions.equal(i, j)])[0] == "unsat"


def test_no_time_is_no_answer() -> None:
    assert Solver(0.0).solve([conditions.TRUE]) == ("unknown", None)


def test_what_is_too_large_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a model answers for terms that the query has not."""
    terms.forget()
    several = [terms.symbol(f"x{i}", 0, 9, THREAD) for i in range(6)]
    known = [conditions.less(terms.of(a), terms.of(b)) for a, b in itertools.pairwise(several)]
    monkeypatch.setattr(solver, "MOST_ATOMS", 5)
    assert Solver(5.0).solve(known) == ("unknown", None)
    found, model = Solver(5.0).solve(known[:4])
    assert found == "sat"
    assert model is not None
    assert model.value(terms.of(several[5]) + 1) is not None
