"""Indices below zero count from the end in Warp's dialect, computed ones too: of arrays, views, vectors, matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.sim.threads import run as simulate
from kbuild.sim.values import Memory, OutOfBounds
from tests.helpers import kernels
from tests.helpers.host_gpu import HostModule, device

TEXT = """
    import kbuild.warp as wp

    @kb.struct
    class Table:
        rows: kb.array2d(dtype=float)

    @wp.func
    def at(a: kb.array(dtype=float), i: int):
        return a[i]

    @wp.kernel
    def kernel(
        which: kb.array(dtype=int), a: kb.array(dtype=float), table: Table, long: kb.array(dtype=kb.int64),
        out: kb.array2d(dtype=float),
    ):
        t = kb.tid()
        i = which[t]
        v = kb.vec3(1.0, 2.0, 3.0)
        m = kb.mat22(1.0, 2.0, 3.0, 4.0)
        out[t, 0] = a[i]
        out[t, 1] = at(a, i)
        out[t, 2] = table.rows[i, -1]
        out[t, 3] = table.rows[1][i]
        out[t, 4] = a[long[t]]
        out[t, 5] = v[i]
        out[t, 6] = m[i, 0] + m[0][i]
        v[i] = 10.0
        out[t, 7] = v[0] + v[1] + v[2]
        out[t][i] += 0.5
        kb.atomic_add(out, t, i - 1, 0.25)
"""


def expected(which: np.ndarray, a: np.ndarray, rows: np.ndarray) -> np.ndarray:
    out = np.zeros((len(which), 12), np.float32)
    for t, i in enumerate(which):
        v, m = np.array([1.0, 2.0, 3.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
        out[t, :7] = a[i], a[i], rows[i, -1], rows[1][i], a[i], v[i], m[i, 0] + m[0][i]
        v[i] = 10.0
        out[t, 7] = v.sum()
        out[t][i] += 0.5
        out[t][i - 1] += 0.25
    return out


def test_computed_indices(tmp_path: Path) -> None:
    _, declared = kernels.load(kernels.write(tmp_path, TEXT))
    lowered, found = kernels.diagnose(declared)
    assert not found
    module = HostModule(lowered, tmp_path)
    (name,) = module.kernels
    which = np.array([-1, 0, -2, 1], np.int32)
    a = np.array([1.0, 2.0, 4.0, 8.0], np.float32)
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = np.zeros((4, 12), np.float32)
    arguments = [device(which), device(a), {"rows": device(rows)}, device(which.astype(np.int64)), device(out)]
    module.launch(name, 4, arguments)
    np.testing.assert_array_equal(out, expected(which, a, rows))


@pytest.mark.parametrize(
    ("loop", "asks"),
    [
        ("for i in range(n):", False),
        ("for i in range(2, n, 3):", False),
        ("for i in range(n - 1, -1, -1):", False),
        ("for i in range(n - 1, n - 9, -1):", True),
        ("for i in range(n, 20):", True),
    ],
)
def test_loops_that_never_ask(tmp_path: Path, loop: str, asks: bool) -> None:
    text = f"""
    import kbuild.warp as wp

    @wp.kernel
    def kernel(a: kb.array(dtype=float), n: int):
        t = kb.tid()
        {loop}
            a[i] = a[t]
    """
    _, declared = kernels.load(kernels.write(tmp_path, text))
    lowered, found = kernels.diagnose(declared)
    assert not found
    assert ("kb_from_end(i" in HostModule(lowered, tmp_path).source) == asks


@pytest.mark.parametrize(
    ("index", "asks"),
    [
        ("t", False),
        ("t + 1", False),
        ("t - 1", True),
        ("n % 4", True),
        ("t % 4 * 3", False),
        ("n & 3", False),
        ("kb.max(n, 0)", False),
        ("kb.min(n, 3)", True),
        ("a.shape[0] // 2", False),
        ("kb.uint32(n)", False),
        ("int(kb.uint8(n))", False),
        ("int(kb.uint32(n))", True),
        ("kb.where(n > 0, t, 0)", False),
        ("b[t]", True),
    ],
)
def test_values_that_never_ask(tmp_path: Path, index: str, asks: bool) -> None:
    text = f"""
    import kbuild.warp as wp

    @wp.kernel
    def kernel(a: kb.array(dtype=float), b: kb.array(dtype=int), n: int):
        t = kb.tid()
        a[{index}] = 1.0
    """
    _, declared = kernels.load(kernels.write(tmp_path, text))
    lowered, found = kernels.diagnose(declared)
    assert not found
    assert ("kb_from_end(" in HostModule(lowered, tmp_path).source.partition("namespace kb_unit")[2]) == asks


def test_kernels_of_our_own_never_ask(tmp_path: Path) -> None:
    """There a computed index below zero is outside, and the interpreter says so."""
    text = """
    @kb.kernel
    def kernel(a: kb.array(dtype=float), n: int):
        a[n] = 1.0
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    assert "kb_from_end" not in HostModule([kernel], tmp_path).source
    memory = Memory(kernel.function.parameters[0].type.element, (4,), [0.0] * 4)
    with pytest.raises(OutOfBounds, match="index -1 on axis 0"):
        simulate(kernel, (1,), [memory, -1])
