"""Profiles of the kernels of `tests.sim.counter_kernels` against an H200's counters: `scores()`, from end to end.

The predictions are those of `counter_scores`; here a kernel runs in the simulator, and its profile must show them.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import kbuild as kb
from kbuild.loader.grids import Grid
from kbuild.sim.profile.counts import Counts
from kbuild.sim.profile.report import Profile
from tests.helpers.counter_data import Launch, launches
from tests.helpers.counter_scores import PREDICTIONS, Score
from tests.sim.counter_kernels import CASES, Case

ELEMENTS = 1 << 20
# What stands in a kernel's annotation: the type of a number, and how many an element has.
ARRAYS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "FLOATS": (np.float32, ()),
    "INTS": (np.int32, ()),
    "DOUBLES": (np.float64, ()),
    "BYTES": (np.uint8, ()),
    "VECTORS": (np.float32, (3,)),
}
# What of a profile is what selection of `counter_scores`.
PARTS = {
    "shared ld": ("shared", ("load",)),
    "shared st": ("shared", ("store",)),
    "shared atom": ("shared", ("atomic",)),
    "global ld": ("global", ("load",)),
    "global st": ("global", ("store",)),
    "global red": ("global", ("reduction",)),
    "global atom": ("global", ("atomic",)),
    "global": ("global", ()),
}


def profile(case: Case, launch: Launch) -> Profile:
    """A case's kernel, launched as the GPU's was. Races are the kernels' own: the counters do not depend on them."""
    arguments = [_argument(name, case, launch) for name in case.arguments]
    grid = Grid(tuple(launch.grid), tuple(launch.block))
    result = kb.sim.run(case.kernel, grid, arguments, profile=True, races=False)
    assert result.profile is not None
    return result.profile


def _argument(name: str, case: Case, launch: Launch) -> Any:
    if name in ("n", "k"):
        return getattr(launch, name)
    if name == "idx":
        assert launch.indices is not None
        return launch.indices.astype(np.int32)
    dtype, inner = ARRAYS[case.kernel.function.__annotations__["a" if name == "b" else name]]
    return np.zeros((ELEMENTS, *inner), dtype)


@functools.cache
def scores() -> tuple[Score, ...]:
    """Every prediction over every case."""
    found = {title: Score(title, counter) for title, _, _, counter in PREDICTIONS}
    measured = {f"{launch.run}/{launch.name}": launch for launch in launches()}
    for case in CASES:
        launch = measured[case.launch]
        totals = profile(case, launch).totals
        for title, selection, name, counter in PREDICTIONS:
            found[title].add(launch, _predicted(totals, selection, name), int(launch.counters[counter]))
    return tuple(found.values())


def _predicted(totals: Counts, selection: str, name: str) -> int:
    space, kinds = PARTS[selection]
    number: int = getattr(totals.accesses(space, *kinds), name)
    return number


def table() -> str:
    """All of it as text."""
    lines = [f"{len(CASES)} kernels from end to end", "", "exact  of  largest error  what", ""]
    for score in scores():
        worst = max((abs(m.error) for m in score.mismatches if m.counted), default=0.0)
        lines.append(f"{score.exact:5} {score.launches:3}  {worst:13.2%}  {score.title}: {score.counter}")
    for score in scores():
        if score.mismatches:
            lines += ["", f"{score.title}: launch, predicted, counted, error"]
            lines += [f"    {m.launch:36} {m.predicted:6} {m.counted:6} {m.error:8.2%}" for m in score.mismatches]
    return "\n".join(lines) + "\n"
