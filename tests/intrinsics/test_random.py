"""Random numbers: the hash bit by bit, the state that a call advances, and the distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kbuild.errors import CompileError
from kbuild.intrinsics.library import OVERLOADS
from kbuild.intrinsics.random import STATEFUL
from tests.helpers import kernels
from tests.helpers.both_ways import BothWays, zeros
from tests.helpers.host_gpu import device

Body = Callable[[str, str], BothWays]
MASK = 2**32 - 1
COUNT = 20000


def pcg(x: int) -> int:
    """Listing `pcg` of Jarzynski and Olano's paper, on Python's integers."""
    state = (x * 747796405 + 2891336453) & MASK
    word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & MASK
    return ((word >> 22) ^ word) & MASK


def test_the_hash_is_that_of_the_paper(body: Body) -> None:
    run = body(
        "out: kb.array2d(dtype=kb.uint32), seed: int",
        """
        out[i, 0] = kb.rand_init(seed)
        state = kb.rand_init(seed, i)
        out[i, 1] = state
        out[i, 2] = kb.randu(state)
        out[i, 3] = kb.uint32(kb.randi(state))
        out[i, 4] = kb.randu(state, 10, 20)
        out[i, 5] = kb.uint32(kb.randi(state, -5, 6) + 5)
        out[i, 6] = state
        """,
    )
    out = zeros(50, 7, kind=np.uint32)
    run(50, out, -7)
    for i, row in enumerate(out.tolist()):
        state = pcg((-7 + pcg(i)) & MASK)
        states = [state]
        for _ in range(4):
            states.append(pcg(states[-1]))
        assert row[:4] == [pcg(-7 & MASK), *states[:3]]
        assert row[4] == states[3] % 10 + 10
        assert row[5] == states[4] % 11
        assert row[6] == states[4]


def test_floats_are_multiples_of_a_small_step(body: Body) -> None:
    run = body(
        "out: kb.array2d(dtype=float)",
        """
        state = kb.rand_init(1, i)
        out[i, 0] = kb.randf(state)
        out[i, 1] = kb.randf(state, 2.0, 4.0)
        """,
    )
    out = zeros(100, 2)
    run(100, out)
    for i, (first, second) in enumerate(out.tolist()):
        state = pcg(pcg((1 + pcg(i)) & MASK))
        assert first == (state >> 8) * 2.0**-24
        assert second == pytest.approx(2.0 + 2.0 * (pcg(state) >> 8) * 2.0**-24, rel=1e-7)


def test_order_of_draws_is_the_order_of_the_source(body: Body) -> None:
    run = body(
        "out: kb.array2d(dtype=kb.uint32)",
        """
        state = kb.rand_init(5)
        out[i, 0] = state ^ kb.randu(state)
        pair = kb.vec2ui(kb.randu(state), kb.randu(state))
        out[i, 1] = pair[0]
        out[i, 2] = pair[1]
        kb.randu(state)
        out[i, 3] = kb.randu(state) if i == 0 else state
        a, b = state, kb.randu(state)
        out[i, 4] = a
        out[i, 5] = b
        state += kb.randu(state)
        out[i, 6] = state
        out[i, 7] = kb.randu(kb.rand_init(9))
        while kb.randu(state) % kb.uint32(3) != kb.uint32(0):
            out[i, 8] += kb.uint32(1)
        out[i, 9] = kb.randu(state, 0, kb.randu(state))
        """,
    )
    out = zeros(1, 10, kind=np.uint32)
    run(1, out)
    states = [pcg(5)]
    for _ in range(5):
        states.append(pcg(states[-1]))
    row = out[0].tolist()
    assert row[:4] == [states[0] ^ states[1], states[2], states[3], states[5]]
    after = pcg(states[5])
    assert row[4:6] == [states[5], after]
    state = (after + pcg(after)) & MASK
    assert row[6] == state
    assert row[7] == pcg(pcg(9))
    state, trips = pcg(state), 0
    while state % 3:
        state, trips = pcg(state), trips + 1
    assert row[8] == trips
    limit = pcg(state)
    assert row[9] == pcg(limit) % limit


def test_a_part_of_a_variable_is_a_state_too(body: Body, tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.struct
        class Walker:
            state: kb.uint32
            steps: int

        @kb.func
        def walk(state: kb.uint32):
            return kb.randf(state) + kb.randf(state), state

        @kb.kernel
        def one(out: kb.array(dtype=kb.uint32), sums: kb.array(dtype=float)):
            walker = Walker(state=kb.rand_init(3))
            kb.randf(walker.state)
            out[0] = walker.state
            sums[0], walker.state = walk(walker.state)
            out[1] = walker.state
            states = kb.vec2ui(walker.state, walker.state)
            kb.randf(states[1])
            out[2] = states[1]
            out[3] = states[0]
        """,
    )
    out, sums = zeros(4, kind=np.uint32), zeros(1)
    run(1, out, sums)
    states = [pcg(3)]
    for _ in range(4):
        states.append(pcg(states[-1]))
    assert out.tolist() == [states[1], states[3], states[4], states[3]]


