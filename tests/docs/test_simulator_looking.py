"""docs/simulator-looking.md names every event of a trace with its fields, and every argument that looks."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import kbuild as kb
from kbuild.sim.looking.tracing import KINDS
from tests.sim import looking_kernels as kernels

PAGE = (Path(__file__).parents[2] / "docs" / "simulator-looking.md").read_text(encoding="utf-8")
PLACE, WARP = {"file", "line"}, {"block", "warp", "mask"}


def documented() -> dict[str, set[str]]:
    found = {}
    table = PAGE.partition("| event | fields")[2].partition("\n\n")[0]
    for line in table.splitlines()[2:]:
        _, names, fields, _ = line.split("|")
        plain = set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)|: .*", "", fields)))
        plain |= PLACE if "place" in fields else set()
        plain |= WARP if re.search(r"\bwarp\b(?!`)", fields) else set()
        for name in re.findall(r"`(\w+)`", names):
            found[name] = plain | {"event"}
    return found


def test_events_have_the_fields_of_the_page() -> None:
    seen: dict[str, set[str]] = {}
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    launches = [(kernels.blocks, 64, [x, y]), (kernels.prints, 2, [2])]
    traces = [kb.sim.run(*launch, trace=True, races=False).trace for launch in launches]
    from kbuild.simulate import tracing

    with tracing.opened(True) as (tracer, events), pytest.raises(kb.sim.OutOfBounds):
        kb.sim.run(kernels.beyond, 4, [x[:4], 3], watchers=[tracer])
    for event in [*traces[0], *traces[1], *events]:
        seen[event["event"]] = set(event)
    named = documented()
    assert set(named) == {"trace", "file", "launch", "end", *KINDS} == set(seen)
    for name, fields in seen.items():
        wanted = named[name] - ({"operation"} if name in ("load", "store") else set())
        assert fields == wanted, name


def test_every_argument_that_looks_is_named() -> None:
    names = list(inspect.signature(kb.sim.run).parameters)
    for name in names[names.index("trace") : -1]:
        assert f"{name}=" in PAGE, name
