"""`kb.bind` on the simulator: the arguments of a launch kept, and changed."""

from __future__ import annotations

import pytest

import kbuild as kb
from tests.sim import looking_kernels as kernels


def test_a_bound_launch() -> None:
    x, y = kb.array([1.0, 2.0], device="sim"), kb.zeros(2, dtype=float, device="sim")
    bound = kb.bind(kernels.twins, 2, [x, y])
    assert y.tolist() == [0.0, 0.0]
    bound()
    assert y.tolist() == [2.0, 4.0]
    bound.set(x=kb.array([5.0, 6.0], device="sim"))
    bound.set_dim(1)
    bound.launch()
    assert y.tolist() == [6.0, 4.0]
    with pytest.raises(kb.LaunchError, match="has no parameter 'z'"):
        bound.set(z=y)
    assert str(bound.device) == "sim"