DRAWS = {
    "randn": ("kb.randn(state)", 1),
    "sample_triangle": ("kb.sample_triangle(state)", 2),
    "sample_unit_ring": ("kb.sample_unit_ring(state)", 2),
    "sample_unit_disk": ("kb.sample_unit_disk(state)", 2),
    "sample_unit_square": ("kb.sample_unit_square(state)", 2),
    "sample_unit_sphere": ("kb.sample_unit_sphere(state)", 3),
    "sample_unit_sphere_surface": ("kb.sample_unit_sphere_surface(state)", 3),
    "sample_unit_hemisphere": ("kb.sample_unit_hemisphere(state)", 3),
    "sample_unit_hemisphere_surface": ("kb.sample_unit_hemisphere_surface(state)", 3),
    "sample_unit_cube": ("kb.sample_unit_cube(state)", 3),
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """Many draws of every distribution; the first few are the interpreter's too."""
    found = {}
    for name, (call, size) in DRAWS.items():
        kind = {1: "float", 2: "kb.vec2", 3: "kb.vec3"}[size]
        text = f"""
        @kb.kernel
        def one(out: kb.array(dtype={kind})):
            i = kb.tid()
            state = kb.rand_init(42, i)
            out[i] = {call}
        """
        run = BothWays(tmp_path_factory.mktemp(name), text)
        shape = (COUNT, size) if size > 1 else (COUNT,)
        run(20, np.zeros(shape, np.float32)[:20])
        out = np.zeros(shape, np.float32)
        run.module.launch(run.kernel.name, COUNT, [device(out)])
        found[name] = out.astype(np.float64)
    return found


def near(found: float, wanted: float, spread: float) -> bool:
    """A mean over COUNT draws lies within five standard errors."""
    return abs(found - wanted) < 5.0 * spread / math.sqrt(COUNT)


def test_normal_numbers(drawn: dict[str, np.ndarray]) -> None:
    x = drawn["randn"]
    assert near(x.mean(), 0.0, 1.0)
    assert near((x**2).mean(), 1.0, math.sqrt(2.0))
    assert near((x**4).mean(), 3.0, math.sqrt(96.0))
    assert near((x < 1.0).mean(), 0.841344746, 0.37)


def test_points_lie_where_they_should(drawn: dict[str, np.ndarray]) -> None:
    length = {name: np.sqrt((x**2).sum(-1)) for name, x in drawn.items() if x.ndim == 2}
    for name in ("sample_unit_ring", "sample_unit_sphere_surface", "sample_unit_hemisphere_surface"):
        assert np.allclose(length[name], 1.0, atol=1e-6), name
    for name in ("sample_unit_disk", "sample_unit_sphere", "sample_unit_hemisphere"):
        assert length[name].max() <= 1.0 + 1e-6, name
    for name in ("sample_unit_hemisphere", "sample_unit_hemisphere_surface"):
        assert drawn[name][:, 2].min() >= 0.0
        assert drawn[name][:, 2].min() < 0.01
    for name in ("sample_unit_square", "sample_unit_cube"):
        assert drawn[name].min() >= -0.5
        assert drawn[name].max() < 0.5
    assert drawn["sample_triangle"].min() >= 0.0
    assert drawn["sample_triangle"].sum(-1).max() <= 1.0 + 1e-6


def test_points_are_spread_evenly(drawn: dict[str, np.ndarray]) -> None:
    """First and second moments of every distribution."""
    for name, (mean, square) in {
        "sample_unit_ring": (0.0, 1 / 2),
        "sample_unit_disk": (0.0, 1 / 4),
        "sample_unit_sphere_surface": (0.0, 1 / 3),
        "sample_unit_sphere": (0.0, 1 / 5),
        "sample_unit_square": (0.0, 1 / 12),
        "sample_unit_cube": (0.0, 1 / 12),
        "sample_triangle": (1 / 3, 1 / 6),
    }.items():
        for axis in range(drawn[name].shape[1]):
            x = drawn[name][:, axis]
            assert near(x.mean(), mean, 0.8), name
            assert near((x**2).mean(), square, 0.5), name
    assert near(drawn["sample_unit_hemisphere_surface"][:, 2].mean(), 1 / 2, 0.3)
    assert near(drawn["sample_unit_hemisphere"][:, 2].mean(), 3 / 8, 0.3)


@pytest.mark.parametrize("rate", [0.0, 0.3, 4.0, 9.9, 10.0, 35.0, 400.0])
def test_poisson(body: Body, rate: float) -> None:
    run = body(
        "out: kb.array(dtype=int), states: kb.array(dtype=kb.uint32), rate: float",
        """
        state = kb.rand_init(3, i)
        states[i] = state
        out[i] = kb.int32(kb.poisson(state, rate))
        states[i] ^= state
        """,
    )
    few = zeros(20, kind=np.int32)
    run(20, few, zeros(20, kind=np.uint32), rate)
    out, states = zeros(COUNT, kind=np.int32), zeros(COUNT, kind=np.uint32)
    run.module.launch(run.kernel.name, COUNT, [device(out), device(states), rate])
    assert near(out.mean(), rate, math.sqrt(rate) + 1e-9)
    assert near(((out - rate) ** 2).mean(), rate, math.sqrt(2.0 * rate * rate + rate) + 1e-9)
    assert (states == 0).all() == (rate == 0.0)
    if rate == 35.0:  # the whole distribution, not only its moments
        k = np.arange(15, 60)
        wanted = np.exp(k * math.log(rate) - rate - np.array([math.lgamma(n + 1.0) for n in k]))
        found = np.array([(out == n).mean() for n in k])
        assert np.abs(found - wanted).max() < 0.01


def test_sample_cdf(body: Body) -> None:
    run = body(
        "cdf: kb.array(dtype=float), out: kb.array(dtype=int)",
        """
        state = kb.rand_init(1, i)
        out[i] = kb.sample_cdf(state, cdf)
        """,
    )
    cdf, out = np.array([0.1, 0.1, 0.5, 1.0], np.float32), zeros(2000, kind=np.int32)
    run(2000, cdf, out)
    counts = [(out == n).mean() for n in range(4)]
    assert counts == pytest.approx([0.1, 0.0, 0.4, 0.5], abs=0.05)
    out = zeros(50, kind=np.int32)
    run(50, np.array([0.0, 0.2], np.float32), out)  # does not reach 1: the last one
    assert set(out.tolist()) == {1}


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("x[0] = kb.randf(states[0])", "KB171"),
        ("x[0] = kb.randf()", "KB130"),
        ("x[0] = kb.randf(kb.rand_init(1), 1.0)", "kb.randf takes (state: integer) or (state: integer, low: number"),
        ("x[0] = kb.randf(count)", "argument 'state' of"),
        ("x[0] = kb.randf(states)", "not (array1[uint32])"),
        ("x[0] = kb.randf(count + count)", "KB171"),
    ],
)
def test_what_is_no_state_is_refused(tmp_path: Path, statement: str, message: str) -> None:
    text = f"""
    @kb.kernel
    def one(x: kb.array(dtype=float), states: kb.array(dtype=kb.uint32), count: int):
        {statement}
    """
    with pytest.raises(CompileError) as caught:
        kernels.lower_text(tmp_path, text)
    assert message in "".join(d.render() for d in caught.value.diagnostics)


def test_every_stateful_name_is_a_function() -> None:
    assert set(DRAWS) | {"poisson", "sample_cdf", "randi", "randu", "randf"} == STATEFUL
    assert "rand_init" in OVERLOADS
