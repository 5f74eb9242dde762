"""Many threads launch one kernel: each launch arrives with its own values, even when the driver looks at them late."""

from __future__ import annotations

import struct
import sys
import threading

import pytest

from kbuild.loader import array as arrays
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from tests.helpers.situations import happens

THREADS, LAUNCHES = 8, 150


@happens(
    "A launch",
    "many threads launch one kernel at once, and the driver looks at the arguments late",
    "Each launch arrives with its own arguments.",
)
@pytest.mark.parametrize("delay", [0, 50], ids=["prompt driver", "late driver"])
def test_no_launch_is_torn(cuda: FakeCuda, delay: int) -> None:
    kernel = make_bundle([("a", "array1[float32]"), ("v", "vec4[float32]"), ("n", "int32")])["p.kernels:k"]
    held = [arrays.zeros(3) for _ in range(THREADS)]
    failures: list[BaseException] = []
    start = threading.Barrier(THREADS)
    cuda.library.fake_delay(delay)

    def work(me: int) -> None:
        try:
            start.wait()
            for i in range(LAUNCHES):
                kernel.launch(me * LAUNCHES + i + 1, (held[me], (me, i, me, i), me), stream=1000 + me)
        except BaseException as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
    seen = set()
    for record in cuda.records:
        count, ptr, *_, me, i, same_me, same_i, n = struct.unpack_from("<I4xQii4fi", bytes(record.bytes))
        assert (me, i) == (same_me, same_i)
        assert (ptr, n, record.stream) == (held[n].ptr, me, 1000 + me)
        assert (count, record.grid) == (n * LAUNCHES + i + 1, (count + 255) // 256)
        seen.add((n, i))
    assert len(seen) == len(cuda.records) == THREADS * LAUNCHES
    assert cuda.calls.count("cuModuleLoadData") == 1


def test_a_launch_inside_a_launch(cuda: FakeCuda) -> None:
    """A conversion that launches the same kernel, as a finalizer or a signal handler may at any point."""
    kernel = make_bundle([("x", "float32"), ("n", "int32")])["p.kernels:k"]

    class Meddler:
        def __float__(self) -> float:
            kernel.launch(2, (2.0, 2))
            return 1.0

    for _ in range(3):
        kernel.launch(1, (Meddler(), 1))
    values = [struct.unpack_from("<I4xfi", bytes(r.bytes)) for r in cuda.records]
    assert values == [(2, 2.0, 2), (1, 1.0, 1)] * 3
