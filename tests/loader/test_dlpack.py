"""DLPack both ways: the same memory, kept as long as anybody has it, given back once."""

from __future__ import annotations

import ctypes
import datetime
import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild.loader import array as arrays
from kbuild.loader import copying, current, factories, loans, resolve, streams, waits
from kbuild.loader.array import array
from kbuild.loader.dlpack import from_dlpack
from kbuild.loader.errors import LaunchError
from kbuild.loader.foreign import asarray
from kbuild.loader.memory import pools
from kbuild.loader.types import struct
from kbuild.loader.values import float32, mat22, vec3
from tests.helpers.capsules import Consumer, Producer
from tests.helpers.fake_cuda import FakeCuda, make_bundle

NUMPY = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
NUMPY += [np.float16, np.float32, np.float64]


@pytest.fixture(autouse=True)
def nothing_stays() -> Any:
    gc.collect()
    assert loans.count() == 0
    yield
    gc.collect()
    assert loans.count() == 0


@st.composite
def views(draw: Any) -> Any:
    """An array of NumPy's with gaps, turned and reversed axes."""
    dtype = draw(st.sampled_from(NUMPY))
    shape = tuple(draw(st.lists(st.integers(0, 5), min_size=1, max_size=4)))
    whole = np.arange(int(np.prod(shape)), dtype=np.uint8).reshape(shape).astype(dtype)
    for axis in range(len(shape)):
        step = draw(st.sampled_from([1, 1, 2, -1, 3]))
        start = draw(st.integers(0, 2)) if step > 0 else None
        whole = whole[(slice(None),) * axis + (slice(start, None, step),)]
    return whole.transpose(draw(st.permutations(range(len(shape)))))


@settings(max_examples=150, deadline=None)
@given(views())
def test_numpys_arrays_here_and_ours_there(theirs: Any) -> None:
    made = from_dlpack(theirs)
    assert made.shape == theirs.shape
    assert made.device.kind == "cpu"
    assert made.tolist() == theirs.tolist()
    if theirs.size:
        assert (made.ptr, made.strides) == (theirs.ctypes.data, theirs.strides)
    back = np.from_dlpack(made)
    assert (back.dtype, back.shape, back.tolist()) == (theirs.dtype, theirs.shape, theirs.tolist())
    if theirs.size:
        assert (back.ctypes.data, back.strides) == (theirs.ctypes.data, theirs.strides)


def test_what_one_side_writes_the_other_reads() -> None:
    mine = array([[1.0, 2.0], [3.0, 4.0]], device="cpu")
    theirs = np.from_dlpack(mine)
    theirs[1, 0] = 9.0
    mine[0, 1] = 8.0
    assert mine.tolist() == theirs.tolist() == [[1.0, 8.0], [9.0, 4.0]]


@pytest.mark.parametrize("value", [vec3(1, 2, 3), mat22(1, 2, 3, 4)])
def test_components_are_axes(value: Any) -> None:
    mine = array([value, value, value], device="cpu")[::2]
    theirs = np.from_dlpack(mine)
    assert theirs.tolist() == [np.asarray(value).tolist()] * 2
    back = from_dlpack(theirs, type(value))
    assert (back.tolist(), back.ptr, back.strides) == ([value] * 2, mine.ptr, mine.strides)
    assert asarray(from_dlpack(theirs), type(value)).tolist() == [value] * 2
    with pytest.raises(TypeError, match=r"wanted an array of vec5\[float32\], got a foreign float32 array of shape"):
        from_dlpack(theirs, factories.vector(5, float))


def test_our_own_arrays_pass(cuda: FakeCuda) -> None:
    mine = arrays.zeros((2, 3))
    assert from_dlpack(mine) is mine
    assert from_dlpack(mine, vec3).shape == (2,)


# What is out, and how it comes back


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3)])
@pytest.mark.parametrize("lock", [True, False])
def test_the_memory_is_kept_until_it_is_given_back(version: Any, lock: bool) -> None:
    mine = array([1.0, 2.0], device="cpu")
    memory = weakref.ref(mine._owner)
    consumer = Consumer(mine.__dlpack__(max_version=version))
    assert consumer.name == (loans.VERSIONED if version and version >= (1, 0) else loans.PLAIN)
    assert (consumer.shape, consumer.strides, consumer.tensor.data) == ((2,), (1,), mine.ptr)
    assert (consumer.tensor.code, consumer.tensor.bits, consumer.tensor.lanes) == (2, 32, 1)
    del mine
    gc.collect()
    assert loans.count() == 1
    assert memory() is not None
    consumer.give_back(lock)
    assert loans.count() == 0
    assert memory() is None


