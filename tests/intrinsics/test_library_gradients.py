"""Gradients that library functions bring along: against differences at random places, and in closed form where a
difference says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbuild.ir.nodes import Function
from tests.helpers.calling import call, function_of

# What is called, the function that has the gradient, and the shapes of its arguments.
CALLS: dict[str, tuple[str, str, tuple[tuple[int, ...], ...]]] = {
    **{f"length{n}": ("kb.length(a)", "length", ((n,),)) for n in (2, 3, 4)},
    "normalize": ("kb.normalize(a)[0]", "normalize", ((3,),)),
    **{f"inverse{n}": ("kb.inverse(a)[0, 0]", f"inverse{n}", ((n, n),)) for n in (2, 3, 4)},
    "dot": ("kb.dot(a, b)", "dot", ((5,), (5,))),
    "transpose": ("kb.transpose(a)[0, 0]", "transpose", ((2, 3),)),
    "matvec": ("(a @ b)[0]", "matvec", ((2, 3), (3,))),
    "vecmat": ("(a @ b)[0]", "vecmat", ((2,), (2, 3))),
    "matmul": ("(a @ b)[0, 0]", "matmul", ((2, 3), (3, 4))),
    "ddot": ("kb.ddot(a, b)", "ddot", ((3, 3), (3, 3))),
    "trace": ("kb.trace(a)", "trace", ((3, 3),)),
    "get_diag": ("kb.get_diag(a)[0]", "get_diag", ((3, 3),)),
    "eig3": ("eigenvalues(a)", "eig3", ((3, 3),)),
    "svd2": ("singular2(a)", "svd2", ((2, 2),)),
    "svd3": ("singular3(a)", "svd3", ((3, 3),)),
    "qr3": ("triangle(a)", "qr3", ((3, 3),)),
    "quat_part": ("kb.quat_slerp(kb.TYPE(0.0, 0.0, 0.0, 1.0), a, b)[0]", "quat_part", ((4,), ())),
}
HELPERS = """
from typing import Any

@kb.func
def eigenvalues(a: Any):
    q, d = kb.eig3(a)
    return d[0]

@kb.func
def singular2(a: Any):
    u, s, v = kb.svd2(a)
    return s[0]

@kb.func
def singular3(a: Any):
    u, s, v = kb.svd3(a)
    return s[0]

@kb.func
def triangle(a: Any):
    q, r = kb.qr3(a)
    return r[0, 0]
