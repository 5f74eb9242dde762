"""Arithmetic, comparisons, fusing and exact functions on every scalar type, to the last bit."""

import pytest
from gpukernels import floats, integers

from tests.gpu import samples, tables

pytestmark = pytest.mark.gpu

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")


def check(module, kernel, type, out_type, fused=None):
    expressions = module.EXPRESSIONS[kernel]
    rows = samples.triples(type)
    tables.check(getattr(module, kernel), "xyz", [type] * 3, rows, out_type, expressions, fused)


@pytest.mark.parametrize("type", INTEGERS)
def test_integer_arithmetic(type):
    check(integers, "arithmetic_" + type, type, type)


@pytest.mark.parametrize("type", INTEGERS)
def test_integer_flags(type):
    check(integers, "flags_" + type, type, "bool")


@pytest.mark.parametrize("type", FLOATS)
def test_float_arithmetic(type):
    check(floats, "arithmetic_" + type, type, type)


@pytest.mark.parametrize("type", FLOATS)
def test_float_flags(type):
    check(floats, "flags_" + type, type, "bool")


@pytest.mark.parametrize("type", ["float32", "float64"])
def test_products_are_fused_as_the_rule_says(type):
    check(floats, "fused_" + type, type, type, floats.FUSED)


@pytest.mark.parametrize("type", ["float32", "float64"])
def test_nothing_is_fused_where_the_kernel_says_so(type):
    check(floats, "unfused_" + type, type, type)


def test_the_rows_tell_fused_from_unfused():
    """Some row must give different results, or the two tests above prove nothing."""
    rows = samples.triples("float32")
    expressions = floats.EXPRESSIONS["fused_float32"]
    fused = tables.run(floats.fused_float32, ["float32"] * 3, rows, "float32", expressions)
    unfused = tables.run(floats.unfused_float32, ["float32"] * 3, rows, "float32", expressions)
    for expression, a, b in zip(expressions, fused, unfused):
        if floats.FUSED[expression] != expression and "kb.fma" not in expression:
            assert sum(p == p and q == q and p != q for p, q in zip(a, b)) > 100, expression
