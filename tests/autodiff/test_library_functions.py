"""Functions of the library inside a differentiated kernel: at places where their own steps have no derivative."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.autodiff import Undifferentiable, adjoint
from kbuild.intrinsics.table import has_effects
from kbuild.ir.nodes import Kernel
from kbuild.ir.verify import verify
from kbuild.sim.blocks import over
from tests.helpers import kernels
from tests.helpers.accept import Accept, accept
from tests.helpers.lockstep import run_in_lockstep

__all__ = ["accept"]

TEXT = """
@kb.func
def scaled(x: kb.float64, by: kb.float64):
    return x * by

@kb.func_grad(scaled)
def adj_scaled(x: kb.float64, by: kb.float64, adj_ret: kb.float64):
    kb.adjoint[x] += 10.0 * by * adj_ret

@kb.kernel
def own(a: kb.array(dtype=kb.vec2d), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    out[i] = 2.0 * scaled(a[i][0], a[i][1])

@kb.func
def root(x: kb.float64):
    return kb.sqrt(x)

@kb.func_grad(root)
def adj_root(x: kb.float64, adj_ret: kb.float64):
    kb.adjoint[x] += adj_ret / (2.0 * kb.sqrt(x))

@kb.kernel
def root_kernel(a: kb.array(dtype=kb.vec2d), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    r = root(a[i][0])
    out[i] = r * a[i][1]

@kb.kernel
def length(a: kb.array(dtype=kb.vec3d), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    out[i] = kb.length(a[i]) + kb.norm_l2(a[i]) + kb.dot(kb.normalize(a[i]), kb.vec3d(1.0, 2.0, 3.0))

@kb.kernel
def polar(a: kb.array(dtype=kb.mat33d), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    u, s, v = kb.svd3(a[i])
    r = u @ kb.transpose(v)
    out[i] = kb.ddot(a[i] - r, a[i] - r) + r[0, 1]

@kb.kernel
def inverse(a: kb.array(dtype=kb.mat33d), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    out[i] = kb.trace(kb.inverse(a[i])) + kb.determinant(a[i])

@kb.kernel
def euler(a: kb.array(dtype=kb.quatd), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    e = kb.quat_to_rpy(kb.normalize(a[i]))
    out[i] = e[0] + 2.0 * e[1] + 3.0 * e[2]

@kb.kernel
def slerp(a: kb.array(dtype=kb.quatd), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    q = kb.quat_slerp(a[i], kb.quatd(0.0, 0.6, 0.0, 0.8), kb.float64(0.25))
    out[i] = q[0] + 2.0 * q[1] + 3.0 * q[2] + 4.0 * q[3]

@kb.kernel
def angle(a: kb.array(dtype=kb.quatd), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    axis, angle = kb.quat_to_axis_angle(a[i])
    out[i] = angle * axis[0] + angle

@kb.kernel
def eigen(a: kb.array(dtype=kb.mat33d), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    q, d = kb.eig3(a[i])
    out[i] = d[0] * d[1] * d[2] + kb.dot(d, d)

@kb.kernel
def triangle(a: kb.array(dtype=kb.mat33d), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    q, r = kb.qr3(a[i])
    out[i] = q[0, 0] + r[0, 1] * q[2, 1] + r[2, 2]
"""
_kernels: dict[str, Kernel] = {}


@pytest.fixture(scope="module", autouse=True)
def lowered(tmp_path_factory: pytest.TempPathFactory) -> None:
    for one in kernels.lower_text(tmp_path_factory.mktemp("library"), TEXT):
        _kernels[one.name.partition(":")[2]] = one


def value(name: str, a: np.ndarray) -> np.ndarray:
    out = np.zeros(len(a))
    run_in_lockstep(_kernels[name], over((len(a),), 64), [a, out])
    return out


def gradient(name: str, a: np.ndarray) -> np.ndarray:
    """The gradient of what each thread stores, with respect to its element."""
    made = adjoint(_kernels[name])
    verify(made.kernel, has_effects)
    assert [p.name for p in made.kernel.function.parameters] == ["a", "out", "adj_a", "adj_out"]
    adj_a = np.zeros_like(a)
    run_in_lockstep(made.kernel, over((len(a),), 64), [a, np.zeros(len(a)), adj_a, np.ones(len(a))])
    return adj_a


def differences(name: str, a: np.ndarray) -> np.ndarray:
    found = np.zeros_like(a)
    for index in np.ndindex(a.shape[1:]):
        step = np.zeros(a.shape[1:])
        step[index] = 1e-6
        found[(slice(None), *index)] = (value(name, a + step) - value(name, a - step)) / 2e-6
    return found


MATRICES = np.random.default_rng(1).normal(size=(20, 3, 3)) + 2.0 * np.eye(3)
QUATERNIONS = np.random.default_rng(2).normal(size=(20, 4))
UNIT = QUATERNIONS / np.linalg.norm(QUATERNIONS, axis=1)[:, None]
SYMMETRIC = MATRICES + MATRICES.transpose(0, 2, 1)
PLACES = {
    "length": np.random.default_rng(3).normal(size=(20, 3)),
    "polar": MATRICES,
    "inverse": MATRICES,
    "euler": UNIT,
    "slerp": UNIT,
    "angle": UNIT,
    "triangle": MATRICES,
}


@pytest.mark.parametrize("name", PLACES)
def test_at_random(name: str) -> None:
    np.testing.assert_allclose(gradient(name, PLACES[name]), differences(name, PLACES[name]), rtol=1e-5, atol=1e-6)


def test_the_gradient_by_a_symmetric_matrix_is_symmetric() -> None:
    found, wanted = gradient("eigen", SYMMETRIC), differences("eigen", SYMMETRIC)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found, np.swapaxes(found, 1, 2), rtol=1e-12, atol=1e-12)


def test_what_a_program_says_is_what_is_done() -> None:
    assert gradient("own", np.array([[3.0, 5.0]])).tolist() == [[100.0, 0.0]]


def test_nothing_is_asked_where_nothing_flows() -> None:
    """The gradient of a root at zero is infinite, and here it is multiplied by zero."""
    found = gradient("root_kernel", np.array([[0.0, 0.0], [4.0, 1.0]]))
    assert found.tolist() == [[0.0, 0.0], [0.25, 2.0]]


def test_at_zero() -> None:
    assert gradient("length", np.zeros((1, 3))).tolist() == [[0.0, 0.0, 0.0]]
    assert gradient("angle", np.array([[0.0, 0.0, 0.0, 1.0]])).tolist() == [[0.0, 0.0, 0.0, 0.0]]
    assert np.isfinite(gradient("angle", np.zeros((1, 4)))).all()


def test_at_the_identity() -> None:
    """|A - R|² has no slope there, and R turns with the antisymmetric part of A."""
    found = gradient("polar", np.eye(3)[None])
    np.testing.assert_allclose(found[0], [[0.0, 0.5, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.0, 0.0]], atol=1e-12)


def test_where_two_rotations_are_one() -> None:
    same = np.array([[0.0, 0.6, 0.0, 0.8], [0.0, -0.6, 0.0, -0.8]])
    found = gradient("slerp", same)
    np.testing.assert_allclose(found, differences("slerp", same), atol=1e-8)
    assert np.abs(found).max() > 1.0


def test_where_euler_angles_are_not_determined() -> None:
    half = np.sqrt(0.5)
    assert np.isfinite(gradient("euler", np.array([[0.0, half, 0.0, half], [0.0, -half, 0.0, half]]))).all()


LOOP = """
@kb.kernel
def one(x: kb.array(dtype=TYPE), out: kb.array(dtype=float), n: int):
    i = kb.tid()
    s = float(0.0)
    for j in range(n):
        d = x[i] - x[j]
        s += VALUE
    out[i] = s
"""


@pytest.mark.parametrize(
    ("type", "value", "saved"),
    [
        ("kb.vec3", "kb.length(d) * kb.normalize(d)[0] * kb.normalize(d)[1]", False),
        ("kb.mat44", "kb.trace(kb.inverse(d)) * kb.determinant(d)", False),
        ("kb.mat33", "decomposed(d)", True),
    ],
)
def test_what_costs_little_is_computed_again(type: str, value: str, saved: bool, tmp_path: Path) -> None:
    decomposed = "@kb.func\ndef decomposed(m: kb.mat33):\n    u, s, v = kb.svd3(m)\n    return s[0] * u[0, 0]\n"
    (kernel,) = kernels.lower_text(tmp_path, decomposed + LOOP.replace("TYPE", type).replace("VALUE", value))
    assert bool(adjoint(kernel).saved) is saved


@pytest.mark.nvrtc
def test_they_compile(accept: Accept) -> None:
    made = [adjoint(kernel).kernel for kernel in _kernels.values()]
    accept(kernels.emit_kernels(made).source, "sm_90")


STORING = """
@kb.func
def sigmoid(i: int, xs: kb.array(dtype=kb.float64), ys: kb.array(dtype=kb.float64)):
    row = ys
    row[i] = kb.float64(1.0) / (1.0 + kb.exp(-xs[i]))

@kb.func_grad(sigmoid)
def adj_sigmoid(i: int, xs: kb.array(dtype=kb.float64), ys: kb.array(dtype=kb.float64)):
    kb.adjoint[xs][i] += kb.adjoint[ys][i] * ys[i] * (1.0 - ys[i])
    kb.adjoint[ys][i] = kb.float64(0.0)

@kb.kernel
def one(a: kb.array(dtype=kb.float64), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    for j in range(2 * i, 2 * i + 2):
        sigmoid(j, a, out)
    MORE
"""


def test_a_gradient_sees_what_its_function_stored(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, STORING.replace("MORE", "pass"))
    made = adjoint(kernel)
    assert (made.read, made.written, made.before, made.after) == (("a", "out"), ("out",), (), ("out",))
    out, adj_a, adj_out = np.array([0.5, 0.25, 0.75, 0.125]), np.ones(4), np.array([1.0, 2.0, 3.0, 4.0])
    run_in_lockstep(made.kernel, over((2,), 64), [np.full(4, np.nan), out, adj_a, adj_out])
    assert adj_a.tolist() == [1.25, 1.375, 1.5625, 1.4375]
    assert adj_out.tolist() == [0.0] * 4


@pytest.mark.parametrize("more", ["out[i] = out[i] * 2.0", "a[i] = out[i]"])
def test_what_a_function_stored_is_for_its_gradient_alone(more: str, tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, STORING.replace("MORE", more))
    with pytest.raises(Undifferentiable, match="this call changes out, the function's own gradient looks at it"):
        adjoint(kernel)


def test_a_call_that_is_needed_again_must_not_change_what_the_launch_left(tmp_path: Path) -> None:
    text = """
    @kb.func
    def kept(i: int, x: float, out: kb.array(dtype=float)):
        out[i] = kb.exp(x)
        return x * x

    @kb.func_grad(kept)
    def adj_kept(i: int, x: float, out: kb.array(dtype=float), adj_ret: float):
        kb.adjoint[x] += 2.0 * x * adj_ret + kb.adjoint[out][i] * out[i]
    MORE
    @kb.kernel
    def one(a: kb.array(dtype=float), out: kb.array(dtype=float), squares: kb.array(dtype=float)):
        i = kb.tid()
        x = kept(i, a[i], out)
        squares[i] = x * x
    """
    (kernel,) = kernels.lower_text(tmp_path, text.replace("MORE", ""))
    with pytest.raises(Undifferentiable, match="needs what this call gives back"):
        adjoint(kernel)
    replay = """
    @kb.func_replay(kept)
    def again(i: int, x: float, out: kb.array(dtype=float)):
        return x * x
    """
    (kernel,) = kernels.lower_text(tmp_path, text.replace("MORE", replay))
    made = adjoint(kernel)
    assert (made.written, made.after, made.scratch) == (("out", "squares"), ("out",), ())
    out, adj_a, adj_out, adj_squares = (np.array([one], np.float32) for one in (3.0, 0.0, 1.0, 1.0))
    arrays = [np.array([2.0], np.float32), out, np.zeros(1, np.float32), adj_a, adj_out, adj_squares]
    run_in_lockstep(made.kernel, over((1,), 64), arrays)
    assert adj_a.tolist() == [4.0 * 8.0 + 3.0]