"""
_made: dict[tuple[str, str], Function] = {}


def made(name: str, suffix: str, folder: Path) -> Function:
    """The library function at float64 (`d`) or float32 (``)."""
    if (name, suffix) not in _made:
        value, function, shapes = CALLS[name]
        types = [_type(shape, suffix, is_quaternion=name == "quat_part") for shape in shapes]
        parameters = ", ".join(f"{letter}: kb.{type}" for letter, type in zip("ab", types, strict=False))
        text = value.replace("TYPE", types[0])
        number = "kb.float64" if suffix else "float"
        kernel = f"@kb.kernel\ndef one(out: kb.array(dtype={number}), {parameters}):\n    out[0] = {text}\n"
        _made[name, suffix] = function_of(folder, HELPERS + kernel, function)
    return _made[name, suffix]


def _type(shape: tuple[int, ...], suffix: str, *, is_quaternion: bool) -> str:
    if len(shape) == 0:
        return "float64" if suffix else "float32"
    if is_quaternion:
        return f"quat{suffix}"
    dtype = "kb.float64" if suffix else "kb.float32"
    return f"types.matrix({shape}, {dtype})" if len(shape) == 2 else f"types.vector({shape[0]}, {dtype})"


def slopes(function: Function, arguments: list[np.ndarray], directions: list[np.ndarray], g: list[np.ndarray]) -> Any:
    """Central differences of the results along directions, weighted with their adjoints."""
    step = 1e-6
    ahead = call(function, *(a + step * d for a, d in zip(arguments, directions, strict=True)))
    behind = call(function, *(a - step * d for a, d in zip(arguments, directions, strict=True)))
    return sum(_dot(a - b, w) for a, b, w in zip(ahead, behind, g, strict=True)) / (2 * step)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray((a * b).reshape(len(a), -1).sum(1))


def check(
    name: str, folder: Path, arguments: list[np.ndarray], tolerance: float = 2e-8, suffix: str = "d", at_most: float = 1
) -> None:
    """The gradient at these arguments is the slope, along random directions and for random adjoints.

    With `at_most`, that share of the arguments is held to the tolerance: some lie where the slope changes fast.
    """
    source = np.random.default_rng(7)
    exact, function = made(name, "d", folder), made(name, suffix, folder)
    results = call(exact, *arguments)
    g = [source.normal(size=one.shape) for one in results]
    found = call(function.gradient, *arguments, *g)
    for _ in range(3):
        directions = [source.normal(size=one.shape) for one in arguments]
        wanted = slopes(exact, arguments, directions, g)
        along = sum(_dot(a.astype(np.float64), d) for a, d in zip(found, directions, strict=True))
        error = np.abs(along - wanted) / (1.0 + np.abs(wanted))
        assert np.quantile(error, at_most) < tolerance


def random_arguments(name: str, count: int = 200) -> list[np.ndarray]:
    source = np.random.default_rng(sum(map(ord, name)))
    found = [source.normal(size=(count, *shape)) for shape in CALLS[name][2]]
    if name.startswith("inverse"):
        found = [one + 5.0 * np.eye(one.shape[1]) for one in found]
    if name == "eig3":
        found = [one + one.transpose(0, 2, 1) for one in found]
    return found


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_slopes(name: str, tmp_path: Path) -> None:
    check(name, tmp_path, random_arguments(name), 2e-6)
    check(name, tmp_path, random_arguments(name), 1e-8, at_most=0.9)


@pytest.mark.parametrize("name", CALLS)
def test_gradients_in_single_precision(name: str, tmp_path: Path) -> None:
    check(name, tmp_path, random_arguments(name), 2e-4, suffix="", at_most=0.9)


def test_lengths_and_directions_of_zero_have_no_gradient(tmp_path: Path) -> None:
    zero = np.zeros((1, 3))
    (found,) = call(made("length3", "d", tmp_path).gradient, zero, [2.0])
    assert found.tolist() == [[0.0, 0.0, 0.0]]
    (found,) = call(made("normalize", "d", tmp_path).gradient, zero, [[1.0, 2.0, 3.0]])
    assert found.tolist() == [[0.0, 0.0, 0.0]]
    (found,) = call(made("length3", "d", tmp_path).gradient, [[3.0, 0.0, 4.0]], [5.0])
    assert found.tolist() == [[3.0, 0.0, 4.0]]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_singular_matrix_has_no_gradient(size: int, tmp_path: Path) -> None:
    (found,) = call(made(f"inverse{size}", "d", tmp_path).gradient, np.ones((1, size, size)), np.ones((1, size, size)))
    assert not found.any()


def rotations(count: int) -> np.ndarray:
    q, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(count, 3, 3)))
    return np.asarray(q * np.sign(np.linalg.det(q))[:, None, None])


@pytest.mark.parametrize("sizes", [(1.0, 1.0, 1.0), (2.0, 2.0, 0.5), (2.0, 0.5, 0.5), (1.0, 0.0, 0.0)])
@pytest.mark.parametrize("suffix", ["d", ""])
def test_the_rotation_of_a_matrix_with_equal_singular_values(
    sizes: tuple[float, ...], suffix: str, tmp_path: Path
) -> None:
    """U · Vᵀ of A = R · S changes with A by R · Ω, where Ω · S + S · Ω = Rᵀ · dA - dAᵀ · R."""
    turns, others = rotations(20), rotations(40)[20:]
    stretch = others @ np.diag(sizes) @ others.transpose(0, 2, 1)
    a, g = turns @ stretch, np.random.default_rng(5).normal(size=(20, 3, 3))
    function = made("svd3", suffix, tmp_path)
    u, _, v = (one.astype(np.float64) for one in call(function, a))
    (found,) = call(function.gradient, a, g @ v, np.zeros((20, 3)), g.transpose(0, 2, 1) @ u)
    r = u @ v.transpose(0, 2, 1)
    for number in range(20):
        wanted = np.zeros((3, 3))
        basis, s = others[number], np.array(sizes)
        right = np.einsum("ki,kj->ij", r[number], g[number])
        right = basis.T @ (right - right.T) @ basis
        sums = s[:, None] + s[None, :]
        omega = np.divide(right, sums, out=np.zeros((3, 3)), where=sums > 1e-6)
        wanted = r[number] @ basis @ omega @ basis.T
        if sizes[1] > 0.0:  # else R is not determined
            np.testing.assert_allclose(found[number], wanted, atol=1e-4 if suffix == "" else 1e-9)
    assert np.isfinite(found).all()


def test_equal_eigenvalues_give_the_gradient_of_the_eigenvalues_alone(tmp_path: Path) -> None:
    function = made("eig3", "d", tmp_path)
    a = np.array([np.diag([2.0, 2.0, 1.0]), np.eye(3), np.zeros((3, 3))])
    (found,) = call(function.gradient, a, np.ones((3, 3, 3)), [[1.0, 1.0, 1.0]] * 3)
    np.testing.assert_allclose(np.triu(found[0])[:2, :2], np.eye(2), atol=1e-12)
    np.testing.assert_allclose(found[1:], [np.eye(3)] * 2, atol=1e-12)


def test_the_last_column_of_a_singular_matrix_has_its_gradient(tmp_path: Path) -> None:
    source = np.random.default_rng(11)
    a = source.normal(size=(50, 3, 3))
    a[:, :, 2] = a[:, :, 0] - 2.0 * a[:, :, 1]
    check("qr3", tmp_path, [a], 1e-6)


def test_nothing_flows_where_a_basis_is_not_determined(tmp_path: Path) -> None:
    for name in ("qr3", "svd3"):
        function = made(name, "d", tmp_path)
        shapes = [one.shape for one in call(function, np.zeros((1, 3, 3)))]
        (found,) = call(function.gradient, np.zeros((1, 3, 3)), *map(np.ones, shapes))
        assert np.isfinite(found).all()


@pytest.mark.parametrize("size", [1e-8, 1e-3, 0.02, 0.04, 1.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_parts_of_small_rotations(size: float, sign: float, tmp_path: Path) -> None:
    """Also where the formula changes into its limit, and for either of the two quaternions of a rotation."""
    source = np.random.default_rng(13)
    q = np.concatenate([size * source.normal(size=(50, 3)), np.ones((50, 1))], axis=1) * sign
    check("quat_part", tmp_path, [q * source.uniform(0.5, 2.0, (50, 1)), source.uniform(-1.0, 2.0, 50)], 1e-6)


def test_a_part_of_no_rotation(tmp_path: Path) -> None:
    q = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0]]
    g = [[1.0, 2.0, 3.0, 4.0]] * 3
    adj_q, adj_t = call(made("quat_part", "d", tmp_path).gradient, q, [0.25] * 3, g)
    assert adj_q.tolist() == [[0.25, 0.5, 0.75, 0.0], [-0.25, -0.5, -0.75, 0.0], [0.0] * 4]
    assert adj_t.tolist() == [0.0, 0.0, 0.0]


def test_integers_have_none(tmp_path: Path) -> None:
    text = "@kb.kernel\ndef one(a: kb.vec3i, out: kb.array(dtype=int)):\n    out[0] = kb.dot(a, a)\n"
    assert function_of(tmp_path, text, "dot").gradient is None
