"""Where memory of arrays comes from and when it goes back, on a driver that knows which work is not done yet."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import array as arrays
from kbuild.loader import context, copying, current, driver, naming, streams
from kbuild.loader.errors import DriverError
from kbuild.loader.memory import allocation, books, pools
from tests.helpers.fake_cuda import FakeCuda, compile_library, make_bundle

ROUNDS = 3


def kernel(cuda: FakeCuda) -> Any:
    return make_bundle([("a", "array1[float32]")])["p.kernels:k"]


def test_memory_comes_from_a_pool_and_goes_back_to_it(cuda: FakeCuda) -> None:
    made = arrays.empty(1000)
    assert "cuMemAllocFromPoolAsync" in cuda.calls
    pool = pools.of(naming.gpu())
    assert pool is not None
    assert pool.used >= 4000
    del made
    assert cuda.calls[-2] == "cuMemFreeAsync"
    assert pool.used == 0


@pytest.mark.parametrize("devices", ["9.0//0/pools=0", "8.7/Orin/1/pools=0"])
def test_a_gpu_without_pools(fake_library: Path, devices: str) -> None:
    """An attribute says so; the functions are there."""
    with FakeCuda(fake_library, devices=devices) as cuda:
        made = arrays.zeros(10)
        assert made.tolist() == [0.0] * 10
        assert "cuMemAlloc_v2" in cuda.calls
        assert "cuMemPoolCreate" not in cuda.calls
        assert kb.memory_report().pooled == 0
        kb.set_pool_limit(0)
        kb.trim_memory()
        del made
        assert cuda.leaks == {}
        assert cuda.breaches == []


def test_a_driver_without_the_functions(tmp_path: Path) -> None:
    """Old ones: what is not asked for is not missed."""
    with FakeCuda(compile_library(tmp_path, "-DNO_POOLS"), devices="8.7/Orin/1/pools=0", version="11040") as cuda:
        assert arrays.ones(3).tolist() == [1.0] * 3
        assert cuda.breaches == []


@pytest.mark.parametrize("quick", [False, True], ids=["thorough", "quick"])
def test_memory_waits_for_the_stream_that_still_uses_it(cuda: FakeCuda, quick: bool) -> None:
    launch, stream = kernel(cuda).launch, streams.Stream()
    warm = arrays.zeros(8)
    for _ in range(ROUNDS if quick else 0):
        launch(8, [warm])
    cuda.hold(stream.handle)
    data = arrays.zeros(8)
    launch(8, [data], stream=stream)
    del data
    assert cuda.breaches == [], "freed while a launch on the stream still uses it"
    assert allocation.waiting(naming.gpu()) == 32
    assert kb.memory_report().waiting == 32
    arrays.zeros(1)
    assert allocation.waiting(naming.gpu()) == 32
    cuda.release(stream.handle)
    arrays.zeros(1)
    assert allocation.waiting(naming.gpu()) == 0


def test_fresh_memory_is_there_when_another_stream_uses_it(cuda: FakeCuda) -> None:
    """The first use on another stream waits for the memory's own, and only the first."""
    launch, stream = kernel(cuda).launch, streams.Stream()
    cuda.hold(0)
    data = arrays.zeros(8)
    before = len(cuda.calls)
    launch(8, [data], stream=stream)
    launch(8, [data], stream=stream)
    assert cuda.calls[before:].count("cuStreamWaitEvent") == 1
    assert cuda.breaches == []


def test_memory_of_a_stream_waits_for_the_default_one(cuda: FakeCuda) -> None:
    """Whose launches leave no note."""
    launch, stream = kernel(cuda).launch, streams.Stream()
    with current.ScopedStream(stream):
        data = arrays.zeros(8)
    stream.synchronize()
    cuda.hold(0)
    launch(8, [data])
    del data
    assert cuda.breaches == []
    assert allocation.waiting(naming.gpu()) == 32
    cuda.release(0)


def test_what_the_host_reads_waits_for_named_streams(cuda: FakeCuda) -> None:
    launch, stream, data = kernel(cuda).launch, streams.Stream(), arrays.zeros(8)
    cuda.hold(stream.handle)
    launch(8, [data], stream=stream)
    assert cuda.pending > 0
    data.tolist()
    assert cuda.pending == 0


def test_a_stream_that_its_owner_destroyed(cuda: FakeCuda) -> None:
    theirs, data = cuda.make_stream(), arrays.zeros(8)
    kernel(cuda).launch(8, [data], stream=theirs)
    cuda.close_stream(theirs)
    before = len(cuda.calls)
    del data
    assert "cuCtxSynchronize" in cuda.calls[before:]