def test_a_capsule_that_nobody_consumes() -> None:
    mine = array([1.0, 2.0], device="cpu")
    memory, capsule = weakref.ref(mine._owner), mine.__dlpack__()
    del mine
    assert loans.count() == 1
    other = [capsule]
    del capsule
    assert loans.count() == 1
    other.clear()
    assert loans.count() == 0
    assert memory() is None


def test_a_capsule_that_is_dropped_after_it_was_consumed() -> None:
    mine = array([1.0, 2.0], device="cpu")
    capsule = mine.__dlpack__()
    consumer = Consumer(capsule)
    del capsule
    assert loans.count() == 1
    with pytest.raises(ValueError, match="consumed before"):
        from_dlpack(loans._loans[consumer.address].capsule or _used())
    consumer.give_back()


def _used() -> Any:
    producer = Producer()
    capsule = producer.capsule()
    loans.consume(capsule, loans.PLAIN)
    return capsule


def test_empty_arrays() -> None:
    mine = arrays.zeros((0, 3), device="cpu")
    for _ in range(3):
        consumer = Consumer(mine.__dlpack__())
        assert loans.count() == 1
        consumer.give_back()
        assert loans.count() == 0


def test_given_back_while_an_exception_is_on_its_way() -> None:
    """The consumer's and the capsule's end come between the exception and whoever catches it, who gets just that."""
    mine = array([1.0, 2.0], device="cpu")

    def use(*_: object) -> None:
        raise AssertionError

    for make in (lambda: np.from_dlpack(mine), mine.__dlpack__):
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            use(make(), 1 / 0)  # type: ignore[operator]
        assert loans.count() == 0


def test_garbage_collection_lets_go() -> None:
    mine = array([1.0, 2.0], device="cpu")
    memory, theirs = weakref.ref(mine._owner), np.from_dlpack(mine)
    del mine, theirs
    gc.collect()
    assert memory() is None


def test_allocating_lets_go(cuda: FakeCuda) -> None:
    """Before memory is taken, so that what nobody has any more can serve."""
    mine = arrays.zeros(1000)
    consumer = Consumer(mine.__dlpack__())
    del mine
    consumer.give_back()
    gc.disable()
    try:
        before = cuda.live_allocations
        made = arrays.zeros(1000)
        assert cuda.live_allocations == before
    finally:
        gc.enable()
    del made


def test_blocks_are_used_again_but_not_at_once() -> None:
    mine = array([1.0], device="cpu")
    addresses = []
    for _ in range(4 * loans._RESTING):
        consumer = Consumer(mine.__dlpack__())
        addresses.append(consumer.address)
        consumer.give_back()
        assert loans.count() == 0
    assert len(set(addresses)) < 2 * loans._RESTING
    for i in range(len(addresses) - loans._RESTING):
        assert addresses[i] not in addresses[i + 1 : i + loans._RESTING]


