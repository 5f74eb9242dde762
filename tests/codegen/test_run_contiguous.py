"""Loops with a version for arrays without gaps, and elements in large words: every kind of array goes the right way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from kbuild.ir.nodes import Kernel
from tests.helpers import kernels
from tests.helpers.both_ways import BothWays
from tests.helpers.host_gpu import HostModule, device

TEXT = """
@kb.kernel
def k(a: kb.array(dtype=float), b: kb.array2d[float], out: kb.array2d[float], first: int, last: int):
    i = kb.tid()
    total = 0.0
    for j in range(first, last):
        total = total + a[j] * b[i, j]
    out[i, 0] = total
    for j in range(first + i, last, 3):
        if a[j] < 0.0:
            continue
        out[i, 1] += a[j] + b[i, j + 1 - 1]
        if a[j] > 1.0e6:
            break
    for j in range(first + 1, last - 1, 2):
        out[i, 2] = a[j - 1] + 2.0 * a[j] + a[j + 1]
        a[j] = out[i, 2] * 0.5
"""


def views(count: int) -> dict[str, np.ndarray]:
    """The same kind of numbers in arrays with and without gaps."""
    plain = np.arange(4 * count, dtype=np.float32) - 7.0
    fields = np.zeros(count, [("pad", "i4"), ("x", "f4")])
    fields["x"] = plain[:count]
    return {
        "without gaps": plain[:count],
        "a part": plain[count : 2 * count],
        "every third": plain[: 3 * count : 3],
        "backwards": plain[count - 1 :: -1],
        "a field": fields["x"],
        "one for all": as_strided(plain[5:], (count,), (0,)),
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return lower(tmp_path_factory.mktemp("contiguous"), TEXT)


def lower(folder: Path, text: str) -> tuple[Kernel, HostModule]:
    (kernel,) = kernels.lower_text(folder, text)
    return kernel, HostModule([kernel], folder)


def wanted(a: np.ndarray, b: np.ndarray, out: np.ndarray, first: int, last: int) -> None:
    """What the kernel does, in Python, thread after thread."""
    zero, two, half = np.float32(0.0), np.float32(2.0), np.float32(0.5)
    for i in range(len(out)):
        total = zero
        for j in range(first, last):
            total = np.float32(float(a[j]) * float(b[i, j]) + float(total))  # fused; exact in double for small numbers
        out[i, 0] = total
        for j in range(first + i, last, 3):
            if a[j] >= zero:
                out[i, 1] += a[j] + b[i, j]
        for j in range(first + 1, last - 1, 2):
            out[i, 2] = np.float32(two * a[j] + a[j - 1]) + a[j + 1]
            a[j] = out[i, 2] * half


@pytest.mark.parametrize("of_b", ["plain", "turned", "rows backwards", "parts of rows"])
@pytest.mark.parametrize("of_a", list(views(1)))
def test_every_kind_of_array(both: Any, of_a: str, of_b: str) -> None:
    kernel, module = both
    count, rows = 23, 2
    large = np.arange(4 * rows * count, dtype=np.float32).reshape(2 * rows, 2 * count) % 17 - 3.0
    b = {
        "plain": np.ascontiguousarray(large[:rows, :count]),
        "turned": np.ascontiguousarray(large[:rows, :count].T).T,
        "rows backwards": np.ascontiguousarray(large[:rows, :count])[::-1],
        "parts of rows": large[::2, count:],
    }[of_b]
    for first, last in ((0, count), (3, count - 2), (5, 5), (7, 3)):
        a = views(count)[of_a]
        expected_a, expected, out = views(count)[of_a], np.zeros((rows, 3), np.float32), np.zeros((rows, 3), np.float32)
        wanted(expected_a, b, expected, first, last)
        module.launch(kernel.name, rows, [device(a), device(b), device(out), first, last])
        np.testing.assert_array_equal(a, expected_a)
        np.testing.assert_array_equal(out, expected)


def test_the_text_asks_for_what_it_needs(both: Any) -> None:
    _, module = both
    assert "if (a.dense() && b.dense()) {" in module.source
    assert "if (stop_5 <= 2147483645 && a.dense()) {" in module.source
    assert "if (stop_3 <= 2147483644 && a.dense() && b.dense()) {" in module.source
    assert "a.near((long long)j_3 - 1)" in module.source
    assert "b.near(i, " in module.source


def test_counters_at_the_end_of_their_type(tmp_path: Path) -> None:
    """The step beyond the last trip would overflow: such loops go the other way."""
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def k(a: kb.array(dtype=int), first: int, last: int, out: kb.array(dtype=int)):
            for j in range(first, last, 1000):
                if j > 5000:
                    out[0] += j % 7
                else:
                    out[0] += a[j]
        """,
    )
    for first, last in ((0, 3000), (2**31 - 5001, 2**31 - 1), (2**31 - 1500, 2**31 - 1000)):
        out = np.zeros(1, np.int32)
        run(1, np.arange(5000, dtype=np.int32), first, last, out)
        assert out[0] == sum(j % 7 if j > 5000 else j for j in range(first, last, 1000))


