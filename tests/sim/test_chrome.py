"""Traces for Perfetto and Chrome, held against the Trace Event Format."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import kbuild as kb
from tests.sim import looking_kernels as kernels


def traced(path: Path, kernel, dim, inputs, **options) -> list[dict]:
    kb.sim.run(kernel, dim, inputs, trace=path, **options)
    return checked(path)


def checked(path: Path) -> list[dict]:
    """The events, if they are as the format wants them: keys, order of time, nesting, and a name for each track."""
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert whole["displayTimeUnit"] in ("ms", "ns")
    events = whole["traceEvents"]
    times: dict = defaultdict(int)
    open_slices: dict = defaultdict(list)
    ends: dict = defaultdict(int)
    named, blocks = set(), {}
    for event in events:
        track = event["pid"], event["tid"]
        assert all(isinstance(number, int) and number > 0 for number in track)
        assert blocks.setdefault(event["tid"], event["pid"]) == event["pid"], "a thread belongs to one process"
        assert isinstance(event["name"], str)
        if event["ph"] == "M":
            named.add((event["name"], *track))
            continue
        assert ("thread_name", *track) in named
        assert ("process_name", *track) in named
        assert event["ts"] >= times[track]
        times[track] = event["ts"]
        if event["ph"] == "B":
            open_slices[track].append(event["name"])
        elif event["ph"] == "E":
            assert open_slices[track].pop() == event["name"]
            assert event["ts"] >= ends[track], "a slice ends inside the one around it"
        elif event["ph"] == "X":
            assert open_slices[track], "a statement outside a launch"
            assert event["dur"] > 0
            assert event["ts"] >= ends[track], "statements of a warp do not overlap"
            ends[track] = event["ts"] + event["dur"]
        else:
            assert (event["ph"], event["s"]) == ("i", "t")
    assert not any(open_slices.values())
    return events


def test_divergence_can_be_seen(tmp_path: Path) -> None:
    x, y = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    events = traced(tmp_path / "t.json", kernels.parts, 40, [x, y])
    odd = [e for e in events if e["ph"] == "X" and e["name"] == f"{kernels.line('odd')}: s = x[i] - 1.0  # odd"]
    assert [(e["tid"], e["args"]["mask"], e["args"]["lanes"]) for e in odd] == [
        (1, "0xaaaaaaaa", 16),
        (2, "0x000000aa", 4),
    ]
    begun = [(e["name"], e["tid"]) for e in events if e["ph"] == "B"]
    assert begun == [(kernels.parts.name, 1), (kernels.parts.name, 2)]


def test_blocks_are_processes_and_barriers_instants(tmp_path: Path) -> None:
    x, y = np.arange(192, dtype=np.float32), np.zeros(192, np.float32)
    events = traced(tmp_path / "t.json", kernels.blocks, 192, [x, y], races=False)
    assert {e["pid"] for e in events} == {1, 2, 3}
    instants = [(e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "i"]
    assert instants == [("barrier", 1 + b, 32 * b + w + 1) for b in range(3) for w in range(2)]


def test_a_run_that_was_abandoned(tmp_path: Path) -> None:
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    events = traced(tmp_path / "t.json", kernels.parts, 4, [x, y], stop=kb.sim.Stop(line=kernels.line("odd")))
    assert events[-1]["ph"] == "E"


def test_several_launches_and_a_fault_in_one_file(tmp_path: Path) -> None:
    """The file is whole though the last launch has failed."""
    from kbuild.simulate import tracing

    path = tmp_path / "t.json"
    with tracing.opened(path) as (tracer, _):
        kb.sim.run(kernels.prints, 3, [1], watchers=[tracer])
        with pytest.raises(kb.sim.OutOfBounds):
            kb.sim.run(kernels.beyond, 4, [np.zeros(4, np.float32), 3], watchers=[tracer])
    events = checked(path)
    assert [e["args"]["launch"] for e in events if e["ph"] == "B"] == [1, 2]
    assert [e["name"] for e in events if e["ph"] == "i"] == ["print", "OutOfBounds"]
