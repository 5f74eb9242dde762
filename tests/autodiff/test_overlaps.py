"""Arrays that are given twice to one launch: their gradients add up, whichever way the adjoint kernel adds."""

from __future__ import annotations

import pytest

import kbuild as kb
from kbuild.loader.errors import LaunchError


@kb.kernel
def products(a: kb.array(dtype=float), b: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = a[i] * b[2 - i]  # the elements of a are each one thread's own, those of b are not


@kb.kernel
def squares(a: kb.array(dtype=float), b: kb.array(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = a[i] * b[i]


@kb.kernel
def rows(a: kb.array2d(dtype=float), b: kb.array2d(dtype=float), y: kb.array(dtype=float)):
    i = kb.tid()
    y[i] = a[i, 0] * b[1, i]


def gradients(kernel, a, b, y):
    with kb.Tape() as tape:
        kb.launch(kernel, dim=len(y), inputs=[a, b], outputs=[y])
    tape.backward()


@pytest.fixture
def y():
    return kb.zeros(3, dtype=float, device="sim", requires_grad=True)


def test_one_of_them_belongs_to_single_threads(y):
    x = kb.array([1.0, 2.0, 3.0], dtype=float, device="sim", requires_grad=True)
    gradients(products, x, x, y)
    assert x.grad.tolist() == [6.0, 4.0, 2.0]


def test_both_do_and_are_the_same(y):
    x = kb.array([1.0, 2.0, 3.0], dtype=float, device="sim", requires_grad=True)
    gradients(squares, x, x, y)
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_both_do_and_overlap(y):
    x = kb.array([1.0, 2.0, 3.0, 5.0], dtype=float, device="sim", requires_grad=True)
    gradients(squares, x[0:3], x[1:4], y)
    assert x.grad.tolist() == [2.0, 4.0, 7.0, 3.0]


def test_threads_meet_in_elements_of_two_axes():
    x = kb.array([[1.0, 2.0], [3.0, 4.0]], dtype=float, device="sim", requires_grad=True)
    y = kb.zeros(2, dtype=float, device="sim", requires_grad=True)
    gradients(rows, x, x, y)  # y[0] = x[0,0] x[1,0], y[1] = x[1,0] x[1,1]
    assert x.grad.tolist() == [[3.0, 0.0], [5.0, 3.0]]


def test_one_element_for_all_threads_is_told(y):
    x = kb.ones(1, dtype=float, device="sim")
    same = kb.array(ptr=x.ptr, shape=3, strides=(0,), dtype=float, device="sim", owner=x)
    same.requires_grad = True
    other = kb.ones(3, dtype=float, device="sim")
    with pytest.raises(LaunchError, match="one number for several of its elements"):
        gradients(squares, same, other, y)