# Out of memory


def test_no_memory_says_who_holds_it(cuda: FakeCuda) -> None:
    cuda.set_memory(1 << 20)
    held = [arrays.empty(1 << 15) for _ in range(6)]
    with pytest.raises(DriverError) as caught:
        arrays.empty(1 << 17)
    text = str(caught.value)
    for part in (
        "cuda:0: 524288 bytes",
        "MiB are free",
        "kbuild's arrays hold 768.0 KiB:",
        "in 6 arrays from",
        __file__,
    ):
        assert part in text
    assert "help: free arrays" in text
    del held


def test_what_the_pool_keeps_goes_back_first(cuda: FakeCuda) -> None:
    cuda.set_memory(1 << 20)
    big = arrays.empty(1 << 17)
    del big
    assert kb.memory_report().pooled >= 1 << 19
    other = arrays.empty(3 << 16)  # more than is left beside the pool's
    assert other.nbytes == 3 << 18


def test_what_waits_is_waited_for_first(cuda: FakeCuda) -> None:
    cuda.set_memory(1 << 20)
    stream, data = streams.Stream(), arrays.empty(1 << 17)
    cuda.hold(stream.handle)
    kernel(cuda).launch(1, [data], stream=stream)
    del data
    assert allocation.waiting(naming.gpu()) == 1 << 19
    assert arrays.empty(3 << 16).nbytes == 3 << 18
    assert allocation.waiting(naming.gpu()) == 0


def test_cycles_are_collected_first(cuda: FakeCuda) -> None:
    cuda.set_memory(1 << 20)
    gc.disable()
    try:
        ring: list[Any] = [arrays.empty(1 << 17)]
        ring.append(ring)
        del ring
        assert arrays.empty(3 << 16).nbytes == 3 << 18
    finally:
        gc.enable()


# Kinds of memory


def test_mapped_memory_has_two_addresses(cuda: FakeCuda) -> None:
    cuda.alias_host()
    shared = arrays.array([1.0, 2.0, 3.0], memory="mapped")
    assert shared.host.ptr != shared.ptr
    assert shared.host.tolist() == [1.0, 2.0, 3.0]
    assert shared[1:].host.ptr == shared.host.ptr + 4
    shared.host[0] = 5.0
    assert shared[1:2].host.tolist() == [2.0]
    host = shared.host
    del shared
    assert host[0] == 5.0


def test_arrays_that_the_host_does_not_reach(cuda: FakeCuda) -> None:
    with pytest.raises(ValueError, match=r"make it with memory='mapped', or copy it; got <kb.array float32 of shape"):
        arrays.zeros(3).host  # noqa: B018
    assert arrays.zeros(3, device="cpu").host.tolist() == [0.0] * 3


def test_managed_memory(cuda: FakeCuda) -> None:
    shared = arrays.ones(3, memory="managed")
    shared.host[1] = 4.0
    assert shared.tolist() == [1.0, 4.0, 1.0]


def test_managed_memory_where_the_host_would_crash(fake_library: Path) -> None:
    with FakeCuda(fake_library, devices="8.7/Orin/1/concurrent_managed=0") as cuda:
        with pytest.raises(ValueError, match=r"not safe on cuda:0 \(Orin\).*\n  help: memory='mapped'"):
            arrays.zeros(3, memory="managed")
        assert "cuMemAllocManaged" not in cuda.calls


