"""Graphs: captured, launched, changed, kept alive, and what cannot be captured."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from ctypes import byref, c_uint64
from pathlib import Path
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import array as arrays
from kbuild.loader import bound, context, copying, graphs, uses
from kbuild.loader.current import ScopedDevice, ScopedStream
from kbuild.loader.errors import DriverError, LaunchError
from kbuild.loader.memory import allocation
from kbuild.loader.streams import Stream
from tests.helpers.driver_cases import PARAMETERS
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from tests.helpers.situations import happens

WIDE = [("x", "float32")]


@pytest.fixture
def cuda(cuda: FakeCuda) -> Iterator[FakeCuda]:
    """Everything is waited for in the end, so that what was waiting for streams has gone back."""
    yield cuda
    settle("cuda:0")


@pytest.fixture
def two_gpus(two_gpus: FakeCuda) -> Iterator[FakeCuda]:
    yield two_gpus
    settle("cuda:0", "cuda:1")


def settle(*devices: str) -> None:
    assert uses.captures == []
    gc.collect()
    for device in devices:
        kb.synchronize(device)
        allocation.reclaim(context.get_device(device), wait=True)


def kernel(parameters: Any = PARAMETERS, **options: Any) -> Any:
    return make_bundle(parameters, **options)["p.kernels:k"]


def step_of(cuda: FakeCuda, dim: Any = 300) -> tuple[bound.BoundLaunch, Any]:
    """A bound launch over an array of its own."""
    held = arrays.zeros(3)
    return bound.BoundLaunch(kernel(), dim, (held, 1.0), None, None, None), held


def fail() -> None:
    raise KeyError("mine")


def captured(act: Callable[[], object], stream: Stream | None = None) -> tuple[graphs.Graph, Exception | None]:
    """The graph of what a function does, and the error of the capture."""
    made = graphs.capture(stream=stream)
    graph = None
    try:
        with made as graph:
            act()
    except Exception as error:
        assert graph is not None
        return graph, error
    return graph, None


# Capture and launch


def test_launches_are_captured_and_done_at_each_launch_of_the_graph(cuda: FakeCuda) -> None:
    step, held = step_of(cuda)
    before = len(cuda.records)
    with graphs.capture() as graph:
        assert not graph.is_captured
        step()
        step.kernel.launch(5, (held, 2.0))
    assert graph.is_captured
    assert len(cuda.records) == before, "nothing runs while it is captured"
    for _ in range(3):
        graph.launch()
    graph()
    assert len(cuda.records) == before + 8


def test_the_kernel_may_be_launched_the_quick_way(cuda: FakeCuda) -> None:
    held, made = arrays.zeros(3), kernel()
    for _ in range(3):
        made.launch(5, (held, 1.0))
    before = len(cuda.records)
    with graphs.capture() as graph:
        for _ in range(3):
            made.launch(5, (held, 2.0))
    assert len(cuda.records) == before
    graph.launch()
    assert len(cuda.records) == before + 3


def test_copies_and_fills_become_nodes(cuda: FakeCuda) -> None:
    source, target = arrays.array([1, 2, 3]), arrays.zeros(3, int)
    pinned = arrays.empty(3, int, "cpu", "pinned")
    with graphs.capture() as graph:
        copying.copy(target, source)
        source.fill_(7)
        copying.copy(pinned, target)
    assert (target.tolist(), source.tolist()) == ([0, 0, 0], [1, 2, 3])
    graph.launch()
    assert (target.tolist(), source.tolist(), pinned.tolist()) == ([1, 2, 3], [7, 7, 7], [1, 2, 3])
    graph.launch()
    kb.synchronize()
    assert (target.tolist(), pinned.tolist()) == ([7, 7, 7], [7, 7, 7])


def test_ordinary_memory_of_the_host_is_refused(cuda: FakeCuda) -> None:
    target = arrays.zeros(3, int)
    with pytest.raises(ValueError, match="pinned memory"), graphs.capture():
        target.assign([1, 2, 3])
    with pytest.raises(ValueError, match="pinned memory"), graphs.capture():
        target.tolist()


def test_begin_and_end(cuda: FakeCuda) -> None:
    step, _ = step_of(cuda)
    made = graphs.capture()
    graph = made.begin()
    step()
    assert made.end() is graph is made.graph
    before = len(cuda.records)
    graph.upload()
    graph.launch()
    assert len(cuda.records) == before + 1
    with pytest.raises(LaunchError, match="nothing to end"):
        made.end()
    made.begin()
    with pytest.raises(LaunchError, match="has begun already"):
        made.begin()
    made.end()


def test_the_stream_of_a_capture(cuda: FakeCuda) -> None:
    own = Stream()
    for given, scoped in ((own, None), (None, own)):
        made = graphs.capture(stream=given)
        if scoped is None:
            made.begin()
        else:
            with ScopedStream(scoped):
                made.begin()
        assert made.stream is own
        made.end()
    made = graphs.capture()
    made.begin()
    assert made.stream.handle != own.handle
    made.end()


def test_what_was_meant_before_is_meant_again(cuda: FakeCuda) -> None:
    own = Stream()
    with ScopedStream(own):
        with graphs.capture(stream=Stream()):
            assert kb.get_stream().handle != own.handle
        assert kb.get_stream() is own
    assert kb.get_stream().handle == 0


def test_launches_on_several_streams(cuda: FakeCuda) -> None:
    """One graph's runs follow one another, and its memory is known to be used on each stream."""
    step, held = step_of(cuda)
    with graphs.capture() as graph:
        step()
    one, other = Stream(), Stream()
    before = len(cuda.records)
    for stream in (one, other, None, one):
        graph.launch(stream)
    assert len(cuda.records) == before + 4
    assert {one.handle, other.handle} <= set(held._owner.users)
    cuda.hold(one.handle)
    graph.launch(one)
    del graph, step, held
    gc.collect()
    assert cuda.pending, "memory stays while the graph runs"
    cuda.release(one.handle)


