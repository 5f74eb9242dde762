"""The adjoint of operators, parts of values, constructors, places in memory and calls, as `test_every_function` has
that of functions; and what stands at points where there is no derivative."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from kbuild.autodiff import Undifferentiable, adjoint
from kbuild.sim.blocks import over
from tests.helpers import kernels, operator_cases, operator_lines
from tests.helpers.function_checks import Case, failures
from tests.helpers.lockstep import run_in_lockstep
from tests.helpers.slopes import gradients

GROUPS = [group for group in operator_lines.GROUPS if group != "without"]
ELEMENTS = ("float64", "float32", "float16")
INF = math.inf


@pytest.mark.parametrize("case", [one for g in GROUPS for one in operator_cases.cases(g)], ids=lambda case: case.title)
def test_adjoints_are_slopes(case: Case, tmp_path: Path) -> None:
    wrong = failures(tmp_path, case)
    assert not wrong, "\n".join(wrong)


# An expression of numbers x, y, z, or a vector v; the point; the gradient.
POINTS: list[tuple[str, tuple[float, ...], tuple[float, ...]]] = [
    ("kb.abs(x)", (0.0,), (0.0,)),
    ("kb.min(x, y)", (1.0, 1.0), (1.0, 0.0)),
    ("kb.max(x, y)", (1.0, 1.0), (1.0, 0.0)),
    ("kb.min(x, y, z)", (2.0, 1.0, 1.0), (0.0, 1.0, 0.0)),
    ("kb.max(x, y, z)", (1.0, 1.0, 1.0), (1.0, 0.0, 0.0)),
    ("kb.clamp(x, y, z)", (1.0, 1.0, 3.0), (1.0, 0.0, 0.0)),
    ("kb.clamp(x, y, z)", (3.0, 1.0, 3.0), (1.0, 0.0, 0.0)),
    ("kb.clamp(x, y, z)", (4.0, 1.0, 3.0), (0.0, 0.0, 1.0)),
    ("kb.sqrt(x)", (0.0,), (INF,)),
    ("kb.cbrt(x)", (0.0,), (INF,)),
    ("x ** y", (0.0, 0.0), (0.0, 0.0)),
    ("x ** y", (0.0, 2.0), (0.0, 0.0)),
    ("x ** y", (-2.0, 2.0), (-4.0, 0.0)),
    ("kb.asin(x)", (1.0,), (0.0,)),
    ("kb.acos(x)", (-1.0,), (0.0,)),
    ("kb.atan2(x, y)", (0.0, 0.0), (0.0, 0.0)),
    ("kb.copysign(x, y)", (0.0, -1.0), (0.0, 0.0)),
    ("kb.frac(x)", (2.0,), (1.0,)),
    ("x % y", (4.0, 2.0), (1.0, -2.0)),
    ("x // y", (4.0, 2.0), (0.0, 0.0)),
    ("kb.smoothstep(x, y, z)", (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)),
    ("kb.smoothstep(x, y, z)", (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
    ("x * kb.floor(y) + kb.round(x) * kb.rint(y)", (3.0, 2.0), (2.0, 0.0)),
    ("kb.where(x > y, x * y, x)", (2.0, 2.0), (1.0, 0.0)),
    ("kb.where(x > 0.0, kb.sqrt(x), x)", (0.0,), (1.0,)),
    # An adjoint that is zero is not multiplied with an infinite slope.
    ("kb.sqrt(x) * y", (0.0, 0.0), (0.0, 0.0)),
    ("kb.sqrt(x + x) * y", (0.0, 0.0), (0.0, 0.0)),
    ("kb.pow(x, 0.5) * y", (0.0, 0.0), (0.0, 0.0)),
    ("kb.min(kb.sqrt(x), y)", (0.0, -1.0), (0.0, 1.0)),
    ("kb.min(x / y, z)", (1.0, 0.0, 2.0), (0.0, 0.0, 1.0)),
    ("kb.min((v / y)[0], z)", (1.0, 0.0, 2.0), (0.0, 0.0, 1.0)),
    ("x if x >= y else y * y", (2.0, 2.0), (1.0, 0.0)),
    ("kb.length(v)", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ("kb.norm_l2(v)", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ("kb.norm_l1(v)", (0.0, 2.0, -2.0), (0.0, 1.0, -1.0)),
    ("kb.norm_huber(v)", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ("kb.norm_huber(v)", (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    ("kb.norm_pseudo_huber(v)", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ("kb.normalize(v)[1]", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ("kb.smooth_normalize(v)[1]", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ("kb.min(v)", (1.0, 1.0, 2.0), (1.0, 0.0, 0.0)),
    ("kb.max(v)", (1.0, 2.0, 2.0), (0.0, 1.0, 0.0)),
    ("kb.inverse(kb.diag(v))[0, 0]", (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
    ("kb.max(kb.abs(v), kb.vector(x, x, x))[1]", (1.0, -1.0, 1.0), (0.0, -1.0, 0.0)),
    ("kb.float32(int(x)) * y", (1.5, 2.0), (0.0, 1.0)),
    ("float(x > 1.0) * y", (1.5, 2.0), (0.0, 1.0)),
]


@pytest.mark.parametrize(("expression", "point", "wanted"), POINTS)
def test_points_without_a_derivative(
    expression: str, point: tuple[float, ...], wanted: tuple[float, ...], tmp_path: Path
) -> None:
    """What the documentation says of them: `subgradient` in the rows, docstrings, `design/gradients.md`."""
    parts = [f"{name} = a[i, {number}]" for number, name in enumerate("xyz"[: len(point)])]
    parts += ["v = kb.vector(x, y, z)"] if len(point) == 3 else []
    lines = "".join(f"    {line}\n" for line in ["i = kb.tid()", *parts, f"out[i] = {expression}"])
    for element in ELEMENTS:
        if "float" in expression and element != "float32":
            continue
        dtype = f"kb.{element}"
        text = f"@kb.kernel\ndef k(a: kb.array2d(dtype={dtype}), out: kb.array(dtype={dtype})):\n{lines}"
        (kernel,) = kernels.lower_text(tmp_path, text)
        arguments = {"a": np.array([point], element), "out": np.zeros(1, element)}
        weights = {"a": np.zeros((1, len(point)), element), "out": np.ones(1, element)}
        found = gradients(kernel, arguments, weights)
        assert found["a"].tolist() == [list(wanted)], element
        assert found["out"].tolist() == [0.0]


@pytest.mark.parametrize("name", ["atomic_min", "atomic_max"])
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("extreme", [5.0, 7.0])
def test_one_of_equal_values_wins(name: str, element: str, extreme: float, tmp_path: Path) -> None:
    """Three threads a row; in the second row nobody, since what was there before is beyond."""
    text = f"""
        @kb.kernel
        def k(a: kb.array2d(dtype=kb.{element}), out: kb.array(dtype=kb.{element})):
            i, j = kb.tid()
            kb.{name}(out, i, a[i, j] * 2.0)
    """
    (kernel,) = kernels.lower_text(tmp_path, text)
    sign = 1.0 if name == "atomic_max" else -1.0
    a = sign * np.array([[1.0, extreme, extreme], [1.0, 2.0, 3.0]])
    arguments = {"a": a.astype(element), "out": (sign * np.array([0.0, 8.0])).astype(element)}
    found = gradients(kernel, arguments, {"a": np.zeros((2, 3), element), "out": np.ones(2, element)}, (3,))
    assert sorted(found["a"].ravel().tolist()) == [0.0] * 5 + [2.0]
    assert found["a"][0, 0] == 0.0
    assert found["a"][1].tolist() == [0.0] * 3
    assert found["out"].tolist() == [0.0, 1.0]


def one_kernel(folder: Path, body: str) -> str:
    options = "(cluster_dim=2)" if "kb.cluster_" in body else ""
    lines = [
        f"@kb.kernel{options}",
        "def k(a: kb.array[kb.float32], out: kb.array[kb.float32], n: kb.array[kb.int32]):",
    ]
    lines += [f"    {line}" for line in ["i = kb.tid()", *body.replace("kb.E", "kb.float32").split("; ")]]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("line", operator_lines.PRINTING.strip().splitlines())
def test_printing_happens_once(line: str, tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, one_kernel(tmp_path, f"{line}; out[i] = a[i] * a[i]"))
    a, out, n = np.array([1.5, -2.0], np.float32), np.zeros(2, np.float32), np.zeros(2, np.int32)
    assert run_in_lockstep(kernel, over((2,), 256), [a, out, n])
    adj_a, adj_out = np.zeros(2, np.float32), np.ones(2, np.float32)
    assert run_in_lockstep(adjoint(kernel).kernel, over((2,), 256), [a, out, n, adj_a, adj_out]) == b""
    assert adj_a.tolist() == [3.0, -4.0]


@pytest.mark.parametrize("body", operator_lines.UNDIFFERENTIABLE.strip().splitlines())
def test_what_has_no_gradient_says_where(body: str, tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, one_kernel(tmp_path, body))
    with pytest.raises(Undifferentiable) as caught:
        adjoint(kernel)
    assert caught.value.span is not None
    assert caught.value.reason


def test_the_place_in_a_cluster_is_a_number_like_others(tmp_path: Path) -> None:
    text = one_kernel(tmp_path, "out[i] = a[i] * a[i] * kb.E(kb.cluster_rank() + kb.cluster_dim())")
    (kernel,) = kernels.lower_text(tmp_path, text)
    made = adjoint(kernel).kernel
    assert made.cluster_dim == 2
    a, out, n = np.array([1.5, -2.0, 3.0, 0.5], np.float32), np.zeros(4, np.float32), np.zeros(4, np.int32)
    adj_a, adj_out = np.zeros(4, np.float32), np.ones(4, np.float32)
    run_in_lockstep(made, over((4,), 1), [a, out, n, adj_a, adj_out])
    assert adj_a.tolist() == [6.0, -12.0, 12.0, 3.0]
