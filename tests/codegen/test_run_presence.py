"""Arrays that may be None, comparisons of whole vectors, loop variables that take a name over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbuild.ir.presence import optional_parameters
from kbuild.sim.threads import run as simulate
from kbuild.sim.values import Memory, zero
from tests.helpers import kernels
from tests.helpers.host_gpu import HostModule, device

PRESENCE = """
@kb.struct
class Model:
    mass: kb.array(dtype=float)
    mask: kb.array2d(dtype=float)
    scale: float


@kb.func
def inside(row: kb.array(dtype=float), i: int):
    if row is not None:
        return row[i]
    return -1.0


@kb.func
def deeper(model: Model, i: int):
    if not model.mask:
        return -2.0
    return inside(model.mask[i], i)


@kb.func
def none_at_all(a: kb.array(dtype=float) = None):
    if a:
        return 1.0
    return 0.0


@kb.kernel
def presence(out: kb.array2d(dtype=float), a: kb.array(dtype=float), b: kb.array2d(dtype=float), model: Model):
    i = kb.tid()
    if a:
        out[i, 0] = a[i]
    else:
        out[i, 0] = -3.0
    out[i, 1] = inside(b[i], 0)
    out[i, 2] = deeper(model, i) * model.scale
    out[i, 3] = none_at_all() + none_at_all(None) + none_at_all(a) * 4.0
    empty = Model()
    out[i, 4] = float(empty.mass == None) + 2.0 * float(model.mass != None and i > 0)
    out[i, 5] = float(out is None)