def test_threads() -> None:
    """Lent, consumed and given back by many at a time."""
    mine = array([float(i) for i in range(16)], device="cpu")
    wrong: list[object] = []

    def work() -> None:
        for i in range(200):
            consumer = Consumer(mine.__dlpack__(max_version=(1, 0) if i % 2 else None))
            if consumer.tensor.data != mine.ptr or consumer.shape != (16,):
                wrong.append(consumer)
            if i % 3:
                mine.__dlpack__()
            consumer.give_back(lock=bool(i % 5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []
    assert loans.count() == 0


AT_EXIT = """
import sys, numpy as np
sys.path.insert(0, {root!r})
import kbuild as kb
from tests.helpers.capsules import Consumer, Producer
mine = kb.array([1.0, 2.0], device="cpu")
theirs, capsule, consumer = np.from_dlpack(mine), mine.__dlpack__(), Consumer(mine.__dlpack__())
borrowed, producer = kb.from_dlpack(np.arange(3.0)), Producer()
other = kb.from_dlpack(producer.capsule())
sys.modules["kept"] = [theirs, capsule, borrowed, other]
import ctypes  # what the C library calls when Python is gone
ctypes.CDLL(None).__cxa_atexit(ctypes.c_void_p(consumer.managed.deleter), ctypes.c_void_p(consumer.address), None)
print("done")
"""


def test_the_interpreters_end() -> None:
    """With tensors out and tensors in, and a consumer who gives back when Python is gone."""
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", AT_EXIT.format(root=root)], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


# What a consumer may ask for


def test_read_only_memory() -> None:
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    mine = asarray(frozen)
    with pytest.raises(BufferError, match=r"read-only, which only version 1 of DLPack can say: lend a copy"):
        mine.__dlpack__()
    consumer = Consumer(mine.__dlpack__(max_version=(1, 0)))
    assert consumer.flags == 1
    consumer.give_back()
    assert not np.from_dlpack(mine).flags.writeable
    assert from_dlpack(np.from_dlpack(mine))._view.readonly


def test_copies_and_devices(cuda: FakeCuda) -> None:
    host, there = array([1.0, 2.0], device="cpu"), array([3.0, 4.0])
    pinned = arrays.zeros(2, device="cpu", memory="pinned")
    assert [one.__dlpack_device__() for one in (host, there, pinned)] == [(1, 0), (2, 0), (3, 0)]
    for mine, asked, copy, wanted, flags in (
        (host, None, None, (1, 0), 0),
        (host, None, True, (1, 0), 2),
        (host, (1, 0), False, (1, 0), 0),
        (host, (2, 0), None, (2, 0), 2),
        (there, (2, 0), None, (2, 0), 0),
        (there, None, True, (2, 0), 2),
        (there, (1, 0), None, (1, 0), 2),
        (pinned, (1, 0), False, (1, 0), 0),
        (pinned, None, None, (3, 0), 0),
    ):
        consumer = Consumer(mine.__dlpack__(dl_device=asked, copy=copy, max_version=(1, 0)))
        assert (consumer.device, consumer.flags) == (wanted, flags)
        assert (consumer.tensor.data == mine.ptr) == (flags == 0)
        consumer.give_back()
    with pytest.raises(BufferError, match=r"an array on cpu is not on device \(2, 0\) of DLPack without a copy"):
        host.__dlpack__(dl_device=(2, 0), copy=False)
    with pytest.raises(BufferError, match="an array on cpu cannot be lent as memory of Metal"):
        host.__dlpack__(dl_device=(8, 0))
    with pytest.raises(BufferError, match=r"dl_device is .type, number. as DLPack counts them, not 'cpu'"):
        host.__dlpack__(dl_device="cpu")


def test_managed_memory_says_so(cuda: FakeCuda) -> None:
    mine = arrays.zeros(4, memory="managed")
    assert mine.__dlpack_device__() == (13, 0)
    for asked, wanted in ((None, (13, 0)), ((2, 0), (2, 0))):
        consumer = Consumer(mine.__dlpack__(dl_device=asked, copy=False))
        assert (consumer.device, consumer.tensor.data) == (wanted, mine.ptr)
        consumer.give_back()


def test_structs_are_refused() -> None:
    @struct
    class Pair:
        a: float
        b: int

    with pytest.raises(BufferError, match=r"DLPack has no records: an array of struct:.*Pair cannot be lent"):
        arrays.zeros(3, Pair, device="cpu").__dlpack__()


def test_freed_arrays_are_refused() -> None:
    mine = arrays.zeros(3, device="cpu")
    mine.free()
    with pytest.raises(ValueError, match="freed"):
        mine.__dlpack__()


def how_many_wait(cuda: FakeCuda, before: int) -> int:
    return sum(call == "cuStreamWaitEvent" for call in cuda.calls[before:])


def test_the_consumers_stream_waits_for_ours(cuda: FakeCuda) -> None:
    """And the memory knows the stream; it goes back when that is through."""
    mine, theirs = arrays.zeros(4), cuda.make_stream()
    for stream, count in ((None, 0), (1, 0), (-1, 0), (theirs, 2), (theirs, 1), (2, 3)):
        before = len(cuda.calls)
        Consumer(mine.__dlpack__(stream=stream)).give_back()
        assert how_many_wait(cuda, before) == count, stream
    assert set(mine._owner.users) == {theirs, 2}
    with streams.Event() as event, current.ScopedStream(streams.Stream()) as ours:
        event.record(ours)
        before = len(cuda.calls)
        Consumer(mine.__dlpack__(stream=theirs)).give_back()
        assert how_many_wait(cuda, before) == 3  # for the default stream, the thread's, which it knows, and ours
    cuda.hold(theirs)
    make_bundle([("a", "array1[float32]")])["p.kernels:k"].launch(1, (mine,), stream=theirs)
    loans.sweep()
    live = cuda.live_allocations
    del mine
    assert cuda.live_allocations == live
    cuda.release(theirs)
    pools.trim_memory()
    assert cuda.live_allocations < live


def test_streams_that_are_none(cuda: FakeCuda) -> None:
    mine, host = arrays.zeros(4), arrays.zeros(4, device="cpu")
    with pytest.raises(BufferError, match="stream 0 is ambiguous in DLPack: 1 is the legacy default stream"):
        mine.__dlpack__(stream=0)
    with pytest.raises(BufferError, match="stream wants None, a handle, or an object"):
        mine.__dlpack__(stream="fast")
    with pytest.raises(BufferError, match="memory of the host has no streams: stream is None there, not 1"):
        host.__dlpack__(stream=1)
    with pytest.raises(TypeError):
        mine.__dlpack__(streams=1)


def test_pinned_memory_is_waited_for(cuda: FakeCuda) -> None:
    """Whoever reads it on the host waits for nothing, so copies to it are done when it is lent."""
    there, pinned, stream = arrays.zeros(4), arrays.zeros(4, device="cpu", memory="pinned"), cuda.make_stream()
    copying.copy(pinned, there, stream=stream)
    before = len(cuda.calls)
    Consumer(pinned.__dlpack__()).give_back()
    assert "cuStreamSynchronize" in cuda.calls[before:]
    del pinned, there
    pools.trim_memory()


def test_a_stream_that_its_owner_has_destroyed(cuda: FakeCuda) -> None:
    """The GPU is waited for instead, once."""
    mine, theirs, other = arrays.zeros(4), cuda.make_stream(), cuda.make_stream()
    Consumer(mine.__dlpack__(stream=theirs)).give_back()
    cuda.fail("cuEventRecord", 400, times=1)  # which the driver says of it
    before = len(cuda.calls)
    waits.wait(mine._owner, [theirs], other, mine.device)
    assert "cuCtxSynchronize" in cuda.calls[before:]
    assert theirs not in mine._owner.users
    del mine
    pools.trim_memory()


# What producers lend


@pytest.mark.parametrize("name", [loans.PLAIN, loans.VERSIONED])
def test_capsules_are_taken_and_given_back_once(name: bytes) -> None:
    producer = Producer(name, shape=(2, 2))
    capsule = producer.capsule()
    made = from_dlpack(capsule)
    assert (made.ptr, made.shape, made.strides, made.dtype) == (producer.address, (2, 2), (8, 4), float32)
    assert loans.is_capsule(capsule, b"used_" + name)
    with pytest.raises(ValueError, match="the capsule was consumed before"):
        from_dlpack(capsule)
    part = made[1]
    del made
    gc.collect()
    assert producer.deleted == []
    part[0] = 5.0
    del part
    gc.collect()
    assert producer.deleted == [ctypes.addressof(producer.managed)]


def test_without_a_deleter() -> None:
    producer = Producer()
    producer.managed.deleter = 0
    made = from_dlpack(producer.capsule())
    del made
    gc.collect()
    assert producer.deleted == []


def test_offsets_strides_and_flags() -> None:
    producer = Producer(loans.VERSIONED, shape=(3, 2), strides=(4, 2), offset=8, flags=1)
    made = from_dlpack(producer.capsule())
    assert (made.ptr, made.strides, made._view.readonly) == (producer.address + 8, (16, 8), True)
    nothing = Producer(shape=(0, 2), data=0)
    empty = from_dlpack(nothing.capsule())
    assert (empty.ptr, empty.shape, empty.tolist()) == (0, (0, 2), [])


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"code": 4, "bits": 16}, BufferError, "a tensor of bfloat16 has elements that kernels here do not know"),
    ({"code": 5, "bits": 64}, BufferError, "a tensor of complex64 has"),
    ({"code": 3, "bits": 64}, BufferError, "a tensor of handle64 has"),
    ({"code": 7, "bits": 8}, BufferError, "a tensor of code 7 8 has"),
    ({"code": 0, "bits": 4}, BufferError, "a tensor of int4 has"),
    ({"code": 6, "bits": 32}, BufferError, "a tensor of bool32 has"),
    ({"lanes": 4}, BufferError, "a tensor of float32 in lanes of 4 has"),
    ({"device": 10}, BufferError, r"memory of device type 10 \(ROCm\) is none that kernels here can use"),
    ({"device": 77}, BufferError, r"memory of device type 77 \(an unknown device\)"),
    ({"shape": ()}, TypeError, r"got a foreign float32 array of shape \(\)"),
    ({"shape": (1,) * 5}, TypeError, "1 to 4 dimensions, not the 5 of shape"),
    ({"shape": (-1,)}, TypeError, "negative shape"),
    ({"data": 0}, TypeError, r"an array of shape \(4,\) at address 0x0"),
    ({"offset": 2}, ValueError, "not aligned to the 4 bytes of float32"),
    ({"shape": (2,), "strides": (2**40,)}, ValueError, "32-bit extents and strides"),
    ({"name": loans.VERSIONED, "version": (2, 0)}, BufferError, "the tensor is of version 2.0 of DLPack"),
]


