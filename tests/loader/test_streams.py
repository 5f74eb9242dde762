"""Streams, events and scopes: what waits for what, and what is meant where nothing is named."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import array as arrays
from kbuild.loader import context, current, hosts, streams
from kbuild.loader.errors import DriverError
from tests.helpers.fake_cuda import FakeCuda, make_bundle


def test_streams_wait_for_one_another(cuda: FakeCuda) -> None:
    first, second = streams.Stream(), streams.Stream()
    cuda.hold(first.handle)
    arrays.zeros(3)
    kernel = make_bundle([("x", "int32")])["p.kernels:k"]
    kernel.launch(1, [1], stream=first)
    assert not first.is_complete
    assert second.is_complete
    event = first.record_event()
    second.wait_event(event)
    kernel.launch(1, [1], stream=second)
    assert not event.is_complete
    assert not second.is_complete
    second.synchronize()
    assert event.is_complete
    assert first.is_complete


def test_waiting_for_a_stream_leaves_no_event(cuda: FakeCuda) -> None:
    first, second = streams.Stream(), streams.Stream()
    second.wait_stream(first)
    second.wait_stream(cuda.make_stream(0))
    assert "events" not in cuda.live


def test_time(cuda: FakeCuda) -> None:
    start, end = streams.Event(enable_timing=True), streams.Event(enable_timing=True)
    start.record()
    arrays.zeros(3)
    end.record()
    assert streams.elapsed_time(start, end) > 0
    with pytest.raises(ValueError, match=r"needs events with timing: kb.Event\(enable_timing=True\)"):
        streams.elapsed_time(start, streams.Event())


def test_priorities(cuda: FakeCuda) -> None:
    low, high = streams.stream_priorities()
    assert high < low
    assert streams.Stream(priority=high).priority == high
    assert streams.Stream(priority=high - 100).priority == high
    assert streams.Stream().priority == 0


def test_a_stream_is_used_again(cuda: FakeCuda) -> None:
    stream = streams.Stream()
    handle = stream.handle
    del stream
    assert streams.Stream(priority=-1).handle != handle
    first, second = streams.Stream(), streams.Stream()
    assert handle in (first.handle, second.handle)
    assert first.handle != second.handle


def test_a_stream_whose_capture_was_never_ended_is_not(cuda: FakeCuda) -> None:
    stream = streams.Stream()
    handle = stream.handle
    assert cuda.library.cuStreamBeginCapture_v2(stream._handle, 1) == 0
    del stream
    assert streams.Stream().handle != handle
    cuda.may_keep = {"streams", "graphs"}


def test_streams_of_others(two_gpus: FakeCuda) -> None:
    class Theirs:
        def __init__(self, handle: int) -> None:
            self.handle = handle

        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, self.handle

    assert hosts.get_devices()[1].context  # where their stream is: their library retained it
    there = two_gpus.make_stream(1)
    found = streams.stream_of(Theirs(there))
    assert (found.handle, found.device.ordinal) == (there, 1)
    assert found.__cuda_stream__() == (0, there)
    assert streams.stream_of(found) is found
    with pytest.raises(TypeError, match="stream wants None, a handle, or an object"):
        streams.stream_of("x")


def test_scopes_are_a_threads(cuda: FakeCuda) -> None:
    stream, seen = streams.Stream(), []
    with current.ScopedStream(stream) as inside:
        assert inside is stream
        assert current.get_stream() is stream
        other = threading.Thread(target=lambda: seen.append(current.get_stream().handle))
        other.start()
        other.join()
    assert seen == [0]
    assert current.get_stream().handle == 0
    assert context.scopes == []


@pytest.mark.parametrize("launches", [1, 4])
def test_launches_run_on_the_stream_that_is_meant(cuda: FakeCuda, launches: int) -> None:
    kernel, stream = make_bundle([("x", "int32")])["p.kernels:k"], streams.Stream()
    for _ in range(launches):
        kernel.launch(1, [1])
    with current.ScopedStream(stream):
        kernel.launch(1, [1])
        with current.ScopedStream(None):
            kernel.launch(1, [1])
        kernel.launch(1, [1], stream=5)
    kernel.launch(1, [1])
    assert [r.stream for r in cuda.records[launches:]] == [stream.handle, 0, 5, 0]


def test_settings_of_all_threads(two_gpus: FakeCuda) -> None:
    stream, seen = streams.Stream("cuda:1"), []
    current.set_device("cuda:1")
    current.set_stream(stream)
    other = threading.Thread(target=lambda: seen.append((str(current.get_device()), current.get_stream().handle)))
    other.start()
    other.join()
    assert seen == [("cuda:1", stream.handle)]
    with current.ScopedDevice(0):
        assert str(current.get_device()) == "cuda:0"
    current.set_stream(None, "cuda:1")
    assert current.get_stream().handle == 0
    current.set_device(None)
    assert str(current.get_device()) == "cuda:0"
    assert context.scopes == []


def test_settings_and_scopes_of_other_threads_do_not_meet(cuda: FakeCuda) -> None:
    """A setting changes while other threads open and close scopes: none of these is lost."""
    failures: list[BaseException] = []
    stop = threading.Event()

    def scopes() -> None:
        try:
            while not stop.is_set():
                with current.ScopedDevice("cpu"):
                    pass
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=scopes) for _ in range(4)]
    for worker in workers:
        worker.start()
    for _ in range(2000):
        current.set_device("cuda:0")
        current.set_device(None)
    stop.set()
    for worker in workers:
        worker.join()
    assert failures == []
    assert context.scopes == []


def test_a_scope_waits_at_its_ends(cuda: FakeCuda) -> None:
    stream = streams.Stream()
    for options, waits in (({}, 1), ({"sync_enter": False}, 0), ({"sync_exit": True}, 2)):
        before = len(cuda.calls)
        with current.ScopedStream(stream, **options):
            pass
        assert cuda.calls[before:].count("cuStreamWaitEvent") == waits


# Devices


def test_kernels_without_arrays_go_where_is_meant(two_gpus: FakeCuda) -> None:
    kernel = make_bundle([("x", "int32")])["p.kernels:k"]
    for _ in range(3):
        kernel.launch(1, [1])
    with current.ScopedDevice("cuda:1"):
        kernel.launch(1, [1])
    assert {str(loaded.device) for loaded in kernel._loaded.values()} == {"cuda:0", "cuda:1"}


def test_the_variable(two_gpus: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBUILD_DEVICE", "cuda:1")
    assert arrays.zeros(3).device.ordinal == 1
    kernel = make_bundle([("x", "int32")])["p.kernels:k"]
    for _ in range(4):
        kernel.launch(1, [1])
    assert list(kernel._loaded) == [1]
    monkeypatch.setenv("KBUILD_DEVICE", "cpu")
    assert arrays.zeros(3).device.kind == "cpu"
    monkeypatch.setenv("KBUILD_DEVICE", "gpu")
    with pytest.raises(DriverError, match=r"a device is 'cuda:0', a number, 'cpu', 'sim' or a kb.Device, not 'gpu'"):
        arrays.zeros(3)


def test_devices_of_the_host(tmp_path: Path) -> None:
    cpu = context.get_device("cpu")
    assert (str(cpu), cpu.kind, cpu.is_cuda, cpu.is_cpu) == ("cpu", "cpu", False, True)
    assert pickle.loads(pickle.dumps(cpu)) is cpu
    assert kb.get_device("sim") is hosts.HOSTS["sim"]
    stream, event = streams.Stream("cpu"), streams.Event("sim", enable_timing=True)
    stream.wait_stream(streams.Stream("sim"))
    stream.wait_event(event)
    assert stream.is_complete
    assert not stream.is_capturing
    assert stream.record_event().is_complete
    stream.synchronize()
    kb.synchronize("cpu")
    event.record()
    later: Any = streams.Event("sim", enable_timing=True)
    later.record()
    assert streams.elapsed_time(event, later) >= 0.0
    with current.ScopedStream(stream), current.ScopedDevice("sim"):
        assert arrays.zeros(2).device.kind == "sim"


@pytest.mark.parametrize("how", ["array", "device", "scope"])
def test_nothing_runs_kernels_on_the_host_yet(cuda: FakeCuda, how: str) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    data = arrays.zeros(3, device="cpu") if how == "array" else arrays.zeros(3)
    options = {"device": "cpu"} if how == "device" else {}
    with current.ScopedDevice("cpu" if how == "scope" else "cuda:0"):
        if how == "scope":
            data = arrays.zeros(3)
        with pytest.raises(kb.LaunchError, match=r"p.kernels:k: nothing runs kernels on device 'cpu'"):
            kernel.launch(3, [data], **options)
    assert cuda.launches == 0
