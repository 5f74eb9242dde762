"""Small kernels of the kinds that people differentiate, with gradients derived by hand.

The numbers of words that they save are in `test_saved.py`; what others have reported as wrong is in
`test_reported_gradients.py`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.autodiff import Undifferentiable
from tests.helpers.gradients import gradients


def near(values: object) -> object:
    return pytest.approx(np.asarray(values), rel=1e-12, abs=1e-12)


def test_a_product_in_a_loop(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), n: int):
            s = kb.float64(1.0)
            for i in range(n):
                s *= x[i]
            kb.atomic_add(out, 0, s)
    """
    found = gradients(tmp_path, text, 1, {"x": np.array([2.0, 2, 2]), "out": np.zeros(1), "n": 3}, out=1)
    assert found["x"] == near([4, 4, 4])
    assert found["out"] == near([1])


def test_a_sum_and_a_norm(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), n: int):
            s = kb.float64(0.0)
            for i in range(n):
                s += x[i] * x[i]
            out[0] = kb.sqrt(s)
    """
    found = gradients(tmp_path, text, 1, {"x": np.array([3.0, 4]), "out": np.zeros(1), "n": 2}, out=1)
    assert found["x"] == near([0.6, 0.8])
    assert found["out"] == near([0])


@pytest.mark.parametrize(
    ("update", "by_a", "by_b"),
    [
        ("a[i] *= b[i]", lambda a, b: b, lambda a, b: a),
        ("a[i] /= b[i]", lambda a, b: 1 / b, lambda a, b: -a / b**2),
        ("a[i] = a[i] * a[i] * b[i]", lambda a, b: 2 * a * b, lambda a, b: a * a),
        ("a[i] += b[i] * b[i]", lambda a, b: 1 + 0 * a, lambda a, b: 2 * b),
        ("a[i] -= b[i] * b[i]", lambda a, b: 1 + 0 * a, lambda a, b: -2 * b),
        ("a[i] = b[i]", lambda a, b: 0 * a, lambda a, b: 1 + 0 * b),
    ],
)
def test_elements_updated_in_place(tmp_path: Path, update: str, by_a: object, by_b: object) -> None:
    text = f"""
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64), b: kb.array(dtype=kb.float64)):
            i = kb.tid()
            {update}
    """
    a, b = np.array([2.0, -3, 0.5]), np.array([4.0, 5, -6])
    found = gradients(tmp_path, text, 3, {"a": a.copy(), "b": b.copy()}, a=[1, 10, 100])
    weights = np.array([1, 10, 100])
    assert found["a"] == near(weights * by_a(a, b))  # type: ignore[operator]
    assert found["b"] == near(weights * by_b(a, b))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("op", "by_a", "by_b"),
    [("*=", 105.0, [70.0, 42.0, 30.0]), ("/=", 1 / 105, [-2 / 315, -2 / 525, -2 / 735])],
)
def test_one_element_updated_in_a_loop(tmp_path: Path, op: str, by_a: float, by_b: list[float]) -> None:
    text = f"""
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64), b: kb.array(dtype=kb.float64), n: int):
            for i in range(n):
                a[0] {op} b[i]
    """
    found = gradients(tmp_path, text, 1, {"a": np.array([2.0]), "b": np.array([3.0, 5, 7]), "n": 3}, a=1)
    assert found["a"] == near([by_a])
    assert found["b"] == near(by_b)


POINTS = np.random.default_rng(3).uniform(-1, 1, (6, 3))
WEIGHTS = np.array([1.0, -2, 0.5, 3, 1, -1])


def test_a_sum_over_neighbours(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.vec3d), out: kb.array(dtype=kb.float64), n: int):
            i = kb.tid()
            xi = x[i]
            total = kb.float64(0.0)
            for j in range(n):
                r = xi - x[j]
                total += kb.exp(-kb.dot(r, r))
            out[i] = total
    """
    found = gradients(tmp_path, text, 6, {"x": POINTS.copy(), "out": np.zeros(6), "n": 6}, out=WEIGHTS)
    r = POINTS[:, None] - POINTS[None]
    slope = -2 * np.exp(-(r**2).sum(-1)) * (WEIGHTS[:, None] + WEIGHTS[None])
    assert found["x"] == near((slope[..., None] * r).sum(1))