"""


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Any]:
    def make(text: str) -> Any:
        (kernel,) = kernels.lower_text(tmp_path, text)
        return kernel, HostModule([kernel], tmp_path)

    return make


def _expected(a: Any, b: Any, mass: Any, mask: Any, i: int) -> list[float]:
    deep = -2.0 if mask is None else float(mask[i, i])
    given = 0.0 if a is None else 4.0
    first = -3.0 if a is None else float(a[i])
    second = -1.0 if b is None else float(b[i, 0])
    return [first, second, deep * 2.0, given, 1.0 + 2.0 * (mass is not None and i > 0), 0.0]


@pytest.mark.parametrize("present", range(16))
def test_presence(load: Any, present: int) -> None:
    """Compiled and in the interpreter: every combination of arrays and None."""
    kernel, module = load(PRESENCE)
    some = np.arange(4, dtype=np.float32), np.arange(16, dtype=np.float32).reshape(4, 4) + 1
    arrays = [(some[0], some[1], some[0] + 5, some[1] + 7)[k] if present >> k & 1 else None for k in range(4)]
    a, b, mass, mask = arrays
    wanted = [_expected(a, b, mass, mask, i) for i in range(4)]

    out = np.zeros((4, 6), np.float32)
    given = [None if one is None else device(one) for one in arrays]
    (name,) = module.kernels
    model = {"mass": given[2], "mask": given[3], "scale": 2.0}
    module.launch(name, 4, [device(out), given[0], given[1], model])
    assert out.tolist() == wanted

    def memory(one: Any, ndim: int) -> Any:
        type = kernel.function.parameters[ndim].type
        return zero(type) if one is None else Memory(type.element, one.shape, one.ravel().tolist())

    result = Memory(kernel.function.parameters[0].type.element, (4, 6), [0.0] * 24)
    fields = {"mass": memory(mass, 1), "mask": memory(mask, 2), "scale": 2.0}
    simulate(kernel, (4,), [result, memory(a, 1), memory(b, 2), fields])
    assert result.data == [number for row in wanted for number in row]


def test_which_may_be_none(load: Any) -> None:
    kernel, module = load(PRESENCE)
    assert optional_parameters(kernel.function) == ["a", "b", "model.mask", "model.mass", "out"]
    (row,) = module.rows.values()
    assert row["optional"] == optional_parameters(kernel.function)
    kernel, _ = load("""
        @kb.kernel
        def plain(a: kb.array(dtype=float), b: kb.array(dtype=float)):
            c = b
            if c:
                a[0] = 1.0
    """)
    assert optional_parameters(kernel.function) == []


def test_what_is_not_used_may_be_none(load: Any) -> None:
    kernel, _ = load("""
        @kb.struct
        class Inner:
            data: kb.array(dtype=float)
            spare: kb.array(dtype=int)

        @kb.struct
        class Model:
            used: kb.array(dtype=float)
            inner: Inner
            kept: Inner
            spare: kb.array2d(dtype=float)

        @kb.func
        def first(m: Model, i: Inner, unused: kb.array(dtype=float)):
            return m.used[0] + i.data[0]

        @kb.kernel
        def kernel(out: kb.array(dtype=float), m: Model, spare: kb.array(dtype=float), other: Model):
            whole = other
            out[0] = first(m, m.kept, spare)
    """)
    assert optional_parameters(kernel.function) == ["m.inner.data", "m.inner.spare", "m.kept.spare", "m.spare", "spare"]


def test_whole_vectors_are_compared(load: Any) -> None:
    _, module = load("""
        @kb.kernel
        def equal(out: kb.array(dtype=int), u: kb.array(dtype=kb.vec3), m: kb.array(dtype=kb.mat22), q: kb.quat):
            i = kb.tid()
            out[4 * i] = int(u[i] == u[0])
            out[4 * i + 1] = int(u[i] != kb.vec3(1.0, 2.0, 3.0))
            out[4 * i + 2] = int(m[i] == kb.mat22(1.0, 2.0, 3.0, 4.0))
            out[4 * i + 3] = int(q == kb.quat_identity(float)) + int(q != q)
    """)
    u = np.array([[1, 2, 3], [1, 2, 4], [1, 2, 3], [np.nan, 2, 3]], np.float32)
    m = np.array([[[1, 2], [3, 4]], [[1, 2], [3, 5]], [[0, 2], [3, 4]], [[1, 2], [3, 4]]], np.float32)
    out = np.zeros(16, np.int32)
    (name,) = module.kernels
    module.launch(name, 4, [device(out), device(u), device(m), (0.0, 0.0, 0.0, 1.0)])
    assert out.reshape(4, 4).tolist() == [[1, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1]]


def test_a_loop_takes_a_name_over(load: Any) -> None:
    _, module = load("""
        @kb.kernel
        def over(out: kb.array(dtype=float)):
            i = kb.tid()
            for r in range(2):
                k = 0.5 + float(r)
                out[i] += k
                for k in range(3):
                    out[i] += float(k)
            k = 10.0
            for k in range(2):
                out[i] += float(k)
    """)
    out = np.zeros(3, np.float32)
    (name,) = module.kernels
    module.launch(name, 3, [device(out)])
    assert out.tolist() == [9.0] * 3


@pytest.mark.parametrize("dialect", ["wp", "kb"])
def test_in_warps_dialect_what_is_asked_for_its_extents_may_be_none(load: Any, dialect: str) -> None:
    kernel, module = load(f"""
        import kbuild.warp as wp

        @kb.struct
        class Model:
            rows: kb.array2d(dtype=float)

        @{dialect}.func
        def longer(a: kb.array(dtype=float), b: kb.array(dtype=float)):
            return a.shape[0] + b.shape[0] + int(b[0])

        @{dialect}.kernel
        def kernel(out: kb.array(dtype=int), a: kb.array(dtype=float), b: kb.array(dtype=float), m: Model):
            out[0] = longer(a, b) + 10 * len(a) + m.rows.shape[1]
    """)
    if dialect == "kb":
        assert optional_parameters(kernel.function) == []
        return
    assert optional_parameters(kernel.function) == ["a", "m.rows"]
    out, b = np.zeros(1, np.int32), np.full(3, 4.0, np.float32)
    (name,) = module.kernels
    module.launch(name, 1, [device(out), None, device(b), {"rows": None}])
    assert out.tolist() == [7]
    one, a, b_type, m = (parameter.type for parameter in kernel.function.parameters)
    result = Memory(one.element, (1,), [0])
    simulate(kernel, (1,), [result, zero(a), Memory(b_type.element, (3,), [4.0] * 3), zero(m)])
    assert result.data == [7]
