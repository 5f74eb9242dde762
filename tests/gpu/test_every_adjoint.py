"""Adjoints of kernels that no other test differentiates, with random inputs: on a GPU as in the simulator.

Those that the tests of the language launch are held against each other by `shadow_backward.py`.
"""

import random

import pytest

pytest.importorskip("numpy")
settings = pytest.importorskip("kbuild.simulate.settings")

from gpukernels import accuracy, graphs, launching, options, warpish  # noqa: E402

import kbuild as kb  # noqa: E402
from tests.gpu.shadow_backward import BackwardShadow  # noqa: E402

pytestmark = pytest.mark.gpu

COUNT = 100


@pytest.fixture(autouse=True)
def as_before():
    known = settings.current()
    yield
    settings.configure(**{name: getattr(known, name) for name in ("races", "unassigned", "divisions")})


def numbers(dtype=float, seed=1, low=0.1, high=0.9):
    """An array; vectors and matrices of random components."""
    draw = random.Random(seed)
    length = len(dtype()) if hasattr(dtype, "__len__") else 1
    if dtype is kb.mat33d:
        rows = [[draw.uniform(low, high) for _ in range(3)] for _ in range(3 * COUNT)]
        return kb.array([tuple(map(tuple, rows[i : i + 3])) for i in range(0, 3 * COUNT, 3)], dtype=dtype)
    if length == 1:
        return kb.array([draw.uniform(low, high) for _ in range(COUNT)], dtype=dtype)
    return kb.array([tuple(draw.uniform(low, high) for _ in range(length)) for _ in range(COUNT)], dtype=dtype)


def held(kernel, args, dim=COUNT):
    """Asserts that the adjoint of a launch is the simulator's; how near."""
    shadow = BackwardShadow("")
    shadow(kernel, dim, args)
    assert not shadow.differ
    assert shadow.counts["not tried"] == 0, shadow.reasons
    return next(state for state in ("exact", "near", "without numbers") if shadow.counts[state])


@pytest.mark.parametrize("type", ["float16", "float32", "float64"])
def test_every_function(type):
    kernel, dtype = getattr(accuracy, f"compute_{type}"), getattr(kb, type)
    columns = [numbers(dtype, seed) for seed in (1, 2, 3)]
    wrong = []
    for function, expression in enumerate(accuracy.EXPRESSIONS[f"compute_{type}"]):
        shadow = BackwardShadow("")
        shadow(kernel, COUNT, [*columns, kb.zeros(COUNT, dtype=dtype), function])
        if shadow.differ or shadow.counts["not tried"]:
            wrong.append("%s: %s %s" % (expression, shadow.differ, shadow.reasons))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("number", range(8))
def test_other_kernels(number):
    ints = kb.zeros(COUNT, dtype=int)
    kernel, args, is_exact = [
        (graphs.advance, [numbers(), numbers(seed=2), 0.25], True),
        (graphs.third, [numbers(), 0.75], True),
        (launching.fill, [numbers(), 0.75], True),
        (launching.add, [numbers(), 0.75, numbers(seed=2)], True),
        (options.heavy, [numbers(), ints, 3], True),
        (warpish.unfused, [numbers(), numbers(seed=2)], True),
        (warpish.between, [numbers(kb.vec3, seed, -1.0, 1.0) for seed in (1, 2, 3)], False),
        (warpish.fives, [kb.zeros(COUNT, dtype=warpish.vec5), numbers()], True),
    ][number]
    state = held(kernel, args)
    assert state == "exact" if is_exact else state in ("exact", "near")


def test_eigenvalues():
    """Iterations, with tolerances that are compared."""
    a, p = numbers(kb.mat33d), kb.zeros(COUNT, dtype=kb.mat33d)
    assert held(warpish.eigen, [a, p, kb.zeros(COUNT, dtype=kb.vec3d)]) in ("exact", "near")