@pytest.mark.parametrize(("said", "kind", "message"), BAD)
def test_what_does_not_fit_stays_the_producers(said: dict[str, Any], kind: type[Exception], message: str) -> None:
    producer = Producer(**said)
    capsule = producer.capsule()
    with pytest.raises(kind, match=message):
        from_dlpack(capsule)
    assert loans.is_capsule(capsule, producer.name)
    assert producer.deleted == []


def test_what_is_no_lender() -> None:
    with pytest.raises(TypeError, match=r"wants an object with __dlpack__, or a capsule of it, not list"):
        from_dlpack([1, 2])
    with pytest.raises(TypeError, match="not a capsule of DLPack"):
        from_dlpack(datetime.datetime_CAPI)  # type: ignore[attr-defined]


class Lender:
    """An object with the protocol, of any device; `asked` has what it was asked with."""

    is_old = False

    def __init__(self, producer: Producer, device: tuple[int, int] = (1, 0)) -> None:
        self.producer, self.device, self.asked = producer, device, []  # type: ignore[var-annotated]

    def __dlpack__(self, **options: Any) -> Any:
        if self.is_old and "max_version" in options:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.asked.append(options)
        return self.producer.capsule()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


def test_producers_old_and_new() -> None:
    lender = Lender(Producer())
    from_dlpack(lender)
    lender.is_old = True
    from_dlpack(lender)
    assert asarray(lender, float32).tolist() == [0.0] * 4
    assert lender.asked == [{"max_version": (1, 0)}, {}, {}]


