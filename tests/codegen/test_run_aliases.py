"""Local names for functions, types and tuples, stars, indices from the end, numbers with a type, missing returns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import kernels
from tests.helpers.host_gpu import HostModule, device


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., None]:
    """`run(text, dim, *arguments)` for the one kernel in the text; warnings are no errors."""

    def make(text: str, dim: int, *arguments: Any) -> None:
        _, declared = kernels.load(kernels.write(tmp_path, text))
        lowered, found = kernels.diagnose(declared)
        assert not [d for d in found if d.severity == "error"], "\n".join(map(str, found))
        module = HostModule(lowered, tmp_path)
        (name,) = module.kernels
        module.launch(name, dim, [device(a) if isinstance(a, np.ndarray) else a for a in arguments])

    return make


def test_local_names(run: Any) -> None:
    out = np.zeros((3, 8), np.float32)
    run(
        """
        @kb.func
        def double(x: float):
            return x * 2.0

        @kb.func
        def two(x: float, y: float):
            return y, x

        @kb.kernel
        def kernel(out: kb.array2d(dtype=float), v: kb.vec2, m: kb.mat22):
            i = kb.tid()
            f = kb.static(double)
            kind = kb.types.vector(length=3, dtype=float)
            x = float(i)
            pair = (x, x + 1.0)
            x = 100.0
            out[i, 0] = f(pair[0]) + pair[1]
            out[i, 1] = kind(*v, 7.0)[2] + two(*v)[0]
            out[i, 2] = kb.matrix_from_cols(*m)[0, 1] + 1.0
            out[i, 3] = out.dtype(5) + m.dtype(0.5)
            for k in range(kb.static(len(v))):
                out[i, 4] += v[k]
            for k in range(3):
                inner = (float(k), k * 2)
                out[i, 5] += inner[0] * float(inner[1])
        """,
        3,
        out,
        (10.0, 20.0),
        ((1.0, 2.0), (3.0, 4.0)),
    )
    assert out[:, :6].tolist() == [[2.0 * i + i + 1.0, 27.0, 4.0, 5.5, 30.0, 10.0] for i in range(3)]


def test_indices_from_the_end(run: Any) -> None:
    out, grid = np.zeros(6, np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
    run(
        """
        @kb.kernel
        def kernel(out: kb.array(dtype=float), grid: kb.array2d(dtype=float)):
            i = kb.tid()
            out[-1] = grid[-1, -2]
            out[-2] = grid[-3][-1]
            row = grid[-2]
            out[-6] = row[-4]
            out[-3] += 3.0
            kb.atomic_add(out, -4, 2.0)
        """,
        1,
        out,
        grid,
    )
    assert out.tolist() == [4.0, 0.0, 2.0, 3.0, 3.0, 10.0]


def test_numbers_with_a_type(run: Any) -> None:
    """A constant made by `kb.int64(…)` is an int64, and nothing of it is lost."""
    out, wide = np.zeros(3, np.int64), np.zeros(2, np.float64)
    run(
        """
        BIG = kb.int64(2**40 + 1)
        TINY = kb.float64(1e-300)
        NARROW = kb.uint8(255)

        @kb.kernel
        def kernel(out: kb.array(dtype=kb.int64), wide: kb.array(dtype=kb.float64)):
            x = BIG
            out[0] = x * kb.int64(2)
            out[1] = kb.int64(NARROW + kb.uint8(1))
            out[2] = kb.static(kb.int64(7))
            y = TINY
            wide[0] = y * 1e300
            wide[1] = kb.float64(kb.static(kb.float32(0.1)))
        """,
        1,
        out,
        wide,
    )
    assert out.tolist() == [2**41 + 2, 0, 7]
    assert wide.tolist() == [1e-300 * 1e300, float(np.float32(0.1))]


def test_bools_beside_zero_and_one(run: Any) -> None:
    out = np.zeros(4, np.int32)
    run(
        """
        @kb.kernel
        def kernel(out: kb.array(dtype=int), flags: kb.array(dtype=kb.bool_)):
            i = kb.tid()
            if flags[i] == 0:
                out[2 * i] = 1
            out[2 * i + 1] = int(1 == flags[i]) + int(flags[i] != 1) * 10
        """,
        2,
        out,
        np.array([False, True]),
    )
    assert out.tolist() == [1, 10, 0, 1]


def test_a_missing_return_is_zero(run: Any) -> None:
    out = np.zeros((3, 4), np.float32)
    run(
        """
        @kb.struct
        class Hit:
            point: kb.vec2
            id: int

        @kb.func
        def number(n: int):
            if n > 1:
                return 5.0

        @kb.func
        def several(n: int):
            if n > 0:
                return kb.vec2(1.0, 2.0), 3

        @kb.func
        def record(n: int):
            while n > 0:
                return Hit(kb.vec2(7.0, 8.0), 9)

        @kb.kernel
        def kernel(out: kb.array2d(dtype=float)):
            i = kb.tid()
            v, k = several(i)
            hit = record(i)
            out[i, 0] = number(i)
            out[i, 1] = v[1]
            out[i, 2] = float(k)
            out[i, 3] = hit.point[0] + float(hit.id)
        """,
        3,
        out,
    )
    assert out.tolist() == [[0, 0, 0, 0], [0, 2, 3, 16], [5, 2, 3, 16]]
