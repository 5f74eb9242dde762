"""`array.requires_grad` and `array.grad`."""

from __future__ import annotations

import pytest

import kbuild as kb
from tests.helpers.hand_adjoints import double


@pytest.mark.parametrize("make", [
    lambda: kb.array([1.0, 2.0], dtype=float, device="sim", requires_grad=True),
    lambda: kb.empty(2, device="sim", requires_grad=True),
    lambda: kb.zeros(2, device="sim", requires_grad=True),
    lambda: kb.ones(2, device="sim", requires_grad=True),
    lambda: kb.full(2, 3.0, device="sim", requires_grad=True),
    lambda: kb.zeros_like(kb.zeros(2, device="sim"), requires_grad=True),
    lambda: kb.ones_like(kb.zeros(2, device="sim", requires_grad=True)),
    lambda: kb.empty_like(kb.zeros(2, device="sim", requires_grad=True)),
    lambda: kb.full_like(kb.zeros(2, device="sim", requires_grad=True), 1.0),
    lambda: kb.clone(kb.zeros(2, device="sim", requires_grad=True)),
    lambda: kb.array(shape=2, dtype=float, device="sim", requires_grad=True),
])  # fmt: skip
def test_every_way_to_make_an_array(make):
    made = make()
    assert made.requires_grad
    assert made.grad.tolist() == [0, 0]
    assert made.grad.device == made.device
    made.requires_grad = False
    assert (made.requires_grad, made.grad) == (False, None)


def test_vectors_and_structs():
    points = kb.zeros(2, dtype=kb.vec3, device="sim", requires_grad=True)
    assert points.grad.dtype is kb.vec3
    assert points.view(float).grad.shape == (6,)
    assert points.view(kb.int32).grad is None


def test_a_gradient_can_be_set():
    x, g = kb.zeros(4, device="sim"), kb.ones(4, device="sim")
    x.grad = g
    assert x.requires_grad
    assert x.grad is g
    assert x[1:3].grad.tolist() == [1, 1]
    x[1:3].grad.fill_(5.0)
    assert g.tolist() == [1, 5, 5, 1]
    x.grad = None
    assert not x.requires_grad


def test_a_gradient_that_is_set_after_the_recording_counts():
    x, y = kb.ones(2, device="sim", requires_grad=True), kb.zeros(2, device="sim", requires_grad=True)
    flat = y.view(float)
    with kb.Tape() as tape:
        kb.launch(double, dim=2, inputs=[x], outputs=[y])
    given = kb.array([1.0, 10.0], dtype=float, device="sim")
    y.grad = given
    assert y.grad is given
    assert flat.grad.tolist() == [1, 10]
    tape.backward(grads={})
    assert x.grad.tolist() == [2, 20]
    assert given.tolist() == [0, 0]


def test_a_gradient_that_is_set_where_a_tape_keeps_the_whole():
    x, y = kb.ones(2, device="sim", requires_grad=True), kb.zeros(4, device="sim")
    part = y[:2]
    with kb.Tape() as tape:
        kb.launch(double, dim=2, inputs=[x], outputs=[y])
        part.requires_grad = True
        kb.launch(double, dim=2, inputs=[part], outputs=[y[2:]])
    part.grad = kb.array([1.0, 10.0], dtype=float, device="sim")
    assert part.grad.tolist() == [1, 10]
    tape.backward(grads={y[2:]: kb.ones(2, device="sim")})
    assert x.grad.tolist() == [4, 4]


@pytest.mark.parametrize(("value", "error", "text"), [
    (lambda: [1.0], TypeError, "is a kb.array, not"),
    (lambda: kb.zeros(3, device="sim"), ValueError, "needs the shape"),
    (lambda: kb.zeros(8, device="sim")[::2], ValueError, "needs the strides"),
    (lambda: kb.zeros(4, dtype=kb.float64, device="sim"), ValueError, "needs the type float32, not float64"),
    (lambda: kb.zeros(4, device="cpu"), ValueError, "needs the device sim, not cpu"),
])  # fmt: skip
def test_a_gradient_that_does_not_fit(value, error, text):
    x = kb.zeros(4, device="sim")
    with pytest.raises(error, match=text):
        x.grad = value()


def test_whole_numbers_have_none():
    with pytest.raises(TypeError, match="cannot require a gradient: that is for floating-point numbers"):
        kb.zeros(2, dtype=int, device="sim", requires_grad=True)


def test_a_transposed_array_has_a_transposed_gradient():
    x = kb.zeros((2, 3), device="sim").transpose()
    x.requires_grad = True
    assert x.grad.strides == x.strides
    x.grad[2, 1] = 4.0
    assert x[2].grad.tolist() == [0, 4]
    backwards = kb.zeros(4, device="sim")[::-1]
    backwards.requires_grad = True
    backwards.grad.assign([1.0, 2.0, 3.0, 4.0])
    assert backwards[1:3].grad.tolist() == [2, 3]
