"""Integer arithmetic of kernels is that of the IR: int32 where nothing overflows, uint32 modulo 2^32."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.audit import integers, terms
from kbuild.audit.conditions import TRUE, Condition
from kbuild.audit.places import Blocks, Place
from kbuild.audit.run import Run, State
from kbuild.audit.terms import Term
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import INT32, UINT32
from tests.audit import drawn
from tests.helpers import kernels

EXAMPLES = settings(max_examples=60 * drawn.DEEP, deadline=None)
BITS: Final = 1 << 32

MEANING: Final[dict[str, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": drawn.towards_zero,
    "floordiv": drawn.towards_zero,
    "mod": drawn.remainder,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    folder: Path = tmp_path_factory.mktemp("integers")
    return kernels.lower_text(folder, "@kb.kernel\ndef kernel(out: kb.array(dtype=int)):\n    out[kb.tid()] = 1\n")[0]


def new_run(kernel: Kernel) -> tuple[Run, State]:
    run = Run(Place(kernel, Blocks((64, 1, 1), True)), "")
    return run, State({}, TRUE, run.new_phase(), run.new_phase())


def is_looked_into(term: Term) -> bool:
    return not any(one.kind.startswith("any ") for one in terms.deep_atoms(term))


def is_about(fact: Condition, known: drawn.Symbols) -> bool:
    """And not about the launch."""
    return all(one in known.atoms for term in fact.terms() for one in terms.deep_atoms(term))


@EXAMPLES
@given(st.data())
def test_int32(kernel: Kernel, data: st.DataObject) -> None:
    known = drawn.symbols()
    run, state = new_run(kernel)
    op = data.draw(st.sampled_from(sorted(MEANING)))
    a, b = data.draw(drawn.numbers_of(known, 1)), data.draw(drawn.numbers_of(known, 1))
    result = integers.binary(run, op, a.term, b.term, INT32, state, None)
    if not is_looked_into(result):
        return
    for numbers in list(known.all())[::5]:
        x, y = a.is_(numbers), b.is_(numbers)
        if op in ("div", "floordiv", "mod") and y <= 0:
            continue  # nothing is said of it
        if op in ("shl", "shr") and not 0 <= y < 32:
            continue
        if all(drawn.holds(fact, numbers) for fact in run.records.facts if is_about(fact, known)):
            assert drawn.value(result, numbers) == MEANING[op](x, y), (op, a.term, b.term, result, numbers)


@EXAMPLES
@given(st.data())
def test_uint32_wraps(kernel: Kernel, data: st.DataObject) -> None:
    known = drawn.symbols()
    run, state = new_run(kernel)
    op = data.draw(st.sampled_from(["add", "sub", "mul", "and", "or", "xor", "shl"]))
    shift = data.draw(st.sampled_from([0, 1, BITS - 6, BITS // 2]))
    a = terms.of(known.atoms[0]) + shift  # up to BITS - 3
    b = terms.number(data.draw(st.integers(0, 31))) if op == "shl" else terms.of(known.atoms[1])
    result = integers.binary(run, op, a, b, UINT32, state, None)
    for numbers in list(known.all())[::5]:
        x, y = drawn.value(a, numbers), drawn.value(b, numbers)
        assert drawn.value(result, numbers) == MEANING[op](x, y) % BITS, (op, a, b, result, numbers)


@pytest.mark.parametrize("value", [-1, 0, 5, BITS // 2, BITS - 1])
def test_conversions_keep_the_low_bits(kernel: Kernel, value: int) -> None:
    terms.forget()
    run, state = new_run(kernel)
    facts = run.facts(state.path)
    as_int = (value + BITS // 2) % BITS - BITS // 2
    assert integers.converted(terms.number(value), UINT32, facts) == terms.number(value % BITS)
    assert integers.converted(terms.number(value), INT32, facts) == terms.number(as_int)


def test_what_may_leave_its_type_is_written_down(kernel: Kernel) -> None:
    terms.forget()
    run, state = new_run(kernel)
    n = terms.of(terms.symbol("n", -(2**31), 2**31 - 1, terms.UNIFORM))
    integers.binary(run, "add", n, terms.ONE, INT32, state, None)
    assert [one.result for one in run.records.arithmetic] == [n + 1]
    small = terms.of(terms.symbol("s", 0, 100, terms.UNIFORM))
    integers.binary(run, "mul", small, small, INT32, state, None)
    assert len(run.records.arithmetic) == 1


def test_who_divides_by_a_parameter_means_one_above_zero(kernel: Kernel) -> None:
    terms.forget()
    run, state = new_run(kernel)
    n = terms.of(terms.symbol("n", -(2**31), 2**31 - 1, terms.UNIFORM))
    i = terms.of(terms.symbol("i", 0, 99, terms.THREAD))
    rest = integers.binary(run, "mod", i, n, INT32, state, None)
    assert run.records.assumed == ["n >= 1"]
    facts = run.facts(TRUE)
    assert facts.at_least_zero(rest)
    assert facts.at_least_zero(n - 1 - rest)
