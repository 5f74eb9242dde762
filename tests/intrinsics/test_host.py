"""What functions compute on the host is what they compute in kernels, as the interpreter has it.

To the last bit for what tools.host_library wrote down (float32 as contracted kernels have it, float64 with nothing
fused); nearly for the short functions of `host_math`, whose sums are exact.
"""

from __future__ import annotations

import itertools
import math
import pickle
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kbuild as kb
from kbuild.intrinsics import collectives
from kbuild.intrinsics.catalogue import entry
from kbuild.intrinsics.library import FUNCTIONS, OVERLOADS
from kbuild.intrinsics.table import ROWS
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import Array, Matrix, Type, Vector, is_float
from kbuild.loader import host_calls, host_library, host_math, host_random, values
from kbuild.loader.abi import FLOAT32
from kbuild.loader.builtins import TABLE
from kbuild.loader.host_math import RandomState
from kbuild.sim import numbers
from kbuild.sim.threads import run
from kbuild.sim.values import Memory
from tests.helpers import golden, kernels
from tools import host_library as tool
from tools.signatures import concrete

WRITTEN = [
    (name, i) for made in (host_library, host_random) for name in made.TABLE for i in range(len(made.TABLE[name]))
]
APART = {"identity", "lower_bound"}  # a constant, an array of any type
SHORT = [(name, i) for name in host_math.HOST if name not in APART for i in range(len(entry(name).uses))]
_folder: list[Path] = []


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    _folder[:] = [tmp_path_factory.mktemp("host")]


@cache
def lowered(name: str, use: int, kind: str = "") -> Kernel:
    """A kernel that calls the function once; fused where the language fixes the types."""
    signature = entry(name).uses[use].signature
    is_fixed = not kind and name in host_random.TABLE
    one = tool.at_types(name, signature) if not kind else next(one for one in concrete(signature) if kind in str(one))
    text = one.kernel("one", name, is_stateful=entry(name).is_stateful)
    (kernel,) = kernels.lower_text(_folder[0], text, fmad=is_fixed)
    return kernel


def interpreted(kernel: Kernel, arguments: list[Any]) -> list[Any]:
    """What the kernel stores, as plain numbers and lists."""
    types = [p.type for p in kernel.function.parameters]
    assert all(isinstance(t, Array) for t in types)
    given = [
        Memory(t.element, (len(a),), list(a)) if p.name == "cdf_" else Memory(t.element, (1,), [plain(a)])
        for p, t, a in zip(kernel.function.parameters, types, arguments, strict=False)
    ]
    outs = [Memory(t.element, (1,), [None]) for t in types[len(given) :]]
    run(kernel, (1,), [*given, *outs])
    return [out.data[0] for out in outs]


def plain(value: Any) -> Any:
    if isinstance(value, values.Mat):
        return [list(row) for row in value]
    return list(value) if isinstance(value, values.Vec) else int(value) if isinstance(value, RandomState) else value


NAMED: dict[str, st.SearchStrategy[Any]] = {
    "cdf_": st.lists(st.floats(0.0, 1.0, width=32), max_size=6).map(lambda items: [*sorted(items), 1.0]),
    "epsilon_": st.sampled_from([0.0, 1e-6, 1.0]).map(kb.float32),
    "lam_": st.floats(-1.0, 60.0, width=32),
    "octaves_": st.integers(1, 3),
    "state_": st.integers(0, 2**32 - 1),
}
SMALL = st.one_of(st.floats(-8.0, 8.0, width=32), st.sampled_from([0.0, 1.0, -1.0, 0.5]))
COUNTS = st.one_of(st.integers(0, 9), st.integers(-(2**31), 2**31 - 1))


def of_type(name: str, type: Type) -> st.SearchStrategy[Any]:
    if name in NAMED:
        return NAMED[name]
    if isinstance(type, Vector):
        return st.lists(SMALL, min_size=type.length, max_size=type.length).map(values.class_of(type))
    if isinstance(type, Matrix):
        size = type.rows * type.columns
        return st.lists(SMALL, min_size=size, max_size=size).map(lambda items: values.class_of(type)(*items))
    if is_float(type):
        return SMALL
    return COUNTS if type.spelling == "int32" else COUNTS.map(abs)


@st.composite
def arguments_of(draw: st.DrawFn, kernel: Kernel) -> list[Any]:
    found = {}
    for parameter in kernel.function.parameters:
        assert isinstance(parameter.type, Array)
        if not parameter.name.startswith("out"):
            found[parameter.name] = draw(of_type(parameter.name, parameter.type.element))
    if {"i_", "j_", "k_"} <= found.keys():  # three different axes
        found.update(
            zip(("i_", "j_", "k_"), draw(st.sampled_from(list(itertools.permutations(range(3))))), strict=True)
        )
    return list(found.values())