def on_gpu(block: array, **said: Any) -> Lender:
    said.setdefault("shape", block.shape)
    return Lender(Producer(data=block.ptr, device=2, ordinal=block.device.ordinal, **said), (2, block.device.ordinal))


def test_producers_are_told_our_stream(cuda: FakeCuda) -> None:
    block = array([1.0, 2.0, 3.0])
    lender = on_gpu(block)
    assert from_dlpack(lender).tolist() == [1.0, 2.0, 3.0]
    with current.ScopedStream(streams.Stream()) as stream:
        assert asarray(lender).device is block.device
    assert [options["stream"] for options in lender.asked] == [1, stream.handle]


def test_arguments_of_a_launch(cuda: FakeCuda) -> None:
    """By DLPack where there is nothing else: asked with our stream, which a launch elsewhere waits for."""
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block, stream = arrays.zeros(4), cuda.make_stream()
    lender = on_gpu(block)
    for named, count in ((None, 0), (None, 0), (stream, 1)):
        before = len(cuda.calls)
        kernel.launch(1, (lender,), stream=named)
        assert cuda.records[-1].stream == (named or 0)
        assert how_many_wait(cuda, before) == count
        assert bytes(cuda.records[-1].bytes)[8:16] == block.ptr.to_bytes(8, "little")
    gc.collect()
    assert len(lender.producer.deleted) == 3


def test_arguments_that_do_not_fit(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block = arrays.zeros(4)
    for lender, message in (
        (
            Lender(Producer()),
            r"wanted array1\[float32\], got Lender <.*> in host memory: copy it to the GPU with kb.array",
        ),
        (on_gpu(block, code=4, bits=16), r"got Lender <.*>: a tensor of bfloat16 has elements"),
        (on_gpu(block, shape=(2, 2)), r"wanted array1\[float32\], got an array of shape \(2, 2\)"),
        (on_gpu(block, code=0), r"got Lender <.*>: wanted an array of float32, got a foreign int32 array of shape"),
        (Lender(Producer(device=10), (10, 0)), r"memory of device type 10 \(ROCm\)"),
    ):
        with pytest.raises(LaunchError, match="^p.kernels:k: parameter a: .*" + message):
            kernel.launch(1, (lender,))


def test_arrays_that_never_change(cuda: FakeCuda) -> None:
    """JAX's: read-only whatever they say, and by DLPack, since their interface names no stream to wait for."""

    class ArrayImpl(Lender):
        @property
        def __cuda_array_interface__(self) -> Any:
            raise AssertionError("nobody asks")

    ArrayImpl.__module__ = "jaxlib._jax"
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block = arrays.zeros(4)
    lender = ArrayImpl(on_gpu(block).producer, (2, 0))
    assert asarray(lender)._view.readonly
    resolve.launch(kernel, 1, [lender])
    assert len(lender.asked) == 2
    with pytest.raises(LaunchError, match="output 0 is read-only"):
        resolve.launch(kernel, 1, [], [lender])
    with pytest.raises(ValueError, match="the array is read-only"):
        asarray(lender).zero_()
