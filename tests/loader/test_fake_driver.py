"""The fake driver keeps the real one's rules: each test asks it, by ctypes, for what a loader could get wrong."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from ctypes import byref, c_float, c_int, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import pytest

from kbuild.loader import driver, symbols
from tests.helpers.fake_cuda import FakeCuda, compile_library

OUT_OF_MEMORY, INVALID_VALUE, INVALID_HANDLE, ILLEGAL_STATE, NOT_READY = 2, 1, 400, 401, 600
UNSUPPORTED, INVALIDATED, MERGED, UNMATCHED, UNJOINED, ISOLATED, IMPLICIT, CAPTURED_EVENT = range(900, 908)
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
NON_BLOCKING, NO_TIMING = 1, 2
MODULE = b"FAKE 0\nk 1 0 16\n"  # a kernel of one parameter of 16 bytes


# What programs call besides the loader.
OTHERS = {
    "cuGraphGetNodes": (c_uint64, c_void_p, ctypes.POINTER(ctypes.c_size_t)),
    "cuMemcpyDtoH_v2": (c_void_p, c_uint64, ctypes.c_size_t),
    "cuMemcpyHtoD_v2": (c_uint64, c_void_p, ctypes.c_size_t),
    "cuMemsetD8_v2": (c_uint64, ctypes.c_ubyte, ctypes.c_size_t),
    "cuStreamDestroy_v2": (c_uint64,),
}


class Api:
    """The functions of the fake driver by name, each of which answers its status; `made` those that make something."""

    def __init__(self, fake: FakeCuda) -> None:
        self.fake = fake
        for name, arguments in {**driver._SIGNATURES, **symbols.SIGNATURES, **OTHERS}.items():
            getattr(fake.library, name).argtypes = arguments
        self("cuInit", 0)
        self.contexts = [self.made("cuDevicePrimaryCtxRetain", i) for i in range(len(fake.devices.split(",")))]
        self("cuCtxSetCurrent", self.contexts[0])

    def __call__(self, name: str, *args: Any) -> int:
        return int(getattr(self.fake.library, name)(*args))

    def made(self, name: str, *args: Any) -> int:
        out = c_uint64()
        assert self(name, out, *args) == 0, name
        return out.value

    def read(self, name: str, *args: Any) -> int:
        """The number that a function writes to its last argument."""
        value = c_uint64()
        assert self(name, *args, byref(value)) == 0, name
        return value.value

    def size(self, name: str, *args: Any) -> int:
        value = ctypes.c_size_t()
        assert self(name, value, *args) == 0, name
        return value.value

    def pool(self, device: int = 0) -> int:
        props = (c_int * 22)(1, 0, 1, device)
        return self.made("cuMemPoolCreate", ctypes.cast(props, c_void_p))

    def stream(self, flags: int = NON_BLOCKING, priority: int = 0) -> int:
        return self.made("cuStreamCreateWithPriority", flags, priority)

    def event(self, flags: int = 0) -> int:
        return self.made("cuEventCreate", flags)

    def function(self) -> int:
        return self.made("cuModuleGetFunction", self.made("cuModuleLoadData", MODULE), b"k")

    def launch(self, function: int, ptr: int, stream: int, number: int = 0) -> int:
        values = (c_uint64 * 2)(ptr, number)
        params = (c_void_p * 1)(ctypes.addressof(values))
        sizes = [c_uint(x) for x in (1, 1, 1, 32, 1, 1, 0)]
        return self("cuLaunchKernel", c_uint64(function), *sizes, c_uint64(stream), params, None)

    def wait(self, consumer: int, producer: int) -> int:
        event = self.event(NO_TIMING)
        assert self("cuEventRecord", event, producer) == 0
        status = self("cuStreamWaitEvent", consumer, event, 0)
        assert self("cuEventDestroy_v2", event) == 0
        return status

    def end(self, stream: int, status: int = 0) -> int:
        graph = c_uint64(1)
        assert self("cuStreamEndCapture", stream, graph) == status
        assert bool(graph.value) == (status == 0)
        return graph.value

    def captured(self, stream: int) -> int:
        """How many nodes the graph has that a stream is captured into."""
        status, graph, count = c_int(), c_uint64(), ctypes.c_size_t()
        assert self("cuStreamGetCaptureInfo_v2", stream, status, None, graph, None, None) == 0
        assert self("cuGraphGetNodes", graph, None, count) == 0
        return count.value

    def breaks(self, said: str) -> None:
        """The one breach so far, which is forgiven."""
        (breach,) = self.fake.breaches
        assert said in breach, breach
        self.fake.library.fake_forgive()


@pytest.fixture
def api(fake_library: Path) -> Iterator[Api]:
    with FakeCuda(fake_library, devices="9.0,8.7/Orin/1/pools=0/concurrent_managed=0") as fake:
        yield Api(fake)
        assert fake.breaches == []
        fake.library.fake_unload()


def test_every_function_is_there(fake_library: Path, tmp_path: Path) -> None:
    library, poor = ctypes.CDLL(str(fake_library)), ctypes.CDLL(str(compile_library(tmp_path, "-DNO_POOLS")))
    names = {*driver._SIGNATURES, *symbols.SIGNATURES}
    assert [name for name in sorted(names) if not hasattr(library, name)] == []
    assert {name for name in names if not hasattr(poor, name)} == {
        name for name in names if name.startswith("cuMemPool") or name in ("cuMemAllocFromPoolAsync", "cuMemFreeAsync")
    }


def test_attributes(api: Api) -> None:
    def attribute(which: int, device: int) -> int:
        value = c_int()
        assert api("cuDeviceGetAttribute", value, which, device) == 0
        return value.value

    assert [attribute(which, 0) for which in (10, 16, 18, 39, 89, 106, 115)] == [32, 132, 0, 2048, 1, 32, 1]
    assert [attribute(which, 1) for which in (18, 75, 76, 89, 115)] == [1, 8, 7, 0, 0]
    assert api("cuMemPoolCreate", c_uint64(), ctypes.cast((c_int * 22)(1, 0, 1, 1), c_void_p)) == 801


# Memory


def test_each_kind_of_memory_is_freed_by_its_own_functions(api: Api) -> None:
    pool, size = api.pool(), 64
    kinds = {
        "device": lambda: api.made("cuMemAlloc_v2", size),
        "pool": lambda: api.made("cuMemAllocFromPoolAsync", size, pool, 0),
        "host": lambda: api.made("cuMemHostAlloc", size, 3),
        "managed": lambda: api.made("cuMemAllocManaged", size, 1),
    }
    frees = {"cuMemFree_v2": (), "cuMemFreeAsync": (0,), "cuMemFreeHost": ()}
    allowed = {"device": {"cuMemFree_v2", "cuMemFreeAsync"}, "pool": {"cuMemFree_v2", "cuMemFreeAsync"}}
    allowed |= {"host": {"cuMemFreeHost"}, "managed": {"cuMemFree_v2"}}
    for kind, make in kinds.items():
        for free, more in frees.items():
            ptr = make()
            if free not in allowed[kind]:
                assert api(free, ptr, *more) == INVALID_VALUE
                api.breaks("memory of another kind")
                free, more = next((f, frees[f]) for f in sorted(allowed[kind]))
            assert api(free, ptr, *more) == 0
            assert api(free, ptr, *more) == INVALID_VALUE
            api.breaks("freed twice")
    assert api.fake.live == {"pools": 1}
    assert api("cuMemFree_v2", 0x1234) == INVALID_VALUE
    api.breaks("starts no block")


def test_memory_ends(api: Api) -> None:
    api.fake.set_memory(1000)
    pool = api.pool()
    first = api.made("cuMemAllocFromPoolAsync", 600, pool, 0)
    assert api("cuMemAlloc_v2", c_uint64(), 500) == OUT_OF_MEMORY
    assert api("cuMemAllocFromPoolAsync", c_uint64(), 500, pool, 0) == OUT_OF_MEMORY
    assert api("cuMemFreeAsync", first, 0) == 0
    assert [api.read("cuMemPoolGetAttribute", pool, which) for which in (5, 6, 7, 8)] == [600, 600, 0, 600]
    assert api("cuMemAlloc_v2", c_uint64(), 500) == OUT_OF_MEMORY  # the pool keeps it
    assert api("cuMemPoolTrimTo", pool, 0) == 0
    second = api.made("cuMemAlloc_v2", 500)
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert api("cuMemGetInfo_v2", free, total) == 0
    assert (free.value, total.value, api.size("cuDeviceTotalMem_v2", 0)) == (500, 1000, 1000)
    assert api("cuMemFree_v2", second) == 0


def test_a_pool_keeps_what_its_threshold_says(api: Api) -> None:
    pool = api.pool()
    for threshold, kept in ((0, 0), (64, 64)):
        assert api("cuMemPoolSetAttribute", pool, 4, byref(c_uint64(threshold))) == 0
        ptr = api.made("cuMemAllocFromPoolAsync", 100, pool, 0)
        assert api("cuMemFreeAsync", ptr, 0) == 0
        assert api.read("cuMemPoolGetAttribute", pool, 5) == 100
        assert api("cuStreamSynchronize", 0) == 0
        assert api.read("cuMemPoolGetAttribute", pool, 5) == kept
    last = api.made("cuMemAllocFromPoolAsync", 100, pool, 0)
    assert api("cuMemPoolDestroy", pool) == 0
    assert api("cuMemFreeAsync", last, 0) == 0
    assert api("cuMemAllocFromPoolAsync", c_uint64(), 1, pool, 0) == INVALID_VALUE
    api.breaks("no pool")


def test_pinned_memory_may_have_two_addresses(api: Api) -> None:
    assert api.made("cuMemHostGetDevicePointer_v2", same := api.made("cuMemHostAlloc", 8, 2), 0) == same
    api.fake.alias_host()
    host = api.made("cuMemHostAlloc", 64, 2)
    device = api.made("cuMemHostGetDevicePointer_v2", host + 8, 0)
    assert device != host + 8
    assert api("cuMemsetD32Async", device, 7, 14, 0) == 0
    assert ctypes.cast(host + 8, ctypes.POINTER(c_uint))[13] == 7
    values = []
    for which in (1, 2, 3, 4, 9):
        value = c_uint64()
        assert api("cuPointerGetAttribute", byref(value), which, device) == 0
        values.append(value.value)
    assert values == [api.contexts[0], 1, device, host + 8, 0]
    assert api("cuMemFreeHost", device - 8) == INVALID_VALUE
    api.breaks("starts no block")
    assert api("cuMemFreeHost", host) == api("cuMemFreeHost", same) == 0


def test_copies_stay_inside(api: Api) -> None:
    ptr, host, stream = api.made("cuMemAlloc_v2", 64), api.made("cuMemHostAlloc", 32, 0), api.stream()
    assert api("cuMemcpyHtoDAsync_v2", ptr, host, 32, stream) == 0
    for call, said in (
        (("cuMemcpyHtoDAsync_v2", ptr + 40, host, 32, stream), "32 bytes where 24 are left"),
        (("cuMemcpyDtoHAsync_v2", host, ptr, 33, stream), "33 bytes where 32 are left"),
        (("cuMemcpyHtoD_v2", 4096, ptr, 1), "no device memory"),
        (("cuMemcpyDtoDAsync_v2", 0, ptr, 1, stream), "a null address"),
        (("cuMemsetD16Async", ptr + 1, 0, 1, stream), "not aligned"),
        (("cuMemsetD32Async", ptr, 0, 17, stream), "68 bytes where 64 are left"),
        (("cuMemcpyPeerAsync", ptr, api.contexts[1], ptr, api.contexts[0], 1, stream), "is memory of device 0"),
    ):
        assert api(*call) == INVALID_VALUE
        api.breaks(said)
    assert [api("cuMemFree_v2", ptr), api("cuMemFreeHost", host), api("cuStreamDestroy_v2", stream)] == [0, 0, 0]


def test_copies_of_rows(api: Api) -> None:
    ptr, data = api.made("cuMemAlloc_v2", 24), bytearray(range(12))
    host = (ctypes.c_char * 12).from_buffer(data)

    def rows(pitch: int, height: int, x: int = 0) -> int:
        side, other = [x, 0, 1, ctypes.addressof(host), 0, 0, 4], [2, 0, 2, 0, ptr, 0, pitch]
        return api("cuMemcpy2DAsync_v2", byref((c_uint64 * 16)(*side, *other, 4, height)), 0)

    assert rows(8, 3) == 0
    assert api("cuCtxSynchronize") == 0
    assert ctypes.string_at(ptr, 24)[2:22] == bytes([0, 1, 2, 3, *[0xAB] * 4, 4, 5, 6, 7, *[0xAB] * 4, 8, 9, 10, 11])
    for wrong, said in (((5, 3), "a pitch of 5"), ((8, 4), "28 bytes where"), ((8, 3, 1), "a pitch of 4 for 5")):
        assert rows(*wrong) == INVALID_VALUE
        api.breaks(said)
    assert api("cuMemFree_v2", ptr) == 0


def test_peers(api: Api) -> None:
    ptr, function = api.made("cuMemAlloc_v2", 8), api.function()
    assert api("cuCtxSetCurrent", api.contexts[1]) == 0
    other = api.made("cuMemAlloc_v2", 8)
    assert api("cuCtxSetCurrent", api.contexts[0]) == 0
    assert api("cuMemcpyPeerAsync", other, api.contexts[1], ptr, api.contexts[0], 8, 0) == 0
    assert api.launch(function, other, 0) == 0
    api.breaks("which its GPU cannot reach")
    assert [api("cuCtxEnablePeerAccess", api.contexts[1], 0) for _ in range(2)] == [0, 704]
    assert api.launch(function, other, 0) == 0
    assert [api("cuCtxDisablePeerAccess", api.contexts[1]) for _ in range(2)] == [0, 705]
    api.fake.set_peer(0, 1, can=False)
    can = c_int()
    assert api("cuDeviceCanAccessPeer", can, 0, 1) == 0
    assert (can.value, api("cuCtxEnablePeerAccess", api.contexts[1], 0)) == (0, 217)
    assert api("cuMemFree_v2", ptr) == api("cuMemFree_v2", other) == 0


# Streams and events


def test_held_work_waits(api: Api) -> None:
    held, other, event = api.stream(), api.stream(), api.event()
    ptr = api.made("cuMemAlloc_v2", 8)
    assert api("cuEventQuery", event) == 0  # nothing was recorded
    api.fake.hold(held)
    assert api("cuMemsetD8Async", ptr, 0, 8, held) == 0
    assert api("cuEventRecord", event, held) == 0
    assert [api("cuStreamQuery", s) for s in (held, other)] == [NOT_READY, 0]
    assert api("cuEventQuery", event) == NOT_READY
    assert api("cuStreamWaitEvent", other, event, 0) == 0
    assert api("cuStreamQuery", other) == NOT_READY
    api.fake.release(held)
    assert [api("cuStreamQuery", held), api("cuStreamQuery", other), api("cuEventQuery", event)] == [0, 0, 0]
    for synchronize in (("cuStreamSynchronize", held), ("cuEventSynchronize", event), ("cuCtxSynchronize",)):
        api.fake.hold(held)
        assert api("cuEventRecord", event, held) == 0
        assert (api("cuStreamQuery", held), api.fake.pending) == (NOT_READY, 1)
        assert api(*synchronize) == 0
        assert (api("cuStreamQuery", held), api.fake.pending) == (0, 0)
    assert api.fake.live == {"allocations": 1, "events": 1, "streams": 2}
    assert [api("cuStreamDestroy_v2", s) for s in (held, other)] == [0, 0]
    assert [api("cuMemFree_v2", ptr), api("cuEventDestroy_v2", event), api.fake.live] == [0, 0, {}]


@pytest.mark.parametrize("flags", [0, NON_BLOCKING])
def test_the_legacy_stream_waits_for_blocking_ones(api: Api, flags: int) -> None:
    first, second, ptr = api.stream(flags), api.stream(flags), api.made("cuMemAlloc_v2", 8)
    api.fake.hold(first)
    assert api("cuMemsetD8Async", ptr, 0, 8, first) == 0
    assert api("cuMemsetD8_v2", ptr, 0, 8) == 0
    assert api("cuMemsetD8Async", ptr, 0, 8, second) == 0
    late = 0 if flags else NOT_READY
    assert [api("cuStreamQuery", s) for s in (first, second, 0)] == [NOT_READY, late, late]
    assert api("cuMemcpyDtoH_v2", ctypes.create_string_buffer(8), ptr, 8) == 0  # returns when it is done
    assert api("cuStreamQuery", first) == (NOT_READY if flags else 0)
    assert api("cuStreamSynchronize", first) == 0
    api.fake.release(first)
    api.fake.hold(0)
    assert [api("cuMemsetD8Async", ptr, 0, 8, stream) for stream in (0, second)] == [0, 0]
    assert [api("cuStreamQuery", s) for s in (0, second)] == [NOT_READY, late]
    api.fake.release(0)
    assert api("cuMemFree_v2", ptr) == 0


def test_memory_in_use_is_not_freed(api: Api) -> None:
    held, other, function, pool = api.stream(), api.stream(), api.function(), api.pool()

    def used() -> int:
        api.fake.release(held)
        ptr = api.made("cuMemAllocFromPoolAsync", 64, pool, other)
        api.fake.hold(held)
        assert api.launch(function, ptr + 8, held) == 0  # parameters point into it
        return ptr

    for free in (("cuMemFree_v2",), ("cuMemFreeAsync", other), ("cuMemFreeAsync", 0)):
        assert api(free[0], used(), *free[1:]) == 0
        api.breaks("is freed while in use on stream 0x%x" % held)
    assert api("cuMemFreeAsync", used(), held) == 0  # in its order
    ptr = used()
    assert api.wait(other, held) == 0
    assert api("cuMemFreeAsync", ptr, other) == 0
    ptr = used()
    assert api("cuStreamSynchronize", held) == 0
    assert api("cuMemFree_v2", ptr) == 0
    host = api.made("cuMemHostAlloc", 8, 0)
    ptr = api.made("cuMemAlloc_v2", 8)
    assert api("cuMemcpyHtoDAsync_v2", ptr, host, 8, held) == 0
    assert api("cuMemFreeHost", host) == 0
    api.breaks("is freed while in use")
    api.fake.release(held)
    assert api("cuMemFree_v2", ptr) == 0
    assert api.launch(function, ptr, held) == 0
    api.breaks("which was freed")


def test_memory_is_not_used_before_it_is_there(api: Api) -> None:
    held, other, pool = api.stream(), api.stream(), api.pool()
    api.fake.hold(held)
    ptr = api.made("cuMemAllocFromPoolAsync", 64, pool, held)
    assert api("cuMemsetD8Async", ptr, 0, 64, other) == 0
    api.breaks("does not wait for its allocation")
    assert api.wait(other, held) == 0
    assert api("cuMemsetD8Async", ptr, 0, 64, other) == 0
    api.fake.hold_all(False)
    assert api("cuMemFreeAsync", ptr, other) == 0


def test_time_needs_events_that_keep_it(api: Api) -> None:
    start, end, without, passed = api.event(), api.event(), api.event(NO_TIMING), c_float()
    stream = api.stream()
    assert api("cuEventElapsedTime", passed, start, end) == INVALID_HANDLE  # not recorded
    for event in (start, without, end):
        api.fake.hold(stream) if event == end else None
        assert api("cuEventRecord", event, stream) == 0
    assert api("cuEventElapsedTime", passed, start, end) == NOT_READY
    api.fake.release(stream)
    assert (api("cuEventElapsedTime", passed, start, end), passed.value) == (0, 2.0)
    assert api("cuEventElapsedTime", passed, start, without) == INVALID_HANDLE
    api.breaks("an event without timing")


def test_what_is_gone_is_gone(api: Api) -> None:
    stream, event, found = api.stream(0, -9), api.event(), c_int()
    assert (api("cuStreamGetPriority", stream, found), found.value) == (0, -5)
    assert api.read("cuStreamGetCtx", stream) == api.contexts[0]
    assert api("cuStreamDestroy_v2", stream) == api("cuEventDestroy_v2", event) == 0
    for call in (("cuStreamSynchronize", stream), ("cuStreamDestroy_v2", stream), ("cuMemFreeAsync", 0, stream)):
        assert api(*call) in (INVALID_HANDLE, INVALID_VALUE)
        api.breaks("starts no block" if "Free" in call[0] else "was destroyed")
    for name in ("cuEventQuery", "cuEventDestroy_v2"):
        assert api(name, event) == INVALID_HANDLE
        api.breaks("no event")
    theirs = api.fake.make_stream()
    assert api("cuStreamQuery", theirs) == 0
    assert api("cuStreamDestroy_v2", theirs) == INVALID_HANDLE
    api.breaks("not the program's to destroy")
    api.fake.close_stream(theirs)
    assert api("cuStreamQuery", theirs) == INVALID_HANDLE  # the user's mistake, not the loader's


# Graphs


def test_a_graph_repeats_what_was_captured(api: Api, tmp_path: Path) -> None:
    stream, function, ptr = api.stream(), api.function(), api.made("cuMemAlloc_v2", 16)
    assert api("cuStreamBeginCapture_v2", stream, GLOBAL) == 0
    for number in (1, 2):
        assert api.launch(function, ptr, stream, number) == 0
    assert api("cuMemsetD8Async", ptr, 5, 8, stream) == 0
    assert api("cuMemcpyDtoDAsync_v2", ptr + 8, ptr, 8, stream) == 0
    assert (api.captured(stream), len(api.fake.records)) == (4, 0)
    graph = api.end(stream)
    nodes, count = (c_uint64 * 4)(), ctypes.c_size_t(4)
    assert api("cuGraphGetNodes", graph, ctypes.cast(nodes, c_void_p), count) == 0
    ready = api.made("cuGraphInstantiateWithFlags", graph, 0)
    assert api.fake.live["graphs"] == 2
    assert api("cuGraphDebugDotPrint", graph, str(tmp_path / "graph").encode(), 0) == 0
    assert (tmp_path / "graph").read_text().count("->") == 3
    assert api("cuGraphUpload", ready, stream) == api("cuGraphLaunch", ready, stream) == 0
    assert ctypes.string_at(ptr, 16) == bytes([5] * 16)

    values = (c_uint64 * 2)(ptr, 7)
    params = (c_void_p * 1)(ctypes.addressof(values))
    sizes = (c_uint * 8)(3, 1, 1, 64, 1, 1, 0, 0)
    wanted = (c_uint64 * 7)(function, *(c_uint64 * 4).from_buffer(sizes), ctypes.addressof(params), 0)
    assert api("cuGraphExecKernelNodeSetParams", ready, nodes[1], byref(wanted)) == 0
    values[1] = 99  # copied already
    assert api("cuGraphLaunch", ready, 0) == 0
    told = [(r.grid, r.block, bytes(r.bytes[8:16])[0], r.stream) for r in api.fake.records]
    assert told == [(1, 32, 1, stream), (1, 32, 2, stream), (1, 32, 1, 0), (3, 64, 7, 0)]
    assert api("cuGraphExecKernelNodeSetParams", ready, nodes[2], byref(wanted)) == INVALID_VALUE
    api.breaks("no kernel node")

    api.fake.hold(stream)
    assert api("cuGraphLaunch", ready, stream) == 0
    assert api("cuGraphLaunch", ready, second := api.stream()) == 0
    assert api("cuStreamQuery", second) == NOT_READY  # one run of it at a time
    assert api("cuMemFree_v2", ptr) == 0
    api.breaks("is freed while in use")
    api.fake.release(stream)
    assert api("cuGraphDestroy", graph) == api("cuGraphExecDestroy", ready) == 0
    for name in ("cuGraphDestroy", "cuGraphExecDestroy"):
        assert api(name, graph) == INVALID_VALUE
        api.breaks("graph 0x")
    assert "graphs" not in api.fake.live


def test_memory_of_a_graph(api: Api) -> None:
    stream, function, pool = api.stream(), api.function(), api.pool()
    outside = api.made("cuMemAllocFromPoolAsync", 8, pool, stream)
    assert api("cuStreamBeginCapture_v2", stream, RELAXED) == 0
    assert api("cuMemFreeAsync", outside, stream) == INVALID_VALUE
    api.breaks("no memory of the graph")
    inside = api.made("cuMemAllocFromPoolAsync", 8, pool, stream)
    assert api.launch(function, inside, stream) == 0
    assert api.fake.live["allocations"] == 2
    assert api("cuMemFreeAsync", inside, stream) == 0
    graph = api.end(stream)
    ready = api.made("cuGraphInstantiateWithFlags", graph, 0)
    assert [api("cuGraphLaunch", ready, stream) for _ in range(2)] == [0, 0]
    assert (
        api("cuMemFreeAsync", outside, stream) == api("cuGraphDestroy", graph) == api("cuGraphExecDestroy", ready) == 0
    )
    assert "allocations" not in api.fake.live


def test_what_a_capture_forbids(api: Api) -> None:
    stream, other, blocking, event, pool = api.stream(), api.stream(), api.stream(0), api.event(), api.pool()
    ptr, ended = api.made("cuMemAlloc_v2", 8), api.event()
    assert api("cuEventRecord", event, other) == 0
    assert api("cuStreamBeginCapture_v2", 0, GLOBAL) == UNSUPPORTED
    assert api("cuStreamEndCapture", stream, c_uint64()) == ILLEGAL_STATE
    unsafe = [("cuMemAlloc_v2", c_uint64(), 8), ("cuMemFree_v2", ptr), ("cuModuleLoadData", c_uint64(), MODULE)]
    waits = [("cuCtxSynchronize",), ("cuStreamSynchronize", stream), ("cuStreamQuery", stream)]
    cases = [(stream, call, UNSUPPORTED) for call in (*unsafe, *waits)]
    cases += [(stream, ("cuStreamWaitEvent", stream, event, 0), ISOLATED)]
    for one in (0, other):
        cases += [(stream, ("cuMemFreeAsync", api.made("cuMemAllocFromPoolAsync", 8, pool, one), one), UNSUPPORTED)]
        cases += [(stream, ("cuMemAllocFromPoolAsync", c_uint64(), 8, pool, one), UNSUPPORTED)]
    cases += [(blocking, ("cuMemsetD8_v2", ptr, 0, 8), IMPLICIT), (blocking, ("cuEventRecord", event, 0), IMPLICIT)]
    for captured, call, status in cases:
        assert api("cuStreamBeginCapture_v2", captured, GLOBAL) == 0
        assert api("cuStreamBeginCapture_v2", captured, GLOBAL) == ILLEGAL_STATE
        assert api(*call) == status, call
        assert api("cuMemsetD8Async", ptr, 0, 8, captured) == INVALIDATED
        api.end(captured, INVALIDATED)
    assert api("cuStreamBeginCapture_v2", stream, GLOBAL) == 0
    assert api("cuEventRecord", ended, stream) == 0
    assert api("cuEventQuery", ended) in (UNSUPPORTED, CAPTURED_EVENT)
    api.end(stream, INVALIDATED)
    assert api("cuEventSynchronize", ended) == CAPTURED_EVENT

    # What is allowed: work on another stream, and everything in a relaxed thread.
    assert api("cuStreamBeginCapture_v2", stream, GLOBAL) == 0
    assert api("cuMemsetD8_v2", ptr, 0, 8) == 0  # the stream does not block
    mode = c_int(RELAXED)
    assert (api("cuThreadExchangeStreamCaptureMode", mode), mode.value) == (0, GLOBAL)
    assert api("cuMemFree_v2", api.made("cuMemAlloc_v2", 8)) == 0
    for one in (0, other):
        assert api("cuMemFreeAsync", api.made("cuMemAllocFromPoolAsync", 8, pool, one), one) == 0
    api.function()
    assert (api("cuThreadExchangeStreamCaptureMode", mode), mode.value) == (0, RELAXED)
    assert api("cuGraphDestroy", api.end(stream)) == api("cuMemFree_v2", ptr) == 0


@pytest.mark.parametrize(("mode", "status"), [(GLOBAL, UNSUPPORTED), (THREAD_LOCAL, 0), (RELAXED, 0)])
def test_a_capture_and_other_threads(api: Api, mode: int, status: int) -> None:
    stream, found, ptr = api.stream(), [], c_uint64()

    def elsewhere() -> None:
        api("cuCtxSetCurrent", api.contexts[0])
        found.append(api("cuMemAlloc_v2", ptr, 8))
        found.append(api("cuStreamEndCapture", stream, c_uint64()))

    assert api("cuStreamBeginCapture_v2", stream, mode) == 0
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [status, 0 if mode == RELAXED else 908]
    if mode != RELAXED:
        api.end(stream, INVALIDATED)


def test_streams_join_a_capture_and_come_back(api: Api) -> None:
    stream, other, third, function = api.stream(), api.stream(), api.stream(), api.function()
    state = c_int()
    assert api("cuStreamBeginCapture_v2", stream, THREAD_LOCAL) == 0
    assert api.launch(function, 0, stream) == api.wait(other, stream) == 0
    assert (api("cuStreamIsCapturing", other, state), state.value) == (0, 1)
    assert api.launch(function, 0, other) == api.wait(stream, other) == 0
    graph = api.end(stream)
    assert (api("cuStreamIsCapturing", other, state), state.value) == (0, 0)
    assert api("cuGraphDestroy", graph) == 0

    assert api("cuStreamBeginCapture_v2", stream, THREAD_LOCAL) == api.wait(other, stream) == 0
    assert api.launch(function, 0, other) == 0
    api.end(stream, UNJOINED)
    assert api("cuStreamBeginCapture_v2", stream, THREAD_LOCAL) == api.wait(other, stream) == 0
    assert api("cuStreamEndCapture", other, c_uint64()) == UNMATCHED
    api.end(stream, INVALIDATED)
    assert api("cuStreamBeginCapture_v2", stream, 0) == api("cuStreamBeginCapture_v2", third, 0) == 0
    assert api.wait(third, stream) == MERGED
    api.end(stream, INVALIDATED)
    api.end(third, INVALIDATED)


def test_graphs_that_decide(api: Api) -> None:
    stream, inner, function = api.stream(), api.stream(), api.function()
    assert api("cuStreamBeginCapture_v2", stream, RELAXED) == 0
    state, graph = c_int(), c_uint64()
    assert api("cuStreamGetCaptureInfo_v2", stream, state, None, graph, None, None) == 0
    loop = api.made("cuGraphConditionalHandleCreate", graph, api.contexts[0], 1, 1)
    params = (c_uint64 * 32)()
    params[0], params[2], params[3], params[5] = 13, loop, 1 | 1 << 32, api.contexts[0]  # WHILE, one body
    node = api.made("cuGraphAddNode", graph, None, 0, byref(params))
    assert api("cuStreamUpdateCaptureDependencies", stream, byref(c_uint64(node)), 1, 1) == 0
    body = ctypes.cast(params[4], ctypes.POINTER(c_uint64))[0]
    assert api("cuStreamBeginCaptureToGraph", inner, body, None, None, 0, RELAXED) == 0
    assert api.launch(function, 0, inner) == 0
    assert api.end(inner) == body
    assert api.launch(function, 0, stream) == 0
    assert api.end(stream) == graph.value
    ready = api.made("cuGraphInstantiateWithFlags", graph, 0)
    for runs in (None, 0, 3):
        if runs is not None:
            api.fake.set_condition(loop, runs)
        before = len(api.fake.records)
        assert api("cuGraphLaunch", ready, stream) == 0
        assert len(api.fake.records) - before == (1 if runs is None else runs) + 1
    assert api("cuGraphDestroy", body) == INVALID_VALUE
    api.breaks("belongs to its node")
    assert api("cuGraphDestroy", graph) == api("cuGraphExecDestroy", ready) == 0
    assert "graphs" not in api.fake.live


def test_an_older_driver_has_no_graphs_that_decide(fake_library: Path) -> None:
    with FakeCuda(fake_library, version="12030") as fake:
        api = Api(fake)
        assert api("cuGraphConditionalHandleCreate", c_uint64(), 0, api.contexts[0], 0, 0) == 801
        assert api("cuGraphAddNode", c_uint64(), 0, None, 0, byref((c_uint64 * 32)())) == 801
        assert fake.breaches == []


def test_what_outlives_a_reset_may_be_freed(api: Api) -> None:
    ptr, stream, event = api.made("cuMemAlloc_v2", 8), api.stream(), api.event()
    api.fake.forget()
    api = Api(api.fake)
    assert api.fake.live == {}
    assert api("cuEventRecord", event, stream) == api("cuStreamQuery", stream) == 0
    assert api("cuMemFree_v2", ptr) == api("cuStreamDestroy_v2", stream) == api("cuEventDestroy_v2", event) == 0


def test_any_function_can_be_made_to_fail(api: Api) -> None:
    for name, kinds in symbols.SIGNATURES.items():
        api.fake.fail(name, 999)
        assert api(name, *(kind() for kind in kinds)) == 999, name
