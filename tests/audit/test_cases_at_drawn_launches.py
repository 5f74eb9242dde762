"""What is said without the launch, or without what arrays hold, tried at launches that are drawn.

A case that is proved without its launch must be clean at others too; and at its own, whatever arrays hold of which it
does not say it.

Launches are drawn for each case from a seed of its own: grids, shapes of arrays, values of scalars, what index arrays
hold. Those that the source excludes (`kb.assume`) say nothing; a fault of another kind than the case is about says
nothing either, since it is not what the label speaks of.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np
import pytest

from kbuild.audit.findings import SAFETY
from kbuild.ir.types import Array, Scalar
from tests.audit import on_sim
from tests.audit.cases import At, Case, cases
from tests.audit.on_sim import Shown

LAUNCHES = 16
FILLINGS = 4
EXTENTS = (1, 2, 3, 7, 16, 33, 64, 65, 100, 128, 129)
GRIDS = (1, 1, 2, 3)
NUMBERS = (-3, -1, 0, 1, 2, 3, 8, 31, 33, 64, 100)
PROVED = [one for one in cases().values() if one.about in SAFETY and one.expected(one.about, "symbolic") == "proved"]


@pytest.mark.parametrize("case", [pytest.param(one, id=one.name) for one in PROVED])
def test_what_is_proved_of_every_launch(case: Case) -> None:
    numbers = np.random.default_rng(zlib.crc32(case.name.encode()))
    shown = [_shown(case, numbers) for _ in range(LAUNCHES)]
    assert sum(one is None or one.check != "AssumptionFailed" for one in shown) >= 1
    assert [one for one in shown if one is not None and one.check == case.about] == []


def _shown(case: Case, numbers: np.random.Generator) -> Shown | None:
    at = _drawn(case, numbers)
    there = Case(case.kernel, case.about, case.suite, at)
    return on_sim.shown(case.ir, there.launch, there.arguments())


def _drawn(case: Case, numbers: np.random.Generator) -> At:
    """Another launch with blocks of the same size."""
    given: dict[str, Any] = {}
    sizes: dict[int, int] = {}
    for name, type in case.types.items():
        before = case.at.given[name]
        if isinstance(type, Array):
            shape = tuple(int(numbers.choice(EXTENTS)) for _ in range(type.ndim))
            if case.ir.launch_dim:  # what is equal stays so
                shape = tuple(sizes.setdefault(n, extent) for n, extent in zip(case.shapes[name], shape, strict=True))
            keeps = numbers.random() < 0.3  # an assumption or a guard may want the extents that it has
            shape = case.shapes[name] if keeps else shape
            given[name] = numbers.integers(-2, 70, shape).tolist() if isinstance(before, list) else shape
        else:
            assert isinstance(type, Scalar)
            drawn = int(numbers.choice(NUMBERS))
            given[name] = before if numbers.random() < 0.3 else float(drawn) if type.kind == "float" else drawn
    block = math.prod(case.launch.block)
    if case.ir.launch_dim:
        there = Case(case.kernel, case.about, case.suite, At(1, **given))
        dim = on_sim.declared(case.ir, dict(zip(case.types, there.arguments(), strict=True)))
        return At(tuple(max(n, 1) for n in dim), case.at.block, **given)
    grid = int(numbers.choice(GRIDS))
    if case.at.grid is not None:
        return At(grid=tuple(int(numbers.choice(GRIDS)) for _ in range(2)), block=case.at.block, **given)
    if case.ir.ndim > 1:
        sizes = [int(numbers.choice((1, 2, 4, 8))) for _ in range(case.ir.ndim - 1)]
        return At((grid * block, *sizes), case.at.block, **given)
    return At(grid * block, case.at.block, **given)


@pytest.mark.parametrize("name", ["count_given_good", "flat_plane_good"])
def test_what_is_unknown_without_a_launch_may_go_wrong(name: str) -> None:
    """So that launches are drawn which would show it."""
    numbers = np.random.default_rng(1)
    shown = [_shown(cases()[name], numbers) for _ in range(LAUNCHES)]
    assert any(one is not None and one.check == "bounds" for one in shown)


@pytest.mark.parametrize("case", [pytest.param(one, id=one.name) for one in cases().values() if one.kind == "good"])
def test_what_arrays_hold_does_not_matter(case: Case) -> None:
    for seed in range(FILLINGS):
        numbers = np.random.default_rng(seed)
        arguments = case.arguments()
        for name, argument in zip(case.types, arguments, strict=True):
            if isinstance(argument, np.ndarray) and name not in case.contents:
                argument[...] = _filling(argument, numbers)
        shown = on_sim.shown(case.ir, case.launch, arguments)
        if shown is not None:  # then the label says that it may be
            assert {line for line in shown.lines if line in case.lines(shown.check, "any")}, shown


def _filling(argument: np.ndarray, numbers: np.random.Generator) -> np.ndarray:
    """The ends of the type and numbers near zero, or any."""
    if argument.dtype.kind == "f":
        return numbers.choice([0.0, -1e30, 1e30, 1.0], argument.shape)
    least, most = np.iinfo(argument.dtype).min, np.iinfo(argument.dtype).max
    if numbers.random() < 0.5:
        return numbers.choice(np.array([least, most, 0, 1, 3, most - 1], argument.dtype), argument.shape)
    return numbers.integers(least, most, argument.shape, argument.dtype)
