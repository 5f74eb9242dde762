"""Functions of the program's own that have the names of operators: what they take, they mean, in Warp's dialect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.errors import CompileError
from tests.helpers import kernels
from tests.helpers.both_ways import BothWays

OWN = """
    import kbuild.warp as wp

    @wp.struct
    class Complex:
        real: float
        imag: float

    @wp.func
    def add(a: Complex, b: Complex):
        return Complex(a.real + b.real, a.imag + b.imag)

    @wp.func
    def add(a: float, b: float):
        return wp.sub(a, b)

    @wp.func
    def sub(a: float, b: float):
        return a * b - a

    @wp.func
    def mul(a: Complex, factor: float):
        return Complex(a.real * factor, a.imag * factor)
"""
KERNEL = """
    @wp.kernel
    def kernel(out: wp.array(dtype=float), n: wp.array(dtype=int)):
        a = Complex(1.0, 2.0)
        a += Complex(3.0, 4.0)
        b = a * 2.0
        out[0] = b.real
        out[1] = b.imag
        out[2] = a.real + 1.0
        out[3] += 1.5
        out[4] -= 3.0
        n[0] += 5
        n[1] = n[0] + 1
"""


def test_own_operators_where_the_types_fit_and_the_language_s_elsewhere(tmp_path: Path) -> None:
    out, n = np.full(5, 10.0, np.float32), np.zeros(2, np.int32)
    BothWays(tmp_path, OWN + KERNEL)(1, out, n)
    # Inside the overload for Complex, `+` of floats is the other overload, which takes the one from the other.
    assert out.tolist() == [-4.0, -4.0, -3.0, 8.5, 20.0]
    assert n.tolist() == [5, 6]


def test_in_kbuilds_dialect_an_operator_is_the_languages(tmp_path: Path) -> None:
    text = """
        @kb.struct
        class Pair:
            x: float

        @kb.func
        def add(a: Pair, b: Pair):
            return Pair(a.x + b.x)

        @kb.kernel
        def kernel(out: kb.array(dtype=float)):
            p = Pair(1.0) + Pair(2.0)
            out[0] = p.x
    """
    with pytest.raises(CompileError, match="does not take"):
        kernels.lower_text(tmp_path, text)
