"""Gradients and replays that programs in Warp's dialect write themselves, on a tape, on the simulator."""

from __future__ import annotations

from typing import Any

import pytest

import kbuild.warp as wp

# The bodies below are kernel code.
# mypy: ignore-errors


@wp.func
def next_slot(counter: wp.array(dtype=int), slots: wp.array(dtype=int), tid: int):
    slot = wp.atomic_add(counter, 0, 1)
    slots[tid] = slot
    return slot


@wp.func_replay(next_slot)
def known_slot(counter: wp.array(dtype=int), slots: wp.array(dtype=int), tid: int):
    return slots[tid]


@wp.kernel
def scattered(
    x: wp.array(dtype=float), counter: wp.array(dtype=int), slots: wp.array(dtype=int), y: wp.array(dtype=float)
):
    tid = wp.tid()
    slot = next_slot(counter, slots, tid)
    y[slot] = x[slot] ** 2.0


@wp.struct
class Body:
    mass: float
    v: wp.vec3


@wp.func
def energy(x: float, y: float):
    return x * 3.0 + y, y * y


@wp.func
def energy(b: Body):  # noqa: F811
    return b.mass * wp.length_sq(b.v)


@wp.func_grad(energy)
def adj_energy(x: float, y: float, adj_first: float, adj_second: float):
    wp.adjoint[x] += x * adj_first * 42.0 + y * adj_second * 10.0
    wp.adjoint[y] += y * adj_second * 3.0


@wp.func_grad(energy)
def adj_energy_of_body(b: Body, adj_ret: float):
    wp.adjoint[b.mass] += adj_ret * 10.0
    wp.adjoint[b.v][0] += adj_ret * b.v[1] * 20.0


@wp.kernel
def numbers(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    first, second = energy(x[i], y[i])
    out[i] = first + 2.0 * second


@wp.kernel
def bodies(b: wp.array(dtype=Body), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = energy(b[i])


@wp.func
def sigmoid(x: float):
    return 1.0 / (1.0 + wp.exp(-x))


@wp.func_grad(sigmoid)
def adj_sigmoid(x: float, adj_ret: float):
    wp.adjoint[x] += adj_ret * sigmoid(x) * (1.0 - sigmoid(x))


@wp.func
def store_sigmoid(i: int, xs: wp.array(dtype=float), ys: wp.array(dtype=float)):
    ys[i] = sigmoid(xs[i])


@wp.func_grad(store_sigmoid)
def adj_store_sigmoid(i: int, xs: wp.array(dtype=float), ys: wp.array(dtype=float)):
    y = ys[i]
    wp.adjoint[xs][i] += y * (1.0 - y)


@wp.kernel
def activate(xs: wp.array(dtype=float), ys: wp.array(dtype=float)):
    i = wp.tid()
    store_sigmoid(i, xs, ys)


@wp.kernel
def activate_values(xs: wp.array(dtype=float), ys: wp.array(dtype=float)):
    i = wp.tid()
    ys[i] = sigmoid(xs[i])


def array(values: Any, dtype: Any = float, requires_grad: bool = True) -> Any:
    return wp.array(values, dtype=dtype, device="sim", requires_grad=requires_grad)


def test_what_must_not_happen_twice_is_replayed() -> None:
    x, y = array([1.0, 2.0, 3.0]), array([0.0] * 3)
    counter, slots = array([0], int, False), array([0] * 3, int, False)
    with wp.Tape() as tape:
        wp.launch(scattered, dim=3, inputs=[x, counter, slots], outputs=[y])
    tape.backward(grads={y: array([1.0, 10.0, 100.0])})
    assert x.grad.tolist() == [2.0, 40.0, 600.0]
    assert counter.tolist() == [3]


def test_overloads_have_their_own() -> None:
    x, y, out = array([2.0]), array([3.0]), array([0.0])
    with wp.Tape() as tape:
        wp.launch(numbers, dim=1, inputs=[x, y], outputs=[out])
    tape.backward(grads={out: array([1.0])})
    assert (x.grad.tolist(), y.grad.tolist()) == ([2.0 * 42.0 + 3.0 * 2.0 * 10.0], [3.0 * 2.0 * 3.0])


def test_parts_of_structs() -> None:
    body = Body()
    body.mass, body.v = 2.0, wp.vec3(1.0, 2.0, 3.0)
    b, out = wp.array([body], dtype=Body, device="sim", requires_grad=True), array([0.0])
    with wp.Tape() as tape:
        wp.launch(bodies, dim=1, inputs=[b], outputs=[out])
    tape.backward(grads={out: array([1.0])})
    found = b.grad.numpy()[0]
    assert (found["mass"], found["v"].tolist()) == (10.0, [40.0, 0.0, 0.0])


@pytest.mark.parametrize("kernel", [activate, activate_values])
def test_a_gradient_may_call_its_function_or_see_what_it_stored(kernel: Any) -> None:
    x, y = array([0.0, 1.0]), array([0.0, 0.0])
    with wp.Tape() as tape:
        wp.launch(kernel, dim=2, inputs=[x], outputs=[y])
    tape.backward(grads={y: array([1.0, 1.0])})
    assert x.grad.tolist() == pytest.approx([0.25, 0.19661193])