def test_after_the_first_launch_a_stream_costs_one_call(cuda: FakeCuda) -> None:
    step, _ = step_of(cuda)
    with graphs.capture() as graph:
        step()
    graph.launch()
    before = len(cuda.calls)
    graph.launch()
    assert cuda.calls[before:] == ["cuGraphLaunch"]


def test_two_gpus(two_gpus: FakeCuda) -> None:
    """On the default stream of the graph's own GPU, whatever context is current."""
    with ScopedDevice("cuda:1"):
        held, made = arrays.zeros(3), kernel()
        made.launch(5, (held, 1.0))
        with graphs.capture() as graph:
            made.launch(5, (held, 1.0))
    assert str(graph.device) == "cuda:1"
    kb.synchronize("cuda:0")
    graph.launch()
    assert [(record.grid, record.block) for record in two_gpus.records] == [(1, 256)] * 2


def test_a_graph_inside_another(cuda: FakeCuda) -> None:
    step, held = step_of(cuda)
    with graphs.capture() as inner:
        step()
    with graphs.capture() as outer:
        inner.launch()
        inner.launch()
    address, before = held.ptr, len(cuda.records)
    del inner, step, held
    gc.collect()
    outer.launch()
    assert len(cuda.records) == before + 2
    assert arrays.zeros(3).ptr != address, "the outer graph keeps what the inner one uses"


# Memory


def test_a_graph_keeps_what_it_uses(cuda: FakeCuda) -> None:
    held, source, made = arrays.zeros(3), arrays.zeros(3), kernel()
    with graphs.capture() as graph:
        made.launch(5, (held, 1.0))
        copying.copy(held, source)
        inside = arrays.zeros(100)
        inside.fill_(3.0)
        inside.free()
    assert type(inside._owner) is not allocation.PoolMemory
    bytes_before = cuda.library.fake_live_bytes()
    del held, source, inside
    gc.collect()
    assert cuda.library.fake_live_bytes() == bytes_before
    graph.launch()
    del graph
    gc.collect()
    assert cuda.library.fake_live_bytes() < bytes_before


def test_arrays_made_inside_can_be_used_after(cuda: FakeCuda) -> None:
    with graphs.capture() as graph:
        made = arrays.full(4, 2.5)
    graph.launch()
    del graph
    assert made.tolist() == [2.5] * 4


def test_what_others_launch_meanwhile_is_not_kept(cuda: FakeCuda) -> None:
    held, made, stream = arrays.zeros(3), kernel(), Stream()

    def launch() -> None:
        made.launch(5, (held, 1.0), stream)

    with graphs.capture() as graph:
        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()
    assert graph._kept == {}
    assert len(cuda.records) == 1


