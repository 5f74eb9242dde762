"""Launches made ready: what reaches the driver is what a launch sends, and changes are checked."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from kbuild.loader import array as arrays
from kbuild.loader import bound, current, driver, resolve, streams
from kbuild.loader.errors import DriverError, LaunchError
from kbuild.loader.values import vec3
from tests.helpers.fake_cuda import FOREIGN_CONTEXT, FakeCuda, make_bundle

PARAMETERS = [("a", "array1[float32]"), ("v", "vec3[float32]"), ("n", "int32")]


def sent(cuda: FakeCuda, index: int = -1) -> tuple[Any, ...]:
    record = cuda.records[index]
    return (*record.sizes, record.stream, bytes(record.bytes)[: record.size])


def test_it_sends_what_a_launch_sends(cuda: FakeCuda) -> None:
    kernel, data = make_bundle(PARAMETERS)["p.kernels:k"], arrays.zeros(100)
    step = bound.bind(kernel, 1000, [data, vec3(1, 2, 3)], [7])
    assert cuda.launches == 0
    assert step.args == (data, vec3(1, 2, 3), 7)
    for _ in range(3):
        kernel.launch(1000, (data, vec3(1, 2, 3), 7))
        step()
        assert sent(cuda, -1) == sent(cuda, -2)
    step.set(n=8, v=(4.0, 5.0, 6.0))
    kernel.launch(1000, (data, (4.0, 5.0, 6.0), 8))
    step.launch()
    assert sent(cuda, -1) == sent(cuda, -2)
    step.set("n", 9)
    step.set(1, vec3())
    step.set_dim(5)
    kernel.launch(5, (data, vec3(), 9))
    step()
    assert sent(cuda, -1) == sent(cuda, -2)


def test_record_cmd_is_the_same(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "int32")])["p.kernels:k"]
    step = resolve.launch(kernel, 3, inputs=[1], record_cmd=True)
    assert isinstance(step, bound.BoundLaunch)
    assert cuda.launches == 0
    step()
    assert cuda.launches == 1


def test_a_grid(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "int32")], whole_blocks=True)["p.kernels:k"]
    bound.bind(kernel, inputs=[1], grid=(2, 3), block=(8, 4))()
    assert tuple(cuda.records[-1].sizes) == (2, 3, 1, 8, 4, 1)


def test_it_runs_on_its_stream(cuda: FakeCuda) -> None:
    kernel, stream = make_bundle([("x", "int32")])["p.kernels:k"], streams.Stream()
    step = bound.bind(kernel, 1, [1], stream=stream)
    step()
    with current.ScopedStream(stream):
        scoped = bound.bind(kernel, 1, [1])
    scoped()
    scoped.set_stream(None)
    scoped()
    assert [r.stream for r in cuda.records] == [stream.handle, stream.handle, 0]


def test_it_keeps_its_memory(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    step = bound.bind(kernel, 1, [arrays.zeros(3)])
    assert cuda.live_allocations == 1
    step()
    step.set(a=arrays.zeros(4))
    assert cuda.live_allocations == 1
    del step
    assert cuda.live_allocations == 0


def test_it_waits_for_who_is_writing_its_arrays(cuda: FakeCuda) -> None:
    class Theirs:
        def __init__(self, block: Any, stream: int) -> None:
            self.__cuda_array_interface__ = {**block.__cuda_array_interface__, "stream": stream}

    kernel, block, theirs = make_bundle([("a", "array1[float32]")])["p.kernels:k"], arrays.zeros(3), cuda.make_stream()
    before = len(cuda.calls)
    step = bound.bind(kernel, 1, [Theirs(block, theirs)])
    assert cuda.calls[before:].count("cuStreamWaitEvent") == 1
    step.set(a=Theirs(block, theirs))
    assert cuda.calls[before:].count("cuStreamWaitEvent") == 2
    step.set(a=Theirs(block, 1))
    assert cuda.calls[before:].count("cuStreamWaitEvent") == 2


def test_in_another_context(cuda: FakeCuda) -> None:
    step = bound.bind(make_bundle([("x", "int32")])["p.kernels:k"], 1, [1])
    cuda.set_current(FOREIGN_CONTEXT)
    step()
    assert cuda.library.fake_current() == FOREIGN_CONTEXT
    cuda.set_current(0)
    step()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda step: step.set(n="x"), "p.kernels:k: parameter n: .*'x'"),
        (lambda step: step.set(a=None), r"parameter a: wanted array1\[float32\], got None"),
        (lambda step: step.set(m=1), "p.kernels:k has no parameter 'm'"),
        (lambda step: step.set(nn=1), "has no parameter 'nn'; did you mean 'n'"),
        (lambda step: step.set(3, 1), "has no parameter '3'"),
        (lambda step: step.set(True, 1), "has no parameter 'True'"),
        (lambda step: step.set("n"), "set wants a parameter and its value, or names"),
        (lambda step: step.set_dim(-1), "dim is negative"),
        (lambda step: step.set_stream("x"), "p.kernels:k: stream wants None, a handle"),
    ],
)
def test_what_does_not_fit_changes_nothing(cuda: FakeCuda, change: Any, message: str) -> None:
    step = bound.bind(make_bundle(PARAMETERS)["p.kernels:k"], 10, [arrays.zeros(3), vec3(), 1])
    step()
    wanted = sent(cuda)
    with pytest.raises(LaunchError, match=message):
        change(step)
    step()
    assert sent(cuda) == wanted


def test_arrays_of_another_gpu(two_gpus: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    step = bound.bind(kernel, 1, [arrays.zeros(3)])
    with pytest.raises(LaunchError, match="parameter a: the array is on cuda:1, but the launch is on cuda:0"):
        step.set(a=arrays.zeros(3, device=1))
    with pytest.raises(LaunchError, match="a launch on cpu cannot be bound: launch it"):
        bound.bind(kernel, 1, [arrays.zeros(3, device="cpu")])


def test_what_the_driver_refuses(cuda: FakeCuda) -> None:
    step = bound.bind(make_bundle([("x", "int32")])["p.kernels:k"], 1, [1])
    cuda.fail("cuLaunchKernelEx", 701, times=2)
    with pytest.raises(DriverError, match=r"p.kernels:k on cuda:0 \(Fake GPU 0\): cuLaunchKernelEx failed"):
        step()
    step()


def test_several_of_one_kernel_in_threads(cuda: FakeCuda) -> None:
    """Each has a launch buffer of its own."""
    kernel = make_bundle([("x", "int64"), ("y", "int64")])["p.kernels:k"]
    cuda.library.fake_delay(20)

    def work(me: int) -> None:
        step = bound.bind(kernel, 1, [0, 0])
        for i in range(50):
            step.set(x=me * 1000 + i, y=me * 1000 + i)
            step()

    workers = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    blocks = [bytes(r.bytes) for r in cuda.records]
    assert len({block[8:16] for block in blocks}) == 200
    assert all(block[8:16] == block[16:24] for block in blocks)


def test_after_a_fork_it_says_so(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    step = bound.bind(make_bundle([("x", "int32")])["p.kernels:k"], 1, [1])
    cuda.fail("cuLaunchKernelEx", 3)
    monkeypatch.setattr(driver, "_forked", True)
    with pytest.raises(DriverError, match="this process was forked"):
        step()
