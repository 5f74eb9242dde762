"""Examples of findings in the simulator: what it confirms, what it does not and why."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kbuild.audit.findings import Example, Finding, Options, Thread
from kbuild.audit.kernel import audit
from kbuild.errors import Note, Span
from kbuild.ir import nodes
from kbuild.scan.replaying import replayed, run_example
from tests.helpers import kernels

THREAD = Thread((0, 0, 0), (0, 0, 0), (0,))


def lowered(folder: Path, text: str) -> nodes.Kernel:
    _, declared = kernels.load(kernels.write(folder, text))
    found, diagnostics = kernels.diagnose(declared)
    assert found, diagnostics
    return found[0]


def line_of(kernel: nodes.Kernel, text: str) -> Span:
    """The line of the source with a text in it."""
    assert kernel.function.span is not None
    path = kernel.function.span.path
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return Span(path, next(number for number, line in enumerate(lines, 1) if text in line))


def finding(check: str, span: Span, example: Example, other: Span | None = None) -> Finding:
    notes = () if other is None else (Note("the other thread", other),)
    return Finding("KB400", check, "found", "something", span, "k", notes=notes, example=example)


BEYOND = """
    @kb.kernel
    def beyond(a: kb.array(dtype=float), limit: float, n: int):
        i = kb.tid()
        if i <= n and a[0] > limit:
            a[i] = 1.0
    """


def test_an_example_that_shows_it(tmp_path: Path) -> None:
    kernel = lowered(tmp_path, BEYOND)
    span = line_of(kernel, "a[i] = ")
    example = Example((5,), 32, (("a", (4,)),), (("n", 4), ("limit", 0.0)))
    (one,) = replayed(kernel, [finding("bounds", span, example)])
    assert one.replay is not None
    assert one.replay.is_confirmed
    assert one.replay.in_words() == "confirmed by the simulator: index 4 on axis 0 of an array of shape (4,)"


def test_one_that_runs_to_its_end(tmp_path: Path) -> None:
    kernel = lowered(tmp_path, BEYOND)
    span = line_of(kernel, "a[i] = ")
    example = Example((5,), 32, (("a", (4,)),), (("n", 3), ("limit", 0.0)))
    (one,) = replayed(kernel, [finding("bounds", span, example)])
    assert one.replay is not None
    assert not one.replay.is_confirmed
    assert one.replay.in_words().startswith("not confirmed: the simulator runs the example to its end")


def test_one_that_stops_elsewhere(tmp_path: Path) -> None:
    kernel = lowered(tmp_path, BEYOND)
    example = Example((5,), 32, (("a", (4,)),), (("n", 4), ("limit", 0.0)))
    (one,) = replayed(kernel, [finding("bounds", line_of(kernel, "i = kb.tid()"), example)])
    assert one.replay is not None
    number = line_of(kernel, "a[i] = ").line
    assert one.replay.text.startswith(f"the simulator stops at something else (line {number}): index 4")


def test_only_what_was_found_with_an_example_is_run(tmp_path: Path) -> None:
    kernel = lowered(tmp_path, BEYOND)
    without = Finding("KB401", "bounds", "found", "something", None, "k")
    assert replayed(kernel, [without]) == (without,)


def test_time_is_limited(tmp_path: Path) -> None:
    kernel = lowered(tmp_path, BEYOND)
    example = Example((5,), 32, (("a", (4,)),), (("n", 3), ("limit", 0.0)))
    (one,) = replayed(kernel, [finding("bounds", line_of(kernel, "a[i] = "), example)], seconds=-1.0)
    assert one.replay is not None
    assert one.replay.text == "it takes too long to run"


RACE = """
    @kb.kernel
    def race(a: kb.array(dtype=float), where: kb.array(dtype=int)):
        i = kb.tid()
        a[where[i]] = float(i)
    """


def test_arrays_hold_what_the_example_says(tmp_path: Path) -> None:
    kernel = lowered(tmp_path, RACE)
    shapes = (("a", (8,)), ("where", (2,)))
    span = line_of(kernel, "a[where[i]] = ")
    same = Example((2,), 32, shapes, (), (("where", (0,), 3), ("where", (1,), 3)))
    others = Example((2,), 32, shapes, (), (("where", (0,), 3), ("where", (1,), 4)))
    for example, expected in ((same, True), (others, False)):
        shown = run_example(kernel, example, "global-races")
        assert (shown is not None and shown.lines == (span.line,)) == expected
    beyond = Example((2,), 32, shapes, (), (("where", (2,), 3),))
    (one,) = replayed(kernel, [finding("global-races", span, beyond)])
    assert one.replay is not None
    assert one.replay.text == "where has no element (2,)"


def test_a_race_of_more_elements_than_there_is_memory_for(tmp_path: Path) -> None:
    kernel = lowered(tmp_path, RACE)
    example = Example((2,), 32, (("a", (2**30,)), ("where", (2,))))
    (one,) = replayed(kernel, [finding("global-races", line_of(kernel, "a[where[i]] = "), example)])
    assert one.replay is not None
    assert one.replay.text == f"too large to run: a has {2**30} elements"


LARGE = """
    @kb.kernel
    def large(a: kb.array2d(dtype=float), out: kb.array(dtype=int)):
        i = kb.tid()
        out[i] = i * a.shape[1]
    """


def test_of_a_large_launch_the_blocks_concerned_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its arrays are there by their shapes alone."""
    kernel = lowered(tmp_path, LARGE)
    count, width = 1 << 22, 1 << 10
    example = Example((count,), 256, (("a", (1, width)), ("out", (count * 256,))), (), (), (THREAD,))
    last = Thread((0, 0, 0), (0, 0, 0), (count - 1,))
    assert run_example(kernel, example, "overflow") is None
    shown = run_example(kernel, Example(**{**_fields(example), "threads": (last,)}), "overflow")
    assert shown is not None
    assert (shown.check, shown.lines) == ("overflow", (line_of(kernel, "out[i] = ").line,))


