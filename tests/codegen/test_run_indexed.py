"""Arrays seen through index arrays: as generated code, and interpreted."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import kernels
from tests.helpers.both_ways import BothWays, Seen, zeros
from tests.helpers.host_gpu import DeviceIndexed, HostModule, device


def indices(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def numbers(*shape: int, kind: type = np.float32) -> np.ndarray:
    return np.arange(math.prod(shape)).reshape(shape).astype(kind)


def test_elements_are_read_and_written_where_the_indices_say(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def k(a: kb.indexedarray(dtype=float), b: kb.indexedarray2d[float], out: kb.array2d[float]):
            i = kb.tid()
            out[i, 0] = a[i]
            out[i, 1] = b[i, 1]
            out[i, 2] = float(a.shape[0] * 100 + b.shape[0] * 10 + b.shape[1])
            out[i, 3] = float(len(a) + b.ndim) + b[-1, 1]
            a[i] = -a[i]
            b[i, 0] = 100.0 + float(i)
        """,
    )
    a, b, out = numbers(10), numbers(3, 4), zeros(3, 4)
    run(3, Seen(a, (indices(7, 0, 3),)), Seen(b, (None, indices(3, 1))), out)
    assert out[:, 0].tolist() == [7.0, 0.0, 3.0]
    assert out[:, 1].tolist() == [1.0, 5.0, 9.0]
    assert out[:, 2].tolist() == [332.0] * 3
    assert out[:, 3].tolist() == [14.0] * 3
    assert a.tolist() == [0.0, 1.0, 2.0, -3.0, 4.0, 5.0, 6.0, -7.0, 8.0, 9.0]
    assert b[:, 3].tolist() == [100.0, 101.0, 102.0]


def test_parts_of_elements_and_atomics(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        @kb.kernel
        def k(v: kb.indexedarray(dtype=kb.vec3), n: kb.indexedarray(dtype=int), out: kb.array(dtype=int)):
            v[0].y = 7.0
            v[1] += kb.vec3(1.0, 2.0, 3.0)
            v[1][0] *= 2.0
            out[0] = kb.atomic_add(n, 0, 5)
            out[1] = kb.atomic_sub(n, 1, 5)
            out[2] = kb.atomic_min(n, 0, 2)
            out[3] = kb.atomic_max(n, 1, 2)
            out[4] = kb.atomic_and(n, 0, 3)
            out[5] = kb.atomic_or(n, 1, 8)
            out[6] = kb.atomic_xor(n, 0, 1)
            out[7] = kb.atomic_exch(n, 1, 40)
            out[8] = kb.atomic_cas(n, 0, 3, 50)
            n[1] += 1
            n[1] |= 2
            kb.atomic_max(v[0].z, 9.0)
        """,
    )
    v, n, out = zeros(5, 3), numbers(4, kind=np.int32), zeros(9, kind=np.int32)
    run(1, Seen(v, (indices(4, 2),)), Seen(n, (indices(3, 1),)), out)
    assert v[4].tolist() == [0.0, 7.0, 9.0]
    assert v[2].tolist() == [2.0, 2.0, 3.0]
    assert out.tolist() == [3, 1, 8, -4, 2, 2, 2, 10, 3]
    assert n.tolist() == [0, 43, 2, 50]


def test_views_and_functions(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        from typing import Any

        @kb.func
        def first(row: kb.indexedarray(dtype=float)):
            return row[0] + 100.0 * float(len(row))

        @kb.func
        def last(row: kb.indexedarray(dtype=Any)):
            return row[row.shape[0] - 1]

        @kb.func
        def put(a: Any, i: int, value: float):
            a[i] = value

        @kb.kernel
        def k(a: kb.indexedarray(dtype=float, ndim=4), out: kb.array2d[float]):
            i = kb.tid()
            out[i, 0] = first(a[i, 1, 0])
            plane = a[i, 0]
            out[i, 1] = last(plane[1])
            out[i, 2] = a[i][1][1][1]
            put(out[i], 3, float(plane.shape[0] * 10 + plane.shape[1]))
            put(plane[1], 0, -1.0)
        """,
    )
    a, out = numbers(3, 4, 2, 5), zeros(2, 4)
    before = a.copy()
    run(2, Seen(a, (indices(2, 0), indices(3, 1), None, indices(4, 0))), out)
    assert out[:, 0].tolist() == [before[2, 1, 0, 4] + 200.0, before[0, 1, 0, 4] + 200.0]
    assert out[:, 1].tolist() == [before[2, 3, 1, 0], before[0, 3, 1, 0]]
    assert out[:, 2].tolist() == [before[2, 1, 1, 0], before[0, 1, 1, 0]]
    assert out[:, 3].tolist() == [22.0, 22.0]
    assert np.argwhere(a == -1.0).tolist() == [[0, 3, 1, 4], [2, 3, 1, 4]]