def test_a_stream_that_joins_takes_part(cuda: FakeCuda) -> None:
    held, made, other = arrays.zeros(3), kernel(), Stream()
    with graphs.capture() as graph:
        other.wait_stream(kb.get_stream())
        made.launch(5, (held, 1.0), other)
        kb.get_stream().wait_stream(other)
    assert held._owner in graph._kept.values()
    graph.launch()
    assert len(cuda.records) == 1


def test_memory_waits_for_the_stream_it_was_made_on(cuda: FakeCuda) -> None:
    """A graph that is launched elsewhere than its memory was filled waits for that, at its first launch there."""
    first, second, made = Stream(), Stream(), kernel()
    with ScopedStream(first):
        held = arrays.zeros(3)
    with graphs.capture(stream=second) as graph:
        made.launch(5, (held, 1.0))
    before = len(cuda.calls)
    graph.launch(second)
    assert cuda.calls[before:].count("cuStreamWaitEvent") == 1


# Changes


def test_arguments_are_changed(cuda: FakeCuda) -> None:
    step, _ = step_of(cuda)
    other = arrays.zeros(5)
    with graphs.capture() as graph:
        step()
        step()
    graph.launch()
    step.set(x=2.0, a=other)
    step.set_dim(700)
    graph.update(step)
    graph.launch()
    last = cuda.records[-1]
    assert (last.grid, cuda.records[-3].grid) == (3, 2)
    assert [bytes(r.bytes)[: r.size] for r in cuda.records[-2:]] == [bytes(last.bytes)[: last.size]] * 2
    step()
    assert bytes(cuda.records[-1].bytes)[: last.size] == bytes(last.bytes)[: last.size]


def test_old_memory_goes_and_new_memory_stays(cuda: FakeCuda) -> None:
    step, held = step_of(cuda)
    with graphs.capture() as graph:
        step()
    graph.launch()
    other, old = arrays.zeros(5), held._owner
    step.set(a=other)
    graph.update(step)
    assert [one for _, _, owners in graph._calls.values() for one in owners] == [other._owner]
    assert old not in graph._kept.values()
    new = other._owner
    del step, held, other
    assert new in graph._calls.popitem()[1][2]


def test_a_launch_in_pieces_is_several_nodes(cuda: FakeCuda) -> None:
    step = bound.BoundLaunch(kernel(WIDE, ndim=2), (3, 2**30), (1.0,), None, None, None)
    with graphs.capture() as graph:
        step()
    before = len(cuda.records)
    graph.launch()
    count = len(cuda.records) - before
    assert count > 1
    step.set(x=2.0)
    graph.update(step)
    step.set_dim((3, 4))
    with pytest.raises(LaunchError, match="1 grids now, and was %d .*\n.*capture it anew" % count):
        graph.update(step)


def test_only_launches_of_the_graph_are_changed(cuda: FakeCuda) -> None:
    step, _ = step_of(cuda)
    with graphs.capture() as graph:
        pass
    with pytest.raises(LaunchError, match="made no launch of this graph"):
        graph.update(step)


def test_a_bound_launch_with_a_stream_of_its_own_stays_there(cuda: FakeCuda) -> None:
    own = Stream()
    step = bound.BoundLaunch(kernel(), 5, (arrays.zeros(3), 1.0), own, None, None)
    with graphs.capture() as graph:
        step()
    assert len(cuda.records) == 1, "it is not captured"
    with pytest.raises(LaunchError, match="made no launch"):
        graph.update(step)
    graph.launch()
    assert len(cuda.records) == 1


# What cannot be


@happens(
    "Graphs",
    "`kb.capture` is used inside another one, on the default stream, on a captured stream, or on the host",
    "`LaunchError` that says what to do instead; the outer capture goes on.",
)
def test_captures_that_cannot_be(cuda: FakeCuda) -> None:
    for device in ("cpu", "sim"):
        with pytest.raises(LaunchError, match="%s is none: leave kb.capture out there" % device):
            graphs.capture(device)
    with pytest.raises(LaunchError, match="default stream cannot be captured"):
        graphs.capture(stream=1, device=0).begin()
    own = Stream()
    with graphs.capture(stream=own) as graph, pytest.raises(LaunchError, match="do not nest"):
        graphs.capture().begin()
    assert graph.is_captured