def test_leading_indices_of_64_bits(tmp_path: Path) -> None:
    """The number of the row times its stride is beyond 32 bits; almost all of the memory is never touched."""
    run = lower(
        tmp_path,
        """
        @kb.kernel
        def k(a: kb.array2d[kb.uint8], rows: kb.array(dtype=kb.int64), out: kb.array(dtype=int), n: int):
            i = kb.tid()
            far = int(rows[i])
            for j in range(n):
                out[i] += int(a[rows[i], j]) + int(a[far, j])
            out[i] += int(a[far, 0]) + 10 * int(a[far, 1])
        """,
    )
    kernel, module = run
    a = np.zeros((5, 1 << 30), np.uint8)
    a[4, :3], a[2, :3] = (1, 2, 3), (4, 5, 6)
    out = np.zeros(2, np.int32)
    module.launch(kernel.name, 2, [device(a), device(np.array([4, 2])), device(out), 3])
    assert out.tolist() == [12 + 21, 30 + 54]


VECTORS = """
@kb.kernel
def k(a: kb.array(dtype=kb.vec4), m: kb.array2d[kb.mat22], n: kb.array(dtype=kb.vec4ub), s: kb.array(dtype=kb.vec2),
      out: kb.array(dtype=kb.vec4)):
    i = kb.tid()
    for j in range(len(a)):
        out[i] = out[i] + a[j] * float(i + j)
    out[i].w = float(int(n[i][1]) + int(n[i][3]))
    m[0, i] = m[0, i] + kb.mat22(1.0, 2.0, 3.0, 4.0)
    s[i] = kb.vec2(s[i].y, s[i].x)
    a[i] = -a[i]
"""


@pytest.mark.parametrize("shift", [0, 1, 2, 4])
@pytest.mark.parametrize("step", [1, 2])
def test_vectors_at_any_address(tmp_path: Path, shift: int, step: int) -> None:
    """Arrays that begin at a multiple of 16 bytes or in between, whose elements follow one another or not."""
    (kernel,) = kernels.lower_text(tmp_path, VECTORS)
    module = HostModule([kernel], tmp_path)
    assert "kb_load(a.at(i), a.aligned(16))" in module.source or "kb_load(a(i), a.aligned(16))" in module.source
    count = 3

    def floats(*shape: int) -> np.ndarray:
        size = int(np.prod(shape)) * step
        start = np.zeros(size + 16, np.float32)
        start = start[(-start.ctypes.data // 4) % 4 :][shift : shift + size]
        start[:] = np.arange(size) % 13
        return start.reshape(shape[0] * step, *shape[1:])[::step]

    a, m, s, out = floats(count, 4), floats(1, count, 2, 2), floats(count, 2), floats(count, 4)
    n = np.arange(64, dtype=np.uint8)[shift : shift + 4 * count * step].reshape(-1, 4)[::step]
    wanted_a, wanted_m, wanted_s, wanted_out = a.copy(), m.copy(), s.copy(), out.copy()
    for i in range(count):
        for j in range(count):
            wanted_out[i] += wanted_a[j] * np.float32(i + j)
        wanted_out[i, 3] = int(n[i, 1]) + int(n[i, 3])
        wanted_m[0, i] += np.array([[1, 2], [3, 4]], np.float32)
        wanted_s[i] = wanted_s[i, ::-1].copy()
        wanted_a[i] = -wanted_a[i]
    module.launch(kernel.name, count, [device(x) for x in (a, m, n, s, out)])
    for found, expected in ((a, wanted_a), (m, wanted_m), (s, wanted_s), (out, wanted_out)):
        np.testing.assert_array_equal(found, expected)
