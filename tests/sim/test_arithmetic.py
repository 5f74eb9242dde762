"""Arithmetic on lanes against arithmetic on single numbers."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbuild.errors import InternalError
from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir import nodes
from kbuild.ir.types import BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, SCALARS, Scalar
from kbuild.sim import arithmetic, fused, lanes, numbers
from kbuild.sim.arithmetic import dtype_of

TYPES = list(SCALARS.values())
INTEGERS = [t for t in TYPES if t.kind in ("int", "uint")]
FLOATS = [t for t in TYPES if t.kind == "float"]
INTEGER_OPS = sorted(nodes.BINARY_OPS - {"floordiv"})
FLOAT_OPS = ["add", "div", "floordiv", "mod", "mul", "sub"]
WHOLE = ["abs", "floor", "ceil", "trunc", "round", "rint", "sqrt", "isnan", "isinf", "isfinite"]
OF_TWO = {"min", "max", "copysign", "pow", "atan2"}

by_spelling = pytest.mark.parametrize("type", TYPES, ids=str)
by_integer = pytest.mark.parametrize("type", INTEGERS, ids=str)
by_float = pytest.mark.parametrize("type", FLOATS, ids=str)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


# Values


def random_bits(type: Scalar, count: int, seed: int = 0) -> np.ndarray:
    raw = np.random.default_rng(seed).bytes(count * type.size)
    return np.frombuffer(raw, dtype_of(type)) if type != BOOL else np.frombuffer(raw, np.uint8) > 127


def edges(type: Scalar, random: int = 24) -> np.ndarray:
    """The special values of a type and some random ones, read-only."""
    if type == BOOL:
        values = np.array([False, True])
    elif type.kind == "float":
        info = np.finfo(dtype_of(type))
        powers = [2.0**n for n in (-24, 7, 8, 15, 16, 24, 31, 32, 53, 63, 64)]
        near = [f(p, to) for p in map(info.dtype.type, powers) for f in (np.nextafter,) for to in (-np.inf, np.inf)]
        special = [
            0.0,
            0.4,
            0.5,
            1.0,
            1.5,
            2.5,
            3.0,
            7.0,
            65519.99,
            info.max,
            info.tiny,
            np.nan,
            np.inf,
            *powers,
            *near,
        ]
        least = np.nextafter(info.dtype.type(0), info.dtype.type(1))
        half = np.array(
            [*special, least, 3 * least, info.tiny - least, 1 - info.epsneg, 0.5 - info.epsneg / 2], info.dtype
        )
        values = np.concatenate([half, -half, random_bits(type, random)])
    else:
        bits = 8 * type.size
        whole = {0, 1, 2, 3, 7, bits - 1, bits, 127, 128, 255, 256, 2047, 2049, 65519, 65520, 2**24 + 1, 2**24 + 3}
        whole |= {2 ** (bits - 1), 2 ** (bits - 1) - 1, 2**53 + 1, 2**54 + 2**30 + 1, 2**63 - 2**38 - 1}
        wrapped = sorted({numbers.wrap(sign * v, type) for v in whole for sign in (1, -1)})
        values = np.concatenate([np.array(wrapped, dtype_of(type)), random_bits(type, random)])
    values.flags.writeable = False
    return values


def crossed(*values: np.ndarray) -> list[np.ndarray]:
    grid = [np.ascontiguousarray(g).ravel() for g in np.meshgrid(*values)]
    for g in grid:
        g.flags.writeable = False
    return grid


def assert_same(got: object, wanted: list[object], type: Scalar) -> None:
    """Bit for bit, but that any NaN is any other."""
    assert isinstance(got, (np.ndarray, np.generic))
    assert got.dtype == dtype_of(type)
    expected = np.array(wanted, dtype_of(type))
    found = np.atleast_1d(got)
    assert found.shape == expected.shape
    if type.kind == "float":
        bits = np.dtype(f"u{type.size}")
        same = (found.view(bits) == expected.view(bits)) | (np.isnan(found) & np.isnan(expected))
    else:
        same = found == expected
    wrong = np.flatnonzero(~same)
    assert not wrong.size, f"lane {wrong[0]}: {found[wrong[0]]!r}, not {expected[wrong[0]]!r}"


def assert_near(got: np.ndarray, wanted: list[float], type: Scalar, ulps: float) -> None:
    assert got.dtype == dtype_of(type)
    expected = np.array(wanted, dtype_of(type))
    finite = np.isfinite(expected)
    assert_same(got[~finite], expected[~finite].tolist(), type)
    error = np.abs(got[finite].astype(float) - expected[finite].astype(float))
    unit = np.abs(np.spacing(np.nextafter(expected[finite], dtype_of(type).type(0)))).astype(float)
    assert (error <= ulps * unit).all(), (error / unit).max()


# Operators


@by_integer
@pytest.mark.parametrize("op", INTEGER_OPS)
def test_integers(op: str, type: Scalar) -> None:
    a, b = crossed(edges(type), edges(type))
    wanted = [numbers.binary(op, x, y, type) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert_same(arithmetic.binary(op, a, b, type), wanted, type)


@by_float
@pytest.mark.parametrize("op", FLOAT_OPS)
def test_floats(op: str, type: Scalar) -> None:
    a, b = crossed(edges(type), edges(type))
    wanted = [numbers.binary(op, x, y, type) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert_same(arithmetic.binary(op, a, b, type), wanted, type)


@by_spelling
def test_signs_bits_and_comparisons(type: Scalar) -> None:
    values = edges(type)
    unary = ["not"] if type == BOOL else ["neg"] if type.kind == "float" else ["neg", "invert"]
    for op in unary:
        assert_same(arithmetic.unary(op, values, type), [numbers.unary(op, x, type) for x in values.tolist()], type)
    a, b = crossed(values, values)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    for op in nodes.COMPARE_OPS:
        assert_same(arithmetic.compare(op, a, b), [numbers.compare(op, x, y) for x, y in pairs], BOOL)


@by_spelling
@pytest.mark.parametrize("target", TYPES, ids=str)
def test_conversions(type: Scalar, target: Scalar) -> None:
    values = np.concatenate([edges(type, 0), random_bits(type, 300)])
    got = arithmetic.convert(values, type, target)
    assert_same(got, [numbers.convert(x, type, target) for x in values.tolist()], target)
    inside = values[:4]  # where none has to saturate
    got = arithmetic.convert(inside, type, target)
    assert_same(got, [numbers.convert(x, type, target) for x in inside.tolist()], target)


@pytest.mark.parametrize("target", [t for t in TYPES if t.kind != "bool"], ids=str)
@given(st.floats(-1e20, 1e20) | st.floats())
def test_doubles_convert(target: Scalar, value: float) -> None:
    with np.errstate(all="ignore"):
        got = arithmetic.convert(np.array([value]), FLOAT64, target)
    assert_same(got, [numbers.convert(value, FLOAT64, target)], target)


def operands_of(type: Scalar, count: int) -> list[np.ndarray]:
    few = edges(type, 2)
    return crossed(*[few[:: max(1, len(few) // 12)]] * count)


def every_operation() -> Iterator[tuple[str, Scalar, int]]:
    """(what, type, number of operands) of all that is defined."""
    for type in TYPES:
        ops = INTEGER_OPS if type in INTEGERS else FLOAT_OPS if type in FLOATS else []
        yield from ((f"binary {op}", type, 2) for op in ops)
        yield from ((f"compare {op}", type, 2) for op in nodes.COMPARE_OPS)
        yield from ((f"convert {target}", type, 1) for target in SCALARS)
        if type in FLOATS:
            yield "fma", type, 3
        for name, row in ALL_ROWS.items():
            if not row.has_effects and type != BOOL and is_defined(name, type):
                yield f"intrinsic {name}", type, 2 if name in OF_TWO else 1


def is_defined(name: str, type: Scalar) -> bool:
    if name in ("abs", "min", "max"):
        return True
    return (name == "bit_count") == (type.kind != "float")


def apply(what: str, type: Scalar, operands: list[object]) -> object:
    kind, _, name = what.partition(" ")
    if kind == "binary":
        return arithmetic.binary(name, *operands, type)
    if kind == "compare":
        return arithmetic.compare(name, *operands)
    if kind == "convert":
        return arithmetic.convert(operands[0], type, SCALARS[name])
    if kind == "fma":
        return arithmetic.fma(*operands, type)
    return arithmetic.intrinsic(name, operands, type, result_of(name, type))


def result_of(name: str, type: Scalar) -> Scalar:
    return BOOL if name.startswith("is") else INT32 if name == "bit_count" else type


@by_spelling
def test_scalars_are_what_lanes_are(type: Scalar) -> None:
    """One value for all lanes: alone it gives a scalar, beside lanes what each of them gives."""
    for what, of, count in every_operation():
        if of != type:
            continue
        # pow of NumPy's takes other instructions for one number than for many.
        ulps = 1 if what.split()[-1] in numbers.APPROXIMATE else 0
        operands = operands_of(type, count)
        whole = apply(what, type, operands)
        for lane in range(0, len(whole), 1 + len(whole) // 30):
            alone = apply(what, type, [x[lane] for x in operands])
            assert isinstance(alone, np.generic), what
            mixed = apply(what, type, [x[lane] if i else x[lane : lane + 1] for i, x in enumerate(operands)])
            for got in (np.array([alone]), mixed):
                assert got.dtype == whole.dtype, what
                if whole.dtype.kind == "f":
                    assert_near(got, whole[lane : lane + 1].tolist(), type_of(whole), ulps)
                else:
                    assert got[0] == whole[lane], what


def type_of(values: np.ndarray) -> Scalar:
    return SCALARS[values.dtype.name]


# Intrinsics


def test_every_pure_intrinsic_is_there() -> None:
    pure = {name for name, row in ALL_ROWS.items() if not row.has_effects}
    assert pure == arithmetic._EXACT.keys() | arithmetic.APPROXIMATE.keys() | {"bit_count"}
    with pytest.raises(InternalError, match="no meaning for atomic_add"):
        arithmetic.intrinsic("atomic_add", [np.zeros(1)], FLOAT64, FLOAT64)


@pytest.mark.parametrize("name", sorted(numbers.EXACT))
@by_spelling
def test_exact_intrinsics(name: str, type: Scalar) -> None:
    if type == BOOL or not is_defined(name, type):
        return
    values = np.arange(65536).astype(np.uint16).view(np.float16) if type == FLOAT16 else edges(type, 200)
    operands = crossed(edges(type), edges(type)) if name in OF_TWO else [values]
    columns = zip(*(x.tolist() for x in operands), strict=True)
    wanted = [numbers.intrinsic(name, list(row), type, result_of(name, type)) for row in columns]
    assert_same(arithmetic.intrinsic(name, operands, type, result_of(name, type)), wanted, result_of(name, type))


# In units of the last place of the result; of float64, as far as C's library and NumPy are apart.
ULPS = {FLOAT16: 0, FLOAT32: 1, FLOAT64: 4}
LOOSE = {"cbrt": 400, "erfcinv": 8, "erfinv": 8}  # what Python's own versions are off by


@pytest.mark.parametrize("name", sorted(numbers.APPROXIMATE))
@by_float
def test_approximate_intrinsics(name: str, type: Scalar) -> None:
    if name in OF_TWO:
        operands = crossed(edges(type), edges(type))
    elif type == FLOAT16 and "inv" not in name:
        operands = [np.arange(65536).astype(np.uint16).view(np.float16)]
    else:
        spread = np.random.default_rng(1).uniform(-2, 2, 300)
        operands = [np.concatenate([edges(type, 200), spread.astype(dtype_of(type))])]
    if name == "erfcinv":  # Python's own version loses its bits about 1, and has no logarithm of a tail that vanishes
        operands = [x[(x == 0) | (np.abs(x) > 1e-300) & (np.abs(x - 1) > 0.1)] for x in operands]
    columns = zip(*(x.tolist() for x in operands), strict=True)
    wanted = [float(numbers.intrinsic(name, list(row), type, type)) for row in columns]
    ulps = LOOSE.get(name, 4) if type == FLOAT64 else ULPS[type]
    assert_near(arithmetic.intrinsic(name, operands, type, type), wanted, type, ulps)


def truth(name: str, value: float) -> mpmath.mpf:
    x = mpmath.mpf(value)
    if name == "cbrt":
        return mpmath.cbrt(x)
    if name == "erfinv":
        return mpmath.erfinv(x)
    guess = mpmath.mpf(float(arithmetic.intrinsic("erfcinv", [np.float64(value)], FLOAT64, FLOAT64)))
    for _ in range(3):  # Newton's method on the logarithm
        tail = mpmath.erfc(guess)
        guess += mpmath.log(tail / x) * tail * mpmath.exp(guess * guess) * mpmath.sqrt(mpmath.pi) / 2
    return guess


@pytest.mark.parametrize("name", ["cbrt", "erfinv", "erfcinv"])
def test_functions_that_python_lacks_are_within_two_units(name: str) -> None:
    random = np.random.default_rng(2)
    values = np.concatenate(
        [random.uniform(0, 1, 150), random.uniform(0.45, 0.55, 50), 10.0 ** random.uniform(-323, 0, 60)]
    )
    if name == "erfcinv":
        values = np.concatenate([values, 1 + values[:100]])
    got = arithmetic.intrinsic(name, [values], FLOAT64, FLOAT64)
    with mpmath.workdps(40):
        for x, y in zip(values.tolist(), got.tolist(), strict=True):
            exact = truth(name, x)
            assert abs(y - exact) <= 2 * math.ulp(float(exact)), x


# Fused multiply-add


def assert_fused(a: np.ndarray, b: np.ndarray, c: np.ndarray, type: Scalar) -> None:
    expected = [numbers.fma(x, y, z, type) for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    assert_same(arithmetic.fma(a, b, c, type), expected, type)
    assert_same(fused.by_passes(a, b, c, type), expected, type)


@by_float
def test_fma_of_edges(type: Scalar) -> None:
    few = edges(type, 0)
    special = few[np.r_[: len(few) : 3, 1 : len(few) : 7]]
    assert_fused(*crossed(special, special, special), type)


@by_float
def test_fma_of_random_bits(type: Scalar) -> None:
    count = 3000
    a, b, c = (random_bits(type, count, seed) for seed in (3, 4, 5))
    assert_fused(a, b, c, type)
    # Terms of one size, so that they meet; with few bits, so that middles are met; and those that cancel.
    narrow = [np.random.default_rng(seed).integers(-64, 64, count).astype(dtype_of(type)) for seed in (6, 7, 8)]
    eps = np.finfo(dtype_of(type)).eps
    x, y, z = (1 + n * eps for n in narrow)
    for scale in (1.0, float(eps), float(eps) / 2, float(eps) ** 2 / 4):
        assert_fused(x, y, (narrow[2] * scale).astype(x.dtype), type)
    assert_fused(x, y, -(x * y), type)
    assert_fused(x, y, z * -1, type)


@by_float
def test_fma_at_the_ends_of_the_range(type: Scalar) -> None:
    """Products and sums about the smallest and the largest numbers, among them middles."""
    random = np.random.default_rng(9)
    info = np.finfo(dtype_of(type))
    count = 400 if type == FLOAT64 else 3000
    least = float(np.nextafter(info.dtype.type(0), info.dtype.type(1)))
    a = np.ldexp(random.integers(1, 32, count), math.frexp(least)[1] // 2 - 2).astype(info.dtype)
    b = np.ldexp(random.integers(-32, 32, count), math.frexp(least)[1] // 2 - 1).astype(info.dtype)
    c = (random.integers(-8, 8, count) * least).astype(info.dtype)
    assert_fused(a, b, c, type)
    assert_fused(a, b, np.copysign(info.tiny, b), type)
    top = np.ldexp(1 - random.integers(0, 4, count) * float(info.epsneg), info.maxexp // 2).astype(info.dtype)
    assert_fused(top, top, (-random.integers(0, 4, count) * float(info.max) * float(info.eps)).astype(info.dtype), type)


@by_float
def test_fma_next_to_middles(type: Scalar) -> None:
    """Products in the middle of two results, moved by the smallest number."""
    random = np.random.default_rng(10)
    info = np.finfo(dtype_of(type))
    least = float(np.nextafter(info.dtype.type(0), info.dtype.type(1)))
    first = (info.nmant + 1) // 2
    i, j = (2 * random.integers(0, 8, 400) + 1 for _ in range(2))
    a = (1 + i * 2.0**-first).astype(info.dtype)
    b = (1 + j * 2.0 ** (first - info.nmant - 1)).astype(info.dtype)
    c = (random.integers(-2, 3, 400) * least).astype(info.dtype)
    assert_fused(a, b, c, type)
    assert_fused(a, -b, c, type)


@by_float
def test_fma_of_numbers_that_are_the_same_for_all_lanes(type: Scalar) -> None:
    """One or two of the operands are single numbers; their exact products need a correction as well."""
    random = np.random.default_rng(11)
    kind = dtype_of(type)
    for _ in range(60):
        a, b = random.standard_normal(2).astype(kind)
        lanes = (random.standard_normal(16) * 2.0 ** random.integers(-20, 20)).astype(kind)
        near = (-(a * b) * (1 + random.integers(-4, 5, 16) * np.finfo(kind).eps)).astype(kind)
        for operands in ((a, b, lanes), (a, b, near), (a, lanes, b), (lanes, a, b)):
            every = np.broadcast_arrays(*operands)
            expected = [numbers.fma(*map(float, row), type) for row in zip(*every, strict=True)]
            assert_same(arithmetic.fma(*operands, type), expected, type)
            assert_same(fused.by_passes(*operands, type), expected, type)


@by_float
def test_fma_next_to_middles_of_subnormals(type: Scalar) -> None:
    """Half of the smallest number, a little more or less, beside so much that the little is lost at first."""
    info = np.finfo(dtype_of(type))
    least = math.frexp(float(np.nextafter(info.dtype.type(0), info.dtype.type(1))))[1] - 1
    half, eps = -(-least // 2), float(info.eps)
    a = np.ldexp(np.full(64, 1 + eps), least - half).astype(info.dtype)
    b = np.ldexp(np.array([1 - eps, 1 + eps] * 32), half - 1).astype(info.dtype)
    c = np.ldexp(2.0 ** (info.nmant - 2) + np.arange(64) // 2, least).astype(info.dtype)
    for x, y in ((a, c), (-a, c), (a, -c), (-a, -c)):
        assert_fused(x, b, y, type)


def bits32(pattern: int) -> float:
    return float(struct.unpack("f", struct.pack("I", pattern))[0])


def bits64(pattern: int) -> float:
    return float(struct.unpack("d", struct.pack("Q", pattern))[0])


any32, any64 = st.integers(0, 2**32 - 1).map(bits32), st.integers(0, 2**64 - 1).map(bits64)


@given(any32 | st.floats(width=32), any32 | st.floats(width=32), any32 | st.floats(width=32))
@example(1 + 2.0**-12, 1 + 2.0**-12, 2.0**-80)  # in double precision this rounds twice
@example(1 + 2.0**-12, 1 + 2.0**-12, -(2.0**-80))
@example(2.0**-126, 2.0**-24, 2.0**-149)
@example(2.0**-75, 2.0**-75, 2.0**-149)
@example(2.0**-75, -(2.0**-75), 0.0)
@example(1.0, -1.0, 1.0)
@example(-0.0, 1.0, -0.0)
@example(bits32(0x7F7FFFFF), 1.0, 2.0**103)
def test_single_fma(a: float, b: float, c: float) -> None:
    with np.errstate(all="ignore"):
        assert_fused(*(np.array([x], np.float32) for x in (a, b, c)), FLOAT32)


@settings(max_examples=300)
@given(any64 | st.floats(), any64 | st.floats(), any64 | st.floats())
@example(1 + 2.0**-27, 1 + 2.0**-27, 2.0**-200)
@example(1 + 2.0**-26, 1 + 2.0**-27, 2.0**-200)
@example(1 + 2.0**-52, 1 + 2.0**-52, 2.0**-53)
@example(2.0**53, 1.0, 1.0 + 2.0**-52)
@example(2.0**-530, 2.0**-530, 2.0**-1074)
@example(2.0**-538, 2.0**-537, 0.0)
@example(2.0**-500, 2.0**-500, 1.0)
@example(2.0**600, 2.0**600, -math.inf)
@example(2.0**1000, 2.0**23, -(2.0**1023))
@example(-0.0, 1.0, -0.0)
@example(2.0**-1074, 0.0, 5.0)
@example(bits64(0x7FEFFFFFFFFFFFFF), 1.0, 2.0**970)
@example(bits64(0x7FEFFFFFFFFFFFFF), 1.0, bits64(0x7C8FFFFFFFFFFFFF))
def test_double_fma(a: float, b: float, c: float) -> None:
    with np.errstate(all="ignore"):
        assert_fused(*(np.array([x]) for x in (a, b, c)), FLOAT64)


@by_float
def test_fma_needs_the_rounding_to_odd(type: Scalar, monkeypatch: pytest.MonkeyPatch) -> None:
    """That the cases above reach it."""
    monkeypatch.setattr(fused, "_to_odd", lambda total, error, integer: total)
    with pytest.raises(AssertionError, match="lane"):
        test_fma_next_to_middles(type)


# Many lanes


def test_lanes_go_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "PART", 7)
    monkeypatch.setattr(fused, "_PART", 7)
    for what, type, count in every_operation():
        operands = operands_of(type, count)
        for uniform in range(count):
            some = [x[len(x) // 2] if i == uniform and count > 1 else x for i, x in enumerate(operands)]
            whole = [x if x.ndim else np.full(len(operands[0]), x) for x in some]
            got, wanted = apply(what, type, some), apply(what, type, whole)
            assert_near(got, wanted.tolist(), type_of(got), 1) if got.dtype.kind == "f" else None
            assert got.shape == operands[0].shape
            assert got.dtype == wanted.dtype
            if what == "fma":
                assert_same(fused.by_passes(*some, type), wanted.tolist(), type)


def test_no_lanes() -> None:
    for what, type, count in every_operation():
        got = apply(what, type, [np.empty(0, dtype_of(type))] * count)
        assert got.shape == (0,), what