@pytest.mark.parametrize("kind", ["array", "indexedarray"])
def test_a_view_of_a_view_of_a_view(tmp_path: Path, kind: str) -> None:
    """No variable has the types in between."""
    run = BothWays(
        tmp_path,
        f"""
        @kb.kernel
        def k(a: kb.{kind}(dtype=float, ndim=4), out: kb.array(dtype=float)):
            out[0] = a[1][0][1][1]
        """,
    )
    a, out = numbers(2, 1, 2, 3), zeros(1)
    run(1, Seen(a, (None, None, indices(1, 0), None)) if kind == "indexedarray" else a, out)
    assert out.tolist() == [a[1, 0, 0, 1] if kind == "indexedarray" else a[1, 0, 1, 1]]


def test_indices_below_zero_count_from_the_end_of_what_is_seen(tmp_path: Path) -> None:
    run = BothWays(
        tmp_path,
        """
        from kbuild import warp as wp

        @wp.kernel
        def k(a: wp.indexedarray[float], b: wp.indexedarray2d[float], out: kb.array(dtype=float), i: int):
            out[0] = a[i]
            out[1] = b[i, i]
            out[2] = b[i][i - 1]
        """,
    )
    a, b, out = numbers(10), numbers(4, 5), zeros(3)
    run(1, Seen(a, (indices(7, 1, 3),)), Seen(b, (indices(2, 0), None)), out, -1)
    assert out.tolist() == [3.0, 4.0, 3.0]


PRESENCE = """
@kb.struct
class Model:
    mass: kb.indexedarray(dtype=float)
    grid: kb.indexedarray2d[float]
    scale: float

@kb.func
def inside(row: kb.indexedarray(dtype=float)):
    if row:
        return row[0]
    return -1.0

@kb.kernel
def k(a: kb.indexedarray(dtype=float), model: Model, out: kb.array(dtype=float)):
    if a is None:
        out[0] = -2.0
    else:
        out[0] = a[0]
    out[1] = inside(model.grid[1]) * model.scale
    out[2] = inside(model.mass)
    empty = Model()
    out[3] = inside(empty.mass)
"""


@pytest.mark.parametrize("is_there", [True, False])
def test_none_and_structs(tmp_path: Path, is_there: bool) -> None:
    (kernel,) = kernels.lower_text(tmp_path, PRESENCE)
    module = HostModule([kernel], tmp_path)
    type = kernel.function.parameters[0].type
    model = kernel.function.parameters[1].type
    a, grid, out, table = numbers(5), numbers(3, 3), zeros(4), indices(2, 1)
    mass = DeviceIndexed(a, [table], type)
    given = {
        "mass": mass if is_there else None,
        "grid": DeviceIndexed(grid, [table, table], model.fields[1].type) if is_there else None,
        "scale": 2.0,
    }
    module.launch(kernel.name, 1, [mass if is_there else None, given, device(out)])
    assert out.tolist() == ([2.0, 10.0, 2.0, -1.0] if is_there else [-2.0, -2.0, -1.0, -1.0])


GATHER = "\n".join(
    f"""
@kb.kernel
def gather{n}(a: kb.indexedarray(dtype=int, ndim={n}), out: kb.array(dtype=int, ndim={n})):
    {names} = kb.tid()
    out[{names}] = a[{names}]
    a[{names}] = -1
"""
    for n, names in enumerate(("i", "i, j", "i, j, k", "i, j, k, l"), start=1)
)


@pytest.fixture(scope="module")
def gather(tmp_path_factory: pytest.TempPathFactory) -> HostModule:
    folder = tmp_path_factory.mktemp("gather")
    return HostModule(kernels.lower_text(folder, GATHER), folder)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_shape_any_strides_any_indices(gather: HostModule, data: st.DataObject) -> None:
    """Against NumPy's own gathering, over arrays with strides."""
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    steps = tuple(data.draw(st.sampled_from([slice(None), slice(None, None, -1)])) for _ in shape)
    behind = numbers(*shape, kind=np.int32).transpose(data.draw(st.permutations(range(len(shape)))))[steps]
    tables = [
        data.draw(st.none() | st.lists(st.integers(0, extent - 1), min_size=1, max_size=5, unique=True))
        for extent in behind.shape
    ]
    tables = [None if table is None else np.array(table, np.int32) for table in tables]
    where = np.ix_(*[range(n) if t is None else t for n, t in zip(behind.shape, tables, strict=True)])
    wanted, left = behind[where], behind.copy()
    left[where] = -1
    out = np.zeros(wanted.shape, np.int32)
    name = next(name for name in gather.kernels if name.endswith(f"gather{behind.ndim}"))
    type = gather.kernels[name].function.parameters[0].type
    gather.launch(name, wanted.shape, [DeviceIndexed(behind, tables, type), device(out)])
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(behind, left)