def test_a_sum_over_neighbours_with_cutoff_and_continue(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.vec3d), out: kb.array(dtype=kb.float64), n: int, h: kb.float64):
            i = kb.tid()
            total = kb.float64(0.0)
            for j in range(n):
                if i == j:
                    continue
                r = x[i] - x[j]
                square = kb.dot(r, r)
                if square >= h * h:
                    continue
                w = h * h - square
                total += w * w * w
            out[i] = total
    """
    arguments = {"x": POINTS.copy(), "out": np.zeros(6), "n": 6, "h": 1.2}
    found = gradients(tmp_path, text, 6, arguments, out=WEIGHTS)
    r = POINTS[:, None] - POINTS[None]
    square = (r**2).sum(-1)
    slope = np.where(square < 1.44, -6 * (1.44 - square) ** 2, 0) * (WEIGHTS[:, None] + WEIGHTS[None])
    assert 6 < (square < 1.44).sum() < 36
    assert found["x"] == near((slope[..., None] * r).sum(1))


def test_newtons_method_with_break(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            x = kb.float64(1.0)
            fuel = int(0)
            while fuel < 60:
                fuel += 1
                if kb.abs(x * x - a[t]) < 1.0e-13 * a[t]:
                    break
                x = 0.5 * (x + a[t] / x)
            out[t] = x
    """
    a = np.array([2.0, 9, 0.25, 1.0, 1e4])
    found = gradients(tmp_path, text, 5, {"a": a.copy(), "out": np.zeros(5)}, out=1)
    expected = 0.5 / np.sqrt(a)
    expected[3] = 0  # where nothing was to do
    assert found["a"] == pytest.approx(expected, rel=1e-6)


