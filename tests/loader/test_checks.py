"""What is said when a kernel goes wrong: at the next wait, at the launch with KBUILD_CHECK, and ever after."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import array as arrays
from kbuild.loader import bound, recent, resolve, streams
from kbuild.loader.errors import DriverError, LaunchError
from tests.helpers.fake_cuda import FakeCuda, make_bundle

ILLEGAL = 700


def kernel() -> Any:
    return make_bundle([("a", "array1[float32]"), ("x", "int32")])["p.kernels:k"]


def test_the_launches_since_the_last_good_synchronisation(cuda: FakeCuda) -> None:
    step, data = kernel(), arrays.zeros(3)
    for n in range(1, 5):
        step.launch(n, [data, 1])
    kb.synchronize()
    for n in range(10, 22):
        step.launch(n, [data, 1])
    cuda.fail("cuCtxSynchronize", ILLEGAL)
    with pytest.raises(DriverError) as caught:
        kb.synchronize()
    text = str(caught.value)
    assert "launches on cuda:0 since the last synchronisation that went well, newest first:" in text
    assert [line.split("=")[-1] for line in text.splitlines() if "dim=" in line] == [str(n) for n in range(21, 13, -1)]
    assert "… and 4 more" in text
    assert "KBUILD_CHECK=launch" in text
    del caught


def test_a_stream_takes_its_own_away(cuda: FakeCuda) -> None:
    step, data, stream = kernel(), arrays.zeros(3), streams.Stream()
    step.launch(1, [data, 1])
    step.launch(2, [data, 1], stream=stream)
    stream.synchronize()
    assert [dim for _, dim, _ in recent.log(0)] == [1]
    data.tolist()
    assert not recent.log(0)


def test_only_the_last_are_kept(cuda: FakeCuda) -> None:
    step, data = kernel(), arrays.zeros(3)
    for n in range(1, 200):
        step.launch(n, [data, 1])
    cuda.fail("cuCtxSynchronize", ILLEGAL)
    with pytest.raises(DriverError, match="… and more"):
        kb.synchronize()


def test_every_later_call_says_by_what_the_context_was_lost(cuda: FakeCuda) -> None:
    data = arrays.zeros(3)
    cuda.fail("cuCtxSynchronize", ILLEGAL)
    with pytest.raises(DriverError, match="process must restart"):
        kb.synchronize()
    for call, use in (("cuMemcpyDtoHAsync_v2", data.tolist), ("cuMemAllocFromPoolAsync", lambda: arrays.empty(3))):
        cuda.fail(call, ILLEGAL)
        with pytest.raises(DriverError) as caught:
            use()
        text = str(caught.value)
        assert "the GPU's context was lost earlier in this process: cuda:0: cuCtxSynchronize failed" in text
        assert "process must restart" in text
        assert text.count("since the last synchronisation") == 0
        del caught


def test_a_failure_that_does_not_last_is_no_loss(cuda: FakeCuda) -> None:
    step = kernel()
    data = arrays.zeros(3)
    step.launch(1, [data, 1])
    cuda.fail("cuCtxSynchronize", 999)
    with pytest.raises(DriverError) as caught:
        kb.synchronize()
    assert "since the last" not in str(caught.value)
    cuda.fail("cuCtxSynchronize", 2)
    with pytest.raises(DriverError) as caught:
        kb.synchronize()
    assert "lost earlier" not in str(caught.value)


@pytest.mark.parametrize("launches", [0, 3])
def test_at_the_launch(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch, launches: int) -> None:
    monkeypatch.setenv("KBUILD_CHECK", "launch")
    step, data = kernel(), arrays.zeros(3)
    for _ in range(launches):
        step.launch(3, [data, 1])
        assert cuda.calls[-1] == "cuStreamSynchronize"
    cuda.fail("cuStreamSynchronize", ILLEGAL)
    with pytest.raises(DriverError) as caught:
        step.launch(7, [data, 42])  # this line
    text = str(caught.value)
    lines = Path(__file__).read_text().splitlines()
    line = next(n for n, code in enumerate(lines, 1) if code.endswith("# this line"))
    assert text.startswith("p.kernels:k on cuda:0: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)")
    assert f"launched at {__file__}:{line}, dim=7" in text
    assert "a = <kb.array float32 of shape (3,) on cuda:0> at 0x%x" % data.ptr in text
    assert "x = int 42" in text
    assert "since the last synchronisation" not in text
    del caught


def test_bound_launches_are_waited_for_too(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBUILD_CHECK", "launch")
    step = bound.bind(kernel(), 5, [arrays.zeros(3), 1])
    step()
    assert "cuStreamSynchronize" in cuda.calls
    cuda.fail("cuStreamSynchronize", ILLEGAL)
    with pytest.raises(DriverError, match=r"(?s)p.kernels:k on cuda:0.*dim=5.*x = int 1"):
        step()


def test_a_setting_that_means_nothing(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBUILD_CHECK", "always")
    with pytest.raises(LaunchError, match="KBUILD_CHECK is 'launch' or not set, not 'always'"):
        kernel().launch(3, [arrays.zeros(3), 1])
    monkeypatch.setenv("KBUILD_CHECK", "0")
    kernel().launch(3, [arrays.zeros(3), 1])
    assert cuda.calls[-2:] != ["cuLaunchKernelEx", "cuStreamSynchronize"]


def test_the_kernel_keeps_its_last_error_and_no_arrays(cuda: FakeCuda) -> None:
    step, data = kernel(), arrays.zeros(3)
    assert step.error is None
    with pytest.raises(LaunchError):
        resolve.launch(step, 3, inputs=[data, "x"])
    assert isinstance(step.error, LaunchError)
    assert "parameter x" in str(step.error)
    cuda.fail("cuLaunchKernelEx", 701, times=2)
    with pytest.raises(DriverError):
        resolve.launch(step, 3, inputs=[data, 1])
    assert isinstance(step.error, DriverError)
    assert (step.error.code, step.error.call) == (701, "cuLaunchKernelEx")
    del data
    gc.collect()
    assert cuda.live_allocations == 0, "the error's frames would hold the arguments"