@pytest.mark.parametrize(
    ("device", "memory", "message"),
    [
        ("cuda:0", "pinned", "pinned memory belongs to the host, as in device='cpu', not to cuda:0"),
        ("cpu", "mapped", "mapped memory belongs to a GPU, not to cpu"),
        ("sim", "managed", "managed memory belongs to a GPU, not to sim"),
        ("cpu", "pin", "memory is 'pinned', 'mapped' or 'managed', not 'pin'"),
    ],
)
def test_memory_that_is_not_there(cuda: FakeCuda, device: str, memory: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        arrays.zeros(3, device=device, memory=memory)


def test_pinned_memory_stays_until_its_copies_are_done(cuda: FakeCuda) -> None:
    stream, there = streams.Stream(), arrays.zeros(4)
    here = arrays.full(4, 2.0, device="cpu", memory="pinned")
    assert here.pinned
    cuda.hold(stream.handle)
    copying.copy(there, here, stream=stream)
    assert cuda.pending > 0, "the host goes on"
    del here
    assert cuda.breaches == []
    assert allocation.waiting(naming.gpu()) == 16
    cuda.release(stream.handle)
    assert there.tolist() == [2.0] * 4


def test_pinned_memory_without_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ordinary memory then, so that programs run."""
    monkeypatch.setattr(driver, "LIBRARIES", (str(tmp_path / "none.so"),))
    monkeypatch.setattr(driver, "_driver", None)
    monkeypatch.setattr(context, "_devices", None)
    made = arrays.zeros(3, device="cpu", memory="pinned")
    assert made.tolist() == [0.0] * 3
    assert not made.pinned


# The report


def test_the_report(cuda: FakeCuda) -> None:
    before = books.summary("cpu").in_use
    first, second = arrays.zeros(1 << 18), [arrays.zeros(1 << 8) for _ in range(2)]
    here = arrays.zeros(10, device="cpu")
    report = kb.memory_report()
    assert report.in_use == (1 << 20) + (2 << 10)
    assert [(size, count, file) for size, count, file, _ in report.holders] == [(report.in_use, 3, __file__)]
    assert report.total is not None
    assert "1.0 MiB in 3 arrays from " + __file__ in str(report)
    assert str(report).startswith("cuda:0: in use 1.0 MiB, pooled 0 bytes, waiting 0 bytes, peak 1.0 MiB, free ")
    assert kb.memory_report("cpu").in_use == before + 40
    first.free()
    assert kb.memory_report().in_use == 2 << 10
    assert kb.memory_report().peak >= 1 << 20
    del second, here
    assert kb.memory_report().in_use == 0
    assert kb.memory_report("cpu").in_use == before
    assert kb.memory_report("pinned").in_use == 0


def test_the_report_names_lines(cuda: FakeCuda) -> None:
    first = test_the_report_names_lines.__code__.co_firstlineno
    held = [
        arrays.zeros(8),
        arrays.empty((2, 4)),
        arrays.full(
            16,
            7.0,
        ),
    ]
    compiled = compile("\n\nheld.append(arrays.array(list(range(64))))", "a program", "exec")
    exec(compiled, {"arrays": arrays, "held": held})
    found = {(size, count, file, line) for size, count, file, line in kb.memory_report().holders}
    here = {(32, 1, __file__, first + 3), (32, 1, __file__, first + 4), (64, 1, __file__, first + 5)}
    assert found == here | {(256, 1, "a program", 3)}


# What an array costs


@pytest.mark.parametrize(
    ("make", "calls", "driver_calls"),
    [
        (lambda: arrays.empty(1000), 50, ["cuMemAllocFromPoolAsync"]),
        (lambda: arrays.empty((10, 100), kb.vec3), 51, ["cuMemAllocFromPoolAsync"]),
        (lambda: arrays.zeros(1000), 52, ["cuMemAllocFromPoolAsync", "cuMemsetD8Async"]),
    ],
    ids=["empty", "empty of two dimensions", "zeros"],
)
def test_how_much_work_an_array_is(
    cuda: FakeCuda, make: Callable[[], Any], calls: int, driver_calls: list[str]
) -> None:
    """Programs make and drop arrays in every step: functions of Python's that run for it, and the driver's."""
    for _ in range(3):
        make()
    before, seen = len(cuda.calls), []

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            seen.append(f"{frame.f_code.co_name} in {Path(frame.f_code.co_filename).name}")

    sys.setprofile(note)
    try:
        make()
    finally:
        sys.setprofile(None)
    assert len(seen) <= calls, seen
    asked, mode = ["cuCtxGetCurrent", "cuStreamIsCapturing"], "cuThreadExchangeStreamCaptureMode"
    made = [mode, driver_calls[0], mode, *driver_calls[1:]]
    assert cuda.calls[before:] == [*asked, *made, *asked, mode, "cuMemFreeAsync", mode]


def test_the_pools_limit(cuda: FakeCuda) -> None:
    big = arrays.empty(1 << 18)
    del big
    kb.synchronize()
    assert kb.memory_report().pooled == 1 << 20
    kb.trim_memory(keep=1 << 19)
    assert kb.memory_report().pooled <= 1 << 20
    kb.trim_memory()
    assert kb.memory_report().pooled == 0
    kb.set_pool_limit(0)
    big = arrays.empty(1 << 18)
    del big
    kb.synchronize()
    assert kb.memory_report().pooled == 0
    kb.set_pool_limit(None)
    with pytest.raises(DriverError, match="a GPU is wanted here, and cpu is none"):
        kb.trim_memory(device="cpu")
