"""Kernels whose gradients users of NVIDIA Warp have reported as wrong, by the number of the issue there. Exact here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.autodiff import Undifferentiable, adjoint
from tests.helpers import kernels
from tests.helpers.gradients import Launched, backward, forward, gradients


def near(values: object) -> object:
    return pytest.approx(np.asarray(values), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("start", "expected"), [(0.0, 12.0), (5.0, 22.0)])
def test_1694_a_factor_used_after_a_loop(tmp_path: Path, start: float, expected: float) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), start: kb.float64, n: int):
            b = x[0] * 2.0
            acc = start
            for i in range(n):
                acc = acc + x[0]
            out[0] = acc * b
    """
    # (start + 2 x) · 2 x: 2 start + 8 x
    found = gradients(tmp_path, text, 1, {"x": np.array([1.5]), "out": np.zeros(1), "start": start, "n": 2}, out=1)
    assert found["x"] == near([expected])


@pytest.mark.parametrize(
    ("result", "slope"),
    [("1.0 / acc", lambda s: -1 / s**2), ("acc * acc", lambda s: 2 * s)],
    ids=["reciprocal", "square"],
)
@pytest.mark.parametrize("start", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("inside", [True, False])
def test_729_1740_1754_what_follows_a_loop_in_a_function(
    tmp_path: Path, result: str, slope: object, start: float, n: int, inside: bool
) -> None:
    text = f"""
        @kb.func
        def total(x: kb.array(dtype=kb.float64), start: kb.float64, n: int):
            acc = start
            for i in range(n):
                acc += x[i]
            return {result if inside else "acc"}

        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), start: kb.float64, n: int):
            acc = total(x, start, n)
            out[0] = {"acc" if inside else result}
    """
    x = np.array([1.0, 2.4, 0.5])
    found = gradients(tmp_path, text, 1, {"x": x, "out": np.zeros(1), "start": start, "n": n}, out=1)
    assert found["x"] == near([slope(start + x[:n].sum())] * n + [0] * (3 - n))  # type: ignore[operator]


def test_1552_the_largest_found_with_continue(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(c: kb.array2d(dtype=kb.float64), x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            most = kb.float64(-1.0e20)
            for p in range(c.shape[0]):
                for q in range(c.shape[1]):
                    if c[p, q] == 0.0:
                        continue
                    v = x[t] * c[p, q] * kb.float64(p + q + 2)
                    if v <= most:
                        continue
                    most = v
            out[t] = most
    """
    c = np.array([[0.0, 3, -1], [2, 0, 0.5], [-4, 1, 1]])
    x = np.array([1.0, -1.0, 0.25])
    found = gradients(tmp_path, text, 3, {"c": c.copy(), "x": x, "out": np.zeros(3)}, out=[1, 10, 100])
    d = np.where(c == 0, np.nan, c * (np.arange(3)[:, None] + np.arange(3) + 2))
    best = [np.nanargmax(d * one) for one in x]
    assert best == [1, 6, 1]
    assert found["x"] == near(d.reshape(-1)[best] * [1, 10, 100])
    assert found["c"] == near([[0, 3 * (1 + 25), 0], [0, 0, 0], [-40, 0, 0]])


@pytest.mark.parametrize("update", ["m[0, 0] = m[0, 0] + x[i]", "m[0, 0] += x[i]"])
def test_1697_a_component_added_to_over_launches(tmp_path: Path, update: str) -> None:
    text = f"""
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), s: kb.array(dtype=kb.float64), n: int):
            m = kb.mat22d()
            m[1, 0] = s[0]
            for i in range(n):
                {update}
                m[1, 0] = m[1, 0] * m[0, 0]
            s[0] = m[1, 0]
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    x, s = np.array([1.1, 0.3, -0.2]), np.array([2.0])
    launches = [Launched(kernel, (1,), [x, s, 3]) for _ in range(4)]
    forward(launches)
    adjoints = {id(x): np.zeros(3), id(s): np.ones(1)}
    backward(launches, adjoint, adjoints, np.random.default_rng(0))
    parts = np.cumsum([1.1, 0.3, -0.2])
    gain = parts.prod()
    assert adjoints[id(s)] == near([gain**4])
    by_gain = 2.0 * 4 * gain**3
    assert adjoints[id(x)] == near([by_gain * sum(gain / parts[j] for j in range(i, 3)) for i in range(3)])


def test_1293_nested_loops_over_chains_of_rotations(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(q: kb.array(dtype=kb.float64), start: kb.array(dtype=int), tip: kb.array(dtype=kb.vec3d)):
            t = kb.tid()
            turn = kb.quat_identity(kb.float64)
            place = kb.vec3d()
            for i in range(start[t], start[t + 1]):
                for j in range(i, i + 1):
                    half = q[j] * 0.5
                    turn = turn * kb.quatd(0.0, 0.0, kb.sin(half), kb.cos(half))
                place = place + kb.quat_rotate(turn, kb.vec3d(1.0, 0.0, 0.0))
            tip[t] = place
    """
    q = np.array([0.3, -0.7, 1.1, 0.2, 0.9])
    arguments = {"q": q.copy(), "start": np.array([0, 3, 5], np.int32), "tip": np.zeros((2, 3))}
    found = gradients(tmp_path, text, 2, arguments, tip=[[1, 10, 0], [2, 3, 0]])
    expected = []
    for first, last, (a, b) in ((0, 3, (1, 10)), (3, 5, (2, 3))):
        angles = np.cumsum(q[first:last])
        slopes = -a * np.sin(angles) + b * np.cos(angles)
        expected += [slopes[i:].sum() for i in range(last - first)]
    assert found["q"] == near(expected)


def test_248_components_of_elements_assigned(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), y: kb.array(dtype=kb.vec3d)):
            t = kb.tid()
            y[t].x = x[t] * 2.0
            y[t].y = x[t] * 3.0
            y[t].z = x[t] * 4.0
    """
    found = gradients(tmp_path, text, 3, {"x": np.ones(3), "y": np.zeros((3, 3))}, y=1)
    assert found["x"] == near([9, 9, 9])
    assert found["y"] == near(np.zeros((3, 3)))


def test_202_a_variable_that_starts_as_another(tmp_path: Path) -> None:
    text = """
        @kb.func
        def power(a: kb.float64):
            b = a
            if b > 0.0:
                b = a * a
            else:
                b = a * a * a
            return b

        @kb.kernel
        def k(a: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            first = a[t]
            second = first
            out[t] = power(second)
    """
    found = gradients(tmp_path, text, 3, {"a": np.array([-1.0, 2, 3]), "out": np.zeros(3)}, out=1)
    assert found["a"] == near([3, 4, 6])


def test_1350_arrays_that_later_launches_overwrite(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def square(x: kb.array(dtype=kb.float64), y: kb.array(dtype=kb.float64)):
            i = kb.tid()
            y[i] = x[i] * x[i]
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    x, y = np.array([3.0, -2.0]), np.zeros(2)
    launches = [Launched(kernel, (2,), [x, y]), Launched(kernel, (2,), [y, x])]
    forward(launches)
    adjoints = {id(x): np.ones(2), id(y): np.zeros(2)}
    backward(launches, adjoint, adjoints, np.random.default_rng(0))
    assert adjoints[id(x)] == near([4 * 27, 4 * -8])
    assert adjoints[id(y)] == near([0, 0])


@pytest.mark.parametrize(
    "statement",
    [
        "kb.atomic_cas(a, 0, x[t], x[t] * 2.0)",
        "kb.atomic_exch(a, 0, x[t])",
        "x[t] = kb.atomic_add(a, 0, x[t])",
        "kb.atomic_min(a, 0, x[t])\n            kb.atomic_add(a, 1, x[t])",
    ],
)
def test_790_what_depends_on_the_order_of_threads_is_refused(tmp_path: Path, statement: str) -> None:
    text = f"""
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64), x: kb.array(dtype=kb.float64)):
            t = kb.tid()
            {statement}
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    with pytest.raises(Undifferentiable) as refused:
        adjoint(kernel)
    assert refused.value.span is not None
