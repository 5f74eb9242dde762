"""Loops and branches: decided on the host outside a capture, by nodes of the graph inside one."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import array as arrays
from kbuild.loader import bound, context, driver, format, graphs, standin, uses
from kbuild.loader.bundle import from_bytes
from kbuild.loader.current import ScopedStream
from kbuild.loader.errors import DriverError, LaunchError
from kbuild.loader.memory import allocation, pools
from kbuild.loader.streams import Stream
from kbuild.primitives import conditions
from kbuild.primitives.finding import Carried
from tests.helpers.driver_cases import PARAMETERS
from tests.helpers.fake_cuda import FakeCuda, code, cubin_row, kernel_rows, make_bundle, make_manifest
from tests.helpers.situations import happens

SETTER = [("condition", "array1[int32]"), ("low", "int32"), ("high", "int32"), ("inverted", "int32")]
NAME = "kbuild.primitives.conditions:set_condition"


class Told:
    """What the setter kernel was launched with: (condition's address, handle, inverted, stream)."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int, bool, int]] = []

    @property
    def handles(self) -> list[int]:
        return list(dict.fromkeys(handle for _, handle, _, _ in self.calls))


@pytest.fixture
def cuda(cuda: FakeCuda) -> Iterator[FakeCuda]:
    """Everything is waited for in the end, so that what was waiting for streams has gone back."""
    yield cuda
    assert uses.captures == []
    gc.collect()
    kb.synchronize()
    allocation.reclaim(context.get_device("cuda:0"), wait=True)


@pytest.fixture
def told(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """A project's bundle with the kernel."""
    made, launch = Told(), conditions.Setter.launch

    def spy(condition: Any, handle: int, inverted: bool, stream: Any) -> None:
        made.calls.append((condition.ptr, handle, inverted, stream.handle))
        launch(condition, handle, inverted, stream)

    before = conditions.set_condition.target
    conditions.set_condition.target = make_bundle(SETTER, name=NAME)[NAME]
    monkeypatch.setattr(conditions.Setter, "launch", staticmethod(spy))
    yield made
    conditions.set_condition.target = before


class Countdown:
    """A loop's condition, and how often its body was called."""

    def __init__(self, start: int, device: str = "cuda:0") -> None:
        self.condition, self.calls = arrays.array([start], dtype=int, device=device), 0

    def __call__(self, by: int = 1) -> None:
        self.calls += 1
        self.condition.assign([self.condition.tolist()[0] - by])


def make_step() -> bound.BoundLaunch:
    return bound.BoundLaunch(make_bundle(PARAMETERS)["p.kernels:k"], 5, (arrays.zeros(3), 1.0), None, None, None)


# Outside a capture


@pytest.mark.parametrize("device", ["cuda:0", "cpu", "sim"])
def test_the_host_decides(cuda: FakeCuda, device: str) -> None:
    body = Countdown(6, device)
    kb.capture_while(body.condition, body, by=2)
    assert body.calls == 3
    kb.capture_while(body.condition, body)
    assert body.calls == 3
    seen: list[str] = []
    for start in (0, 5):
        body.condition.assign([start])
        kb.capture_if(body.condition, lambda: seen.append("yes"), lambda: seen.append("no"))
        kb.capture_if(body.condition, on_false=lambda: seen.append("only no"))
        kb.capture_if(body.condition, lambda: seen.append("only yes"))
        kb.capture_if(body.condition)
    assert seen == ["no", "only no", "yes", "only yes"]


def test_on_a_stream(cuda: FakeCuda) -> None:
    body, own = Countdown(2), Stream()
    kb.capture_while(body.condition, body, own)
    assert body.calls == 2


def test_a_graph_is_a_body(cuda: FakeCuda) -> None:
    step, condition = make_step(), arrays.array([1], dtype=int)
    with graphs.capture() as graph:
        step()
        condition.fill_(0)
    kb.capture_while(condition, graph)
    assert len(cuda.records) == 1


def test_while_a_program_is_recorded_a_loop_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel runs, so the condition stays what it is."""
    monkeypatch.setattr(driver, "_driver", driver.Driver(standin.open()))
    monkeypatch.setattr(context, "_devices", None)
    monkeypatch.setattr(pools, "_pools", {})
    calls: list[int] = []
    condition = arrays.ones(1, int)
    kb.capture_while(condition, lambda: calls.append(1))
    with kb.capture() as graph:
        kb.capture_while(condition, lambda: calls.append(2))
    graph.launch()
    assert calls == [1, 2]


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        (lambda: [1], "the condition is an array of int32, not"),
        (lambda: arrays.zeros(1), "the condition is an array of int32, not"),
        (lambda: arrays.zeros((1, 1), int), r"the condition has one element, not the shape \(1, 1\)"),
        (lambda: arrays.zeros(0, int), r"the condition has one element, not the shape \(0,\)"),
    ],
)
def test_conditions_that_are_none(cuda: FakeCuda, condition: Callable[[], Any], reason: str) -> None:
    for function in (kb.capture_while, kb.capture_if):
        with pytest.raises(TypeError, match=f"kb.{function.__name__}: {reason}"):
            function(condition(), lambda: None)


def test_bodies_that_are_none(cuda: FakeCuda) -> None:
    with pytest.raises(TypeError, match="a body is a function or a graph, not int 3"):
        kb.capture_while(arrays.zeros(1, int), 3)


# Inside a capture


def test_a_loop_in_a_graph(cuda: FakeCuda, told: Told) -> None:
    step, condition = make_step(), arrays.ones(1, int)
    calls: list[int] = []

    def body(times: int) -> None:
        calls.append(times)
        for _ in range(times):
            step()

    with graphs.capture() as graph:
        kb.capture_while(condition, body, times=2)
        step()
    assert calls == [2]
    assert len(told.handles) == 1
    assert [(ptr, inverted) for ptr, _, inverted, _ in told.calls] == [(condition.ptr, False)] * 2
    assert told.calls[0][3] != told.calls[1][3], "before the loop, and at its end on the body's own stream"
    for runs in (0, 3):
        cuda.set_condition(told.handles[0], runs)
        before = len(cuda.records)
        graph.launch()
        assert len(cuda.records) - before == 1 + runs * 3 + 1, "the setter, the bodies with theirs, and what follows"


def test_the_handle_reaches_the_kernel_in_two_halves(cuda: FakeCuda, told: Told) -> None:
    with graphs.capture() as graph:
        kb.capture_if(arrays.ones(1, int), lambda: None)
    graph.launch()
    record, kernel = cuda.records[-1], conditions.set_condition.target
    low, high, inverted = (
        int.from_bytes(bytes(record.bytes)[offset : offset + 4], "little") for offset in kernel.offsets[1:]
    )
    assert (low | high << 32, inverted) == (told.handles[0], 0)
    conditions.Setter.launch(arrays.ones(1, int), 0xFEDCBA9876543210, True, Stream())
    data = bytes(cuda.records[-1].bytes)
    halves = [int.from_bytes(data[offset : offset + 4], "little") for offset in kernel.offsets[1:]]
    assert halves == [0x76543210, 0xFEDCBA98, 1]


def test_a_branch_in_a_graph(cuda: FakeCuda, told: Told) -> None:
    step, other, condition = make_step(), make_step(), arrays.ones(1, int)

    def twice() -> None:
        other()
        other()

    with graphs.capture() as graph:
        kb.capture_if(condition, step, twice)
    assert [inverted for _, _, inverted, _ in told.calls] == [False, True]
    if_true, if_false = told.handles
    for is_true in (0, 1):
        cuda.set_condition(if_true, is_true)
        cuda.set_condition(if_false, 1 - is_true)
        before = len(cuda.records)
        graph.launch()
        assert len(cuda.records) - before == 2 + (1 if is_true else 2)


def test_inside_one_another(cuda: FakeCuda, told: Told) -> None:
    step, outer, inner = make_step(), arrays.ones(1, int), arrays.ones(1, int)

    def body() -> None:
        step()
        kb.capture_while(inner, step)

    with graphs.capture() as graph:
        kb.capture_while(outer, body)
    assert len(told.handles) == 2
    cuda.set_condition(told.handles[0], 2)
    cuda.set_condition(told.handles[1], 3)
    graph.launch()
    # before; twice: the step, before the inner loop, three times the step and the end; the end
    assert len(cuda.records) == 1 + 2 * (1 + 1 + 3 * 2 + 1)


def test_a_graph_inside(cuda: FakeCuda, told: Told) -> None:
    step, condition = make_step(), arrays.ones(1, int)
    with graphs.capture() as part:
        step()
        step()
    with graphs.capture() as graph:
        kb.capture_if(condition, part)
    cuda.set_condition(told.handles[0], 1)
    graph.launch()
    assert len(cuda.records) == 3


def test_what_a_body_uses_is_kept_and_can_be_changed(cuda: FakeCuda, told: Told) -> None:
    step, condition, held = make_step(), arrays.ones(1, int), arrays.zeros(7)

    def body() -> None:
        step()
        held.fill_(2.0)

    with graphs.capture() as graph:
        kb.capture_if(condition, body)
    kept = list(graph._kept.values())
    assert held._owner in kept
    assert condition._owner in kept
    cuda.set_condition(told.handles[0], 1)
    step.set(x=4.0)
    step.set_dim(3)
    graph.update(step)
    graph.launch()
    assert held.tolist() == [2.0] * 7


def test_in_another_librarys_capture(cuda: FakeCuda, told: Told) -> None:
    made, own, condition = make_bundle(PARAMETERS)["p.kernels:k"], Stream(), arrays.ones(1, int)
    held = arrays.zeros(3)
    cuda.library.cuStreamBeginCapture_v2(own._handle, 0)
    with ScopedStream(own, sync_enter=False):
        kb.capture_while(condition, lambda: made.launch(5, (held, 1.0)))
    graph = graphs.Graph(context.get_device(0))
    with context.get_device(0).current():
        driver.get().call("cuStreamEndCapture", own.handle, graph._graph)
        graph._instantiate()
    cuda.set_condition(told.handles[0], 4)
    graph.launch()
    assert len(cuda.records) == 1 + 4 * 2


# What cannot be


@happens(
    "Graphs",
    "`kb.capture_while` or `kb.capture_if` inside a capture, with a driver older than 12.4",
    "`LaunchError` that names the version which is needed.",
)
def test_an_older_driver(fake_library: Path) -> None:
    with FakeCuda(fake_library, version="12030") as cuda:
        condition = arrays.ones(1, int)
        with graphs.capture() as graph:
            for function in (kb.capture_while, kb.capture_if):
                with pytest.raises(LaunchError, match=r"needs a driver for CUDA 12.4 or newer, .* for 12.3\n.*help"):
                    function(condition, lambda: None)
        graph.launch()
        body = Countdown(2)
        kb.capture_while(body.condition, body)
        assert body.calls == 2
        kb.synchronize()
        del condition, graph, body
        gc.collect()
        assert cuda.breaches == []


@happens(
    "Graphs",
    "`kb.capture_while` or `kb.capture_if` inside a capture, and no bundle holds the kernel that they need",
    "`LaunchError` that names `primitives` in [tool.kbuild]; outside a capture both work without it.",
)
def test_no_bundle_has_the_kernel(cuda: FakeCuda) -> None:
    before = conditions.set_condition.target
    conditions.set_condition.target = Carried(conditions.set_condition)
    condition = arrays.ones(1, int)
    try:
        with pytest.raises(LaunchError, match="write `primitives = true` into"), graphs.capture():
            kb.capture_while(condition, lambda: None)
    finally:
        conditions.set_condition.target = before


@happens(
    "Graphs",
    "`kb.capture_while` in a capture, where the bundle's code for this GPU comes from a compiler older than CUDA 12.4",
    "`LaunchError` that names the target to add.",
)
def test_code_of_an_old_compiler(cuda: FakeCuda, told: Told) -> None:
    kernel = kernel_rows(NAME, SETTER, 1, {}, 256)
    rows = [cubin_row("sm_90", [0], 0, toolchain="11.8.89", cuda=[11, 8])]
    bundle = from_bytes(format.dump(make_manifest([kernel], rows), [code([kernel])]), "memory")
    conditions.set_condition.target = bundle[NAME]
    condition = arrays.ones(1, int)
    with pytest.raises(
        LaunchError, match=r'CUDA 11.8.89 compiled(.*\n)*.*targets = \["sm_90@12.9"\]'
    ), graphs.capture():
        kb.capture_while(condition, lambda: None)


@happens(
    "Graphs",
    "the body of `kb.capture_while` raises, and the program goes on inside the capture",
    "the exception, and `LaunchError` at the end of the capture: half a body is never launched.",
)
def test_a_body_that_fails(cuda: FakeCuda, told: Told) -> None:
    step, condition = make_step(), arrays.ones(1, int)

    def body() -> None:
        step()
        raise KeyError("mine")

    with pytest.raises(KeyError), graphs.capture():
        kb.capture_while(condition, body)
    made = graphs.capture()
    graph = made.begin()
    with pytest.raises(KeyError):
        kb.capture_if(condition, body)
    with pytest.raises(LaunchError, match=r"a body inside has failed: KeyError\('mine'"):
        made.end()
    assert not graph.is_captured


def test_a_body_that_names_the_outer_stream(cuda: FakeCuda, told: Told) -> None:
    step, condition = make_step(), arrays.ones(1, int)
    made, held = step.kernel, arrays.zeros(3)
    outer = Stream()
    with pytest.raises(LaunchError, match=r"by its name, which is the outer stream\n.*help"), graphs.capture(
        None, outer
    ):
        kb.capture_while(condition, lambda: made.launch(5, (held, 1.0), outer))


def test_a_body_that_waits(cuda: FakeCuda, told: Told) -> None:
    condition = arrays.ones(1, int)
    with pytest.raises(DriverError, match="900"), graphs.capture():
        kb.capture_while(condition, lambda: kb.get_stream().synchronize())


def test_a_capture_that_is_spoiled_already(cuda: FakeCuda, told: Told) -> None:
    condition = arrays.ones(1, int)
    made = graphs.capture()
    made.begin()
    with pytest.raises(DriverError, match="900"):
        kb.get_stream().synchronize()
    with pytest.raises(LaunchError, match="spoiled by an earlier call"):
        kb.capture_while(condition, lambda: None)
    made.drop()


def test_the_bundle_of_the_tests_is_as_the_kernel() -> None:
    names = conditions.set_condition.function.__code__.co_varnames[:4]
    assert tuple(name for name, _ in SETTER) == names
