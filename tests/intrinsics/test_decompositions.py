"""Decompositions against numpy.linalg, on random and on awkward matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbuild.errors import CompileError
from tests.helpers.both_ways import BothWays

TEXT = {
    "svd3": """
        @kb.kernel
        def one(a: kb.array(dtype=MAT), u: kb.array(dtype=MAT), s: kb.array(dtype=VEC), v: kb.array(dtype=MAT)):
            i = kb.tid()
            u[i], s[i], v[i] = kb.svd3(a[i])
    """,
    "eig3": """
        @kb.kernel
        def one(a: kb.array(dtype=MAT), q: kb.array(dtype=MAT), d: kb.array(dtype=VEC)):
            i = kb.tid()
            x = MAT()
            y = VEC()
            kb.eig3(a[i], x, y)
            q[i] = x
            d[i] = y
    """,
    "qr3": """
        @kb.kernel
        def one(a: kb.array(dtype=MAT), q: kb.array(dtype=MAT), r: kb.array(dtype=MAT)):
            i = kb.tid()
            q[i], r[i] = kb.qr3(a[i])
    """,
}
TEXT["svd2"] = TEXT["svd3"].replace("svd3", "svd2")
KINDS = {"f": np.float32, "d": np.float64}
_made: dict[tuple[str, str], BothWays] = {}


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    for name, text in TEXT.items():
        for suffix in KINDS:
            size = name[-1]
            typed = text.replace("MAT", f"kb.mat{size}{size}{suffix}").replace("VEC", f"kb.vec{size}{suffix}")
            _made[name, suffix] = BothWays(tmp_path_factory.mktemp(name), typed)


def run(name: str, suffix: str, matrix: np.ndarray, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """The results for one matrix, in double precision."""
    kind = KINDS[suffix]
    outs = [np.zeros((1, *shape), kind) for shape in shapes]
    _made[name, suffix](1, matrix.astype(kind)[None], *outs)
    return [out[0].astype(np.float64) for out in outs]


def rotation_error(q: np.ndarray) -> float:
    return max(np.abs(q.T @ q - np.eye(len(q))).max(), abs(np.linalg.det(q) - 1.0))


elements = st.floats(-10.0, 10.0, width=16)
matrices3 = st.lists(elements, min_size=9, max_size=9).map(lambda items: np.array(items).reshape(3, 3))
matrices2 = st.lists(elements, min_size=4, max_size=4).map(lambda items: np.array(items).reshape(2, 2))
EPSILON = {"f": 3e-6, "d": 1e-14}
SUFFIX = st.sampled_from(["f", "d"])
RANK_ONE = np.outer([1.0, 2.0, 3.0], [3.0, 0.0, -1.0])


def check_svd(name: str, suffix: str, a: np.ndarray) -> None:
    n = len(a)
    u, s, v = run(name, suffix, a, (n, n), (n,), (n, n))
    bound = EPSILON[suffix] * max(1.0, np.abs(a).max())
    assert rotation_error(u) < EPSILON[suffix]
    assert rotation_error(v) < EPSILON[suffix]
    assert np.abs(u @ np.diag(s) @ v.T - a).max() < bound
    assert np.abs(np.abs(s) - np.linalg.svd(a)[1]).max() < bound
    assert (s[:-1] >= 0.0).all()
    assert (np.diff(np.abs(s)) <= bound).all()
    if abs(np.linalg.det(a)) > 1e-3:
        assert np.sign(s[-1]) == np.sign(np.linalg.det(a))


@settings(max_examples=40, deadline=None)
@given(SUFFIX, matrices3)
@example("f", np.zeros((3, 3)))
@example("d", np.eye(3))
@example("d", -np.eye(3))
@example("d", RANK_ONE)
@example("f", RANK_ONE)
@example("f", np.diag([1.0, -2.0, 3.0]))
@example("d", np.ones((3, 3)))
@example("f", np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
def test_svd3(suffix: str, a: np.ndarray) -> None:
    check_svd("svd3", suffix, a)


@settings(max_examples=25, deadline=None)
@given(SUFFIX, matrices2)
@example("f", np.zeros((2, 2)))
@example("d", np.ones((2, 2)))
@example("d", np.array([[0.0, 1.0], [1.0, 0.0]]))
def test_svd2(suffix: str, a: np.ndarray) -> None:
    check_svd("svd2", suffix, a)


@pytest.mark.parametrize("factor", [1e-25, 1e25])
def test_singular_values_of_any_size(factor: float) -> None:
    a = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 2.0], [2.0, 0.5, 1.0]])
    u, s, v = run("svd3", "f", a * factor, (3, 3), (3,), (3, 3))
    assert np.abs(u @ np.diag(s / factor) @ v.T - a).max() < 1e-5


@settings(max_examples=40, deadline=None)
@given(SUFFIX, matrices3)
@example("f", np.zeros((3, 3)))
@example("d", np.eye(3))
@example("d", np.ones((3, 3)))
@example("f", np.diag([1.0, 5.0, -3.0]))
def test_eig3(suffix: str, m: np.ndarray) -> None:
    a = (m + m.T).astype(np.float32).astype(np.float64)
    q, d = run("eig3", suffix, a, (3, 3), (3,))
    bound = EPSILON[suffix] * max(1.0, np.abs(a).max())
    assert rotation_error(q) < EPSILON[suffix]
    assert np.abs(q @ np.diag(d) @ q.T - a).max() < bound
    assert np.abs(np.sort(d) - np.linalg.eigvalsh(a)).max() < bound


@settings(max_examples=40, deadline=None)
@given(SUFFIX, matrices3)
@example("f", np.zeros((3, 3)))
@example("d", -np.eye(3))
@example("d", RANK_ONE)
def test_qr3(suffix: str, a: np.ndarray) -> None:
    q, r = run("qr3", suffix, a, (3, 3), (3, 3))
    assert rotation_error(q) < EPSILON[suffix]
    assert np.abs(q @ r - a).max() < EPSILON[suffix] * max(1.0, np.abs(a).max())
    assert np.abs(np.tril(r, -1)).max() == 0.0
    assert (np.diag(r)[:2] >= 0.0).all()


def test_results_need_variables(tmp_path: Path) -> None:
    text = """
    @kb.kernel
    def one(a: kb.array(dtype=kb.mat33), d: kb.array(dtype=kb.vec3)):
        x = kb.mat33()
        kb.eig3(a[0], x, d[0])
    """
    with pytest.raises(CompileError) as caught:
        BothWays(tmp_path, text)
    assert "KB171" in caught.value.diagnostics[0].render()
