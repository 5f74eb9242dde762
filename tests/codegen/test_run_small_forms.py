"""Arguments of intrinsics by name, calls in a conditional expression that stands alone, and, in Warp's dialect, numbers
that a variable is known to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbuild.errors import CompileError
from tests.helpers import kernels
from tests.helpers.both_ways import BothWays


def test_arguments_by_name_and_conditional_calls(tmp_path: Path) -> None:
    text = """
        @kb.func
        def bump(a: kb.array(dtype=float)):
            a[0] += 1.0
            return a[0]

        @kb.kernel
        def kernel(a: kb.array(dtype=float), n: int):
            kb.atomic_add(a, 1, 1.0) if n > 0 else kb.atomic_add(a, 2, 1.0)
            kb.atomic_add(a, 3, 1.0) if n < 0 else None
            bump(a) if n > 0 else bump(a) if n > 1 else None
            a[4] = kb.max(b=bump(a), a=bump(a)) + kb.clamp(7.0, high=3.0, low=0.0)
            a[5] = kb.pow(y=2.0, x=3.0)
    """
    a = np.zeros(6, np.float32)
    BothWays(tmp_path, text)(1, a, 1)
    assert a.tolist() == [3.0, 1.0, 0.0, 0.0, 6.0, 9.0]


KNOWN = """
    import kbuild.warp as wp

    @wp.kernel
    def kernel(x64: wp.array(dtype=wp.float64), n: wp.array(dtype=int), states: wp.array(dtype=wp.uint32)):
        x = 0.1
        stop = 2
        x64[0] = wp.vec3d(x, 0.0, 0.0)[0]
        x64[1] = wp.float64(x)
        v = wp.vec3(4.0, 5.0, 6.0)[1:stop]
        n[0] = stop + int(v[0])
        y = 0.1
        y += 0.0
        x64[2] = wp.float64(y)
        drawn = wp.randf(states[0])
        n[1] = int(drawn == wp.randf(states[0]))
"""


def test_variables_that_are_one_number(tmp_path: Path) -> None:
    x64, n, states = np.zeros(3), np.zeros(2, np.int32), np.array([7], np.uint32)
    BothWays(tmp_path, KNOWN)(1, x64, n, states)
    assert x64.tolist() == [0.1, 0.1, float(np.float32(0.1))]
    assert n.tolist() == [7, 1]
    assert states.tolist() == [7], "an element of an array gives a state's value and stays"


def test_in_kbuilds_dialect_a_variable_has_its_type(tmp_path: Path) -> None:
    text = KNOWN.replace("@wp.kernel", "@kb.kernel")
    with pytest.raises(CompileError, match="must be float64, not float32"):
        kernels.lower_text(tmp_path, text)