def on_host(name: str, arguments: list[Any]) -> list[Any]:
    found = getattr(kb, name)(*arguments)
    return [plain(one) for one in (found if type(found) is tuple else (found,))]


def bits(value: Any) -> str:
    """A text that tells every value from every other, signs of zero too, but not one NaN from another."""
    return repr([bits(item) for item in value]) if isinstance(value, (list, tuple)) else repr(value)


@pytest.mark.parametrize(("name", "use"), WRITTEN)
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_written_functions_agree_to_the_last_bit(name: str, use: int, data: st.DataObject) -> None:
    kernel = lowered(name, use)
    arguments = data.draw(arguments_of(kernel))
    wanted = interpreted(kernel, arguments)
    if entry(name).is_stateful:
        arguments[0] = RandomState(arguments[0])
    if name == "quat_rpy":  # of numbers alone the host makes float32
        wanted = [[kb.float32(x) for x in wanted[0]]]
    assert bits(on_host(name, arguments)) == bits(wanted)


@pytest.mark.parametrize(("name", "use"), SHORT)
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_short_functions_agree(name: str, use: int, data: st.DataObject) -> None:
    kernel = lowered(name, use, "float64")
    arguments = data.draw(arguments_of(kernel))
    (wanted,) = interpreted(kernel, arguments)
    (found,) = on_host(name, arguments)
    assert type(found) is type(wanted)
    assert bits(found) == bits(wanted) or flat(found) == pytest.approx(flat(wanted), rel=1e-12, abs=1e-12, nan_ok=True)


def flat(value: Any) -> list[float]:
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    "name", ["determinant", "inverse", "svd3", "quat_rotate", "transform_inverse", "spatial_cross"]
)
def test_float32_arguments_give_float32(name: str) -> None:
    """The double result, rounded once: at least as near as a kernel's."""
    use = 1 if name in ("determinant", "inverse") else 0
    exact, single = lowered(name, use, "float64"), lowered(name, use, "float32")
    random.seed(7)
    for _ in range(20):
        given = [of_random(p.type.element) for p in single.function.parameters if not p.name.startswith("out")]
        found = on_host(name, given)
        wanted = interpreted(exact, given)
        for one, other in zip(found, wanted, strict=True):
            if name == "determinant":
                assert one == other
            else:
                assert flat(one) == [kb.float32(x) for x in flat(other)]


def of_random(type: Any) -> Any:
    size = type.length if isinstance(type, Vector) else type.rows * type.columns
    return values.class_of(type)(*(random.uniform(-2.0, 2.0) for _ in range(size)))


@pytest.mark.parametrize("exact", [False, True])
def test_the_modules_are_what_the_library_says(exact: bool, pytestconfig: pytest.Config) -> None:
    golden.check(tool.MODULES[exact], tool.module(exact), pytestconfig)


def test_every_written_function_is_on_the_host() -> None:
    assert sorted(tool.functions()) == sorted([*host_library.TABLE, *host_random.TABLE])


@given(*[st.floats(width=32)] * 3)
def test_fused_multiply_add_of_float32(a: float, b: float, c: float) -> None:
    assert bits(host_math.fused(a, b, c)) == bits(numbers.fma(a, b, c, FLOAT32))


@given(st.integers(2048, 2895), st.integers(2048, 2895), st.integers(40, 140), st.sampled_from([-1.0, 1.0]))
def test_fused_multiply_add_beside_a_tie(a: int, b: int, exponent: int, sign: float) -> None:
    """A product of 25 bits lies between two float32 numbers; the third says which, however small it is."""
    x, y, z = float(2 * a + 1), float(2 * b + 1), math.ldexp(sign, -exponent)
    for factor in (x, -x):
        assert host_math.fused(factor, y, z) == numbers.fma(factor, y, z, FLOAT32)


@given(*[st.floats()] * 3)
def test_fused_multiply_add_of_float64(a: float, b: float, c: float) -> None:
    from kbuild.ir.types import FLOAT64

    assert bits(kb.fma(a, b, c)) == bits(numbers.fma(a, b, c, FLOAT64))


@given(st.lists(st.integers(0, 9), max_size=9), st.integers(-1, 10), st.integers(0, 9), st.integers(0, 9))
def test_lower_bound(items: list[int], value: int, begin: int, end: int) -> None:
    items = sorted(items)
    begin, end = min(begin, len(items)), min(end, len(items))
    wanted = next((i for i in range(begin, end) if items[i] >= value), max(begin, end))
    assert kb.lower_bound(items, begin, end, value) == (wanted if begin <= end else begin)
    assert kb.lower_bound(items, value) == sum(item < value for item in items)