def test_substeps_of_a_differential_equation(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(y: kb.array(dtype=kb.float64), c: kb.array(dtype=kb.float64), dt: kb.float64, n: int):
            t = kb.tid()
            now = y[t]
            for i in range(n):
                speed = kb.sin(now) - c[0] * now * now
                now = now + dt * speed
            y[t] = now
    """
    start, c, dt, n = np.array([0.3, -0.8, 1.7]), 0.4, 0.1, 12
    found = gradients(tmp_path, text, 3, {"y": start.copy(), "c": np.array([c]), "dt": dt, "n": n}, y=[1, 2, 3])
    now, by_start, by_c = start.copy(), np.ones(3), np.zeros(3)
    for _ in range(n):
        slope = 1 + dt * (np.cos(now) - 2 * c * now)
        by_start, by_c = slope * by_start, slope * by_c - dt * now**2
        now = now + dt * (np.sin(now) - c * now**2)
    assert found["y"] == near(by_start * [1, 2, 3])
    assert found["c"] == near([(by_c * [1, 2, 3]).sum()])


def test_a_dense_layer(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(w: kb.array2d(dtype=kb.float64), h: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            i = kb.tid()
            total = kb.float64(0.0)
            for j in range(h.shape[0]):
                total += w[i, j] * h[j]
            out[i] = kb.tanh(total)
    """
    source = np.random.default_rng(1)
    w, h, weights = source.uniform(-1, 1, (4, 5)), source.uniform(-1, 1, 5), np.array([1.0, 2, 3, 4])
    found = gradients(tmp_path, text, 4, {"w": w.copy(), "h": h.copy(), "out": np.zeros(4)}, out=weights)
    inner = weights * (1 - np.tanh(w @ h) ** 2)
    assert found["w"] == near(np.outer(inner, h))
    assert found["h"] == near(w.T @ inner)


def test_a_ray_marched_to_a_sphere(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(o: kb.array(dtype=kb.vec3d), r: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            way = kb.float64(0.0)
            hit = False
            fuel = int(0)
            while fuel < 100 and not hit:
                fuel += 1
                distance = kb.length(o[t] + kb.vec3d(way, 0.0, 0.0)) - r[0]
                if distance < 1.0e-14:
                    hit = True
                    continue
                way += distance
                if way > 50.0:
                    break
            out[t] = way
    """
    o = np.array([[-5.0, 0, 0], [-5, 0.6, 0], [-4, 0.3, -0.4]])
    found = gradients(tmp_path, text, 3, {"o": o.copy(), "r": np.array([1.0]), "out": np.zeros(3)}, out=1)
    height = np.sqrt((o[:, 1:] ** 2).sum(1))
    root = np.sqrt(1 - height**2)  # the way is -o.x - root
    assert found["o"] == pytest.approx(np.c_[-np.ones(3), o[:, 1:] / root[:, None]], rel=1e-6, abs=1e-6)
    assert found["r"] == pytest.approx([-(1 / root).sum()], rel=1e-6)


def test_the_winner_of_an_atomic_gets_the_adjoint(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), low: kb.array(dtype=kb.float64), high: kb.array(dtype=kb.float64)):
            t = kb.tid()
            kb.atomic_min(low, t % 2, x[t] * x[t])
            kb.atomic_max(high, 0, x[t] * 2.0)
    """
    x = np.array([3.0, -5, -2, 4, 6, 0.5])
    arguments = {"x": x.copy(), "low": np.array([100.0, 0.1]), "high": np.array([-100.0])}
    found = gradients(tmp_path, text, 6, arguments, low=[1, 10], high=[100])
    assert found["x"] == near([0, 0, -4, 0, 200, 0])
    assert found["low"] == near([0, 10])  # what was there has won
    assert found["high"] == near([0])


def test_the_adjoint_of_a_tie_goes_to_one_of_them(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), most: kb.array(dtype=kb.float64)):
            kb.atomic_max(most, 0, x[kb.tid()])
    """
    found = gradients(tmp_path, text, 5, {"x": np.array([1.0, 7, 7, 2, 7]), "most": np.zeros(1)}, most=2)
    assert sorted(found["x"]) == [0, 0, 0, 0, 2]


def test_early_return(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), n: int):
            t = kb.tid()
            if t >= n:
                return
            total = kb.float64(1.0)
            for i in range(5):
                total *= x[t]
                if total > 20.0:
                    out[t] = total
                    return
            out[t] = -total
    """
    x = np.array([1.5, 3.0, 10.0, 7.0])
    found = gradients(tmp_path, text, 4, {"x": x.copy(), "out": np.ones(4), "n": 3}, out=1)
    assert found["x"] == near([-5 * 1.5**4, 3 * 9, 20, 0])
    assert found["out"] == near([0, 0, 0, 1])


def test_nested_loops_with_counts_from_outside(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), n: kb.array(dtype=int), out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            total = kb.float64(0.0)
            for i in range(n[t]):
                product = kb.float64(1.0)
                for j in range(i, -1, -1):
                    product *= x[j]
                total += product
            out[t] = total
    """
    x = np.array([2.0, 3, 5])
    found = gradients(tmp_path, text, 3, {"x": x, "n": np.array([3, 0, 2], np.int32), "out": np.zeros(3)}, out=1)
    # x0 + x0 x1 + x0 x1 x2, nothing, and x0 + x0 x1
    assert found["x"] == near([1 + 3 + 15 + 1 + 3, 2 + 10 + 2, 6])


def test_places_that_an_integer_array_says_and_that_change(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=int), x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            i = int(0)
            for step in range(3):
                out[0] = out[0] * x[a[i]]
                a[a[i]] = 2 - a[i]
                i = a[i]
    """
    # a = [1, 2, 0]: x[1] and a[1] = 1 and i = 1; x[1] and a[1] = 1 and i = 1; x[1]
    arguments = {"a": np.array([1, 2, 0], np.int32), "x": np.array([3.0, 5, 7]), "out": np.array([2.0])}
    found = gradients(tmp_path, text, 1, arguments, out=1)
    assert found["x"] == near([0, 2 * 3 * 25, 0])
    assert found["out"] == near([125])


def test_an_element_that_its_own_index_says(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=int), x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            out[0] = out[0] * x[a[0]] * x[a[2]]
            a[a[0]] = 2
            out[0] = out[0] * x[a[0]] * x[a[1]]
    """
    arguments = {"a": np.array([0, 2, 1], np.int32), "x": np.array([3.0, 5, 7]), "out": np.array([0.5])}
    found = gradients(tmp_path, text, 1, arguments, out=1)  # out · x0 · x1 · x2 · x2
    assert found["x"] == near([0.5 * 5 * 49, 0.5 * 3 * 49, 0.5 * 15 * 2 * 7])
    assert found["out"] == near([15 * 49])


@pytest.mark.parametrize(("i", "j"), [(0, 1), (1, 1)])
def test_one_element_read_and_written_by_two_names(tmp_path: Path, i: int, j: int) -> None:
    text = """
        @kb.kernel
        def k(a: kb.array(dtype=kb.float64), i: int, j: int):
            a[i] = kb.sin(a[j])
            a[j] = a[i] * a[j]
    """
    a = np.array([0.3, 0.7])
    found = gradients(tmp_path, text, 1, {"a": a.copy(), "i": i, "j": j}, a=[1, 10])
    if i == j:
        assert found["a"] == near([1, 10 * 2 * np.sin(0.7) * np.cos(0.7)])
    else:
        assert found["a"] == near([0, np.cos(0.7) + 10 * (np.cos(0.7) * 0.7 + np.sin(0.7))])


def test_what_overflows_and_is_overwritten_has_no_part(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), n: int):
            a = x[0]
            for i in range(n):
                a = a * a
            a = x[0] * 3.0
            root = kb.sqrt(x[1] - x[1])
            out[0] = a if a < 100.0 else root
    """
    found = gradients(tmp_path, text, 1, {"x": np.array([3.0, 2.0]), "out": np.zeros(1), "n": 24}, out=1)
    assert found["x"].tolist() == [3, 0]


def test_components_of_vectors_and_fields_of_structs(tmp_path: Path) -> None:
    text = """
        @kb.struct
        class Body:
            mass: kb.float64
            number: int
            v: kb.vec3d

        @kb.kernel
        def k(x: kb.array(dtype=kb.vec3d), body: kb.array(dtype=Body)):
            t = kb.tid()
            b = body[t]
            b.v[t] = b.mass * x[t][2]
            b.mass = b.v.x * b.v.y
            b.number += 1
            body[t] = b
            body[t].v[2] *= b.mass
    """
    layout = {"names": ["mass", "number", "v"], "formats": ["<f8", "<i4", "(3,)f8"], "offsets": [0, 8, 16]}
    body = np.zeros(2, np.dtype({**layout, "itemsize": 40}))
    body["mass"], body["v"] = [2, 3], [[1, 5, 7], [4, 6, 8]]
    weights = np.zeros_like(body)
    weights["mass"], weights["v"] = 1, [[0, 0, 1], [0, 0, 1]]
    x = np.array([[1.0, 2, 3], [4, 5, 6]])
    found = gradients(tmp_path, text, 2, {"x": x, "body": body}, body=weights)
    # thread 0: mass m x y, last component z times it, x = m x[0].z; thread 1: y = m x[1].z
    m, z, y, xs = body["mass"], np.array([7.0, 8]), np.array([5.0, 0]), np.array([0, 4.0])
    other = np.where([True, False], y, xs)
    assert found["x"][:, 2] == near((1 + z) * [2, 3] * other)
    assert found["body"]["mass"] == near((1 + z) * x[:, 2] * other)
    product = np.array([2 * 3, 3 * 6]) * other
    assert found["body"]["v"] == near([[0, 8 * 6, product[0]], [9 * 18, 0, product[1]]])
    assert m.shape == (2,)


def test_a_struct_of_arrays(tmp_path: Path) -> None:
    text = """
        @kb.struct
        class Model:
            scale: kb.float64
            x: kb.array(dtype=kb.float64)
            links: kb.array(dtype=int)

        @kb.kernel
        def k(model: Model, out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            out[t] = model.scale * model.x[model.links[t]] * model.x[t]
    """
    model = {"scale": 2.0, "x": np.array([3.0, 5, 7]), "links": np.array([1, 2, 2], np.int32)}
    found = gradients(tmp_path, text, 3, {"model": model, "out": np.zeros(3)}, out=[1, 10, 100])
    assert found["model.x"] == near([2 * 5, 2 * 3 + 2 * 70, 100 + 2 * 1400])


def test_functions_with_effects_and_several_results(tmp_path: Path) -> None:
    text = """
        @kb.func
        def halved(a: kb.array(dtype=kb.float64), i: int):
            before = a[i]
            if before < 0.0:
                return before, kb.float64(3.0)
            a[i] = before * 0.5
            return a[i], before * before

        @kb.kernel
        def k(a: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            x, y = halved(a, t)
            x, y = halved(a, t)
            out[t] = x * y
    """
    a = np.array([8.0, -8.0])
    found = gradients(tmp_path, text, 2, {"a": a.copy(), "out": np.zeros(2)}, out=1, a=100)
    # a / 4 · (a / 2)² and a · 3
    assert found["a"] == near([3 * 64 / 16 + 25, 3 + 100])


def test_arrays_seen_through_index_arrays(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.indexedarray(dtype=kb.float64), y: kb.indexedarray2d(dtype=kb.float64)):
            t = kb.tid()
            y[t, 1] = x[t] * x[t] * y[t, 0]
    """
    x, y = np.array([2.0, 3, 5, 7]), np.arange(1.0, 9).reshape(4, 2)
    tables = np.array([3, 1], np.int32), np.array([2, 0], np.int32)
    arguments = {"x": (x, (tables[0],)), "y": (y.copy(), (tables[1], None))}
    found = gradients(tmp_path, text, 2, arguments, y=[[0, 1], [0, 2], [0, 3], [0, 4]])
    # y[2, 1] = x[3]² y[2, 0] and y[0, 1] = x[1]² y[0, 0]
    assert found["x"] == near([0, 2 * 3 * 1, 0, 3 * 2 * 7 * 5])
    assert found["y"] == near([[9, 0], [0, 2], [3 * 49, 0], [0, 4]])


def test_rows_under_other_names_and_arrays_in_functions(tmp_path: Path) -> None:
    text = """
        @kb.func
        def squares(a: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), n: int):
            for i in range(n):
                out[i] = out[i] * a[i] * a[-1]

        @kb.kernel
        def k(m: kb.array2d(dtype=kb.float64), out: kb.array2d(dtype=kb.float64)):
            t = kb.tid()
            row = m[t]
            own = out[t]
            squares(row, own, 2)
            squares(m[1 - t], own, 1)
            out[t][1] *= own[0]
    """
    m, out = np.array([[2.0, 3], [5, 7]]), np.array([[1.5, 2.5], [0.5, 4]])
    found = gradients(tmp_path, text, 2, {"m": m.copy(), "out": out.copy()}, out=[[1, 10], [100, 1000]])

    def loss(m: np.ndarray, out: np.ndarray) -> np.ndarray:
        first = out[:, 0] * m[:, 0] * m[:, 1] * (m[:, 0] * m[:, 1])[::-1]
        second = out[:, 1] * m[:, 1] ** 2 * first
        return (np.array([1, 100]) * first + np.array([10, 1000]) * second).sum()

    for name, at in (("m", m), ("out", out)):
        for index in np.ndindex(2, 2):
            moved = {"m": m.astype(complex), "out": out.astype(complex)}
            moved[name][index] += 1e-30j
            assert found[name][index] == pytest.approx(loss(**moved).imag / 1e-30, rel=1e-12), (name, index, at)


def test_conversions_between_types(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), y: kb.array(dtype=kb.float32), h: kb.array(dtype=kb.float16)):
            i = kb.tid()
            y[i] = kb.float32(x[i]) * kb.float32(h[i]) * float(int(x[i] * 2.0))
    """
    x, h = np.array([1.3, -2.6]), np.array([0.5, 4], np.float16)
    found = gradients(tmp_path, text, 2, {"x": x, "y": np.zeros(2, np.float32), "h": h}, y=[1, 2])
    assert found["x"] == pytest.approx([0.5 * 2, 4 * -5 * 2], rel=1e-6)
    assert found["h"] == pytest.approx([1.3 * 2, -2.6 * -5 * 2], rel=1e-3)


@pytest.mark.parametrize("bounds", ["0, 1", "5, 2", "2, 5", "5, 5", "3, -4, -1", "-4, 3, -1", "1, 9, 3", "9, 1, -3"])
@pytest.mark.parametrize("known", [True, False])
def test_ranges(tmp_path: Path, bounds: str, known: bool) -> None:
    start, stop, step = ([int(one) for one in bounds.split(",")] + [1])[:3]
    text = f"""
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), start: int, stop: int, step: int):
            s = kb.float64(2.0)
            for i in range({bounds if known else "start, stop, step"}):
                s = s * x[i + 4] + kb.float64(i)
            out[0] = s
    """
    x = np.linspace(0.5, 1.5, 14)
    arguments = {"x": x.copy(), "out": np.zeros(1), "start": start, "stop": stop, "step": step}
    found = gradients(tmp_path, text, 1, arguments, out=1)
    expected, s, trips = np.zeros(14), 2.0, [*range(start, stop, step)]
    for i in trips:
        expected *= x[i + 4]
        expected[i + 4] += s
        s = s * x[i + 4] + i
    assert found["x"] == near(expected)


def test_a_step_of_zero_is_no_trip(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), step: int):
            s = x[0]
            for i in range(0, 3, step):
                s *= x[1]
            out[0] = s * s
    """
    found = gradients(tmp_path, text, 1, {"x": np.array([3.0, 5]), "out": np.zeros(1), "step": 0}, out=1)
    assert found["x"] == near([6, 0])


def test_a_launch_of_two_coordinates_and_an_array_that_is_not_there(tmp_path: Path) -> None:
    text = """
        @kb.kernel
        def k(x: kb.array2d(dtype=kb.float64), w: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            i, j = kb.tid()
            value = x[i, j] * x[i, j]
            if w:
                value *= w[j]
            kb.atomic_add(out, i, value)
    """
    x = np.arange(1.0, 7).reshape(2, 3)
    for w in (None, np.array([2.0, 3, 5])):
        found = gradients(tmp_path, text, (2, 3), {"x": x.copy(), "w": w, "out": np.zeros(2)}, out=[1, 10])
        by_x = 2 * x * np.array([[1], [10]])
        assert found["x"] == near(by_x if w is None else by_x * w)
        if w is not None:
            assert found["w"] == near((x**2 * [[1], [10]]).sum(0))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint32", "int64", "uint64", "bool", "float16", "float32"])
def test_values_of_every_type_come_back_as_they_were(tmp_path: Path, kind: str) -> None:
    text = f"""
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), a: kb.array(dtype=kb.{kind if kind != "bool" else "bool_"}), n: int):
            value = a[0]
            s = x[0]
            for i in range(n):
                s = s * kb.float64(value) + x[i]
                value = a[i]
                a[i] = a[0]
            x[0] = s * kb.float64(value) * s
    """
    items = {"int8": [-128, 127, -3, 5], "uint8": [255, 200, 3, 0], "int16": [-32768, 32767, -3, 5]}
    items |= {"uint32": [2**32 - 1, 2**31, 3, 0], "int64": [-(2**53), 2**40 + 1, 3, 0]}
    items |= {"uint64": [2**52 + 1, 2**40 + 1, 3, 0], "bool": [1, 0, 1, 1]}
    a = np.array(items.get(kind, [-1.5, 0.375, 1.25, 7]), kind)
    x = np.array([2.0, 0.5, -3, 1.5])
    found = gradients(tmp_path, text, 1, {"x": x.copy(), "a": a.copy(), "n": 4}, x=[1, 0, 0, 0])

    factors, now = [a[0]], a.copy()
    for i in range(4):
        factors.append(now[i])
        now[i] = now[0]
    s, slopes = x[0], np.eye(4)[0]
    for i in range(4):
        s, slopes = s * float(factors[i]) + x[i], slopes * float(factors[i]) + np.eye(4)[i]
    assert found["x"] == near(2 * s * float(factors[4]) * slopes)


def test_several_results_that_go_round_a_loop(tmp_path: Path) -> None:
    text = """
        @kb.func
        def both(x: kb.float64, n: int):
            if n % 2 == 0:
                return x * x, n + 1, x
            return x, n + 3, x * 3.0

        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), n: int):
            a, m, b = both(x[0], 0)
            for i in range(n):
                a, m, b = both(a * b, m)
            out[0] = a * b * kb.float64(m)
    """
    found = gradients(tmp_path, text, 1, {"x": np.array([1.5]), "out": np.zeros(1), "n": 3}, out=1)
    # n: 1, 4, 5, 8; (x², x), (x³, 3 x³), (9 x¹², 3 x⁶), (27 x¹⁸, 81 x¹⁸)
    assert found["x"] == near([8 * 27 * 81 * 36 * 1.5**35])


def test_structs_of_arrays_in_functions(tmp_path: Path) -> None:
    text = """
        @kb.struct
        class Model:
            scale: kb.float64
            x: kb.array(dtype=kb.float64)
            next: kb.array(dtype=int)

        @kb.func
        def pushed(model: Model, i: int, by: kb.float64):
            mine = Model(model.scale * 2.0, model.x, model.next)
            mine.x[i] = model.x[i] * by
            return mine.scale * model.x[i]

        @kb.kernel
        def k(model: Model, out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            own = Model(1.0, model.x, model.next)
            own.scale = out[t]
            first = pushed(own, t, own.x[t])
            out[t] = first * pushed(model, t, own.scale)
    """
    x, scale, out = np.array([3.0, 5]), 0.5, np.array([2.0, 7])
    model = {"scale": scale, "x": x.copy(), "next": np.zeros(2, np.int32)}
    found = gradients(tmp_path, text, 2, {"model": model, "out": out.copy()}, out=[1, 10])
    # first = 2 o x², then x becomes x² o and the second is 2 scale x² o: 4 scale o² x⁴
    assert found["out"] == near(np.array([1, 10]) * 8 * scale * out * x**4)
    assert found["model.x"] == near(np.array([1, 10]) * 16 * scale * out**2 * x**3)


def test_conditions_of_loops_that_call_functions(tmp_path: Path) -> None:
    text = """
        @kb.func
        def halved(a: kb.array(dtype=kb.float64), i: int):
            a[i] = a[i] * 0.5
            return a[i]

        @kb.kernel
        def k(a: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
            t = kb.tid()
            s = kb.float64(1.0)
            while halved(a, t) > 1.0 and s < 1.0e6:
                s *= a[t]
            out[t] = s
    """
    a = np.array([10.0, 1.5, 5.0])
    found = gradients(tmp_path, text, 3, {"a": a.copy(), "out": np.zeros(3)}, out=1, a=[100, 100, 100])
    # (a/2 · a/4 · a/8, a/16), (1, a/2), (a/2 · a/4, a/8)
    assert found["a"] == near([3 * 100 / 64 + 100 / 16, 50, 2 * 5 / 8 + 100 / 8])


@pytest.mark.parametrize("where", ["v[c]", "a[c]"])
def test_integers_put_back_at_a_place_that_changes(tmp_path: Path, where: str) -> None:
    text = f"""
        @kb.kernel
        def k(x: kb.array(dtype=kb.float64), a: kb.array(dtype=int), n: int):
            v = kb.vec3i(1, 0, 2)
            c = int(0)
            s = kb.float64(1.0)
            for i in range(n):
                {where} = ({where} + i + 1) % 3
                c = (c + i + 1) % 3
                s = s * x[{where.replace("c", "0")}] + kb.float64({where.replace("c", "1")}) * s * s
            x[3] = s
    """
    x = np.array([0.5, -0.7, 1.2, 0])
    found = gradients(tmp_path, text, 1, {"x": x, "a": np.array([1, 0, 2], np.int32), "n": 5}, x=[0, 0, 0, 1])
    v, c, s, slopes = [1, 0, 2], 0, 1.0, np.zeros(4)
    x = np.array([0.5, -0.7, 1.2, 0])
    for i in range(5):
        v[c] = (v[c] + i + 1) % 3
        c = (c + i + 1) % 3
        slopes = slopes * (x[v[0]] + 2 * v[1] * s) + s * np.eye(4)[v[0]]
        s = s * x[v[0]] + v[1] * s * s
    assert found["x"] == near(slopes)


HOLDER = """
    @kb.struct
    class Holder:
        scale: kb.float64
        data: kb.array(dtype=kb.float64)

    @kb.func
    def made(scale: kb.float64, data: kb.array(dtype=kb.float64)):
        holder = Holder()
        holder.scale = 2.0 * scale
        {put}
        return holder

    @kb.kernel
    def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
        i = kb.tid()
        holder = made(x[0], x)
        out[i] = holder.scale * holder.data[i]
"""


def test_a_struct_that_gets_its_array_later(tmp_path: Path) -> None:
    text = HOLDER.format(put="holder.data = data")
    found = gradients(tmp_path, text, 2, {"x": np.array([3.0, 5]), "out": np.zeros(2)}, out=np.ones(2))
    assert found["x"] == near([2 * 3 + 2 * 3 + 2 * 5, 2 * 3])


def test_a_struct_that_may_stay_without_its_array(tmp_path: Path) -> None:
    text = HOLDER.format(put="if scale > 0.0:\n            holder.data = data")
    with pytest.raises(Undifferentiable, match="whose place among the kernel's arguments is not always the same"):
        gradients(tmp_path, text, 2, {"x": np.array([3.0, 5]), "out": np.zeros(2)}, out=np.ones(2))


GIVING = """
    @kb.struct
    class Holder:
        data: kb.array(dtype=kb.float64)

    @kb.func
    def same(data: kb.array(dtype=kb.float64)):
        return data

    @kb.func
    def held(data: kb.array(dtype=kb.float64)):
        return Holder(data)

    @kb.func
    def table(ids: kb.array(dtype=int)):
        return ids

    @kb.func
    def both(data: kb.array(dtype=kb.float64), ids: kb.array(dtype=int)):
        return ids, data

    @kb.kernel
    def k(x: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64), ids: kb.array(dtype=int)):
        i = kb.tid()
"""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("a = same(x)\nout[i] = a[i] * a[0]", [11, 3]),
        ("out[i] = same(x)[i] * x[0]", [11, 3]),
        ("h = held(x)\nout[i] = h.data[i] * h.data[0]", [11, 3]),
        ("out[i] = held(x).data[i]", [1, 1]),
        ("t = table(ids)\nout[i] = x[t[i]] * x[t[i]]", [0, 20]),
        ("out[i] = x[table(ids)[i]]", [0, 2]),
        ("t, a = both(x, ids)\nout[i] = a[t[i]] * a[0]", [10, 6]),
    ],
)
def test_arrays_that_functions_give(tmp_path: Path, body: str, wanted: list[float]) -> None:
    text = GIVING + "\n".join(f"        {line}" for line in body.splitlines())
    arguments = {"x": np.array([3.0, 5]), "out": np.zeros(2), "ids": np.array([1, 1], np.int32)}
    found = gradients(tmp_path, text, 2, arguments, out=np.ones(2))
    assert found["x"] == near(wanted)
