"""The cut into translation units depends on names alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kbuild.lang.reach import Reach
from kbuild.loader.types import Kernel
from kbuild.scan.data import Request, ScannedKernel, ScannedUnit
from kbuild.scan.units import Found, cut

REQUEST = Request([], ["pkg.a"], [], True, False, False)


def found(names: set[str], **options: Any) -> list[Found]:
    """Kernels of a module `pkg.a` with these names, each reaching itself alone."""
    made = []
    for name in sorted(names):
        kernel = Kernel(_function, options)
        kernel.module, kernel.name = "pkg.a", f"pkg.a:{name}"
        row = ScannedKernel(kernel.name, kernel.name, name, 256, [], "", [], [], ["m.py", 1])
        made.append(Found(kernel, Reach(parts=[name]), row))
    return made


def _function() -> None:
    """Stands for a kernel's Python function."""


def units(names: set[str], **changes: Any) -> dict[frozenset[str], ScannedUnit]:
    """Units by the names of their kernels."""
    kernels = found(names)
    return {
        frozenset(kernels[i].row.name.partition(":")[2] for i in unit.kernels): unit
        for unit in cut(kernels, replace(REQUEST, **changes))
    }


NAMES = st.sets(st.integers(0, 10_000).map("k{}".format), min_size=1, max_size=120)


@given(NAMES)
def test_every_kernel_is_in_one_unit(names: set[str]) -> None:
    members = [name for unit in units(names) for name in unit]
    assert sorted(members) == sorted(names)
    assert max(map(len, units(names))) <= 16
    if len(names) <= 16:
        assert len(units(names)) == 1


@given(NAMES, st.integers(20_000, 30_000).map("k{}".format))
def test_a_new_kernel_touches_one_unit(names: set[str], new: str) -> None:
    """The unit that takes it; where that grows too large, the halves that come in its place."""
    before, after = units(names), units(names | {new})
    gone, made = before.keys() - after.keys(), after.keys() - before.keys()
    assert len(gone) <= 1
    assert frozenset().union(*made) == frozenset({new}).union(*gone)
    for same in before.keys() & after.keys():
        assert (before[same].name, before[same].key) == (after[same].name, after[same].key)


@given(NAMES)
def test_names_and_keys_are_unique(names: set[str]) -> None:
    made = list(units(names).values())
    assert len({unit.name for unit in made}) == len({unit.key for unit in made}) == len(made)
    assert all(unit.name == "pkg.a" or unit.name.startswith("pkg.a#") for unit in made)


def test_one_kernel_a_unit() -> None:
    made = units({"a", "b", "c"}, per_kernel=True)
    assert {unit.name for unit in made.values()} == {"pkg.a#a", "pkg.a#b", "pkg.a#c"}


def test_kernels_with_different_options_never_share_a_unit() -> None:
    mixed = [*found({"a", "b"}), *found({"c"}, fmad=False)]
    assert [(unit.name, unit.kernels) for unit in cut(mixed, REQUEST)] == [("pkg.a#nofmad", [2]), ("pkg.a", [0, 1])]
    off = replace(REQUEST, fmad=False)
    assert [unit.name for unit in cut(mixed, off)] == ["pkg.a"]
    stated = [*found({"a"}, fmad=True), *found({"c"})]
    assert [unit.name for unit in cut(stated, off)] == ["pkg.a", "pkg.a#fmad"]


def test_options_of_the_project_are_in_the_key() -> None:
    (plain,) = units({"a"}).values()
    for change in ({"fmad": False}, {"lineinfo": True}):
        (changed,) = units({"a"}, **change).values()
        assert changed.key != plain.key