def test_identity() -> None:
    assert kb.identity(3, kb.float64) == kb.mat33d(1, 0, 0, 0, 1, 0, 0, 0, 1)
    assert type(kb.identity(n=2, dtype=int)) is kb.types.matrix((2, 2), int)


def test_integers_stay_integers() -> None:
    m, v = kb.types.matrix((2, 2), int)(1, 2, 3, 4), kb.vec2i(5, -6)
    assert (kb.determinant(m), kb.trace(m), kb.ddot(m, m), kb.norm_l1(v)) == (-2, 5, 30, 11)
    assert all(type(x) is int for x in (kb.determinant(m), kb.trace(m), kb.ddot(m, m), kb.norm_l1(v)))
    assert kb.diag(v) == kb.types.matrix((2, 2), int)(5, 0, 0, -6)
    assert kb.outer(v, v)[1, 1] == 36
    assert kb.skew(kb.vec3i(1, 2, 3))[0] == (0, -3, 2)


def test_a_state_advances_and_is_a_number_for_kernels() -> None:
    state = kb.rand_init(42)
    before = int(state)
    assert state == before == kb.rand_init(42)
    first, second = kb.randf(state), kb.randf(state)
    assert first != second
    assert int(state) != before
    assert repr(state) == f"<kb random state {int(state)}>"
    assert kb.uint32(state) == int(state)
    assert kb.noise(state, 0.25) == kb.noise(int(state), 0.25)
    assert kb.rand_init(42) != kb.rand_init(42, 1)
    draws = [kb.randi(state, -3, 3) for _ in range(200)]
    assert set(draws) == set(range(-3, 3))
    with pytest.raises(TypeError, match="unhashable"):
        hash(state)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: kb.randf(7),
            TypeError,
            r"takes \(state: RandomState\) or .*, not \(int 7\); make the state .* kb.rand_init",
        ),
        (lambda: kb.noise(1, kb.vec3d()), TypeError, r"xyz: vec3\) or .*not \(int 1, vec3d vec3d"),
        (lambda: kb.determinant(kb.types.matrix((2, 3), float)()), TypeError, r"takes \(m: mat22\) or"),
        (lambda: kb.quat_rotate(kb.quat(), kb.vec3d()), TypeError, r"takes \(q: quat, v: vec3\), not"),
        (lambda: kb.quat_rotate(kb.quat(), v=kb.vec3(), w=1), TypeError, r"v=vec3 vec3\(.*, w=int 1\)"),
        (lambda: kb.curlnoise(1, kb.vec2(), gain="x"), TypeError, "gain=str 'x'"),
        (lambda: kb.noise(2**32, 1.0), OverflowError, "does not fit uint32"),
        (lambda: kb.quat_slerp(kb.quat(), kb.quat()), TypeError, r"takes \(a: quat, b: quat, t: float64\)"),
        (lambda: kb.outer(kb.vec2(), kb.vec2d()), TypeError, "outer of vectors of float32 and float64"),
        (lambda: kb.tid(), TypeError, "works inside kernels only"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_defaults_and_names() -> None:
    xy = kb.vec2(0.3, 0.7)
    assert kb.curlnoise(3, xy) == kb.curlnoise(3, xy, 1, 2.0, 0.5) == kb.curlnoise(state=3, xy=xy, gain=0.5)
    assert kb.norm_huber(kb.vec2(3.0, 4.0), delta=2.0) == 2.0 * (5.0 - 1.0)


def test_functions_are_found_once() -> None:
    assert host_calls.find("host_library", "inverse") is host_calls.find("host_library", "inverse")
    assert pickle.loads(pickle.dumps(kb.inverse(kb.mat22(1, 2, 3, 4)))) == kb.inverse(kb.mat22(1, 2, 3, 4))


def test_all_that_is_mathematics_is_on_the_host() -> None:
    of_threads = {name for name in ROWS if ROWS[name].has_effects} | {*collectives.OVERLOADS}
    pure = {*ROWS, *FUNCTIONS, *OVERLOADS} - of_threads
    assert [name for name in sorted(pure) if not TABLE[name].is_on_host] == []


def test_fma_of_vectors_and_matrices_goes_element_by_element() -> None:
    a, b, c = kb.vec3(0.1, 2.0, 3.0), kb.vec3(0.3, 5.0, 6.0), kb.vec3(-0.03, 8.0, 9.0)
    assert list(kb.fma(a, b, c)) == [host_math.fused(*parts) for parts in zip(a, b, c, strict=True)]
    assert list(kb.fma(a, 2.0, c)) == [host_math.fused(x, 2.0, y) for x, y in zip(a, c, strict=True)]
    m = kb.mat22d(1.0, 2.0, 3.0, 4.0)
    assert kb.fma(m, m, m) == kb.mat22d(2.0, 6.0, 12.0, 20.0)
