"""`kb.gradcheck` and `kb.jacobian` on the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.loader import providers
from kbuild.loader.errors import LaunchError
from tests.helpers import hand_adjoints


@kb.struct
class Wing:
    area: kb.array(dtype=float)
    angle: float


@kb.kernel
def waves(x: kb.array(dtype=Any), y: kb.array(dtype=Any)):
    i = kb.tid()
    s = x.dtype(0.0)
    for _ in range(3):
        s = s * x[i] + kb.sin(x[i])
    y[i] = s


@kb.kernel
def turn(v: kb.array(dtype=kb.vec3), out: kb.array2d(dtype=float)):
    i = kb.tid()
    out[i, 0] = kb.dot(v[i], v[i])
    out[i, 1] = v[i][0] * v[i][1]


@kb.kernel
def lift(wing: Wing, speed: kb.array(dtype=float)):
    i = kb.tid()
    speed[i] = speed[i] * wing.area[i] * wing.angle


@kb.kernel
def double(x: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = 2.0 * x[i]


def on_sim(*values: float) -> kb.array:
    return kb.array(list(values), dtype=float, device="sim")


def test_a_generic_kernel_is_checked_in_float64():
    x, y = on_sim(0.3, 1.0, -2.0), kb.zeros(3, device="sim")
    found = kb.gradcheck(waves, 3, [x], [y])
    assert found
    assert (found.dtype, found.checked, found.wrong) == ("float64", 6, [])
    assert "6 entries agree in float64; worst: x[" in repr(found)
    assert y.tolist() == [0, 0, 0]
    assert not x.requires_grad


def test_vectors_and_structs():
    v = kb.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], dtype=kb.vec3, device="sim")
    assert kb.gradcheck(turn, 2, [v], [kb.zeros((2, 2), device="sim")], raises=True).dtype == "float32"
    assert kb.gradcheck(lift, 2, [Wing(area=on_sim(1, 2), angle=0.5), on_sim(3, 4)])
    assert kb.gradcheck(lift, 2, [(on_sim(1, 2), 0.5), on_sim(3, 4)]).checked == 4


def test_numpys_arrays_and_a_choice_of_entries():
    x = np.linspace(-1, 1, 200, dtype=np.float32)
    assert kb.gradcheck(waves, 200, [x, np.zeros_like(x)], device="sim", entries=5).checked == 10


def test_a_wrong_gradient_is_found(monkeypatch):
    monkeypatch.setattr(providers, "backward_of", hand_adjoints.backward_of)
    wrong = hand_adjoints.double_adjoint, {"read": "x", "written": "y"}
    monkeypatch.setitem(hand_adjoints.ADJOINTS, "triple", wrong)
    x = on_sim(1, 2)
    found = kb.gradcheck(hand_adjoints.triple, 2, [x, on_sim(0, 0)])
    assert not found
    assert found.worst.array == "x"
    assert found.worst.gradient / found.worst.difference == pytest.approx(2 / 3, rel=1e-3)
    with pytest.raises(kb.GradientError, match=r"triple: 2 of 4 entries are wrong \(float32\)\n  x\[\d\]: gradient"):
        kb.gradcheck(hand_adjoints.triple, 2, [x, on_sim(0, 0)], raises=True)


def test_the_jacobian():
    v = kb.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], dtype=kb.vec3, device="sim")
    found = kb.jacobian(turn, 2, [v], [kb.zeros((2, 2), device="sim")])
    assert found.shape == (2, 2, 2, 3)
    assert found[0, :, 0].tolist() == [[2, 4, 6], [2, 1, 0]]
    assert found[0, :, 1].tolist() == [[0] * 3] * 2
    wing = Wing(area=on_sim(1, 2), angle=0.5)
    by_area = kb.jacobian(lift, 2, [wing, on_sim(3, 4)], input="wing.area")
    assert by_area.tolist() == [[1.5, 0], [0, 2]]
    by_itself = kb.jacobian(lift, 2, [wing, on_sim(3, 4)], input="speed", output="speed")
    assert by_itself.tolist() == [[0.5, 0], [0, 1]]


def test_what_cannot_be_asked_is_said():
    x, y = on_sim(1, 2), on_sim(0, 0)
    with pytest.raises(LaunchError, match=r"input='z' is no array of numbers that the launch reads; known: x, y"):
        kb.jacobian(double, 2, [x, y], input="z")
    with pytest.raises(LaunchError, match="output wants the name of an array: one of none"):
        kb.jacobian(reads, 2, [x, kb.zeros(2, dtype=int, device="sim")])
    with pytest.raises(LaunchError, match=r'the arrays are on cpu\n  help: make them with device="sim"'):
        kb.gradcheck(double, 2, [kb.zeros(2, device="cpu"), kb.zeros(2, device="cpu")])
    with pytest.raises(LaunchError, match="is seen through index arrays"):
        kb.gradcheck(indexed, 1, [kb.indexedarray(x, kb.array([0], dtype=int, device="sim")), y])


@kb.kernel
def reads(x: kb.array(dtype=float), n: kb.array(dtype=int)):
    i = kb.tid()
    n[i] = int(x[i])


@kb.kernel
def indexed(x: kb.indexedarray(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = x[i]