def test_a_stream_that_somebody_else_captures(cuda: FakeCuda) -> None:
    own, errors = Stream(), []

    def nested() -> None:
        try:
            graphs.capture(stream=own).begin()
        except LaunchError as error:
            errors.append(str(error))

    with graphs.capture(stream=own):
        thread = threading.Thread(target=nested)
        thread.start()
        thread.join()
    assert len(errors) == 1
    assert "is being captured already" in errors[0]


def test_a_stream_of_another_gpu(two_gpus: FakeCuda) -> None:
    with pytest.raises(LaunchError, match="is not of cuda:0"):
        graphs.capture("cuda:0", Stream("cuda:1")).begin()


def test_captures_in_two_threads(cuda: FakeCuda) -> None:
    step, _ = step_of(cuda)
    made: list[graphs.Graph] = []

    def other() -> None:
        with graphs.capture() as graph:
            step()
        made.append(graph)

    with graphs.capture() as graph:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    before = len(cuda.records)
    graph.launch()
    assert len(cuda.records) == before
    made[0].launch()
    assert len(cuda.records) == before + 1


def test_a_capture_ends_in_its_thread(cuda: FakeCuda) -> None:
    made, errors = graphs.capture(), []
    made.begin()

    def end() -> None:
        try:
            made.end()
        except LaunchError as error:
            errors.append(str(error))

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    assert "begun in another thread" in errors[0]
    made.end()


def test_an_exception_inside_goes_on(cuda: FakeCuda) -> None:
    step, _ = step_of(cuda)
    own = Stream()
    graph, error = captured(lambda: step() or fail(), own)
    assert isinstance(error, KeyError)
    assert not own.is_capturing
    assert not graph.is_captured
    with pytest.raises(LaunchError, match="its capture has not ended, or has failed"):
        graph.launch()
    with graphs.capture(stream=own) as graph:
        step()
    graph.launch()


@happens(
    "Graphs",
    "something inside a capture waits for the GPU, and the program goes on",
    "`DriverError` (901) at the end of the capture that names the call which spoiled it.",
)
def test_a_spoiled_capture_names_what_spoiled_it(cuda: FakeCuda) -> None:
    with pytest.raises(DriverError) as caught, graphs.capture(), pytest.raises(DriverError, match="900"):
        kb.get_stream().synchronize()
    assert caught.value.code == 901
    assert "the capture was spoiled by: " in str(caught.value)
    assert "cuStreamSynchronize failed" in str(caught.value)
    with pytest.raises(DriverError) as caught, graphs.capture() as graph:
        cuda.library.cuStreamSynchronize(graphs.current.get_stream()._handle)  # somebody else
    assert "a call that kbuild has not made" in str(caught.value)
    assert not graph.is_captured


def test_a_stream_that_is_not_waited_for(cuda: FakeCuda) -> None:
    other = Stream()
    held, made = arrays.zeros(3), kernel()

    def fork() -> None:
        other.wait_stream(kb.get_stream())
        made.launch(5, (held, 1.0), other)

    assert "904" in str(captured(fork)[1])
    assert not other.is_capturing


def test_a_graph_before_its_end(cuda: FakeCuda, tmp_path: Path) -> None:
    step, _ = step_of(cuda)
    with graphs.capture() as graph:
        for act in (graph.launch, graph.upload, lambda: graph.update(step), lambda: graph.debug_dot(tmp_path / "g")):
            with pytest.raises(LaunchError, match="holds nothing yet"):
                act()
    assert repr(graph) == "<kb.Graph on cuda:0>"


# The rest


def test_a_first_launch_inside_a_capture_loads_its_code(cuda: FakeCuda) -> None:
    held, made = arrays.zeros(3), kernel()
    with graphs.capture() as graph:
        made.launch(5, (held, 1.0))
    graph.launch()
    assert len(cuda.records) == 1


def test_a_first_launch_inside_another_librarys_capture(cuda: FakeCuda) -> None:
    """As PyTorch captures: in the global mode."""
    held, made, own = arrays.zeros(3), kernel(), Stream()
    cuda.library.cuStreamBeginCapture_v2(own._handle, 0)
    with ScopedStream(own, sync_enter=False):
        made.launch(5, (held, 1.0))
        inside = arrays.zeros(4)
    assert own.is_capturing
    made_graph = graphs.Graph(kb.get_devices()[0])
    with kb.get_devices()[0].current():
        graphs.driver.get().call("cuStreamEndCapture", own.handle, made_graph._graph)
        made_graph._instantiate()
    made_graph.launch()
    assert len(cuda.records) == 1
    kb.synchronize()
    del inside


