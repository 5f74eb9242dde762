"""Launches: every kind of parameter, streams, threads, contexts that are not kbuild's."""

import ctypes
import threading
import types

import pytest
from gpukernels import launching

import kbuild as kb
from kbuild import loader
from kbuild.loader import context, driver

pytestmark = pytest.mark.gpu


@pytest.fixture
def cuda():
    """The driver's functions, after the loader has opened them."""
    context.get_device().context  # noqa: B018 (retains it)
    return driver.get()


@pytest.fixture
def make_stream(cuda):
    """Makes streams by the driver itself; they are destroyed afterwards."""
    made = []

    def make():
        stream = ctypes.c_uint64()
        with context.get_device().current():
            assert cuda.library.cuStreamCreate(ctypes.byref(stream), 1) == 0
        made.append(stream.value)
        return stream.value

    yield make
    for stream in made:
        cuda.library.cuStreamDestroy_v2(ctypes.c_uint64(stream))


def synchronize(cuda, stream):
    assert cuda.library.cuStreamSynchronize(ctypes.c_uint64(stream)) == 0


def test_every_kind_of_parameter():
    out = kb.zeros(10, dtype=kb.float64)
    matrix = kb.mat33(*[float(i) for i in range(9)])
    arguments = (True, -128, 65535, -(2**31), 2**53, 0.5, 1.25, 1e300, (0.0, 0.0, 7.5), matrix, out)
    for _ in range(3):  # the first launch is thorough, the others are quick
        kb.launch(launching.scalars, dim=1, inputs=arguments)
        wanted = [1.0, -128.0, 65535.0, -(2.0**31), 2.0**53, 0.5, 1.25, 1e300, 7.5, 7.0]
        assert out.tolist() == wanted
        out.assign([0.0] * 10)


def test_by_bundle_and_name():
    bundle = loader.open("gpukernels")
    out = kb.zeros(5, dtype=float)
    bundle["gpukernels.launching:fill"].launch(dim=5, args=(out, 4.0))
    assert out.tolist() == [4.0] * 5
    bundle.verify()


def test_two_streams(cuda, make_stream):
    """A long kernel on one stream does not hold up another; each stream keeps its order."""
    first, second = make_stream(), make_stream()
    slow, quick = kb.zeros(256, dtype=kb.int64), kb.zeros(1000, dtype=float)
    kb.synchronize()  # these streams do not wait for the default one, on which the zeros are written
    for _ in range(2):
        kb.launch(launching.spin, dim=256, inputs=[slow, 2000], stream=first)
    for value in (1.0, 2.0, 3.0):
        kb.launch(launching.fill, dim=1000, inputs=[quick, value], stream=second)
    synchronize(cuda, second)
    assert quick.tolist() == [3.0] * 1000
    synchronize(cuda, first)
    assert set(slow.tolist()) == {spun(2000)}


def spun(rounds):
    total = 0
    for i in range(rounds):
        total = total * 3 + i
    return (total + 2**63) % 2**64 - 2**63


def test_a_stream_waits_for_the_one_a_foreign_array_is_written_on(cuda, make_stream):
    """`stream` in __cuda_array_interface__: the launch is ordered behind it, whatever stream it runs on."""
    producer, consumer = make_stream(), make_stream()
    out = kb.zeros(64, dtype=kb.int64)

    foreign = types.SimpleNamespace(__cuda_array_interface__=dict(out.__cuda_array_interface__, stream=producer))
    kb.synchronize()
    kb.launch(launching.spin, dim=64, inputs=[out, 20000], stream=producer)
    kb.launch(launching.spin, dim=64, inputs=[foreign, 3], stream=consumer)
    synchronize(cuda, consumer)
    assert set(out.tolist()) == {spun(3)}


def test_launches_of_many_threads_are_never_torn():
    """Eight threads with arguments of their own; each cell's sum shows every launch, and no other's arguments."""
    threads, launches = 8, 10000
    cells = kb.zeros(threads, dtype=kb.int64)

    def work(number):
        factor = kb.vec2i(number + 1, number)
        for i in range(launches):
            kb.launch(launching.bump, dim=1, inputs=[cells, number, i, factor])

    run_together(work, threads)
    kb.synchronize()
    total = launches * (launches - 1) // 2
    assert cells.tolist() == [total * (number + 1) + launches * number for number in range(threads)]


def test_threads_with_streams_of_their_own(cuda, make_stream):
    threads, launches = 4, 2000
    cells = kb.zeros(threads, dtype=kb.int64)
    streams = [make_stream() for _ in range(threads)]
    kb.synchronize()

    def work(number):
        for i in range(launches):
            kb.launch(launching.bump, dim=1, inputs=[cells, number, i, (1, 0)], stream=streams[number])

    run_together(work, threads)
    for stream in streams:
        synchronize(cuda, stream)
    assert cells.tolist() == [launches * (launches - 1) // 2] * threads


def run_together(work, threads):
    """Runs `work(number)` in threads that start at the same time; errors come out."""
    errors, barrier = [], threading.Barrier(threads)

    def guarded(number):
        barrier.wait()
        try:
            work(number)
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=guarded, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []


def test_a_context_that_is_not_kbuilds(cuda):
    """With another context current a launch runs in the primary one, and the other is current again afterwards."""
    out = kb.zeros(10, dtype=float)
    kb.launch(launching.fill, dim=10, inputs=[out, 1.0])
    other = ctypes.c_uint64()
    assert cuda.library.cuCtxCreate_v2(ctypes.byref(other), 0, 0) == 0
    try:
        for value in (2.0, 3.0):
            kb.launch(launching.fill, dim=10, inputs=[out, value])
            assert cuda.query("cuCtxGetCurrent") == other.value
            assert out.tolist() == [value] * 10
            assert cuda.query("cuCtxGetCurrent") == other.value
    finally:
        popped = ctypes.c_uint64()
        assert cuda.library.cuCtxPopCurrent_v2(ctypes.byref(popped)) == 0
        cuda.library.cuCtxDestroy_v2(other)
    assert popped.value == other.value


def test_a_thread_without_a_context():
    out = kb.zeros(10, dtype=float)
    kb.launch(launching.fill, dim=10, inputs=[out, 1.0])

    def work(number):
        for _ in range(3):
            kb.launch(launching.fill, dim=10, inputs=[out, 5.0])

    run_together(work, 1)
    assert out.tolist() == [5.0] * 10
