"""Traces of runs: what stands in them, what they leave out, and that they can be read again."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import kbuild as kb
from kbuild.sim.lockstep.tracked import Tracked
from kbuild.sim.lockstep.watching import Watching
from tests.sim import looking_kernels as kernels


def arrays(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n, dtype=np.float32), np.zeros(n, np.float32)


def events(kernel, dim, inputs, **options) -> list[dict]:
    return kb.sim.run(kernel, dim, inputs, trace=True, **options).trace


class Tally(kb.sim.Watcher):
    """Counts what a trace should have, straight from the executor."""

    wants_accesses = wants_statements = True

    def __init__(self) -> None:
        self.lanes: Counter = Counter()

    def executes(self, stmt, frame):
        self.lanes["statement", stmt.span.line] += frame.lanes.count

    def accessed(self, kind, location, lanes, expr, value):
        name = {"read": "load", "write": "store", "atomic": "atomic"}[kind]
        self.lanes[name, expr.span.line] += lanes.count

    def waits(self, stmt, lanes):
        self.lanes["barrier", stmt.span.line] += lanes.count


@pytest.mark.parametrize(
    ("kernel", "n", "settings"),
    [(kernels.parts, 1, {}), (kernels.parts, 300, {}), (kernels.blocks, 192, {"races": False})],
)
def test_a_trace_says_what_a_watcher_is_told(tmp_path: Path, kernel, n: int, settings) -> None:
    """Property: lanes counted by event and line, read back through `filter_trace`, are those that a Watcher saw."""
    x, y = arrays(n)
    tally = Tally()
    kb.sim.run(kernel, n, [x, y], trace=tmp_path / "t.jsonl", watchers=[tally], **settings)
    read: Counter = Counter()
    for event in kb.sim.filter_trace(tmp_path / "t.jsonl", lambda event: "mask" in event):
        read[event["event"], event["line"]] += int(event["mask"], 16).bit_count()
        if "values" in event:
            assert len(event["values"]) == len(event["offsets"]) == int(event["mask"], 16).bit_count()
    assert read == tally.lanes
    assert read


def test_the_fields_of_events() -> None:
    x, y = arrays(40)
    found = events(kernels.parts, 40, [x, y], trace_threads=[1, (2,), 39], trace_events=["load", "store"])
    assert found[0] == {"event": "trace", "version": 1}
    sizes = {"dim": [40], "grid": [1, 1, 1], "block": [256, 1, 1]}
    assert found[1] == {"event": "launch", "t": 0, "launch": 1, "kernel": kernels.parts.name, **sizes}
    assert found[2] == {"event": "file", "file": 0, "path": str(kernels.SOURCE)}
    where = {"block": 0, "array": "x", "space": "global", "size": 4}
    even = {"event": "load", "t": 4, "file": 0, "line": kernels.line("even"), "warp": 0, "mask": "00000004", **where}
    assert found[3] == {**even, "offsets": [8], "values": [2.0]}
    odd = {"event": "load", "t": 7, "file": 0, "line": kernels.line("odd"), **where}
    assert found[4] == {**odd, "warp": 0, "mask": "00000002", "offsets": [4], "values": [1.0]}
    assert found[5] == {**odd, "warp": 1, "mask": "00000080", "offsets": [156], "values": [39.0]}
    stored = [event for event in found if event["event"] == "store"]
    assert [(e["offsets"], e["values"]) for e in stored] == [([4, 8], [0.0, 5.0]), ([156], [38.0])]
    assert found[-1] == {"event": "end", "t": found[-1]["t"], "launch": 1}


def test_barriers_shared_memory_and_atomics() -> None:
    x, y = arrays(128)
    found = events(kernels.blocks, 128, [x, y], races=False)
    barriers = [(e["block"], e["warp"], e["mask"]) for e in found if e["event"] == "barrier"]
    assert barriers == [(b, w, "ffffffff") for b in (0, 1) for w in (0, 1)]
    mirrored = [e for e in found if e["event"] == "load" and e["line"] == kernels.line("mirror")]
    assert {e["space"] for e in mirrored} == {"shared"}
    assert {e["array"] for e in mirrored} == {"tile"}
    assert mirrored[-1]["block"] == 1
    assert mirrored[-1]["offsets"] == list(range(31 * 4, -4, -4)), "counted from the beginning of the block's memory"
    atomics = [e for e in found if e["event"] == "atomic"]
    assert {(e["operation"], e["array"], *e["values"]) for e in atomics} == {("atomic_add", "y", *[0.5] * 32)}


def test_vectors_and_two_dimensions() -> None:
    out = np.zeros((2, 3, 2), np.float32)
    found = events(kernels.plane, (2, 3), [out], trace_threads=[(1, 2)], trace_events=["store"])
    (stored,) = [e for e in found if e["event"] == "store"]
    assert (stored["offsets"], stored["values"], stored["size"]) == ([40], [[1.0, 4.0]], 8)


def test_prints_and_lines() -> None:
    found = events(kernels.prints, 5, [2], trace_lines=[kernels.line("print")])
    assert [e["event"] for e in found] == ["trace", "launch", "file", "statement", "print", "print", "end"]
    assert [(e["thread"], e["text"]) for e in found if e["event"] == "print"] == [([0], "0\n"), ([1], "1\n")]


def test_a_fault_is_in_the_trace(tmp_path: Path) -> None:
    with pytest.raises(kb.sim.OutOfBounds):
        kb.sim.run(kernels.beyond, 40, [np.zeros(40, np.float32), 5], trace=str(tmp_path / "t.jsonl"))
    (fault,) = kb.sim.filter_trace(tmp_path / "t.jsonl", lambda event: event["event"] == "fault")
    assert (fault["kind"], fault["thread"], fault["warp"]) == ("OutOfBounds", [35], 1)
    assert (fault["line"], fault["path"], fault["launch"]) == (kernels.line("beyond"), str(kernels.SOURCE), 1)
    assert "index 40" in fault["reason"]


def test_numbers_that_json_does_not_have() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.1], np.float32)
    found = events(kernels.twins, 4, [x, x.copy()], trace_events=["load"])
    text = json.dumps(found, allow_nan=False)
    assert '["nan", "-inf"]' in text
    assert '["inf", 0.1]' in text


def test_a_trace_is_written_as_it_comes() -> None:
    """An open file gets the lines; it is not closed, and what is read from it is lazy."""
    stream = io.StringIO()
    kb.sim.run(kernels.prints, 3, [3], trace=stream)
    lines = stream.getvalue().splitlines(keepends=True)
    assert json.loads(lines[0]) == {"event": "trace", "version": 1}
    found = kb.sim.filter_trace(iter([*lines, "oops\n"]), lambda event: event["event"] == "print")
    assert [next(found)["text"] for _ in range(3)] == ["0\n", "1\n", "2\n"]
    with pytest.raises(kb.sim.TraceError, match=rf"^the trace:{len(lines) + 1}: not an event of a trace: .*'oops'"):
        next(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"event":"launch"}\n', "t.jsonl:1: a trace begins with its version"),
        ('{"event":"trace","version":2}\n', "t.jsonl:1: version 2 of the format, and this kbuild reads version 1"),
        ('{"event":"trace","version":1}\n{"event":"end"', "t.jsonl:2: not an event of a trace: Expecting"),
        ('{"event":"trace","version":1}\n[]\n', "t.jsonl:2: not an event of a trace: no object with an `event`"),
        ('{"event":"trace","version":1}\n{"event":"end","file":3}\n', "t.jsonl:2: file 3 is not named"),
        ('{"displayTimeUnit":"ns","otherData":{},"traceEvents":[\n', "t.jsonl:1: not an event of a trace"),
    ],
)
def test_a_file_that_is_no_trace(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(kb.sim.TraceError) as caught:
        list(kb.sim.filter_trace(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_what_cannot_be_traced() -> None:
    x, y = arrays(4)
    with pytest.raises(ValueError, match="no events 'stores'; it has statement, load"):
        events(kernels.parts, 4, [x, y], trace_events=["stores"])
    with pytest.raises(LookupError, match=r"\(9,\) is no thread of a launch over \(4,\): name one .* as \(3,\)"):
        events(kernels.parts, 4, [x, y], trace_threads=[(9,)])
    with pytest.raises(TypeError, match="trace wants a path, an open text file, or True"):
        kb.sim.run(kernels.parts, 4, [x, y], trace=3)


def test_a_run_without_eyes_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for nothing pays nothing: the frames are plain, and no watcher is told of statements."""

    def refuse(*args: object) -> None:
        raise AssertionError("nobody asked for this")

    monkeypatch.setattr(Tracked, "__init__", refuse)
    for name in ("executes", "assigns", "enters", "leaves"):
        monkeypatch.setattr(Watching, name, refuse)
    x, y = arrays(4)
    result = kb.sim.run(kernels.parts, 4, [x, y])
    assert (result.trace, list(result.watched), result.stopped) == ([], [], None)
