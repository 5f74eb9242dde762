"""NaNs and floating-point exceptions: against the processor's own flags, exact arithmetic, and whole kernels."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbuild as kb
from kbuild.ir.types import FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT32, Scalar
from kbuild.sim import arithmetic, flags
from kbuild.sim.blocks import over
from kbuild.sim.lockstep.floats import FloatException, FloatExceptions, NotANumber, NotANumbers
from kbuild.sim.lockstep.run import Options
from tests.helpers import kernels
from tests.helpers.lockstep import run_in_lockstep

DTYPES = {np.float16: FLOAT16, np.float32: FLOAT32, np.float64: FLOAT64}


def raised(op: str, dtype: type, *operands: float) -> set[str]:
    """The kinds that one operation raises; the same must come of an array and of NumPy scalars."""
    one = [dtype(x) for x in operands]
    many = [np.array([1.0, x], dtype) for x in operands]
    kind = DTYPES[dtype]
    with np.errstate(all="ignore"):

        def compute(values: list[object]) -> object:
            if op == "fma":
                return arithmetic.fma(*values, kind)
            if op in ("add", "sub", "mul", "div", "mod", "floordiv"):
                return arithmetic.binary(op, *values, kind)
            return arithmetic.intrinsic(op, values, kind, kind)

        alone = set(flags.raised(op, compute(one), one))
        among = {name for name, where in flags.raised(op, compute(many), many).items() if where[1]}
    assert alone == among
    return alone


def edges(dtype: type) -> list[float]:
    info = np.finfo(dtype)
    positive = [0.0, 1.0, 3.0, 1 / 3, info.max, info.tiny, info.tiny * 1.5, info.smallest_subnormal, np.inf]
    positive += [info.smallest_subnormal * 3, float(info.max) / 2, 2.0 ** (info.minexp // 2), 2.0 ** (info.maxexp // 2)]
    return [float(dtype(x)) for x in positive] + [-float(dtype(x)) for x in positive] + [float("nan")]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_flags_are_the_processors(op: str, dtype: type):
    """NumPy says what flags the processor has set after an operation."""
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[op]
    for a, b in itertools.product(edges(dtype), repeat=2):
        seen: set[str] = set()
        with np.errstate(all="call", call=lambda kind, _, seen=seen: seen.add(kind.removesuffix(" value"))):
            function(np.array([a], dtype), np.array([b], dtype))
        assert raised(op, dtype, a, b) == seen, (a, b)


def rounded(number: float, dtype: type) -> float:
    with np.errstate(over="ignore"):
        return float(dtype(number))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@given(data=st.data())
def test_underflow_is_a_small_result_that_is_not_exact(dtype: type, data: st.DataObject):
    info = np.finfo(dtype)
    op = data.draw(st.sampled_from(["mul", "div", "fma"]))
    number = st.builds(
        lambda m, e, s: rounded(s * m * 2.0**e, dtype),
        st.integers(1, 2 ** min(data.draw(st.integers(1, 12)), info.nmant)),
        st.integers(info.minexp - info.nmant, -info.minexp // 2) if op == "div" else st.integers(info.minexp, 1),
        st.sampled_from([1, -1]),
    )
    operands = [data.draw(number) for _ in range(3 if op == "fma" else 2)]
    if 0.0 in operands or not np.isfinite(operands).all():
        return
    a, b, *rest = map(Fraction, operands)
    exact = {"mul": lambda: a * b, "div": lambda: a / b, "fma": lambda: a * b + rest[0]}[op]()
    with np.errstate(all="ignore"):
        values = [np.array([x], dtype) for x in operands]
        kind = DTYPES[dtype]
        result = arithmetic.fma(*values, kind) if op == "fma" else arithmetic.binary(op, *values, kind)
    if np.isfinite(result[0]):
        expected = abs(result[0]) < info.tiny and Fraction(float(result[0])) != exact
        assert ("underflow" in raised(op, dtype, *operands)) == expected


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        ("fma", (np.inf, 0.0, 1.0), {"invalid"}),
        ("fma", (1e30, 1e30, 1.0), {"overflow"}),
        ("fma", (1e-30, 1e-30, 0.0), {"underflow"}),
        ("fma", (0.0, 1e-30, 1e-40), set()),
        ("mod", (1.0, 0.0), {"invalid"}),
        ("floordiv", (1.0, 0.0), {"divide by zero"}),
        ("sqrt", (-1.0,), {"invalid"}),
        ("sqrt", (-0.0,), set()),
        ("rsqrt", (0.0,), {"divide by zero"}),
        ("rsqrt", (np.inf,), set()),
        ("log", (0.0,), {"divide by zero"}),
        ("log", (-1.0,), {"invalid"}),
        ("log", (1.0,), set()),
        ("exp", (100.0,), {"overflow"}),
        ("exp", (-100.0,), {"underflow"}),
        ("exp", (-200.0,), {"underflow"}),
        ("exp", (-np.inf,), set()),
        ("exp2", (-140.0,), set()),
        ("exp2", (-140.5,), {"underflow"}),
        ("pow", (0.0, -1.0), {"divide by zero"}),
        ("pow", (-2.0, 0.5), {"invalid"}),
        ("pow", (2.0, -140.0), set()),
        ("pow", (4.0, -70.5), set()),
        ("pow", (3.0, -85.0), {"underflow"}),
        ("pow", (0.0, 2.0), set()),
        ("pow", (10.0, 40.0), {"overflow"}),
        ("sin", (0.0,), set()),
        ("sin", (1e-40,), {"underflow"}),
        ("sin", (np.inf,), {"invalid"}),
        ("acos", (1.0,), set()),
        ("erfc", (20.0,), {"underflow"}),
        ("atan2", (0.0, 1.0), set()),
        ("atan2", (1e-30, 1e30), {"underflow"}),
        ("erfinv", (1.0,), {"divide by zero"}),
        ("max", (np.nan, 1.0), set()),
        ("min", (1e-40, 1.0), set()),
    ],
)
def test_functions(op: str, operands: tuple[float, ...], expected: set[str]):
    assert raised(op, np.float32, *operands) == expected


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (1e300, FLOAT64, FLOAT32, {"overflow"}),
        (np.inf, FLOAT64, FLOAT32, set()),
        (1e-40, FLOAT64, FLOAT32, {"underflow"}),
        (2.0**-140, FLOAT64, FLOAT32, set()),
        (70000, INT32, FLOAT16, {"overflow"}),
        (70000, INT32, FLOAT32, set()),
        (np.nan, FLOAT32, INT32, {"invalid"}),
        (2147483648.0, FLOAT32, INT32, {"invalid"}),
        (-2147483648.0, FLOAT32, INT32, set()),
        (128.0, FLOAT32, INT8, {"invalid"}),
        (127.9, FLOAT32, INT8, set()),
        (-0.9, FLOAT32, UINT32, set()),
        (-1.0, FLOAT32, UINT32, {"invalid"}),
        (2.0**63, FLOAT64, INT64, {"invalid"}),
    ],
)
def test_conversions(value: float, source: Scalar, target: Scalar, expected: set[str]):
    given = np.array([value], arithmetic.dtype_of(source))
    with np.errstate(all="ignore"):
        found = arithmetic.convert(given, source, target)
    assert set(flags.converted(found, given, source, target)) == expected


TEXT = """
@kb.kernel
def k(a: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    x = a[i]
    y = 1.0 / x if x != 0.0 else 2.0
    z = kb.vec3(x, 1.0, x) * 1.0e30
    out[i] = kb.sqrt(x - 3.0) + y
    out[i] = z[0] * z[0]
"""


def watched(folder: Path, *watchers: object) -> None:
    (kernel,) = kernels.lower_text(folder, TEXT)
    numbers = np.array([3.0, 4.0, 0.0, 2.0], np.float32)
    run_in_lockstep(kernel, over((4,), 32), [numbers, np.zeros(4, np.float32)], Options(watchers=watchers))


def test_a_nan_is_a_fault_where_it_comes_of_numbers(tmp_path: Path):
    with pytest.raises(NotANumber) as caught:
        watched(tmp_path, NotANumbers())
    fault = caught.value
    assert fault.reason == "sqrt(-3.0) is not a number"
    assert (fault.span.line, fault.thread) == (9, (2,))
    assert fault.variables["x"] == 0.0


def test_exceptions_by_line_and_kind(tmp_path: Path):
    watcher = FloatExceptions()
    watched(tmp_path, watcher)
    found = [(one.line, one.kind, one.count, one.thread) for one in watcher.result()]
    assert found == [(9, "invalid", 2, (2,)), (10, "overflow", 3, (0,))]
    first = watcher.result()[0]
    assert str(first) == f"{first.path}:9: invalid, 2 times, first in thread (2,)"
    assert str(FloatException("a.py", 1, "overflow", 1, (0,))) == "a.py:1: overflow, once in thread (0,)"


@kb.kernel
def divide(a: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = out[i] / a[i]


def test_the_facade():
    a, out = np.array([0.0, 1.0], np.float32), np.ones(2, np.float32)
    result = kb.sim.run(divide, 2, [a, out], exceptions=True, nan=True)
    (found,) = result.exceptions
    assert (found.kind, found.count, found.thread) == ("divide by zero", 1, (0,))
    assert result.profile is None
    with pytest.raises(kb.sim.NotANumber, match=r"0\.0 / 0\.0 is not a number, thread \(0,\)"):
        kb.sim.run(divide, 2, [a, np.zeros(2, np.float32)], nan=True)
    assert kb.sim.run(divide, 2, [a, out]).exceptions == ()
    assert kb.sim.run(divide, 0, [a, out], profile=True).profile.lines == []
    profile = kb.sim.run(divide, 2, [a, out], profile=True).profile
    assert profile.totals.accesses("global", "load").requests == 2