def _fields(example: Example) -> dict[str, object]:
    return {name: getattr(example, name) for name in Example.__slots__}


STRUCT = """
    @kb.struct
    class Box:
        data: kb.array(dtype=kb.vec3)
        corner: kb.vec3i
        count: int


    @kb.kernel
    def boxes(box: Box, flag: bool):
        i = kb.tid()
        if i < box.count and flag:
            box.data[i + box.corner[1]] = kb.vec3(1.0)
    """


def test_structs_and_vectors(tmp_path: Path) -> None:
    kernel = lowered(tmp_path, STRUCT)
    scalars = (("box.corner.y", 2), ("box.count", 8), ("flag", True))
    shown = run_example(kernel, Example((4,), 32, (("box.data", (6,)),), scalars), "bounds")
    assert shown is None
    shown = run_example(kernel, Example((4,), 32, (("box.data", (5,)),), scalars), "bounds")
    assert shown is not None
    assert shown.text == "index 5 on axis 0 of an array of shape (5,)"


FLOATS = """
    @kb.kernel
    def hot(data: kb.array(dtype=float), out: kb.array(dtype=float)):
        i = kb.tid()
        if i < data.shape[0] and data[i] > 10.0:
            out[0] = data[i] + float(i)
    """


def test_floats_are_chosen_so_that_threads_come_there(tmp_path: Path) -> None:
    pytest.importorskip("z3", reason="z3 is not installed")
    kernel = lowered(tmp_path, FLOATS)
    made = audit(kernel, Options(checks=("global-races",), time_limit=math.inf))
    (one,) = replayed(kernel, [one for one in made.findings if one.verdict == "found"])
    assert one.example is not None
    assert {(name, value) for name, _, value in one.example.contents} == {("data", 11.0)}
    assert one.replay is not None
    assert one.replay.is_confirmed


def test_threads_that_wait_for_ever_do_so_until_the_deadline(tmp_path: Path) -> None:
    text = """
    @kb.kernel
    def waiting(flag: kb.array(dtype=int), out: kb.array(dtype=int)):
        while kb.atomic_add(flag, 0, 0) == 0:
            pass
        out[kb.tid()] = 1
    """
    kernel = lowered(tmp_path, text)
    example = Example((2,), 32, (("flag", (1,)), ("out", (1,))), (), (("flag", (0,), 0),))
    (one,) = replayed(kernel, [finding("bounds", line_of(kernel, "out["), example)], seconds=0.3)
    assert one.replay is not None
    assert one.replay.in_words() == "not confirmed: it takes too long to run"
