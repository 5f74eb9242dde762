"""Warp's streams, events, timers, launches and graphs, on a fake driver."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import kbuild as kb
import kbuild.warp as wp
from kbuild.loader import uses
from kbuild.loader.errors import LaunchError
from kbuild.warp.absent import NotInKbuild
from tests.helpers.fake_cuda import FakeCuda, make_bundle


@pytest.fixture(autouse=True)
def cuda(gpus: FakeCuda) -> Iterator[FakeCuda]:
    yield gpus
    assert uses.captures == []


def kernel(**options: Any) -> Any:
    return make_bundle([("a", "array1[float32]"), ("x", "float32")], **options)["p.kernels:k"]


def argument(record: Any) -> float:
    """The last four bytes of what a launch was given: `x`."""
    return float(ctypes.c_float.from_buffer_copy(bytes(record.bytes)[record.size - 4 : record.size]).value)


def test_streams(cuda: FakeCuda) -> None:
    stream, other = wp.Stream("cuda:1", priority=-1), wp.Stream(device="cuda:1")
    assert isinstance(stream, wp.Stream)
    assert isinstance(stream, kb.Stream)
    assert not isinstance(3, wp.Stream)
    assert (stream.device, stream.priority) == ("cuda:1", -1)
    assert stream.cuda_stream == stream.__cuda_stream__()[1]
    assert wp.Stream("cuda:1", cuda_stream=stream.cuda_stream).handle == stream.handle
    with wp.ScopedStream(stream):
        assert wp.get_stream() is wp.get_stream("cuda:1") is stream
        assert wp.get_device() == "cuda:1"
        with wp.ScopedStream(None) as same:
            assert same is stream
        event = wp.record_event()
        assert wp.record_event(event) is event
        wp.wait_stream(other, wp.Event("cuda:1"))
        wp.wait_stream(other)
        wp.wait_event(event)
        wp.synchronize_event(event)
    assert wp.get_stream("cuda:1").handle == 0
    wp.set_stream(stream, "cuda:1", sync=True)
    assert wp.get_stream("cuda:1") is stream
    wp.set_stream(None, "cuda:1")
    wp.synchronize_stream(stream)
    wp.synchronize_stream("cuda:1")
    wp.synchronize_stream()
    wp.synchronize_device("cuda:1")
    calls = cuda.calls
    wp.synchronize()
    assert cuda.calls[len(calls) :].count("cuCtxSynchronize") == 2  # both are in use


def test_wait_stream_with_an_event(cuda: FakeCuda) -> None:
    first, second = wp.Stream("cuda:0"), wp.Stream("cuda:0")
    event = wp.Event("cuda:0")
    cuda.hold(first.handle)
    wp.zeros(4, dtype=float)
    with wp.ScopedStream(first, sync_enter=False):
        wp.zeros(4, dtype=float)
    assert not first.is_complete
    second.wait_stream(first, event)
    assert not event.is_complete
    cuda.release(first.handle)
    wp.synchronize()
    assert event.is_complete


def test_events() -> None:
    start, end = wp.Event(enable_timing=True), wp.Event("cuda:0", enable_timing=True)
    assert isinstance(start, wp.Event)
    wp.record_event(start)
    wp.record_event(end)
    assert wp.get_event_elapsed_time(start, end) >= 0.0
    with pytest.raises(ValueError, match="needs events with timing"):
        wp.get_event_elapsed_time(start, wp.Event(), synchronize=False)
    with pytest.raises(NotInKbuild, match=r"wp.Event\(interprocess=True\) \(other processes\)"):
        wp.Event(interprocess=True)


def test_timers(capsys: pytest.CaptureFixture[str]) -> None:
    times: dict[str, list[float]] = {}
    for timer in (kb.ScopedTimer, wp.ScopedTimer):
        with timer("outer", synchronize=True, dict=times) as outer, timer("inner") as inner:
            inner.extra_msg = "(3 steps)"
        assert outer.elapsed >= inner.elapsed > 0.0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("\tinner took ")
        assert lines[0].endswith(" ms (3 steps)")
        assert lines[1].startswith("outer took ")
    assert len(times["outer"]) == 2
    with wp.ScopedTimer("off", active=False, cuda_filter=wp.TIMING_ALL) as off, wp.ScopedTimer("silent", print=False):
        pass
    with wp.ScopedTimer("neutral", print=False, detailed=False, use_nvtx=False, color="cyan", cuda_filter=0):
        pass
    assert off.elapsed == 0.0
    assert capsys.readouterr().out == ""
    for wrong in ({"cuda_filter": wp.TIMING_KERNEL}, {"detailed": True}):
        with pytest.raises(NotInKbuild, match=r"\(profiling\) is not in kbuild"):
            wp.ScopedTimer("x", **wrong)


def test_a_block_that_fails_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), wp.ScopedTimer("outer"), wp.ScopedTimer("inner"):
        raise KeyError
    assert [line.partition(" took")[0] for line in capsys.readouterr().out.splitlines()] == ["\tinner", "outer"]
    with wp.ScopedTimer("next"):
        pass
    assert capsys.readouterr().out.startswith("next took")


def test_recorded_launches(cuda: FakeCuda) -> None:
    a, b, k = wp.zeros(4, dtype=float), wp.ones(4, dtype=float), kernel()
    made = wp.launch(k, dim=4, inputs=[a, 1.0], record_cmd=True)
    assert isinstance(made, wp.Launch)
    assert (made.device, made.params[1], cuda.launches) == ("cuda:0", 1.0, 0)
    made.launch()
    made.set_param_at_index(1, 2.0)
    made.launch()
    made.set_param_by_name("x", 3.0)
    made.launch()
    made.set_params([b, 4.0])
    assert made.params[0] is b
    made.launch()
    made.set_param_by_name_from_ctype("x", ctypes.c_float(5.0))
    made.set_dim(1000)
    made.launch()
    assert [argument(record) for record in cuda.records] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert cuda.records[-1].grid > cuda.records[0].grid
    for wrong in (lambda: made.set_param_by_name("y", 1.0), lambda: made.set_param_at_index(7, 1.0)):
        with pytest.raises(LaunchError, match="has no parameter"):
            wrong()
    with pytest.raises(LaunchError, match="this launch has no gradients"):
        made.set_param_at_index(0, a, adjoint=True)


def test_the_stream_of_a_recorded_launch(cuda: FakeCuda) -> None:
    a, stream, other = wp.zeros(4, dtype=float), wp.Stream(), wp.Stream()
    free = wp.launch(kernel(), dim=4, inputs=[a, 1.0], record_cmd=True)
    fixed = wp.launch(kernel(), dim=4, inputs=[a, 1.0], stream=stream, record_cmd=True)
    free.launch()
    with wp.ScopedStream(other):
        free.launch()
        fixed.launch()
    free.launch()
    free.launch(stream)
    free.launch()
    fixed.launch()
    handles = [record.stream for record in cuda.records]
    assert handles == [0, other.handle, stream.handle, 0, stream.handle, 0, stream.handle]


def test_launch_takes_the_device_of_the_stream(cuda: FakeCuda) -> None:
    wp.launch(make_bundle([])["p.kernels:k"], dim=1, stream=wp.Stream("cuda:1"))
    assert cuda.records[0].stream


def test_peers_arrays_can_be_launched_with(cuda: FakeCuda) -> None:
    a, k = wp.zeros(4, dtype=float, device="cuda:0"), kernel()
    with pytest.raises(LaunchError, match="the array is on cuda:0, but the launch is on cuda:1"):
        wp.launch(k, dim=4, inputs=[a, 1.0], device="cuda:1")
    with wp.ScopedPeerAccess("cuda:0", "cuda:1", True):
        wp.launch(k, dim=4, inputs=[a, 1.0], device="cuda:1")
    launched = cuda.launches
    assert launched
    with pytest.raises(LaunchError, match="the array is on cuda:0"):
        wp.launch(k, dim=4, inputs=[a, 1.0], device="cuda:1")
    assert cuda.launches == launched


def test_captures(cuda: FakeCuda, tmp_path: Any) -> None:
    a, k = wp.zeros(4, dtype=float), kernel()
    wp.launch(k, dim=4, inputs=[a, 0.0])
    before = cuda.launches
    with wp.ScopedCapture() as capture:
        assert wp.get_device().is_capturing
        wp.launch(k, dim=4, inputs=[a, 1.0])
    assert isinstance(capture.graph, wp.Graph)
    wp.capture_begin(device="cuda:0", force_module_load=False, capture_mode=wp.CaptureMode.RELAXED)
    try:
        wp.launch(k, dim=4, inputs=[a, 2.0])
    finally:
        graph = wp.capture_end()
    wp.capture_launch(graph)
    wp.capture_launch(capture.graph, stream=wp.Stream())
    wp.synchronize()
    assert cuda.launches >= before
    wp.capture_debug_dot_print(graph, str(tmp_path / "graph.dot"))
    with pytest.raises(KeyError), wp.ScopedCapture() as failed:
        raise KeyError
    assert failed.graph is None
    with wp.ScopedCapture(external=True) as theirs:
        wp.launch(k, dim=4, inputs=[a, 1.0])
    assert theirs.graph is None
    with pytest.raises(LaunchError, match=r"this thread has begun no capture$"):
        wp.capture_end()
    with pytest.raises(NotInKbuild, match=r"capture_begin\(apic=True\) \(graphs in files\)"):
        wp.capture_begin(apic=True)
    with pytest.raises(LaunchError, match="a graph is of a GPU"):
        wp.capture_begin("cpu")


def test_a_capture_of_another_thread() -> None:
    stream = wp.Stream()
    wp.capture_begin(stream=stream)
    said: list[str] = []

    def other() -> None:
        try:
            wp.capture_end()
        except LaunchError as error:
            said.append(str(error))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert said == ["wp.capture_end: this thread has begun no capture"]
    assert wp.capture_end(stream=stream)


def test_loops_and_branches_outside_of_captures() -> None:
    left = wp.array([3], dtype=int)
    seen: list[str] = []

    def body(word: str) -> None:
        seen.append(word)
        left.assign([left.list()[0] - 1])

    wp.capture_while(left, body, word="again")
    wp.capture_if(left, on_true=lambda: seen.append("yes"), on_false=lambda: seen.append("no"))
    wp.capture_if(wp.ones((1, 1), dtype=int), on_true=lambda: seen.append("yes"))
    assert seen == ["again", "again", "again", "no", "yes"]
    assert wp.is_conditional_graph_supported()
