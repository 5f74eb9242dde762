"""Terms and conditions are what they say, for every small number; substitution, ranges."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.audit import conditions, terms
from kbuild.audit.substitution import Other, Substitution
from kbuild.audit.terms import BLOCK, THREAD, UNIFORM, Term
from kbuild.audit.values import Unknown, every_atom
from tests.audit import drawn

EXAMPLES = settings(max_examples=60 * drawn.DEEP, deadline=None)


def some(known: drawn.Symbols, every: int = 7) -> list[drawn.Numbers]:
    """Assignments, not all of them."""
    return list(known.all())[::every]


@EXAMPLES
@given(st.data())
def test_arithmetic_is_that_of_whole_numbers(data: st.DataObject) -> None:
    known = drawn.symbols()
    one = data.draw(drawn.numbers_of(known))
    for numbers in some(known):
        assert drawn.value(one.term, numbers) == one.is_(numbers), (one.term, numbers)


@EXAMPLES
@given(st.data())
def test_ranges_hold_on_every_path(data: st.DataObject) -> None:
    known = drawn.symbols()
    one = data.draw(drawn.numbers_of(known))
    for atom in terms.deep_atoms(one.term):
        for numbers in some(known, 11):
            number = drawn.of_atom(atom, numbers)
            assert atom.low is None or atom.low <= number, (atom, numbers)
            assert atom.high is None or number <= atom.high, (atom, numbers)


@EXAMPLES
@given(st.data())
def test_conditions_hold_where_they_say(data: st.DataObject) -> None:
    known = drawn.symbols()
    one = data.draw(drawn.said(known))
    for numbers in some(known):
        assert drawn.holds(one.condition, numbers) == one.is_(numbers), (one.condition, numbers)
        assert drawn.holds(conditions.negation(one.condition), numbers) != one.is_(numbers)


@EXAMPLES
@given(st.data())
def test_other_terms_in_the_places_of_symbols(data: st.DataObject) -> None:
    known = drawn.symbols()
    one, new = data.draw(drawn.numbers_of(known)), data.draw(drawn.numbers_of(known, 1))
    atom = data.draw(st.sampled_from(known.atoms))
    put = Substitution({atom: new.term})
    changed = put.term(one.term)
    condition = data.draw(drawn.said(known, 1)).condition
    for numbers in some(known):
        there = {**numbers, atom: new.is_(numbers)}
        assert drawn.value(changed, numbers) == drawn.value(one.term, there), (one.term, changed, numbers)
        assert drawn.holds(put.condition(condition), numbers) == drawn.holds(condition, there)


def test_quotient_and_remainder_come_together_again() -> None:
    known = drawn.symbols()
    s = terms.of(known.atoms[3])
    quotient, rest = terms.floor_div(s, 4, drawn.natural), terms.floor_mod(s, 4, drawn.natural)
    assert quotient.times(4) + rest == s
    assert quotient.times(8) + rest.times(2) + 1 == s.times(2) + 1
    assert terms.floor_div(quotient, 3, drawn.natural) == terms.floor_div(s, 12, drawn.natural)
    assert terms.floor_mod(s.times(4) + 3, 4, drawn.natural) == terms.number(3)


def test_the_same_operation_is_the_same_atom_whatever_is_known() -> None:
    known = drawn.symbols()
    s = terms.of(known.atoms[3])
    first = terms.floor_div(s, 4, lambda term: (0, 15) if term == s else drawn.natural(term))
    (atom,) = first.atoms()
    assert (atom.low, atom.high) == (None, None)
    assert terms.floor_div(s, 4, drawn.natural) == first


def test_long_polynomials_become_atoms() -> None:
    terms.forget()
    long = terms.ZERO
    for i in range(9):
        long = long + terms.of(terms.symbol(f"s{i}", 0, 2, UNIFORM))
    (atom,) = (long * long).atoms()
    assert (atom.kind, atom.low, atom.high) == ("product", 0, 18 * 18)


def test_another_thread_has_its_own_symbols() -> None:
    terms.forget()
    n, block, thread = (terms.of(terms.symbol(name, 0, 9, level)) for name, level in zip("nbt", range(3), strict=True))
    assert (n.level, block.level, thread.level) == (UNIFORM, BLOCK, THREAD)
    in_block, elsewhere = Other({}, True), Other({}, False)
    assert in_block.term(n + block) == n + block
    assert in_block.term(thread) != thread
    assert elsewhere.term(block) != block
    assert in_block.term(thread * n) == in_block.term(thread) * n


def test_values_of_which_only_keys_are_left_are_each_threads_own() -> None:
    terms.forget()
    own = Unknown(("load", "data"), THREAD, 0)
    result = terms.of(terms.atom("call", (own,), -8, 7, "int"))
    other = Other({}, True)
    assert other.term(result) != result
    assert other.term(result) == other.term(result)
    (atom,) = other.term(result).atoms()
    assert (atom.low, atom.high) == (-8, 7)
    same = terms.of(terms.atom("call", (Unknown("n", UNIFORM, 0),), -8, 7, "int"))
    assert other.term(same) == same


def test_every_atom_of_keys() -> None:
    terms.forget()
    inside = terms.symbol("i", 0, 9, THREAD)
    key = terms.key("gt", terms.key("load", "data", (0, 4), terms.of(inside)), terms.key("const", "0.0"))
    condition = conditions.opaque(key, THREAD, 0)
    chosen = Term(0, (((terms.atom("ite", (condition, terms.ONE, terms.ZERO), None, None),), 1),))
    assert inside in set(every_atom(chosen))
    assert inside not in set(terms.deep_atoms(chosen))
