"""Which product and sum are rounded together: the rule of `ir/contract.py`, on printed IR."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.ir import nodes
from kbuild.ir.contract import contract
from kbuild.ir.printer import print_kernel
from kbuild.ir.traverse import callees, walk
from tests.helpers import kernels

RULES = {
    "x + a * b": "fma(a, b, x)",
    "x - a * b": "fma(-a, b, x)",
    "a * b + x": "fma(a, b, x)",
    "a * b - x": "fma(a, b, -x)",
    "a * b + x * x": "fma(x, x, (a * b))",
    "a * b - x * x": "fma(-x, x, (a * b))",
    "a * a + b * b + x * x": "fma(x, x, fma(b, b, (a * a)))",
    "(x + a) * b": "((x + a) * b)",
    "x + a / b": "(x + (a / b))",
    "x + -(a * b)": "(x + -(a * b))",
    "x + a * b * x": "fma((a * b), x, x)",
    "x + (a * b + x)": "(x + fma(a, b, x))",
    "x + kb.sqrt(a * b + x)": "(x + sqrt(fma(a, b, x)))",
    "x + 2.0 * a": "fma({t}(2.0), a, x)",
    "x + 2.0 * 3.0": "(x + {t}(6.0))",
}


def printed(folder: Path, kind: str, expression: str, *, fmad: bool = True) -> str:
    text = f"""
        @kb.kernel
        def k(out: kb.array(dtype={kind}), a: {kind}, b: {kind}, x: {kind}):
            out[0] = {expression}
    """
    (kernel,) = kernels.lower_text(folder, text, fmad=fmad)
    return print_kernel(kernel).splitlines()[1].partition(" = ")[2]


@pytest.mark.parametrize(("kind", "spelling"), [("float", "float32"), ("kb.float64", "float64")])
@pytest.mark.parametrize("expression", RULES)
def test_rule(tmp_path: Path, kind: str, spelling: str, expression: str) -> None:
    assert printed(tmp_path, kind, expression) == RULES[expression].format(t=spelling)


@pytest.mark.parametrize("kind", ["kb.float16", "int", "kb.int64", "kb.uint8"])
def test_half_and_integers_are_left_alone(tmp_path: Path, kind: str) -> None:
    assert printed(tmp_path, kind, "x + a * b") == "(x + (a * b))"


@pytest.mark.parametrize("kind", ["kb.vec3", "kb.mat22", "kb.vec2d"])
def test_elementwise(tmp_path: Path, kind: str) -> None:
    assert printed(tmp_path, kind, "x + a * 2.0").startswith("fma(a, float")
    assert printed(tmp_path, kind, "x + 2.0 * a").startswith("fma(a, float")
    assert printed(tmp_path, kind, "kb.cw_mul(a, b) - x") == "fma(a, b, -x)"


def test_half_vectors_are_left_alone(tmp_path: Path) -> None:
    assert printed(tmp_path, "kb.vec3h", "x + kb.cw_mul(a, b)") == "(x + (a * b))"


def test_never_across_a_statement(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(
        tmp_path,
        """
        @kb.kernel
        def k(out: kb.array(dtype=float), a: float, x: float):
            product = a * a
            out[0] = product + x
            out[1] += a * a
        """,
    )
    assert "fma" not in print_kernel(kernel)


@pytest.mark.parametrize("expression", RULES)
def test_switched_off(tmp_path: Path, expression: str) -> None:
    assert "fma" not in printed(tmp_path, "float", expression, fmad=False)


def test_option_of_a_kernel(tmp_path: Path) -> None:
    on, off = kernels.lower_text(
        tmp_path,
        """
        @kb.func
        def helper(a: float, x: float):
            return a * a + x

        @kb.kernel
        def fused(out: kb.array(dtype=float)):
            out[0] = helper(out[1], out[2])

        @kb.kernel(fmad=False)
        def plain(out: kb.array(dtype=float)):
            out[0] = helper(out[1], out[2])
        """,
    )
    assert _counts(on) == 1
    assert _counts(off) == 0


def _counts(kernel: nodes.Kernel) -> int:
    functions = [kernel.function, *callees(kernel.function)]
    return sum(isinstance(node, nodes.Fma) for function in functions for node in walk(function.body))


def test_twice_changes_nothing(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(
        tmp_path,
        """
        @kb.kernel
        def k(out: kb.array(dtype=float), a: float):
            out[0] = a * a + a * 2.0 + out[1] * out[2] - a
        """,
    )
    assert print_kernel(contract(kernel)) == print_kernel(kernel)