@pytest.mark.parametrize("mode", [0, 1, 2], ids=["global", "in this thread", "relaxed"])
@pytest.mark.parametrize("is_blocking", [False, True], ids=["apart from the default stream", "beside it"])
def test_memory_comes_and_goes_during_another_librarys_capture(cuda: FakeCuda, mode: int, is_blocking: bool) -> None:
    """It is no part of the graph and spoils nothing, whichever streams it belongs to."""
    made, third = c_uint64(), Stream()
    assert cuda.library.cuStreamCreateWithPriority(byref(made), 0 if is_blocking else 1, 0) == 0
    before, named = arrays.empty(3), None
    with ScopedStream(third):
        named = arrays.empty(5)
    allocations = cuda.live["allocations"]
    assert cuda.library.cuStreamBeginCapture_v2(made, mode) == 0
    inside = arrays.empty(4)
    del before, named
    with ScopedStream(third, sync_enter=False):
        other = arrays.empty(6)
        del other
    arrays.empty(7)
    graph = c_uint64()
    assert cuda.library.cuStreamEndCapture(made, byref(graph)) == 0
    assert cuda.library.cuGraphDestroy(graph) == 0
    kb.synchronize()
    inside.fill_(2.0)
    assert inside.tolist() == [2.0] * 4
    arrays.empty(1)  # looks after what waited
    assert cuda.live["allocations"] == allocations - 2 + 1
    assert cuda.library.cuStreamDestroy_v2(made) == 0


@happens(
    "Graphs",
    "a first launch is captured, and the driver does not allow its code to be loaded then",
    "`DriverError` (900) that names `kb.preload()`.",
)
def test_a_driver_that_loads_nothing_meanwhile(cuda: FakeCuda) -> None:
    held, made = arrays.zeros(3), kernel()
    cuda.fail("cuModuleLoadData", 900)
    _, error = captured(lambda: made.launch(5, (held, 1.0)))
    assert isinstance(error, DriverError)
    assert error.code == 900
    assert "help: load the code before the capture: kb.preload(), bundle.preload()" in str(error)


def test_memory_that_waits_does_not_spoil_a_capture(cuda: FakeCuda) -> None:
    """What was freed before, and is looked after at the next allocation, is asked for in the relaxed mode."""
    stream, made, held = Stream(), kernel(), arrays.zeros(3)
    cuda.hold(stream.handle)
    made.launch(5, (held, 1.0), stream)
    del held
    with graphs.capture() as graph:
        arrays.zeros(4)
    graph.launch()
    cuda.release(stream.handle)


def test_memory_that_goes_meanwhile_does_not_spoil_a_capture(cuda: FakeCuda) -> None:
    """It waits for the end of the capture, and goes at the next allocation."""
    step, _ = step_of(cuda)
    before = cuda.live["allocations"]
    held = [arrays.zeros(4), arrays.zeros(4)]
    with graphs.capture() as graph:
        step()
        held.clear()
        arrays.zeros(2)
    graph.launch()
    arrays.zeros(1)
    assert cuda.live["allocations"] <= before + 1


def test_debug_dot(cuda: FakeCuda, tmp_path: Path) -> None:
    step, _ = step_of(cuda)
    with graphs.capture() as graph:
        step()
        step()
    graph.debug_dot(tmp_path / "graph.dot")
    assert (tmp_path / "graph.dot").read_text().count("KERNEL") == 2
    with pytest.raises(DriverError, match="304"):
        graph.debug_dot(tmp_path / "missing" / "graph.dot")


def test_graphs_and_streams_are_given_back(cuda: FakeCuda) -> None:
    step, _ = step_of(cuda)
    for fails in (False, True):
        try:
            with graphs.capture() as graph:
                step()
                if fails:
                    raise KeyError
        except KeyError:
            pass
        del graph
        gc.collect()
        assert "graphs" not in cuda.live
        assert "streams" not in cuda.live


def test_names() -> None:
    assert (kb.capture, kb.Graph) == (graphs.capture, graphs.Graph)
